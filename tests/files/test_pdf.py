"""PDF files: pages, columns, tables, scans, passwords, and what is damaged."""

import documents
import pytest
from documents import lines, pdf, scanned_page

from holodeck_nb.files import ocr
from holodeck_nb.files.extraction import FileError, ReadRequest
from holodeck_nb.files.readers import read


def read_pdf(path, limit=100_000, **part):
    return read(ReadRequest(str(path), "pdf", limit, **part))


@pytest.fixture
def no_ocr(monkeypatch):
    monkeypatch.setattr(ocr, "is_available", lambda: False)


@pytest.fixture
def three_pages(tmp_path):
    return pdf(tmp_path / "r.pdf", [lines(f"PAGE-{number}") for number in (1, 2, 3)])


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (None, [1, 2, 3]),
        ((1,), [1]),  # pages count from 1
        ((3, 1, 3), [3, 1]),  # the order asked for, each once
        ((2, 3), [2, 3]),
    ],
)
def test_the_pages_that_are_asked_for(three_pages, asked, found):
    extraction = read_pdf(three_pages, pages=asked)
    assert [int(part[0]) for part in extraction.text.split("PAGE-")[1:]] == found
    assert extraction.text.startswith(f"## Page {found[0]}\n\nPAGE-{found[0]}")
    assert extraction.facts["page_count"] == 3


@pytest.mark.parametrize("asked", [(4,), (1, 4), (0,)])
def test_a_page_that_is_not_there(three_pages, asked):
    missing = asked[-1]
    with pytest.raises(FileError, match=f"there is no page {missing}: it has pages 1 to 3"):
        read_pdf(three_pages, pages=asked)


def test_two_columns_are_read_one_after_the_other(tmp_path):
    page = [*lines("left 1", "left 2"), *lines("right 1", "right 2", x=320)]
    text = read_pdf(pdf(tmp_path / "c.pdf", [page])).text
    assert text.split() == ["##", "Page", "1", "left", "1", "left", "2", "right", "1", "right", "2"]


def test_the_cells_of_a_row_stay_together(tmp_path):
    cells = [["Year", "Cash"], ["2009", "206,588"], ["2008", "181,001"]]
    page = [(50 + 200 * x, 700 - 20 * y, text) for y, row in enumerate(cells) for x, text in enumerate(row)]
    assert "2009\t206,588\n2008\t181,001" in read_pdf(pdf(tmp_path / "t.pdf", [page])).text


def test_turned_pages_and_turned_text(tmp_path):
    def turned_page(drawing):
        drawing.setPageRotation(90)
        drawing.drawString(50, 700, "first line")
        drawing.drawString(50, 680, "second line")

    def turned_text(drawing):
        drawing.rotate(90)
        drawing.drawString(100, -100, "third line")
        drawing.drawString(100, -120, "fourth line")

    text = read_pdf(pdf(tmp_path / "t.pdf", [turned_page, turned_text])).text
    assert "first line\nsecond line" in text
    assert "third line\nfourth line" in text


def test_hebrew_arabic_and_letters_with_marks(tmp_path):
    document = documents.by_libreoffice(tmp_path, "words.html", documents.PAGE, "docx:MS Word 2007 XML")
    documents.convert(document, "pdf")
    text = read_pdf(tmp_path / "words.pdf").text
    for part in ("שלום עולם", "مرحبا بالعالم", "Größe “quoted”", "2009 206588"):
        assert part in text


class TestScans:
    def test_a_page_without_text_is_told(self, tmp_path, no_ocr):
        path = pdf(tmp_path / "scan.pdf", [scanned_page("NET CASH 1"), lines("NET CASH 206588")])
        extraction = read_pdf(path, ocr=True)
        assert "## Page 1\n\n(no text on this page)\n\n## Page 2\n\nNET CASH 206588" in extraction.text
        [warning] = extraction.warnings
        assert warning.startswith("page 1 has no text (a scan or a picture?); to read pictures as text: pip")

    def test_a_file_without_any_text_is_an_error(self, tmp_path, no_ocr):
        path = pdf(tmp_path / "scan.pdf", [scanned_page("A"), scanned_page("B")])
        with pytest.raises(FileError, match="no text on it: pages 1-2 have no text"):
            read_pdf(path, ocr=True)

    @pytest.mark.skipif(not ocr.is_available(), reason="pytesseract or tesseract is not installed")
    def test_where_tesseract_is_there_it_reads_the_page(self, tmp_path):
        path = pdf(tmp_path / "scan.pdf", [scanned_page("NET CASH 206588"), lines("second")])
        extraction = read_pdf(path, ocr=True)
        assert "NET CASH 206588" in extraction.text
        assert extraction.facts["pages_read_by_ocr"] == "1"
        assert extraction.warnings[0].startswith("page 1 is a picture")


class TestLongFiles:
    def test_reading_stops_at_the_limit_and_says_where(self, tmp_path):
        path = pdf(tmp_path / "long.pdf", [lines(*["206588 " * 12] * 40) for _ in range(30)])
        extraction = read_pdf(path, limit=10_000)
        assert len(extraction.text) <= 10_000
        assert extraction.cut == "on page 3 of 30"
        assert extraction.facts["pages_read"] == "1-3"

    def test_a_thousand_pages(self, tmp_path):
        path = pdf(tmp_path / "k.pdf", [lines(f"PAGE-{number}") for number in range(1, 1001)])
        text = read_pdf(path, pages=(1, 500, 1000)).text
        assert [part.split()[0] for part in text.split("PAGE-")[1:]] == ["1", "500", "1000"]


class TestPasswords:
    def test_one_that_is_needed(self, tmp_path):
        from reportlab.lib.pdfencrypt import StandardEncryption

        encrypt = StandardEncryption("secret", strength=128)
        path = pdf(tmp_path / "p.pdf", [lines("x")], encrypt=encrypt)
        with pytest.raises(FileError, match="protected by a password"):
            read_pdf(path)

    @pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
    def test_one_that_only_forbids_changes(self, tmp_path, algorithm):
        from pypdf import PdfReader, PdfWriter

        writer = PdfWriter(PdfReader(pdf(tmp_path / "plain.pdf", [lines("NET CASH 206588")])))
        writer.encrypt("", owner_password="owner", algorithm=algorithm)
        writer.write(tmp_path / "p.pdf")
        assert "NET CASH 206588" in read_pdf(tmp_path / "p.pdf").text


class TestDamage:
    def test_a_truncated_file(self, three_pages):
        three_pages.write_bytes(three_pages.read_bytes()[:-400])
        with pytest.raises(FileError, match="truncated: the end of the PDF is missing"):
            read_pdf(three_pages)

    def test_no_more_than_a_head(self, tmp_path):
        (tmp_path / "h.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
        with pytest.raises(FileError, match="it is damaged"):
            read_pdf(tmp_path / "h.pdf")

    def test_nothing_at_all(self, tmp_path):
        (tmp_path / "e.pdf").write_bytes(b"")
        with pytest.raises(FileError, match="it is empty"):
            read_pdf(tmp_path / "e.pdf")
