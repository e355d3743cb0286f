"""Tool calls as providers send them: arguments that may be broken, ids that may be missing or repeated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from .chat_model import ChatRequest, ToolCall, ToolResults

__all__ = ["CallIds", "read_call"]


class CallIds:
    """The ids of one conversation's tool calls; gives out new ones where the provider's will not do."""

    def __init__(self, request: ChatRequest, prefix: str = "call") -> None:
        self._prefix = prefix
        rounds = [message for message in request.messages if isinstance(message, ToolResults)]
        self._taken = {result.call_id for round_ in rounds for result in round_.results}

    def unique(self, given: object) -> str:
        """The id itself if it is a text not used before in this conversation; else a new one."""
        if isinstance(given, str) and given and given not in self._taken:
            chosen = given
        else:
            number = len(self._taken) + 1
            while (chosen := f"{self._prefix}_{number}") in self._taken:
                number += 1
        self._taken.add(chosen)
        return chosen


def read_call(call_id: str, name: object, arguments: object) -> ToolCall:
    """Read a call; arguments that are no JSON object leave `args` None and say why.

    Blank arguments, and `null`, are those of a call without arguments: some servers send them so.

    >>> read_call("k1", "lookup", '{"cell": "r1').fault
    'the arguments are no JSON: Unterminated string starting at character 10'
    """
    named = name if isinstance(name, str) else ""
    if isinstance(arguments, Mapping):
        return ToolCall(call_id, named, dict(arguments))
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return ToolCall(call_id, named, {})
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments, default=str)
    try:
        value: Any = json.loads(raw, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        fault = f"the arguments are no JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
    except (ValueError, RecursionError) as error:
        fault = f"the arguments are no JSON: {error}"
    else:
        if value is None:
            return ToolCall(call_id, named, {})
        if isinstance(value, dict):
            return ToolCall(call_id, named, value)
        fault = f"the arguments must be a JSON object, got {_kind(value)}"
    return ToolCall(call_id, named, None, raw_args=raw, fault=fault)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _kind(value: object) -> str:
    match value:
        case list():
            return "a list"
        case str():
            return "a text"
        case _:
            return f"the value {value!r}"
