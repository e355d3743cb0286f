"""The chat completions protocol, as OpenAI, Azure, Ollama and many other servers speak it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from holodeck_nb.results.records import TokenUsage

from .chat_model import (
    AssistantMessage,
    ChatMessage,
    ChatRequest,
    Completion,
    ToolCall,
    ToolResults,
    UserMessage,
)
from .faults import MalformedReplyError
from .logprobs import read_logprobs
from .readings import count, image_type, mapping, mappings, strict_schema, text
from .tool_arguments import CallIds, read_call

__all__ = ["ChatCompletions"]


class ChatCompletions:
    """Requests and replies of `POST …/chat/completions`.

    Attributes:
        settings: What is sent with every request beside the conversation: model, sampling, effort.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """The request as JSON."""
        system = [] if request.instructions is None else [{"role": "system", "content": request.instructions}]
        messages = [part for message in request.messages for part in _messages(message)]
        body: dict[str, Any] = {**self.settings, "messages": [*system, *messages]}
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": dict(tool.parameters),
                    },
                }
                for tool in request.tools
            ]
        if request.response_format is not None:
            body["response_format"] = _response_format(request.response_format)
        if request.top_logprobs:
            body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        return body

    def check(self, reply: Mapping[str, Any]) -> None:
        """See that there is a message in a reply.

        Raises:
            MalformedReplyError: There is none.
        """
        _answer(reply)

    def completion(self, reply: Mapping[str, Any], request: ChatRequest) -> Completion:
        """Read a reply; whatever is missing in it is unknown.

        Raises:
            MalformedReplyError: There is no message in it.
        """
        choice, message = _answer(reply)
        raw, calls = _sent_back(message, CallIds(request))
        finish_reason = text(choice.get("finish_reason"))
        refusal = text(message.get("refusal"))
        return Completion(
            message=AssistantMessage(raw),
            text=refusal or _visible(message.get("content")),
            tool_calls=tuple(calls),
            usage=_usage(reply.get("usage")),
            model=text(reply.get("model")),
            finish_reason=finish_reason,
            refused=bool(refusal) or finish_reason == "content_filter",
            truncated=finish_reason == "length",
            logprobs=read_logprobs(choice.get("logprobs")) if request.top_logprobs else None,
        )


def _answer(reply: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The first choice of a reply, and its message."""
    choice = next(iter(mappings(reply.get("choices"))), None)
    message = None if choice is None else choice.get("message")
    if choice is None or not isinstance(message, Mapping):
        raise MalformedReplyError("there is no message in its `choices`")
    return choice, message


def _messages(message: ChatMessage) -> Iterator[Mapping[str, Any]]:
    match message:
        case UserMessage(said, ()):
            yield {"role": "user", "content": said}
        case UserMessage(said, images):
            yield {"role": "user", "content": [{"type": "text", "text": said}, *map(_image, images)]}
        case AssistantMessage(raw):
            yield raw
        case ToolResults(results):
            for result in results:
                yield {"role": "tool", "tool_call_id": result.call_id, "content": result.text}


def _image(image: bytes) -> dict[str, Any]:
    url = f"data:{image_type(image)};base64,{base64.b64encode(image).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as the provider enforces it; strictly where it can be enforced as it is written."""
    strict = _requires_everything(schema)
    name = "".join(letter if letter.isalnum() else "_" for letter in str(schema.get("title") or "reply"))
    stated = strict_schema(schema) if strict else dict(schema)
    return {
        "type": "json_schema",
        "json_schema": {"name": name[:64], "schema": stated, "strict": strict},
    }


def _requires_everything(schema: object) -> bool:
    """Whether every object in it requires each of its properties, which strict output asks for."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object":
            properties = mapping(schema.get("properties"))
            closed = schema.get("additionalProperties", False) is False
            if not closed or set(properties) - set(schema.get("required") or ()):
                return False
        return all(_requires_everything(value) for value in schema.values())
    return not isinstance(schema, list | tuple) or all(map(_requires_everything, schema))


def _sent_back(message: Mapping[str, Any], ids: CallIds) -> tuple[dict[str, Any], list[ToolCall]]:
    """The message as later requests carry it, and its calls.

    It stays as received but for what no server would take back: nulls, ids that are missing or repeated,
    arguments that are no text.
    """
    raw = {key: value for key, value in message.items() if value is not None}
    raw.setdefault("role", "assistant")
    given = mappings(raw.pop("tool_calls", None))
    calls, sent = [], []
    for each in given:
        function = mapping(each.get("function"))
        name, arguments = function.get("name"), function.get("arguments")
        call = read_call(ids.unique(each.get("id")), name, arguments)
        calls.append(call)
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments if isinstance(arguments, Mapping) else {}, ensure_ascii=False)
        sent.append(
            {
                **each,
                "id": call.id,
                "type": "function",
                "function": {**function, "name": call.name, "arguments": arguments},
            }
        )
    if sent:
        raw["tool_calls"] = sent
    if "content" not in raw:
        raw["content"] = None if sent or "refusal" in raw else ""
    return raw, calls


def _visible(content: object) -> str:
    """The text of a message; of content in parts, that of its text parts."""
    if isinstance(content, str):
        return content
    return "".join(text(part.get("text")) or text(part.get("refusal")) or "" for part in mappings(content))


def _usage(reported: object) -> TokenUsage | None:
    usage = mapping(reported)
    prompt, completion = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    total = count(usage.get("total_tokens")) if prompt is None or completion is None else None
    details = mapping(usage.get("prompt_tokens_details"))
    cached = count(details.get("cached_tokens"))
    written = count(details.get("cache_write_tokens"))
    known = TokenUsage(prompt, completion, total, cache_creation_tokens=written, cache_read_tokens=cached)
    return None if known == TokenUsage() else known
