"""Digits with separators become an exact Decimal: grouping, decimal comma, fractions, bounds."""

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import NamedTuple
from unicodedata import normalize

MAX_DIGITS = 300
"""A longer run of digits is no answer but an attack or an accident."""

MAX_MAGNITUDE = 307
"""Powers of ten within which every value also fits a float, so that reports stay strict JSON."""

EXACT = Context(prec=1000, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
"""Wide enough for every product of two readable numbers; raises nothing."""

_QUOTIENT = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])

_SEPARATORS = re.compile(r"[.,'_ ]")


class Digits(NamedTuple):
    """A number without sign and unit, as digits that Decimal reads."""

    plain: str
    grouped: bool
    decimals: int


def read_digits(written: str) -> Digits | None:
    """The digits of `written` (ASCII digits and `. , ' _` or blanks); None where they are no one number.

    >>> read_digits("1.234,50")
    Digits(plain='1234.50', grouped=True, decimals=2)
    >>> read_digits("12,34,567").plain, read_digits("12,5").plain, read_digits("1,23,4")
    ('1234567', '12.5', None)
    """
    if written.isdigit():
        return Digits(written, grouped=False, decimals=0)
    marks = _SEPARATORS.findall(written)
    last = marks[-1]
    kinds = dict.fromkeys(marks)
    if len(kinds) == 1:
        return _one_mark(written, last, len(marks))
    if len(kinds) > 2 or marks.count(last) > 1 or last not in ".,":  # noqa: PLR2004  grouping and point
        return None
    whole, _, decimals = written.rpartition(last)
    if not _is_grouped(whole.split(marks[0]), marks[0]):
        return None
    return Digits(f"{whole.replace(marks[0], '')}.{decimals}", grouped=True, decimals=len(decimals))


def _one_mark(written: str, mark: str, times: int) -> Digits | None:
    groups = written.split(mark)
    if mark == "." and times == 1:
        return Digits(written, grouped=False, decimals=len(groups[1]))
    if _is_grouped(groups, mark):
        return Digits("".join(groups), grouped=True, decimals=0)
    if mark != "," or times > 1 or min(map(len, groups)) > 3:  # noqa: PLR2004  "2007,2008" are two years
        return None
    return Digits(f"{groups[0]}.{groups[1]}", grouped=False, decimals=len(groups[1]))


def _is_grouped(groups: list[str], mark: str) -> bool:
    """Whether the groups are thousands, or lakh and crore (12,34,567)."""
    first, *middle, last = groups
    if len(last) != 3 or not 1 <= len(first) <= 3 or first == "0":  # noqa: PLR2004  thousands
        return False
    sizes = set(map(len, middle))
    return sizes <= {3} or (mark == "," and sizes == {2} and len(first) < 3)  # noqa: PLR2004  thousands, lakh


def power_of_ten(value: Decimal, power: int) -> Decimal | None:
    """`value` times ten to the `power`, exactly and without an exponent; None where it is out of bounds.

    >>> power_of_ten(Decimal("1.2"), 6), power_of_ten(Decimal("14.1"), -2), power_of_ten(Decimal(1), 999)
    (Decimal('1200000'), Decimal('0.141'), None)
    """
    if not value:
        return Decimal(0)
    if not power:
        return value
    if not -MAX_MAGNITUDE <= value.adjusted() + power <= MAX_MAGNITUDE:
        return None
    moved = value.scaleb(power, EXACT)
    exponent = moved.as_tuple().exponent
    return moved.quantize(Decimal(1), context=EXACT) if isinstance(exponent, int) and exponent > 0 else moved


class Amount(NamedTuple):
    """An unsigned value and where its characters end."""

    value: Decimal
    decimals: int
    grouped: bool
    end: int


_VULGAR = "\u00bc-\u00be\u2150-\u215e\u2189"
_FRACTION = re.compile(
    rf"[ ]?(?P<vulgar>[{_VULGAR}])|(?P<over>[ ][0-9]{{1,3}})?/(?P<under>[0-9]{{1,3}})(?![0-9/]|[.,][0-9])"
)


def read_amount(clean: str, start: int, end: int) -> Amount | None:
    """The digits `clean[start:end]` with the common fraction behind them; None where they are no one number.

    >>> read_amount("2 1/2", 0, 1)
    Amount(value=Decimal('2.5'), decimals=1, grouped=False, end=5)
    """
    written = clean[start:end]
    if not written[-1].isascii():
        return _fraction(_vulgar(written), end)
    digits = read_digits(written)
    if digits is None:
        return None
    fraction = _FRACTION.match(clean, end) if len(written) <= 3 and written.isdigit() else None  # noqa: PLR2004  else a year or an operand
    if fraction is None:
        return Amount(Decimal(digits.plain), digits.decimals, digits.grouped, end)
    whole = Decimal(written) if fraction["vulgar"] or fraction["over"] else Decimal(0)
    part = (
        _vulgar(fraction["vulgar"])
        if fraction["vulgar"]
        else _quotient(fraction["over"] or written, fraction["under"])
    )
    return None if part is None else _fraction(EXACT.add(whole, part), fraction.end())


def _fraction(value: Decimal, end: int) -> Amount:
    exponent = value.as_tuple().exponent
    return Amount(value, -exponent if isinstance(exponent, int) else 0, grouped=False, end=end)


def _quotient(over: str, under: str) -> Decimal | None:
    """Exact, or to 50 digits where it does not end; None for a zero below."""
    divisor = Decimal(under)
    return _QUOTIENT.divide(Decimal(over), divisor) if divisor else None


def _vulgar(sign: str) -> Decimal:
    """The value of a one-character fraction such as one half."""
    over, _, under = normalize("NFKC", sign).partition("\N{FRACTION SLASH}")
    return _quotient(over, under) or Decimal(0)  # U+2189 is zero thirds
