"""Scoring again: new metrics and thresholds over recorded replies; no agent is called."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holodeck_nb.metrics.base import GraderContext, Metric
from holodeck_nb.sync import UserCodeExit

from .scoring import rejudged, score_turn

if TYPE_CHECKING:
    from holodeck_nb.results.records import MetricResult, TurnResult
    from holodeck_nb.results.rollup import CaseResult, RunResult

__all__ = ["NewMetric", "rescored", "with_thresholds"]

# What a function or a module does may have changed though its name has not.
_ALWAYS_NEW = frozenset({"code", "evaluate"})


@dataclass(frozen=True)
class NewMetric:
    """A metric of the new list: `metric` with the fingerprint of its definition, or the recorded one kept."""

    id: str
    metric: Metric | None = None
    definition: str | None = None


async def rescored(
    run: RunResult, metrics: Sequence[NewMetric], *, grader_timeout: float, parallel: int
) -> RunResult:
    """Give every turn that was played the new list of metrics, in its order.

    A result that was measured in the same way is judged by the new threshold alone; one that was in error is
    measured again.

    Raises:
        UserCodeExit: A grader raised KeyboardInterrupt.
    """
    cases: list[CaseResult] = list(run.cases)
    waiting = iter(list(enumerate(run.cases)))

    async def score_waiting_cases() -> None:
        for place, case in waiting:
            turns = [await _turn(case, turn, metrics, grader_timeout) for turn in case.turns]
            cases[place] = replace(case, turns=tuple(turns))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, min(parallel, len(cases)))):
                group.create_task(score_waiting_cases())
    except ExceptionGroup as faults:
        interrupts, others = faults.split(UserCodeExit)
        if others is not None or interrupts is None:
            raise
        raise interrupts.exceptions[0] from None
    return replace(run, cases=tuple(cases))


def with_thresholds(run: RunResult, thresholds: Mapping[str, float | None]) -> RunResult:
    """Judge the recorded scores of these metrics by new thresholds; nothing is measured."""

    def judged(metric: MetricResult) -> MetricResult:
        return rejudged(metric, thresholds[metric.id]) if metric.id in thresholds else metric

    return _mapped(run, lambda turn: replace(turn, metrics=tuple(judged(metric) for metric in turn.metrics)))


def _mapped(run: RunResult, change: Callable[[TurnResult], TurnResult]) -> RunResult:
    cases = (replace(case, turns=tuple(change(turn) for turn in case.turns)) for case in run.cases)
    return replace(run, cases=tuple(cases))


async def _turn(
    case: CaseResult, turn: TurnResult, metrics: Sequence[NewMetric], grader_timeout: float
) -> TurnResult:
    if turn.status in {"skipped", "error"}:
        return turn
    recorded = {metric.id: metric for metric in turn.metrics}
    found = {new.id: known for new in metrics if (known := _recorded(new, recorded)) is not None}
    missing = [new for new in metrics if new.metric is not None and new.id not in found]
    context = GraderContext(
        turn_input=turn.input,
        agent_response=turn.response or "",
        ground_truth=turn.ground_truth,
        tool_invocations=turn.tool_calls,
        retrieval_context=turn.retrieval_context,
        turn_index=turn.turn,
        test_case_name=case.name,
        turn_config=turn.turn_config,
    )
    scores = await score_turn(
        [new.metric for new in missing if new.metric is not None],
        context,
        grader_timeout=grader_timeout,
        definitions=[new.definition for new in missing],
    )
    found |= {score.id: score for score in scores}
    return replace(turn, metrics=tuple(found[new.id] for new in metrics if new.id in found))


def _recorded(new: NewMetric, recorded: Mapping[str, MetricResult]) -> MetricResult | None:
    """What is known of it already, judged by its threshold of now."""
    known = recorded.get(new.id)
    if new.metric is None or known is None:
        return known
    same = known.definition is not None and known.definition == new.definition
    if not same or known.kind in _ALWAYS_NEW or known.status == "error":
        return None
    return rejudged(known, new.metric.threshold)
