"""Secrets out of texts that others wrote: whole, in part, between stars, percent-encoded."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["Mask"]

_STARS = "***"
# Masking every "1" or "gpt" would leave no text readable; a real secret is longer.
_SHORTEST_SECRET = 6
_SHORTEST_PART = 8
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}")
_CHARACTER = re.compile(r"(?:%[0-9A-Fa-f]{2})+|\\u[0-9A-Fa-f]{4}|.", re.DOTALL)
# What providers write of a key that they refuse: `sk-pr***…***9xYz`.
_ABBREVIATED = re.compile(r"[\w+/=~.-]*(?:[*•]{2,}|\.{3,}|…|[xX]{4,})[\w+/=~*•….-]*")


class Mask:
    """Takes known secrets out of texts.

    >>> Mask(["KEY-7f3a-SECRET"])("key KEY%2D7f3a%2DSECRET is wrong (KEY-7f3…CRET)")
    'key *** is wrong (***)'
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple(
            sorted({each for each in secrets if len(each) >= _SHORTEST_SECRET}, key=len, reverse=True)
        )
        # Most texts hold nothing of a secret, and this tells so at once.
        self._parts = {
            secret.casefold()[place : place + _SHORTEST_PART]
            for secret in self._secrets
            for place in range(max(1, len(secret) - _SHORTEST_PART + 1))
        }

    def __call__(self, text: str) -> str:
        """The text with stars for every secret and every recognisable part of one."""
        folded = text.casefold()
        if not any(part in folded for part in self._parts) and not _ESCAPED.search(text):
            return _ABBREVIATED.sub(self._abbreviation, text) if self._secrets else text
        characters, places = _decoded(text)
        hidden = [False] * len(characters)
        for secret in self._secrets:
            _hide(secret, characters, hidden)
        masked: list[str] = []
        for place, is_hidden in enumerate(hidden):
            if not is_hidden:
                masked.append(text[places[place] : places[place + 1]])
            elif not place or not hidden[place - 1]:
                masked.append(_STARS)
        return _ABBREVIATED.sub(self._abbreviation, "".join(masked))

    def _abbreviation(self, found: re.Match[str]) -> str:
        """Stars alone for a secret of which the beginning or the end is shown."""
        shown = [part for part in re.split(r"[*•…]+|\.{3,}|[xX]{4,}", found[0]) if len(part) > 1]
        for secret in self._secrets:
            if any(secret.startswith(part) or secret.endswith(part) for part in shown):
                return _STARS
        return found[0]

    def data(self, value: Any) -> Any:
        """A value of JSON with every text in it masked."""
        if not self._secrets:
            return value
        match value:
            case str():
                return self(value)
            case dict():
                return {self(str(key)): self.data(item) for key, item in value.items()}
            case list() | tuple():
                return [self.data(item) for item in value]
            case _:
                return value


def _decoded(text: str) -> tuple[str, list[int]]:
    """The text with its percent and unicode escapes read, and where each character of it begins."""
    characters: list[str] = []
    places: list[int] = []
    for match in _CHARACTER.finditer(text):
        whole = match[0]
        if len(whole) > 1 and whole[0] == "%":
            read = bytes.fromhex(whole.replace("%", "")).decode("latin-1")
            characters.extend(read)
            places.extend(match.start() + 3 * step for step in range(len(read)))
        else:
            characters.append(whole.encode().decode("unicode_escape") if len(whole) > 1 else whole)
            places.append(match.start())
    return "".join(characters), [*places, len(text)]


def _hide(secret: str, text: str, hidden: list[bool]) -> None:
    """Mark every stretch of the text that is a long enough part of the secret."""
    folded, shortest = secret.casefold(), min(_SHORTEST_PART, len(secret))
    lowered = text.casefold() if len(text.casefold()) == len(text) else text
    place = 0
    while place <= len(text) - shortest:
        if lowered[place : place + shortest] not in folded:
            place += 1
            continue
        end = place + shortest
        while end < len(text) and lowered[place : end + 1] in folded:
            end += 1
        hidden[place:end] = [True] * (end - place)
        place = end
