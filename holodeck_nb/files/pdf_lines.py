"""The text of a PDF page in reading order, the cells of a table's row on one line."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import Any

__all__ = ["page_text"]

# How far apart two baselines of one line may be, in heights of the text.
_SAME_LINE = 0.3


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text as it was drawn: how far along its own direction it begins, and on which line across it."""

    text: str
    along: float
    across: float
    direction: tuple[float, float]
    height: float

    def is_followed_by(self, other: _Piece) -> bool:
        """Whether the other one stands on the same line, further on."""
        turned = abs(self.direction[0] - other.direction[0]) + abs(self.direction[1] - other.direction[1])
        apart = abs(self.across - other.across)
        return turned < 0.01 and other.along > self.along and apart < _SAME_LINE * self.height  # noqa: PLR2004 - a degree


def page_text(page: Any) -> str:
    """The page's text in the order in which it was drawn, which is how most programs keep columns apart.

    Programs draw the cells of a table one by one, each as if it were a line: those on one line are joined by
    tabs, so that a number stays beside its name.
    """
    pieces: list[_Piece] = []

    def keep(text: str, page_matrix: list[float], text_matrix: list[float], _font: Any, size: float) -> None:
        if text:
            pieces.append(_piece(text, page_matrix, text_matrix, size))

    page.extract_text(visitor_text=keep)
    parts = []
    for place, piece in enumerate(pieces):
        ended = piece.text.rstrip("\n")
        following = next((other for other in pieces[place + 1 : place + 3] if other.text.strip()), None)
        joined = ended != piece.text and ended and following is not None and piece.is_followed_by(following)
        parts.append(ended + "\t" if joined else piece.text)
    return "".join(parts).strip()


def _piece(text: str, page_matrix: list[float], text_matrix: list[float], size: float) -> _Piece:
    a, b, c, d, e, f = page_matrix
    ta, tb, _, _, te, tf = text_matrix
    x, y = te * a + tf * c + e, te * b + tf * d + f
    dx, dy = ta * a + tb * c, ta * b + tb * d
    length = hypot(dx, dy) or 1.0
    dx, dy = dx / length, dy / length
    return _Piece(text, x * dx + y * dy, y * dx - x * dy, (dx, dy), max(abs(size) * length, 1.0))
