"""Word documents: paragraphs, tables, text boxes, headers and notes in the order of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .extraction import FileError
from .word_text import blocks_of

if TYPE_CHECKING:
    from .extraction import ReadRequest
    from .transcript import Transcript

__all__ = ["read_word"]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"heading ([1-6])")
_HEADERS = ("header", "first_page_header", "even_page_header")
_FOOTERS = ("footer", "first_page_footer", "even_page_footer")
_NOTES = (("footnotes", "Footnotes", ""), ("endnotes", "Endnotes", "e"))


def read_word(request: ReadRequest, out: Transcript) -> None:
    """Headers first, each once; the body; foot- and endnotes; footers.

    Raises:
        FileError: It is damaged, or holds no text.
    """
    import docx  # noqa: PLC0415 - only for Word documents
    from docx.opc.exceptions import PackageNotFoundError  # noqa: PLC0415 - as above

    try:
        document = docx.Document(request.path)
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise FileError(f"it is damaged: {error}") from error
    marks = _marks(document)
    body = document.element.body
    for text in _page_parts(document, _HEADERS, marks):
        out.add(f"(Header) {text}", place="in the page header")
    for number, block in enumerate(blocks_of(body, marks), 1):
        if out.full:
            break
        out.add(block, place=f"in block {number} of the text")
    for name, title, mark in _NOTES:
        if notes := list(_notes(document, name, mark, marks)):
            out.add(f"{title}:\n" + "\n".join(notes), place=f"in the {name}")
    for text in _page_parts(document, _FOOTERS, marks):
        out.add(f"(Footer) {text}", place="in the page footer")
    pictures = sum(1 for _ in body.iter("{http://schemas.openxmlformats.org/drawingml/2006/picture}pic"))
    if out.is_blank:
        raise FileError("it holds no text" + (", only pictures" if pictures else ""))
    if pictures:
        out.facts["pictures_not_read"] = pictures
        one = "a picture in it was" if pictures == 1 else f"{pictures} pictures in it were"
        out.warnings.append(f"{one} not read")


def _marks(document: Any) -> dict[str, str]:
    """What comes before a paragraph, by its style; every Word knows headings under the same name."""
    marks = {}
    for style in document.styles.element.iter(f"{_W}style"):
        name = style.find(f"{_W}name")
        found = None if name is None else _HEADING.fullmatch(name.get(f"{_W}val", "").lower())
        if found is not None:
            marks[style.get(f"{_W}styleId", "")] = "#" * int(found[1]) + " "
        elif style.find(f"{_W}pPr/{_W}numPr") is not None:
            marks[style.get(f"{_W}styleId", "")] = "- "
    return marks


def _page_parts(document: Any, names: tuple[str, ...], marks: dict[str, str]) -> Iterator[str]:
    """The texts of headers or footers, each once, however many sections and kinds of page share it."""
    seen: set[str] = set()
    for section in document.sections:
        for name in names:
            part = getattr(section, name)
            if part.is_linked_to_previous or not _is_used(name, section, document):
                continue
            text = "\n".join(blocks_of(part._element, marks)).strip()  # noqa: SLF001 - its public parts lack boxes
            if text and text not in seen:
                seen.add(text)
                yield text


def _is_used(name: str, section: Any, document: Any) -> bool:
    if name.startswith("first"):
        return bool(section.different_first_page_header_footer)
    return not name.startswith("even") or bool(document.settings.odd_and_even_pages_header_footer)


def _notes(document: Any, name: str, mark: str, marks: dict[str, str]) -> Iterator[str]:
    from lxml import etree  # noqa: PLC0415 - python-docx brings it

    for relation in document.part.rels.values():
        if relation.is_external or not relation.reltype.endswith(f"/{name}"):
            continue
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        for note in etree.fromstring(relation.target_part.blob, parser):
            if note.get(f"{_W}type", "normal") == "normal":
                yield f"[^{mark}{note.get(f'{_W}id')}] " + " ".join(blocks_of(note, marks))
