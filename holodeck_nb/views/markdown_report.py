"""The Markdown report: a run for people, from the summary down to every turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .markdown_text import inline, table
from .markdown_turns import turn_blocks
from .visible_text import shortened
from .wording import duration, mark, of_all, score, tokens, verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holodeck_nb.results.rollup import CaseResult, MetricRollup, RunResult, Summary

__all__ = ["markdown"]

_MOST_IN_REASON = 200
_MOST_IN_NAME = 200


def markdown(run: RunResult) -> str:
    """The run as GitHub-flavoured Markdown, turns counted from 0.

    Whatever an agent, a tool or a case's name holds is shown as the characters it is made of: it ends no
    table, fence or heading and is no HTML. Control characters and what turns the direction of writing are
    shown; a text above 20,000 characters (1,000 in a table) is cut, and says by how much.
    """
    return "\n\n".join(block for block in _blocks(run) if block) + "\n"


def _blocks(run: RunResult) -> Iterator[str]:
    yield f"# Test report: {_name(run.suite_name)}"
    yield "## Summary"
    yield table(("Figure", "Value"), _summary(run))
    rollups = run.summary.metrics.values()
    yield from _titled("## Metrics", _metrics(rollups))
    yield from _titled("## Cases", _cases(run))
    yield from _titled("## Warnings", _warnings(run))
    for number, case in enumerate(run.cases, start=1):
        yield from _case(number, case)


def _titled(title: str, block: str) -> Iterator[str]:
    if block:
        yield title
        yield block


def _summary(run: RunResult) -> Iterator[tuple[str, str]]:
    s = run.summary
    failed = s.cases - s.cases_passed
    kinds = [(s.cases_failed, "failed"), (s.cases_error, "error"), (s.cases_skipped, "skipped")]
    split = ", ".join(f"{count:,} {kind}" for count, kind in kinds if count)
    yield "Cases", f"{s.cases:,}"
    yield "Passed", f"{s.cases_passed:,}"
    yield "Failed", f"{failed:,}{f' ({split})' if failed != s.cases_failed else ''}"
    yield "Pass rate", "n/a" if s.pass_rate is None else f"{100 * s.pass_rate:.1f} %"
    yield "Turns", of_all(s.turns_passed, s.turns, s.turn_pass_rate)
    yield "Duration", duration(s.duration_ms)
    yield "Tokens", tokens(s)
    yield "Cost", _cost(s)
    if run.started_at is not None:
        yield "Started", run.started_at.isoformat(timespec="seconds")
    if run.stop_reason is not None:
        yield "Stopped early", run.stop_reason
    if run.suite_path:
        yield "Suite file", run.suite_path
    if run.environment:
        yield "Environment", ", ".join(f"{name} {value}" for name, value in run.environment.items())
    if run.settings:
        yield "Settings", ", ".join(f"{name} {value}" for name, value in run.settings.items())


def _cost(summary: Summary) -> str:
    return "unknown" if summary.cost_usd is None else f"${summary.cost_usd:.4f}"


def _metrics(rollups: Iterable[MetricRollup]) -> str:
    return table(
        ("Metric", "Mean", "n", "Passed", "Failed", "Errors", "Threshold", "Verdict"),
        [
            (
                rollup.id,
                score(rollup.mean),
                f"{rollup.n:,}",
                f"{rollup.n_passed:,}",
                f"{rollup.n_failed:,}",
                f"{rollup.n_error:,}",
                "" if rollup.threshold is None else score(rollup.threshold),
                verdict(rollup.passed),
            )
            for rollup in rollups
        ],
    )


def _cases(run: RunResult) -> str:
    return table(
        ("#", "Case", "Verdict", "Turns passed", "Metrics", "Time", "Reason"),
        [
            (
                str(number),
                shortened(case.name, _MOST_IN_NAME),
                mark(case.status),
                f"{case.turns_passed} of {len(case.turns)}",
                ", ".join(f"{rollup.id} {score(rollup.mean)}" for rollup in case.metrics.values()),
                "" if case.duration_ms is None else duration(case.duration_ms),
                shortened(case.reason or "", _MOST_IN_REASON),
            )
            for number, case in enumerate(run.cases, start=1)
        ],
    )


def _warnings(run: RunResult) -> str:
    return table(
        ("Case", "Turn", "Place", "Warning"),
        [
            (
                warning.case or "",
                "" if warning.turn is None else str(warning.turn),
                warning.place,
                warning.text,
            )
            for warning in run.warnings
        ],
    )


def _case(number: int, case: CaseResult) -> Iterator[str]:
    yield f"## {number}. {_name(case.name)}"
    yield f"**Case:** {mark(case.status)}{_facts(case)}"
    if not case.multi_turn and len(case.turns) == 1:
        yield from turn_blocks(case.turns[0])
        return
    if case.reason is not None:
        yield f"**First failure:** {inline(case.reason)}"
    yield from _titled("**Metrics over the turns**", _metrics(case.metrics.values()))
    for turn in case.turns:
        yield f"### {number}. {_name(case.name)}: turn {turn.turn}"
        yield from turn_blocks(turn)


def _facts(case: CaseResult) -> str:
    told = {
        "Turns": f"{case.turns_passed} of {len(case.turns)} passed",
        "Time": None if case.duration_ms is None else duration(case.duration_ms),
        "Tokens": case.usage and case.usage.total_tokens and f"{case.usage.total_tokens:,}",
        "Repeat": str(case.repeat) if case.repeat else None,
        "Finished": case.finished_at and case.finished_at.isoformat(timespec="seconds"),
    }
    return "".join(f" · **{name}:** {value}" for name, value in told.items() if value)


def _name(text: str) -> str:
    """A name as a heading shows it."""
    return inline(text, _MOST_IN_NAME) or "(no name)"
