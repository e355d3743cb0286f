"""The cases of a run: a fresh session each, turns in order, several cases at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from time import perf_counter

from holodeck_nb.backends.base import AgentBackend, AgentSession
from holodeck_nb.errors import RunStoppedError, described
from holodeck_nb.files.inputs import FileDesk
from holodeck_nb.matching.expected_tools import name_warnings
from holodeck_nb.results.events import (
    CaseFinished,
    CaseStarted,
    Listener,
    RunFinished,
    RunStarted,
    TurnFinished,
)
from holodeck_nb.results.records import RunWarning, TurnResult
from holodeck_nb.results.rollup import RunResult
from holodeck_nb.sync import TimeLimitError, UserCodeExit, bounded, call

from . import casework
from .casework import give_back, side_by_side
from .plan import CasePlan, PlannedTurn, TurnPlan
from .record import RunRecord
from .turns import play_turn

__all__ = ["run_suite"]


async def run_suite(record: RunRecord, backend: AgentBackend, emit: Listener) -> RunResult:
    """Play the plan of `record` to its end; every finished turn is in `record` before the next one begins.

    Raises:
        UserCodeExit: User code raised KeyboardInterrupt; what was played is in `record`.
    """
    plan = record.plan
    to_play = plan.to_play
    record.begin()
    emit(RunStarted(plan.suite_name, len(to_play), sum(len(case.turns) for _, case in to_play)))
    desk = None if plan.files is None else FileDesk(plan.files)

    async def play(planned: tuple[int, CasePlan]) -> None:
        place, case = planned
        await _Case(record, place, case, backend, emit, desk).play()

    try:
        await side_by_side(to_play, play, at_once=min(plan.parallel, len(to_play)))
    finally:
        await give_back(backend, record, "backend")
        await give_back(plan.judges, record, "judge")
    result = record.conclude(secure=True)
    emit(RunFinished(result))
    return result


class _Case:
    """One case under way: `place` is its place in the plan."""

    def __init__(
        self,
        record: RunRecord,
        place: int,
        case: CasePlan,
        backend: AgentBackend,
        emit: Listener,
        desk: FileDesk | None,
    ) -> None:
        self.record = record
        self.place = place
        self.case = case
        self.backend = backend
        self.emit = emit
        self.desk = desk

    async def play(self) -> None:
        """From opening the session to closing it; a run that has been stopped plays nothing more."""
        self.emit(CaseStarted(self.case.name, self.case.index, self.case.repeat))
        turns = iter(self.case.turns)
        over = self.record.over()
        if over is None:
            session = await self._opened(turns)
            if session is not None:
                try:
                    over = await self._play_turns(session, turns)
                finally:
                    await self._close(session)
            else:
                over = self.record.stop_reason or "the session could not be opened"
        for turn in turns:
            self._ended(turn.result(skip_reason=over))
        finished = self.record.finish(self.place)
        await self.record.secure()
        self.emit(CaseFinished(finished))

    async def _opened(self, turns: Iterator[PlannedTurn]) -> AgentSession | None:
        """A session; None where it cannot be had, which is the first turn's error."""
        plan = self.record.plan
        started_at, clock = datetime.now(UTC), perf_counter()
        try:
            session: AgentSession | None = await bounded(
                call(self.backend.create_session, plan.context(self.case)), plan.llm_timeout
            )
        except TimeLimitError:
            fault = f"timeout after {plan.llm_timeout:g} s (execution.llm_timeout)"
        except UserCodeExit as error:
            if error.is_interrupt:
                raise
            fault = str(error)
        except Exception as error:  # noqa: BLE001 - the border to the backend: its fault is this case's result
            fault = described(error)
            if isinstance(error, RunStoppedError):
                self.record.stop(fault)
        else:
            if session is not None:
                return session
            fault = "the backend's create_session returned None"
        self._ended(
            next(turns).result(
                error=f"the session could not be opened: {fault}",
                started_at=started_at,
                duration_ms=(perf_counter() - clock) * 1000,
            )
        )
        return None

    async def _play_turns(self, session: AgentSession, turns: Iterator[PlannedTurn]) -> str | None:
        """Play turn after turn; returns why the remaining ones are skipped, None where all were played."""
        plan = self.record.plan
        for turn in turns:
            assert isinstance(turn, TurnPlan)  # what was recorded is scored again, and never played
            played = await play_turn(
                turn,
                session,
                case_name=self.case.name,
                llm_timeout=plan.llm_timeout,
                grader_timeout=plan.grader_timeout,
                desk=self.desk,
            )
            self._ended(played.result)
            for text in played.warnings:
                self._warn(text, turn.turn)
            if played.run_over is not None:
                self.record.stop(played.run_over)
            is_last = turn is self.case.turns[-1]
            over = played.case_over or (self.record.stop_reason if is_last else self.record.over())
            if over is not None:
                return over
        return None

    async def _close(self, session: AgentSession) -> None:
        """Close the session; one that will not close costs 5 s and a warning, never the run."""
        try:
            await bounded(call(session.close), casework.CLOSE_TIMEOUT_S)
        except TimeLimitError:
            limit = f"{casework.CLOSE_TIMEOUT_S:g} s"
            self._warn(f"the session did not close within {limit} and was left to itself")
        except Exception as error:
            if isinstance(error, UserCodeExit) and error.is_interrupt:
                raise
            self._warn(f"closing the session failed: {described(error)}")

    def _ended(self, turn: TurnResult) -> None:
        turn = self.record.add(self.place, turn)
        for text in name_warnings(turn.tool_checks or ()):
            self._warn(text, turn.turn)
        self.emit(TurnFinished(self.case.name, self.case.index, self.case.repeat, turn))

    def _warn(self, text: str, turn: int | None = None) -> None:
        self.record.warn(RunWarning(text, case=self.case.name, turn=turn))
