"""What stands directly before and behind the digits of a number: sign, currency, scale, unit, or a word."""

import re
from typing import NamedTuple

from .number_words import (
    LINK_BEFORE,
    LONG_SCALES,
    MAY_FOLLOW,
    NEEDS_CURRENCY,
    NEEDS_CURRENCY_APART,
    PREFIX,
    SHORT_SCALES,
    SUFFIX,
    UNITS,
)

_REACH = 32
"""How far before the digits a sign, a currency or a telling word may begin."""

_SIGN_WORDS = ("inus ", "INUS ", "tive ", "TIVE ")
_RAISED = str.maketrans(
    "\u207a\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "+-0123456789"
)
_MARK = re.compile(r"\([0-9]{1,2}\)")
_ABSURD = 100_000
"""An exponent that is out of bounds whatever the digits are."""


class Head(NamedTuple):
    """What was read before the digits."""

    begin: int
    negative: bool = False
    currency: str | None = None
    bracket: int | None = None
    """Where a bracket opens directly before the number."""
    glued: bool = False
    """Part of a word, a power or a tolerance: no number of its own."""


class Tail(NamedTuple):
    """What was read behind the digits; scale, unit and exponent are powers of ten."""

    end: int
    exponent: int = 0
    scale: int = 0
    unit: int = 0
    percent: bool = False
    currency: str | None = None
    bare: bool = True
    """Neither scale nor unit: a hyphen and a word would make it part of a word ("10-year")."""


def is_word(char: str) -> bool:
    """Whether digits beside `char` are part of a word; scripts without blanks between words do not glue."""
    return char.isdigit() or (char.isalpha() and char < "\u2e80")


def head(clean: str, start: int, floor: int) -> Head:
    """Read backwards from `start`, not beyond `floor`, where the number before ended."""
    if not start or _has_free_front(clean, start):
        return Head(start)
    prefix = PREFIX.search(clean, max(floor, start - _REACH), start)
    if prefix is None:  # pragma: no cover  every part of the pattern is optional
        return Head(start)
    begin = prefix.start("currency") if prefix["currency"] else start
    negative = (prefix["inner"] or "").startswith("-")
    bracket = prefix.start("late") if prefix["late"] else None
    free = prefix["word"] is None and prefix["sign"] is None
    if prefix["word"] and not _follows_number(clean, prefix.start("word")):
        begin, negative, free = prefix.start("word"), True, True
    elif prefix["sign"]:
        at = prefix.start("sign")
        if prefix["open"] or _is_sign(clean, at, apart=prefix["gap"] is not None):
            begin, negative, free = at, prefix["sign"] == "-" or negative, True
        elif (
            prefix["gap"] is None
            and (prefix["sign"] == "-" or clean[at - 1] == "/")
            and _glues(clean, at - 1)
        ):
            return Head(start, glued=True)
    if bracket is None and free and prefix["open"]:
        bracket = prefix.start("open")
    glued = bracket is None and begin > 0 and _glues(clean, begin - 1)
    return Head(begin, negative, prefix["currency"], bracket, glued)


def _has_free_front(clean: str, start: int) -> bool:
    """Whether nothing before `start` can belong to the number; most numbers in prose are such."""
    last = clean[start - 1]
    if last in "\n\t=:|*<>[~\u2248,;":
        return True
    if last != " " or start == 1:
        return False
    before = clean[start - 2]
    if before.islower():
        return (
            before not in "se"
            or (before == "e" and clean[start - 5 : start] != "tive ")
            or (before == "s" and clean[start - 5 : start] not in _SIGN_WORDS and clean[start - 3] != "R")
        )
    return before in "0123456789,;:=|%!?"


def _follows_number(clean: str, at: int) -> bool:
    """Whether the word before `at` is a number: then "minus" is an operation."""
    return clean[max(0, at - 2) : at].strip()[-1:] in set("0123456789%)")


def _is_sign(clean: str, at: int, *, apart: bool) -> bool:
    """Whether the plus or minus at `at` is a sign and not an operation, a bullet, a dash or a hyphen."""
    before = clean[max(0, at - 8) : at].rstrip(" ")
    if apart:  # "- 5" is a number as a whole reply and behind "="; else a dash or a bullet
        return (not before and at <= _REACH and "\n" not in clean) or before[-1:] in set("=(:[|")
    if at and not clean[at - 1].isspace() and (_glues(clean, at - 1) or clean[at - 1] in ")]}%"):
        return False
    return before[-1:] != "/"  # "+/-5"


def _glues(clean: str, at: int) -> bool:
    """Whether the character at `at` ties the digits behind it to a word, a power or a tolerance."""
    char = clean[at]
    if char == " ":
        return clean[at - 1 : at] == "\u00b1" or clean[max(0, at - 3) : at] == "+/-"
    if char == "_":  # "__25__" is bold, "q_25" a name
        at -= clean[at - 1 : at] == "_"
        return at > 0 and is_word(clean[at - 1])
    if char in "./\\@'+":
        return at > 0 and ((is_word(clean[at - 1]) and char != "+") or clean[at - 1 : at + 1] == "+/")
    return char in "^\u00b1" or is_word(char)


def tail(clean: str, end: int, *, currency: bool) -> Tail:
    """Read forwards from `end`, where the digits stop; `currency` tells whether one stands before them."""
    if not MAY_FOLLOW.match(clean, end):
        return Tail(end)
    suffix = SUFFIX.match(clean, end)
    if suffix is None or suffix.end() == end:
        return Tail(end)
    scale = sum(
        LONG_SCALES[word.lower().removesuffix("s")]
        for word in (suffix["words"] or "").replace("-", " ").split()
    )
    short = suffix["short"]
    if short and not _is_scale(suffix, currency=currency):
        stop = suffix.start("blank")
        return Tail(stop, _exponent(suffix), scale, bare=stop == end)
    if short:
        scale += SHORT_SCALES[short]
    unit = suffix["sign"] or (suffix["unit"] or "").lower()[:1]
    return Tail(
        suffix.end(),
        _exponent(suffix),
        scale,
        UNITS.get(unit, 0),
        UNITS.get(unit) == UNITS["%"],
        suffix["currency"],
        bare=not (unit or scale),
    )


def _is_scale(suffix: re.Match[str], *, currency: bool) -> bool:
    risky = NEEDS_CURRENCY_APART if suffix["blank"] else NEEDS_CURRENCY
    return currency or suffix["currency"] is not None or suffix["short"] not in risky


def _exponent(suffix: re.Match[str]) -> int:
    """The sum of `e3` and `x 10^3`; far out of bounds instead of absurdly long."""
    total = 0
    for written in (suffix["e"], suffix["power"], (suffix["raised"] or "").translate(_RAISED)):
        if written:
            digits = written.lstrip("+-0")
            size = _ABSURD if len(digits) > 5 else int(digits or 0)  # noqa: PLR2004  digits of _ABSURD
            total += -size if written[0] == "-" else size
    return total


def brackets_mean(clean: str, opens: int, closes: int) -> str:
    """What brackets around one number say: "minus", "aside" (a remark), "mark" (a footnote).

    They are the accountant's minus as the whole reply or cell, behind a currency sign, and behind words that
    lead to a value ("net income was (1,234)"). In running text they hold an aside: "the growth (14%) is".
    """
    before = clean[max(0, opens - _REACH) : opens].rstrip(" *_`\"'")
    last = before[-1:]
    if not last or last in "\n=:|,;([~\u2248$-+*/" or LINK_BEFORE.search(before):
        return "minus"
    if last in "0123456789%)":
        return "aside"
    if _MARK.fullmatch(clean, opens, closes):
        return "mark"
    rest = clean[closes : closes + _REACH].lstrip(" *_`\"'")
    return "minus" if not rest or rest[0] in "\n|" else "aside"
