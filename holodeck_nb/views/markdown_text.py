"""Foreign text in Markdown: in a line, in a table, in a fence; it can end none of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .visible_text import one_line, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["fenced", "inline", "table"]

_MOST_IN_LINE = 1_000
_MOST_IN_FENCE = 20_000
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# An underscore inside a word means nothing to Markdown, and `program_equivalence` reads better without.
_SPECIAL = re.compile(r"[\\`*\[\]|~$#&<>]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_TICKS = re.compile("`+")


def inline(text: str, limit: int = _MOST_IN_LINE) -> str:
    r"""Any text on one line of Markdown, as the characters it is made of; cut visibly at `limit`.

    Example:
        >>> inline("a|b *c*\n<i>")
        'a\\|b \\*c\\* &lt;i&gt;'
    """
    return _SPECIAL.sub(_escaped, one_line(shortened(text, limit)))


def fenced(text: str, language: str = "text", limit: int = _MOST_IN_FENCE) -> str:
    """Any text as a code block, its fence longer than any run of backticks in it; cut visibly at `limit`."""
    shown = visible(shortened(text, limit))
    longest = max((len(run) for run in _TICKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of any texts, escaped here; "" without rows."""
    lines = [f"| {' | '.join(inline(text) for text in row)} |" for row in rows]
    if not lines:
        return ""
    head = [f"| {' | '.join(headers)} |", f"|{' --- |' * len(headers)}"]
    return "\n".join(head + lines)


def _escaped(found: re.Match[str]) -> str:
    return _ENTITIES.get(found[0]) or f"\\{found[0]}"
