"""Groundedness, relevance, coherence and fluency: one score from 1 to 5 by a judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from .base import GraderResult
from .judge_forms import score_form
from .judge_metric import Bench, named_too, passages, question, reply, task_of
from .judge_prompts import QUALITY, QUALITY_SCALE
from .response_path import Path, ResponsePathError, extract, read_path

if TYPE_CHECKING:
    from holodeck_nb.schema.metrics import MetricConfig

    from .base import GraderContext, MetricSetup
    from .judge_evidence import Evidence

__all__ = ["QualityJudge", "on_its_scale"]

_HIGHEST = 5


@dataclass(frozen=True)
class QualityJudge(Bench):
    """One of the four; x on a scale from 1 to 5 is the score (x - 1) / 4.

    `scale` sets another highest number. A blank reply is 1 without asking anybody.
    """

    quality: str = ""
    highest: int = _HIGHEST
    path: Path | None = None

    kind: ClassVar[Literal["standard"]] = "standard"
    needs_ground_truth: ClassVar[bool] = False

    @classmethod
    def build(cls, config: MetricConfig, setup: MetricSetup) -> QualityJudge:
        """From a `StandardMetric` with the name of a judged one."""
        assert config.type == "standard"
        highest = _HIGHEST if config.scale is None else config.scale
        bench = Bench.of(config, setup, on_its_scale(config.threshold, 1, highest))
        return cls(
            **vars(bench),
            quality=config.metric,
            highest=highest,
            path=None if config.response_path is None else read_path(config.response_path),
        )

    async def measure(self, context: GraderContext) -> GraderResult:
        """The judge's score and reason.

        Raises:
            NotApplicableError: Groundedness, on a turn without retrieval context.
            MetricError: The judge gave no score.
        """
        evidence = self._sources(context)
        if self.path is not None:
            try:
                context = replace(context, agent_response=extract(context.agent_response, self.path))
            except ResponsePathError as error:
                return GraderResult(score=0.0, passed=False, reason=f"response_path: {error}")
        if not context.agent_response.strip():
            return GraderResult(score=0.0, reason="the reply is empty")
        told = QUALITY[self.quality]
        scale = QUALITY_SCALE.format(worst=told.worst, best=told.best, highest=self.highest)
        hearing = self.hearing(context)
        scored = await hearing.ask(
            f"{task_of(self, told.task)}\n\n{scale}",
            named_too(self, context, [*question(context), *evidence, *reply(context)]),
            score_form(1, self.highest),
        )
        return GraderResult(
            score=(scored.score - 1) / (self.highest - 1),
            reason=scored.reason or None,
            details={"score": scored.score, "scale": [1, self.highest]},
        )

    def _sources(self, context: GraderContext) -> list[Evidence]:
        return passages(context) if self.quality == "groundedness" else []


def on_its_scale(threshold: float | None, lowest: float, highest: float) -> float | None:
    """A threshold as a score from 0 to 1; one above 1 is read on the scale.

    >>> on_its_scale(4, 1, 5)
    0.75
    """
    if threshold is None or threshold <= 1:
        return threshold
    return (threshold - lowest) / (highest - lowest)
