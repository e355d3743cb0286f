"""Which keys may stand at a place in a suite, read off the schema."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Tag

from holodeck_nb.schema.suite import SuiteConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["keys_at"]


def keys_at(place: tuple[str | int, ...], root: Any = SuiteConfig) -> tuple[str, ...]:
    """The keys of the mapping at a place, as the schema's errors give it (tags of unions included).

    Args:
        place: From the root of the file.
        root: What the file as a whole is.

    Returns:
        Nothing where no model of ours stands there.
    """
    kinds: list[Any] = [root]
    for step in place:
        kinds = [inner for kind in kinds for inner in _inside(kind, step)]
    models = [kind for kind in map(_bare, kinds) if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return tuple(name for model in models for name in model.model_fields)


def _inside(kind: Any, step: str | int) -> Iterator[Any]:
    """The kinds that a step from `kind` leads to; a tag picks among the arms of a union."""
    bare, origin = _bare(kind), get_origin(_bare(kind))
    if isinstance(step, str) and step.startswith("\0"):
        if any(isinstance(note, Tag) and note.tag == step for note in get_args(kind)[1:]):
            yield bare
    elif isinstance(step, int) and origin in {tuple, list}:
        yield from _arms(get_args(bare)[0])
    elif isinstance(step, str) and origin is dict:
        yield from _arms(get_args(bare)[1])
    elif isinstance(bare, type) and issubclass(bare, BaseModel) and step in bare.model_fields:
        yield from _arms(bare.model_fields[str(step)].annotation)


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _arms(kind: Any) -> Iterator[Any]:
    """The kinds that may stand there, each with the notes of its own."""
    bare = _bare(kind)
    if get_origin(bare) in {Union, types.UnionType}:
        for arm in get_args(bare):
            yield from _arms(arm)
    elif bare is not types.NoneType:
        yield kind
