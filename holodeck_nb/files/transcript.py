"""What a reader writes down, up to a limit: text, warnings, facts."""

from __future__ import annotations

from typing import Any

from .extraction import Extraction

__all__ = ["Transcript", "numbers_text", "table"]


class Transcript:
    """Collects a file's text in reading order; stops taking it when the limit is reached.

    Attributes:
        warnings: Sentences without the file's name.
        facts: What the report tells beside the text.
        images: Pictures for models that see.
        full: Whether the limit is reached, so that reading on is in vain.
    """

    def __init__(self, limit: int) -> None:
        self.warnings: list[str] = []
        self.facts: dict[str, Any] = {}
        self.images: list[bytes] = []
        self.full = False
        self._parts: list[str] = []
        self._room = limit
        self._cut: str | None = None

    def add(self, text: str, *, place: str = "", apart: str = "\n\n", whole: bool = False) -> None:
        """Write a part down.

        Args:
            text: The part.
            place: Where the reader is, for the case that it is cut here.
            apart: What parts it from the one before.
            whole: Whether to leave it out rather than to cut it; the very first one is cut.
        """
        if self.full:
            return
        part = apart + text if self._parts else text
        if len(part) > self._room:
            part = "" if whole and self._parts else _whole_lines(part, self._room)
            self.full = True
            self._cut = place
        self._parts.append(part)
        self._room -= len(part)

    def cut_at(self, place: str) -> None:
        """The reader itself stopped before the end."""
        self.full = True
        self._cut = place

    @property
    def is_blank(self) -> bool:
        """Whether nothing but white space was written."""
        return not any(part.strip() for part in self._parts)

    @property
    def room(self) -> int:
        """How many characters may still come."""
        return self._room

    def extraction(self) -> Extraction:
        """All of it."""
        text = "".join(self._parts)
        # A lone surrogate, as broken documents have them, could not be sent to anybody.
        text = text.encode("utf-8", "replace").decode("utf-8")
        return Extraction(text, self._cut, tuple(self.warnings), self.facts, tuple(self.images))


def _whole_lines(text: str, room: int) -> str:
    """As much of it as there is room for, up to the end of a line where one is near."""
    end = text.rfind("\n", room - 500, room)
    return text[: room if end <= 0 else end]


def table(rows: list[list[str]]) -> str:
    r"""A Markdown table whose first row is its head; `|` is written `\|`, a line break `<br>`.

    >>> print(table([["Year", "Cash"], ["2009", "a|b"]]))
    | Year | Cash |
    | --- | --- |
    | 2009 | a\|b |
    """
    width = max(map(len, rows), default=0)
    lines = [
        "| " + " | ".join(_cell(cell) for cell in [*row, *([""] * (width - len(row)))]) + " |" for row in rows
    ]
    return "\n".join([*lines[:1], "| " + " | ".join(["---"] * width) + " |", *lines[1:]])


def _cell(text: str) -> str:
    lines = text.strip().splitlines()
    return "<br>".join(line.strip() for line in lines).replace("|", r"\|")


def numbers_text(numbers: list[int]) -> str:
    """Numbers the way people say them.

    >>> numbers_text([1, 2, 3, 7, 9, 10])
    '1-3, 7, 9-10'
    """
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ", ".join("-".join(map(str, span)) for span in spans)
