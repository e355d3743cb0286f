"""Files that go with a turn's input."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from .scalars import Count, Flag, Model, NonBlank, Text, wrong

__all__ = ["FileInput", "FileType"]

FileType = Literal["image", "pdf", "text", "excel", "word", "powerpoint", "csv"]


class FileInput(Model):
    """One file, local or remote, and which part of it. Pages and slides count from 1."""

    path: NonBlank | None = None
    url: NonBlank | None = None
    type: FileType
    description: Text | None = None
    pages: tuple[Count, ...] | None = None
    slides: tuple[Count, ...] | None = None
    sheet: Text | None = None
    range: Text | None = None
    cache: Flag | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.path is None) is (self.url is None):
            found = "neither" if self.path is None else "both"
            raise wrong(f"a file has either `path` or `url`, got {found}")
        return self
