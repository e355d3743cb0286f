"""Roll-ups: a case from its turns, a run from its cases, means that say over how many."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from .judging import Judging
from .records import MetricKind, RunWarning, TokenUsage, TurnResult
from .repeats import PassEstimate, Spread, pass_estimates, spreads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .records import MetricResult, Status, ToolInvocation

__all__ = ["CaseResult", "MetricRollup", "RunResult", "Summary", "warnings_of"]


@dataclass(frozen=True, slots=True)
class MetricRollup:
    """One metric over several turns.

    Attributes:
        id: The metric's id.
        kind: standard, rag, geval, code or evaluate.
        mean: Mean score over the turns that measured it, zeros included; None where none did.
        n: How many turns measured it.
        n_error: How many turns ended in an error of this metric (they are in no mean).
        n_passed: How many turns passed it.
        n_failed: How many turns failed it, errors aside.
        passed: Whether every verdict was yes; False with an error; None where there was no verdict at all.
        threshold: The threshold where all turns agree on it, else None.
    """

    id: str
    kind: MetricKind
    mean: float | None
    n: int
    n_error: int
    n_passed: int
    n_failed: int
    passed: bool | None
    threshold: float | None

    @classmethod
    def of(cls, results: Iterable[MetricResult]) -> MetricRollup:
        """Roll up the results of one metric id (at least one)."""
        parts = list(results)
        scores = [part.score for part in parts if part.measured and part.score is not None]
        verdicts = [part.passed for part in parts if part.passed is not None]
        thresholds = {part.threshold for part in parts}
        return cls(
            id=parts[0].id,
            kind=parts[0].kind,
            mean=_mean(scores),
            n=len(scores),
            n_error=sum(part.status == "error" for part in parts),
            n_passed=sum(part.status == "passed" for part in parts),
            n_failed=sum(part.status == "failed" for part in parts),
            passed=all(verdicts) if verdicts else None,
            threshold=thresholds.pop() if len(thresholds) == 1 else None,
        )


@dataclass(frozen=True)
class CaseResult:
    """One case: the turns of one conversation, in order.

    Attributes:
        name: What the case is called everywhere: its name, or `case 3`; a repeated one gets ` #2`.
        given_name: The name in the suite; None for an unnamed case.
        index: Its place in the suite, from 0.
        turns: One result a turn of the suite, played or not.
        multi_turn: Whether it was written with `turns` (else with `input`).
        repeat: Which playing of the case this is, from 0.
        finished_at: UTC; None where it has not ended.
    """

    name: str
    index: int
    turns: tuple[TurnResult, ...]
    given_name: str | None = None
    multi_turn: bool = True
    repeat: int = 0
    finished_at: datetime | None = None

    @cached_property
    def status(self) -> Status:
        """`skipped` if no turn was played, else `error` if any turn is, else `failed` unless all passed."""
        statuses = {turn.status for turn in self.turns}
        if statuses == {"skipped"}:
            return "skipped"
        if "error" in statuses:
            return "error"
        return "passed" if statuses <= {"passed"} else "failed"

    @property
    def passed(self) -> bool:
        """Whether every turn passed."""
        return self.status == "passed"

    @property
    def tools_matched(self) -> bool | None:
        """Whether all asserted tools matched; None where no turn asserted any."""
        verdicts = [turn.tools_matched for turn in self.turns if turn.tools_matched is not None]
        return all(verdicts) if verdicts else None

    @property
    def tool_calls(self) -> tuple[ToolInvocation, ...]:
        """The calls of all turns, in order."""
        return tuple(call for turn in self.turns for call in turn.tool_calls)

    @cached_property
    def metrics(self) -> Mapping[str, MetricRollup]:
        """By metric id, in the order of first appearance; metrics that applied to no turn are left out."""
        return MappingProxyType(_rollups(self.turns))

    @cached_property
    def usage(self) -> TokenUsage | None:
        """The sum over the played turns; None where nothing is known."""
        return TokenUsage.sum(turn.usage for turn in self.turns if turn.status != "skipped")

    @property
    def cost_usd(self) -> float | None:
        """The sum over the played turns; None as soon as one of them is unknown."""
        return _sum_if_known(turn.cost_usd for turn in self.turns if turn.status != "skipped")

    @property
    def duration_ms(self) -> float | None:
        """The sum over the played turns; None where none was played."""
        played = [turn.duration_ms for turn in self.turns if turn.duration_ms is not None]
        return sum(played) if played else None

    @property
    def turns_passed(self) -> int:
        """How many turns passed."""
        return sum(turn.passed for turn in self.turns)

    @property
    def first_failed_turn(self) -> int | None:
        """The first turn that is not passed, from 0; None in a passed case."""
        return next((turn.turn for turn in self.turns if not turn.passed), None)

    @property
    def reason(self) -> str | None:
        """Why the first turn that is not passed is not; None in a passed case."""
        return next((f"turn {turn.turn}: {turn.reason}" for turn in self.turns if not turn.passed), None)


@dataclass(frozen=True)
class RunResult:
    """One run of a suite: its cases in the suite's order, whatever finished first.

    Attributes:
        suite_name: The suite's `name`.
        cases: One result a case (and repeat).
        suite_path: The suite's file as the user named it; "" for a suite made in Python.
        started_at: UTC; None where it is unknown (a report from elsewhere).
        duration_ms: Wall-clock time; None where it is unknown.
        settings: The execution settings in force, by name.
        environment: Text by name: `python_version`, `os`, …
        warnings: What a user should know though it changes no verdict.
        stop_reason: Why the run ended early; None where it did not.
    """

    suite_name: str
    cases: tuple[CaseResult, ...]
    suite_path: str = ""
    started_at: datetime | None = None
    duration_ms: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[RunWarning, ...] = ()
    stop_reason: str | None = None

    def turns(self) -> Iterator[tuple[CaseResult, TurnResult]]:
        """Every turn with its case, in the suite's order."""
        return ((case, turn) for case in self.cases for turn in case.turns)

    @cached_property
    def summary(self) -> Summary:
        """Counts, rates and means over the run."""
        return Summary.of(self)


@dataclass(frozen=True)
class Summary:
    """A run in numbers. Rates are 0 to 1, None where there is nothing to divide by.

    Attributes:
        cases, cases_passed, cases_failed, cases_error, cases_skipped: Counts of cases by status.
        turns, turns_passed, turns_failed, turns_error, turns_skipped: Counts of turns by status.
        metrics: By metric id, over all turns of the run.
        usage: Tokens over the played turns; None where nothing is known.
        cost_usd: None as soon as one played turn's cost is unknown.
        duration_ms: Wall-clock time of the run; None where unknown.
        pass_at: pass@k and pass^k for each k; empty where no case was played twice.
        spread: Of `passed` and of each metric, variance within and between cases played twice or more.
        judging: What judges were asked and what that cost, apart from the agent; None without judges.
    """

    cases: int
    cases_passed: int
    cases_failed: int
    cases_error: int
    cases_skipped: int
    turns: int
    turns_passed: int
    turns_failed: int
    turns_error: int
    turns_skipped: int
    metrics: Mapping[str, MetricRollup]
    usage: TokenUsage | None
    cost_usd: float | None
    duration_ms: float | None
    pass_at: tuple[PassEstimate, ...] = ()
    spread: Mapping[str, Spread] = field(default_factory=lambda: MappingProxyType({}))
    judging: Judging | None = None

    @classmethod
    def of(cls, run: RunResult) -> Self:
        """Count a run."""
        turns = [turn for _, turn in run.turns()]
        played = [turn for turn in turns if turn.status != "skipped"]
        repeated = any(case.repeat for case in run.cases)
        return cls(
            **_counts("cases", [case.status for case in run.cases]),
            **_counts("turns", [turn.status for turn in turns]),
            metrics=MappingProxyType(_rollups(turns)),
            usage=TokenUsage.sum(turn.usage for turn in played),
            cost_usd=_sum_if_known(turn.cost_usd for turn in played),
            duration_ms=run.duration_ms,
            pass_at=pass_estimates(run.cases) if repeated else (),
            spread=spreads(run.cases) if repeated else MappingProxyType({}),
            judging=_judging(turns),
        )

    @property
    def judge_usage(self) -> TokenUsage | None:
        """Tokens of the judges, apart from the agent's; None where nothing is known, or nobody was asked."""
        return None if self.judging is None else self.judging.usage

    @property
    def judge_cost_usd(self) -> float | None:
        """What the judges cost; None where a part is unknown, or no model judged."""
        return None if self.judging is None else self.judging.cost_usd

    @property
    def pass_rate(self) -> float | None:
        """Share of cases that passed, 0 to 1; None for a run without cases."""
        return self.cases_passed / self.cases if self.cases else None

    @property
    def turn_pass_rate(self) -> float | None:
        """Share of turns that passed, 0 to 1; None for a run without turns."""
        return self.turns_passed / self.turns if self.turns else None


def warnings_of(cases: Sequence[CaseResult]) -> tuple[RunWarning, ...]:
    """What a user should know of the cases taken together."""
    return (*_unasserted(cases), *_unevenly_weighted(cases))


def _unevenly_weighted(cases: Iterable[CaseResult]) -> Iterator[RunWarning]:
    """One for each G-Eval metric of which only some scores are weighted by probabilities."""
    weighted: dict[str, list[bool]] = {}
    for case in cases:
        for turn in case.turns:
            for metric in turn.metrics:
                if metric.kind == "geval" and metric.verdict is None and metric.measured:
                    weighted.setdefault(metric.id, []).append("weighted" in (metric.details or {}))
    for name, flags in weighted.items():
        if any(flags) and not all(flags):
            yield RunWarning(
                f"{sum(flags)} of {len(flags)} scores of {name!r} are weighted by the probabilities of the"
                " judge's tokens, which its provider did not tell with the others: compare them with care"
            )


def _unasserted(cases: Iterable[CaseResult]) -> tuple[RunWarning, ...]:
    """One for all turns that passed because nothing was asserted of them."""
    count = sum(
        turn.passed and not turn.tool_checks and all(metric.passed is None for metric in turn.metrics)
        for case in cases
        for turn in case.turns
    )
    if not count:
        return ()
    turns = "1 turn passed because nothing is" if count == 1 else f"{count} turns passed because nothing is"
    return (RunWarning(f"{turns} asserted: no expected tools, and no metric gave a verdict"),)


def _counts(what: str, statuses: list[Status]) -> dict[str, Any]:
    by_status = {
        f"{what}_{status}": statuses.count(status) for status in ("passed", "failed", "error", "skipped")
    }
    return {what: len(statuses), **by_status}


def _rollups(turns: Iterable[TurnResult]) -> dict[str, MetricRollup]:
    by_id: dict[str, list[MetricResult]] = {}
    for turn in turns:
        for metric in turn.metrics:
            if metric.status != "not_applicable":
                by_id.setdefault(metric.id, []).append(metric)
    return {name: MetricRollup.of(results) for name, results in by_id.items()}


def _judging(turns: Iterable[TurnResult]) -> Judging | None:
    parts = [part for turn in turns for metric in turn.metrics if (part := Judging.of(metric)) is not None]
    return Judging.sum(parts) if parts else None


def _mean(scores: list[float]) -> float | None:
    return math.fsum(scores) / len(scores) if scores else None


def _sum_if_known(amounts: Iterable[float | None]) -> float | None:
    total, count = 0.0, 0
    for amount in amounts:
        if amount is None:
            return None
        total, count = total + amount, count + 1
    return total if count else None
