"""What happens while a run goes on: one stream of events, many listeners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .records import TurnResult
from .rollup import CaseResult, RunResult

__all__ = ["CaseFinished", "CaseStarted", "Event", "Listener", "RunFinished", "RunStarted", "TurnFinished"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The suite is valid and the first session is about to open; or the first case to be scored again."""

    suite_name: str
    cases: int
    turns: int
    scores_again: bool = False


@dataclass(frozen=True, slots=True)
class CaseStarted:
    """A case has its turn; `index` is its place in the suite, from 0."""

    name: str
    index: int
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """A turn has its verdict (or its error); comes before the next turn of the case begins."""

    name: str
    index: int
    repeat: int
    result: TurnResult


@dataclass(frozen=True, slots=True)
class CaseFinished:
    """Every turn of a case has ended and its session is closed."""

    result: CaseResult


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The last event of a run, also of one that ended early; `took_ms` where the result tells of another."""

    result: RunResult
    took_ms: float | None = None


Event = RunStarted | CaseStarted | TurnFinished | CaseFinished | RunFinished
Listener = Callable[[Event], None]
