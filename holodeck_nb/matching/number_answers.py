"""Which of the numbers in a reply is the answer: the marked one, the bold one, the only one."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Literal, NamedTuple

from .number_digits import EXACT
from .number_marks import Marks, bold_spans, marks
from .number_pieces import Piece

Select = Literal["first", "last", "only"]


class Choice(NamedTuple):
    """The chosen piece, or in words why there is none."""

    piece: Piece | None
    reason: str | None = None


_SHOWN = 12
"""So many candidates stand in a reason."""

_REFUSED = {
    "range": "is a range or a difference, not one number",
    "date": "is a date or a span of years, not a number",
    "malformed": "cannot be read as one number",
    "out of range": "is too long, too large or too small to be read",
}
_NOT_FINITE = re.compile(r"(?<![a-z])(nan|inf|infinity)(?![a-z])|\u221e", re.IGNORECASE)
_WITH_DIGITS = re.compile(r"[^\s0-9]{0,20}[0-9]\S{0,20}")

_DIRECTLY = re.compile(
    r"[\s*_:=\"'`$({\[\\~\u2248]*"
    r"(?:(?:the year|year|about|approximately|roughly|around|nearly|exactly|just|only)[\s*_]+)*[\"'`$({\[]*",
    re.IGNORECASE,
)
_OPERATION = re.compile(r"[)\]}\s]*(?:\s[-+]\s|[*/\u00d7\u00f7]|[-+](?=\s?\())\s*[(\[{$]*\s*")
_WORD_RANGE = re.compile(r"\s+(?:to|through|until|and)\s+(?:about\s+)?")
_BETWEEN = re.compile(r"(?:from|between)\s+(?:about\s+)?\Z", re.IGNORECASE)
_TEXT = re.compile(r"[^\W_]")


def choose(clean: str, found: Sequence[Piece], select: Select | None) -> Choice:
    """The answer among `found`, the pieces of the reply in order."""
    candidates = [piece for piece in found if piece.candidate]
    if not candidates:
        return Choice(None, _nothing(clean, found))
    if select:
        return _select([piece for piece in candidates if piece.role != "label"] or candidates, select)
    pool = next(
        pool for role in ("number", "year", "label") if (pool := [p for p in candidates if p.role == role])
    )
    if len(found) > 1:
        chosen = _Reply(clean, found, marks(clean), pool).choice()
        if chosen:
            return chosen
    if len(_distinct(clean, pool)) == 1:
        return Choice(pool[0])
    return Choice(None, f"{len(candidates)} numbers and none is marked as the answer: {_listing(candidates)}")


def _select(pool: list[Piece], select: Select) -> Choice:
    if select == "only" and len(pool) > 1:
        return Choice(None, f"{len(pool)} numbers where only one may stand: {_listing(pool)}")
    return Choice(pool[-1 if select == "last" else 0])


def _distinct(clean: str, pool: list[Piece]) -> list[Piece]:
    """The pieces without those that say a number again, as in "0.14136 (14.1%)"."""
    kept, values = pool[:1], {pool[0].candidate.value if pool[0].candidate else None}
    for before, piece in pairwise(pool):
        if before.candidate is None or piece.candidate is None or piece.candidate.value in values:
            continue
        values.add(piece.candidate.value)
        coarse = max(before.candidate.quantum, piece.candidate.quantum)
        near = EXACT.abs(EXACT.subtract(before.candidate.value, piece.candidate.value)) <= coarse
        if not near or clean[before.end : min(piece.start, before.end + 4)].strip() != "(":
            kept.append(piece)
    return kept


class _Reply:
    """A reply of several pieces and its marks."""

    def __init__(self, clean: str, found: Sequence[Piece], marked: Marks, pool: list[Piece]) -> None:
        self.clean = clean
        self.found = found
        self.marks = marked
        self.pool = pool

    def choice(self) -> Choice | None:
        """What the marks say; None where they say nothing."""
        return self._strongly_marked() or self._only_bold() or self._weakly_marked()

    def _marked_from_behind(self, places: list[int]) -> Iterator[tuple[int, int]]:
        """(marker, index of the first piece behind it in its sentence), the last marker first."""
        if not places:
            return
        starts = [piece.start for piece in self.found]
        for index in range(len(starts) - 1, -1, -1):
            nearest = bisect_right(places, starts[index]) - 1
            previous = self.found[index - 1].end if index else 0
            if (
                nearest >= 0
                and places[nearest] >= previous
                and not self._is_cut(places[nearest], starts[index])
            ):
                yield places[nearest], index

    def _is_cut(self, marker: int, start: int) -> bool:
        """Whether a sentence with words ends between a marker and a number."""
        ends = self.marks.ends
        last = bisect_left(ends, start) - 1
        return last >= 0 and ends[last] > marker and _TEXT.search(self.clean, marker, ends[last]) is not None

    def _sentence(self, index: int) -> Iterator[Piece]:
        """The pieces from `index` to the end of its sentence."""
        ends = self.marks.ends
        here = bisect_left(ends, self.found[index].end)
        stop = ends[here] if here < len(ends) else len(self.clean)
        return takewhile(
            lambda piece: piece.start < stop, (self.found[at] for at in range(index, len(self.found)))
        )

    def _strongly_marked(self) -> Choice | None:
        for marker, index in self._marked_from_behind(self.marks.strong):
            piece = self.found[index]
            if piece.role in {"year", "date", "label"} and not self._is_direct(marker, piece):
                piece = next(
                    (p for p in self._sentence(index) if p.role not in {"year", "date", "label"}), piece
                )
                if piece.role in {"date", "label"} or (
                    piece.role == "year" and self.pool[0].role == "number"
                ):
                    continue  # "Answer: sales rose in 2009. They were 25,587."
            return self._as_answer(piece)
        return None

    def _is_direct(self, marker: int, piece: Piece) -> bool:
        return piece.start - marker < 80 and _DIRECTLY.fullmatch(self.clean, marker, piece.start) is not None  # noqa: PLR2004

    def _as_answer(self, piece: Piece) -> Choice:
        """The marked piece, unless it is a range or begins an expression."""
        if piece.candidate is None:
            return Choice(None, f"the marked answer {_refusal(self.clean, piece)}")
        following = next((later for later in self.found if later.start >= piece.end), None)
        if following:
            between = self.clean[piece.end : min(following.start, piece.end + 40)]
            before = self.clean[max(0, piece.start - 20) : piece.start]
            if _OPERATION.fullmatch(between):
                text = self.clean[piece.start : following.end]
                return Choice(None, f"the marked answer '{_short(text)}' is an expression, not one number")
            if (word := _WORD_RANGE.fullmatch(between)) and (
                "and" not in word.group() or _BETWEEN.search(before)
            ):
                text = self.clean[piece.start : following.end]
                return Choice(None, f"the marked answer '{_short(text)}' is a range, not one number")
        return Choice(piece)

    def _only_bold(self) -> Choice | None:
        spans = bold_spans(self.clean)
        if not spans:
            return None
        begins = [begin for begin, _ in spans]

        def is_bold(piece: Piece) -> bool:
            nearest = bisect_right(begins, piece.start) - 1
            return nearest >= 0 and piece.start < spans[nearest][1]

        bold = [piece for piece in self.pool if is_bold(piece)]
        ranges = [piece for piece in self.found if piece.role == "range" and is_bold(piece)]
        if len(bold) + len(ranges) != 1:
            return None
        return self._as_answer((bold or ranges)[0])

    def _weakly_marked(self) -> Choice | None:
        for _, index in self._marked_from_behind(self.marks.weak):
            behind = [p for p in self._sentence(index) if p.role in {"number", "range"}]
            if len(behind) == 1:
                return self._as_answer(behind[0])
        return None


def _listing(candidates: list[Piece]) -> str:
    texts = [_short(piece.candidate.text) for piece in candidates[:_SHOWN] if piece.candidate]
    return ", ".join(texts) + (", …" if len(candidates) > _SHOWN else "")


def _nothing(clean: str, found: Sequence[Piece]) -> str:
    if found:
        return _refusal(clean, found[0])
    if not clean.strip():
        return "the text is empty"
    if not_finite := _NOT_FINITE.search(clean):
        return f"'{not_finite.group()}' is no finite number"
    glued = _WITH_DIGITS.search(clean)
    return "no number in the text" + (f" ('{glued.group()}' is part of a word or a list)" if glued else "")


def _refusal(clean: str, piece: Piece) -> str:
    return f"'{_short(clean[piece.start : piece.end])}' {_REFUSED[piece.role]}"


def _short(text: str, width: int = 40) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
