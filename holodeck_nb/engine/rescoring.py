"""Scoring again: new metrics and thresholds over recorded replies; no agent is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from holodeck_nb.metrics.base import GraderContext, Metric
from holodeck_nb.results.events import (
    CaseFinished,
    CaseStarted,
    Listener,
    RunFinished,
    RunStarted,
    TurnFinished,
)
from holodeck_nb.results.records import MetricResult, TurnResult
from holodeck_nb.results.rollup import RunResult

from .casework import give_back, side_by_side
from .journal_run import told_of
from .plan import CasePlan, PlannedTurn
from .record import RunRecord
from .scoring import rejudged, score_turn

__all__ = ["NewMetric", "RecordedTurn", "recorded_cases", "rescore", "with_thresholds"]

# What a function or a module does may have changed though its name has not.
_ALWAYS_NEW = frozenset({"code", "evaluate"})


@dataclass(frozen=True)
class NewMetric:
    """A metric of the new list: `metric` with the fingerprint of its definition, or the recorded one kept."""

    id: str
    metric: Metric | None = None
    definition: str | None = None


@dataclass(frozen=True)
class RecordedTurn(PlannedTurn):
    """A turn as it was played, and the list of metrics that it is to be given.

    `afresh`: each of them is measured, though it was measured in the same way before; bare ids stay.
    """

    recorded: TurnResult
    metrics: tuple[NewMetric, ...]
    afresh: bool = False

    @cached_property
    def told(self) -> Mapping[str, Any]:
        """See PlannedTurn."""
        return told_of(self.recorded)

    @property
    def told_apart_by(self) -> Sequence[TurnResult]:
        """See PlannedTurn."""
        kept = {new.id for new in self.metrics if new.metric is None}
        recorded = tuple(metric for metric in self.recorded.metrics if metric.id in kept)
        return (replace(self.recorded, metrics=recorded),)

    @property
    def measured_by(self) -> tuple[tuple[str, ...], list[float | None]]:
        """See PlannedTurn."""
        definitions = tuple(f"{new.id}: {new.definition}" for new in self.metrics)
        return definitions, [None if new.metric is None else new.metric.threshold for new in self.metrics]

    def stands(self, before: TurnResult, *, failed_too: bool) -> bool:
        """Whether what an earlier scoring found is kept: not where a metric broke."""
        if not self.has_reply:
            return True
        broke = any(metric.status == "error" for metric in before.metrics)
        return before.status != "skipped" and not broke and not (failed_too and before.status == "failed")

    @property
    def has_reply(self) -> bool:
        """Whether there is anything to judge; a turn that broke off or was skipped stays as it is."""
        return self.recorded.status not in {"skipped", "error"}

    async def scored(self, case: str, *, grader_timeout: float) -> TurnResult:
        """The turn with the new list of metrics, in its order.

        A result that was measured in the same way is judged by the new threshold alone; one that was in error
        is measured again.

        Raises:
            UserCodeExit: A grader raised KeyboardInterrupt.
        """
        if not self.has_reply:
            return self.recorded
        turn = self.recorded
        recorded = {metric.id: metric for metric in turn.metrics}
        known = {
            new.id: _recorded(new, recorded) for new in self.metrics if new.metric is None or not self.afresh
        }
        found = {name: metric for name, metric in known.items() if metric is not None}
        missing = [new for new in self.metrics if new.metric is not None and new.id not in found]
        context = GraderContext(
            turn_input=turn.input,
            agent_response=turn.response or "",
            ground_truth=turn.ground_truth,
            tool_invocations=turn.tool_calls,
            retrieval_context=turn.retrieval_context,
            turn_index=turn.turn,
            test_case_name=case,
            turn_config=turn.turn_config,
        )
        scores = await score_turn(
            [new.metric for new in missing if new.metric is not None],
            context,
            grader_timeout=grader_timeout,
            definitions=[new.definition for new in missing],
        )
        found |= {score.id: score for score in scores}
        return replace(turn, metrics=tuple(found[new.id] for new in self.metrics if new.id in found))


def recorded_cases(
    run: RunResult, metrics: Sequence[NewMetric], *, afresh: bool = False
) -> tuple[CasePlan, ...]:
    """Every case of a run, to be given this list of metrics."""
    metrics = tuple(metrics)
    return tuple(
        CasePlan(
            name=case.name,
            index=case.index,
            given_name=case.given_name,
            multi_turn=case.multi_turn,
            turns=tuple(RecordedTurn(turn, metrics, afresh) for turn in case.turns),
            repeat=case.repeat,
            finished_at=case.finished_at,
        )
        for case in run.cases
    )


async def rescore(record: RunRecord, emit: Listener) -> RunResult:
    """Score the plan of `record` to its end; every turn is in `record` as soon as it is scored.

    Raises:
        UserCodeExit: A grader raised KeyboardInterrupt; what was scored is in `record`.
    """
    plan = record.plan
    to_score = plan.to_play
    record.begin()
    turns = sum(len(case.turns) for _, case in to_score)
    emit(RunStarted(plan.suite_name, len(to_score), turns, scores_again=True))

    async def score(planned: tuple[int, CasePlan]) -> None:
        place, case = planned
        emit(CaseStarted(case.name, case.index, case.repeat))
        for turn in case.turns:
            assert isinstance(turn, RecordedTurn)
            scored = record.add(place, await turn.scored(case.name, grader_timeout=plan.grader_timeout))
            emit(TurnFinished(case.name, case.index, case.repeat, scored))
        finished = record.finish(place)
        await record.secure()
        emit(CaseFinished(finished))

    try:
        await side_by_side(to_score, score, at_once=min(plan.parallel, len(to_score)))
    finally:
        await give_back(plan.judges, record, "judge")
    result = record.conclude(secure=True)
    emit(RunFinished(result, record.duration_ms))
    return result


def with_thresholds(run: RunResult, thresholds: Mapping[str, float | None]) -> RunResult:
    """Judge the recorded scores of these metrics by new thresholds; nothing is measured."""

    def judged(metric: MetricResult) -> MetricResult:
        return rejudged(metric, thresholds[metric.id]) if metric.id in thresholds else metric

    cases = (
        replace(
            case,
            turns=tuple(replace(turn, metrics=tuple(map(judged, turn.metrics))) for turn in case.turns),
        )
        for case in run.cases
    )
    return replace(run, cases=tuple(cases))


def _recorded(new: NewMetric, recorded: Mapping[str, MetricResult]) -> MetricResult | None:
    """What is known of it already, judged by its threshold of now."""
    known = recorded.get(new.id)
    if new.metric is None or known is None:
        return known
    same = known.definition is not None and known.definition == new.definition
    if not same or known.kind in _ALWAYS_NEW or known.status == "error":
        return None
    return rejudged(known, new.metric.threshold)
