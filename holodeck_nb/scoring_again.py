"""What scoring again is asked, checked as a suite is: metrics, thresholds, what it goes on with."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from .engine.definitions import metric_definition
from .engine.journal_folder import find_journal, known_folders
from .engine.journal_reader import ReadJournal, journal_facts, read_journal
from .engine.plan import CasePlan, RunPlan
from .engine.record import RunRecord
from .engine.rescoring import NewMetric, rescore
from .errors import ConfigError, Problem
from .judging import JudgeTerms, open_judges
from .loading.execution import Execution, checked_setting
from .loading.loader import load_mapping
from .metrics.base import build_metrics, metric_ids, unavailable
from .metrics.judge_models import Judges
from .metrics.plugin_metric import settings_of
from .options import KeepingArguments, RunOptions, run_options
from .results.rollup import RunResult, warnings_of
from .resume import kept_plan
from .road import Road
from .taping import Taping
from .views.progress import Progress

__all__ = [
    "checked_thresholds",
    "execution_of",
    "kept_scoring",
    "new_metrics",
    "recorded_before",
    "rescore_options",
    "score_again",
    "scoring_plan",
]

T = TypeVar("T")


def new_metrics(
    metrics: Sequence[Any],
    *,
    folder: Path,
    recorded: Sequence[str],
    judge: Any = None,
    terms: JudgeTerms,
) -> tuple[tuple[NewMetric, ...], Judges | None]:
    """The list, ready to measure.

    Args:
        metrics: Each as in a suite file, a function, or the bare id of a recorded metric.
        folder: Where graders are looked up.
        recorded: The ids that the run has.
        judge: The model that judges where a metric names none; None for none.
        terms: How judges are asked.

    Returns:
        The metrics, and who judges for them; the judges are to be closed in the end.

    Raises:
        ConfigError: Every metric that is wrong, or that cannot be run.
    """
    if isinstance(metrics, str) or not isinstance(metrics, Sequence):
        message = f"expected a list of metrics, got {type(metrics).__name__}"
        raise ConfigError([Problem(message, path="rescore(metrics=…)")])
    kept = {place: name for place, name in enumerate(metrics) if isinstance(name, str) and name in recorded}
    given = [
        {"type": "code", "grader": metric, **settings_of(metric)} if callable(metric) else metric
        for place, metric in enumerate(metrics)
        if place not in kept
    ]
    evaluations = {"metrics": given} if judge is None else {"metrics": given, "model": judge}
    loaded = load_mapping({"name": "rescore", "evaluations": evaluations}, folder=folder)
    default = loaded.config.evaluations and loaded.config.evaluations.model
    configs = tuple(config for config in loaded.config.agent_metrics if config.enabled)
    problems = [
        Problem(reason, path="rescore(metrics=…)")
        for reason in (unavailable(config, folder) for config in configs)
        if reason is not None
    ]
    judges, unjudged = open_judges(loaded.config, configs, terms, folder=folder)
    problems += (replace(problem, path="rescore(metrics=…)") for problem in unjudged)
    problems += terms.taping.problems()
    problems += terms.taping.unfit_for(None, judges)
    problems += terms.taping.overwrites(None)
    ids = metric_ids(configs)
    names = list(kept.values())
    problems += [
        Problem(f"metric {name!r} is named twice", path="rescore(metrics=…)")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    problems += [
        Problem(
            f"two metrics are called {name!r}", path="rescore(metrics=…)", hint="give one of them a `name`"
        )
        for name in ids
        if name in kept.values()
    ]
    if problems:
        raise ConfigError(problems)
    built = iter(
        NewMetric(name, metric, metric_definition(config, default or None))
        for name, metric, config in zip(
            ids,
            build_metrics(configs, loaded.graders, judges=judges, folder=folder),
            configs,
            strict=True,
        )
    )
    # Disabled ones are gone: what is left keeps the order of the list.
    enabled = iter(config.enabled for config in loaded.config.agent_metrics)
    chosen = []
    for place in range(len(metrics)):
        if place in kept:
            chosen.append(NewMetric(kept[place]))
        elif next(enabled):
            chosen.append(next(built))
    return tuple(chosen), judges


def scoring_plan(
    run: RunResult,
    cases: tuple[CasePlan, ...],
    judges: Judges | None,
    execution: Execution,
    *,
    made_by: str = "rescore",
) -> RunPlan:
    """A run that scores these cases of `run` again."""
    stale = warnings_of(run.cases)
    return RunPlan(
        suite_name=run.suite_name,
        cases=cases,
        suite_path=run.suite_path,
        grader_timeout=execution.grader_timeout,
        parallel=execution.parallel_test_cases,
        settings=run.settings,
        warnings=tuple(warning for warning in run.warnings if warning not in stale),
        judges=judges,
        made_by=made_by,
        recorded=run,
    )


def rescore_options(call: str, given: Mapping[str, Any]) -> tuple[RunOptions, Taping]:
    """The options of a call that scores again, checked as those of `run` are.

    Raises:
        ConfigError: Every option that is wrong, or that it does not have.
    """
    taping, given = Taping.of(given, call=call)
    unknown = given.keys() - KeepingArguments.__annotations__.keys()
    if unknown:
        raise ConfigError(
            Problem(f"{call} has no argument {name!r}", path=f"{call}({name}=…)") for name in sorted(unknown)
        )
    options, _ = run_options(given, call=call)
    return options, taping


def kept_scoring(
    plan: RunPlan, options: RunOptions, journal: Path | None, home: Path, *, journaled: bool
) -> RunPlan:
    """The plan with its journal, and what an earlier scoring has found of it.

    Args:
        plan: What would be scored from the beginning.
        options: What was asked for.
        journal: The journal of the run that is scored; None where it has none.
        home: The folder of its suite.
        journaled: Whether a run without a journal gets one where a suite would by default.

    Raises:
        ConfigError: There is no such scoring to go on with, or it cannot be read.
    """
    facts = None if journal is None else journal_facts(journal)
    plan = replace(plan, recorded_id=facts.run_id if facts else "", agent=facts.agent if facts else "")
    runs = journal.parent.parent if facts and journal and journal.parent.name == facts.run_id else None
    if runs is not None and options.journal in {None, True}:
        plan = replace(plan, journal=runs)
    elif options.journal is None and options.resume is None and not journaled:
        options = replace(options, journal=False)
    return kept_plan(plan, options, home)


def score_again(
    plan: RunPlan,
    arrived: Callable[[RunResult, Path | None], T],
    *,
    quiet: bool,
    stranded: Callable[[RunResult, Path | None], object] | None = None,
) -> T:
    """Score, and show it unless `quiet`; see Road."""
    progress = None if quiet else Progress()
    return Road(RunRecord(plan), rescore, arrived, stranded=stranded, progress=progress).here()


def recorded_before(scored: ReadJournal) -> RunResult | None:
    """The run that a scoring has scored again; None where it was none, or that run is gone."""
    if not scored.facts.rescored_from or scored.facts.made_by != "rescore":
        return None
    places = [scored.path.parent.parent, *known_folders()]
    try:
        return read_journal(find_journal(scored.facts.rescored_from, places)).result
    except ConfigError:
        return None


def execution_of(settings: Mapping[str, Any], *, are_ours: bool) -> Execution:
    """The execution settings that a run tells of; the defaults for those that are none.

    Args:
        settings: By name, from wherever the run was read.
        are_ours: Whether the run was played here: what a file of others tells decides on no folder.
    """
    found = Execution()
    for name in (field.name for field in fields(Execution)):
        if settings.get(name) is not None and (are_ours or name != "cache_dir"):
            with contextlib.suppress(ConfigError):
                found = replace(found, **{name: checked_setting(name, settings[name])})
    return found


def checked_thresholds(
    thresholds: Mapping[str, float | None], *, recorded: Sequence[str]
) -> dict[str, float | None]:
    """The thresholds, by the id of a recorded metric.

    Raises:
        ConfigError: The run has no such metric, or a threshold is outside 0 to 1; every one of them.
    """
    there_are = f"there are {', '.join(recorded)}" if recorded else "no metric was recorded: rescore measures"
    problems = [
        Problem(f"the run has no metric {name!r}", path="with_thresholds(…)", hint=there_are)
        for name in thresholds
        if name not in recorded
    ]
    problems += [
        Problem(f"expected a threshold from 0 to 1, got {value!r}", path=f"with_thresholds({name!r}: …)")
        for name, value in thresholds.items()
        if value is not None and not _is_threshold(value)
    ]
    if problems:
        raise ConfigError(problems)
    return dict(thresholds)


def _is_threshold(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
