"""One case as HTML: its name and verdict, then its turns, those that are not passed unfolded."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .card import cell
from .conversation_parts import bounded
from .conversation_turn import turn_html
from .wording import counted, duration, mark

if TYPE_CHECKING:
    from holodeck_nb.results.rollup import CaseResult

__all__ = ["conversation_html"]

_MOST_TURNS = 300
_NAME = 300
_UNFOLDED = 5  # turns of a passed conversation, and failing turns, that are not folded


def conversation_html(case: CaseResult) -> str:
    """The whole conversation; every text escaped, no script, nothing to fetch.

    In a case that is not passed, the passed turns are folded. What is very long is folded or cut in plain
    sight; the run's frames hold it whole.
    """
    turns, more = bounded(case.turns, _MOST_TURNS, "turns")
    told = [f"{case.turns_passed} of {counted(len(case.turns), 'turn')} passed"]
    told += [f"repeat {case.repeat}"] if case.repeat else []
    told += [] if case.duration_ms is None else [duration(case.duration_ms)]
    if case.usage is not None and case.usage.total_tokens is not None:
        told.append(f"{'' if case.usage.complete else 'at least '}{case.usage.total_tokens:,} tokens")
    tone = {"passed": "good", "skipped": "idle"}.get(case.status, "bad")
    unfolded = [turn.turn for turn in case.turns if case.passed or not turn.passed][:_UNFOLDED]
    inner = "".join(turn_html(turn, unfolded=turn.turn in unfolded) for turn in turns)
    return (
        f'<article class="conversation"><header><span class="mark {tone}">{escape(mark(case.status))}</span> '
        f'<strong dir="auto">{cell(case.name, _NAME)}</strong> '
        f'<span class="facts">{escape(" · ".join(told))}</span></header>{inner}{more}</article>'
    )
