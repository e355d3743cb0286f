"""The explorer where nothing runs: the failures first, as HTML and as plain text, within bounds."""

from __future__ import annotations

from html import escape
from itertools import chain, islice
from typing import TYPE_CHECKING

from .card import cell, paragraph, table
from .conversation import conversation_html
from .visible_text import one_line, shortened
from .wording import MARKS, counted, mark, totals

if TYPE_CHECKING:
    from holodeck_nb.results.rollup import CaseResult, RunResult

__all__ = ["failures_first", "static_html", "static_text"]

_MOST_CASES, _MOST_LISTED, _MOST_LINES = 5, 20, 12
_MOST_HTML = 60_000  # characters of conversations; a notebook is kept in Git
_NAME, _REASON, _TEXT = 100, 300, 200
_ORDER = {"error": 0, "failed": 0, "skipped": 1, "passed": 2}


def failures_first(run: RunResult) -> list[CaseResult]:
    """The cases, those that are not passed before the others, else in the suite's order."""
    return sorted(run.cases, key=lambda case: _ORDER[case.status])


def static_html(run: RunResult, *, most: int = _MOST_CASES, size: int = _MOST_HTML) -> str:
    """What failed, and the first conversations whole; no script, nothing to fetch.

    Args:
        run: The run.
        most: How many conversations at most.
        size: How many characters they have at most, all together; the first is shown however long it is.
    """
    cases = failures_first(run)
    shown: list[tuple[CaseResult, str]] = []
    taken = 0
    for case in cases[:most]:
        page = conversation_html(case)
        taken += len(page)
        if shown and taken > size:
            break
        shown.append((case, page))
    failing = sum(not case.passed for case in cases)
    listed = [case for case in cases if not case.passed][:_MOST_LISTED]
    rows = [
        (
            escape(mark(case.status)).replace(" ", "&nbsp;"),
            cell(case.name, _NAME),
            f"{case.turns_passed} of {len(case.turns)}",
            cell(case.reason or "", _REASON),
        )
        for case in listed
    ]
    title = "Cases that did not pass"
    title += f": the first {len(rows)} of {failing:,}" if len(rows) < failing else ""
    left = len(cases) - len(shown)
    rest = f"{counted(left, 'more conversation')}: in run.turns, in the live explorer, in run.to_html(path)"
    outcome = escape(totals(run.summary))
    return "".join(
        [
            f'<div class="head"><strong>{cell(run.suite_name, _NAME)}</strong> {outcome}</div>',
            table(title, ("Status", "Case", "Turns passed", "First reason"), rows, whole=(0, 1, 2)),
            *(_folding(case, page, first=place == 0) for place, (case, page) in enumerate(shown)),
            paragraph(rest, _TEXT) if left else "",
        ]
    )


def static_text(run: RunResult) -> str:
    """The same for a terminal: one paragraph a turn, failing turns first."""
    cases = failures_first(run)
    failing = ((case, turn) for case in cases for turn in case.turns if not turn.passed)
    passed = ((case, turn) for case in cases for turn in case.turns if turn.passed)
    lines = [f"{_short(run.suite_name, _NAME)}: {totals(run.summary)}"]
    for case, turn in islice(chain(failing, passed), _MOST_LINES):
        reply = "(no reply)" if turn.response is None else _short(turn.response, _TEXT) or "(empty)"
        lines.append(f"{MARKS[turn.status]} {turn.status}: {_short(case.name, _NAME)}, turn {turn.turn}")
        lines += [f"    input: {_short(turn.input, _TEXT)}", f"    reply: {reply}"]
        lines += [f"    {_short(reason, _REASON)}" for reason in turn.failures[:5]]
    left = run.summary.turns - _MOST_LINES
    lines += [f"and {counted(left, 'more turn')}: run.turns"] if left > 0 else []
    return "\n".join(lines)


def _folding(case: CaseResult, page: str, *, first: bool) -> str:
    tone = {"passed": "good", "skipped": "idle"}.get(case.status, "bad")
    status = f'<span class="mark {tone}">{escape(mark(case.status))}</span>'
    name = f"{status} <strong>{cell(case.name, _NAME)}</strong>"
    return f'<details class="case"{" open" if first else ""}><summary>{name}</summary>{page}</details>'


def _short(text: str, limit: int) -> str:
    return shortened(one_line(text[: 4 * limit]), limit)
