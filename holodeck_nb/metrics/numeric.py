"""Whether the number in the reply is the number in the ground truth, within a tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from holodeck_nb.matching.explanations import cut, how_they_differ, shown
from holodeck_nb.matching.numbers import NumberReading, read_number

from .base import GraderResult, MetricError, NotApplicableError
from .response_path import Path, ResponsePathError, extract, read_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holodeck_nb.matching.numbers import Candidate
    from holodeck_nb.schema.metrics import MetricConfig

    from .base import GraderContext, MetricSetup

__all__ = ["Numeric"]

# Numbers are read up to 300 digits and 307 powers of ten: no difference or product of two is rounded.
_EXACT = Context(prec=1000, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_TWELVE = Context(prec=12, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_CANDIDATES_SHOWN = 8
_PLAIN_DIGITS = 21
_PLAIN_ZEROS = -7


class _Mode(NamedTuple):
    """One way to take percent signs and scale words; both sides are read the same way."""

    percent_as: Literal["ratio", "points"]
    scale_words: Literal["apply", "ignore"]


class _Pair(NamedTuple):
    """Both numbers, read the same way."""

    expected: Decimal
    actual: Decimal
    reading: NumberReading
    target: Decimal  # what `actual` is compared with: `expected`, perhaps rounded

    @property
    def difference(self) -> Decimal:
        return _EXACT.abs(_EXACT.subtract(self.actual, self.target))


@dataclass(frozen=True, slots=True)
class Numeric:
    """Equal numbers: `|a-e| <= absolute` or `|a-e| <= relative * |e|`, both inclusive, in decimal arithmetic.

    Source: multi-turn spec, FR-018; contract, section 5.
    """

    id: str
    threshold: float | None
    fail_on_error: bool
    absolute: Decimal
    relative: Decimal
    modes: tuple[_Mode, ...]
    select: Literal["first", "last", "only"] | None
    accept_percent: bool
    accept_thousands_separators: bool
    rounding: bool
    path: Path | None

    kind: ClassVar[Literal["standard"]] = "standard"
    needs_ground_truth: ClassVar[bool] = True
    timeout_s: ClassVar[None] = None
    max_retries: ClassVar[int] = 0
    model: ClassVar[None] = None

    @classmethod
    def build(cls, config: MetricConfig, setup: MetricSetup) -> Numeric:
        """From a `StandardMetric`."""
        assert config.type == "standard"
        percent: Iterable[Literal["ratio", "points"]] = (
            ("ratio", "points") if config.percent_as == "either" else (config.percent_as,)
        )
        scale: Iterable[Literal["apply", "ignore"]] = (
            ("apply", "ignore") if config.scale_words == "either" else (config.scale_words,)
        )
        return cls(
            id=setup.id,
            threshold=config.threshold,
            fail_on_error=config.fail_on_error,
            absolute=Decimal(repr(config.absolute_tolerance)),
            relative=Decimal(repr(config.relative_tolerance)),
            modes=tuple(_Mode(*mode) for mode in product(percent, scale)),
            select=config.select,
            accept_percent=config.accept_percent,
            accept_thousands_separators=config.accept_thousands_separators,
            rounding=config.rounding == "answer",
            path=None if config.response_path is None else read_path(config.response_path),
        )

    async def measure(self, context: GraderContext) -> GraderResult:
        """1 where the numbers agree, else 0; an unreadable reply is 0 too, an unreadable truth an error."""
        if context.ground_truth is None:
            raise NotApplicableError("no ground truth on this turn")
        truths = [_truth(context.ground_truth, mode) for mode in self.modes]
        reply = context.agent_response
        if self.path is not None:
            try:
                reply = extract(reply, self.path)
            except ResponsePathError as error:
                return _unreadable(truths[0], f"response_path: {error}", ())
        pairs = []
        for mode, truth in zip(self.modes, truths, strict=True):
            reading = self._read(reply, mode)
            if reading.value is None:
                return _unreadable(truth, reading.reason or "no number", reading.candidates)
            target = _rounded(truth, reading, mode) if self.rounding else truth
            pairs.append(_Pair(truth, reading.value, reading, target))
            if self._agree(pairs[-1]):
                return GraderResult(score=1.0, passed=True, details=_details(pairs[-1]))
        return GraderResult(
            score=0.0, passed=False, reason=self._reason(pairs[0]), details=_details(pairs[0])
        )

    def _read(self, reply: str, mode: _Mode) -> NumberReading:
        return read_number(
            reply,
            select=self.select,
            accept_percent=self.accept_percent,
            accept_thousands_separators=self.accept_thousands_separators,
            percent_as=mode.percent_as,
            scale_words=mode.scale_words,
        )

    def _agree(self, pair: _Pair) -> bool:
        apart = pair.difference
        return apart <= self.absolute or (
            bool(self.relative) and apart <= _EXACT.multiply(self.relative, pair.target.copy_abs())
        )

    def _reason(self, pair: _Pair) -> str:
        tolerance = f"{float(self.absolute):.12g}"
        if self.relative:
            tolerance += f", or {float(self.relative):.12g} times the expected"
        notes = [f"difference {_plain(pair.difference)}, tolerance {tolerance}"]
        if note := how_they_differ(pair.target, pair.actual):
            notes.append(note)
        candidates = pair.reading.candidates
        if len(candidates) > 1 and pair.reading.chosen:
            notes.append(f"taken as the answer among {_listing(candidates)}")
        rounded = f", rounded {_plain(pair.target)}" if pair.target != pair.expected else ""
        return f"expected {_plain(pair.expected)}{rounded}, got {_plain(pair.actual)} ({'; '.join(notes)})"


@lru_cache(maxsize=1024)
def _truth(text: str, mode: _Mode) -> Decimal:
    """The ground truth's number; however it is written, the flags are about replies."""
    reading = read_number(text, percent_as=mode.percent_as, scale_words=mode.scale_words)
    if reading.value is None:
        raise MetricError(f"the ground truth {shown(text)} cannot be read as a number: {reading.reason}")
    return reading.value


def _rounded(truth: Decimal, reading: NumberReading, mode: _Mode) -> Decimal:
    """The truth, rounded to the digits that the reply shows; half of the last digit rounds either way."""
    chosen, actual = reading.chosen, reading.value
    assert chosen is not None
    assert actual is not None
    quantum = chosen.quantum
    if mode.scale_words == "ignore":
        quantum = _EXACT.divide(quantum, chosen.scale)
    if mode.percent_as == "points" and chosen.percent:
        quantum = _EXACT.multiply(quantum, Decimal(100))
    if _EXACT.multiply(_EXACT.abs(_EXACT.subtract(truth, actual)), Decimal(2)) <= quantum:
        return actual
    return truth.quantize(quantum, rounding=ROUND_HALF_UP, context=_EXACT)


def _unreadable(truth: Decimal, why: str, candidates: tuple[Candidate, ...]) -> GraderResult:
    details = {
        "actual": None,
        "expected": _number(truth),
        "difference": None,
        "span": None,
        "candidates": [candidate.text for candidate in candidates],
    }
    reason = f"expected {_plain(truth)}, but no number could be read: {why}"
    listed = f" (seen: {_listing(candidates)})" if candidates and candidates[-1].text not in why else ""
    return GraderResult(score=0.0, passed=False, reason=reason + listed, details=details)


def _details(pair: _Pair) -> dict[str, Any]:
    return {
        "actual": _number(pair.actual),
        "expected": _number(pair.expected),
        "difference": _number(_EXACT.abs(_EXACT.subtract(pair.actual, pair.expected))),
        "span": None if pair.reading.span is None else list(pair.reading.span),
        "candidates": [candidate.text for candidate in pair.reading.candidates],
    }


def _listing(candidates: tuple[Candidate, ...]) -> str:
    texts = [cut(" ".join(candidate.text.split()), 40) for candidate in candidates[:_CANDIDATES_SHOWN]]
    return ", ".join(texts) + (", …" if len(candidates) > _CANDIDATES_SHOWN else "")


def _number(value: Decimal) -> int | float:
    """As JSON holds it: whole numbers exactly, others as the nearest float."""
    return int(value) if value == value.to_integral_value(context=_EXACT) else float(value)


def _plain(value: Decimal) -> str:
    """As a person writes it: 25587, 0.141; far beyond that with twelve digits and an exponent."""
    if not value:
        return "0"
    if _PLAIN_ZEROS < value.adjusted() < _PLAIN_DIGITS:
        return cut(f"{value.normalize(_EXACT):f}")
    return str(value.normalize(_TWELVE))
