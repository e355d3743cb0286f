"""One exchange with a provider: attempts at a common pace until there is an answer or no hope."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .chat_model import Occasion
from .concessions import Concessions
from .faults import Fault, MalformedReplyError, Place, WireError, error_of
from .limiter import Limiter, shared_limiter
from .masking import Mask
from .wire import Wire

__all__ = ["Exchange", "LiveExchange", "Patience"]

_BACK_OFF_S = 0.5
_LONGEST_BACK_OFF_S = 8.0
_WORTH_TELLING_S = 0.1


class Exchange(Protocol):
    """Gives the reply to a request body; raises TurnError and its kind where there will be none."""

    async def send(self, body: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
        """One request, however many attempts it takes."""
        ...

    async def close(self) -> tuple[str, ...]:
        """Give back what it holds; what it returns are notices for the user."""
        ...


@dataclass(frozen=True)
class Patience:
    """How much is borne.

    Attributes:
        max_retries: How often a transient fault is tried again.
        most_at_once: How many requests may be under way; infinite where nothing limits them.
        unasked: The settings of a request that may be left out where the model refuses them.
        only_pace: Whether only a rate limit is waited for, since whoever asks tries again after other faults.
    """

    max_retries: int
    most_at_once: float
    unasked: frozenset[str] = frozenset()
    only_pace: bool = False

    def bears(self, fault: Fault) -> bool:
        """Whether a transient fault is tried again at all."""
        return self.max_retries > 0 and (fault.slows_down or not self.only_pace)


class LiveExchange:
    """Talks to the provider.

    Args:
        place: Whom we talk to.
        wire: How.
        check: Raises MalformedReplyError where a reply is not of the protocol's form.
        patience: What is borne.
        mask: Takes the secrets out of what the provider says.
    """

    def __init__(
        self, place: Place, wire: Wire, check: Callable[[Any], None], patience: Patience, mask: Mask
    ) -> None:
        self._place = place
        self._wire = wire
        self._check = check
        self._patience = patience
        self._mask = mask
        self._limiter: Limiter | None = None
        self._told = (0, 0.0)
        self._is_gone = False
        self._has_answered = False
        self._concessions = Concessions(patience.unasked)

    async def send(self, body: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
        """One request.

        Raises:
            TurnError: All attempts failed, or another one is of no use; SessionLostError and RunStoppedError
                where it means more than this turn.
        """
        limiter = self._limiter_here()
        body = self._concessions.adapted(body)
        attempts = counted = 0
        while True:
            attempts += 1
            async with limiter.slot(occasion.started) as sent:
                reply, fault = await self._attempt(body)
                if fault is None:
                    limiter.answered()
                    self._is_gone = False
                    self._has_answered = True
                    return reply
                wait = self._wait_s(fault, counted)
                fits = occasion.time_limit is None or time.monotonic() + wait < occasion.time_limit
                unfair = fault.slows_down and fits and limiter.refused(sent, fault.retry_after_s)
            if self._concessions.learns(body, fault):
                body = self._concessions.adapted(body)
                continue
            counted += not unfair
            # Where nobody has listened for the whole of one turn's attempts, the next turn asks but once.
            hopeless = not fault.is_transient or not self._patience.bears(fault)
            hopeless = hopeless or (fault.kind == "refused" and self._is_gone)
            if hopeless or not fits or counted > self._patience.max_retries:
                self._is_gone = fault.kind == "refused"
                note = "" if fits or hopeless or fault.retry_after_s is None else _too_long(wait, occasion)
                raise error_of(
                    fault.masked(self._mask(fault.text)),
                    self._place,
                    attempts=attempts,
                    note=note,
                    key_is_good=self._has_answered,
                )
            if not fault.slows_down:  # else the limiter makes all wait
                await asyncio.sleep(wait)

    async def close(self) -> tuple[str, ...]:
        """Close the connections, and tell how long we were made to wait."""
        await self._wire.close()
        if self._limiter is None:
            return ()
        refusals = self._limiter.refusals - self._told[0]
        waited_s = self._limiter.waited_s - self._told[1]
        self._limiter = None
        if not refusals:
            return ()
        times = "once" if refusals == 1 else f"{refusals} times"
        waiting = f", and requests waited {waited_s:.1f} s in all" if waited_s >= _WORTH_TELLING_S else ""
        return (f"{self._place.provider} asked {times} for a slower pace (rate limit){waiting}",)

    async def _attempt(self, body: Mapping[str, Any]) -> tuple[Mapping[str, Any], Fault | None]:
        try:
            reply = await self._wire.send(body)
            self._check(reply)
        except WireError as error:
            return {}, error.fault
        except MalformedReplyError as error:
            return {}, Fault("malformed", str(error))
        return reply, None

    def _wait_s(self, fault: Fault, counted: int) -> float:
        """How long until the next attempt; some of it by chance, so that not all come back at once."""
        if fault.retry_after_s is not None:
            return fault.retry_after_s
        longest = min(_BACK_OFF_S * 2**counted, _LONGEST_BACK_OFF_S)
        return float(longest * random.uniform(0.5, 1.0))  # noqa: S311 - no secret

    def _limiter_here(self) -> Limiter:
        if self._limiter is None:
            place = self._place
            limiter = shared_limiter(place.provider, place.endpoint, self._patience.most_at_once)
            self._limiter, self._told = limiter, (limiter.refusals, limiter.waited_s)
        return self._limiter


def _too_long(wait: float, occasion: Occasion) -> str:
    return f"it asks to wait {wait:g} s, and a turn may take {occasion.limit_s:g} s: execution.llm_timeout"
