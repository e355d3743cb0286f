"""Pieces of a conversation's HTML: texts that fold when they are long, values as JSON, lists that end."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from .card import cell
from .plain_data import plain
from .visible_text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["bounded", "folded", "labelled", "names", "value"]

_FOLD_CHARACTERS, _FOLD_LINES = 900, 14
_GIST = 240
_MOST = 20_000  # characters of one text; the frames hold it whole
_ONE_LINE = 72


def folded(text: str, kind: str = "") -> str:
    """Any text as the characters it is made of; a long one folds, one that is longer still is cut visibly."""
    style = f"text {kind}".rstrip()
    whole = f'<div class="{style}" dir="auto">{cell(text, _MOST)}</div>'
    if len(text) <= _FOLD_CHARACTERS and text.count("\n") < _FOLD_LINES:
        return whole
    gist = f'<span class="gist {style}" dir="auto">{cell(one_line(text[:_GIST]), _GIST)} …</span>'
    size = f'<span class="size">{len(text):,} characters</span>'
    return f'<details class="long"><summary>{gist} {size}</summary>{whole}</details>'


def value(data: Any, kind: str = "code") -> str:
    """Any value as JSON, so that 20 and "20" differ; on several lines where one is too long."""
    tidy = plain(data)
    line = json.dumps(tidy, ensure_ascii=False)
    nested = isinstance(tidy, dict | list) and len(line) > _ONE_LINE
    return folded(json.dumps(tidy, ensure_ascii=False, indent=2) if nested else line, kind)


def labelled(rows: Iterable[tuple[str, str]]) -> str:
    """Labels and what they label, which is HTML already."""
    lines = "".join(f"<dt>{escape(label)}</dt><dd>{inner}</dd>" for label, inner in rows)
    return f'<dl class="labelled">{lines}</dl>'


def bounded(items: Sequence[Any], most: int, what: str) -> tuple[Sequence[Any], str]:
    """The first `most` of a list, and a line that says how many are left out ("" where none is)."""
    left = len(items) - most
    if left <= 0:
        return items, ""
    return items[:most], f'<div class="note">{left:,} more {escape(what)} in the frames of the run</div>'


def names(call: int) -> str:
    """A call of a turn as the reasons name it: the first is `#1`."""
    return f"#{call + 1}"
