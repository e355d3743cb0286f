"""Values as the author wrote them: plain, substituted, secret; and what they mean by the YAML 1.2 rules."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Self

__all__ = [
    "MAX_DIGITS",
    "SECRET_KEYS",
    "Plain",
    "Secret",
    "Substituted",
    "guarded",
    "kind_of",
    "read_number",
    "untyped",
]

_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_INFINITY = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_NAN = frozenset({".nan", ".NaN", ".NAN"})
# Longer runs of digits would cost quadratic time to turn into an int, and no suite means them.
MAX_DIGITS = 4000
_LONGEST_SHOWN = 60
SECRET_KEYS = re.compile(r"(?i)api_?key|password|secret|token$|connection_string|authorization|credential")


class Plain(str):
    """A YAML scalar written without quotes: text where text is due, a number where a number is due."""

    __slots__ = ()


class Substituted(str):  # noqa: SLOT000 - a str cannot have slots of its own
    """A value that came from `${NAME}`; its repr is what the author wrote, for the value may be a secret.

    Attributes:
        template: What the author wrote.
        plain: Whether it stood without quotes.
    """

    template: str
    plain: bool

    def __new__(cls, value: str, template: str, *, plain: bool = False) -> Self:
        """Keep the value and where it came from."""
        text = super().__new__(cls, value)
        text.template = template
        text.plain = plain
        return text

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        """How copies are made; the loader alone asks whether it was plain."""
        return type(self), (str(self), self.template)

    def __repr__(self) -> str:
        """The template, never the value."""
        return repr(self.template)


class Secret:
    """A value that must appear nowhere: not in a repr, an error, a report."""

    __slots__ = ("_template", "_value")

    def __init__(self, value: str, template: str | None = None) -> None:
        self._value = value
        self._template = template

    def reveal(self) -> str:
        """The value itself, for the one call that needs it."""
        return self._value

    @property
    def template(self) -> str | None:
        """The `${NAME}` it came from; None where the author typed the value itself."""
        return self._template

    def __repr__(self) -> str:
        """Stars, whatever the value."""
        return "Secret('**********')"

    def __eq__(self, other: object) -> bool:
        """Equal where the values are."""
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        """By value."""
        return hash(self._value)


def untyped(value: Any) -> Any:
    """Read a value for which the schema has no type, by the YAML 1.2 core rules.

    Unquoted `no` is text, `0123` is 123, `1e3` a float, `true` a bool, `0o17` 15; quoted text is text; keys
    of mappings are text. Values that come from Python are what they are.

    Example:
        >>> untyped([Plain("no"), Plain("0123"), Plain("1e3"), "0123"])
        ['no', 123, 1000.0, '0123']
    """
    kind = type(value)
    if kind is Plain:
        return _core_scalar(value)
    if kind is str:
        return value
    if isinstance(value, Mapping):
        return {str(key): untyped(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [untyped(item) for item in value]
    if kind is Substituted:
        return _core_scalar(value) if value.plain else str(value)
    return value


def guarded(value: Any, *, secret: bool = False) -> Any:
    """Read a free-form block of settings like `untyped`, but let no secret show.

    What came from `${NAME}`, and text under a key like `api_key` or `password`, becomes a Secret.
    """
    if isinstance(value, Mapping):
        return {
            str(key): guarded(item, secret=secret or bool(SECRET_KEYS.search(str(key))))
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [guarded(item, secret=secret) for item in value]
    if isinstance(value, Substituted):
        return Secret(str(value), value.template)
    return Secret(str(value)) if secret and isinstance(value, str) else untyped(value)


def read_number(text: str) -> int | float | None:
    """Read a number as YAML 1.2 and JSON write it; None where it is none: `1_000`, NaN, infinity, `0x1F`."""
    if len(text) > MAX_DIGITS or not _NUMBER.fullmatch(text):
        return None
    return int(text) if _INT.fullmatch(text) else float(text)


def _core_scalar(text: str) -> Any:
    if text[:1].isalpha():
        return {"true": True, "false": False}.get(text.lower(), str(text)) if _is_flag(text) else str(text)
    number = read_number(text)
    if number is not None:
        return number
    if len(text) <= MAX_DIGITS and _OCTAL.fullmatch(text):
        return int(text, 8)
    if len(text) <= MAX_DIGITS and _HEX.fullmatch(text):
        return int(text, 16)
    if infinity := _INFINITY.fullmatch(text):
        return float(f"{infinity[1]}inf")
    return math.nan if text in _NAN else str(text)


def _is_flag(text: str) -> bool:
    return text in {"true", "True", "TRUE", "false", "False", "FALSE"}


def kind_of(value: Any) -> str:
    """What was found, in an analyst's words; never a value that came from the environment."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case Substituted():
            return f"the value of {value.template}"
        case str():
            return repr(str(value)) if len(value) <= _LONGEST_SHOWN else f"{str(value)[:57]!r}…"
        case int() | float() | Decimal():
            return f"the number {_shown(value)}"
        case Mapping():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case _:
            return f"a Python {type(value).__name__}"


def _shown(number: float | Decimal) -> str:
    if isinstance(number, int) and abs(number) >= 10**_LONGEST_SHOWN:
        return "with more than 60 digits"
    return str(number)
