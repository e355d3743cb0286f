"""The tools that a turn must call, against the calls it made."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from holodeck_nb.results.records import ArgumentCheck, ToolCheck
from holodeck_nb.schema.tools import Exact, Fuzzy, Regex

from .arguments import Difference, difference
from .explanations import cut, shown

if TYPE_CHECKING:
    from holodeck_nb.results.records import ToolInvocation
    from holodeck_nb.schema.tools import ExpectedTool, Matcher

__all__ = ["check_tools", "name_warnings"]

_NAMES_SHOWN = 8
# A matcher's name, which is also the name of the field that holds what it asserts.
_KINDS: dict[type, Literal["exact", "fuzzy", "regex"]] = {Exact: "exact", Fuzzy: "fuzzy", Regex: "regex"}
_MISSING = Difference("is missing")
_UNREADABLE = Difference("could not be read")

# What is wrong with each asserted argument of one call, in the entry's order; None where it fits.
_Verdicts = tuple[Difference | None, ...]


def check_tools(
    expected: tuple[ExpectedTool, ...], calls: tuple[ToolInvocation, ...]
) -> tuple[ToolCheck, ...]:
    """Check every entry on its own against all calls of the turn; in the entries' order.

    An entry matches when at least `count` calls fit its name and all its arguments at once, in whatever
    order; one call may serve several entries. Reasons count the calls from 1.

    Source: multi-turn spec, FR-011 and FR-012; contract, section 4.
    """
    return tuple(_check(entry, calls) for entry in expected)


def name_warnings(checks: tuple[ToolCheck, ...]) -> tuple[str, ...]:
    """What to tell a user whose expected name fits only inside a word of the called one.

    >>> name_warnings((ToolCheck("add", 1, None, matched=True, matched_names=("address_lookup",)),))
    ("expected tool 'add' fits 'address_lookup' only inside a word: a longer name, or `match: exact`, tells \
them apart",)
    """
    pairs = dict.fromkeys((check.tool, name) for check in checks for name in check.matched_names)
    return tuple(
        f"expected tool {tool!r} fits {name!r} only inside a word: a longer name, or `match: exact`, tells "
        "them apart"
        for tool, name in pairs
        if not _holds_whole_words(name, tool)
    )


def _check(entry: ExpectedTool, calls: tuple[ToolInvocation, ...]) -> ToolCheck:
    name, matchers = entry.name, entry.args or {}
    exactly = entry.match == "exact"
    judged = {
        place: _verdicts(matchers, call.args)
        for place, call in enumerate(calls)
        if (call.name == name if exactly else name in call.name)
    }
    fitting = tuple(
        place
        for place, verdicts in judged.items()
        if verdicts is not None and not any(verdict is not None for verdict in verdicts)
    )
    closest = (
        fitting[0] if fitting else max(judged, key=lambda place: _closeness(judged[place]), default=None)
    )
    matched = len(fitting) >= entry.count
    return ToolCheck(
        tool=name,
        count=entry.count,
        args=entry.written_args,
        matched=matched,
        matched_calls=fitting,
        matched_names=tuple(dict.fromkeys(calls[place].name for place in fitting)),
        arguments=_argument_checks(matchers, calls, judged, closest),
        closest_call=closest,
        reason=None if matched else _reason(entry, calls, judged, fitting),
    )


def _verdicts(matchers: Mapping[str, Matcher], args: Any) -> _Verdicts | None:
    if not isinstance(args, Mapping):  # None, or what an agent of the user's own put in its place
        return None
    return tuple(
        [difference(matcher, args[name]) if name in args else _MISSING for name, matcher in matchers.items()]
    )


def _closeness(verdicts: _Verdicts | None) -> tuple[int, int]:
    """Greater is closer: first by how many arguments fit, then by how many are there at all."""
    if verdicts is None:
        return (-1, 0)
    return (
        sum(verdict is None for verdict in verdicts),
        -sum(verdict is _MISSING for verdict in verdicts),
    )


def _argument_checks(
    matchers: Mapping[str, Matcher],
    calls: tuple[ToolInvocation, ...],
    judged: Mapping[int, _Verdicts | None],
    closest: int | None,
) -> tuple[ArgumentCheck, ...]:
    args: Mapping[str, Any] = {}
    verdicts: _Verdicts = (_MISSING if closest is None else _UNREADABLE,) * len(matchers)
    if closest is not None and (found := judged[closest]) is not None:
        args, verdicts = calls[closest].args or {}, found
    return tuple(
        [
            ArgumentCheck(
                arg=name,
                matcher=(kind := _KINDS[type(matcher)]),
                expected=getattr(matcher, kind),
                actual=args.get(name),
                missing=name not in args,
                matched=verdict is None,
                reason=None if verdict is None else verdict.of("").lstrip(),
            )
            for (name, matcher), verdict in zip(matchers.items(), verdicts, strict=True)
        ]
    )


def _reason(
    entry: ExpectedTool,
    calls: tuple[ToolInvocation, ...],
    judged: Mapping[int, _Verdicts | None],
    fitting: tuple[int, ...],
) -> str:
    if not judged:
        return f"{entry.name}: never called ({_called_instead(entry, calls)})"
    parts = [f"{len(fitting)} of {entry.count} wanted calls fit"] if entry.count > 1 else []
    others = [place for place in judged if place not in fitting]
    if others:
        closest = max(others, key=lambda place: _closeness(judged[place]))
        call = calls[closest]
        called = "" if call.name == entry.name else f" ({cut(call.name)})"
        parts.append(f"closest call #{closest + 1}{called}: {_faults(entry, call, judged[closest])}")
    return f"{entry.name}: {'; '.join(parts)}"


def _faults(entry: ExpectedTool, call: ToolInvocation, verdicts: _Verdicts | None) -> str:
    """What keeps one call from fitting, and briefly what does not."""
    matchers = entry.args or {}
    if verdicts is None or call.args is None:
        raw = f": {shown(call.raw_args)}" if call.raw_args else ""
        return f"its arguments could not be read{raw}"
    wrong = {name: verdict for name, verdict in zip(matchers, verdicts, strict=True) if verdict is not None}
    parts = [verdict.of(name) for name, verdict in wrong.items()]
    swapped = [
        f"{one} and {other} are swapped"
        for one, other in combinations([name for name in wrong if name in call.args], 2)
        if difference(matchers[one], call.args[other]) is None
        and difference(matchers[other], call.args[one]) is None
    ]
    fine = [name for name in matchers if name not in wrong]
    if fine:
        parts.append(f"{', '.join(fine)} {'fits' if len(fine) == 1 else 'fit'}")
    return "; ".join(swapped + parts)


def _called_instead(entry: ExpectedTool, calls: tuple[ToolInvocation, ...]) -> str:
    names = list(dict.fromkeys(call.name for call in calls))
    if not names:
        return "no tool was called"
    listed = ", ".join(cut(name) for name in names[:_NAMES_SHOWN])
    more = f", and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    wanted = entry.name.casefold()
    hint = ""
    if any(entry.name in name for name in names):
        hint = "; `match: exact` wants the whole name"
    elif any(wanted in name.casefold() for name in names):
        hint = "; names are case-sensitive"
    return f"called: {listed}{more}{hint}"


def _holds_whole_words(called: str, expected: str) -> bool:
    """Whether `expected` stands somewhere in `called` between two borders of words."""
    start = called.find(expected)
    while start >= 0:
        if _border(called, start) and _border(called, start + len(expected)):
            return True
        start = called.find(expected, start + 1)
    return False


def _border(name: str, place: int) -> bool:
    """Whether a word of a name ends before `place`: at its ends, at any sign, where camelCase steps up."""
    if place in {0, len(name)}:
        return True
    before, after = name[place - 1], name[place]
    if not (before.isalnum() and after.isalnum()):
        return True
    if not after.isupper():
        return False
    return not before.isupper() or name[place + 1 : place + 2].islower()
