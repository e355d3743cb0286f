"""Suites, runs and summaries as cards for notebooks and as one line for terminals."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .card import SCOPE, STYLE, cell, facts, paragraph, table
from .run_breakdown import by_turn, failing_reasons, worst_cases
from .visible_text import one_line, shortened
from .wording import counted, duration, judged, mark, of_all, score, tokens, totals, verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holodeck_nb.results.repeats import PassEstimate
    from holodeck_nb.results.rollup import RunResult, Summary

__all__ = ["run_html", "run_line", "suite_html", "suite_line", "summary_html", "summary_line"]

_MOST_METRICS = 30
_NAME, _REASON, _TEXT = 80, 300, 600


def run_html(run: RunResult) -> str:
    """A card: pass rates with their n, metrics, pass rates by turn, failing reasons, worst cases, warnings.

    Static and self-contained (no script, nothing to fetch), all text escaped, in the colours of the theme.
    """
    summary = run.summary
    stopped = [] if run.stop_reason is None else [paragraph(f"Stopped early: {run.stop_reason}", _REASON)]
    rates = (
        f'<div class="columns"><div>{_totals(summary)}{_metrics(summary)}</div>{_beside(by_turn(run))}</div>'
    )
    parts = [*stopped, rates, failing_reasons(run), worst_cases(run), _warnings(run)]
    return _card("Run", run.suite_name, _outcome(summary), parts)


def run_line(run: RunResult) -> str:
    """`<Run 'fin': 8 of 10 cases passed (80.0 %), 27 of 31 turns, 1.8 s>`, always one line."""
    stopped = "" if run.stop_reason is None else f", stopped early: {_short(run.stop_reason)}"
    return f"<Run {_quoted(run.suite_name)}: {totals(run.summary)}{stopped}>"


def summary_html(summary: Summary) -> str:
    """A card: counts and pass rates of cases and turns, time, tokens, cost, metrics with their n."""
    return _card("Summary", "", _outcome(summary), [_totals(summary), _metrics(summary)])


def summary_line(summary: Summary) -> str:
    """`<Summary: 8 of 10 cases passed (80.0 %), 27 of 31 turns, 1.8 s>`."""
    return f"<Summary: {totals(summary)}>"


def suite_html(  # noqa: PLR0913 - plain facts by keyword: views know no suite
    *,
    name: str,
    cases: int,
    turns: int,
    metrics: Sequence[str] = (),
    model: str | None = None,
    description: str | None = None,
    tools: Sequence[str] = (),
    path: str = "",
) -> str:
    """A card of a suite that has not run: how much there is to play, how it is judged, by which model."""
    rows = [
        ("Cases", f"{cases:,}"),
        ("Turns", f"{turns:,}"),
        ("Metrics", ", ".join(metrics) or "none for the whole suite"),
        ("Model", model or "none: give run an agent or a backend"),
    ]
    if tools:
        rows.append(("Tools", ", ".join(tools)))
    if path:
        rows.append(("File", path))
    told = [paragraph(description, _TEXT)] if description and description.strip() else []
    return _card("Suite", name, "", [*told, facts(rows)])


def suite_line(
    *, name: str, cases: int, turns: int, metrics: Sequence[str] = (), model: str | None = None
) -> str:
    """`<Suite 'fin': 10 cases, 31 turns, metrics: numeric, model: ollama:qwen3:8b>`, always one line."""
    parts = [counted(cases, "case"), counted(turns, "turn")]
    parts += [f"metrics: {_short(', '.join(metrics))}"] if metrics else ["no metrics"]
    parts += [f"model: {_short(model)}"] if model else []
    return f"<Suite {_quoted(name)}: {', '.join(parts)}>"


def _card(kind: str, name: str, outcome: str, parts: Iterable[str]) -> str:
    title = f"{kind} <strong>{cell(name, _NAME)}</strong>" if name else f"<strong>{kind}</strong>"
    inner = "".join(part for part in parts if part)
    return f'<div class="{SCOPE}">{STYLE}<div class="head">{title}{outcome}</div>{inner}</div>'


def _beside(part: str) -> str:
    return f"<div>{part}</div>" if part else ""


def _outcome(summary: Summary) -> str:
    if not summary.cases:
        return ""
    good = summary.cases_passed == summary.cases
    tone = "good" if good else "bad"
    return f' <span class="{tone}">{escape(mark("passed" if good else "failed"))}</span>'


def _totals(summary: Summary) -> str:
    def row(what: str, passed: int, every: int, rate: float | None, others: Sequence[int]) -> tuple[str, str]:
        named = zip(("failed", "error", "skipped"), others, strict=True)
        rest = ", ".join(f"{count:,} {status}" for status, count in named if count)
        return what, f"{of_all(passed, every, rate)}{f'; {rest}' if rest else ''}"

    s = summary
    rows = [
        row("Cases", s.cases_passed, s.cases, s.pass_rate, (s.cases_failed, s.cases_error, s.cases_skipped)),
        row(
            "Turns",
            s.turns_passed,
            s.turns,
            s.turn_pass_rate,
            (s.turns_failed, s.turns_error, s.turns_skipped),
        ),
        ("Time", duration(s.duration_ms)),
        ("Tokens", tokens(s)),
    ]
    if s.cost_usd is not None:
        rows.append(("Cost", f"${s.cost_usd:.4f}"))
    if s.judging is not None:
        rows.append(("Judges", judged(s.judging)))
    if s.pass_at:
        rows.append(("Repeats", _repeats(s.pass_at[-1])))
    return facts(rows)


def _repeats(estimate: PassEstimate) -> str:
    k, n = estimate.k, counted(estimate.n, "case")
    return f"pass@{k} {100 * estimate.at_least_one:.1f} %, pass^{k} {100 * estimate.all:.1f} % over {n}"


def _metrics(summary: Summary) -> str:
    rollups = list(summary.metrics.values())
    rows = [
        (
            cell(rollup.id, _NAME),
            score(rollup.mean),
            f"{rollup.n:,}",
            f"{rollup.n_passed:,}",
            f"{rollup.n_failed:,}",
            f"{rollup.n_error:,}",
            escape(verdict(rollup.passed)),
        )
        for rollup in rollups[:_MOST_METRICS]
    ]
    title = f"Metrics: the first {_MOST_METRICS} of {len(rollups)}" if len(rows) < len(rollups) else "Metrics"
    headers = ("Metric", "Mean", "n", "Passed", "Failed", "Errors", "Verdict")
    return table(title, headers, rows, numbers=range(1, 6), whole=(0, 6))


def _warnings(run: RunResult) -> str:
    if not run.warnings:
        return ""
    return paragraph(f"{counted(len(run.warnings), 'warning')}: see run.warnings", _TEXT)


def _quoted(name: str) -> str:
    """The name as Python quotes it: line breaks and unseen characters are escaped."""
    return repr(shortened(name, _NAME))


def _short(text: str) -> str:
    return shortened(one_line(text), _NAME)
