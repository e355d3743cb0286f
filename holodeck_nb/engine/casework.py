"""What playing and scoring again have in common: cases side by side, and an orderly end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from holodeck_nb.errors import described
from holodeck_nb.results.records import RunWarning
from holodeck_nb.sync import TimeLimitError, UserCodeExit, bounded, call

from .record import RunRecord

__all__ = ["CLOSE_TIMEOUT_S", "give_back", "side_by_side"]

CLOSE_TIMEOUT_S = 5.0

T = TypeVar("T")


async def side_by_side(items: Iterable[T], work: Callable[[T], Awaitable[None]], *, at_once: int) -> None:
    """Do the work for each item, in their order, so many at once.

    Raises:
        UserCodeExit: User code raised KeyboardInterrupt.
    """
    waiting = iter(items)

    async def work_on() -> None:
        for item in waiting:
            await work(item)

    interrupt: Exception | None = None
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(work_on())
    except ExceptionGroup as faults:
        interrupts, others = faults.split(UserCodeExit)
        if others is not None or interrupts is None:
            raise
        interrupt = interrupts.exceptions[0]
    if interrupt is not None:  # raised out here: IPython shows no error that has a group behind it
        raise interrupt


async def give_back(shared: object, record: RunRecord, what: str) -> None:
    """Let a backend, or the judges, give back what the whole run shared, and tell what they have to tell."""
    run_ended = getattr(shared, "run_ended", None)
    if run_ended is None:
        return
    try:
        for notice in await bounded(call(run_ended), CLOSE_TIMEOUT_S):
            record.warn(RunWarning(notice))
    except TimeLimitError:
        record.warn(RunWarning(f"the {what} did not close within {CLOSE_TIMEOUT_S:g} s"))
    except Exception as error:
        if isinstance(error, UserCodeExit) and error.is_interrupt:
            raise
        record.warn(RunWarning(f"closing the {what} failed: {described(error)}"))
