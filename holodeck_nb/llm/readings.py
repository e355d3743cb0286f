"""Fields of a provider's answer, read without trust: what has the wrong type is unknown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holodeck_nb.errors import TurnError

__all__ = ["count", "image_type", "mapping", "mappings", "strict_schema", "text", "tool_result_text"]

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Those items of a list that are mappings; none where it is no list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def text(value: object) -> str | None:
    """The value if it is a text, else None."""
    return value if isinstance(value, str) else None


def count(value: object) -> int | None:
    """The value if it can be a number of tokens, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def image_type(image: bytes) -> str:
    """The media type of an image by its first bytes.

    Raises:
        TurnError: It is of no kind that models see.
    """
    for signature, media_type in _SIGNATURES:
        if image.startswith(signature):
            return media_type
    if image[:4] == b"RIFF" and image[8:12] == b"WEBP":
        return "image/webp"
    raise TurnError("an image is none of PNG, JPEG, GIF and WebP, which are what models see")


def tool_result_text(result: object) -> str:
    """What a tool gave back, as the model reads it: text as it is, anything else as JSON."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)


def strict_schema(schema: Any) -> Any:
    """The schema with `additionalProperties: false` on every object that does not say otherwise."""
    if isinstance(schema, Mapping):
        inner = {key: strict_schema(value) for key, value in schema.items()}
        return {"additionalProperties": False, **inner} if inner.get("type") == "object" else inner
    if isinstance(schema, list | tuple):
        return [strict_schema(item) for item in schema]
    return schema
