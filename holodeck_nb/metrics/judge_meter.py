"""Counts what judges are asked as it is asked, so that nothing is lost with a metric that is cut off."""

from __future__ import annotations

from contextvars import ContextVar

from holodeck_nb.results.judging import Judging

__all__ = ["UNKNOWN", "metered", "spent"]

UNKNOWN = Judging(1, cost_usd=None)
"""A request that is under way, or that ended without telling what it took."""

_SPENT: ContextVar[list[Judging]] = ContextVar("judge_meter")


def metered() -> list[Judging]:
    """Begin to count; what this task and those it starts ask from now on stands in the list."""
    parts: list[Judging] = []
    _SPENT.set(parts)
    return parts


def spent() -> list[Judging]:
    """The list that counts here; one that nobody reads where nobody counts."""
    return _SPENT.get([])
