"""Python's regular expressions with a time limit: a pattern that runs wild fails, and the run goes on."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LIMIT_S", "matches_whole"]

LIMIT_S = 1.0
"""How long one pattern may try one text, in seconds."""

_QUANTIFIER = re.compile(r"\{[0-9]*(?:,[0-9]*)?\}")
# What `regex` takes for something else than `re` does: `{e<=1}` and `[[:alpha:]]` are literal text in Python.
# Everything else that `regex` adds does not compile under `re`, and was refused while loading.
_TOKEN = re.compile(r"\\N\{[^}]*\}|\\.|[\[\]{]", re.DOTALL)


def matches_whole(pattern: str, text: str) -> bool:
    """Whether the pattern matches the whole text, by the rules of `re`.

    Raises:
        TimeoutError: It tried longer than `LIMIT_S`.
    """
    return _full_match(pattern)(text, timeout=LIMIT_S) is not None


@lru_cache(maxsize=1024)
def _full_match(pattern: str) -> Callable[..., Any]:
    import regex  # noqa: PLC0415 - 15 ms that a suite without patterns does not pay

    full_match: Callable[..., Any] = regex.compile(_in_pythons_sense(pattern)).fullmatch
    return full_match


def _in_pythons_sense(pattern: str) -> str:
    r"""Escape the brackets that mean something to `regex` alone.

    >>> print(_in_pythons_sense("a{2}[x[:y]{e}"))
    a{2}[x\[:y]\{e}
    """
    if "{" not in pattern and "[[" not in pattern and "[:" not in pattern:
        return pattern
    parts: list[str] = []
    read = 0
    class_start: int | None = None  # where the members of the character class begin that we are in
    for token in _TOKEN.finditer(pattern):
        parts.append(pattern[read : token.start()])
        read = token.end()
        found = token.group()
        if found == "[" and class_start is None:
            class_start = read + (pattern[read : read + 1] == "^")
        elif found == "]" and class_start is not None and token.start() != class_start:
            class_start = None  # a bracket that stands first is a member
        elif found == "[" or (
            found == "{" and class_start is None and not _QUANTIFIER.match(pattern, token.start())
        ):
            found = f"\\{found}"
        parts.append(found)
    return "".join(parts) + pattern[read:]
