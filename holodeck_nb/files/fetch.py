"""Remote files: fetched once, within a deadline over the whole download, and kept where that is wanted."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holodeck_nb.sync import in_thread

from .addresses import name_of
from .cache import FileCache
from .download import Answer, Download, TransientError, certificates, download
from .extraction import FileError

__all__ = ["Fetched", "fetched", "name_of"]

_FIRST_PAUSE_S = 0.25


@dataclass(frozen=True, slots=True)
class Fetched:
    """A remote file that is here now.

    Attributes:
        path: Where it lies.
        source: How it came: "downloaded", "kept copy, still current", …
        cached_path: Where it is kept; None where it is not.
        warnings: Sentences without the file's name.
    """

    path: Path
    source: str
    cached_path: str | None = None
    warnings: tuple[str, ...] = ()


@asynccontextmanager
async def fetched(
    url: str, cache: FileCache | None, *, seconds: float, max_retries: int
) -> AsyncIterator[Fetched]:
    """Have a remote file on the disk; one that is not kept is gone afterwards.

    A kept copy is used where the server says that it is current (by ETag or Last-Modified), where the server
    never says anything of the kind, and, with a warning, where the server cannot be asked.

    Raises:
        FileError: It cannot be had.
    """
    kept = None if cache is None else await in_thread(cache.download, url)
    if kept is not None and not kept.can_be_asked_about:
        text = (
            f"the copy fetched at {kept.fetched_at} was used: its server gives neither ETag nor "
            f"Last-Modified; `cache: false` fetches it anew"
        )
        yield Fetched(kept.path, "kept copy, not checked", str(kept.path), (text,))
        return
    await in_thread(certificates)
    part = await in_thread(_part, cache)
    try:
        try:
            answer = await _answer(Download(url, part, kept), seconds, max_retries)
        except TransientError as error:
            if kept is None:
                raise FileError(str(error)) from error
            text = f"the copy fetched at {kept.fetched_at} was used: {error}"
            yield Fetched(kept.path, "kept copy, server not reached", str(kept.path), (text,))
            return
        if answer.is_current and kept is not None:
            yield Fetched(kept.path, "kept copy, still current", str(kept.path))
            return
        place = None
        if cache is not None and answer.may_be_kept:
            place = await in_thread(cache.keep_download, url, part, _told(answer))
        yield Fetched(place or part, "downloaded", None if place is None else str(place))
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


async def _answer(wanted: Download, seconds: float, max_retries: int) -> Answer:
    """Try again what may pass, all tries and the pauses between them within one deadline."""
    try:
        async with asyncio.timeout(seconds):
            for attempt in range(max_retries):
                try:
                    return await download(wanted)
                except TransientError:
                    await asyncio.sleep(_FIRST_PAUSE_S * 2**attempt)
            return await download(wanted)
    except TimeoutError:
        text = f"the download took more than {seconds:g} s (execution.download_timeout)"
        raise TransientError(text) from None


def _told(answer: Answer) -> dict[str, Any]:
    return {
        "etag": answer.etag,
        "last_modified": answer.last_modified,
        "fetched_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _part(cache: FileCache | None) -> Path:
    """Where a download goes while it is under way: beside the kept ones where it may be kept."""
    if cache is not None:
        with contextlib.suppress(OSError):
            return cache.part()
    with tempfile.NamedTemporaryFile(prefix="holodeck-", delete=False) as file:
        return Path(file.name)
