"""One turn as HTML: what was asked, what came back, what was called, what was checked and why it fails."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from .asserted_arguments import argument_rows
from .card import cell, table
from .conversation_parts import bounded, folded, labelled, names, value
from .json_turns import without_query
from .visible_text import one_line
from .wording import MARKS, counted, duration, mark, score, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holodeck_nb.results.records import FileRecord, MetricResult, ToolCheck, ToolInvocation, TurnResult

__all__ = ["turn_html"]

_MOST_CALLS, _MOST_CHECKS, _MOST_METRICS, _MOST_FILES = 100, 100, 60, 20
_NAME, _GIST, _LINE = 200, 160, 1_000
_MOST_NAMED = 5  # calls that fit one entry
_TONES = {"passed": "good", "failed": "bad", "error": "bad", "skipped": "idle"}


def turn_html(turn: TurnResult, *, unfolded: bool) -> str:
    """A turn that folds: its verdict and question in the line that stays, everything else below."""
    return (
        f'<details class="turn {turn.status}" data-turn="{turn.turn}"{" open" if unfolded else ""}>'
        f"<summary>{_headline(turn)}</summary>"
        f'<div class="inside">{"".join(_parts(turn))}</div></details>'
    )


def _headline(turn: TurnResult) -> str:
    told = [] if turn.duration_ms is None else [duration(turn.duration_ms)]
    if turn.usage is not None and turn.usage.total_tokens is not None:
        told.append(f"{'' if turn.usage.complete else 'at least '}{turn.usage.total_tokens:,} tokens")
    return (
        f'<span class="mark {_TONES[turn.status]}">{escape(mark(turn.status))}</span> '
        f'<span class="number">turn {turn.turn}</span> '
        f'<span class="question" dir="auto">{cell(one_line(turn.input[: 2 * _GIST]), _GIST)}</span> '
        f'<span class="facts">{escape(" · ".join(told))}</span>'
    )


def _parts(turn: TurnResult) -> Iterator[str]:
    if not turn.passed:
        reasons, more = bounded(turn.failures, _MOST_CHECKS, "reasons")
        lines = "".join(f'<li dir="auto">{cell(reason, _LINE)}</li>' for reason in reasons)
        yield f'<div class="why" role="group" aria-label="Why it is not passed"><ul>{lines}</ul>{more}</div>'
    yield labelled(_texts(turn))
    yield from _calls(turn)
    yield from _checks(turn)
    yield from _metrics(turn)
    yield from _files(turn)
    yield _footer(turn)


def _texts(turn: TurnResult) -> Iterator[tuple[str, str]]:
    yield "Input", folded(turn.input)
    notes = [word for word, so in (("refused", turn.refused), ("cut off", turn.truncated)) if so]
    if turn.response is None:
        reply = '<div class="none">no reply</div>'
    elif turn.response == "":
        reply = '<div class="none">an empty reply</div>'
    else:
        reply = folded(turn.response)
    yield (f"Reply ({', '.join(notes)})" if notes else "Reply"), reply
    if turn.ground_truth is not None:
        yield "Ground truth", folded(turn.ground_truth)
    if turn.retrieval_context:
        passages, more = bounded(turn.retrieval_context, _MOST_FILES, "passages")
        yield "Passages", "".join(folded(passage) for passage in passages) + more


def _calls(turn: TurnResult) -> Iterator[str]:
    calls, more = bounded(turn.tool_calls, _MOST_CALLS, "calls")
    rows = [_call(number, call) for number, call in enumerate(calls)]
    headers = ("#", "Tool", "Arguments", "Result", "Time")
    yield table(f"{counted(len(turn.tool_calls), 'tool call')}", headers, rows, numbers=(4,), whole=(0, 1))
    yield more


def _call(number: int, call: ToolInvocation) -> tuple[str, ...]:
    if call.args is None:
        args = f'<div class="none">unreadable:</div>{folded(call.raw_args or "", "code")}'
    else:
        args = _arguments(call.args)
    result = "" if call.result is None and call.error is not None else value(call.result)
    if call.error is not None:
        result += f'<div class="bad">{escape(MARKS["error"])} {folded(call.error)}</div>'
    time = "" if call.duration_ms is None else _unbroken(duration(call.duration_ms))
    return names(number), cell(call.name, _NAME), args, result, time


def _arguments(args: Any) -> str:
    pairs, more = bounded(list(args.items()), _MOST_CALLS, "arguments")
    lines = "".join(
        f'<div class="pair"><span class="name">{cell(str(name), _NAME)}</span> {value(given)}</div>'
        for name, given in pairs
    )
    return (lines + more) or '<div class="none">none</div>'


def _checks(turn: TurnResult) -> Iterator[str]:
    if turn.tool_checks is None:
        if turn.expected_tools:
            wanted = "".join(value(tool) for tool in turn.expected_tools[:_MOST_CHECKS])
            yield labelled([("Expected tools, not checked", wanted)])
        return
    checks, more = bounded(turn.tool_checks, _MOST_CHECKS, "expected tools")
    rows = [row for check in checks for row in _check(check)]
    headers = ("Expected tool", "Argument", "Expected", "Called with", "Verdict", "Why not")
    yield table("Expected against called", headers, rows, whole=(0, 1, 4))
    yield more


def _check(check: ToolCheck) -> Iterator[tuple[str, ...]]:
    """One row an asserted argument; the tool stands on the first of them."""
    tool = _tool(check)
    for row in argument_rows(check):
        if row.arg is None:
            why = "" if check.matched else cell(check.reason or "", _LINE)
            yield tool, '<span class="none">any</span>', "", "", "", why
            return
        asserted = "" if row.matcher == "exact" else f'<span class="soft">{row.matcher}</span>&nbsp;'
        actual = value(row.actual) if row.known else '<div class="none">missing</div>'
        yield (
            tool,
            cell(row.arg, _NAME),
            f"{asserted}{value(row.expected)}",
            actual if row.matched is not None else "",
            '<span class="soft">not told</span>' if row.matched is None else _verdict(row.matched),
            cell(row.reason or "", _LINE),
        )
        tool = ""


def _tool(check: ToolCheck) -> str:
    """The verdict of an entry, its name, and the call that the verdicts of its arguments speak of."""
    if check.matched:
        told = ", ".join(["matched", *(f"call {names(call)}" for call in check.matched_calls[:_MOST_NAMED])])
    else:
        closest = "no call" if check.closest_call is None else f"closest call {names(check.closest_call)}"
        told = f"not matched, {closest}"
    least = f'<div class="soft">at least {check.count} times</div>' if check.count != 1 else ""
    tone, glyph = ("good", MARKS["passed"]) if check.matched else ("bad", MARKS["failed"])
    name = f'<span class="{tone}">{glyph}</span>&nbsp;<strong>{cell(check.tool, _NAME)}</strong>'
    return f'{name}{least}<div class="soft">{told}</div>'


def _verdict(fits: bool) -> str:
    tone, glyph, word = (
        ("good", MARKS["passed"], "fits") if fits else ("bad", MARKS["failed"], "does not fit")
    )
    return f'<span class="{tone}">{_unbroken(f"{glyph} {word}")}</span>'


def _unbroken(text: str) -> str:
    return escape(text).replace(" ", "&nbsp;")


def _metrics(turn: TurnResult) -> Iterator[str]:
    metrics, more = bounded(turn.metrics, _MOST_METRICS, "metrics")
    rows = [_metric(metric) for metric in metrics]
    headers = ("Verdict", "Metric", "Score", "Threshold", "Reason", "Time")
    yield table("Metrics", headers, rows, numbers=(2, 3, 5), whole=(0, 1))
    yield more


def _metric(metric: MetricResult) -> tuple[str, ...]:
    words = {"scored": "no verdict", "not_applicable": "not applicable", "error": mark("error")}
    told = words.get(metric.status) or verdict(metric.passed)
    tone = {"passed": "good", "failed": "bad", "error": "bad"}.get(metric.status, "soft")
    reason = folded(metric.reason) if metric.reason else ""
    if metric.details:
        reason += f'<details class="long"><summary>details</summary>{value(metric.details)}</details>'
    by = [metric.model] if metric.model else []
    by += [counted(metric.retries, "retry").replace("retrys", "retries")] if metric.retries else []
    who = f'<div class="soft">{cell(", ".join(by), _NAME)}</div>' if by else ""
    return (
        f'<span class="{tone}">{_unbroken(told)}</span>',
        cell(metric.id, _NAME) + who,
        score(metric.score),
        "" if metric.threshold is None else score(metric.threshold),
        reason,
        "" if metric.duration_ms is None else _unbroken(duration(metric.duration_ms)),
    )


def _files(turn: TurnResult) -> Iterator[str]:
    files, more = bounded(turn.files, _MOST_FILES, "files")
    yield table("Files", ("File", "Type", "Details"), [_file(file) for file in files])
    yield more


def _file(file: FileRecord) -> tuple[str, ...]:
    shown = {name: told for name, told in file.details.items() if name != "markdown_content"}
    where = file.path or (without_query(file.url) if file.url else "")
    return cell(where, _LINE), cell(file.type, _NAME), value(shown) if shown else ""


def _footer(turn: TurnResult) -> str:
    usage = turn.usage
    told = {
        "Model": turn.model,
        "Finish reason": turn.finish_reason,
        "Prompt tokens": usage and _count(usage.prompt_tokens),
        "Completion tokens": usage and _count(usage.completion_tokens),
        "Read from cache": usage and _count(usage.cache_read_tokens),
        "Cost": None if turn.cost_usd is None else f"${turn.cost_usd:.4f}",
        "Started": turn.started_at and turn.started_at.isoformat(sep=" ", timespec="seconds"),
    }
    parts = [f"{name} {cell(str(said), _NAME)}" for name, said in told.items() if said]
    return f'<div class="note">{" · ".join(parts)}</div>' if parts else ""


def _count(number: int | None) -> str | None:
    return None if number is None else f"{number:,}"
