"""Scalars as the author typed them, read by what the schema needs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

__all__ = [
    "Anything",
    "Count",
    "Flag",
    "Model",
    "NonBlank",
    "Number",
    "Plain",
    "Positive",
    "Secret",
    "Substituted",
    "Text",
    "Unchecked",
    "Whole",
    "untyped",
]

_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_INFINITY = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_NAN = frozenset({".nan", ".NaN", ".NAN"})
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
# Longer runs of digits would cost quadratic time to turn into an int, and no suite means them.
_MAX_DIGITS = 4000


class Model(BaseModel):
    """The manner of every part of a suite: frozen, and no key that is in no list."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), hide_input_in_errors=True)


class Plain(str):
    """A YAML scalar written without quotes: text where text is due, a number where a number is due."""

    __slots__ = ()


class Substituted(str):  # noqa: SLOT000 - a str cannot have slots of its own
    """A value that came from `${NAME}`.

    Attributes:
        template: What the author wrote.
        plain: Whether it stood without quotes.
    """

    template: str
    plain: bool

    def __new__(cls, value: str, *, template: str, plain: bool) -> Self:
        """Keep the value and where it came from."""
        text = super().__new__(cls, value)
        text.template = template
        text.plain = plain
        return text


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
    def written(self) -> str:
        """What a suite file holds: the `${NAME}` it came from, or else the value the author typed there."""
        return self._value if self._template is None else self._template

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
    """
    match value:
        case Plain():
            return _core_scalar(value)
        case Substituted():
            return _core_scalar(value) if value.plain else str(value)
        case str() | bool() | int() | float() | None:
            return value
        case Mapping():
            return {str(key): untyped(item) for key, item in value.items()}
        case list() | tuple():
            return [untyped(item) for item in value]
        case _:
            return value


def _core_scalar(text: str) -> Any:
    if text in {"true", "True", "TRUE"}:
        return True
    if text in {"false", "False", "FALSE"}:
        return False
    if len(text) <= _MAX_DIGITS:
        if _INT.fullmatch(text):
            return int(text)
        if _OCTAL.fullmatch(text):
            return int(text, 8)
        if _HEX.fullmatch(text):
            return int(text, 16)
        if _NUMBER.fullmatch(text):
            return float(text)
    if infinity := _INFINITY.fullmatch(text):
        return float(f"{infinity[1]}inf")
    return math.nan if text in _NAN else str(text)


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return str(value)
    raise PydanticCustomError("text_type", "expected text, got {found}", {"found": _kind(value)})


def _number(value: Any) -> Any:
    if isinstance(value, str):
        if len(value) > _MAX_DIGITS or not _NUMBER.fullmatch(value):
            raise PydanticCustomError(
                "number_type", "expected a number, got {found}", {"found": _kind(value)}
            )
        return int(value) if _INT.fullmatch(value) else float(value)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value):
        return value
    raise PydanticCustomError("number_type", "expected a number, got {found}", {"found": _kind(value)})


def _whole(value: Any) -> Any:
    number = _number(value)
    if isinstance(number, float | Decimal) and number != int(number):
        raise PydanticCustomError(
            "whole_type", "expected a whole number, got {found}", {"found": _kind(value)}
        )
    return int(number)


def _flag(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUE:
        return True
    if isinstance(value, str) and value.lower() in _FALSE:
        return False
    raise PydanticCustomError("flag_type", "expected true or false, got {found}", {"found": _kind(value)})


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise PydanticCustomError("number_type", "expected a number, got one too large to hold")
    return value


def _nonblank(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank", "cannot be blank")
    return value


def _secret(value: Any) -> Any:
    if isinstance(value, Secret):
        return value
    if isinstance(value, str):
        return Secret(str(value), getattr(value, "template", None))
    raise PydanticCustomError("text_type", "expected text, got {found}", {"found": _kind(value)})


def _kind(value: Any) -> str:
    """What was found, in an analyst's words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return repr(str(value)) if len(value) <= 60 else f"{str(value)[:57]!r}…"  # noqa: PLR2004 - one line
        case int() | float() | Decimal():
            return f"the number {value}"
        case Mapping():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case _:
            return f"a Python {type(value).__name__}"


Text = Annotated[str, BeforeValidator(_text)]
NonBlank = Annotated[str, BeforeValidator(_text), AfterValidator(_nonblank)]
Number = Annotated[float, BeforeValidator(_number), AfterValidator(_finite)]
Positive = Annotated[Number, Field(gt=0)]
Whole = Annotated[int, BeforeValidator(_whole)]
Count = Annotated[Whole, Field(ge=1)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Anything = Annotated[Any, BeforeValidator(untyped)]
Unchecked = Annotated[Any, BeforeValidator(untyped)]
SecretText = Annotated[Any, BeforeValidator(_secret)]
