"""A provider's model: the conversation in the provider's own form, over an exchange or a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from holodeck_nb.errors import TurnError

from .chat_model import ChatRequest, Completion, Occasion
from .exchange import Exchange
from .faults import MalformedReplyError, Place
from .prices import cost_usd

__all__ = ["Dialect", "ProviderModel"]


class Dialect(Protocol):
    """How one protocol writes requests and replies; no network, no state."""

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """The request as JSON."""
        ...

    def completion(self, reply: Mapping[str, Any], request: ChatRequest) -> Completion:
        """Read a reply; MalformedReplyError where it is none."""
        ...

    def check(self, reply: Mapping[str, Any]) -> None:
        """Raise MalformedReplyError where it is none."""
        ...


class ProviderModel:
    """A ChatModel made of a dialect and an exchange.

    Attributes:
        place: Whom it talks to.
        exchange: How; a recording of it, or one that is recorded, may take its place.
    """

    def __init__(self, place: Place, dialect: Dialect, exchange: Exchange) -> None:
        self.place = place
        self.exchange = exchange
        self._dialect = dialect

    async def complete(self, request: ChatRequest, occasion: Occasion) -> Completion:
        """Answer one request; see ChatModel."""
        reply = await self.exchange.send(self._dialect.body(request), occasion)
        try:
            completion = self._dialect.completion(reply, request)
        except MalformedReplyError as error:
            raise TurnError(f"{self.place.provider} sent a malformed reply: {error}") from error
        model = completion.model or self.place.model
        return replace(completion, cost_usd=cost_usd(completion.usage, self.place.provider, model))

    async def close(self) -> tuple[str, ...]:
        """Close the exchange."""
        return await self.exchange.close()
