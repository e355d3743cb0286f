"""What is kept of files: downloads by address, readings by content, under hashed names."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from holodeck_nb._version import __version__
from holodeck_nb.whole_files import unversioned_folder, write_whole

from .extraction import Extraction, ReadRequest
from .ocr import is_available

__all__ = ["FileCache", "KeptDownload", "content_hash"]

_LIBRARIES = ("openpyxl", "pypdf", "python-docx", "python-pptx", "pillow", "pytesseract")
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class KeptDownload:
    """A download that was kept.

    Attributes:
        path: The file; its name is the hash of its content.
        etag: What the server called this state of it; None where it said nothing.
        last_modified: The same as a date.
        fetched_at: ISO, UTC.
    """

    path: Path
    etag: str | None
    last_modified: str | None
    fetched_at: str

    @property
    def can_be_asked_about(self) -> bool:
        """Whether the server can say if it is still current."""
        return self.etag is not None or self.last_modified is not None


class FileCache:
    """A folder that several runs may use at once: a file in it is whole, and never changes under its name.

    An address is kept nowhere, only its hash: a signed one is as good as a password.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def key(self, digest: str, request: ReadRequest) -> str:
        """What a reading depends on: the content, what is asked of it, and who reads."""
        asked = json.dumps(replace(request, path="").to_plain(), sort_keys=True)
        eyes = f"pictures {request.ocr and is_available()}"
        parts = [digest, asked, eyes, __version__, *_versions()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def extraction(self, key: str) -> Extraction | None:
        """What was read before; None where nothing was, or it is damaged."""
        plain = _json_file(self.folder / "readings" / f"{key}.json")
        try:
            return None if plain is None else Extraction.from_plain(plain)
        except (KeyError, TypeError, ValueError):
            return None

    def keep_extraction(self, key: str, extraction: Extraction) -> None:
        """Keep it; a folder that cannot be written keeps nothing, and the run goes on."""
        with contextlib.suppress(OSError):
            self._write(Path("readings", f"{key}.json"), json.dumps(extraction.to_plain()).encode("ascii"))

    def download(self, url: str) -> KeptDownload | None:
        """What was fetched from this address before; None where nothing was, or it is damaged."""
        plain = _json_file(self._entry(url))
        try:
            if plain is None:
                return None
            path = self.folder / "downloads" / str(plain["content"])
            if content_hash(path) != plain["content"]:
                return None
            return KeptDownload(path, plain["etag"], plain["last_modified"], plain["fetched_at"])
        except (KeyError, TypeError, OSError):
            return None

    def keep_download(self, url: str, part: Path, told: dict[str, str | None]) -> Path | None:
        """Move a finished download in; returns where it lies, None where the folder cannot be written.

        The content comes first and the entry that names it last, so that nobody finds one without the other.
        """
        try:
            digest = content_hash(part)
            target = self._folder("downloads") / digest
            with contextlib.suppress(
                PermissionError
            ):  # Windows, where another run is reading the same content
                part.replace(target)
            entry = json.dumps({"content": digest, **told}).encode("ascii")
            self._write(self._entry(url).relative_to(self.folder), entry)
        except OSError:
            return None
        return target

    def part(self) -> Path:
        """A fresh file beside the others, for a download under way.

        Raises:
            OSError: The folder cannot be written.
        """
        handle, name = tempfile.mkstemp(prefix="part-", dir=self._folder("downloads"))
        os.close(handle)
        return Path(name)

    def _entry(self, url: str) -> Path:
        return self.folder / "addresses" / f"{hashlib.sha256(url.encode()).hexdigest()}.json"

    def _folder(self, name: str) -> Path:
        return unversioned_folder(self.folder / name, self.folder)

    def _write(self, place: Path, body: bytes) -> None:
        write_whole(self._folder(str(place.parent)) / place.name, body, private=True)


def content_hash(path: Path) -> str:
    """SHA-256 of a file's content, which is never in memory as a whole.

    Raises:
        OSError: It cannot be read.
    """
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _json_file(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


@cache
def _versions() -> tuple[str, ...]:
    """The libraries that read: a new version may read better."""
    found = []
    for name in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return tuple(found)
