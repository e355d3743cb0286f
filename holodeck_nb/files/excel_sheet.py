"""One worksheet, row by row: stored values, and the formula where none was stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from openpyxl.styles.numbers import BUILTIN_FORMATS
from openpyxl.worksheet._reader import FORMULA_TAG, VALUE_TAG, WorkSheetParser

from .excel_cells import cell_text
from .excel_ranges import Area, column_letters

__all__ = ["Grid", "read_grid"]

_BUILTIN_COUNT = 164
_HIDDEN = frozenset({"1", "true"})


@dataclass(slots=True)
class Grid:
    """The cells of a sheet that were read, and what a person should know of them.

    Attributes:
        cells: Text by row and column, from 1; only cells with something in them.
        uncalculated: The cells that show a formula because no value was stored.
        hidden_rows, hidden_columns: What was left out because a person does not see it.
        all_read: Whether the sheet was read to its end.
        used: The extent of everything on the sheet that was come across; None where there was nothing.
    """

    cells: dict[int, dict[int, str]] = field(default_factory=dict)
    uncalculated: list[str] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[int] = field(default_factory=list)
    all_read: bool = True
    used: Area | None = None

    def columns(self) -> list[int]:
        """From the first column with something in it to the last, without hidden ones."""
        found = sorted({column for row in self.cells.values() for column in row})
        hidden = set(self.hidden_columns)
        return [number for number in range(found[0], found[-1] + 1) if number not in hidden] if found else []


def read_grid(book: Any, sheet: Any, area: Area | None, room: int) -> Grid:
    """Read a sheet until its end, or until there is more text than `room` has place for.

    Args:
        book: The workbook, opened for reading alone.
        sheet: The worksheet.
        area: The cells wanted, hidden ones included; None for all that is visible.
        room: How many characters may come of it.
    """
    grid, size = Grid(), 0
    wanted = area or Area()
    with sheet._get_source() as source:  # noqa: SLF001 - openpyxl streams values or formulas, never both
        parser = _Parser(
            source,
            sheet._shared_strings,  # noqa: SLF001 - as above
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,  # noqa: SLF001 - as above
            timedelta_formats=book._timedelta_formats,  # noqa: SLF001 - as above
        )
        parser.zeros_are_placeholders = bool(book.calculation and book.calculation.fullCalcOnLoad)
        shown = _shown(book)
        for number, row in parser.parse():
            if size > room:
                grid.all_read = False
                break
            filled = [cell for cell in row if cell["value"] is not None and cell["value"] != ""]
            _extend(grid, number, filled)
            if not wanted.first_row <= number <= wanted.last_row or not filled:
                continue
            if area is None and _is_hidden(parser.row_dimensions.get(str(number))):
                grid.hidden_rows.append(number)
                continue
            hidden = set() if area is not None else _hidden_columns(parser)
            for cell in filled:
                column = cell["column"]
                if not wanted.first_column <= column <= wanted.last_column:
                    continue
                if column in hidden:
                    if column not in grid.hidden_columns:
                        grid.hidden_columns.append(column)
                    continue
                text = shown(cell)
                grid.cells.setdefault(number, {})[column] = text
                size += len(text) + 3
                if cell["data_type"] == "f":
                    grid.uncalculated.append(f"{column_letters(column)}{number}")
        _uncover(grid, parser.merged_cells)
    return grid


class _Parser(WorkSheetParser):  # type: ignore[misc]  # openpyxl has no types
    """openpyxl's own, which gives a value where one is stored and the formula where none is."""

    zeros_are_placeholders = False

    def parse_cell(self, element: Any) -> Any:
        cell = super().parse_cell(element)
        if element.find(FORMULA_TAG) is None:
            return cell
        formula = self.parse_formula(element)  # also where it is not shown: others may share it
        stored = element.find(VALUE_TAG)
        # Programs that write and do not calculate leave nothing, an empty text, or 0, and say "calculate me".
        value = cell["value"]
        if stored is None or (self.zeros_are_placeholders and not value and value is not False):
            text = getattr(formula, "text", formula)
            cell |= {"value": text if isinstance(text, str) else "=TABLE(…)", "data_type": "f"}
        return cell


def _shown(book: Any) -> Callable[[dict[str, Any]], str]:
    """A cell's text by its number format."""
    styles, own = book._cell_styles, book._number_formats  # noqa: SLF001 - where the formats are

    def shown(cell: dict[str, Any]) -> str:
        number = styles[cell["style_id"]].numFmtId if cell["style_id"] < len(styles) else 0
        known = BUILTIN_FORMATS.get(number) if number < _BUILTIN_COUNT else None
        if known is None and 0 <= number - _BUILTIN_COUNT < len(own):
            known = own[number - _BUILTIN_COUNT]
        return cell_text(cell["value"], known or "General")

    return shown


def _is_hidden(attributes: Any) -> bool:
    return attributes is not None and attributes.get("hidden") in _HIDDEN


def _hidden_columns(parser: WorkSheetParser) -> set[int]:
    return {
        column
        for attributes in parser.column_dimensions.values()
        if _is_hidden(attributes)
        for column in range(int(attributes["min"]), int(attributes["max"]) + 1)
    }


def _extend(grid: Grid, number: int, filled: list[dict[str, Any]]) -> None:
    if not filled:
        return
    columns = [cell["column"] for cell in filled]
    used = grid.used or Area(columns[0], number, columns[0], number)
    grid.used = Area(
        min(used.first_column, *columns), used.first_row, max(used.last_column, *columns), number
    )


def _uncover(grid: Grid, merged: Any) -> None:
    """Only the first cell of merged ones is seen; what the others may still hold is not."""
    for span in merged.mergeCell if merged is not None else ():
        first_column, first_row, last_column, last_row = span.bounds
        for number in [row for row in grid.cells if first_row <= row <= last_row]:
            for column in [c for c in grid.cells[number] if first_column <= c <= last_column]:
                if (number, column) != (first_row, first_column):
                    del grid.cells[number][column]
            if not grid.cells[number]:
                del grid.cells[number]
