"""Why turns fail, in groups: the same mistake with other numbers is the same reason."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from .visible_text import one_line, shortened

if TYPE_CHECKING:
    from holodeck_nb.results.records import MetricResult, ToolCheck, TurnResult
    from holodeck_nb.results.rollup import RunResult

__all__ = ["ReasonGroup", "reason_groups", "reasons_of"]

_LONGEST = 120
_READ = 1_000  # of a reason; what differs further on does not make another group
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
# `100 times too large` keeps its number: it is the mistake.
_NUMBER = re.compile(r"(?<![\w.])[-+\u2212]?\d(?:[\d.,_]*\d)?(?:e[-+]?\d+)?%?(?![\w%]| times)", re.IGNORECASE)
_ADDRESS = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{8,}(?:-[0-9a-f]+)*\b|\d{4,}", re.IGNORECASE)
_ASIDE = re.compile(r" \(([^()]*)\)")
_ROW_OF_DOTS = re.compile(r"…(?:[,;]? ?…)+")


class ReasonGroup(NamedTuple):
    """One reason over a run: in how many turns it stands, and in how many cases."""

    reason: str
    turns: int
    cases: int


def reason_groups(run: RunResult) -> list[ReasonGroup]:
    """Every reason of a run, the most frequent first; a turn with several reasons counts in each."""
    turns: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    for case in run.cases:
        of_case = [reason for turn in case.turns for reason in reasons_of(turn)]
        turns.update(of_case)
        cases.update(dict.fromkeys(of_case, 1))
    return [ReasonGroup(reason, count, cases[reason]) for reason, count in turns.most_common()]


def reasons_of(turn: TurnResult) -> tuple[str, ...]:
    """The groups that a turn belongs to, without repeats; none for a passed turn.

    Tool checks are told by what is wrong (`divide: b does not fit`), standard metrics by their reason without
    its numbers, judges and graders by their name alone: their reasons are free text.
    """
    if turn.skip_reason is not None:
        return (f"skipped: {_kept(turn.skip_reason)}",)
    if turn.error is not None:
        return (f"error: {_kept(turn.error)}",)
    if turn.passed:
        return ()
    checks = (_check(check, turn) for check in turn.tool_checks or () if not check.matched)
    metrics = (_metric(metric) for metric in turn.metrics if metric.passed is False)
    return tuple(dict.fromkeys((*checks, *metrics)))


def _check(check: ToolCheck, turn: TurnResult) -> str:
    tool = _name(check.tool)
    if not any(check.tool in call.name for call in turn.tool_calls):
        return f"{tool}: never called"
    if check.matched_calls:
        return f"{tool}: called too seldom"
    wrong = [
        f"{_name(part.arg)} {'is missing' if part.missing else 'does not fit'}"
        for part in check.arguments
        if not part.matched
    ]
    return f"{tool}: {', '.join(wrong) or 'no call fits'}"


def _metric(metric: MetricResult) -> str:
    name = _name(metric.id)
    if metric.status == "error":
        return f"{name}: error: {_kept(metric.reason or 'not measured')}"
    if metric.kind != "standard" or metric.reason is None:
        return f"{name}: failed"
    return f"{name}: {_shape(metric.reason)}"


def _name(text: str) -> str:
    return shortened(one_line(text[:_READ]), _LONGEST)


def _kept(text: str) -> str:
    """A fault in its own words, without what differs from one time to the next."""
    return shortened(_ADDRESS.sub("…", one_line(text[:_READ])), _LONGEST)


def _shape(text: str) -> str:
    """A reason without its numbers and quotations, and without what says nothing then (`tolerance …`)."""
    bare = _NUMBER.sub("…", _QUOTED.sub("…", one_line(text[:_READ])))
    return shortened(_ASIDE.sub(_telling, _ROW_OF_DOTS.sub("…", bare)), _LONGEST)


def _telling(aside: re.Match[str]) -> str:
    """Of an aside in brackets the parts that still tell something."""
    kept = [part for part in re.split(r"[,;] ", aside[1]) if "…" not in part]
    return f" ({', '.join(kept)})" if kept else ""
