"""What a turn expects of the agent's tool calls: names, arguments, how often."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from .scalars import Anything, Count, Model, NonBlank, Number, Plain, Text, wrong
from .values import kind_of

__all__ = ["Exact", "ExpectedTool", "ExpectedTools", "Fuzzy", "Matcher", "Regex"]

MATCHERS = ("exact", "fuzzy", "regex")


def _compilable(pattern: str) -> str:
    import regex  # noqa: PLC0415 - 15 ms that a suite without patterns does not pay

    # `regex` has a timeout and runs the pattern; `re` is what the suite's format promises.
    for compile_pattern in (re.compile, regex.compile):
        try:
            compile_pattern(pattern)
        except (re.error, regex.error, OverflowError, RecursionError, ValueError) as error:
            raise wrong(f"cannot compile {kind_of(pattern)}: {error}") from error
    return pattern


class Exact(Model):
    """A literal: numbers by value, text after NFC and trimmed ends, lists and mappings element by element."""

    exact: Anything


class Fuzzy(Model):
    """The same number however it is written, or the same text whatever its case and white space.

    `min_ratio` (0 to 100) also accepts text that RapidFuzz finds that similar; never numbers.
    """

    fuzzy: Text
    min_ratio: Annotated[Number, Field(ge=0, le=100)] | None = None


class Regex(Model):
    """A Python pattern that must match the whole of `str(value)`."""

    regex: Annotated[Text, AfterValidator(_compilable)]


def _as_matcher(value: Any) -> Any:
    """Wrap a literal; leave a matcher's mapping to its model; refuse a mapping that is both."""
    if type(value) is Plain or not isinstance(value, Mapping):
        return value if isinstance(value, Exact | Fuzzy | Regex) else {"exact": value}
    named = [key for key in MATCHERS if key in value]
    if not named:
        return {"exact": value}
    if len(named) > 1:
        raise wrong(f"one matcher is allowed, got {' and '.join(named)}")
    others = [key for key in value if key != named[0] and not (named == ["fuzzy"] and key == "min_ratio")]
    if others:
        hint = f"a matcher holds `{named[0]}` alone; write a literal mapping under `exact:`"
        raise wrong(f"`{named[0]}` does not go with {_listed(others)}", hint=hint)
    return value


def _listed(keys: list[str]) -> str:
    return " and ".join(f"`{key}`" for key in keys)


def _matcher_tag(value: Any) -> str:
    for key in MATCHERS:
        if key in value if isinstance(value, dict) else hasattr(value, key):
            return f"\0{key}"
    return ""


# A tag begins with NUL, which no YAML file can hold: in an error's place it is told from a key at once.
Matcher = Annotated[
    Annotated[Exact, Tag("\0exact")] | Annotated[Fuzzy, Tag("\0fuzzy")] | Annotated[Regex, Tag("\0regex")],
    Discriminator(_matcher_tag),
    BeforeValidator(_as_matcher, json_schema_input_type=Any),
]


class ExpectedTool(Model):
    """A tool that must be called on this turn: `count` calls at least fit name and all arguments."""

    name: NonBlank
    args: dict[str, Matcher] | None = None
    count: Count = 1
    match: Literal["substring", "exact"] = "substring"

    @property
    def written(self) -> Any:
        """As a suite file holds it: a bare name, or a mapping of what was given."""
        if self.args is None and self.count == 1 and self.match == "substring":
            return self.name
        return {
            "name": self.name,
            **({} if self.args is None else {"args": self.written_args}),
            **({} if self.count == 1 else {"count": self.count}),
            **({} if self.match == "substring" else {"match": self.match}),
        }

    @property
    def written_args(self) -> dict[str, Any] | None:
        """The asserted arguments as a suite file holds them; None where only the name is asserted."""
        return None if self.args is None else {name: _written(matcher) for name, matcher in self.args.items()}


def _written(matcher: Exact | Fuzzy | Regex) -> Any:
    if not isinstance(matcher, Exact):
        return matcher.model_dump(exclude_none=True)
    looks_like_a_matcher = isinstance(matcher.exact, Mapping) and any(
        key in matcher.exact for key in MATCHERS
    )
    return {"exact": matcher.exact} if looks_like_a_matcher else matcher.exact


def _spelled_out(value: Any) -> Any:
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, Mapping | ExpectedTool):
        return value
    raise wrong(f"expected a tool's name, or a mapping with `name`, got {kind_of(value)}")


ExpectedTools = tuple[
    Annotated[ExpectedTool, BeforeValidator(_spelled_out, json_schema_input_type=str | ExpectedTool)], ...
]
