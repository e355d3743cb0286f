"""What the judges of a run were asked, and what that cost; apart from the agent's tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .records import TokenUsage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .records import MetricResult

__all__ = ["JUDGING", "Judging"]

JUDGING = "judging"
"""Where a judged metric's details tell of it."""

_TOKENS = ("prompt_tokens", "completion_tokens", "total_tokens", "cache_creation_tokens", "cache_read_tokens")


@dataclass(frozen=True, slots=True)
class Judging:
    """The requests behind one judged metric, or behind many.

    Attributes:
        requests: How many a model was asked.
        cached: How many answers were known from before; they cost nothing now.
        usage: The tokens of `requests`; None is unknown, or that there were none.
        cost_usd: Of `requests`; None as soon as one of them is unknown.
    """

    requests: int = 0
    cached: int = 0
    usage: TokenUsage | None = None
    cost_usd: float | None = 0.0

    @classmethod
    def sum(cls, parts: Iterable[Judging]) -> Judging:
        """All of them together; a part that asked nothing makes nothing unknown."""
        parts = list(parts)
        asked = [part for part in parts if part.requests]
        costs = [part.cost_usd for part in asked]
        known = [cost for cost in costs if cost is not None]
        return cls(
            sum(part.requests for part in parts),
            sum(part.cached for part in parts),
            TokenUsage.sum(part.usage for part in asked),
            sum(known) if len(known) == len(costs) else None,
        )

    @classmethod
    def of(cls, result: MetricResult) -> Judging | None:
        """What a metric's details tell; None where no judge was at work."""
        told = None if result.model is None or result.details is None else result.details.get(JUDGING)
        return cls.read(told) if isinstance(told, Mapping) else None

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Judging:
        """The inverse of `told`, also of what a file holds; what cannot be read is unknown."""
        counts = {name: _count(told.get(name)) for name in _TOKENS}
        usage = None
        if any(count is not None for count in counts.values()):
            try:
                usage = TokenUsage(**counts, complete=told.get("usage_complete") is not False)
            except ValueError:
                usage = None
        cost = told.get("cost_usd")
        return cls(
            _count(told.get("requests")) or 0,
            _count(told.get("cached")) or 0,
            usage,
            float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
        )

    def told(self) -> dict[str, Any]:
        """As details show it; JSON-compatible, what is unknown left out."""
        told: dict[str, Any] = {"requests": self.requests, "cached": self.cached}
        if self.usage is not None:
            counts = {name: getattr(self.usage, name) for name in _TOKENS}
            told |= {name: count for name, count in counts.items() if count is not None}
            if not self.usage.complete:
                told["usage_complete"] = False
        if self.cost_usd is not None:
            told["cost_usd"] = self.cost_usd
        return told


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
