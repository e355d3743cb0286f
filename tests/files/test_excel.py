"""Excel workbooks: what a person sees, the range that is asked for, and a word for each thing left out."""

import datetime as dt

import documents
import openpyxl
import pytest
from documents import workbook

from holodeck_nb.files.excel_cells import cell_text
from holodeck_nb.files.excel_ranges import Area, parsed_range
from holodeck_nb.files.extraction import FileError, ReadRequest
from holodeck_nb.files.readers import read


def read_excel(path, limit=100_000, **part):
    return read(ReadRequest(str(path), "excel", limit, **part))


def cells_of(text, title=None):
    """The tables of an extraction: sheet -> row number -> column letter -> text."""
    sheets = {}
    for part in text.split("## Sheet ")[1:]:
        name, _, rest = part.partition("\n")
        rows = [[cell.strip() for cell in line[2:-2].split(" | ")] for line in rest.strip().splitlines()]
        head, body = rows[0], rows[2:]
        sheets[name] = {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in body}
    return sheets


@pytest.fixture
def accounts(tmp_path):
    def fill(book):
        sheet = book.add_worksheet("P")
        sheet.write_row("A1", ["Year", "Cash"])
        sheet.write_row("A2", [2009, 206588])
        sheet.write_row("A3", [2008, 181001])
        sheet.write_formula("B4", "=B2-B3", None, 25587)
        sheet.write_formula("B5", "=B4*2", None, "")
        book.add_worksheet("Q").write("A1", "second sheet")
        book.define_name("Cash", "=P!$B$2:$B$3")

    return workbook(tmp_path / "f.xlsx", fill)


# Excel knows no time zones.
VALUES = [
    #  value                                     number format     shown
    (2009.0,                                     "General",        "2009"),       # never 2009.0
    (206588,                                     "#,##0",          "206588"),
    (0.1 + 0.2,                                  "General",        "0.3"),        # 15 digits, as Excel has
    (9007199254740993,                           "General",        "9007199254740993"),
    (1e-7,                                       "General",        "0.0000001"),
    (1e300,                                      "General",        "1E+300"),
    (-5,                                         "0",              "-5"),
    (0,                                          "General",        "0"),
    (0.1414,                                     "0.00%",          "14.14%"),
    (0.141372,                                   "0%",             "14.1372%"),   # the digits stay
    (1,                                          '0" of 100%"',    "1"),          # a sign in a text
    (123,                                        "00000",          "00123"),
    (123456789,                                  "000-00-0000",    "123-45-6789"),
    (7,                                          '"A-"000',        "A-007"),
    (1234567,                                    "00000",          "1234567"),
    (12,                                         "0.00",           "12"),
    (True,                                       "General",        "TRUE"),
    (None,                                       "General",        ""),
    ("00123",                                    "General",        "00123"),
    ("#DIV/0!",                                  "General",        "#DIV/0!"),
    (dt.datetime(2009, 12, 31),            "mmm-yy",         "2009-12-31"),  # noqa: DTZ001 - the same
    (dt.datetime(2009, 12, 31, 9, 30),     "m/d/yy h:mm",    "2009-12-31 09:30:00"),  # noqa: DTZ001 - the same
    (dt.time(9, 30),                       "h:mm",           "09:30:00"),
    (dt.timedelta(hours=30, minutes=5),    "[h]:mm",         "30:05:00"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "number_format", "shown"), VALUES)
def test_a_cell_as_a_person_sees_it(value, number_format, shown):
    assert cell_text(value, number_format) == shown


RANGES = [
    ("A1:B3", None, Area(1, 1, 2, 3)),
    ("a1:b3", None, Area(1, 1, 2, 3)),
    ("$A$1:$B$3", None, Area(1, 1, 2, 3)),
    ("B3:A1", None, Area(1, 1, 2, 3)),  # Excel turns it round, too
    ("C7", None, Area(3, 7, 3, 7)),
    ("A:C", None, Area(1, 1, 3, 1_048_576)),
    ("2:5", None, Area(1, 2, 16_384, 5)),
    ("XFD1048576", None, Area(16_384, 1_048_576, 16_384, 1_048_576)),
    ("'Cash flow'!A1", "Cash flow", Area(1, 1, 1, 1)),
    ("'it''s'!A1", "it's", Area(1, 1, 1, 1)),
    ("cash", "P", Area(2, 2, 2, 3)),
]


@pytest.mark.parametrize(("text", "sheet", "area"), RANGES)
def test_a_range(text, sheet, area):
    assert parsed_range(text, {"Cash": "P!$B$2:$B$3"}) == (sheet, area)


@pytest.mark.parametrize(
    "text", ["ZZZ", "B9:A", "A", "5", "A0", "A1:B", "XFE1", "A1048577", "A1:B2:C3", "", "A1,B2", "A1;B2"]
)
def test_no_range(text):
    with pytest.raises(FileError, match=r"is no range: write A1:D20, .* the workbook's names: Cash"):
        parsed_range(text, {"Cash": "P!$B$2:$B$3"})


def test_the_whole_workbook(accounts):
    extraction = read_excel(accounts)
    assert cells_of(extraction.text) == {
        "P": {
            "1": {"A": "Year", "B": "Cash"},
            "2": {"A": "2009", "B": "206588"},
            "3": {"A": "2008", "B": "181001"},
            "4": {"A": "", "B": "25587"},
            "5": {"A": "", "B": "=B4*2"},
        },
        "Q": {"1": {"A": "second sheet"}},
    }
    [warning] = extraction.warnings
    assert warning.startswith(
        "sheet 'P': no value is stored for the formulas in B5, so the formulas are shown"
    )


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ({"sheet": "P", "range": "A2:B2"}, {"P": {"2": {"A": "2009", "B": "206588"}}}),
        ({"range": "B2"}, {"P": {"2": {"B": "206588"}}}),
        ({"range": "Cash"}, {"P": {"2": {"B": "206588"}, "3": {"B": "181001"}}}),
        ({"range": "Q!A:A"}, {"Q": {"1": {"A": "second sheet"}}}),
        ({"sheet": "q"}, {"Q": {"1": {"A": "second sheet"}}}),
        ({"sheet": "P", "range": "3:3"}, {"P": {"3": {"A": "2008", "B": "181001"}}}),
    ],
)
def test_only_what_is_asked_for(accounts, part, found):
    assert cells_of(read_excel(accounts, **part).text) == found


WRONG = [
    ({"sheet": "Nope"}, "there is no sheet 'Nope'; its sheets: 'P', 'Q'"),
    ({"range": "ZZZ"}, "range 'ZZZ' is no range"),
    ({"sheet": "P", "range": "B9:A"}, "range 'B9:A' is no range"),
    (
        {"sheet": "P", "range": "D1:F9"},
        "range D1:F9 of sheet 'P' is empty: the cells of the sheet are in A1:B5",
    ),
    ({"sheet": "Q", "range": "P!A1"}, "range 'P!A1' is on another sheet than 'Q'"),
]


@pytest.mark.parametrize(("part", "said"), WRONG)
def test_what_is_not_there_is_an_error_that_names_what_is(accounts, part, said):
    with pytest.raises(FileError) as caught:
        read_excel(accounts, **part)
    assert str(caught.value).startswith(said)


def test_formulas_of_a_library_that_never_calculates(tmp_path):
    book = openpyxl.Workbook()
    book.active.append([1, 2, "=A1+B1"])
    book.active.append([3, 4, "=A2+B2"])
    book.save(tmp_path / "o.xlsx")
    extraction = read_excel(tmp_path / "o.xlsx")
    assert cells_of(extraction.text)["Sheet"]["2"] == {"A": "3", "B": "4", "C": "=A2+B2"}
    assert "C1, C2" in extraction.warnings[0]


def test_a_placeholder_is_no_total(tmp_path):
    # XlsxWriter stores 0 for a formula whose value it is not told.
    path = workbook(tmp_path / "x.xlsx", lambda book: book.add_worksheet().write("A1", "=1+1"))
    extraction = read_excel(path)
    assert cells_of(extraction.text)["Sheet1"]["1"]["A"] == "=1+1"
    assert "A1" in extraction.warnings[0]


def test_the_1904_dates(tmp_path):
    def fill(book):
        date = book.add_format({"num_format": "d mmm yyyy"})
        book.add_worksheet().write_datetime("A1", dt.datetime(2009, 12, 31), date)  # noqa: DTZ001 - Excel knows no time zones

    path = workbook(tmp_path / "d.xlsx", fill, date_1904=True)
    assert cells_of(read_excel(path).text)["Sheet1"]["1"]["A"] == "2009-12-31"


class TestHidden:
    @pytest.fixture
    def path(self, tmp_path):
        def fill(book):
            sheet = book.add_worksheet("Seen")
            for row in range(4):
                sheet.write_row(row, 0, [f"{letter}{row + 1}" for letter in "ABCD"])
            sheet.set_row(1, None, None, {"hidden": True})
            sheet.set_column("C:C", None, None, {"hidden": True})
            secret = book.add_worksheet("H")
            secret.write("A1", "MARK-H")
            secret.hide()
            book.add_worksheet("V").very_hidden()

        return workbook(tmp_path / "h.xlsx", fill)

    def test_sheets_rows_and_columns_are_left_out_and_told(self, path):
        extraction = read_excel(path)
        cells = cells_of(extraction.text)
        assert list(cells) == ["Seen"]
        assert list(cells["Seen"]) == ["1", "3", "4"]
        assert list(cells["Seen"]["1"]) == ["A", "B", "D"]
        assert extraction.warnings == (
            "hidden sheets were left out: 'H', 'V'; name one with `sheet` to read it",
            "sheet 'Seen': hidden rows were left out: 2",
            "sheet 'Seen': hidden columns were left out: C",
        )

    def test_a_named_sheet_is_read(self, path):
        assert "MARK-H" in read_excel(path, sheet="H").text

    def test_a_named_range_is_read_whole(self, path):
        cells = cells_of(read_excel(path, range="B1:D3").text)["Seen"]
        assert list(cells) == ["1", "2", "3"]
        assert list(cells["2"].values()) == ["B2", "C2", "D2"]


def test_merged_cells_show_the_first_one(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (1, 2):
        for column in (1, 2, 3):
            sheet.cell(row, column, f"{row}{column}")
    book.save(tmp_path / "plain.xlsx")
    # What lies under a merged cell is not seen; a library may leave it there.
    import zipfile

    with (
        zipfile.ZipFile(tmp_path / "plain.xlsx") as plain,
        zipfile.ZipFile(tmp_path / "m.xlsx", "w") as merged,
    ):
        for name in plain.namelist():
            body = plain.read(name)
            if name.endswith("sheet1.xml"):
                spans = b'</sheetData><mergeCells count="1"><mergeCell ref="A1:B2"/></mergeCells>'
                body = body.replace(b"</sheetData>", spans)
            merged.writestr(name, body)
    cells = cells_of(read_excel(tmp_path / "m.xlsx").text)["Sheet"]
    assert cells == {"1": {"A": "11", "B": "", "C": "13"}, "2": {"A": "", "B": "", "C": "23"}}


def test_a_bar_and_a_line_break_in_a_cell(tmp_path):
    path = workbook(tmp_path / "b.xlsx", lambda book: book.add_worksheet().write("A1", "a|b\nc"))
    assert r"| 1 | a\|b<br>c |" in read_excel(path).text


def test_a_long_sheet_is_cut_at_a_row(tmp_path):
    def fill(book):
        sheet = book.add_worksheet()
        for row in range(20_000):
            sheet.write_row(row, 0, [row, "206588"])

    extraction = read_excel(workbook(tmp_path / "l.xlsx", fill, constant_memory=True), limit=5_000)
    assert len(extraction.text) <= 5_000
    assert extraction.cut.startswith("in sheet 'Sheet1', before row ")
    assert extraction.text.splitlines()[-1].endswith("| 206588 |")


def test_what_libreoffice_calculated(tmp_path):
    path = documents.by_libreoffice(tmp_path, "cells.fods", documents.FLAT_SHEET, "xlsx")
    extraction = read_excel(path)
    assert cells_of(extraction.text) == {
        "Cash flow": {
            "1": {"A": "10", "B": "00123", "C": "2009-12-31"},
            "2": {"A": "15", "B": "both", "C": ""},
            "3": {"A": "25", "B": "14.14%", "C": ""},
        }
    }
    assert extraction.warnings == ()


def test_an_empty_workbook(tmp_path):
    with pytest.raises(FileError, match="its sheets are empty"):
        read_excel(workbook(tmp_path / "e.xlsx", lambda book: book.add_worksheet()))
