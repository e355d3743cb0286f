"""The text of a Word document's paragraphs and tables, in the order in which it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .transcript import table

__all__ = ["blocks_of"]

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

# Elements that only hold others: content controls, tracked insertions, links, custom XML. `alternate` content
# says everything twice, the second time for old programs; deleted and hidden text is not seen.
_HOLDERS = frozenset(
    f"{_W}{name}"
    for name in (
        "bdo", "customXml", "dir", "fldSimple", "hyperlink", "ins", "moveTo", "sdt", "sdtContent", "smartTag",
    )
)  # fmt: skip
_BREAKS = {
    f"{_W}tab": "\t",
    f"{_W}br": "\n",
    f"{_W}cr": "\n",
    f"{_W}noBreakHyphen": "-",
    f"{_W}softHyphen": "",
}
_NOTES = {f"{_W}footnoteReference": "", f"{_W}endnoteReference": "e"}
_DEEPEST = 20


def blocks_of(parent: Any, marks: Mapping[str, str], depth: int = 0) -> Iterator[str]:
    """Each paragraph and table of a body, header, cell or text box; a paragraph's text boxes come after it.

    Args:
        parent: The element that holds them.
        marks: What comes before a paragraph (`## `, `- `), by the id of its style.
        depth: How many tables and boxes are around it.
    """
    if depth > _DEEPEST:
        return
    for element in parent:
        if element.tag == f"{_W}p":
            boxes: list[Any] = []
            text = "".join(_inline(element, boxes)).strip("\n")
            if text.strip():
                yield _marked(element, text, marks)
            for box in boxes:
                yield from blocks_of(box, marks, depth + 1)
        elif element.tag == f"{_W}tbl":
            if rows := list(_rows(element, marks, depth)):
                yield table(rows)
        elif element.tag in _HOLDERS:
            yield from blocks_of(element, marks, depth)


def _marked(paragraph: Any, text: str, marks: Mapping[str, str]) -> str:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    mark = "" if style is None else marks.get(style.get(f"{_W}val", ""), "")
    if not mark and paragraph.find(f"{_W}pPr/{_W}numPr") is not None:
        mark = "- "
    return mark + text.strip() if mark else text


def _inline(parent: Any, boxes: list[Any]) -> Iterator[str]:
    """The text of a paragraph's runs; text boxes are put aside."""
    for element in parent:
        tag = element.tag
        if tag == f"{_W}r":
            if element.find(f"{_W}rPr/{_W}vanish") is None:
                yield from _run(element, boxes)
        elif tag in _HOLDERS:
            yield from _inline(element, boxes)
        elif tag == f"{_MC}AlternateContent":
            yield from _run([element], boxes)


def _run(run: Any, boxes: list[Any]) -> Iterator[str]:
    for element in run:
        tag = element.tag
        if tag == f"{_W}t":
            yield element.text or ""
        elif tag in _BREAKS:
            yield _BREAKS[tag]
        elif tag in _NOTES:
            yield f"[^{_NOTES[tag]}{element.get(f'{_W}id')}]"
        elif tag == f"{_MC}AlternateContent":
            choice = element.find(f"{_MC}Choice")
            boxes += _boxes(element if choice is None else choice)
        elif tag in {f"{_W}drawing", f"{_W}pict", f"{_W}object"}:
            boxes += _boxes(element)


def _boxes(element: Any) -> list[Any]:
    """The outermost text boxes; those within are found when these are read."""
    name = f"{_W}txbxContent"
    return [box for box in element.iter(name) if next(box.iterancestors(name), None) is None]


def _rows(tbl: Any, marks: Mapping[str, str], depth: int) -> Iterator[list[str]]:
    """The rows; a cell over several columns or rows has its text in the first of them."""
    for element in _below(tbl, f"{_W}tr"):
        row: list[str] = []
        skipped = element.find(f"{_W}trPr/{_W}gridBefore")
        row += [""] * _number(skipped)
        for cell in _below(element, f"{_W}tc"):
            properties = cell.find(f"{_W}tcPr")
            merge = None if properties is None else properties.find(f"{_W}vMerge")
            span = None if properties is None else properties.find(f"{_W}gridSpan")
            goes_on = merge is not None and merge.get(f"{_W}val", "continue") == "continue"
            # A nested table's lines become lines of this cell.
            text = "" if goes_on else "\n".join(_unmarked(b) for b in blocks_of(cell, marks, depth + 1))
            row += [text, *([""] * (max(1, _number(span)) - 1))]
        yield row


def _unmarked(block: str) -> str:
    """A nested table without its frame: rows as lines, cells parted by semicolons."""
    lines = block.splitlines()
    if not (lines and all(line.startswith("| ") and line.endswith(" |") for line in lines)):
        return block
    rows = [line[2:-2].replace(" | ", "; ").replace("<br>", ", ") for line in [lines[0], *lines[2:]]]
    return "\n".join(rows).replace(r"\|", "|")


def _below(parent: Any, name: str) -> Iterator[Any]:
    """The children of a name, also those in content controls and the like."""
    for element in parent:
        if element.tag == name:
            yield element
        elif element.tag in _HOLDERS:
            yield from _below(element, name)


def _number(element: Any) -> int:
    value = "" if element is None else element.get(f"{_W}val", "")
    return min(int(value), 100) if value.isdigit() else 0
