"""What a file is by its content, whatever its name says."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from .extraction import FileError
from .limits import ARCHIVE_BYTES, ARCHIVE_ENTRIES, ARCHIVE_RATIO, size_text

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_kind"]

_HEAD_BYTES = 4096
_TAIL_BYTES = 4096

_IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")

# What an archive is, by the first of these names that it holds; the first column is a type of the suite.
_OFFICE = (
    ("excel", "xl/workbook.xml", "an Excel workbook"),
    ("word", "word/document.xml", "a Word document"),
    ("powerpoint", "ppt/presentation.xml", "a PowerPoint presentation"),
    ("", "xl/workbook.bin", "a binary Excel workbook (.xlsb), which cannot be read: save it as .xlsx"),
    ("", "content.xml", "an OpenDocument file, which cannot be read: save it as .docx, .xlsx or .pptx"),
)
_NAMES = {
    "csv": "a CSV file",
    "excel": "an Excel workbook",
    "image": "an image",
    "pdf": "a PDF",
    "powerpoint": "a PowerPoint presentation",
    "text": "text",
    "word": "a Word document",
}


def check_kind(path: str, asked: str) -> None:
    """Refuse a file whose content is not of the type that the suite gives, or that no reader should open.

    Raises:
        FileError: It says what the content is, and what to do.
    """
    file = Path(path)
    with file.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    if not head:
        raise FileError("it is empty")
    found, name = _kind(file, head)
    if found == asked or (asked == "csv" and name == "text"):
        if found == "pdf":
            _check_end(file)
        return
    hint = f": set `type: {found}`" if found in _NAMES else ""
    raise FileError(f"it should be {_NAMES[asked]} (`type: {asked}`), but its content is {name}{hint}")


def _kind(file: Path, head: bytes) -> tuple[str, str]:
    """The type of the suite, "" for none, and how a person calls it."""
    if b"%PDF-" in head[:1024]:
        return "pdf", "a PDF"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _archive_kind(file)
    if head.startswith(_OLD_OFFICE):
        return _old_office(file)
    if head.startswith(_IMAGES) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
        return ("image", "an image") if b"\0" in head or not head.startswith(b"BM") else ("text", "text")
    if head.startswith(_UNICODE_MARKS) or b"\0" not in head or _is_wide_text(head):
        page = head.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html"))
        return "text", "a web page (HTML): the address may lead to a login page" if page else "text"
    return "", "binary data of no known type"


def _is_wide_text(head: bytes) -> bool:
    """UTF-16 without a mark: in text of Latin letters nearly every other byte is NUL, on one side only."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    return max(even, odd) > len(head) * 0.3 and min(even, odd) < len(head) * 0.02


def _old_office(file: Path) -> tuple[str, str]:
    """Office files of before 2007, and the shell that newer ones with a password come in."""
    with file.open("rb") as stream:
        start = stream.read(1024 * 1024)
    if "EncryptedPackage".encode("utf-16-le") in start:
        raise FileError("it is protected by a password: save a copy without one")
    return "", "an Office file of before 2007 (.xls, .doc, .ppt): save it as .xlsx, .docx or .pptx"


def _archive_kind(file: Path) -> tuple[str, str]:
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise FileError(f"it is damaged or truncated: {error}") from error
    _check_archive(entries, file.stat().st_size)
    names = {entry.filename for entry in entries}
    for kind, name, called in _OFFICE:
        if name in names:
            return kind, called
    return "", "a zip archive that is no Office file"


def _check_archive(entries: Iterable[zipfile.ZipInfo], packed: int) -> None:
    """Refuse what would burst; Python's zipfile never unpacks more of an entry than its header says."""
    sizes = [entry.file_size for entry in entries]
    unpacked = sum(sizes)
    if len(sizes) > ARCHIVE_ENTRIES:
        raise FileError(f"it holds {len(sizes):,} parts; at most {ARCHIVE_ENTRIES:,} are read")
    if unpacked > ARCHIVE_BYTES or (unpacked > ARCHIVE_BYTES / 20 and unpacked > ARCHIVE_RATIO * packed):
        raise FileError(
            f"its {size_text(packed)} would unpack to {size_text(unpacked)}: this looks like a zip bomb"
        )


def _check_end(file: Path) -> None:
    """A PDF ends with a mark; one that was cut off would be repaired in silence and lack pages."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        stream.seek(max(0, size - _TAIL_BYTES))
        tail = stream.read().rstrip(b"\0\r\n\t ")
    if b"%%EOF" not in tail:
        raise FileError("it is truncated: the end of the PDF is missing")
