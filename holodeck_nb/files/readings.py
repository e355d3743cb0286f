"""What became of one file of a turn: its block for the agent, its record for the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from holodeck_nb.results.records import FileRecord
from holodeck_nb.schema.files import FileInput
from holodeck_nb.views.json_turns import without_query

from .blocks import Block, shares
from .extraction import Extraction
from .fetch import Fetched
from .limits import TURN_CHARACTERS

__all__ = ["PARTS", "Reading", "blocks_of", "record_of", "warnings_of"]

# The types of file that each way of asking for a part is for.
PARTS = {
    "pages": ("pdf", "powerpoint"),
    "slides": ("pdf", "powerpoint"),
    "sheet": ("excel",),
    "range": ("excel",),
}


@dataclass(slots=True)
class Reading:
    """One file under way."""

    asked: FileInput
    name: str
    extraction: Extraction | None = None
    error: str | None = None
    fetched: Fetched | None = None
    size: int | None = None
    duration_ms: float = 0.0
    warnings: tuple[str, ...] = ()


def warnings_of(reading: Reading) -> list[str]:
    """What a user should know of the file, each a sentence without its name."""
    asked = reading.asked
    idle = [
        f"`{part}` says nothing about a file of type {asked.type}"
        for part, types in PARTS.items()
        if getattr(asked, part) is not None and asked.type not in types
    ]
    told = () if reading.extraction is None else reading.extraction.warnings
    copied = () if reading.fetched is None else reading.fetched.warnings
    return [*idle, *reading.warnings, *copied, *told]


def blocks_of(readings: Sequence[Reading]) -> list[Block]:
    """The blocks of files that were all read; together they keep to the turn's budget."""
    texts = [reading.extraction.text if reading.extraction else "" for reading in readings]
    blocks = []
    for reading, text, share in zip(
        readings, texts, shares([*map(len, texts)], TURN_CHARACTERS), strict=True
    ):
        extraction = reading.extraction
        assert extraction is not None
        cut = extraction.cut
        if share < len(text):
            cut = f"after {share:,} of {len(text):,} characters"
        blocks.append(
            Block(
                name=reading.name,
                about=", ".join([reading.asked.type, *_part(extraction.facts)]),
                text=text[:share],
                cut=cut,
                description=reading.asked.description,
            )
        )
    return blocks


def _part(facts: Any) -> list[str]:
    """Which part of the file was read, the way people say it."""
    pages = [
        f"{word}s {facts[f'{word}s_read']} of {facts[f'{word}_count']}"
        for word in ("page", "slide")
        if f"{word}_count" in facts
    ]
    return [*pages, str(facts["cells"])] if "cells" in facts else pages


def record_of(reading: Reading, block: Block | None) -> FileRecord:
    """What the report tells of the file; `block` is None where the turn's agent was not called."""
    asked = reading.asked
    details: dict[str, Any] = {
        name: value
        for name in ("description", "pages", "slides", "sheet", "range", "cache")
        if (value := getattr(asked, name)) is not None
    }
    details |= {
        "markdown_content": "" if block is None else block.text,
        "processing_time_ms": round(reading.duration_ms, 3),
        "error": reading.error,
        "size_bytes": reading.size,
    }
    if reading.fetched is not None:
        details["source"] = reading.fetched.source
        details["cached_path"] = reading.fetched.cached_path
    if reading.extraction is not None:
        details |= reading.extraction.facts
    if block is not None:
        details |= {"characters": len(block.text), "cut": block.cut}
    if warnings := warnings_of(reading):
        details["warnings"] = tuple(warnings)
    url = None if asked.url is None else without_query(asked.url)
    return FileRecord(path=asked.path, url=url, type=asked.type, details=MappingProxyType(details))
