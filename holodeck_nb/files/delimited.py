"""CSV files: values as written, delimiter and encoding found."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING

from .extraction import FileError
from .plain_text import decoded

if TYPE_CHECKING:
    from .extraction import ReadRequest
    from .transcript import Transcript

__all__ = ["delimiter_of", "read_csv"]

# In this order: a tab or semicolon that parts every row alike is never chance, while numbers and sentences
# hold commas.
_DELIMITERS = "\t;,|"
_SAMPLE_CHARACTERS = 100_000
_SAMPLE_ROWS = 100
_AGREEMENT = 0.9
_NAMED = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar"}


def read_csv(request: ReadRequest, out: Transcript) -> None:
    """The rows as CSV with commas, a cell in quotes where it needs them; nothing else is changed.

    Raises:
        FileError: There is nothing in it, or it is no table.
    """
    text, more = decoded(request.path, request.limit, out)
    text, stated = _without_hint(text)
    if not text.strip():
        raise FileError("it holds no rows")
    delimiter = stated or delimiter_of(text)
    csv.field_size_limit(request.limit * 4 + 1)
    rows, widths = 0, Counter[int]()
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if out.full:
                break
            rows += 1
            if row:
                widths[len(row)] += 1
            out.add(_line(row), place=f"in row {rows:,}", apart="\n", whole=True)
    except csv.Error as error:
        raise FileError(f"row {rows + 1} cannot be read: {error}") from error
    if more and not out.full:
        out.cut_at(f"in row {rows:,}")
    out.facts["delimiter"] = _NAMED.get(delimiter, delimiter)
    if not out.full:
        out.facts["rows"] = rows
    if len(widths) > 1 and not out.full:
        told = ", ".join(f"{count} with {width}" for width, count in widths.most_common(4))
        out.warnings.append(f"its rows have different numbers of cells: {told}")


def delimiter_of(text: str) -> str:
    """What parts the cells: the first delimiter that gives nearly all rows the same number of cells.

    >>> delimiter_of("year;cash" + chr(10) + "2009;1,5")
    ';'
    """
    sample = text[:_SAMPLE_CHARACTERS]
    best, agreement = ",", 0.0
    for delimiter in _DELIMITERS:
        widths = _widths(sample, delimiter)
        if not widths:
            continue
        width, count = widths.most_common(1)[0]
        share = count / widths.total()
        if width > 1 and share >= _AGREEMENT:
            return delimiter
        if width > 1 and share > agreement:
            best, agreement = delimiter, share
    return best


def _widths(sample: str, delimiter: str) -> Counter[int]:
    """How many of the first rows have how many cells."""
    widths = Counter[int]()
    lines = iter(sample.splitlines(keepends=True))
    try:
        for number, row in enumerate(csv.reader(lines, delimiter=delimiter, strict=True)):
            if number == _SAMPLE_ROWS:
                break
            if row:
                widths[len(row)] += 1
    except csv.Error:
        # At the end it is a cell that the sample cuts; before that, quotes that make no sense this way.
        return widths if next(lines, None) is None else Counter()
    return widths


def _without_hint(text: str) -> tuple[str, str | None]:
    """Spreadsheet programs write the delimiter into the first line: `sep=;`."""
    first, _, rest = text.partition("\n")
    hint = first.strip().strip('"')
    return (rest, hint[4]) if len(hint) == len("sep=;") and hint.lower().startswith("sep=") else (text, None)


def _line(row: list[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(row)
    return line.getvalue().removesuffix("\n")
