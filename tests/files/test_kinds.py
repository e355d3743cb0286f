"""A file is what its content says, and no reader opens one that would burst."""

import zipfile

import documents
import pytest

from holodeck_nb.files.extraction import FileError, ReadRequest
from holodeck_nb.files.kinds import check_kind
from holodeck_nb.files.readers import read


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One good file of each type, by type; all have the same meaningless name."""
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "text.bin").write_text("year,cash\n2009,206588\n")
    (folder / "image.bin").write_bytes(documents.picture_of("x"))
    documents.pdf(folder / "pdf.bin", [documents.lines("x")])
    documents.workbook(folder / "excel.bin", lambda book: book.add_worksheet().write("A1", 1))
    documents.word(folder / "word.bin", lambda document: document.add_paragraph("x"))
    documents.slides(folder / "powerpoint.bin", lambda slide: documents.box(slide, "x"))
    return folder


TYPES = ["csv", "excel", "image", "pdf", "powerpoint", "text", "word"]
CALLED = {
    "excel": "an Excel workbook",
    "image": "an image",
    "pdf": "a PDF",
    "powerpoint": "a PowerPoint presentation",
    "text": "text",
    "word": "a Word document",
}


@pytest.mark.parametrize("asked", TYPES)
@pytest.mark.parametrize("found", CALLED)
def test_every_type_against_every_content(files, asked, found):
    path = str(files / f"{found}.bin")
    if found == asked or (found, asked) == ("text", "csv"):
        check_kind(path, asked)
        return
    with pytest.raises(FileError) as caught:
        check_kind(path, asked)
    assert f"`type: {asked}`" in str(caught.value)
    assert f"its content is {CALLED[found]}: set `type: {found}`" in str(caught.value)


@pytest.mark.parametrize("type_", TYPES)
def test_every_type_is_read_whatever_the_file_is_called(files, type_):
    path = files / f"{'text' if type_ == 'csv' else type_}.bin"
    assert read(ReadRequest(str(path), type_, 1000)).text


OTHERS = [
    ("an .xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), "an Office file of before 2007"),
    (
        "a password",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"),
        "protected by a password",
    ),
    (
        "a login page",
        b"<!DOCTYPE html><html><body>Sign in</body></html>",
        "a web page .HTML.: the address may",
    ),
    ("bytes", bytes(range(256)) * 20, "binary data of no known type"),
    ("a cut archive", b"PK\x03\x04" + bytes(500), "damaged or truncated"),
    ("nothing", b"", "it is empty"),
]


@pytest.mark.parametrize(("data", "said"), [row[1:] for row in OTHERS], ids=[row[0] for row in OTHERS])
def test_what_is_no_type_of_ours(tmp_path, data, said):
    (tmp_path / "f.xlsx").write_bytes(data)
    for asked in ("excel", "pdf", "csv"):
        with pytest.raises(FileError, match=said):
            check_kind(str(tmp_path / "f.xlsx"), asked)


ARCHIVES = [
    ("xl/workbook.bin", "a binary Excel workbook"),
    ("content.xml", "an OpenDocument file"),
    ("readme.txt", "a zip archive that is no Office file"),
]


@pytest.mark.parametrize(("name", "said"), ARCHIVES)
def test_other_archives(tmp_path, name, said):
    with zipfile.ZipFile(tmp_path / "f.xlsx", "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(FileError, match=said):
        check_kind(str(tmp_path / "f.xlsx"), "excel")


def test_a_zip_bomb_is_never_opened(tmp_path):
    path = documents.zip_bomb(tmp_path / "bomb.xlsx", size=96 * 1024**2)
    with pytest.raises(FileError, match="would unpack to 96 MB: this looks like a zip bomb"):
        check_kind(str(path), "excel")


def test_an_archive_of_too_many_parts(tmp_path):
    with zipfile.ZipFile(tmp_path / "f.xlsx", "w") as archive:
        for number in range(20_001):
            archive.writestr(str(number), "")
    with pytest.raises(FileError, match="it holds 20,001 parts"):
        check_kind(str(tmp_path / "f.xlsx"), "excel")


def test_a_truncated_document(tmp_path, files):
    whole = (files / "word.bin").read_bytes()
    (tmp_path / "w.docx").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="damaged or truncated"):
        check_kind(str(tmp_path / "w.docx"), "word")


def test_text_without_latin_letters_in_utf_16(tmp_path):
    (tmp_path / "t.txt").write_bytes("net cash".encode("utf-16-be"))
    check_kind(str(tmp_path / "t.txt"), "text")
