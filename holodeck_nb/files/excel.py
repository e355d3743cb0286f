"""Excel workbooks: the sheets and cells that are asked for, as a person sees them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .excel_ranges import Area, column_letters, parsed_range
from .extraction import FileError
from .transcript import numbers_text, table

if TYPE_CHECKING:
    from .excel_sheet import Grid
    from .extraction import ReadRequest
    from .transcript import Transcript

__all__ = ["read_excel"]

_TOLD = 8


def read_excel(request: ReadRequest, out: Transcript) -> None:
    """Each sheet as a table with its columns' letters and its rows' numbers; empty rows are left out.

    Hidden sheets come only when they are named, hidden rows and columns only within a named range.

    Raises:
        FileError: There is no such sheet or range, or nothing in it.
    """
    from openpyxl import load_workbook  # noqa: PLC0415 - only for workbooks

    # A path would have to end in .xlsx, and a download has a hash for its name.
    with Path(request.path).open("rb") as file:
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        area, sheets = _asked(request, book, out)
        for sheet in sheets:
            if out.full:
                break
            _write(book, sheet, area, out)
    if out.is_blank:
        raise FileError("its sheets are empty")


def _asked(request: ReadRequest, book: Any, out: Transcript) -> tuple[Area | None, list[Any]]:
    """The cells and the sheets to read."""
    names = {name: defined.value for name, defined in book.defined_names.items() if not defined.hidden}
    named, area = (None, None) if request.range is None else parsed_range(request.range, names)
    if named is not None and request.sheet is not None and not _same(named, request.sheet):
        raise FileError(f"range {request.range!r} is on another sheet than {request.sheet!r}")
    wanted = request.sheet if request.sheet is not None else named
    if wanted is not None:
        return area, [_sheet(book, wanted)]
    hidden = [sheet.title for sheet in book.worksheets if sheet.sheet_state != "visible"]
    visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    if not visible:
        raise FileError(f"it has no visible sheet with cells; {_sheets_text(book)}")
    if area is not None:
        if len(visible) > 1:
            out.warnings.append(f"range {request.range} was read on the first sheet, {visible[0].title!r}")
        return area, visible[:1]
    if hidden:
        sheets = ", ".join(map(repr, hidden))
        out.warnings.append(f"hidden sheets were left out: {sheets}; name one with `sheet` to read it")
    return None, visible


def _sheet(book: Any, name: str) -> Any:
    exact = [sheet for sheet in book.worksheets if sheet.title == name]
    alike = [sheet for sheet in book.worksheets if _same(sheet.title, name)]
    found = exact or alike
    if not found:
        raise FileError(f"there is no sheet {name!r}; {_sheets_text(book)}")
    return found[0]


def _same(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()


def _sheets_text(book: Any) -> str:
    names = [
        repr(sheet.title) + ("" if sheet.sheet_state == "visible" else " (hidden)")
        for sheet in book.worksheets
    ]
    charts = [f"{sheet.title!r} (a chart)" for sheet in book.chartsheets]
    return f"its sheets: {', '.join([*names, *charts])}"


def _write(book: Any, sheet: Any, area: Area | None, out: Transcript) -> None:
    from .excel_sheet import read_grid  # noqa: PLC0415 - it needs openpyxl

    grid = read_grid(book, sheet, area, out.room)
    columns = grid.columns()
    if not columns:
        if area is not None:
            used = "the sheet is empty" if grid.used is None else f"the cells of the sheet are in {grid.used}"
            raise FileError(f"range {area} of sheet {sheet.title!r} is empty: {used}")
        return
    head = ["", *map(column_letters, columns)]
    rows = [[str(number), *(row.get(c, "") for c in columns)] for number, row in sorted(grid.cells.items())]
    shown = Area(columns[0], min(grid.cells), columns[-1], max(grid.cells))
    cells = f"sheet {sheet.title!r} {shown}"
    out.facts["cells"] = f"{out.facts['cells']}, {cells}" if "cells" in out.facts else cells
    place = f"in sheet {sheet.title!r}, before row {max(grid.cells)}"
    out.add(f"## Sheet {sheet.title}\n\n{table([head, *rows])}", place=place)
    if not grid.all_read and not out.full:
        out.cut_at(f"in sheet {sheet.title!r}, after row {max(grid.cells)}")
    _tell(sheet.title, grid, out)


def _tell(title: str, grid: Grid, out: Transcript) -> None:
    where = f"sheet {title!r}"
    if grid.uncalculated:
        few = ", ".join(grid.uncalculated[:_TOLD])
        more = "" if len(grid.uncalculated) <= _TOLD else f" and {len(grid.uncalculated) - _TOLD} more"
        out.warnings.append(
            f"{where}: no value is stored for the formulas in {few}{more}, so the formulas are shown; "
            f"open and save the file in Excel or LibreOffice to calculate them"
        )
    if grid.hidden_rows:
        out.warnings.append(f"{where}: hidden rows were left out: {numbers_text(grid.hidden_rows)}")
    if grid.hidden_columns:
        letters = ", ".join(map(column_letters, sorted(grid.hidden_columns)))
        out.warnings.append(f"{where}: hidden columns were left out: {letters}")
