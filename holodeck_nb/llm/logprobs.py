"""The tokens of an answer with their log probabilities, read without trust: all of them or none."""

from __future__ import annotations

from typing import Any

from .chat_model import TokenLogprobs
from .readings import mapping

__all__ = ["read_logprobs"]

_ROUNDING = 1e-3  # how far above 0 a logarithm may have been rounded


def read_logprobs(told: object) -> tuple[TokenLogprobs, ...] | None:
    """Read the `logprobs` of a choice; None where they are missing, or one of them cannot be read."""
    content = mapping(told).get("content")
    if not isinstance(content, list) or not content:
        return None
    try:
        return tuple(
            TokenLogprobs(*_token(each), _alternatives(each.get("top_logprobs"))) for each in content
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return None


def _token(told: Any) -> tuple[bytes, float]:
    """Its bytes, which are right for a part of a character too, else its text."""
    raw, logprob = told.get("bytes"), told["logprob"]
    if isinstance(logprob, bool) or not isinstance(logprob, int | float):
        raise TypeError("a logarithm is a number")
    if not logprob <= _ROUNDING:  # NaN is not
        raise ValueError("a probability is at most 1")
    text = bytes(raw) if raw and isinstance(raw, list) else told["token"].encode()
    return text, min(float(logprob), 0.0)


def _alternatives(told: Any) -> dict[bytes, float]:
    """By their text; of one that is told twice, the likelier."""
    return dict(sorted(map(_token, told or ()), key=lambda token: token[1]))
