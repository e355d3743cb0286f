"""The files of a turn: found or fetched, read, and told to the agent and to the report."""

from __future__ import annotations

import asyncio
import stat
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from holodeck_nb.results.records import FileRecord
from holodeck_nb.schema.files import FileInput
from holodeck_nb.sync import TimeLimitError, bounded, in_thread

from .blocks import message_text
from .cache import FileCache, content_hash
from .extraction import Extraction, FileError, ReadRequest
from .fetch import Fetched, fetched, name_of
from .limits import LARGE_BYTES, TURN_CHARACTERS, size_text
from .pool import read_in_child
from .readings import PARTS, Reading, blocks_of, record_of, warnings_of

__all__ = ["FileDesk", "FileSettings", "TurnFiles"]

# Reading them again costs less than looking them up.
_QUICK = frozenset({"csv", "text"})
_REMEMBERED = 32


@dataclass(frozen=True, slots=True)
class FileSettings:
    """How files are read and fetched. Times in seconds.

    Attributes:
        folder: Where relative paths begin.
        file_timeout: For reading one file.
        download_timeout: For fetching one file, all of it.
        max_retries: How often a broken download is tried again, inside `download_timeout`.
        cache_dir: Where downloads and readings are kept; None keeps nothing.
        at_once: How many files are read at the same time.
    """

    folder: Path
    file_timeout: float = 30.0
    download_timeout: float = 30.0
    max_retries: int = 2
    cache_dir: Path | None = None
    at_once: int = 2


@dataclass(frozen=True, slots=True)
class TurnFiles:
    """What the files of a turn came to.

    Attributes:
        text: The message: the files' blocks and the input.
        images: Pictures for the agent, in the order of the files.
        records: One a file, for the report.
        warnings: What a user should know; each names its file.
        error: Why the agent cannot be asked; None where all files were read.
    """

    text: str
    images: tuple[bytes, ...] = ()
    records: tuple[FileRecord, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str | None = None


class FileDesk:
    """Reads the files of one run's turns, a few at a time, and remembers the last ones."""

    def __init__(self, settings: FileSettings) -> None:
        self._settings = settings
        self._folder = settings.folder.absolute()
        self._cache = None if settings.cache_dir is None else FileCache(settings.cache_dir.absolute())
        self._places = asyncio.Semaphore(max(1, settings.at_once))
        self._fetching: dict[str, asyncio.Lock] = {}
        self._current: dict[str, Fetched] = {}
        self._read: OrderedDict[tuple[Any, ...], Extraction] = OrderedDict()

    async def read_all(self, files: Sequence[FileInput], question: str, *, sees: bool) -> TurnFiles:
        """Read the files of one turn; faults are values.

        Args:
            files: In the order in which the agent sees them.
            question: The turn's input.
            sees: Whether the agent takes pictures; one that does not gets the text in them.
        """
        readings = [Reading(file, _name(file)) for file in files]
        async with asyncio.TaskGroup() as group:
            for reading in readings:
                group.create_task(self._read_one(reading, sees=sees))
        warnings = tuple(f"{reading.name}: {text}" for reading in readings for text in warnings_of(reading))
        faults = [f"{reading.name}: {reading.error}" for reading in readings if reading.error is not None]
        if faults:
            records = tuple(record_of(reading, None) for reading in readings)
            return TurnFiles(question, records=records, warnings=warnings, error="; ".join(faults))
        blocks = blocks_of(readings)
        cuts = tuple(
            f"{block.name}: only a part was passed to the agent: it was cut {block.cut}; ask for a part of it"
            for block in blocks
            if block.cut is not None
        )
        return TurnFiles(
            message_text(blocks, question),
            images=tuple(image for r in readings if r.extraction for image in r.extraction.images),
            records=tuple(record_of(r, block) for r, block in zip(readings, blocks, strict=True)),
            warnings=warnings + cuts,
        )

    async def _read_one(self, reading: Reading, *, sees: bool) -> None:
        async with self._places:
            clock = perf_counter()
            try:
                if reading.asked.url is None:
                    path = self._folder / (reading.asked.path or "")
                    await self._read_at(path, reading, sees=sees)
                else:
                    await self._read_remote(reading.asked.url, reading, sees=sees)
            except FileError as error:
                reading.error = str(error)
            except OSError as error:  # it is gone, or the disk is full
                reading.error = f"it cannot be read: {error.strerror or type(error).__name__}"
            reading.duration_ms = (perf_counter() - clock) * 1000

    async def _read_remote(self, url: str, reading: Reading, *, sees: bool) -> None:
        """One download an address at a time: turns that share one wait for the first."""
        cache = self._cache if reading.asked.cache is not False else None
        settings = self._settings
        lock = self._fetching.setdefault(url, asyncio.Lock())
        async with lock:
            known = None if cache is None else self._current.get(url)
            if known is not None:
                reading.fetched = known
                await self._read_at(known.path, reading, sees=sees)
                return
            async with fetched(
                url, cache, seconds=settings.download_timeout, max_retries=settings.max_retries
            ) as file:
                reading.fetched = file
                if file.cached_path is not None:
                    self._current[url] = file  # one state of it for the whole run
                await self._read_at(file.path, reading, sees=sees)

    async def _read_at(self, path: Path, reading: Reading, *, sees: bool) -> None:
        asked, timeout = reading.asked, self._settings.file_timeout
        state = _state(path)
        reading.size = state.st_size
        if state.st_size > LARGE_BYTES:
            text = f"it has {size_text(state.st_size)}: reading it may take long"
            reading.warnings = (*reading.warnings, text)
        request = ReadRequest(
            path=str(path),
            type=asked.type,
            limit=TURN_CHARACTERS,
            pages=asked.pages or asked.slides if asked.type in PARTS["pages"] else None,
            sheet=asked.sheet,
            range=asked.range,
            ocr=asked.type == "pdf" or (asked.type == "image" and not sees),
        )
        seen = (request, state.st_mtime_ns, state.st_size)
        if seen in self._read:
            reading.extraction = self._read[seen]
            return
        cache = self._cache if asked.cache is not False and asked.type not in _QUICK else None
        key = None
        if cache is not None:
            try:
                digest = await bounded(in_thread(content_hash, path), timeout)
            except TimeLimitError:
                raise FileError(f"reading it took more than {timeout:g} s (execution.file_timeout)") from None
            key = cache.key(digest, request)
            reading.extraction = await in_thread(cache.extraction, key)
        if reading.extraction is None:
            reading.extraction = await read_in_child(request, timeout)
            if cache is not None and key is not None:
                await in_thread(cache.keep_extraction, key, reading.extraction)
        self._read[seen] = reading.extraction
        if len(self._read) > _REMEMBERED:
            self._read.popitem(last=False)


def _state(path: Path) -> Any:
    """Size and time of a file that is there, and is no device or pipe, which might never end."""
    try:
        state = path.stat()
    except (OSError, ValueError) as error:
        raise FileError(f"it cannot be opened: {getattr(error, 'strerror', None) or error}") from error
    if not stat.S_ISREG(state.st_mode):
        raise FileError("it is no ordinary file")
    return state


def _name(file: FileInput) -> str:
    return name_of(file.url) if file.url is not None else str(file.path)
