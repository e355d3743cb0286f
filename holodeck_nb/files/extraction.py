"""What is asked of a file's reader, and what it gives back."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

from holodeck_nb.errors import HolodeckError

__all__ = ["Extraction", "FileError", "ReadRequest"]


class FileError(HolodeckError):
    """This file cannot be given to the agent as the suite asks; the message says why and what would do."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """One file to read, and which part of it.

    Attributes:
        path: Where it lies on this machine.
        type: As in the suite: image, pdf, text, excel, word, powerpoint or csv.
        limit: How many characters may come back; reading stops there.
        pages: Pages or slides, from 1, in this order; None for all.
        sheet: A worksheet's name; None for every visible one.
        range: Cells (`A1:D20`, `B:C`, `2:5`); None for all that is visible.
        ocr: Whether pictures are to be read as text where the packages for it are there.
    """

    path: str
    type: str
    limit: int
    pages: tuple[int, ...] | None = None
    sheet: str | None = None
    range: str | None = None
    ocr: bool = False

    def to_plain(self) -> dict[str, Any]:
        """As JSON knows it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> ReadRequest:
        """The inverse of `to_plain`."""
        pages = plain["pages"]
        return cls(**{**plain, "pages": None if pages is None else tuple(pages)})


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read.

    Attributes:
        text: The content as text; "" for a picture that goes as it is.
        cut: Where reading stopped because of the limit ("on page 12 of 1000"); None where all is there.
        warnings: What a user should know of it, each a sentence without the file's name.
        facts: What the report tells beside it (`page_count`, `encoding`, …); JSON-compatible.
        images: Pictures for models that see.
    """

    text: str
    cut: str | None = None
    warnings: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    images: tuple[bytes, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """As JSON knows it."""
        return {
            "text": self.text,
            "cut": self.cut,
            "warnings": list(self.warnings),
            "facts": dict(self.facts),
            "images": [b64encode(image).decode("ascii") for image in self.images],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Extraction:
        """The inverse of `to_plain`.

        Raises:
            KeyError: It is something else, such as half a cache file.
        """
        return cls(
            text=plain["text"],
            cut=plain["cut"],
            warnings=tuple(plain["warnings"]),
            facts=MappingProxyType(dict(plain["facts"])),
            images=tuple(b64decode(image) for image in plain["images"]),
        )
