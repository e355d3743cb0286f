"""Where progress goes: one display in a cell, one line that changes on a terminal, plain lines in a log."""

from __future__ import annotations

import shutil
import sys
from collections import deque
from html import escape
from typing import Any, Protocol, TextIO

from .card import SCOPE, STYLE

__all__ = ["Display", "display", "in_a_kernel"]

_LINES_IN_A_CELL = 8


class Display(Protocol):
    """Takes what a run has to tell."""

    def show(self, line: str, share: float) -> None:
        """What the run is doing right now; `share` of it is done, 0 to 1."""

    def tell(self, line: str) -> None:
        """What has just ended."""

    def end(self, line: str, failures: tuple[str, ...]) -> None:
        """The summary, and the last failures."""


def display(stream: TextIO | None = None) -> Display:
    """The display that fits where this thread's output goes; `stream` instead of standard error."""
    if stream is None and in_a_kernel():
        return _Cell()
    chosen = sys.stderr if stream is None else stream
    return _Terminal(chosen) if chosen.isatty() else _Lines(chosen)


def in_a_kernel() -> bool:
    """Whether a notebook's cell is asking; loads nothing to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None


class _Lines:
    """Plain lines for logs and pipes: one a case, one for the summary; nothing that overwrites."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, line: str, share: float) -> None:
        """A log keeps no line that changes."""

    def tell(self, line: str) -> None:
        self._write(f"{line}\n")

    def end(self, line: str, failures: tuple[str, ...]) -> None:
        del failures  # each has had its line
        self._write(f"{line}\n")

    def _write(self, text: str) -> None:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        self._stream.flush()


class _Terminal(_Lines):
    """One line that changes; above it, those that stay."""

    _CLEAR = "\r\x1b[K"

    def show(self, line: str, share: float) -> None:
        del share  # the line says which of how many
        width = shutil.get_terminal_size().columns - 1
        self._write(f"{self._CLEAR}{line[:width]}")

    def tell(self, line: str) -> None:
        self._write(f"{self._CLEAR}{line}\n")

    def end(self, line: str, failures: tuple[str, ...]) -> None:
        del failures  # each has had its line
        self.tell(line)


class _Cell:
    """One display in the cell's output, painted anew: a bar, what is running, what ended last."""

    def __init__(self) -> None:
        from IPython.display import display as show  # noqa: PLC0415 - in a kernel it is loaded already

        self._lines: deque[str] = deque(maxlen=_LINES_IN_A_CELL)
        self._shown: tuple[str, tuple[str, ...]] | None = None
        self._handle: Any = show(_Painted("Starting", 0.0, ()), display_id=True)  # type: ignore[no-untyped-call] # IPython has no types here

    def show(self, line: str, share: float) -> None:
        self._paint(line, share, tuple(self._lines))

    def tell(self, line: str) -> None:
        self._lines.append(line)

    def end(self, line: str, failures: tuple[str, ...]) -> None:
        self._paint(line, None, failures)

    def _paint(self, line: str, share: float | None, lines: tuple[str, ...]) -> None:
        if self._shown != (line, lines):
            self._shown = (line, lines)
            self._handle.update(_Painted(line, share, lines))


class _Painted:
    """One state of the display; `share` is None at the end."""

    def __init__(self, line: str, share: float | None, lines: tuple[str, ...]) -> None:
        self._line = line
        self._share = share
        self._lines = lines

    def __repr__(self) -> str:
        return "\n".join([self._line, *self._lines])

    def _repr_html_(self) -> str:
        bar = "" if self._share is None else f'<progress max="1" value="{self._share:.3f}"></progress> '
        lines = "".join(f'<div class="note">{escape(line)}</div>' for line in self._lines)
        return f'{STYLE}<div class="{SCOPE}" role="status">{bar}{escape(self._line)}{lines}</div>'
