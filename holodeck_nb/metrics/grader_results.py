"""What the user's grader returned, as a score and a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

from holodeck_nb.matching.explanations import shown

from .base import GraderResult
from .json_values import json_value, plain_scalar

__all__ = ["ACCEPTED", "read_result"]

ACCEPTED = (
    "a bool, a number from 0 to 1, a mapping with `score` or `passed` (and `reason`, `details`), "
    "or a GraderResult"
)
_KEYS = ("score", "passed", "reason", "details")


def read_result(returned: Any) -> GraderResult:
    """Read a bool, a number, a mapping or a GraderResult; scalars of numpy and pandas included.

    Returns:
        Score and verdict as plain float and bool, at least one of them given; details JSON-compatible.

    Raises:
        TypeError: It is none of these, or not within its bounds; the message says what is wrong.
    """
    value = plain_scalar(returned)
    match value:
        case bool():
            return GraderResult(score=float(value), passed=value)
        case GraderResult():
            return _result({key: getattr(value, key) for key in _KEYS})
        case Mapping():
            unknown = [key for key in value if key not in _KEYS]
            if unknown:
                raise TypeError(f"the key {shown(unknown[0])} means nothing here")
            return _result(value)
        case Real() | Decimal():
            return GraderResult(score=_score(value))
        case _:
            raise TypeError("that is no result")


def _result(parts: Mapping[str, Any]) -> GraderResult:
    score, passed = plain_scalar(parts.get("score")), plain_scalar(parts.get("passed"))
    if passed is not None and not isinstance(passed, bool):
        raise TypeError(f"`passed` is {shown(passed)}, not a bool")
    if isinstance(score, bool):
        score, passed = float(score), score if passed is None else passed
    elif score is not None:
        score = _score(score)
    elif passed is None:
        raise TypeError("it has neither `score` nor `passed`")
    else:
        score = float(passed)
    reason, details = parts.get("reason"), parts.get("details")
    if reason is not None and not isinstance(reason, str):
        raise TypeError(f"`reason` is {shown(reason)}, not text")
    if details is not None and not isinstance(details, Mapping):
        raise TypeError(f"`details` is {shown(details)}, not a mapping")
    return GraderResult(score, passed, reason, None if details is None else json_value(details))


def _score(value: Any) -> float:
    if not isinstance(value, Real | Decimal):
        raise TypeError(f"`score` is {shown(value)}, not a number")
    number: Any = value  # Real promises no order
    try:
        within = 0 <= number <= 1
    except ArithmeticError:  # a signalling NaN
        within = False
    if not within:  # NaN is in no range
        raise TypeError(f"the score {shown(value)} is not within 0 and 1")
    return float(value)
