"""The verdicts on expected tools, rebuilt from what a JSON report tells of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holodeck_nb.results.records import ArgumentCheck, ToolCheck, ToolInvocation

from .asserted_arguments import matcher_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .report_shape import DetailShape, TurnShape

__all__ = ["rebuilt_checks"]

_MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class _Entry:
    """An expected tool: what the report says of it for sure, and what the calls let us guess."""

    tool: str
    args: dict[str, Any] | None
    count: int
    calls: tuple[int, ...]  # the calls with its name
    verdict: bool | None  # None: the report does not say
    reason: str | None
    guess: bool


def rebuilt_checks(turn: TurnShape, calls: Sequence[ToolInvocation]) -> tuple[ToolCheck, ...] | None:
    """One check an entry of `expected_tools`; None where nothing was asserted or checked.

    `tools_matched` is the verdict on all entries together. Entries with arguments have their own in
    `arg_match_details`; which of the others did not match is told by `errors`, which names each in order, and
    by the calls. Where a report says only that something did not match, an entry that may be the one is
    blamed.
    """
    if turn.tools_matched is None:
        return None
    entries = _entries(turn, calls)
    if turn.tools_matched:
        return tuple(_matched(entry, calls) for entry in entries)
    reasons = _told(entries, turn.errors) or _guessed(entries, turn.errors, calls)
    checks = [
        _matched(entry, calls) if reason is None else _unmatched(entry, reason)
        for entry, reason in zip(entries, reasons, strict=True)
    ]
    if all(check.matched for check in checks):  # no entry at all, or none that can be blamed
        texts = turn.errors or ["the report says that an expected tool did not match, not which"]
        checks += [ToolCheck("", 1, None, matched=False, reason=text) for text in texts]
    return tuple(checks)


def _entries(turn: TurnShape, calls: Sequence[ToolInvocation]) -> list[_Entry]:
    details = list(turn.arg_match_details or ())
    entries = []
    for written in turn.expected_tools or ():
        tool: dict[str, Any] = {"name": written} if isinstance(written, str) else written
        args = tool.get("args") or None
        detail = _taken(details, tool["name"]) if args else None
        entries.append(_entry(tool, args, detail, calls))
    return entries


def _taken(details: list[DetailShape], tool: str) -> DetailShape | None:
    """The next detail, if it is of this tool: they stand in the order of the entries."""
    return details.pop(0) if details and details[0].expected_tool == tool else None


def _entry(
    tool: dict[str, Any],
    args: dict[str, Any] | None,
    detail: DetailShape | None,
    calls: Sequence[ToolInvocation],
) -> _Entry:
    name, count = tool["name"], tool.get("count") or 1
    named = tuple(
        place
        for place, call in enumerate(calls)
        if call.raw_args is None
        and (call.name == name if tool.get("match") == "exact" else name in call.name)
    )
    if detail is None:
        return _Entry(name, args, count, named, verdict=None, reason=None, guess=len(named) >= count)
    index = -1 if detail.matched_call_index is None else detail.matched_call_index
    fitting = (index,) if 0 <= index < len(calls) else ()
    matched = index >= 0
    reason = None if matched else detail.unmatched_reason
    return _Entry(name, args, count, fitting, verdict=matched, reason=reason, guess=matched)


def _told(entries: Sequence[_Entry], errors: Sequence[str]) -> list[str | None] | None:
    """Give each error to one entry, in order: the reasons, None for an entry that matched.

    Among several ways the one nearest to the guesses from the left; None where there is no way at all.
    """
    width = len(errors) + 1
    if not errors or len(entries) * width > _MOST_STEPS:
        return None
    # works[i][p]: entries[i:] can take up errors[p:], all of them
    works = [[False] * width for _ in entries] + [[False] * len(errors) + [True]]
    for i in reversed(range(len(entries))):
        for p in range(width):
            spared = entries[i].verdict is not False and works[i + 1][p]
            works[i][p] = spared or (
                p < len(errors) and _may_fail(entries[i], errors[p]) and works[i + 1][p + 1]
            )
    if not works[0][0]:
        return None
    reasons: list[str | None] = []
    p = 0
    for i, entry in enumerate(entries):
        can_match = entry.verdict is not False and works[i + 1][p]
        can_fail = p < len(errors) and _may_fail(entry, errors[p]) and works[i + 1][p + 1]
        if can_match and (entry.guess or not can_fail):
            reasons.append(None)
        else:
            reasons.append(errors[p])
            p += 1
    return reasons


def _may_fail(entry: _Entry, error: str) -> bool:
    return entry.verdict is not True and error.endswith(entry.reason or "")


def _guessed(
    entries: Sequence[_Entry], errors: Sequence[str], calls: Sequence[ToolInvocation]
) -> list[str | None]:
    """Reasons where `errors` does not name the entries one by one."""
    doubtful = [entry for entry in entries if entry.verdict is not True]
    failed = [entry for entry in doubtful if not entry.guess] or [
        entry for entry in doubtful if any(entry.tool in error for error in errors)
    ]
    blamed = {id(entry) for entry in failed or doubtful}
    return [_reason(entry, errors, calls) if id(entry) in blamed else None for entry in entries]


def _reason(entry: _Entry, errors: Iterable[str], calls: Sequence[ToolInvocation]) -> str:
    told = next((error for error in errors if error.endswith(entry.reason or entry.tool)), None)
    told = told or next((error for error in errors if entry.tool in error), None)
    if told or entry.reason:
        return told or f"{entry.tool}: {entry.reason}"
    if len(entry.calls) >= entry.count:
        return f"{entry.tool}: not matched; the report does not say why"
    called = ", ".join(dict.fromkeys(call.name for call in calls))
    missing = "not called" if not entry.calls else f"called {len(entry.calls)} of {entry.count} times"
    return f"{entry.tool}: {missing}; called: {called}" if called else f"{entry.tool}: no tool was called"


def _unmatched(entry: _Entry, reason: str) -> ToolCheck:
    return ToolCheck(entry.tool, entry.count, entry.args, matched=False, reason=reason)


def _matched(entry: _Entry, calls: Sequence[ToolInvocation]) -> ToolCheck:
    check = ToolCheck(
        entry.tool,
        entry.count,
        entry.args,
        matched=True,
        matched_calls=entry.calls,
        matched_names=tuple(dict.fromkeys(calls[place].name for place in entry.calls)),
    )
    if entry.verdict is not True or not entry.calls or not entry.args:
        return check
    passed = calls[entry.calls[0]].args or {}
    arguments = tuple(
        ArgumentCheck(arg, *matcher_of(written), passed.get(arg), missing=arg not in passed, matched=True)
        for arg, written in entry.args.items()
    )
    return replace(check, arguments=arguments, closest_call=entry.calls[0])
