"""Whether the reply is the ground truth, to the letter or after what the suite allows to differ."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from holodeck_nb.matching.explanations import shown

from .base import GraderResult, NotApplicableError
from .response_path import Path, ResponsePathError, extract, read_path

if TYPE_CHECKING:
    from holodeck_nb.schema.metrics import MetricConfig

    from .base import GraderContext, MetricSetup

__all__ = ["Equality"]

_WIDTH = 80  # longer texts are shown from shortly before the first difference
_LEAD = 20
_LONG = 100_000  # a note on ten megabytes would take seconds
# ASCII punctuation, symbols included (as Python's `string.punctuation` has it), and what Unicode adds.
# A number stays what it is: its point, decimal comma and minus are none, its separators of thousands are.
_MARK = re.compile(r"[!-/:-@\[-`{-~]|[^\w\s]|_")
_PART_OF_A_NUMBER = re.compile(
    r"(?<=[0-9])\.(?=[0-9])|(?<=[0-9]),(?=[0-9])(?![0-9]{3}(?![0-9]))|(?<![\w)])-(?=[0-9.])"
)
_SENTENCE_FINAL = (".", "!", "?")


@dataclass(frozen=True, slots=True)
class Equality:
    """Equal text; strict unless the suite allows case, white space or punctuation to differ."""

    id: str
    threshold: float | None = None
    fail_on_error: bool = False
    case_insensitive: bool = False
    strip_whitespace: bool = False
    strip_punctuation: bool = False
    ignore_sentence_end: bool = False
    path: Path | None = None

    kind: ClassVar[Literal["standard"]] = "standard"
    needs_ground_truth: ClassVar[bool] = True
    timeout_s: ClassVar[None] = None
    max_retries: ClassVar[int] = 0
    model: ClassVar[None] = None

    @classmethod
    def build(cls, config: MetricConfig, setup: MetricSetup) -> Equality:
        """From a `StandardMetric`."""
        assert config.type == "standard"
        return cls(
            id=setup.id,
            threshold=config.threshold,
            fail_on_error=config.fail_on_error,
            case_insensitive=config.case_insensitive,
            strip_whitespace=config.strip_whitespace,
            strip_punctuation=config.strip_punctuation,
            # US4-1 passes "yes." for "Yes" with case_insensitive alone; an explicit false keeps the stop.
            ignore_sentence_end=config.case_insensitive
            and "strip_punctuation" not in config.model_fields_set,
            path=None if config.response_path is None else read_path(config.response_path),
        )

    async def measure(self, context: GraderContext) -> GraderResult:
        """1 where the texts are equal, else 0 with the place where they part."""
        expected, actual = context.ground_truth, context.agent_response
        if expected is None:
            raise NotApplicableError("no ground truth on this turn")
        if self.path is not None:
            try:
                actual = extract(actual, self.path)
            except ResponsePathError as error:
                return GraderResult(score=0.0, passed=False, reason=f"response_path: {error}")
        if actual == expected or self.normalized(actual) == self.normalized(expected):
            return GraderResult(score=1.0, passed=True)
        return GraderResult(score=0.0, passed=False, reason=_reason(expected, actual))

    def normalized(self, text: str) -> str:
        """The text without what may differ."""
        if self.case_insensitive:
            text = unicodedata.normalize("NFC", text).casefold()
        if self.strip_whitespace:
            text = " ".join(text.split())
        if self.strip_punctuation:
            text = _without_punctuation(text)
            if self.strip_whitespace:  # a dash between two words leaves two blanks behind
                text = " ".join(text.split())
        elif self.ignore_sentence_end and text.endswith(_SENTENCE_FINAL):
            text = text[:-1]
        return text


def _without_punctuation(text: str) -> str:
    kept = {found.start() for found in _PART_OF_A_NUMBER.finditer(text)}
    return _MARK.sub(lambda found: found[0] if found.start() in kept else _nothing(found[0]), text)


def _nothing(mark: str) -> str:
    """Nothing in place of punctuation; other signs beyond ASCII (€, ±, emoji) stay."""
    return "" if mark.isascii() or unicodedata.category(mark).startswith("P") else mark


def _reason(expected: str, actual: str) -> str:
    start = _first_difference(expected, actual) if max(len(expected), len(actual)) > _WIDTH else 0
    place = f" at character {start + 1}" if start > _LEAD else ""
    lead = max(0, start - _LEAD) if place else 0
    return f"expected {_from(expected, lead)}, got {_from(actual, lead)}{place}{_note(expected, actual)}"


def _first_difference(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _from(text: str, start: int) -> str:
    return shown(text) if not start else f"…{shown(text[start:])}"


def _note(expected: str, actual: str) -> str:
    """What would have to be allowed for the two to be equal, where one thing alone would do."""
    if not actual:
        return " (the reply is empty)"
    if max(len(expected), len(actual)) > _LONG:
        return ""
    for differ, option in (
        ("in case", "case_insensitive"),
        ("in white space", "strip_whitespace"),
        ("in punctuation", "strip_punctuation"),
    ):
        lenient = Equality("", **{option: True})  # type: ignore[arg-type]  # the options are all flags
        if lenient.normalized(expected) == lenient.normalized(actual):
            return f" (they differ {differ} only)"
    return ""
