"""Kinds of fields: text, numbers, flags, secrets, read from what the author typed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, NoReturn, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from .values import Plain, Secret, Substituted, guarded, kind_of, read_number, untyped

__all__ = [
    "Anything",
    "Count",
    "Flag",
    "FreeMapping",
    "GuardedMapping",
    "Model",
    "NonBlank",
    "NonBlankSetting",
    "Number",
    "Plain",
    "Positive",
    "Secret",
    "SecretText",
    "Setting",
    "Substituted",
    "Text",
    "Unchecked",
    "Whole",
    "untyped",
    "wrong",
]

_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})


class Model(BaseModel):
    """The manner of every part of a suite: frozen, and no key that is in no list."""

    # Built with the first suite, all at once: an import does not pay for it.
    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), hide_input_in_errors=True, defer_build=True
    )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy, with changes; what was computed from the old fields is forgotten."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


def wrong(
    message: str, *, at: str = "", hint: str = "", found: object = None, allowed: tuple[str, ...] = ()
) -> PydanticCustomError:
    """Say what is wrong with a value, for the author of the suite.

    Args:
        message: What was found and what is wanted.
        at: The key below this place where the mistake stands; "" for the place itself.
        hint: The next step.
        found: The value where one of `allowed` was due; the nearest is offered then.
        allowed: What may stand there.
    """
    facts = {"said": message, "at": at, "hint": hint, "found": found, "allowed": allowed}
    return PydanticCustomError("suite", "{said}", facts)


def _expected(wanted: str, value: Any) -> NoReturn:
    raise wrong(f"expected {wanted}, got {kind_of(value)}")


def _setting(value: Any) -> str:
    """Read text outside the test cases; what came from `${NAME}` stays a `Substituted`."""
    if isinstance(value, Substituted):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, bool):
        raise wrong(f"expected text, got {kind_of(value)}", hint=f"write it as text: '{kind_of(value)}'")
    _expected("text", value)


def _nonblank_setting(value: Any) -> str:
    text = _setting(value)
    if not text.strip():
        raise wrong("cannot be blank")
    return text


def _number(value: Any) -> int | float:
    number = read_number(value) if isinstance(value, str) else value
    if isinstance(number, Decimal):
        number = float(number)
    if isinstance(number, bool) or not isinstance(number, int | float):
        _expected("a number", value)
    try:
        if math.isfinite(number):
            return number
    except OverflowError:
        raise wrong("expected a number, got one too large to hold") from None
    _expected("a number", value)


def _whole(value: Any) -> int:
    number = _number(value)
    if number != int(number):
        _expected("a whole number", value)
    return int(number)


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUE:
        return True
    if isinstance(value, str) and value.lower() in _FALSE:
        return False
    _expected("true or false", value)


def _secret(value: Any) -> Secret:
    if isinstance(value, Secret):
        return value
    if isinstance(value, str):
        return Secret(str(value), getattr(value, "template", None))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Secret(str(value))
    raise wrong("expected text")  # what was found instead may be a secret


# Test cases may be many: their text is read without a Python function.
_SCALAR = WithJsonSchema({"type": ["string", "number", "boolean"]})  # unquoted, it is text all the same
Text = Annotated[str, Field(coerce_numbers_to_str=True), _SCALAR]
NonBlank = Annotated[str, Field(coerce_numbers_to_str=True, pattern=r"\S"), _SCALAR]
# Elsewhere text keeps the `${NAME}` that it came from.
Setting = Annotated[str, PlainValidator(_setting), _SCALAR]
NonBlankSetting = Annotated[str, PlainValidator(_nonblank_setting), _SCALAR]
Number = Annotated[float, BeforeValidator(_number)]
Positive = Annotated[Number, Field(gt=0)]
Whole = Annotated[int, BeforeValidator(_whole)]
Count = Annotated[Whole, Field(ge=1)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Anything = Annotated[Any, BeforeValidator(untyped)]
FreeMapping = Annotated[dict[str, Any], BeforeValidator(untyped)]
GuardedMapping = Annotated[dict[str, Any], BeforeValidator(guarded)]
Unchecked = Annotated[Any, BeforeValidator(untyped), Field(repr=False)]
SecretText = Annotated[Secret, PlainValidator(_secret), _SCALAR]
