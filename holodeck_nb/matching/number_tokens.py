"""The numbers that a text holds, in one pass: where each begins, what it is worth, and what is none."""

import re
from collections.abc import Iterator
from decimal import Decimal
from unicodedata import category

from .number_digits import MAX_DIGITS, Amount, power_of_ten, read_amount
from .number_pieces import Candidate, Piece, Role
from .number_sides import Head, Tail, brackets_mean, head, is_word, tail
from .number_surface import Surface
from .number_words import LABEL_BEFORE, MONTH_AFTER, MONTH_BEFORE, YEAR_AFTER

_RUN = re.compile(r"\.?[0-9]++(?:[.,'_][0-9]++|[ ][0-9]{3}(?![0-9]))*+|[\u00bc-\u00be\u2150-\u215e\u2189]")
_SPACED = re.compile(r"[1-9][0-9]{0,2}(?: [0-9]{3})++(?:[.,][0-9]++)?")
_PART = re.compile(r"[^ ]++")
_CHAIN = re.compile(
    r"(?P<date>(?:/[0-9]++){2,})|(?P<ratio>(?::[0-9]{1,2})++(?![0-9]|[.,][0-9]))|\^[-({]?[0-9]*+|\*\*[0-9]++"
)
_DASH = re.compile(r"[-\u2014]{1,2}(?:[A-Z]{0,3}\$)?(?=\.?[0-9])")
_SECOND_YEAR = re.compile(r"/[0-9]++")
_LIST_HEAD = re.compile(r"(?:\A|\n)[ \t>#*_-]{0,8}\(?\Z")
_LIST_TAIL = re.compile(r"(?:\.\)?|\))(?:\*\*)?[ \t]+(?=\S)")
_SMALL = 3
"""Digits of a day, a list number, a label or a footnote."""
_LAST_LIST_NUMBER = 20
"""A higher one is a list number only after its predecessor: "72. That is all." is an answer."""
_UNITS = {power: Decimal(1).scaleb(power) for power in range(-4, 1)}


def pieces(text: Surface) -> list[Piece]:
    """Everything in `text` that is a number or looks like one, in order; linear in the length."""
    return list(_Scan(text).run())


class _Scan:
    """One reading of one text."""

    def __init__(self, text: Surface) -> None:
        self.text = text
        self.clean = text.clean
        self.done = 0
        self.listed = 0

    def run(self) -> Iterator[Piece]:
        while run := _RUN.search(self.clean, self.done):
            for start, end in _parts(run):
                if start < self.done:
                    continue  # read already, as part of a date, a range or a fraction
                piece = self._piece(start, end)
                self.done = max(end, piece.end) if piece else end
                if piece:
                    yield piece

    def _piece(self, start: int, end: int) -> Piece | None:
        """The number with the digits `clean[start:end]`, or why it is none; None for a part of a word."""
        if (
            self.clean[start] == "."
            and start
            and (self.clean[start - 1] in ".)" or is_word(self.clean[start - 1]))
        ):
            start += 1  # the stop of a sentence or an abbreviation
        before = head(self.clean, start, self.done)
        if before.glued:
            return None
        if end - start <= _SMALL and self.clean[start:end].isdigit():
            number = int(self.clean[start:end])
            if date := self._day(start, end, number):
                return date
            if self._is_list_number(start, end, number):
                return None
        if end - start > MAX_DIGITS:
            return Piece("out of range", before.begin, end)
        amount = read_amount(self.clean, start, end)
        if amount is None:
            return Piece("malformed", before.begin, end)
        return self._with_surroundings(before, amount, self.clean[start:end])

    def _with_surroundings(self, before: Head, amount: Amount, written: str) -> Piece | None:
        if chain := _CHAIN.match(self.clean, amount.end):
            return Piece("date" if chain["date"] else "malformed", before.begin, chain.end())
        behind = tail(self.clean, amount.end, currency=before.currency is not None)
        if dash := _DASH.match(self.clean, behind.end):
            return self._range(before.begin, written, dash)
        if _is_year(written) and (second := _SECOND_YEAR.match(self.clean, behind.end)):
            return Piece("date", before.begin, second.end())
        return None if self._is_glued_behind(behind) else self._number(before, amount, behind)

    def _day(self, start: int, end: int, number: int) -> Piece | None:
        """A day beside the name of its month, with the year that may follow."""
        if not 1 <= number <= 31:  # noqa: PLR2004  days of a month
            return None
        date = MONTH_AFTER.match(self.clean, end)
        if date is None and MONTH_BEFORE.search(self.clean, max(0, start - 12), start):
            date = YEAR_AFTER.match(self.clean, end)
        return Piece("date", start, date.end()) if date else None

    def _is_list_number(self, start: int, end: int, number: int) -> bool:
        if not _LIST_TAIL.match(self.clean, end) or not _LIST_HEAD.search(
            self.clean, max(0, start - 10), start
        ):
            return False
        if number > _LAST_LIST_NUMBER and number != self.listed + 1:
            return False
        self.listed = number
        return True

    def _range(self, begin: int, first: str, dash: re.Match[str]) -> Piece:
        """Numbers tied by hyphens or dashes: a range, a date, a code; never a number."""
        links, percent, end, last = 1, False, dash.end(), first
        link: re.Match[str] | None = dash
        while link and (run := _RUN.match(self.clean, end)):
            last = run.group()
            behind = tail(self.clean, run.end(), currency=True)
            links, percent, end = links + 1, behind.percent, behind.end
            if link := _DASH.match(self.clean, end):
                end = link.end()
        while end < len(self.clean) and is_word(self.clean[end]):
            end += 1
        years = _is_year(first) and len(last) in {2, 4} and last.isdigit()
        return Piece("date" if links > 2 or years else "range", begin, end, percent=percent)  # noqa: PLR2004

    def _is_glued_behind(self, behind: Tail) -> bool:
        after = self.clean[behind.end : behind.end + 2]
        if not after or after[0] in " \n":
            return False
        if after[0] in ".,":
            return after[1:].isdigit()
        if after[0] == "-":
            return behind.bare and after[1:].isalpha()
        if after[0] == "_":  # "25__" closes what is bold, "25_a" is a name
            after = self.clean[behind.end : behind.end + 3].lstrip("_") or " "
        return is_word(after[0])

    def _number(self, before: Head, amount: Amount, behind: Tail) -> Piece:
        begin, end, negative = before.begin, behind.end, before.negative
        role = self._role(begin, end)
        if before.bracket is not None and (closes := self._closes(end)):
            meaning = self._brackets(before, role, closes)
            if meaning == "minus":
                begin, end, negative = min(begin, before.bracket), closes, True
                more = tail(self.clean, end, currency=before.currency is not None) if behind.bare else behind
                if behind.bare and not more.bare:  # "(14.1)%"
                    behind, end = more, more.end
            elif meaning == "mark":
                role = "label"
        elif not negative and self._ends_with_minus(begin, end):
            end, negative = end + 1, True
        power = behind.exponent + behind.scale + behind.unit
        value = power_of_ten(amount.value.copy_negate() if negative else amount.value, power)
        if value is None:
            return Piece("out of range", begin, end, percent=behind.percent)
        span = self.text.span(begin, end)
        candidate = Candidate(
            value,
            self.text.original[slice(*span)],
            span,
            behind.percent,
            amount.grouped,
            amount.decimals - behind.exponent,
            Decimal(1).scaleb(behind.scale) if behind.scale else _UNITS[0],
            _UNITS[behind.unit],
            self._currency(before.currency or behind.currency, span),
        )
        return Piece(role, begin, end, candidate, behind.percent)

    def _currency(self, read: str | None, span: tuple[int, int]) -> str | None:
        """The currency as it stands in the original; cleaning made every sign a dollar."""
        if read is None:
            return None
        signs = (char for char in self.text.original[slice(*span)] if category(char) == "Sc")
        return read.strip().replace("$", next(signs, "$"))

    def _closes(self, end: int) -> int | None:
        """The place behind the bracket that closes directly at `end`."""
        if self.clean.startswith(")", end):
            return end + 1
        return end + 2 if self.clean.startswith(" )", end) else None

    def _brackets(self, before: Head, role: Role, closes: int) -> str:
        """What the brackets around a number mean; those around a year or a reference mean nothing."""
        assert before.bracket is not None
        if role == "label" or (role == "year" and len(self.clean) > closes - before.bracket + 1):
            return "aside"
        if before.bracket > before.begin:  # "$(1,234)"
            return "minus"
        return brackets_mean(self.clean, before.bracket, closes)

    def _ends_with_minus(self, begin: int, end: int) -> bool:
        """Whether the whole text is a number with the minus behind it."""
        if not self.clean.startswith("-", end) or begin > 8 or len(self.clean) - end > 8:  # noqa: PLR2004  a few blanks
            return False
        return not self.clean[:begin].strip() and not self.clean[end + 1 :].strip()

    def _role(self, begin: int, end: int) -> Role:
        """Bare years and references are set aside while there are other numbers."""
        size = end - begin
        if size > 4 or not self.clean[begin:end].isdigit():  # noqa: PLR2004  digits of a year
            return "number"
        if size > _SMALL:
            return "year" if _is_year(self.clean[begin:end]) else "number"
        if begin and (
            self.clean[begin - 1] in "#[" or LABEL_BEFORE.search(self.clean, max(0, begin - 16), begin)
        ):
            return "label"
        return "number"


def _is_year(written: str) -> bool:
    return len(written) == 4 and written.isdigit() and "1900" <= written <= "2099"  # noqa: PLR2004


def _parts(run: re.Match[str]) -> list[tuple[int, int]]:
    """A run of digits is one number, or, where blanks do not group it, several."""
    text, start = run.group(), run.start()
    if " " not in text or _SPACED.fullmatch(text):
        return [(start, run.end())]
    return [(start + part.start(), start + part.end()) for part in _PART.finditer(text)]
