"""Which cells are meant: `A1:D20`, one cell, whole columns or rows, a defined name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .extraction import FileError

__all__ = ["LAST_COLUMN", "LAST_ROW", "Area", "column_letters", "parsed_range"]

LAST_COLUMN, LAST_ROW = 16_384, 1_048_576

_CORNER = r"\$?([A-Za-z]{1,3})?\$?([0-9]{1,7})?"
_RANGE = re.compile(rf"{_CORNER}(?::{_CORNER})?")
_SHEET = re.compile(r"(?:'((?:[^']|'')+)'|([^'!:]+))!(.+)")


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells; columns and rows from 1, both ends included."""

    first_column: int = 1
    first_row: int = 1
    last_column: int = LAST_COLUMN
    last_row: int = LAST_ROW

    def __str__(self) -> str:
        """The way Excel writes it."""
        first = f"{column_letters(self.first_column)}{self.first_row}"
        last = f"{column_letters(self.last_column)}{self.last_row}"
        return first if first == last else f"{first}:{last}"


def parsed_range(text: str, names: dict[str, Any]) -> tuple[str | None, Area]:
    """The sheet that a range names, None where it names none, and its cells.

    >>> parsed_range("Sales!B2:$A$1", {})
    ('Sales', Area(first_column=1, first_row=1, last_column=2, last_row=2))

    Args:
        text: As in the suite.
        names: The workbook's defined names, with what they stand for.

    Raises:
        FileError: It is no range.
    """
    stated = text.strip()
    meant = next(
        (str(value) for name, value in names.items() if name.casefold() == stated.casefold()), stated
    )
    sheet = None
    if (qualified := _SHEET.fullmatch(meant)) is not None:
        sheet = (qualified[1] or qualified[2]).replace("''", "'").strip()
        meant = qualified[3].strip()
    area = _area(meant)
    if area is None:
        known = f"; the workbook's names: {', '.join(names)}" if names else ""
        raise FileError(
            f"range {text!r} is no range: write A1:D20, a cell A1, columns A:D or rows 2:9{known}"
        )
    return sheet, area


def _area(text: str) -> Area | None:
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    first_column, first_row, last_column, last_row = match.groups()
    if ":" not in text:
        if first_column is None or first_row is None:
            return None
        last_column, last_row = first_column, first_row
    if (first_column is None) is not (last_column is None) or (first_row is None) is not (last_row is None):
        return None
    if first_column is None and first_row is None:
        return None
    columns = sorted([_column(first_column or "A"), _column(last_column or "XFD")])
    rows = sorted([int(first_row or 1), int(last_row or LAST_ROW)])
    if rows[0] < 1 or rows[1] > LAST_ROW or columns[1] > LAST_COLUMN:
        return None
    return Area(columns[0], rows[0], columns[1], rows[1])


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def column_letters(number: int) -> str:
    """A column's name.

    >>> column_letters(1), column_letters(28)
    ('A', 'AB')
    """
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
