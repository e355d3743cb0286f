"""The facts about each number that a text holds."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

from .number_digits import EXACT

_ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One number of a text: its value is the written digits times scale times unit, with the sign."""

    value: Decimal
    text: str
    """The characters that were read, as they stand in the original."""
    span: tuple[int, int]
    """Their place in the original text; the end is exclusive."""
    percent: bool = False
    """Written with %, percent, …: `value` is the ratio already."""
    grouped: bool = False
    """Written with thousands separators."""
    decimals: int = 0
    """Digits shown after the point (-2 for 1.2e3, which is exact to hundreds)."""
    scale: Decimal = _ONE
    """What words such as million stand for."""
    unit: Decimal = _ONE
    """0.01 for percent, 0.001 for per mille, 0.0001 for basis points, else 1."""
    currency: str | None = None

    @property
    def unscaled(self) -> Decimal:
        """The value without its scale word: 1.2 for "1.2 million"."""
        shown = _ONE.scaleb(min(0, self.unit.adjusted() - self.decimals))
        return self.value.scaleb(-self.scale.adjusted(), EXACT).quantize(shown, context=EXACT)

    @property
    def quantum(self) -> Decimal:
        """What one unit of the last digit shown is worth: 0.001 for "14.1%", 100000 for "1.2 million"."""
        return _ONE.scaleb(self.scale.adjusted() + self.unit.adjusted() - self.decimals)


Role = Literal["number", "year", "label", "range", "date", "malformed", "out of range"]


class Piece(NamedTuple):
    """A number in the cleaned text, or what looks like one and is refused (then without candidate)."""

    role: Role
    start: int
    end: int
    candidate: Candidate | None = None
    percent: bool = False
