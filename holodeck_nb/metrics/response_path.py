"""One value out of a reply that is JSON: `result.items[0].score`."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["Path", "ResponsePathError", "extract", "read_path"]

Path = tuple[str | int, ...]

_KEY = r"[^\W\d][\w-]*"
_PATH = re.compile(rf"{_KEY}(?:\[[0-9]+\])*(?:\.{_KEY}(?:\[[0-9]+\])*)*")
_STEP = re.compile(rf"({_KEY})|\[([0-9]+)\]")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)^[ \t]*\1", re.MULTILINE | re.DOTALL)
_KINDS = {dict: "dict", list: "list", str: "text", bool: "bool", type(None): "null"}


class ResponsePathError(Exception):
    """The reply holds nothing at the path; the message says how far it leads."""


class _Digits(str):  # noqa: SLOT000 - a str cannot have slots of its own
    """A number of the reply as it was written: 3.140 keeps its digits."""


def read_path(path: str) -> Path:
    """The steps of a path: keys, and places in lists.

    >>> read_path("data.items[0].score")
    ('data', 'items', 0, 'score')

    Raises:
        ValueError: It is no path.
    """
    if not _PATH.fullmatch(path):
        raise ValueError(f"{path!r} is no path; write keys and list places like 'result.items[0].score'")
    return tuple(key or int(place) for key, place in _STEP.findall(path))


def extract(reply: str, path: Path) -> str:
    """The text at the path: a number as it was written, true, false and null as Python writes them.

    The reply may be JSON itself, or hold it in one code fence.

    >>> extract('{"result": {"value": 31903.60}}', ("result", "value"))
    '31903.60'

    Raises:
        ResponsePathError: The reply is not JSON, or the path leads nowhere or to more than one value.
    """
    value, walked = _read(reply), ""
    for step in path:
        if isinstance(step, str):
            if not isinstance(value, dict):
                raise ResponsePathError(f"expected dict{_at(walked)}, got {_kind(value)}")
            walked = f"{walked}.{step}".lstrip(".")
            if step not in value:
                raise ResponsePathError(f"{walked} not found in the reply")
            value = value[step]
        else:
            if not isinstance(value, list):
                raise ResponsePathError(f"expected list{_at(walked)}, got {_kind(value)}")
            walked = f"{walked}[{step}]"
            if step >= len(value):
                raise ResponsePathError(f"{walked} is out of range: the list has {len(value)} items")
            value = value[step]
    if isinstance(value, dict | list):
        raise ResponsePathError(f"one value is wanted{_at(walked)}, but the leaf is {_kind(value)}")
    return str(value)


def _read(reply: str) -> Any:
    try:
        return _json(reply.strip().removeprefix("\ufeff"))
    except ValueError:
        pass
    found = []
    for fenced in _FENCE.finditer(reply):
        try:
            found.append(_json(fenced[2]))
        except ValueError:
            continue
    if len(found) == 1:
        return found[0]
    raise ResponsePathError(
        f"the reply holds {len(found)} code blocks of JSON, and only one can be meant"
        if found
        else "the reply is not JSON"
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_float=_Digits, parse_int=_Digits, parse_constant=_Digits)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _kind(value: Any) -> str:
    return "number" if isinstance(value, _Digits) else _KINDS[type(value)]


def _at(walked: str) -> str:
    return f" at {walked}" if walked else " at the top"
