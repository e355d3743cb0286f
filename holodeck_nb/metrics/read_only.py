"""Deep copies that refuse to be changed, for code that must only look."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import UUID

if TYPE_CHECKING:
    from .base import GraderContext

__all__ = ["ReadOnlyDict", "ReadOnlyList", "read_only", "read_only_context"]

_IMMUTABLE = (str, int, float, complex, bytes, type(None), Decimal, Fraction, date, time, timedelta, UUID)


def _refuse(self: Any, *_args: Any, **_kwargs: Any) -> NoReturn:
    """Say what a grader may do instead."""
    kind = "dict" if isinstance(self, dict) else "list"
    raise TypeError(
        f"a grader's context is read-only: this {kind} cannot be changed; "
        "work on a copy, copy.deepcopy gives an ordinary one"
    )


class ReadOnlyDict(dict[Any, Any]):
    """A dict in every respect but one."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def copy(self) -> dict[Any, Any]:
        """An ordinary dict with the same values."""
        return dict(self)

    def __copy__(self) -> dict[Any, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[Any, Any]:
        return copy.deepcopy(dict(self), memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return (dict, (dict(self),))


class ReadOnlyList(list[Any]):
    """A list in every respect but one."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def copy(self) -> list[Any]:
        """An ordinary list with the same values."""
        return list(self)

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return copy.deepcopy(list(self), memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return (list, (list(self),))


def read_only_context(context: GraderContext) -> GraderContext:
    """A context that shares nothing that could be changed with the one it was made from."""
    seen: dict[int, tuple[Any, Any]] = {}
    return replace(
        context,
        tool_invocations=tuple(
            replace(call, args=_frozen(call.args, seen), result=_frozen(call.result, seen))
            for call in context.tool_invocations
        ),
        turn_config=_frozen(context.turn_config, seen),
    )


def read_only(value: Any) -> Any:
    """A deep copy of `value` that refuses to be changed; what cannot be copied is handed over as its repr.

    >>> config = read_only({"steps": [1, 2]})
    >>> config == {"steps": [1, 2]}
    True
    >>> config["steps"].append(3)
    Traceback (most recent call last):
    ...
    TypeError: a grader's context is read-only: this list cannot be changed; work on a copy, copy.deepcopy \
gives an ordinary one
    """
    return _frozen(value, {})


def _frozen(value: Any, seen: dict[int, tuple[Any, Any]]) -> Any:
    """Freeze; `seen` holds what is done, by id, so that what contains itself comes out the same way.

    It keeps the originals too: an id is good for as long as its object lives.
    """
    if isinstance(value, _IMMUTABLE):
        return value
    if id(value) in seen:
        return seen[id(value)][1]
    if isinstance(value, Mapping):
        mapping = ReadOnlyDict()
        seen[id(value)] = (value, mapping)
        for key, item in value.items():
            dict.__setitem__(mapping, key, _frozen(item, seen))
        return mapping
    if isinstance(value, list):
        items = ReadOnlyList()
        seen[id(value)] = (value, items)
        for item in value:
            list.append(items, _frozen(item, seen))
        return items
    if type(value) is tuple:
        return tuple(_frozen(item, seen) for item in value)
    if isinstance(value, AbstractSet):
        return frozenset(value)
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - the border to the values' own code
        return repr(value)
