"""What a run may cost: money, tokens, minutes; and what it has cost so far."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holodeck_nb.results.records import TurnResult

__all__ = ["Budget", "Spending"]

_S_A_MINUTE = 60


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a run; None is no limit."""

    usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None


class Spending:
    """What the turns played in this run have cost; unknown is counted apart, never as 0.

    >>> spending = Spending(Budget(tokens=100))
    >>> spending.reached() is None
    True
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._began = monotonic()
        self._turns = self._tokens = 0
        self._usd = 0.0
        self._cost_unknown = self._tokens_unknown = 0

    def add(self, turn: TurnResult) -> str | None:
        """Count a played turn; a warning where a limit cannot be kept for it, always the same text."""
        self._turns += 1
        cost, usage = turn.cost_usd, turn.usage
        self._usd += cost or 0.0
        self._cost_unknown += cost is None
        self._tokens += 0 if usage is None else usage.total_tokens or 0
        known = usage is not None and usage.complete and usage.is_known
        self._tokens_unknown += not known
        if self._budget.usd is not None and cost is None:
            return (
                "budget_usd cannot be kept for turns of unknown cost: they are not in the sum."
                " budget_tokens or max_minutes may hold instead"
            )
        if self._budget.tokens is not None and not known:
            return (
                "budget_tokens cannot be kept for turns of unknown usage: only what is known is in the sum."
                " max_minutes may hold instead"
            )
        return None

    def reached(self) -> str | None:
        """Which limit is reached, and what was spent; None while there is something left."""
        budget = self._budget
        turns = "1 turn" if self._turns == 1 else f"{self._turns:,} turns"
        if budget.usd is not None and self._usd >= budget.usd:
            return f"budget_usd of ${budget.usd:g} is reached after {turns}: {self._cost()}"
        if budget.tokens is not None and self._tokens >= budget.tokens:
            at_least = "at least " if self._tokens_unknown else ""
            spent = f"{at_least}{self._tokens:,} tokens, {self._cost()}"
            return f"budget_tokens of {budget.tokens:,} is reached after {turns}: {spent}"
        if budget.minutes is not None and monotonic() - self._began >= budget.minutes * _S_A_MINUTE:
            return f"max_minutes of {budget.minutes:g} is reached after {turns}: {self._cost()}"
        return None

    def _cost(self) -> str:
        if self._cost_unknown == self._turns:
            return "cost so far unknown"
        if self._cost_unknown:
            unknown = f"unknown for {self._cost_unknown:,} of {self._turns:,} turns"
            return f"cost so far at least ${self._usd:.4f} ({unknown})"
        return f"cost so far ${self._usd:.4f}"
