"""One run under way: the engine writes on its loop, listeners are called on the caller's thread."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from .engine.record import RunRecord
from .errors import described
from .results.events import Event, Listener, RunFinished
from .results.records import RunWarning
from .results.rollup import RunResult
from .sync import run_awaited, run_on_notebook_loop, run_sync
from .views.progress import Progress

__all__ = ["Road"]

T = TypeVar("T")


class Road(Generic[T]):
    """From a record to what the user gets, whatever happens on the way.

    Args:
        record: What is kept.
        travel: The way itself: fills the record, and tells the listener.
        arrived: What the user gets for a result and its journal.
        stranded: What is done with those of a way that ended early; None: the same.
        progress: What shows the way; None where nothing does.
    """

    def __init__(
        self,
        record: RunRecord,
        travel: Callable[[RunRecord, Listener], Coroutine[Any, Any, RunResult]],
        arrived: Callable[[RunResult, Path | None], T],
        *,
        stranded: Callable[[RunResult, Path | None], object] | None = None,
        progress: Progress | None,
    ) -> None:
        self._record = record
        self._travel = travel
        self._arrived = arrived
        self._stranded = stranded or arrived
        self._events: deque[Event] = deque()
        self._progress = progress

    def here(self, loop: Literal["own", "notebook"] = "own") -> T:
        """Come to the end before anything else happens in this cell.

        Raises:
            KeyboardInterrupt: The user interrupted; says how many turns are kept.
        """
        play = run_on_notebook_loop if loop == "notebook" else run_sync
        try:
            result = play(self._travel(self._record, self._events.append), self._paint)
            return self._arrived(result, self._record.journal)
        except KeyboardInterrupt as interrupt:
            self._ended_early("interrupted")
            kept = f"{self._record.turns_kept} turns are kept: hd.last_run() has them"
            raise KeyboardInterrupt(kept) from interrupt
        except BaseException as error:
            self._ended_early(f"the run broke: {type(error).__name__}")
            raise

    async def awaited(self) -> T:
        """The same from a coroutine, while other things go on."""
        try:
            travel = self._travel(self._record, self._events.append)
            return self._arrived(await run_awaited(travel, self._paint), self._record.journal)
        except (asyncio.CancelledError, KeyboardInterrupt):
            self._ended_early("interrupted")
            raise
        except BaseException as error:
            self._ended_early(f"the run broke: {type(error).__name__}")
            raise

    def _paint(self) -> None:
        """Show what has happened since the last time; a display that breaks must not cost the run."""
        while self._events:
            self._show(self._events.popleft())
        self._show(None)

    def _show(self, event: Event | None) -> None:
        """Hand an event to the progress, or let it paint."""
        if self._progress is None:
            return
        try:
            if event is None:
                self._progress.paint()
            else:
                self._progress(event)
        except Exception as error:  # noqa: BLE001 - a closed stream, a lost front end: the run is worth more
            self._progress = None
            self._record.warn(RunWarning(f"the progress display broke: {described(error)}"))

    def _ended_early(self, reason: str) -> None:
        """Keep what there is, and say so."""
        self._record.stop(reason)
        result = self._record.conclude()
        self._stranded(result, self._record.journal)
        self._events.append(RunFinished(result, self._record.duration_ms))
        self._paint()
