"""From a suite to its judges, or every reason why there are none, before the first call."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .errors import Problem
from .llm.providers import ModelOptions, open_model
from .loading.execution import Execution
from .loading.secrets import secrets_in, secrets_of
from .loading.variables import read_env_file
from .loading.writer import data_of
from .metrics.judge_cache import JudgeCache
from .metrics.judge_models import Judges, is_judged
from .schema.metrics import MetricConfig
from .schema.suite import SuiteConfig
from .taping import NO_TAPING, Taping

__all__ = ["JUDGE_FOLDER", "JudgeTerms", "open_judges"]

JUDGE_FOLDER = "judges"
"""Where in `execution.cache_dir` the answers of judges are kept."""


@dataclass(frozen=True)
class JudgeTerms:
    """How judges are asked.

    Attributes:
        execution: Its `llm_timeout` bounds one answer; its cache settings hold for answers too.
        remembers: Whether answers that are kept may be used, and new ones kept.
        taping: Whether what they are asked is recorded, or answered by a recording; then kept answers are not
            used, so that the recording has all of them.
    """

    execution: Execution = field(default_factory=Execution)
    remembers: bool = True
    taping: Taping = NO_TAPING


def open_judges(
    config: SuiteConfig, metrics: Iterable[MetricConfig], terms: JudgeTerms, *, folder: Path | None
) -> tuple[Judges | None, tuple[Problem, ...]]:
    """The judges of these metrics, ready to be asked, and why some have none; nothing is sent yet.

    Args:
        config: The suite: its `evaluations.model`, else its `model`, judges where a metric names no model.
        metrics: All metrics of the run; None comes back where no model judges among them.
        terms: How they are asked.
        folder: The suite's folder; None for a suite made in Python.
    """
    judged = [metric for metric in metrics if metric.enabled and is_judged(metric)]
    if not judged:
        return None, ()
    home = folder or Path.cwd()
    own = {"models": [data_of(metric, escaped=False, templates=False) for metric in judged]}
    options = ModelOptions(
        environment={**read_env_file(home / ".env"), **os.environ},
        secrets=(*secrets_of(config), *secrets_in(own)),
        max_retries=terms.execution.max_retries,
        record=terms.taping.recorder,
        replay=terms.taping.tape,
        judges=True,
    )
    cached = terms.execution.cache_enabled and terms.remembers and not options.is_taped
    judges = Judges(
        lambda model: open_model(model, options),
        (config.evaluations and config.evaluations.model) or config.model,
        answer_s=terms.execution.llm_timeout,
        cache=JudgeCache(home / terms.execution.cache_dir / JUDGE_FOLDER) if cached else None,
    )
    return judges, tuple(judges.problems(judged))
