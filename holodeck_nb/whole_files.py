"""Files that are there whole or not at all, and folders that keep themselves out of version control."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path

__all__ = ["unversioned_folder", "write_whole"]

_BINARY = getattr(os, "O_BINARY", 0)  # without it, Windows would turn line ends round


def write_whole(target: Path, body: bytes | str, *, private: bool = False) -> None:
    """Write beside the place first, then move there: an older file is replaced only by a whole one.

    A link is followed, and an older file's rights stay as they are.

    Args:
        target: In a folder that exists.
        body: Text is written as UTF-8, its line ends as they are.
        private: Whether only this user may read it; else whoever usually may.

    Raises:
        OSError: It cannot be written there; nothing is left behind.
    """
    place = target.resolve()
    part = place.with_name(f".{uuid.uuid4().hex}.part")
    content = body.encode() if isinstance(body, str) else body
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600 if private else 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        with contextlib.suppress(FileNotFoundError):
            part.chmod(place.stat().st_mode)
        part.replace(place)
    except OSError as error:  # of the file beside it, which nobody has named
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        part.unlink(missing_ok=True)


def unversioned_folder(folder: Path, root: Path) -> Path:
    """Make `folder` below `root`, and a `.gitignore` in `root` that leaves all of it out; returns it.

    Raises:
        OSError: The folder cannot be made; a `.gitignore` that cannot be written is no fault.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ignore = root / ".gitignore"
    if not ignore.exists():
        with contextlib.suppress(OSError):
            ignore.write_text("*\n", encoding="utf-8")
    return folder
