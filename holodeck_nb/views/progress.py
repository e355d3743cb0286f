"""How a run shows itself while it goes on: one line that changes, or plain lines off a terminal."""

from __future__ import annotations

import html
import sys
import time
from typing import Any, Protocol, TextIO

from holodeck_nb.results.events import CaseFinished, CaseStarted, Event, RunFinished, RunStarted, TurnFinished
from holodeck_nb.results.rollup import RunResult

__all__ = ["MARKS", "Progress", "quiet"]

MARKS = {"passed": "✅", "failed": "❌", "error": "❌", "skipped": "⏭"}
_LONG_S = 5.0


def quiet(event: Event) -> None:
    """The listener that shows nothing."""


class _Display(Protocol):
    """Where the progress goes."""

    def show(self, line: str) -> None:
        """The line that stands for the run right now."""

    def tell(self, line: str) -> None:
        """A line that stays."""

    def end(self, line: str) -> None:
        """The last line."""


class Progress:
    """Listens to the events of a run and paints them; called on the thread of the cell.

    `verbose` adds a line a turn.
    """

    def __init__(self, *, verbose: bool = False, stream: TextIO | None = None) -> None:
        self._display = _display(stream if stream is not None else sys.stderr)
        self._verbose = verbose
        self._cases = self._done = self._failed = 0
        self._running: dict[str, float] = {}

    def __call__(self, event: Event) -> None:
        """Take note of one event."""
        match event:
            case RunStarted():
                self._cases = event.cases
            case CaseStarted():
                self._running[event.name] = time.monotonic()
            case TurnFinished() if self._verbose:
                turn = event.result
                self._display.tell(
                    f"  {MARKS[turn.status]} {event.name}, turn {turn.turn}: {turn.reason or turn.status}"
                )
            case CaseFinished():
                self._running.pop(event.result.name, None)
                self._done += 1
                self._failed += not event.result.passed
                reason = "" if event.result.passed else f": {event.result.reason}"
                self._display.tell(
                    f"{MARKS[event.result.status]} {event.result.name} {event.result.status}{reason}"
                )
            case RunFinished():
                self._display.end(_summary(event.result))

    def paint(self) -> None:
        """Bring the display up to date; called about ten times a second."""
        if self._cases and self._running:
            name, since = next(iter(self._running.items()))
            elapsed = time.monotonic() - since
            waiting = f", {elapsed:.0f} s" if elapsed > _LONG_S else ""
            failed = f", {self._failed} failed" if self._failed else ""
            self._display.show(f"Running test {self._done + 1}/{self._cases}: {name}{failed}{waiting}")


def _summary(result: RunResult) -> str:
    summary = result.summary
    rate = "" if summary.pass_rate is None else f", {summary.pass_rate:.1%} pass rate".replace("%", " %")
    not_passed = summary.cases - summary.cases_passed
    early = f" — ended early: {result.stop_reason}" if result.stop_reason else ""
    return f"{summary.cases} tests: {summary.cases_passed} passed, {not_passed} failed{rate}{early}"


class _Lines:
    """Plain lines for logs and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, line: str) -> None:
        """A log keeps no line that changes."""

    def tell(self, line: str) -> None:
        print(line, file=self._stream, flush=True)

    end = tell


class _Terminal(_Lines):
    """One line that changes, and above it those that stay."""

    def show(self, line: str) -> None:
        self._stream.write(f"\r\x1b[K{line[:100]}")
        self._stream.flush()

    def tell(self, line: str) -> None:
        self._stream.write(f"\r\x1b[K{line}\n")
        self._stream.flush()

    end = tell


class _Cell:
    """One display in the cell's output, repainted."""

    def __init__(self) -> None:
        from IPython.display import display  # noqa: PLC0415 - there is a kernel, so it is loaded already

        self._handle: Any = display(_Line(""), display_id=True)  # type: ignore[no-untyped-call] # IPython has no types here
        self._shown = ""

    def show(self, line: str) -> None:
        if line != self._shown:
            self._shown = line
            self._handle.update(_Line(line))

    def tell(self, line: str) -> None:
        """A cell keeps one line; what happened is in the result."""

    end = show


class _Line:
    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<div>{html.escape(self._text)}</div>"


def _display(stream: TextIO) -> _Display:
    if _in_kernel():
        return _Cell()
    return _Terminal(stream) if stream.isatty() else _Lines(stream)


def _in_kernel() -> bool:
    """Whether a notebook's cell is the one that asks; loads nothing to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None
