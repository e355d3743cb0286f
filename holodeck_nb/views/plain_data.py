"""Whatever a tool or grader gave back, made fit for JSON and for text files; and plain copies of it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import date, time
from decimal import Decimal
from enum import Enum
from typing import Any

__all__ = ["clean", "plain", "thawed"]

_DEEPEST = 100  # strict readers give up somewhere above that
_LONGEST_INT = 14_000  # bits, about 4,200 digits: Python itself refuses to write more than 4,300
_ALWAYS_FIT = frozenset({float, bool, type(None)})
_CONSTANTS = {None: "null", True: "true", False: "false"}


def clean(text: str) -> str:
    r"""The same text, fit for UTF-8: halves of surrogate pairs are joined, lone ones become U+FFFD.

    Example:
        >>> clean("net cash \ud800 2009") == "net cash \ufffd 2009"
        True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def plain(value: Any, *, levels: int = _DEEPEST) -> Any:
    """The value as strict JSON holds it: None, bool, int, float, str, lists, mappings with text keys.

    NaN and infinity become None. Text is kept (see `clean`), and so are the digits of a Decimal, as text.
    Dates become ISO text, sets sorted lists, bytes text, NumPy scalars and arrays numbers and lists, records
    with fields mappings; anything else becomes its `str`. What is nested deeper than `levels`, or in
    itself, is cut there with a note. `plain(plain(value)) == plain(value)`.

    Example:
        >>> from decimal import Decimal
        >>> plain({"b": Decimal("0.30"), "c": (1, float("nan"))})
        {'b': '0.30', 'c': [1, None]}
    """
    return _plain(value, levels)


def thawed(value: Any, *, levels: int = _DEEPEST) -> Any:
    """A copy for a cell of a DataFrame: dicts for mappings, lists for sequences, what they hold as it is.

    What could not be displayed, exported or sent to a notebook is made fit for it, as `plain` does: lone
    surrogates, whole numbers that Python will not write, objects that have no text, endless nesting.
    """
    return _thawed(value, levels)


def _thawed(value: Any, depth: int) -> Any:
    kind = type(value)
    # Most of what is in a run first, told without isinstance.
    if kind is str and value.isascii():
        return value
    if kind in _ALWAYS_FIT or (kind is int and value.bit_length() <= _LONGEST_INT):
        return value
    if depth == 0:
        return _note(value)
    if kind is list or kind is tuple:
        return [_thawed(item, depth - 1) for item in value]
    if kind is dict or isinstance(value, Mapping):
        # Plain texts are told here: a call for each would double what a frame of many arguments costs.
        return {
            key if type(key) is str and key.isascii() else _fit_key(key): (
                item if type(item) is str and item.isascii() else _thawed(item, depth - 1)
            )
            for key, item in value.items()
        }
    return [_thawed(item, depth - 1) for item in value] if isinstance(value, list | tuple) else _fit(value)


def _fit_key(key: Any) -> Any:
    return clean(key) if type(key) is str and not key.isascii() else key


def _fit(value: Any) -> Any:
    """The value itself where pandas can show it."""
    match value:
        case str():
            return clean(value)
        case int():
            return value if value.bit_length() <= _LONGEST_INT else plain(value)
        case Decimal():
            return str(value) if value.is_snan() else value
    try:
        return value if clean(shown := str(value)) == shown else plain(value)
    except Exception:  # noqa: BLE001 - the user's object: its own methods may do anything
        return plain(value)


def _plain(value: Any, depth: int) -> Any:
    match value:
        case None | True | False:
            return value
        case Enum():
            return _plain(value.value, depth - 1) if depth else _note(value)
        case str():
            return clean(str.__str__(value))  # of a subclass: the text itself
        case int():
            return int(value) if value.bit_length() <= _LONGEST_INT else hex(value)
        case float():
            return float(value) if math.isfinite(value) else None
        case date() | time():
            return value.isoformat()
        case bytes() | bytearray() | memoryview():
            return clean(bytes(value).decode("utf-8", "backslashreplace"))
        case _:
            return _note(value) if depth == 0 else _nested(value, depth - 1)


def _nested(value: Any, depth: int) -> Any:
    match value:
        case Mapping():
            return {_key(key): _plain(item, depth) for key, item in value.items()}
        case list() | tuple() | deque():
            return [_plain(item, depth) for item in value]
        case AbstractSet():
            return sorted((_plain(item, depth) for item in value), key=repr)
    try:
        return _plain(_unwrapped(value), depth)
    except Exception as error:  # noqa: BLE001 - the user's object: its own methods may do anything
        return f"<{type(value).__name__}: cannot be written, {type(error).__name__}>"


def _unwrapped(value: Any) -> Any:
    """The data of an object that carries some, else its text."""
    kind = type(value)
    if hasattr(kind, "tolist"):  # NumPy scalars and arrays, pandas series; told without importing either
        return value.tolist()
    if hasattr(kind, "model_dump"):
        return value.model_dump()
    if hasattr(kind, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in kind.__dataclass_fields__}
    return str(value)


def _key(key: Any) -> str:
    if isinstance(key, str):
        return clean(str.__str__(key))
    written = _CONSTANTS.get(key) if key is None or isinstance(key, bool) else None
    return written or clean(str(_plain(key, 1)))


def _note(value: Any) -> str:
    return f"<{type(value).__name__}: nested too deeply>"
