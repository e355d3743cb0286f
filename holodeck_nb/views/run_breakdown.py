"""Where a run fails, as parts of its card: by reason, by case, by the turn's place in its conversation."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .card import cell, table
from .failing_reasons import reason_groups
from .wording import mark

if TYPE_CHECKING:
    from holodeck_nb.results.rollup import CaseResult, RunResult

__all__ = ["by_turn", "failing_reasons", "worst_cases"]

_MOST_CASES, _MOST_REASONS, _MOST_TURNS = 5, 8, 8
_NAME, _REASON = 80, 240
_BAR = 10  # signs of a full bar: text, so that it is seen where styles are not


def failing_reasons(run: RunResult) -> str:
    """The most frequent reasons, each with the turns and cases it stands in."""
    groups = reason_groups(run)
    rows = [
        (cell(group.reason, _REASON), f"{group.turns:,}", f"{group.cases:,}")
        for group in groups[:_MOST_REASONS]
    ]
    title = "Failing reasons"
    title += f": the first {len(rows)} of {len(groups):,}" if len(rows) < len(groups) else ""
    return table(title, ("Reason", "Turns", "Cases"), rows, numbers=(1, 2))


def worst_cases(run: RunResult) -> str:
    """The cases with the smallest share of passed turns, played ones first, each with its first reason."""
    failing = sorted((case for case in run.cases if not case.passed), key=_share)
    rows = [
        (
            cell(case.name, _NAME),
            escape(mark(case.status)).replace(" ", "&nbsp;"),
            f"{case.turns_passed}&nbsp;of&nbsp;{len(case.turns)}",
            cell(case.reason or "", _REASON),
        )
        for case in failing[:_MOST_CASES]
    ]
    title = "Worst cases"
    if len(failing) > len(rows):
        title += f": {len(rows)} of {len(failing):,} that did not pass; run.explore() opens them all"
    return table(title, ("Case", "Status", "Turns passed", "First reason"), rows, whole=(0, 1, 2))


def by_turn(run: RunResult) -> str:
    """The pass rate of the first turns, of the second ones and so on, with n; "" without conversations."""
    counts: dict[int, list[int]] = {}
    for _, turn in run.turns():
        passed_of = counts.setdefault(min(turn.turn, _MOST_TURNS), [0, 0])
        passed_of[0] += turn.passed
        passed_of[1] += 1
    if len(counts) < 2:  # noqa: PLR2004 - a single bar compares nothing
        return ""
    rows = [
        (
            str(place) if place < _MOST_TURNS else f"{place} and later",
            f"{100 * passed / every:.1f}&nbsp;%",
            _bar(passed / every),
            f"{passed:,}&nbsp;of&nbsp;{every:,}",
        )
        for place, (passed, every) in sorted(counts.items())
    ]
    return table("Pass rate by turn", ("Turn", "Rate", "", "Passed"), rows, numbers=(1, 3), whole=(0, 2))


def _share(case: CaseResult) -> tuple[bool, float]:
    return case.status == "skipped", case.turns_passed / len(case.turns) if case.turns else 0.0


def _bar(share: float) -> str:
    # Full and empty only where it is all and nothing.
    full = min(max(round(share * _BAR), share > 0), _BAR - (share < 1))
    parts = (("bar", "━" * full), ("rest", "─" * (_BAR - full)))
    return "".join(f'<span class="{style}">{signs}</span>' for style, signs in parts if signs)
