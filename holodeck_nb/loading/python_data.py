"""A suite made in Python as the same data that a file gives: mappings, lists, text, numbers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from holodeck_nb.schema.values import MAX_DIGITS, Secret, kind_of

from .findings import Finding, Location
from .nodes import MAX_DEPTH
from .writer import data_of

__all__ = ["python_data"]

_MAX_BITS = int(MAX_DIGITS * 3.32)
_TURN_DEPTH = 5
_TEXTS = frozenset({"input", "ground_truth", "name"})
_TOO_LONG = f"expected a number of at most {MAX_DIGITS} digits"


def python_data(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """Copy a suite's data; models become mappings, tuples lists, numpy's scalars Python's.

    Returns:
        The data, and what in it no suite file could hold.
    """
    copier = _Copier()
    copied = copier.copy(data, ())
    if not isinstance(copied, dict):
        copier.findings.append(Finding((), f"a suite is a mapping, got {kind_of(copied)}"))
        return {}, copier.findings
    return copied, copier.findings


class _Copier:
    """Copies values and notes what cannot be copied."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._open: set[int] = set()

    def copy(self, value: Any, place: Location) -> Any:
        """The value as a file would give it."""
        if isinstance(value, BaseModel):
            value = data_of(value, escaped=place[:1] != ("test_cases",), templates=False)
        if not isinstance(value, Mapping | list | tuple):
            return self._scalar(value, place)
        if id(value) in self._open or len(place) > MAX_DEPTH:
            return self._refuse(place, f"nested more than {MAX_DEPTH} levels deep, or holds itself")
        self._open.add(id(value))
        try:
            if isinstance(value, Mapping):
                return self._mapping(value, place)
            return [self.copy(item, (*place, number)) for number, item in enumerate(value)]
        finally:
            self._open.discard(id(value))

    def _mapping(self, value: Mapping[Any, Any], place: Location) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        for key, item in value.items():
            if isinstance(key, bool) or not isinstance(key, str | int | float):
                self._refuse(place, f"a key must be text, got {kind_of(key)}")
            elif str(key) in copied:
                self._refuse((*place, str(key)), f"repeated key {str(key)!r}")
            else:
                copied[str(key)] = self.copy(item, (*place, str(key)))
        return copied

    def _scalar(self, value: Any, place: Location) -> Any:
        match value:
            case float() if value != value and _is_text(place):  # noqa: PLR0124 - NaN, as pandas has it
                self._refuse(place, "expected text, got NaN", "leave it out where there is none")
                return "NaN"  # see `_text`
            case None | bool() | float() | Secret():
                return value
            case str():
                return self._text(value, place)
            case int() | Decimal():
                return self._number(value, place)
            case date():
                return value.isoformat()
            case _ if callable(value) and place[-1:] == ("grader",):
                return value
            case _ if callable(getattr(value, "tolist", None)):  # numpy
                return self.copy(value.tolist(), place)
            case _:
                message = f"a suite cannot hold {kind_of(value)}"
                return self._refuse(place, message, "use text, numbers, lists and mappings")

    def _text(self, value: str, place: Location) -> str:
        if _writable(value):
            return value
        self._refuse(place, "holds characters that no file can")
        return value.encode("utf-8", "replace").decode()  # text is there: it must not count as missing too

    def _number(self, value: int | Decimal, place: Location) -> Any:
        if isinstance(value, int):
            return int(value) if value.bit_length() <= _MAX_BITS else self._refuse(place, _TOO_LONG)
        if not value.is_finite():
            return float(value)
        if abs(value.adjusted()) >= MAX_DIGITS:
            return self._refuse(place, _TOO_LONG)
        return int(value) if value == value.to_integral_value() else float(value)

    def _refuse(self, place: Location, message: str, hint: str | None = None) -> None:
        self.findings.append(Finding(place, message, hint))


def _is_text(place: Location) -> bool:
    """Whether a case's or turn's text stands there; NaN would be read as the text `nan`."""
    return place[:1] == ("test_cases",) and len(place) <= _TURN_DEPTH and place[-1] in _TEXTS


def _writable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
