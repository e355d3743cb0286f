"""What a run has so far: every finished turn, readable at any moment, whatever becomes of the run."""

from __future__ import annotations

import platform
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from holodeck_nb._version import __version__
from holodeck_nb.errors import described
from holodeck_nb.results.records import RunWarning, TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult, warnings_of

from .budget import Budget, Spending
from .journal import Journal
from .journal_run import end_line, ended_line, opening_lines, plan_facts, turn_line, warning_line
from .plan import CasePlan, RunPlan

__all__ = ["RunRecord", "environment"]

_STARS = "**********"
_PATIENCE_S = 0.3


class RunRecord:
    """Collects finished turns case by case, in memory and in the journal, until the run is concluded.

    The engine adds on its loop, and an interrupt concludes on the cell's thread: what comes later than that
    is dropped, so that `hd.last_run()` and the journal hold the same.
    """

    def __init__(self, plan: RunPlan) -> None:
        self.plan = plan
        self.warnings: list[RunWarning] = list(plan.warnings)
        self.stop_reason: str | None = None
        played = plan.recorded
        self._started_at = datetime.now(UTC) if played is None else played.started_at
        self._environment = environment() if played is None else played.environment
        self._clock = perf_counter()
        self._turns: dict[int, list[TurnResult]] = {place: [] for place in range(len(plan.cases))}
        self._finished: dict[int, CaseResult] = dict(plan.kept)
        for place, case in plan.kept.items():
            self._turns[place] = list(case.turns)
        self._spending = Spending(plan.budget or Budget())
        self._journal = None if plan.journal is None else Journal(plan.journal)
        self._lock = threading.RLock()
        self._concluded: RunResult | None = None

    @property
    def journal(self) -> Path | None:
        """The file of the journal; None where there is none."""
        return None if self._journal is None else self._journal.path

    @property
    def duration_ms(self) -> float:
        """How long the run has been under way."""
        return (perf_counter() - self._clock) * 1000

    @property
    def turns_kept(self) -> int:
        """How many turns have been played so far."""
        return sum(turn.status != "skipped" for turns in self._turns.values() for turn in turns)

    def begin(self) -> None:
        """The first session is about to open: the journal is begun, with what is kept of an earlier run."""
        with self._lock:
            if self._concluded is None and self._journal is not None and self._journal.begin():
                self._write(self._opening(self._journal.run_id or ""))
            self._listen()

    def add(self, place: int, turn: TurnResult) -> TurnResult:
        """A turn has ended; `place` is its case's place in the plan. Returns it as it is kept."""
        case = self.plan.cases[place]
        turn = self._unsecret(turn)
        with self._lock:
            if self._concluded is None:
                self._turns[place].append(turn)
                self._write([turn_line(case, turn)])
                if turn.skip_reason is None and (problem := self._spending.add(turn)) is not None:
                    self.warn(RunWarning(problem, case=case.name, turn=turn.turn))
        return turn

    def finish(self, place: int) -> CaseResult:
        """A case has ended; turns that were not played are skipped."""
        case = self.plan.cases[place]
        finished_at = datetime.now(UTC) if self.plan.recorded is None else case.finished_at
        with self._lock:
            result = self._case(place, case, finished_at=finished_at)
            if self._concluded is None:
                self._finished[place] = result
                if finished_at is not None:
                    self._write([ended_line(case, finished_at)])
        return result

    def warn(self, warning: RunWarning) -> None:
        """Keep a warning; the same text again, on another turn, adds nothing."""
        warning = replace(warning, text=self._masked(warning.text))
        with self._lock:
            if all(known.text != warning.text for known in self.warnings):
                self.warnings.append(warning)
                self._write([warning_line(warning)])

    def stop(self, reason: str) -> None:
        """The run ends early; the first reason is kept."""
        self.stop_reason = self.stop_reason or self._masked(reason)

    def over(self) -> str | None:
        """Why no further turn may begin; None where one may. A budget that is reached ends the run."""
        if self.stop_reason is None and (reached := self._spending.reached()) is not None:
            self.stop(reached)
        return self.stop_reason

    async def secure(self) -> None:
        """Wait until the disk has the journal, now and then."""
        if self._journal is not None:
            await self._journal.secure()
            self._listen()

    def conclude(self, *, secure: bool = False) -> RunResult:
        """The run is over: the same result from now on, whatever is still on its way.

        Args:
            secure: Whether to wait until the disk has the journal.
        """
        if not self._lock.acquire(timeout=_PATIENCE_S):
            # The disk hangs in the midst of a line, and the user wants the cell back.
            self._concluded = self.result()
            return self._concluded
        try:
            if self._concluded is None:
                result = self.result()
                if self._journal is not None:
                    late = result.warnings[len(self.warnings) :]
                    self._write([*map(warning_line, late), end_line(result)])
                    self._journal.close(secure=secure)
                    self._listen()
                    warnings = (*self.warnings, *late)
                    if warnings != result.warnings:  # the last lines could not be written
                        result = replace(result, warnings=warnings)
                self._concluded = result
            return self._concluded
        finally:
            self._lock.release()

    def result(self) -> RunResult:
        """The run as it stands, cases in the suite's order; scored again, it is dated as it was played."""
        cases = tuple(
            self._finished.get(place) or self._case(place, case) for place, case in enumerate(self.plan.cases)
        )
        played = self.plan.recorded
        return RunResult(
            suite_name=self.plan.suite_name,
            cases=cases,
            suite_path=self.plan.suite_path,
            started_at=self._started_at,
            duration_ms=self.duration_ms if played is None else played.duration_ms,
            settings=dict(self.plan.settings),
            environment=self._environment,
            warnings=(*self.warnings, *warnings_of(cases)),
            stop_reason=self.stop_reason or (None if played is None else played.stop_reason),
        )

    def _opening(self, run_id: str) -> Iterator[dict[str, Any]]:
        yield from opening_lines(
            plan_facts(self.plan, run_id, self._started_at, self._environment), self.plan.cases
        )
        yield from map(warning_line, self.warnings)
        for case in self.plan.kept.values():
            yield from (turn_line(case, turn) for turn in case.turns)
            if case.finished_at is not None:
                yield ended_line(case, case.finished_at)

    def _write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        if self._journal is None:
            return
        try:
            self._journal.write(lines)
        except Exception as error:  # noqa: BLE001 - the user's objects are in it, and the run is worth more
            self._journal.trouble = f"a line of the journal could not be written: {described(error)}"
        self._listen()
        if self._concluded is not None:  # while the disk hung
            self._journal.close(secure=False)

    def _listen(self) -> None:
        """What the journal complains of is a warning of the run."""
        if self._journal is not None and self._journal.trouble is not None:
            trouble, self._journal.trouble = self._journal.trouble, None
            self.warn(RunWarning(trouble))

    def _unsecret(self, turn: TurnResult) -> TurnResult:
        """What a provider says of a fault may quote a key; what the agent says is its own data."""
        if not self.plan.secrets or (turn.error is None and turn.skip_reason is None):
            return turn
        error = None if turn.error is None else self._masked(turn.error)
        skip_reason = None if turn.skip_reason is None else self._masked(turn.skip_reason)
        return replace(turn, error=error, skip_reason=skip_reason)

    def _masked(self, text: str) -> str:
        for secret in self.plan.secrets:
            text = text.replace(secret, _STARS)
        return text

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


def environment() -> dict[str, str]:
    """What a run was played with."""
    return {
        "python_version": platform.python_version(),
        "os": platform.platform(),
        "implementation": sys.implementation.name,
        "holodeck_nb_version": __version__,
    }
