"""What an agent is to us: a backend opens sessions, a session answers messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from holodeck_nb.results.records import TokenUsage, ToolInvocation

from .function_tools import FunctionTools

__all__ = ["AgentBackend", "AgentSession", "Message", "Reply", "SessionContext"]


@dataclass(frozen=True, slots=True)
class Message:
    """What a turn sends to the agent.

    Attributes:
        text: The turn's files, a named block each in their order, then its input.
        images: Images for models that see (PNG, JPEG, GIF or WebP); empty where there are none. Each has a
            block in the text, which says where it belongs.

    Example:
        >>> Message("what was net cash in 2009?").text
        'what was net cash in 2009?'
    """

    text: str
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent answers on one turn.

    Attributes:
        text: The final text; "" where the agent said nothing.
        tool_calls: Every call of this turn, in order.
        usage: Tokens over all requests of the turn; None is unknown.
        cost_usd: None is unknown.
        model: The model that answered; None is unknown.
        finish_reason: As the provider says it; None is unknown.
        refused: Whether the model refused.
        truncated: Whether the reply was cut off.

    Example:
        >>> Reply("25587", tool_calls=(ToolInvocation("subtract", {"a": 206588, "b": 181001}, 25587),)).text
        '25587'
    """

    text: str
    tool_calls: tuple[ToolInvocation, ...] = ()
    usage: TokenUsage | None = None
    cost_usd: float | None = None
    model: str | None = None
    finish_reason: str | None = None
    refused: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What a backend may know about the case it opens a session for.

    Attributes:
        case: The case's name as reports show it.
        index: The case's place in the suite, from 0.
        repeat: Which playing of the case this is, from 0.
        given_name: The name in the suite; None for an unnamed case.
        instructions: The system prompt; None where the suite gives none.
        tools: The suite's function tools, ready to call; empty where it has none.
        response_format: The JSON schema of the reply; None where the suite asks for none.
        turns: How many turns the case has.

    Example:
        >>> SessionContext(case="net cash", index=0).repeat
        0
    """

    case: str
    index: int
    repeat: int = 0
    given_name: str | None = None
    instructions: str | None = None
    tools: FunctionTools | None = None
    response_format: Mapping[str, Any] | None = field(default=None)
    turns: int = 0


@runtime_checkable
class AgentSession(Protocol):
    """One conversation with an agent; it remembers what was said.

    `send` raises TurnError for a fault of this turn alone and SessionLostError where the conversation cannot
    go on; any other exception counts as a TurnError. It may be cancelled at any await when the turn's time is
    up, and must then be ready for the next `send`. A session may keep what the broken turn had done so far in
    an attribute `partial: Reply | None`; its tool calls are then in the result. A session whose agent sees no
    pictures says `takes_images = False`: it is sent the text in them instead, or the turn is an error.

    Both methods may also be plain functions: they then run in a thread of our own.

    Example:
        >>> class EchoSession:
        ...     async def send(self, message):
        ...         return Reply(message.text)
        ...     async def close(self):
        ...         pass
        >>> isinstance(EchoSession(), AgentSession)
        True
    """

    async def send(self, message: Message) -> Reply:
        """Answer one message."""
        ...

    async def close(self) -> None:
        """Give back what the session holds; at most 5 s."""
        ...


@runtime_checkable
class AgentBackend(Protocol):
    """Opens a fresh session for each case; sessions of several cases may be open at once.

    A backend may also have `async def run_ended(self) -> Iterable[str]`: it is called when all sessions of a
    run are closed, gives back what they shared, and returns what the run should warn of.

    Example:
        >>> class Echo:
        ...     async def create_session(self, context):
        ...         return EchoSession()
        >>> class EchoSession:
        ...     async def send(self, message):
        ...         return Reply(message.text)
        ...     async def close(self):
        ...         pass
        >>> isinstance(Echo(), AgentBackend)
        True
    """

    async def create_session(self, context: SessionContext) -> AgentSession:
        """Open a session; SessionLostError or any other exception skips the case."""
        ...
