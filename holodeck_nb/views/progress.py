"""How a run shows itself while it goes on: what is running, marks for what has ended, a summary."""

from __future__ import annotations

import time
from collections import deque
from typing import TextIO

from holodeck_nb.results.events import CaseFinished, CaseStarted, Event, RunFinished, RunStarted, TurnFinished
from holodeck_nb.results.records import Status
from holodeck_nb.results.rollup import RunResult

from .progress_displays import Display, display
from .visible_text import one_line, shortened
from .wording import counted, duration

__all__ = ["Progress"]

_MARKS: dict[Status, str] = {"passed": "✅", "failed": "❌", "error": "❌", "skipped": "⏭️"}
_LONG_S = 5.0
_NAME, _REASON = 80, 160
_FAILURES_AT_THE_END = 10


class Progress:
    """Listens to the events of a run and paints them, on the thread of the cell.

    Args:
        verbose: Whether every turn has a line of its own, beside every case.
        stream: Where lines go outside a notebook; standard error if left out.
    """

    def __init__(self, *, verbose: bool = False, stream: TextIO | None = None) -> None:
        self._display: Display = display(stream)
        self._verbose = verbose
        self._doing = "Running"
        self._cases = self._done = self._passed = 0
        self._running: dict[tuple[int, int], tuple[str, float]] = {}
        self._failures: deque[str] = deque(maxlen=_FAILURES_AT_THE_END)

    def __call__(self, event: Event) -> None:
        """Take note of one event."""
        match event:
            case RunStarted():
                self._cases = event.cases
                self._doing = "Scoring" if event.scores_again else "Running"
            case CaseStarted():
                self._running[event.index, event.repeat] = (_short(event.name), time.monotonic())
            case TurnFinished():
                if self._verbose:
                    turn = event.result
                    self._display.tell(
                        f"   {_MARKS[turn.status]} {_short(event.name)}, turn {turn.turn}: "
                        f"{_because(turn.reason) or turn.status}"
                    )
            case CaseFinished():
                self._case_finished(event)
            case RunFinished():
                self._display.end(_summary(event.result, event.took_ms), tuple(self._failures))

    def _case_finished(self, event: CaseFinished) -> None:
        case = event.result
        _, since = self._running.pop((case.index, case.repeat), ("", time.monotonic()))
        self._done += 1
        self._passed += case.passed
        elapsed = time.monotonic() - since
        took = f" ({elapsed:.0f} s)" if elapsed > _LONG_S else ""
        line = f"{_MARKS[case.status]} {self._done}/{self._cases} {_short(case.name)}: {case.status}{took}"
        if not case.passed:
            line += f" — {_because(case.reason)}"
            self._failures.append(line)
        self._display.tell(line)

    def paint(self) -> None:
        """Bring the display up to date; called about ten times a second."""
        if not self._running:
            return
        name, since = min(self._running.values(), key=lambda running: running[1])
        elapsed = time.monotonic() - since
        parts = [f"{self._doing} test {self._done + 1}/{self._cases}: {name}"]
        if len(self._running) > 1:
            parts.append(f"{len(self._running) - 1} more at once")
        if self._done:
            parts.append(f"{self._passed} passed, {self._done - self._passed} failed")
        if elapsed > _LONG_S:
            parts.append(f"{elapsed:.0f} s")
        self._display.show(" · ".join(parts), self._done / self._cases)


def _summary(result: RunResult, took_ms: float | None) -> str:
    summary = result.summary
    parts = [
        counted(summary.cases, "test"),
        f"{summary.cases_passed} passed",
        f"{summary.cases - summary.cases_passed} failed",
    ]
    if summary.pass_rate is not None:
        parts.append(f"pass rate {100 * summary.pass_rate:.1f} %")
    parts.append(duration(summary.duration_ms if took_ms is None else took_ms))
    if result.stop_reason is not None:
        parts.append(f"ended early: {_because(result.stop_reason)}")
    return " · ".join(parts)


def _short(name: str) -> str:
    return one_line(shortened(name, _NAME))


def _because(reason: str | None) -> str:
    return "" if reason is None else one_line(shortened(reason, _REASON))
