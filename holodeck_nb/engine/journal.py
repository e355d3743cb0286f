"""The journal of a run: every finished turn is on disk before the next one of its case begins."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping
from io import FileIO
from pathlib import Path
from time import monotonic
from typing import Any

from holodeck_nb.sync import in_thread

from .journal_folder import JOURNAL, new_run_folder
from .journal_lines import journal_line

__all__ = ["FORMAT", "VERSION", "Journal", "is_open"]

FORMAT = "holodeck_nb journal"
VERSION = 1
_SYNC_EVERY_S = 1.0


class Journal:
    """Appends lines to a run's file; whatever the disk does, it only complains through `trouble`.

    What `write` has handed to the operating system outlives the process, however that ends: a turn costs one
    system call and waits for no disk. Only the machine's own crash could lose it, and so the disk is waited
    for (`secure`) at the end of cases, in a thread and at most once a second, and at the end of the run.

    Where it cannot write (a full disk), lines wait in memory and are written with the next one that can be;
    nothing is ever written in part.

    Attributes:
        path: The file; None where there is none.
        trouble: What went wrong and what to do, each only once; whoever reads it clears it.
    """

    def __init__(self, runs: Path) -> None:
        self.path: Path | None = None
        self.trouble: str | None = None
        self._runs = runs
        self._file: FileIO | None = None
        self._waiting: list[bytes] = []
        self._size = 0
        self._told: set[str] = set()
        self._secured_at = monotonic()

    @property
    def run_id(self) -> str | None:
        """The name of the run's folder."""
        return None if self.path is None else self.path.parent.name

    def begin(self) -> bool:
        """Make the run's folder and its file; False where that cannot be."""
        try:
            folder = new_run_folder(self._runs)
            self._file = FileIO(folder / JOURNAL, "xb")
        except OSError as error:
            self.trouble = (
                f"there is no journal, this run is in memory alone: cannot write in {self._runs}"
                f" ({error.strerror or error}). Keep it with run.save(folder), or name a folder that can be"
                " written: run(journal=…)"
            )
            return False
        self.path = folder / JOURNAL
        _lock(self._file)
        return True

    def write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Append lines, all or none of them; without a file they are dropped."""
        if self._file is None:
            return
        self._waiting += [journal_line(line) for line in lines]
        try:
            _write_all(self._file, b"".join(self._waiting))
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(self._size)
            self._complain(f"cannot be written ({error.strerror or error})")
        else:
            self._size += sum(map(len, self._waiting))
            self._waiting.clear()

    async def secure(self) -> None:
        """Wait until the disk has what was written, unless that was less than a second ago."""
        if self._file is None or monotonic() - self._secured_at < _SYNC_EVERY_S:
            return
        self._secured_at = monotonic()
        try:
            # A descriptor of its own: an interrupt may close the journal while the disk is still busy.
            descriptor = os.dup(self._file.fileno())
        except (OSError, ValueError):  # it has just been closed
            return
        problem = await in_thread(_synced_and_closed, descriptor)
        if problem is not None:
            self._complain(f"may not be on disk ({problem})")

    def close(self, *, secure: bool) -> None:
        """No more lines; `secure` waits for the disk."""
        if self._file is None:
            return
        problem = _synced(self._file.fileno()) if secure else None
        try:
            self._file.close()
        except OSError as error:  # network file systems tell late
            problem = problem or error.strerror or str(error)
        self._file = None
        if problem is not None:
            self._complain(f"may not be on disk ({problem})")

    def _complain(self, what: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self.trouble = (
                f"the journal {self.path} {what}: the run goes on in memory. Make room, and what is missing"
                " is written with the next turn; or keep the run with run.save(folder)"
            )


def is_open(path: Path) -> bool:
    """Whether a living process still writes this journal; False where that cannot be told."""
    if sys.platform == "win32":
        return False
    import fcntl  # noqa: PLC0415 - not on Windows

    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _lock(file: FileIO) -> None:
    """Let other processes see that the run is alive; the system takes the mark off when this one ends."""
    if sys.platform != "win32":
        import fcntl  # noqa: PLC0415 - not on Windows

        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _write_all(file: FileIO, block: bytes) -> None:
    """Write to the last byte: one call may take only a part, and say no on the next."""
    written = file.write(block) or 0
    while written < len(block):
        written += file.write(block[written:]) or 0


def _synced(descriptor: int) -> str | None:
    """Wait for the disk; what went wrong, None where nothing did."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        return error.strerror or str(error)
    return None


def _synced_and_closed(descriptor: int) -> str | None:
    try:
        return _synced(descriptor)
    finally:
        os.close(descriptor)
