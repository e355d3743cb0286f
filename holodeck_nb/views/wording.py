"""How numbers and verdicts are worded, the same in cards, lines and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holodeck_nb.results.judging import Judging
    from holodeck_nb.results.records import Status
    from holodeck_nb.results.rollup import Summary

__all__ = ["MARKS", "counted", "duration", "judged", "mark", "of_all", "score", "tokens", "totals", "verdict"]

MARKS: dict[Status, str] = {"passed": "✓", "failed": "✗", "error": "!", "skipped": "○"}
_MS_A_SECOND, _S_A_MINUTE = 1000, 60


def mark(status: Status) -> str:
    """A glyph and the word, so that no colour is needed: `✗ failed`."""
    return f"{MARKS[status]} {status}"


def verdict(passed: bool | None) -> str:
    """`✓ passed`, `✗ failed`, or `no verdict`."""
    return "no verdict" if passed is None else mark("passed" if passed else "failed")


def counted(number: int, noun: str) -> str:
    """`1 case`, `12 cases`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def of_all(part: int, whole: int, rate: float | None) -> str:
    """`8 of 10 passed (80.0 %)`; the rate is 0 to 1, left out where it is None."""
    share = "" if rate is None else f" ({100 * rate:.1f} %)"
    return f"{part:,} of {whole:,} passed{share}"


def duration(duration_ms: float | None) -> str:
    """`340 ms`, `1.8 s`, `2 min 05 s`; `unknown`."""
    if duration_ms is None:
        return "unknown"
    if round(duration_ms) < _MS_A_SECOND:
        return f"{duration_ms:.0f} ms"
    seconds = duration_ms / _MS_A_SECOND
    if round(seconds, 1) < _S_A_MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _S_A_MINUTE)
    return f"{minutes:,} min {rest:02} s"


def score(number: float | None) -> str:
    """Four digits at most: `0.6667`, `1`; `n/a` where it was not measured."""
    return "n/a" if number is None else f"{number:.4g}"


def tokens(summary: Summary) -> str:
    """`12,345`, with `at least` before it where a part is unknown; `unknown`."""
    usage = summary.usage
    if usage is None or usage.total_tokens is None:
        return "unknown"
    return f"{'' if usage.complete else 'at least '}{usage.total_tokens:,}"


def totals(summary: Summary) -> str:
    """`8 of 10 cases passed (80.0 %), 27 of 31 turns, 1.8 s`; the time is left out where it is unknown."""
    if not summary.cases:
        return "no cases"
    rate = f"{100 * (summary.pass_rate or 0):.1f} %"
    cases = f"{summary.cases_passed:,} of {counted(summary.cases, 'case')} passed ({rate})"
    turns = f"{summary.turns_passed:,} of {counted(summary.turns, 'turn')}"
    time = [] if summary.duration_ms is None else [duration(summary.duration_ms)]
    return ", ".join([cases, turns, *time])


def judged(judging: Judging) -> str:
    """What judges were asked, in a line: they are paid for apart from the agent."""
    parts = [counted(judging.requests, "request")]
    if judging.cached:
        parts.append(f"{judging.cached:,} answers known from before")
    if judging.usage is not None and judging.usage.total_tokens is not None:
        more = "" if judging.usage.complete else "at least "
        parts.append(f"{more}{counted(judging.usage.total_tokens, 'token')}")
    if judging.requests and judging.cost_usd is not None:
        parts.append(f"${judging.cost_usd:.4f}")
    return ", ".join(parts)
