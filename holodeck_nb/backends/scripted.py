"""An agent that answers from a script: for tests, samples and offline runs."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from holodeck_nb.errors import ConfigError, Problem, SessionLostError, TurnError
from holodeck_nb.results.records import TokenUsage, ToolInvocation
from holodeck_nb.schema.script import SCRIPT, Script, ScriptedCall, ScriptedReply
from holodeck_nb.sync import in_thread

from .base import AgentSession, Message, Reply, SessionContext
from .function_tools import FunctionTools

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ScriptedBackend"]


class ScriptedBackend:
    """Answers each case from its own list of replies, one a turn; needs no network.

    Attributes:
        sent: By case, the texts that were sent, in order (of the latest session of that case).
        history: By case and turn, all texts that the agent had seen at that moment, its own answers included.

    Args:
        replies: By case name, or `#0` by place (from 0) for an unnamed or repeated one: a list with one reply
            a turn. A reply is a text, or a mapping with `text`, `tool_calls` (each with `name`, `args` and a
            `result` or `error`, or neither: then the suite's real function tool runs), `usage`, `delay_s`,
            `blocking_sleep_s`, `raise_` (the turn fails with this text), `fatal` (then the session is lost
            too), `model`, `finish_reason`, `refused`, `truncated`.

    Raises:
        ConfigError: The replies are not of that form.

    Example:
        >>> agent = ScriptedBackend({"net cash": ["206588", {"text": "25587", "truncated": True}]})
        >>> agent.sent
        {}
    """

    def __init__(self, replies: Mapping[str, Sequence[Any]]) -> None:
        self._script = _validated(replies)
        self.sent: dict[str, list[str]] = {}
        self.history: dict[str, list[list[str]]] = {}

    def check_cases(self, cases: Sequence[SessionContext]) -> None:
        """Refuse replies for a case that the suite does not have.

        Raises:
            ConfigError: Naming every such case, before anything is sent.
        """
        known = {key for case in cases for key in _keys(case)}
        unknown = [name for name in self._script if name not in known]
        names = ", ".join(repr(case.case) for case in cases[:10]) + (", …" if len(cases) > 10 else "")  # noqa: PLR2004 - a short list
        if unknown:
            raise ConfigError(
                Problem(
                    f"the script has replies for {name!r}, which is no case of the suite",
                    hint=f"its cases: {names or 'none'}",
                )
                for name in unknown
            )

    async def create_session(self, context: SessionContext) -> AgentSession:
        """A conversation that begins at the case's first reply."""
        replies = next((self._script[key] for key in _keys(context) if key in self._script), None)
        sent: list[str] = []
        history: list[list[str]] = []
        self.sent[context.case], self.history[context.case] = sent, history
        return _ScriptedSession(replies, context, sent, history)


class _ScriptedSession:
    def __init__(
        self,
        replies: Sequence[ScriptedReply] | None,
        context: SessionContext,
        sent: list[str],
        history: list[list[str]],
    ) -> None:
        self.partial: Reply | None = None
        self._replies = replies
        self._context = context
        self._sent = sent
        self._history = history
        self._said: list[str] = []

    async def send(self, message: Message) -> Reply:
        turn = len(self._sent)
        self.partial = None
        self._sent.append(message.text)
        self._said.append(message.text)
        self._history.append(list(self._said))
        reply = self._reply(turn)
        calls: list[ToolInvocation] = []
        for call in reply.tool_calls:
            calls.append(await self._run(call))
            self.partial = Reply("", tuple(calls))
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if reply.blocking_sleep_s:
            await in_thread(time.sleep, reply.blocking_sleep_s)
        if reply.raise_ is not None:
            raise SessionLostError(reply.raise_) if reply.fatal else TurnError(reply.raise_)
        self._said.append(reply.text)
        return Reply(
            reply.text,
            tuple(calls),
            usage=TokenUsage(**reply.usage.model_dump()) if reply.usage else None,
            model=reply.model,
            finish_reason=reply.finish_reason,
            refused=reply.refused,
            truncated=reply.truncated,
        )

    def _reply(self, turn: int) -> ScriptedReply:
        if self._replies is None:
            raise TurnError(f"the script has no replies for case {self._context.case!r}")
        if turn >= len(self._replies):
            raise TurnError(
                f"the script of case {self._context.case!r} ends after {len(self._replies)} replies"
            )
        return self._replies[turn]

    async def _run(self, call: ScriptedCall) -> ToolInvocation:
        if call.is_recorded:
            return ToolInvocation(call.name, call.args, result=call.result, error=call.error)
        tools = self._context.tools if self._context.tools is not None else FunctionTools()
        return await tools.run(call.name, call.args)

    async def close(self) -> None:
        """Nothing to give back."""


def _keys(case: SessionContext) -> tuple[str, ...]:
    """Under which names a script may hold the replies of a case."""
    return (case.case, f"#{case.index}")


def _validated(replies: Mapping[str, Sequence[Any]]) -> Script:
    try:
        return SCRIPT.validate_python(replies)
    except ValidationError as invalid:
        raise ConfigError(
            Problem(
                error["msg"], path=_path(error["loc"]), case=str(error["loc"][0]) if error["loc"] else None
            )
            for error in invalid.errors(include_url=False, include_context=False, include_input=False)
        ) from invalid


def _path(loc: tuple[int | str, ...]) -> str:
    steps = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return f"replies{steps}"
