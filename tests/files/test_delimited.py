"""CSV files: values as written, whatever the delimiter and the encoding."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holodeck_nb.files.delimited import delimiter_of
from holodeck_nb.files.extraction import FileError, ReadRequest
from holodeck_nb.files.readers import read


def read_csv(folder, data, limit=100_000):
    path = folder / "c.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read(ReadRequest(str(path), "csv", limit))


def rows(extraction):
    return list(csv.reader(io.StringIO(extraction.text, newline="")))


def test_nothing_is_reinterpreted(tmp_path):
    data = (
        'id,region,note\r\n00123,NA,"cheap | fast"\r\n9007199254740993,None,"two\nlines"\r\n1_000,no,1e5\r\n'
    )
    extraction = read_csv(tmp_path, b"\xef\xbb\xbf" + data.encode())
    assert rows(extraction) == [
        ["id", "region", "note"],
        ["00123", "NA", "cheap | fast"],
        ["9007199254740993", "None", "two\nlines"],
        ["1_000", "no", "1e5"],
    ]
    assert dict(extraction.facts) == {"encoding": "utf-8", "delimiter": "comma", "rows": 4}


DELIMITERS = [
    ("a,b\n1,2\n", ","),
    ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),  # decimal commas
    ("a\tb\n1,000\t2\n", "\t"),
    ("a|b\n1|2\n", "|"),
    ("year,note\n2009,a|b\n2008,c|d\n", ","),
    ("name\nsmith\n", ","),  # one column
    ('a;b\n"x;y";2\n', ";"),
    ("a,b,c\n1,2\n3,4,5\n6,7,8\n", ","),  # a short row
    ("text\n", ","),
]


@pytest.mark.parametrize(("text", "delimiter"), DELIMITERS)
def test_the_delimiter_is_found(text, delimiter):
    assert delimiter_of(text) == delimiter


def test_a_stated_delimiter(tmp_path):
    extraction = read_csv(tmp_path, "sep=;\na;b\n1,0;2\n")
    assert rows(extraction) == [["a", "b"], ["1,0", "2"]]
    assert extraction.facts["delimiter"] == "semicolon"


ENCODINGS = [
    ("utf-8", "Größe;€\n12;“x”\n"),
    ("utf-8-sig", "Größe;€\n12;“x”\n"),
    ("utf-16", "Größe;€\n12;“x”\n"),
    ("utf-16-le", "size;count\n12;13\n"),
    ("cp1252", "Größe;Straße\nKöln;12 €\nMünchen;13 €\n"),
]


@pytest.mark.parametrize(("encoding", "text"), ENCODINGS)
def test_the_encoding_is_found(tmp_path, encoding, text):
    extraction = read_csv(tmp_path, text.encode(encoding))
    assert rows(extraction) == [line.split(";") for line in text.splitlines()]
    assert bool(extraction.warnings) is (encoding == "cp1252")  # a guess is told


def test_rows_of_different_lengths_are_told(tmp_path):
    extraction = read_csv(tmp_path, "a,b\n1,2\n1,2,3\n\n")
    assert extraction.warnings == ("its rows have different numbers of cells: 2 with 2, 1 with 3",)


def test_a_long_file_is_cut_between_rows(tmp_path):
    extraction = read_csv(tmp_path, "year,cash\n" + "2009,206588\n" * 10_000, limit=1000)
    assert len(extraction.text) <= 1000
    assert extraction.text.splitlines()[-1] == "2009,206588"
    assert extraction.cut == "in row 84"


def test_an_open_quote_swallows_no_memory(tmp_path):
    extraction = read_csv(tmp_path, 'a,b\n1,"' + "x" * 500_000, limit=1000)
    assert len(extraction.text) <= 1000
    assert extraction.cut is not None


@pytest.mark.parametrize("data", ["\n\n", " ", "sep=;\n"])
def test_no_rows(tmp_path, data):
    with pytest.raises(FileError, match="it holds no rows"):
        read_csv(tmp_path, data)


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"), max_size=12)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=5))
def test_any_table_comes_through_whole(tmp_path_factory, table):
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(table)
    extraction = read_csv(tmp_path_factory.getbasetemp(), text.getvalue())
    assert rows(extraction) == table
