"""A cell of a worksheet as text: what a person sees, without losing digits."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

__all__ = ["cell_text"]

# Excel keeps 15 digits; the rest of a float is noise (0.1 + 0.2).
_DIGITS = 15
_PLAIN_EXPONENTS = range(-10, 21)
_MIDNIGHT = time()

# What a number format holds beside digits: quoted and escaped text, colours and currencies, padding.
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|([-/ ().,:])')
_DECORATION = re.compile(r"\[[^\]]*\]|_.|\*.")


def cell_text(value: Any, number_format: str) -> str:
    """The value as text.

    Dates and times are ISO, percentages have their sign and all their digits, codes their leading zeros.

    >>> cell_text(0.1414, "0.0%"), cell_text(123, "00000"), cell_text(2009.0, "General")
    ('14.14%', '00123', '2009')
    """
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return _number_text(value, number_format)
        case datetime():
            return value.date().isoformat() if value.time() == _MIDNIGHT else value.isoformat(" ", "seconds")
        case date():
            return value.isoformat()
        case time():
            return value.isoformat("seconds")
        case timedelta():
            return _duration_text(value)
        case _:
            return str(value)


def _number_text(value: float, number_format: str) -> str:
    shown = _DECORATION.sub("", number_format.partition(";")[0])
    if "%" in re.sub(r'"[^"]*"|\\.', "", shown):
        return _plain_text(_decimal(value) * 100) + "%"
    whole = _decimal(value)
    if whole == whole.to_integral_value() and (coded := _code_text(int(whole), shown)) is not None:
        return coded
    return _plain_text(whole)


def _decimal(value: float) -> Decimal:
    return Decimal(value) if isinstance(value, int) else Decimal(format(value, f".{_DIGITS}g"))


def _plain_text(value: Decimal) -> str:
    """Without an exponent where that is short enough to read."""
    value = value.normalize()
    return format(value, "f") if value.adjusted() in _PLAIN_EXPONENTS or not value else str(value)


def _code_text(value: int, number_format: str) -> str | None:
    """A number in a format of nothing but zeros and text (`00000`, `000-00-0000`); None in any other one.

    A format with one zero, or with a decimal point, is no code: it shows a number.
    """
    literals = [
        (m.group(1) or m.group(2) or m.group(3) or "", m.span()) for m in _LITERAL.finditer(number_format)
    ]
    spans = {place: text for text, (start, end) in literals for place in range(start, end)}
    starts = {start: text for text, (start, _) in literals}
    pattern: list[tuple[bool, str]] = []
    for place, char in enumerate(number_format):
        if place in starts:
            pattern.append((False, starts[place]))
        elif place not in spans:
            if char != "0":
                return None
            pattern.append((True, char))
    zeros = sum(is_digit for is_digit, _ in pattern)
    if zeros <= 1 or any(text in {".", ","} for is_digit, text in pattern if not is_digit):
        return None
    digits = str(abs(value)).zfill(zeros)
    lead, rest = digits[: len(digits) - zeros], iter(digits[len(digits) - zeros :])
    shown, first = "", True
    for is_digit, text in pattern:
        if is_digit:
            shown += (lead if first else "") + next(rest)
            first = False
        else:
            shown += text
    return f"-{shown}" if value < 0 else shown


def _duration_text(value: timedelta) -> str:
    """Hours beyond a day stay hours: `[h]:mm:ss`."""
    seconds = round(value.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
