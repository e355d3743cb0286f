"""The analyst's reference book: figures of ten annual reports, found by document, row and column."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FIGURES_FILE = Path(__file__).parent.parent / "data" / "figures.json"


def lookup(document: str, row: str, column: str | int) -> float:
    """Read one figure from the table of an annual report.

    Names are found whatever their case and blanks, and by part of a name where only one fits: "strike price"
    finds the row "option strike price".

    Args:
        document: The report, such as "MRO 2007".
        row: The item, such as "option strike price".
        column: The year or the heading, such as "2007".

    Returns:
        The figure in the unit of the table; percentages as a ratio, so that 15.7% is 0.157.

    Raises:
        ValueError: There is no such document, row or column; the message lists those that there are.
    """
    # `column` may be a number: some models write the year 2007 without quotes, whatever the schema says.
    table: dict[str, dict[str, float]] = _found(document, _figures(), "document")["rows"]
    return float(_found(column, _found(row, table, f"row of {document!r}"), f"column of row {row!r}"))


@functools.cache
def _figures() -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(FIGURES_FILE.read_text(encoding="utf-8"))
    return figures


def _found(asked: str | int, among: dict[str, Any], what: str) -> Any:
    """The value under a name that is written more or less like this."""
    words = _words(asked)
    same = [name for name in among if _words(name) == words]
    names = same or [name for name in among if words and set(words) <= set(_words(name))]
    if len(names) == 1:
        return among[names[0]]
    fault = f"{asked!r} fits several names" if names else f"there is no {asked!r}"
    raise ValueError(f"{what}: {fault}; choose one of {_listed(names or among)}")


def _words(name: str | int) -> list[str]:
    return re.findall(r"\w+", str(name).casefold())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
