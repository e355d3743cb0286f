"""The messages protocol of Anthropic."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from holodeck_nb.results.records import TokenUsage

from .chat_model import AssistantMessage, ChatMessage, ChatRequest, Completion, ToolResults, UserMessage
from .faults import MalformedReplyError
from .readings import count, image_type, mapping, mappings, strict_schema, text
from .tool_arguments import CallIds, read_call

__all__ = ["Messages"]

_TRUNCATED = frozenset({"max_tokens", "model_context_window_exceeded"})


class Messages:
    """Requests and replies of `POST …/v1/messages`.

    Attributes:
        settings: What is sent with every request beside the conversation: model, sampling, effort.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """The request as JSON."""
        body: dict[str, Any] = {**self.settings, "messages": _alternating(request.messages)}
        if request.instructions is not None:
            body["system"] = request.instructions
        if request.tools:
            body["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": dict(tool.parameters),
                }
                for tool in request.tools
            ]
        if request.response_format is not None:
            schema = strict_schema(request.response_format)
            form = {"type": "json_schema", "schema": schema}
            body["output_config"] = {**body.get("output_config", {}), "format": form}
        return body

    def check(self, reply: Mapping[str, Any]) -> None:
        """See that there is a list of content blocks in a reply.

        Raises:
            MalformedReplyError: There is none.
        """
        if not isinstance(reply.get("content"), list):
            raise MalformedReplyError("there is no `content` in it")

    def completion(self, reply: Mapping[str, Any], request: ChatRequest) -> Completion:
        """Read a reply; whatever is missing in it is unknown.

        Raises:
            MalformedReplyError: There is no list of content blocks in it.
        """
        self.check(reply)
        ids = CallIds(request, "toolu")
        blocks, calls = [], []
        for block in mappings(reply["content"]):
            if block.get("type") == "text" and not block.get("text"):
                continue  # a request may hold no empty text
            sent = dict(block)
            if block.get("type") == "tool_use":
                call = read_call(ids.unique(block.get("id")), block.get("name"), block.get("input"))
                calls.append(call)
                sent |= {"id": call.id, "name": call.name, "input": call.args or {}}
            blocks.append(sent)
        stop_reason = text(reply.get("stop_reason"))
        said = "".join(text(block.get("text")) or "" for block in blocks if block.get("type") == "text")
        refused = stop_reason == "refusal"
        if refused and not said:
            said = text(mapping(reply.get("stop_details")).get("explanation")) or ""
        return Completion(
            message=AssistantMessage({"role": "assistant", "content": blocks}),
            text=said,
            tool_calls=tuple(calls),
            usage=_usage(reply.get("usage")),
            model=text(reply.get("model")),
            finish_reason=stop_reason,
            refused=refused,
            truncated=stop_reason in _TRUNCATED,
            paused=stop_reason == "pause_turn",
        )


def _alternating(messages: Iterable[ChatMessage]) -> list[dict[str, Any]]:
    """The messages with neighbours of one role joined: tool results first, then what the user says next.

    An answer without any content is left out: no request may hold one.
    """
    joined: list[dict[str, Any]] = []
    for message in messages:
        role, blocks = _blocks(message)
        if not blocks:
            continue
        if joined and joined[-1]["role"] == role:
            joined[-1]["content"] = [*joined[-1]["content"], *blocks]
        else:
            joined.append({"role": role, "content": blocks})
    return joined


def _blocks(message: ChatMessage) -> tuple[str, list[Mapping[str, Any]]]:
    match message:
        case UserMessage(said, images):
            return "user", [*map(_image, images), {"type": "text", "text": said}]
        case AssistantMessage(raw):
            return "assistant", list(raw["content"])
        case ToolResults(results):
            return "user", [
                {
                    "type": "tool_result",
                    "tool_use_id": result.call_id,
                    "content": result.text,
                    **({"is_error": True} if result.is_error else {}),
                }
                for result in results
            ]


def _image(image: bytes) -> dict[str, Any]:
    data = base64.b64encode(image).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": image_type(image), "data": data}}


def _usage(reported: object) -> TokenUsage | None:
    """Normalised: here `input_tokens` leaves out what was read from or written to the cache."""
    usage = mapping(reported)
    fresh, completion = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    read = count(usage.get("cache_read_input_tokens"))
    prompt = None if fresh is None else fresh + (written or 0) + (read or 0)
    known = TokenUsage(prompt, completion, cache_creation_tokens=written, cache_read_tokens=read)
    return None if known == TokenUsage() else known
