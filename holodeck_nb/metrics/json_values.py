"""What a grader wants shown, as JSON can hold it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import date, time
from decimal import Decimal
from enum import Enum
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any
from uuid import UUID

from holodeck_nb.matching.explanations import shown

__all__ = ["json_value", "plain_scalar"]

_MAX_DEPTH = 100
_MAX_BITS = 14_000  # Python refuses to write an int of more than 4300 digits
_FLOAT_BYTES = 8


def plain_scalar(value: Any) -> Any:
    """A scalar of numpy, pandas or the like as Python's own; anything else as it is.

    A float of less than 64 bits becomes the number that it prints as: float32(0.7) is 0.7.
    """
    if not hasattr(value, "dtype") or getattr(value, "ndim", 0) != 0 or not hasattr(value, "item"):
        return value
    plain = value.item()
    narrow = getattr(value, "itemsize", _FLOAT_BYTES) < _FLOAT_BYTES
    return float(str(value)) if narrow and isinstance(plain, float) else plain


def json_value(value: Any, path: str = "details", depth: int = 0) -> Any:
    """The value as dicts with text keys, lists, text, numbers, bools and None; NaN and infinity are None.

    Arrays and sets become lists; dates, paths, UUIDs and enums become text or their value.

    Raises:
        TypeError: Something in it is not JSON-serializable; the message says where.
    """
    if depth > _MAX_DEPTH:
        raise TypeError(f"{path[:40]}… is nested too deeply, which is not JSON-serializable")
    match value:
        case None | bool():
            return value
        case Enum():
            return json_value(value.value, path, depth + 1)
        case str():
            return str(value)
        case Mapping():
            return {
                _key(key, path): json_value(item, f"{path}[{shown(key)}]", depth + 1)
                for key, item in value.items()
            }
        case list() | tuple():
            return [json_value(item, f"{path}[{place}]", depth + 1) for place, item in enumerate(value)]
        case AbstractSet():
            return json_value(sorted(value, key=repr), path, depth + 1)
        case _:
            return _other(value, path, depth)


def _other(value: Any, path: str, depth: int) -> Any:
    """Numbers of every kind, arrays, dates and other values with an obvious text."""
    if hasattr(value, "dtype"):
        plain = (
            value.tolist() if getattr(value, "ndim", 0) and hasattr(value, "tolist") else plain_scalar(value)
        )
        if type(plain) is not type(value):  # a long double is its own plain value
            return json_value(plain, path, depth + 1)
    match value:
        case Integral() if int(value).bit_length() <= _MAX_BITS:
            return int(value)
        case Real() | Decimal() if not isinstance(value, Integral):
            number = float(value)
            return number if math.isfinite(number) else None
        case date() | time():
            return value.isoformat()
        case PurePath() | UUID():
            return str(value)
        case _:
            raise TypeError(f"{path} is not JSON-serializable: {shown(value)}")


def _key(key: Any, path: str) -> str:
    key = plain_scalar(key)
    match key:
        case str():
            return str(key)
        case None | bool():
            return {None: "null", True: "true", False: "false"}[key]
        case int() | float() | date() | UUID() | Enum():
            return str(json_value(key, path))
        case _:
            raise TypeError(f"{path} is not JSON-serializable: the key {shown(key)} is no text")
