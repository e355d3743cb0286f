"""PDF files: the text of each page, and a word for each page that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .extraction import FileError
from .ocr import hint, text_in_picture
from .page_choice import chosen
from .pdf_lines import page_text
from .transcript import numbers_text

if TYPE_CHECKING:
    from .extraction import ReadRequest
    from .transcript import Transcript

__all__ = ["read_pdf"]

_UNREADABLE_SHARE = 0.1


def read_pdf(request: ReadRequest, out: Transcript) -> None:
    """The pages asked for, each under a heading with its number.

    Raises:
        FileError: It has a password, is damaged, has no such page, or no text on any page.
    """
    reader = _opened(request.path)
    count = len(reader.pages)
    wanted = chosen(request.pages, count, "page")
    out.facts["page_count"] = count
    read: list[int] = []
    blank: list[int] = []
    by_ocr: list[int] = []
    for number in wanted:
        if out.full:
            break
        page = reader.pages[number - 1]
        text = _text(page, number)
        if not text and request.ocr and (text := _read_in_pictures(page)):
            by_ocr.append(number)
        if not text:
            blank.append(number)
        elif _is_unreadable(text):
            out.warnings.append(f"page {number}: many characters have no meaning; the file's fonts hide them")
        read.append(number)
        out.add(
            f"## Page {number}\n\n{text or '(no text on this page)'}", place=f"on page {number} of {count}"
        )
    out.facts["pages_read"] = numbers_text(read)
    if out.full and read != wanted and len(read) < len(wanted):
        out.facts["pages_left_out"] = len(wanted) - len(read)
    if by_ocr:
        out.facts["pages_read_by_ocr"] = numbers_text(by_ocr)
        pages = f"page {by_ocr[0]} is" if len(by_ocr) == 1 else f"pages {numbers_text(by_ocr)} are"
        out.warnings.append(f"{pages} a picture; the text in it was read by a program, which makes mistakes")
    _tell_blank(blank, read, out)


def _opened(path: str) -> Any:
    from pypdf import PdfReader, errors  # noqa: PLC0415 - only for PDF files

    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise FileError("it is protected by a password: save a copy without one")
    except errors.DependencyError as error:
        raise FileError(f"it is encrypted in a way that needs another package: {error}") from error
    except (errors.PyPdfError, ValueError, KeyError, TypeError, OSError) as error:
        raise FileError(f"it is damaged: {error}") from error
    return reader


def _text(page: Any, number: int) -> str:
    """The page's text; a bomb is told from a scan, as pypdf may stop unpacking one without saying so."""
    from pypdf.errors import LimitReachedError  # noqa: PLC0415 - only for PDF files

    try:
        text = page_text(page)
        if not text and (content := page.get_contents()) is not None:
            content.get_data()
    except LimitReachedError as error:
        reason = f"page {number} unpacks to more than is safe to read: this looks like a bomb"
        raise FileError(reason) from error
    return text


def _tell_blank(blank: list[int], read: list[int], out: Transcript) -> None:
    if not blank:
        return
    one = len(blank) == 1
    pages = f"page {blank[0]} has" if one else f"pages {numbers_text(blank)} have"
    if blank == read:
        raise FileError(f"there is no text on it: {pages} no text (a scan or a picture?){hint()}")
    out.warnings.append(f"{pages} no text (a scan or a picture?){hint()}")


def _is_unreadable(text: str) -> bool:
    """Whether the fonts of the file do not say which characters their glyphs are."""
    strange = sum(char == "\ufffd" or "\ue000" <= char <= "\uf8ff" or char < "\t" for char in text)
    return strange > _UNREADABLE_SHARE * len(text)


def _read_in_pictures(page: Any) -> str:
    """The text in a page's pictures, "" where it cannot be had."""
    texts = [text_in_picture(picture.data) for picture in page.images]
    return "\n".join(text for text in texts if text).strip()
