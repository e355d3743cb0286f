"""PowerPoint presentations: the slides asked for, groups, tables, charts and notes included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .extraction import FileError
from .page_choice import chosen
from .transcript import numbers_text, table

if TYPE_CHECKING:
    from .extraction import ReadRequest
    from .transcript import Transcript

__all__ = ["read_powerpoint"]

_DEEPEST = 20


def read_powerpoint(request: ReadRequest, out: Transcript) -> None:
    """Each slide under a heading with its number, its shapes in their own order, its notes last.

    Hidden slides count, and come only when they are asked for.

    Raises:
        FileError: It is damaged, has no such slide, or no text on any.
    """
    from pptx import Presentation  # noqa: PLC0415 - only for presentations
    from pptx.exc import PackageNotFoundError  # noqa: PLC0415 - as above

    try:
        slides = list(Presentation(request.path).slides)
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise FileError(f"it is damaged: {error}") from error
    wanted = chosen(request.pages, len(slides), "slide")
    if request.pages is None:
        hidden = [number for number in wanted if slides[number - 1]._element.get("show") in {"0", "false"}]  # noqa: SLF001 - python-pptx does not tell
        wanted = [number for number in wanted if number not in hidden]
        if hidden:
            out.warnings.append(
                f"hidden slides were left out: {numbers_text(hidden)}; ask for them with `slides`"
            )
    read: list[int] = []
    blank: list[int] = []
    for number in wanted:
        if out.full:
            break
        texts = list(_slide_texts(slides[number - 1], number, out))
        if not texts:
            blank.append(number)
        body = "\n\n".join(texts) or "(no text on this slide)"
        out.add(f"## Slide {number}\n\n{body}", place=f"on slide {number} of {len(slides)}")
        read.append(number)
    out.facts |= {"slide_count": len(slides), "slides_read": numbers_text(read)}
    if blank == read:
        raise FileError("there is no text on it: its slides are pictures or empty")
    if blank:
        one = f"slide {blank[0]} has" if len(blank) == 1 else f"slides {numbers_text(blank)} have"
        out.warnings.append(f"{one} no text (a picture?)")


def _slide_texts(slide: Any, number: int, out: Transcript) -> Iterator[str]:
    yield from _shape_texts(slide.shapes, number, out, 0)
    if slide.has_notes_slide:
        frame = slide.notes_slide.notes_text_frame
        notes = "" if frame is None else _lines(frame.text)
        if notes:
            yield f"Notes: {notes}"


def _shape_texts(shapes: Iterable[Any], number: int, out: Transcript, depth: int) -> Iterator[str]:
    from pptx.shapes.group import GroupShape  # noqa: PLC0415 - only for presentations

    for shape in shapes:
        if isinstance(shape, GroupShape):
            if depth < _DEEPEST:
                yield from _shape_texts(shape.shapes, number, out, depth + 1)
        elif getattr(shape, "has_table", False):
            yield table([[_cell_text(cell) for cell in row.cells] for row in shape.table.rows])
        elif getattr(shape, "has_chart", False):
            yield from _chart_text(shape.chart, number, out)
        elif shape.has_text_frame and (text := _lines(shape.text_frame.text)):
            yield text
        elif _is_diagram(shape):
            out.warnings.append(f"slide {number}: the text of a diagram (SmartArt) was not read")


def _cell_text(cell: Any) -> str:
    """A merged cell has its text in the first of its places."""
    return "" if cell.is_spanned else _lines(cell.text_frame.text)


def _lines(text: str) -> str:
    """A soft line break is a vertical tab here."""
    return text.replace("\v", "\n").strip()


def _chart_text(chart: Any, number: int, out: Transcript) -> Iterator[str]:
    """A chart's numbers as a table: categories down, series across."""
    try:
        if chart.has_title and chart.chart_title.has_text_frame:
            yield _lines(chart.chart_title.text_frame.text)
        series = list(chart.series)
        categories = [str(category) for category in chart.plots[0].categories] if series else []
        if series and categories:
            values = [list(one.values) for one in series]
            head = ["", *(str(one.name) for one in series)]
            rows = [
                [name, *("" if place >= len(v) or v[place] is None else f"{v[place]:.15g}" for v in values)]
                for place, name in enumerate(categories)
            ]
            yield table([head, *rows])
            return
    except (AttributeError, KeyError, ValueError, NotImplementedError):  # a kind of chart it does not know
        pass
    out.warnings.append(f"slide {number}: the numbers of a chart were not read")


def _is_diagram(shape: Any) -> bool:
    return any("/diagram" in uri for uri in shape._element.xpath(".//a:graphicData/@uri"))  # noqa: SLF001 - python-pptx does not tell
