"""A script: what a scripted agent answers, by case and turn."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator
from pydantic_core import PydanticCustomError

from .scalars import Anything, Flag, FreeMapping, Model, NonBlank, Number, Text, Whole

__all__ = ["SCRIPT", "Script", "ScriptedCall", "ScriptedReply", "ScriptedUsage"]

Tokens = Annotated[Whole, Field(ge=0)]
Seconds = Annotated[Number, Field(ge=0)]


class ScriptedCall(Model):
    """One tool call. With `result` (or `error`) it is used as it is; without, the suite's real tool runs."""

    name: NonBlank
    args: FreeMapping = Field(default_factory=dict)
    result: Anything = None
    error: Text | None = None

    @property
    def is_recorded(self) -> bool:
        """Whether its outcome is given, so that no tool runs."""
        return bool({"result", "error"} & self.model_fields_set)


class ScriptedUsage(Model):
    """Tokens of one reply; what is left out is unknown."""

    prompt_tokens: Tokens | None = None
    completion_tokens: Tokens | None = None
    total_tokens: Tokens | None = None
    cache_creation_tokens: Tokens | None = None
    cache_read_tokens: Tokens | None = None

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        parts = (self.prompt_tokens, self.completion_tokens)
        if self.total_tokens is not None and self.total_tokens < sum(part or 0 for part in parts):
            raise PydanticCustomError("usage", "total_tokens is less than prompt plus completion")
        return self


def _spelled_out(value: Any) -> Any:
    """A bare text is a reply of that text."""
    if value is None:
        raise PydanticCustomError("script_reply", "expected a text or a mapping, got nothing")
    return {"text": value} if isinstance(value, str | int | float) else value


class ScriptedReply(Model):
    """One turn's answer.

    `delay_s` waits as a slow network does, `blocking_sleep_s` as code does that blocks; `raise_` fails the
    turn with this text, with `fatal` the session is lost as well.
    """

    text: Text = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    usage: ScriptedUsage | None = None
    delay_s: Seconds = 0.0
    blocking_sleep_s: Seconds = 0.0
    raise_: Text | None = None
    fatal: Flag = False
    model: Text | None = None
    finish_reason: Text | None = None
    refused: Flag = False
    truncated: Flag = False


Replies = tuple[Annotated[ScriptedReply, BeforeValidator(_spelled_out)], ...]
Script = dict[str, Replies]
SCRIPT: TypeAdapter[Script] = TypeAdapter(Script, config=ConfigDict(defer_build=True))
