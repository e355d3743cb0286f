"""The one border between sync and async: run a coroutine from any cell, bound it, interrupt it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ClassVar, Generic, TypeVar

from .errors import ConfigError, Problem
from .threads import UserCodeExit, in_thread

__all__ = [
    "TimeLimitError",
    "UserCodeExit",
    "bounded",
    "call",
    "in_thread",
    "run_awaited",
    "run_on_notebook_loop",
    "run_sync",
]

T = TypeVar("T")
Tick = Callable[[], None]

_TICK_S = 0.1
# How long a cancelled task may take to put its things in order before it is left to itself; an interrupted
# cell must have control back within 2 s.
_UNWIND_S = 0.5
_INTERRUPT_UNWIND_S = 1.5


class TimeLimitError(TimeoutError):
    """The limit that we set is over; a TimeoutError of the user's own code is not one of these."""


async def bounded(work: Awaitable[T], seconds: float | None) -> T:
    """Wait for `work`, at most `seconds` (None: without a limit).

    Never waits much longer: work that swallows its cancellation is left to itself.

    Raises:
        TimeLimitError: The limit is over; the work has been cancelled.
        UserCodeExit: The work raised SystemExit, KeyboardInterrupt or the like, or cancelled itself.
        Exception: Whatever else the work raises.
    """
    task = asyncio.ensure_future(_contained(work))
    try:
        await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        await _unwind(task)
        raise
    if not task.done():
        await _unwind(task)
        raise TimeLimitError
    if task.cancelled():  # by itself; handed on as it is, it would end whoever waits here
        raise UserCodeExit(asyncio.CancelledError("it cancelled itself"))
    return task.result()


async def call(function: Callable[..., Any], /, *args: Any) -> Any:
    """Call the user's function: a coroutine function here, any other one in a thread; await what it returns.

    Raises:
        UserCodeExit: In place of SystemExit, KeyboardInterrupt and the like.
        Exception: Whatever else it raises.
    """
    if is_async(function):
        return await _contained(function(*args))
    value = await in_thread(function, *args)
    return await _contained(value) if inspect.isawaitable(value) else value


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine at once; also for objects with an async `__call__`."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - not whether it is callable: what its call is
    )


async def _contained(work: Awaitable[T]) -> T:
    """Hand on what would end the event loop (SystemExit and its kind) as an ordinary exception."""
    try:
        return await work
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:
        raise UserCodeExit(error) from error


async def _unwind(task: asyncio.Future[Any]) -> None:
    """Cancel, wait a moment, and let nobody complain about what an abandoned task raises later."""
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    task.cancel()
    await asyncio.wait({task}, timeout=_UNWIND_S)


class _LoopThread:
    """An event loop in a daemon thread that lives as long as the process.

    Never closed between runs, so that clients made in one run are good in the next one.
    """

    _current: ClassVar[_LoopThread | None] = None
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.process = os.getpid()
        self.thread = threading.Thread(target=self._serve, name="holodeck-loop", daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    @classmethod
    def get(cls) -> _LoopThread:
        """The one of this process; a new one where there is none (also in a forked child)."""
        with cls._lock:
            current = cls._current
            if current is None or current.process != os.getpid() or not current.thread.is_alive():
                current = cls._current = cls()
            return current


class _Running(Generic[T]):
    """Work under way in the loop thread, seen from another thread."""

    def __init__(self, work: Coroutine[Any, Any, T], home: _LoopThread) -> None:
        self._ended = threading.Event()
        self.future = asyncio.run_coroutine_threadsafe(self._run(work), home.loop)

    async def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await _contained(work)
        finally:
            self._ended.set()  # a cancelled future only says that somebody asked

    @property
    def ended(self) -> bool:
        """Whether the work has really unwound."""
        return self._ended.is_set()

    def cancel(self) -> None:
        """Ask the work to stop."""
        self.future.cancel()

    def wait(self, seconds: float) -> None:
        """Wait until the work has unwound, at most so long."""
        self._ended.wait(seconds)


def run_sync(work: Coroutine[Any, Any, T], tick: Tick) -> T:
    """Run to the end in the loop thread; `tick` is called on this thread ten times a second, and last.

    Works in a plain script, in any notebook cell, and inside another running event loop (which it blocks).

    Raises:
        KeyboardInterrupt: The user interrupted; the work has been cancelled, and control is back within 2 s.
        RuntimeError: Called from inside the work itself, where it would wait for ever.
    """
    home = _LoopThread.get()
    if threading.current_thread() is home.thread:
        work.close()
        raise RuntimeError("run() was called from inside a run: use `await suite.arun()` there")
    running = _Running(work, home)
    try:
        while True:
            done, _ = concurrent.futures.wait([running.future], timeout=_TICK_S)
            tick()
            if done:
                return running.future.result()
    except UserCodeExit as error:
        raise error.original from error
    except BaseException:
        # KeyboardInterrupt above all: raised on this thread, and the work must not go on behind its back.
        running.cancel()
        running.wait(_INTERRUPT_UNWIND_S)
        raise


async def run_awaited(work: Coroutine[Any, Any, T], tick: Tick) -> T:
    """The same from a coroutine: the caller's loop stays free, so that widgets and other cells live on.

    Raises:
        asyncio.CancelledError: The caller was cancelled or interrupted; so has been the work.
    """
    home = _LoopThread.get()
    if asyncio.get_running_loop() is home.loop:
        return await _ticking(asyncio.ensure_future(_contained(work)), tick)
    running = _Running(work, home)
    try:
        return await _ticking(asyncio.wrap_future(running.future), tick)
    except asyncio.CancelledError:
        running.cancel()
        deadline = time.monotonic() + _INTERRUPT_UNWIND_S
        while not running.ended and time.monotonic() < deadline:  # noqa: ASYNC110 - it ends on another loop
            await asyncio.sleep(_TICK_S / 10)
        raise
    except UserCodeExit as error:
        raise error.original from error


def run_on_notebook_loop(work: Coroutine[Any, Any, T], tick: Tick) -> T:
    """Run on the loop that is running right now, for agents whose clients were made there.

    The only place that patches an event loop (with nest-asyncio), and only when asked to.

    Raises:
        ConfigError: No loop is running, or this one cannot be patched; the message says which.
        KeyboardInterrupt: The user interrupted; the work has been cancelled.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        obstacle: str | None = "no event loop is running here, as it would in a notebook cell"
    else:
        obstacle = _obstacle_to_nesting(loop)
    if obstacle is not None:
        work.close()
        hint = "leave `loop` out: the run then has a loop of its own"
        raise ConfigError(
            [Problem(f"cannot run on the notebook's loop: {obstacle}", path="run(loop=…)", hint=hint)]
        )
    import nest_asyncio  # noqa: PLC0415 - it patches on import, and nobody else wants that

    nest_asyncio.apply(loop)
    task = loop.create_task(_ticking(asyncio.ensure_future(_contained(work)), tick))
    try:
        return loop.run_until_complete(task)
    except UserCodeExit as error:
        raise error.original from error
    except BaseException:
        task.cancel()
        loop.run_until_complete(asyncio.wait({task}, timeout=_INTERRUPT_UNWIND_S))
        raise


def _obstacle_to_nesting(loop: asyncio.AbstractEventLoop) -> str | None:
    if sys.version_info >= (3, 14):
        return "Python 3.14 no longer lets a running loop be entered again"
    if not isinstance(loop, asyncio.BaseEventLoop):
        return f"{type(loop).__module__} does not let a running loop be entered again (uvloop is such a one)"
    return None


async def _ticking(work: asyncio.Future[T], tick: Tick) -> T:
    """Wait for `work` and tick on this thread meanwhile; cancels it when cancelled itself."""
    try:
        while True:
            done, _ = await asyncio.wait({work}, timeout=_TICK_S)
            tick()
            if done:
                break
    except asyncio.CancelledError:
        await _unwind(work)
        raise
    return work.result()
