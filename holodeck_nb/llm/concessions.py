"""What we give up when a model will not have a setting that nobody asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .faults import Fault

__all__ = ["Concessions"]

_REFUSED_SETTING, _NOT_ALLOWED = frozenset({400, 422}), 403
_OLD_NAME, _NEW_NAME = "max_tokens", "max_completion_tokens"
_OTHER_NAME = {_OLD_NAME: _NEW_NAME, _NEW_NAME: _OLD_NAME}
# Always our own wish, and given up together: one of them alone makes no sense.
_LOGPROBS = frozenset({"logprobs", "top_logprobs"})
# How servers word how many alternatives they tell at most.
_LIMIT = re.compile(
    r"(?i)(?:max(?:imum)?\b\D{0,20}|at most |between \d+ and |less than or equal to |<= ?)(\d{1,4})\b"
)
_NAMES_LOGPROBS = re.compile(r"(?i)log[ _-]?prob")


class Concessions:
    """What a model has refused so far.

    A reasoning model refuses a temperature and wants `max_completion_tokens`; an older server knows
    `max_tokens` alone; many tell no probabilities. The names of models do not tell, the refusal does.

    Args:
        unasked: The settings that are our defaults and nobody's wish.
    """

    def __init__(self, unasked: frozenset[str]) -> None:
        self._unasked = unasked
        self._dropped: set[str] = set()
        self._renamed: str | None = None
        self._most_logprobs: int | None = None

    def adapted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body without what was refused."""
        kept = {key: value for key, value in body.items() if key not in self._dropped}
        if self._renamed in kept:
            kept[_OTHER_NAME[self._renamed]] = kept.pop(self._renamed)
        if self._most_logprobs is not None and "top_logprobs" in kept:
            kept["top_logprobs"] = min(kept["top_logprobs"], self._most_logprobs)
        return kept

    def learns(self, body: Mapping[str, Any], fault: Fault) -> bool:
        """Whether the refusal is of such a kind that the body should be sent in another form.

        Args:
            body: As it was refused; another conversation may have learnt meanwhile what is wrong with it.
            fault: The refusal.
        """
        names_logprobs = not _LOGPROBS.isdisjoint(body) and _NAMES_LOGPROBS.search(fault.text) is not None
        # OpenAI refuses them as it refuses a key.
        if fault.status not in _REFUSED_SETTING and not (fault.status == _NOT_ALLOWED and names_logprobs):
            return False
        if names_logprobs:
            limit = _LIMIT.search(fault.text)
            if limit is not None and 0 < int(limit[1]) < body.get("top_logprobs", 0):
                self._most_logprobs = int(limit[1])
            else:
                self._dropped |= _LOGPROBS
        if self._renamed is None and _NEW_NAME in fault.text:
            # One name is told as what is wanted in place of the other, or as unknown.
            self._renamed = next((name for name in _OTHER_NAME if name in body), None)
        self._dropped |= {name for name in self._unasked if name in body and name in fault.text}
        return self.adapted(body) != body
