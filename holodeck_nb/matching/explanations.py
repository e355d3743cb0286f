"""Words for what does not fit: a value in short, and what two numbers that differ have in common."""

import math
import reprlib
from decimal import Decimal
from typing import Any

__all__ = ["cut", "how_they_differ", "shown"]

_TEXT_WIDTH = 80
_DIGITS_SHOWN = 40
_BITS_PRINTED = 14_000  # Python refuses to write an int of more than 4300 digits

_FACTORS = {
    Decimal(100): "100 times too large",
    Decimal("0.01"): "100 times too small",
    Decimal(1000): "1000 times too large",
    Decimal("0.001"): "1000 times too small",
}


class _Short(reprlib.Repr):
    """Python's repr, cut to one line; never raises, however deep or odd the value is."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = 5
        self.maxstring = self.maxother = _TEXT_WIDTH

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002 - reprlib hands it over
        """A whole number; a very long one by its length."""
        return _whole(x)


_short = _Short()


def shown(value: Any) -> str:
    """A value as a reason shows it: like Python writes it, but short.

    >>> shown("206,588"), shown(206588.0), shown(10**400)
    ("'206,588'", '206588.0', 'a whole number of 401 digits')
    """
    kind = type(value)
    if kind is int:
        return _whole(value)
    if kind is float or kind is bool or value is None:
        return repr(value)
    if isinstance(value, str):
        return repr(cut(str(value)))
    return " ".join(_short.repr(value).split())


def cut(text: str, width: int = _TEXT_WIDTH) -> str:
    """The text, or its beginning and its end where it is longer than `width`."""
    if len(text) <= width:
        return text
    tail = width // 4
    return f"{text[: width - tail - 1]}…{text[-tail:]}"


def how_they_differ(expected: Decimal, actual: Decimal) -> str | None:
    """The one step that lies between two numbers: the sign, a factor of 100 or 1000; None for anything else.

    >>> how_they_differ(Decimal("0.14"), Decimal("14"))
    '100 times too large'
    """
    if not expected or not actual or not (expected.is_finite() and actual.is_finite()):
        return None
    if actual == expected.copy_negate():
        return "the sign is opposite"
    # Where the magnitudes are far apart, a product would only cost time.
    if abs(actual.adjusted() - expected.adjusted()) > 3:  # noqa: PLR2004 - 1000 has three zeros
        return None
    return next((words for factor, words in _FACTORS.items() if actual == _scaled(expected, factor)), None)


def _scaled(number: Decimal, factor: Decimal) -> Decimal:
    """Exactly `number * factor` for a power of ten, however many digits the number has."""
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    return Decimal((sign, digits, exponent + factor.adjusted()))


def _whole(number: int) -> str:
    if number.bit_length() > _BITS_PRINTED:
        return f"a whole number of about {int(number.bit_length() * math.log10(2))} digits"
    text = str(number)
    return text if len(text) <= _DIGITS_SHOWN else f"a whole number of {len(text.lstrip('-'))} digits"
