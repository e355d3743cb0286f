"""One pace for all requests to one place: as fast as the provider lets us, slower when it says so."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary, WeakValueDictionary

__all__ = ["Limiter", "shared_limiter"]

_FIRST_INTERVAL_S = 0.05
_LONGEST_INTERVAL_S = 5.0
_MARGIN = 1.25
# After so many answers without a refusal, a little faster again.
_ANSWERS_TO_RECOVER = 8
_RECOVERY = 0.8


class Limiter:
    """Lets requests through in the order of their turns' age.

    A refusal (429, 529) stops all requests until the provider will see us again, halves how many go at once,
    and spaces them by what the provider has let through; a row of answers takes all that back step by step.

    Attributes:
        refusals: How often the provider has refused.
        waited_s: How long requests have waited here, added up.
    """

    def __init__(self, most_at_once: float = math.inf) -> None:
        self.refusals = 0
        self.waited_s = 0.0
        self._most_at_once = most_at_once
        self._at_once = most_at_once
        self._interval_s = 0.0
        self._opens_at = -math.inf
        self._slowed_at = -math.inf
        self._in_flight = 0
        self._answers = 0
        self._queue: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._alarm: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def slot(self, turn_started: float) -> AsyncIterator[float]:
        """Wait for the right to send one request; gives the moment from which it counts as sent."""
        asked = time.monotonic()
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._queue, (turn_started, next(self._numbers), ticket))
        self._admit()
        try:
            await ticket
        except asyncio.CancelledError:
            if ticket.done() and not ticket.cancelled():  # let in at the very moment it gave up
                self._leave()
            raise
        sent = time.monotonic()
        self.waited_s += sent - asked
        try:
            yield sent
        finally:
            self._leave()

    def refused(self, sent: float, retry_after_s: float | None) -> bool:
        """The provider wants a slower pace.

        Returns:
            Whether the request had been sent before we knew: then it had no fair chance, and another attempt
            is not counted.
        """
        now = time.monotonic()
        self.refusals += 1
        unfair = sent < self._slowed_at
        pause = _FIRST_INTERVAL_S * 4 if retry_after_s is None else retry_after_s
        self._opens_at = max(self._opens_at, now + pause)
        if not unfair:
            self._slowed_at = now
            self._at_once = max(1.0, min(self._at_once, float(self._in_flight)) // 2)
            paced = pause * _MARGIN / max(1, self._answers)
            paced = paced if self._interval_s == 0 else self._interval_s * 2
            self._interval_s = min(max(paced, _FIRST_INTERVAL_S), _LONGEST_INTERVAL_S)
        self._answers = 0
        return unfair

    def answered(self) -> None:
        """The provider has answered."""
        self._answers += 1
        if self._answers % _ANSWERS_TO_RECOVER == 0:
            self._at_once = min(self._most_at_once, self._at_once + 1)
            self._interval_s *= _RECOVERY
            if self._interval_s < _FIRST_INTERVAL_S:
                self._interval_s = 0.0
                self._at_once = self._most_at_once

    @property
    def opens_at(self) -> float:
        """When the next request may go (`time.monotonic()`), as far as the provider has said."""
        return self._opens_at

    def _leave(self) -> None:
        self._in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        """Let in whoever may go now, and set the alarm for the next one."""
        while self._queue and self._in_flight < self._at_once:
            now = time.monotonic()
            if now < self._opens_at:
                self._ring_in(self._opens_at - now)
                return
            ticket = heapq.heappop(self._queue)[-1]
            if ticket.done():  # its turn has ended
                continue
            ticket.set_result(None)
            self._in_flight += 1
            if self._interval_s:
                self._opens_at = now + self._interval_s

    def _ring_in(self, seconds: float) -> None:
        if self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(seconds, self._rung)

    def _rung(self) -> None:
        self._alarm = None
        self._admit()


_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakValueDictionary[tuple[str, str], Limiter]] = (
    WeakKeyDictionary()
)


def shared_limiter(provider: str, endpoint: str, most_at_once: float = math.inf) -> Limiter:
    """The limiter of a place, the same one for all that talk to it (agent and judges) in this event loop."""
    of_loop = _shared.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    limiter = of_loop.get((provider, endpoint))
    if limiter is None:
        limiter = of_loop[provider, endpoint] = Limiter(most_at_once)
    return limiter
