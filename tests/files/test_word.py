"""Word documents: everything in the order of the page, and nothing twice."""

import copy

import documents
import pytest
from documents import word

from holodeck_nb.files.extraction import FileError, ReadRequest
from holodeck_nb.files.readers import read

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TEXT_BOX = f"""<w:p {W} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
 xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
 xmlns:v="urn:schemas-microsoft-com:vml"><w:r><w:t>beside </w:t></w:r><w:r><mc:AlternateContent>
<mc:Choice Requires="wps"><w:drawing><wps:txbx><w:txbxContent><w:p><w:r><w:t>TB-1</w:t></w:r></w:p>
</w:txbxContent></wps:txbx></w:drawing></mc:Choice>
<mc:Fallback><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>TB-1</w:t></w:r></w:p></w:txbxContent>
</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"""
TRACKED = f"""<w:p {W}><w:r><w:t>net </w:t></w:r><w:ins><w:r><w:t>cash</w:t></w:r></w:ins>
<w:del><w:r><w:delText>debt</w:delText></w:r></w:del>
<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r></w:p>"""
CONTROL = f"""<w:sdt {W}><w:sdtPr/><w:sdtContent><w:p><w:r><w:t>in a control</w:t></w:r></w:p></w:sdtContent>
</w:sdt>"""


def read_word(path, limit=100_000):
    return read(ReadRequest(str(path), "word", limit))


def xml(document, text):
    from lxml import etree

    document.element.body.insert(len(document.element.body) - 1, etree.fromstring(text))


def table(container, rows):
    made = container.add_table(len(rows), len(rows[0]))
    for y, row in enumerate(rows):
        for x, text in enumerate(row):
            made.cell(y, x).text = text
    return made


def test_paragraphs_and_tables_in_their_order(tmp_path):
    def fill(document):
        document.add_heading("Report", 1)
        document.add_paragraph("BEFORE-1")
        nested = table(document, [["Year", "Cash"], ["2009", "206588"]]).cell(1, 1)
        table(nested, [["N1", "N2"]])
        document.add_paragraph("AFTER-1")
        document.add_paragraph("point", style="List Bullet")

    assert read_word(word(tmp_path / "w.docx", fill)).text == (
        "# Report\n\nBEFORE-1\n\n| Year | Cash |\n| --- | --- |\n| 2009 | 206588<br>N1; N2 |\n\n"
        "AFTER-1\n\n- point"
    )


def test_cells_over_several_columns_and_rows(tmp_path):
    def fill(document):
        made = table(document, [["a", "b", "c"], ["d", "e", "f"]])
        made.cell(0, 0).merge(made.cell(0, 1))
        made.cell(0, 2).merge(made.cell(1, 2))

    text = read_word(word(tmp_path / "w.docx", fill)).text
    assert text.splitlines()[0] == "| a<br>b |  | c<br>f |"
    assert text.splitlines()[2] == "| d | e |  |"


def test_a_text_box_is_read_once(tmp_path):
    text = read_word(word(tmp_path / "w.docx", lambda document: xml(document, TEXT_BOX))).text
    assert text == "beside \n\nTB-1"


def test_what_a_person_sees_of_changes_and_hidden_text(tmp_path):
    assert read_word(word(tmp_path / "w.docx", lambda d: xml(d, TRACKED))).text == "net cash"


def test_content_controls(tmp_path):
    assert read_word(word(tmp_path / "w.docx", lambda d: xml(d, CONTROL))).text == "in a control"


def test_headers_and_footers_once(tmp_path):
    def fill(document):
        document.sections[0].header.paragraphs[0].text = "HEAD-1"
        document.sections[0].footer.paragraphs[0].text = "FOOT-1"
        document.add_paragraph("one")
        document.add_section().header.is_linked_to_previous = True
        again = document.add_section()
        again.header.is_linked_to_previous = False
        again.header.paragraphs[0].text = "HEAD-1"
        document.add_paragraph("two")

    text = read_word(word(tmp_path / "w.docx", fill)).text
    assert text == "(Header) HEAD-1\n\none\n\ntwo\n\n(Footer) FOOT-1"


def test_breaks_tabs_and_links(tmp_path):
    def fill(document):
        document.add_paragraph("a\tb\nc")

    assert read_word(word(tmp_path / "w.docx", fill)).text == "a\tb\nc"


def test_a_picture_is_told(tmp_path):
    import io

    def fill(document):
        document.add_paragraph("text")
        document.add_picture(io.BytesIO(documents.picture_of("x")))

    extraction = read_word(word(tmp_path / "w.docx", fill))
    assert extraction.warnings == ("a picture in it was not read",)


def test_only_pictures_or_nothing(tmp_path):
    with pytest.raises(FileError, match="it holds no text"):
        read_word(word(tmp_path / "w.docx", lambda document: None))


def test_what_libreoffice_wrote(tmp_path):
    path = documents.by_libreoffice(tmp_path, "words.html", documents.PAGE, "docx:MS Word 2007 XML")
    assert read_word(path).text == (
        "# Annual report\n\nBEFORE-1 Größe “quoted”\n\n| Year | Cash |\n| --- | --- |\n| 2009 | 206588 |\n"
        "| both<br>N1; N2 |  |\n\nAFTER-1 שלום עולם\n\nمرحبا بالعالم\n\n- point"
    )


def test_tables_in_tables_without_end(tmp_path):
    def fill(document):
        cell = table(document, [["x"]]).cell(0, 0)
        for _ in range(60):
            cell = table(cell, [["x"]]).cell(0, 0)

    assert "x" in read_word(word(tmp_path / "w.docx", fill)).text


def test_footnotes_are_written_below(tmp_path):
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part

    notes = (
        f'<w:footnotes {W}><w:footnote w:type="separator" w:id="0"/>'
        '<w:footnote w:id="2"><w:p><w:r><w:t>restated</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )

    def fill(document):
        reference = f'<w:p {W}><w:r><w:t>cash</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
        xml(document, reference)
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
        part = Part(PackURI("/word/footnotes.xml"), kind, notes.encode(), document.part.package)
        document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)

    text = read_word(word(tmp_path / "w.docx", fill)).text
    assert text == "cash[^2]\n\nFootnotes:\n[^2] restated"


def test_reading_stops_at_the_limit(tmp_path):
    def fill(document):
        paragraph = document.add_paragraph("206588 " * 20)._p
        for _ in range(200):
            document.element.body.insert(0, copy.deepcopy(paragraph))

    extraction = read_word(word(tmp_path / "w.docx", fill), limit=1000)
    assert len(extraction.text) <= 1000
    assert extraction.cut == "in block 8 of the text"
