"""The rows behind a tool check: one an asserted argument, one for an entry with only a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holodeck_nb.results.records import ToolCheck

__all__ = ["ArgumentRow", "argument_rows", "matcher_of"]

Matcher = Literal["exact", "fuzzy", "regex"]


class ArgumentRow(NamedTuple):
    """One line of a tool check.

    Attributes:
        arg: The argument's name; None where only the tool's name is asserted.
        matcher: exact, fuzzy or regex; None where only the name is asserted.
        expected: The asserted value, text or pattern (for fuzzy and regex that inside the matcher).
        actual: What the fitting or closest call passed.
        known: Whether `actual` holds something; False where the call lacks the argument, where there is no
            call, and where a report does not tell.
        matched: The argument's verdict, or that of the entry where only the name is asserted; None where a
            report tells only that the entry as a whole did not match.
        reason: Why not; None where it fits.
    """

    arg: str | None
    matcher: Matcher | None
    expected: Any
    actual: Any
    known: bool
    matched: bool | None
    reason: str | None


def argument_rows(check: ToolCheck) -> Iterator[ArgumentRow]:
    """The rows of one entry of `expected_tools`, in the order of its arguments, at least one.

    Where every argument fits and the entry still does not match (it was called too seldom), each row gives
    the reason of the entry.
    """
    if check.arguments:
        blamed = any(not argument.matched for argument in check.arguments)
        for part in check.arguments:
            yield ArgumentRow(
                part.arg,
                part.matcher,
                _inside(part.expected, part.matcher),
                None if part.missing else part.actual,
                known=not part.missing,
                matched=part.matched,
                reason=part.reason if blamed else check.reason,
            )
    elif check.args:
        for arg, written in check.args.items():
            matcher, expected = matcher_of(written)
            yield ArgumentRow(
                arg, matcher, expected, None, known=False, matched=check.matched or None, reason=check.reason
            )
    else:
        yield ArgumentRow(None, None, None, None, known=False, matched=check.matched, reason=check.reason)


def matcher_of(written: Any) -> tuple[Matcher, Any]:
    """Which matcher an argument is written with, and what it asserts.

    Example:
        >>> matcher_of({"fuzzy": "206,588"}), matcher_of(206588)
        (('fuzzy', '206,588'), ('exact', 206588))
    """
    match written:
        case {"fuzzy": text}:
            return "fuzzy", text
        case {"regex": pattern}:
            return "regex", pattern
        case {"exact": value}:
            return "exact", value
        case _:
            return "exact", written


def _inside(expected: Any, matcher: Matcher) -> Any:
    """What a matcher asserts, be it handed over as written or already unwrapped."""
    wrapped = matcher != "exact" and isinstance(expected, Mapping)
    return expected.get(matcher, expected) if wrapped else expected
