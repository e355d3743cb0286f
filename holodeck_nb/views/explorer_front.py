"""The explorer's front end: its script, its style, and what it is told at the start."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from .card import STYLE
from .conversation import conversation_html
from .explorer_index import Index, Step, Wanted

if TYPE_CHECKING:
    from holodeck_nb.results.rollup import RunResult

__all__ = ["PAGE", "asset", "rows_answer", "start", "style"]

PAGE = 100  # lines of the list that travel at once


@cache
def asset(name: str) -> str:
    """A file of `explorer_assets`, as text."""
    return (files(__package__) / "explorer_assets" / name).read_text(encoding="utf-8")


def style() -> str:
    """The card's rules and the explorer's, without the tags around them."""
    return f"{STYLE.removeprefix('<style>').removesuffix('</style>')}{asset('explorer.css')}"


def start(run: RunResult, index: Index, at: Step | None) -> dict[str, Any]:
    """All that the first sight needs: choices, the first lines, the conversation at `at`."""
    return {
        "choices": index.choices,
        "wanted": {},
        "total": len(index.entries),
        "at": None if at is None else at._asdict(),
        "rows": rows_answer(index, Wanted(), 0, PAGE),
        "html": "" if at is None else conversation_html(run.cases[at.place]),
    }


def rows_answer(index: Index, wanted: Wanted, first: int, most: int) -> dict[str, Any]:
    """Some lines of the filtered list, and how many cases and failing turns there are in all of it."""
    matches = index.matches(wanted)
    return {
        "total": len(matches.places),
        "failures": len(matches.failures),
        "from": first,
        "rows": [index.row(place) for place in matches.places[first : first + most]],
    }
