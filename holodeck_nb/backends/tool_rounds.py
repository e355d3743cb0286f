"""One round of tool calls: all at once, answered in the order in which the model asked."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from dataclasses import replace

from holodeck_nb.errors import described
from holodeck_nb.llm.chat_model import ToolCall, ToolResult, ToolResults
from holodeck_nb.llm.readings import tool_result_text
from holodeck_nb.results.records import ToolInvocation
from holodeck_nb.sync import UserCodeExit

from .function_tools import FunctionTools

__all__ = ["ToolRound"]

_UNFINISHED = "no result received: the turn ended before the tool did"


class ToolRound:
    """The calls of one answer of the model, and what has become of them so far."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._calls = tuple(calls)
        self._outcomes: list[ToolInvocation | None] = [None] * len(self._calls)

    async def run(self, tools: FunctionTools) -> None:
        """Run all of them; whatever goes wrong with one is its outcome and stops no other.

        Raises:
            UserCodeExit: A tool raised KeyboardInterrupt.
        """
        interrupt: Exception | None = None
        try:
            async with asyncio.TaskGroup() as group:
                for place, call in enumerate(self._calls):
                    group.create_task(self._run_one(place, call, tools))
        except* UserCodeExit as faults:
            interrupt = faults.exceptions[0]
        if interrupt is not None:  # raised out here: IPython shows no error that has a group behind it
            raise interrupt

    async def _run_one(self, place: int, call: ToolCall, tools: FunctionTools) -> None:
        if call.args is None:
            outcome = ToolInvocation(call.name, None, error=call.fault, raw_args=call.raw_args)
        else:
            # A tool may change what it was given; the record keeps what the model said.
            done = await tools.run(call.name, copy.deepcopy(call.args))
            outcome = replace(done, args=call.args)
        self._outcomes[place] = replace(outcome, id=call.id)

    @property
    def invocations(self) -> tuple[ToolInvocation, ...]:
        """What is recorded: one a call, in order; a call without a result yet is an error."""
        return tuple(
            outcome
            or ToolInvocation(call.name, call.args, error=_UNFINISHED, raw_args=call.raw_args, id=call.id)
            for call, outcome in zip(self._calls, self._outcomes, strict=True)
        )

    def results(self) -> ToolResults:
        """What the model is told: one a call, in order, as it stands now."""
        return ToolResults(
            tuple(
                ToolResult(call.id, call.name, *_told(done))
                for call, done in zip(self._calls, self.invocations, strict=True)
            )
        )


def _told(done: ToolInvocation) -> tuple[str, bool]:
    if done.error is not None:
        return f"Error: {done.error}", True
    try:
        return tool_result_text(done.result), False
    except (TypeError, ValueError, RecursionError) as error:
        return f"Error: the result of {done.name} cannot be told: {described(error)}", True
