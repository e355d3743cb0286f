"""The JSON schema that replies must have, in place or in a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holodeck_nb.schema.values import untyped

from .places import Places
from .suite_file import read_file

__all__ = ["load_response_format"]


def load_response_format(stated: Any, folder: Path) -> Mapping[str, Any] | None:
    """The schema as a mapping; None where the suite states none.

    Args:
        stated: A mapping, or the path of a JSON or YAML file.
        folder: Where a relative path begins.

    Raises:
        ConfigError: The file cannot be read, or holds no mapping.
    """
    if stated is None or isinstance(stated, Mapping):
        return stated
    read = read_file(folder / str(stated), str(stated))
    if read.findings:
        raise Places(read.data, read.source).error(read.findings)
    schema: Mapping[str, Any] = untyped(read.data)
    return schema
