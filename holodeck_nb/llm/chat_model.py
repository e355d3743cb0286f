"""What a chat model is to us: a request with the whole conversation in it, one completion back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from holodeck_nb.results.records import TokenUsage

__all__ = [
    "AssistantMessage",
    "ChatMessage",
    "ChatModel",
    "ChatRequest",
    "Completion",
    "Occasion",
    "TokenLogprobs",
    "ToolCall",
    "ToolResult",
    "ToolResults",
    "ToolSpec",
    "UserMessage",
]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants to be called.

    Attributes:
        id: Unique in the conversation; made up where the provider gave none.
        name: As the model says it.
        args: The arguments by name; None where they could not be read.
        raw_args: The text of the arguments where they could not be read; else None.
        fault: Why they could not be read; else None.
    """

    id: str
    name: str
    args: Mapping[str, Any] | None
    raw_args: str | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What is told to the model about one of its calls."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the user says, with images where there are some."""

    text: str
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said, in the provider's own form: thinking blocks, ids and unknown fields included."""

    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResults:
    """The results of all tool calls of the message before, in the order of the calls."""

    results: tuple[ToolResult, ...]


ChatMessage = UserMessage | AssistantMessage | ToolResults


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request: the conversation so far, and what the model may use for its answer.

    Attributes:
        messages: Oldest first; the last one is the user's, or tool results, or an answer to be continued.
        instructions: The system prompt; None for none.
        tools: The tools that the model may call.
        response_format: The JSON schema of the answer; None for free text.
        top_logprobs: How many likely tokens are to be told at each place of the answer, where the provider
            tells them at all; 0 for none.
    """

    messages: tuple[ChatMessage, ...]
    instructions: str | None = None
    tools: tuple[ToolSpec, ...] = ()
    response_format: Mapping[str, Any] | None = None
    top_logprobs: int = 0


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """One token of an answer, and what the model might have said in its place.

    Attributes:
        text: In UTF-8; a token may be a part of a character.
        logprob: The natural logarithm of its probability, at most 0.
        alternatives: The likeliest texts at this place with theirs, mostly the token itself among them.
    """

    text: bytes
    logprob: float
    alternatives: Mapping[bytes, float]


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of the model.

    Attributes:
        message: The message as it is to be sent back in later requests.
        text: The visible text, "" where there is none; of a refusal, the refusal.
        tool_calls: The tools that the model wants to be called, in its order.
        usage: The tokens of this request; None is unknown.
        cost_usd: None is unknown.
        model: The model as the provider names it; None is unknown.
        finish_reason: As the provider says it; None is unknown.
        refused: Whether the model, or a filter of the provider, refused.
        truncated: Whether the answer was cut off.
        paused: Whether the provider wants the answer sent back, to go on with it.
        logprobs: Its tokens in order, possibly with some around the text (thoughts, an end mark); None where
            they were not asked for, or not told.
    """

    message: AssistantMessage
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: TokenUsage | None = None
    cost_usd: float | None = None
    model: str | None = None
    finish_reason: str | None = None
    refused: bool = False
    truncated: bool = False
    paused: bool = False
    logprobs: tuple[TokenLogprobs, ...] | None = None


@dataclass(frozen=True, slots=True)
class Occasion:
    """On whose behalf a request is made.

    Attributes:
        conversation: Name and repeat of the case; what is recorded is found by it.
        started: When the turn began (`time.monotonic()`); older turns are served first.
        time_limit: When the turn's time is up (`time.monotonic()`); None for no limit.
        limit_s: How long the turn may take in all, for messages; None for no limit.
    """

    conversation: tuple[str, int] = ("", 0)
    started: float = 0.0
    time_limit: float | None = None
    limit_s: float | None = None


@runtime_checkable
class ChatModel(Protocol):
    """A model of a provider; used by many conversations at once, all in one event loop.

    `complete` raises TurnError for a fault of this request, SessionLostError where the conversation cannot go
    on, RunStoppedError where no conversation can. It may be cancelled at any await.
    """

    async def complete(self, request: ChatRequest, occasion: Occasion) -> Completion:
        """Answer one request."""
        ...

    async def close(self) -> tuple[str, ...]:
        """Give back what the model holds; what it returns are notices for the user, one a text."""
        ...
