"""Any Python callable as an agent: text in, text or Reply out."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holodeck_nb.errors import TurnError
from holodeck_nb.results.records import ToolInvocation
from holodeck_nb.sync import call

from .base import AgentSession, Message, Reply, SessionContext

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CallableBackend", "Conversation", "as_reply"]

_WITH_CONVERSATION = 2


@dataclass(frozen=True, slots=True)
class Conversation:
    """What an agent function may know beside the text it is to answer.

    Attributes:
        history: The earlier messages of this case, oldest first, each a dict with `role` (`user` or
            `assistant`) and `content`; a turn that broke off has its user message and no answer.
        case: The case's name.
        turn: From 0.
        images: The pictures that came with the text, as they are (PNG, JPEG, GIF or WebP).

    Example:
        >>> def agent(text, conversation):
        ...     return f"message {len(conversation.history) + 1} of {conversation.case}"
        >>> agent("and in 2008?", Conversation(history=(), case="net cash", turn=0))
        'message 1 of net cash'
    """

    history: tuple[dict[str, str], ...]
    case: str
    turn: int
    images: tuple[bytes, ...] = ()

    @property
    def messages(self) -> list[dict[str, str]]:
        """A fresh list of the history, to hand to a provider with the new message added."""
        return [dict(message) for message in self.history]


class CallableBackend:
    """Calls the user's function once a turn; a plain function runs in a thread, an async one on the loop."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"an agent is a function of the text; got {type(function).__name__}")
        self.function = function
        self._wants_conversation = _positional_parameters(function) >= _WITH_CONVERSATION

    async def create_session(self, context: SessionContext) -> AgentSession:
        """A conversation with a history of its own."""
        return _CallableSession(self.function, context, wants_conversation=self._wants_conversation)


class _CallableSession:
    def __init__(
        self, function: Callable[..., Any], context: SessionContext, *, wants_conversation: bool
    ) -> None:
        self._function = function
        self._context = context
        self._wants_conversation = wants_conversation
        # A function of the text alone is told what the pictures say, where that can be read.
        self.takes_images = wants_conversation
        self._history: list[dict[str, str]] = []
        self._turn = 0

    async def send(self, message: Message) -> Reply:
        conversation = Conversation(tuple(self._history), self._context.case, self._turn, message.images)
        self._turn += 1
        # The user's message stays, whatever becomes of the answer: a late one is dropped with this coroutine.
        self._history.append({"role": "user", "content": message.text})
        extra = (conversation,) if self._wants_conversation else ()
        reply = as_reply(await call(self._function, message.text, *extra))
        self._history.append({"role": "assistant", "content": reply.text})
        return reply

    async def close(self) -> None:
        """Nothing to give back."""


def as_reply(value: object) -> Reply:
    """What an agent returned, as a Reply.

    Raises:
        TurnError: It is neither text nor a Reply, or a Reply whose parts have the wrong types.
    """
    if isinstance(value, str):
        return Reply(str(value))
    if not isinstance(value, Reply):
        raise TurnError(f"the agent returned {_described(value)}; expected text or a Reply")
    text: Any = value.text  # users' code is not type-checked
    calls: Any = value.tool_calls
    if not isinstance(text, str):
        raise TurnError(f"the agent returned a Reply whose text is {_described(text)}; expected text")
    if not all(isinstance(call, ToolInvocation) for call in calls):
        raise TurnError("the agent returned a Reply whose tool_calls are not all ToolInvocations")
    return value if isinstance(calls, tuple) else replace(value, tool_calls=tuple(calls))


def _described(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _positional_parameters(function: Callable[..., Any]) -> int:
    """How many arguments it takes by position without being told more; 1 where it cannot be known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return _WITH_CONVERSATION
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional for parameter in parameters)
