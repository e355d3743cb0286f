"""A chat agent: a model of a provider, the suite's instructions and function tools, one tool loop."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from holodeck_nb.errors import SessionLostError, TurnError
from holodeck_nb.llm.chat_model import (
    ChatMessage,
    ChatModel,
    ChatRequest,
    Completion,
    Occasion,
    ToolSpec,
    UserMessage,
)
from holodeck_nb.results.records import TokenUsage, ToolInvocation

from .base import AgentSession, Message, Reply, SessionContext
from .function_tools import FunctionTools
from .tool_rounds import ToolRound

__all__ = ["ChatBackend", "ChatLimits"]


@dataclass(frozen=True)
class ChatLimits:
    """How far a turn may go.

    Attributes:
        turn_s: Seconds for a turn; the engine ends it then, and no wait is begun that would outlast it.
        rounds: How often the model may ask for tools, or to go on, on one turn.
        rounds_setting: Where `rounds` is set, for the message.
    """

    turn_s: float = 60.0
    rounds: int = 20
    rounds_setting: str = "openai.max_turns"


class ChatBackend:
    """Plays each case as a conversation with one model, whose connections live as long as the run."""

    def __init__(self, model: ChatModel, limits: ChatLimits | None = None) -> None:
        self._model = model
        self._limits = limits or ChatLimits()

    async def create_session(self, context: SessionContext) -> AgentSession:
        """A conversation in which nothing is said yet."""
        return _ChatSession(self._model, self._limits, context)

    async def run_ended(self) -> tuple[str, ...]:
        """Close the connections; what it returns are notices for the user."""
        return await self._model.close()


@dataclass
class _Turn:
    """What one turn has come to so far.

    Attributes:
        answers: Every answer of the model, in order.
        rounds: The tools that were called, in order; `open_round` is the one that is not answered yet.
        asking: Whether the model has been asked and has not answered yet.
    """

    answers: list[Completion] = field(default_factory=list)
    rounds: list[ToolRound] = field(default_factory=list)
    open_round: ToolRound | None = None
    asking: bool = False

    def reply(self, text: str = "") -> Reply:
        """The turn as a reply; of what was not finished, the usage is unknown."""
        usages = [answer.usage for answer in self.answers]
        costs = [answer.cost_usd for answer in self.answers]
        known = [cost for cost in costs if cost is not None]
        last = self.answers[-1] if self.answers else None
        calls: tuple[ToolInvocation, ...] = ()
        return Reply(
            text,
            tool_calls=sum((round_.invocations for round_ in self.rounds), calls),
            usage=TokenUsage.sum([*usages, None] if self.asking else usages),
            cost_usd=sum(known) if known and len(known) == len(costs) and not self.asking else None,
            model=None if last is None else last.model,
            finish_reason=None if last is None or self.asking else last.finish_reason,
            refused=last is not None and last.refused,
            truncated=last is not None and last.truncated,
        )


class _ChatSession:
    """One conversation.

    The history holds what is certain and nothing else. A turn that was given up may still be unwinding when
    the next one begins: it finds that it is no longer the current one, and changes nothing any more.
    """

    def __init__(self, model: ChatModel, limits: ChatLimits, context: SessionContext) -> None:
        self._model = model
        self._limits = limits
        self._context = context
        self._tools = context.tools if context.tools is not None else FunctionTools()
        self._told = tuple(ToolSpec(tool.name, tool.description, tool.json_schema) for tool in self._tools)
        self._history: list[ChatMessage] = []
        self._turn = _Turn()

    @property
    def partial(self) -> Reply | None:
        """What the latest turn has done so far; None where the model was not even asked."""
        return self._turn.reply() if self._turn.answers or self._turn.asking else None

    async def send(self, message: Message) -> Reply:
        if self._turn.open_round is not None:
            # The last turn broke off while its tools ran: no call may stay without a result.
            self._history.append(self._turn.open_round.results())
        turn = self._turn = _Turn()
        self._history.append(UserMessage(message.text, message.images))
        now = time.monotonic()
        occasion = Occasion(
            conversation=(self._context.case, self._context.repeat),
            started=now,
            time_limit=now + self._limits.turn_s,
            limit_s=self._limits.turn_s,
        )
        for _ in range(self._limits.rounds):
            completion = await self._asked(turn, occasion)
            if not completion.tool_calls and not completion.paused:
                return _final(turn)
            await self._run_tools(turn, completion)
        completion = await self._asked(turn, occasion)
        if not completion.tool_calls and not completion.paused:
            return _final(turn)
        raise SessionLostError(
            f"the model asked for tools, or to go on, more than {self._limits.rounds} times on one turn "
            f"({self._limits.rounds_setting})"
        )

    async def _asked(self, turn: _Turn, occasion: Occasion) -> Completion:
        """What the model answers to the history as it stands; its answer joins the history."""
        context = self._context
        request = ChatRequest(tuple(self._history), context.instructions, self._told, context.response_format)
        turn.asking = True
        completion = await self._model.complete(request, occasion)
        turn.asking = False
        turn.answers.append(completion)
        if turn is not self._turn:
            raise TurnError("this turn was given up before the model answered")
        self._history.append(completion.message)
        return completion

    async def _run_tools(self, turn: _Turn, completion: Completion) -> None:
        """Run what the model asks for; an answer without calls only wants to be sent back."""
        if not completion.tool_calls:
            return
        round_ = turn.open_round = ToolRound(completion.tool_calls)
        turn.rounds.append(round_)
        await round_.run(self._tools)
        if turn is not self._turn:
            raise TurnError("this turn was given up before its tools had ended")
        self._history.append(round_.results())
        turn.open_round = None

    async def close(self) -> None:
        """The connections are the backend's."""


def _final(turn: _Turn) -> Reply:
    """The turn's reply: the text of its last answer.

    Raises:
        TurnError: The answer was cut off before it had any text.
    """
    last = turn.answers[-1]
    if last.truncated and not last.text.strip():
        reason = last.finish_reason
        raise TurnError(
            f"output limit reached before any visible text (finish reason {reason!r}): raise model.max_tokens"
        )
    return turn.reply(last.text)
