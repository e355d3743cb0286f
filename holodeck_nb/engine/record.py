"""What a run has so far: every finished turn, readable at any moment, whatever becomes of the run."""

from __future__ import annotations

import platform
import sys
from datetime import UTC, datetime
from time import perf_counter

from holodeck_nb._version import __version__
from holodeck_nb.results.records import RunWarning, TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult

from .plan import CasePlan, RunPlan

__all__ = ["RunRecord"]


class RunRecord:
    """Collects finished turns case by case; `result` may be asked for while the run goes on."""

    def __init__(self, plan: RunPlan) -> None:
        self.plan = plan
        self.warnings: list[RunWarning] = list(plan.warnings)
        self.stop_reason: str | None = None
        self._started_at = datetime.now(UTC)
        self._clock = perf_counter()
        self._turns: dict[int, list[TurnResult]] = {place: [] for place in range(len(plan.cases))}
        self._finished: dict[int, CaseResult] = {}

    @property
    def turns_kept(self) -> int:
        """How many turns have been played so far."""
        return sum(turn.status != "skipped" for turns in self._turns.values() for turn in turns)

    def add(self, place: int, turn: TurnResult) -> None:
        """A turn has ended; `place` is its case's place in the plan."""
        self._turns[place].append(turn)

    def finish(self, place: int) -> CaseResult:
        """A case has ended; turns that were not played are skipped."""
        result = self._case(place, self.plan.cases[place], finished_at=datetime.now(UTC))
        self._finished[place] = result
        return result

    def warn(self, warning: RunWarning) -> None:
        """Keep a warning; the same text again, on another turn, adds nothing."""
        if all(known.text != warning.text for known in self.warnings):
            self.warnings.append(warning)

    def stop(self, reason: str) -> None:
        """The run ends early; the first reason is kept."""
        self.stop_reason = self.stop_reason or reason

    def result(self) -> RunResult:
        """The run as it stands, cases in the suite's order."""
        cases = tuple(
            self._finished.get(place) or self._case(place, case) for place, case in enumerate(self.plan.cases)
        )
        return RunResult(
            suite_name=self.plan.suite_name,
            cases=cases,
            suite_path=self.plan.suite_path,
            started_at=self._started_at,
            duration_ms=(perf_counter() - self._clock) * 1000,
            settings=dict(self.plan.settings),
            environment={
                "python_version": platform.python_version(),
                "os": platform.platform(),
                "implementation": sys.implementation.name,
                "holodeck_nb_version": __version__,
            },
            warnings=(*self.warnings, *_unasserted(cases)),
            stop_reason=self.stop_reason,
        )

    def _case(self, place: int, case: CasePlan, finished_at: datetime | None = None) -> CaseResult:
        played = list(self._turns[place])
        reason = self.stop_reason or "not played"
        unplayed = [turn.result(skip_reason=reason) for turn in case.turns[len(played) :]]
        return CaseResult(
            name=case.name,
            index=case.index,
            turns=(*played, *unplayed),
            given_name=case.given_name,
            multi_turn=case.multi_turn,
            repeat=case.repeat,
            finished_at=finished_at,
        )


def _unasserted(cases: tuple[CaseResult, ...]) -> tuple[RunWarning, ...]:
    """One warning for all turns that passed because nothing was asserted of them."""
    count = sum(
        turn.passed and not turn.tool_checks and all(metric.passed is None for metric in turn.metrics)
        for case in cases
        for turn in case.turns
    )
    if not count:
        return ()
    turns = "1 turn passed because nothing is" if count == 1 else f"{count} turns passed because nothing is"
    return (RunWarning(f"{turns} asserted: no expected tools, and no metric gave a verdict"),)
