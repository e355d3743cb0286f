"""The number that a text is, or gives as its answer, read the way people write numbers."""

import re
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Literal

from .number_answers import choose
from .number_digits import EXACT, power_of_ten
from .number_pieces import Candidate
from .number_surface import surface
from .number_tokens import pieces

__all__ = ["Candidate", "NumberReading", "decimal_of", "read_number", "same_number", "whole_number"]

MAX_LENGTH = 1_000_000
"""Characters of a text that are looked at; a longer one is unreadable."""

_CLOSE = Decimal("1e-9")

_ONE = Decimal(1)
_PERCENT = Decimal("0.01")
_NOTHING_ELSE = re.compile(r"[\s*_`\"'\u201c\u201d\u00ab\u00bb\[\]{}\\.,;:!?]*")
_AT_ONCE = re.compile(
    r"(-?)([$\u20ac\u00a3]?)([1-9][0-9]{0,2}(?:,[0-9]{3}){1,9}|[0-9]{1,40})(\.[0-9]{1,40})?(%)?\.?", re.ASCII
)  # what most replies are; all else goes the long way, with the same result


@dataclass(frozen=True, slots=True)
class NumberReading:
    """What was read from a text; where it is unreadable, `value` is None and `reason` says why."""

    value: Decimal | None
    span: tuple[int, int] | None
    percent: bool
    """Whether the number was written as a percentage; where none was read, whether all that was seen were."""
    candidates: tuple[Candidate, ...]
    """Every number seen in the text, in order; ranges, dates, list numbers and parts of words are none."""
    reason: str | None
    chosen: Candidate | None


def read_number(
    text: str,
    *,
    select: Literal["first", "last", "only"] | None = None,
    accept_percent: bool = True,
    accept_thousands_separators: bool = True,
    percent_as: Literal["ratio", "points"] = "ratio",
    scale_words: Literal["apply", "ignore"] = "apply",
) -> NumberReading:
    """Read the number that `text` gives as its answer.

    A text that is one number is that number. In prose the marked answer counts: the first number behind the
    last `=`, "answer:", "answer is", boxed, or "so … is"; else the only bold number; else the only number
    when bare years are set aside. Else the text is unreadable, and the reason lists the candidates.

    | option                        | default | does                                                     |
    |-------------------------------|---------|----------------------------------------------------------|
    | `select`                      | None    | `"first"`, `"last"`: that number, whatever is marked;    |
    |                               |         | `"only"`: unreadable where there are several             |
    | `accept_percent`              | True    | False: "14.1%" is unreadable, never 14.1                 |
    | `accept_thousands_separators` | True    | False: "25,587" is unreadable, never 25 or 25587         |
    | `percent_as`                  | "ratio" | "14.1%" is 0.141; with `"points"` it is 14.1             |
    | `scale_words`                 | "apply" | "1.2 million" is 1200000; with `"ignore"` it is 1.2      |

    >>> read_number("In 2007 it was 60.94 and in 2005 25.14, so the change is 35.80").value
    Decimal('35.80')
    >>> read_number("The change is 35.80 (60.94 - 25.14).").reason
    '3 numbers and none is marked as the answer: 35.80, 60.94, 25.14'
    >>> read_number("from 12% to 15%", select="last").value
    Decimal('0.15')
    >>> read_number("14.1%").value, read_number("14.1%", percent_as="points").value
    (Decimal('0.141'), Decimal('14.1'))
    >>> read_number("14.1%", accept_percent=False).reason
    "'14.1%' is a percentage, and accept_percent is false"
    >>> read_number("25,587", accept_thousands_separators=False).reason
    "'25,587' has thousands separators, and accept_thousands_separators is false"
    >>> read_number("$1.2 million").value, read_number("$1.2 million", scale_words="ignore").value
    (Decimal('1200000'), Decimal('1.2'))

    Source: multi-turn spec, FR-018.
    """
    chosen = _at_once(text)
    percent, reason = False, None
    candidates: tuple[Candidate, ...] = ()
    if chosen is not None:
        candidates = (chosen,)
    else:
        chosen, candidates, percent, reason = _the_long_way(text, select)
    if chosen is not None:
        percent = chosen.percent
        reason = _not_accepted(chosen, percent=accept_percent, separators=accept_thousands_separators)
    if chosen is None or reason is not None:
        return NumberReading(None, None, percent, candidates, reason, None)
    value = chosen.value if scale_words == "apply" else chosen.unscaled
    if percent_as == "points" and percent:
        value = power_of_ten(value, 2) or value
    return NumberReading(value, chosen.span, percent, candidates, None, chosen)


def whole_number(value: object) -> Decimal | None:
    """The number that the whole of `value` is, for matching arguments; None for all else, bool and NaN too.

    >>> whole_number(" $206,588 "), whole_number(206588.0), whole_number("14.14%")
    (Decimal('206588'), Decimal('206588.0'), Decimal('0.1414'))
    >>> whole_number("about 5"), whole_number("3-5"), whole_number(True), whole_number(None)
    (None, None, None, None)
    """
    match value:
        case str():
            return _whole_text(value)
        case int() | float() | Decimal():
            return decimal_of(value)
        case Integral():  # numpy's integers
            return decimal_of(int(value))
        case Real():
            return decimal_of(float(value))
        case _:
            return None


def same_number(a: Decimal, b: Decimal) -> bool:
    """Whether two arguments are the same number: whole ones exactly, others within a relative 1e-9.

    >>> same_number(Decimal("0.3"), Decimal("0.30000000000000004"))
    True
    >>> same_number(Decimal(9007199254740993), Decimal(9007199254740992))
    False
    """
    if not (a.is_finite() and b.is_finite()):
        return False
    if a == b:
        return True
    if a == a.to_integral_value() and b == b.to_integral_value():
        return False
    apart = EXACT.abs(EXACT.subtract(a, b))
    return apart <= EXACT.multiply(_CLOSE, EXACT.max_mag(a, b).copy_abs())


def decimal_of(value: float | Decimal) -> Decimal | None:
    """The Decimal that prints as `value` does (0.1, not 0.10000000000000001); None for NaN, infinity, bool.

    >>> decimal_of(0.1), decimal_of(2**53 + 1), decimal_of(float("nan"))
    (Decimal('0.1'), Decimal('9007199254740993'), None)
    """
    if isinstance(value, bool):
        return None
    exact = Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)
    return exact if exact.is_finite() else None


def _at_once(text: str) -> Candidate | None:
    """A plain number without a look at its surroundings."""
    plain = _AT_ONCE.fullmatch(text)
    if plain is None:
        return None
    sign, currency, whole, point, percent = plain.groups()
    grouped = "," in whole
    value = Decimal(f"{sign}{whole.replace(',', '') if grouped else whole}{point or ''}")
    if percent:
        value = value.scaleb(-2, EXACT)
    if not value:
        value = Decimal(0)
    end = len(text) - text.endswith(".")
    return Candidate(
        value,
        text[:end],
        (0, end),
        percent is not None,
        grouped,
        len(point) - 1 if point else 0,
        unit=_PERCENT if percent else _ONE,
        currency=currency or None,
    )


def _the_long_way(
    text: str, select: Literal["first", "last", "only"] | None
) -> tuple[Candidate | None, tuple[Candidate, ...], bool, str | None]:
    """The chosen candidate, all of them, whether all that was seen are percentages, and the reason."""
    if len(text) > MAX_LENGTH:
        return None, (), False, f"the text is longer than {MAX_LENGTH:,} characters"
    clean = surface(text)
    found = pieces(clean)
    piece, reason = choose(clean.clean, found, select)
    candidates = tuple(seen.candidate for seen in found if seen.candidate)
    return piece and piece.candidate, candidates, bool(found) and all(seen.percent for seen in found), reason


def _not_accepted(chosen: Candidate, *, percent: bool, separators: bool) -> str | None:
    if chosen.percent and not percent:
        return f"'{chosen.text}' is a percentage, and accept_percent is false"
    if chosen.grouped and not separators:
        return f"'{chosen.text}' has thousands separators, and accept_thousands_separators is false"
    return None


def _whole_text(text: str) -> Decimal | None:
    at_once = _at_once(text)
    if at_once:
        return at_once.value
    if len(text) > MAX_LENGTH:
        return None
    clean = surface(text)
    found = pieces(clean)
    if len(found) != 1 or found[0].candidate is None:
        return None
    piece = found[0]
    whole = _NOTHING_ELSE.fullmatch(clean.clean, 0, piece.start) and _NOTHING_ELSE.fullmatch(
        clean.clean, piece.end
    )
    return found[0].candidate.value if whole else None
