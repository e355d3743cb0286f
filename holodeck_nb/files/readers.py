"""The reader of each type of file; a new type is one new module and one line here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .kinds import check_kind
from .transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable

    from .extraction import Extraction, ReadRequest

__all__ = ["READERS", "read"]

READERS = {
    "csv": "delimited:read_csv",
    "excel": "excel:read_excel",
    "image": "pictures:read_image",
    "pdf": "pdf:read_pdf",
    "powerpoint": "powerpoint:read_powerpoint",
    "text": "plain_text:read_text",
    "word": "word:read_word",
}


def read(request: ReadRequest) -> Extraction:
    """Read one file, here and now; only a child process should do this to a file of unknown origin.

    Raises:
        FileError: It is not what the suite says, is damaged, or lacks the part that is asked for.
        Exception: Whatever a library says of a file that it cannot read.
    """
    check_kind(request.path, request.type)
    module, name = READERS[request.type].split(":")
    reader: Callable[[ReadRequest, Transcript], None] = getattr(
        import_module(f".{module}", __package__), name
    )
    out = Transcript(request.limit)
    reader(request, out)
    return out.extraction()
