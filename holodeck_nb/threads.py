"""Daemon threads of our own for user code that blocks."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import queue
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["UserCodeExit", "in_thread"]

_IDLE_SECONDS = 30.0

_Job = Callable[[], Callable[[], None]]  # does the work and gives back what delivers its outcome


class UserCodeExit(Exception):  # noqa: N818 - it carries an exit, it is not one more kind of error
    """User code raised SystemExit, KeyboardInterrupt or the like; handed on as an ordinary exception.

    Raised as it is inside a task, such an exception would end the event loop that all cases share.
    """

    def __init__(self, original: BaseException) -> None:
        super().__init__(f"{type(original).__name__}: {original}")
        self.original = original

    @property
    def is_interrupt(self) -> bool:
        """Whether the user wants the whole run to stop."""
        return isinstance(self.original, KeyboardInterrupt)


class _Worker:
    """One daemon thread that does one job after the other, and ends when it has been idle for a while."""

    def __init__(self, idle: list[_Worker], job: _Job) -> None:
        self._idle = idle
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._jobs.put(job)
        threading.Thread(target=self._work, name="holodeck-user-code", daemon=True).start()

    def give(self, job: _Job) -> None:
        self._jobs.put(job)

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                try:
                    self._idle.remove(self)
                except ValueError:
                    continue  # somebody has just taken this worker: its job is on the way
                return
            deliver = job()
            self._idle.append(self)  # before anybody hears of the outcome and looks for a worker
            deliver()
            del job, deliver  # keeps no reply and no exception alive while idle


# A list's pop, append and remove are atomic. There is no upper bound: code that was abandoned after a timeout
# keeps its thread for as long as it likes, and the next case takes another one.
_idle: list[_Worker] = []


def _start(job: _Job) -> None:
    try:
        worker = _idle.pop()
    except IndexError:
        _Worker(_idle, job)
    else:
        worker.give(job)


async def in_thread(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call `function` in a daemon thread and wait for what it returns; context variables go along.

    A thread cannot be killed: where the waiting is cancelled (a timeout), the call goes on in the background,
    and what it returns is dropped. It delays neither other calls nor the end of the process.

    Raises:
        UserCodeExit: In place of SystemExit, KeyboardInterrupt and other exceptions that are no Exception.
        Exception: Whatever else the function raises.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def job() -> Callable[[], None]:
        value, error = None, None
        try:
            value = context.run(function, *args, **kwargs)
        except BaseException as raised:  # noqa: BLE001 - the border to user code: all it raises is handed back
            error = raised
        return functools.partial(deliver, value, error)

    def deliver(value: Any, error: BaseException | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, outcome, value, error)

    _start(job)
    return await outcome


def _settle(outcome: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if outcome.done():
        return
    if error is None:
        outcome.set_result(value)
    elif isinstance(error, Exception) and not isinstance(error, StopIteration):
        outcome.set_exception(error)
    else:  # a future takes no StopIteration either
        outcome.set_exception(UserCodeExit(error))
