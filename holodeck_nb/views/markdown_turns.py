"""One turn in the Markdown report: what was asked, what came back, what was checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .asserted_arguments import argument_rows
from .json_turns import without_query
from .markdown_text import fenced, inline, table
from .plain_data import plain
from .wording import MARKS, duration, mark, score, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holodeck_nb.results.records import FileRecord, MetricResult, ToolInvocation, TurnResult

__all__ = ["turn_blocks"]


def turn_blocks(turn: TurnResult) -> Iterator[str]:
    """The blocks of a turn, in reading order; blank lines come between them."""
    yield f"**Verdict:** {mark(turn.status)}{_facts(turn)}"
    if turn.reason is not None:
        yield f"**Reason:** {inline(turn.reason)}"
    yield from _text("Input", turn.input)
    if turn.ground_truth is not None:
        yield from _text("Ground truth", turn.ground_truth)
    yield from _response(turn)
    yield from _titled(
        "Tool calls",
        table(
            ("#", "Tool", "Arguments", "Result", "Error", "Time"),
            [_call(number, call) for number, call in enumerate(turn.tool_calls)],
        ),
    )
    yield from _expected_tools(turn)
    yield from _titled(
        "Metrics",
        table(
            ("Metric", "Score", "Threshold", "Verdict", "Reason", "Model", "Retries"),
            [_metric(metric) for metric in turn.metrics],
        ),
    )
    yield from _titled("Files", table(("File", "Type", "Details"), [_file(file) for file in turn.files]))


def _facts(turn: TurnResult) -> str:
    told = {
        "Time": None if turn.duration_ms is None else duration(turn.duration_ms),
        "Started": turn.started_at and turn.started_at.isoformat(timespec="seconds"),
        "Tokens": turn.usage and turn.usage.total_tokens and f"{turn.usage.total_tokens:,}",
        "Model": turn.model,
        "Finish reason": turn.finish_reason,
    }
    return "".join(f" · **{name}:** {inline(str(value))}" for name, value in told.items() if value)


def _text(title: str, text: str) -> Iterator[str]:
    yield f"**{title}**"
    yield fenced(text)


def _response(turn: TurnResult) -> Iterator[str]:
    notes = [word for word, so in (("refused", turn.refused), ("cut off", turn.truncated)) if so]
    title = f"Response ({', '.join(notes)})" if notes else "Response"
    if turn.response:
        yield from _text(title, turn.response)
    else:
        yield f"**{title}:** *{'no reply' if turn.response is None else 'an empty reply'}*"


def _titled(title: str, block: str) -> Iterator[str]:
    if block:
        yield f"**{title}**"
        yield block


def _call(number: int, call: ToolInvocation) -> tuple[str, ...]:
    args = f"unreadable: {call.raw_args or ''}" if call.args is None else _json(call.args)
    result = "" if call.result is None else _json(call.result)
    time = "" if call.duration_ms is None else duration(call.duration_ms)
    return str(number), call.name, args, result, call.error or "", time


def _expected_tools(turn: TurnResult) -> Iterator[str]:
    if turn.tool_checks is None and turn.expected_tools:
        yield f"**Expected tools** (not checked): {inline(', '.join(map(_tool, turn.expected_tools)))}"
        return
    rows = [
        (
            str(number),
            check.tool if check.count == 1 else f"{check.tool}, at least {check.count} times",
            f"{MARKS['passed']} matched" if check.matched else f"{MARKS['failed']} not matched",
            *(
                ("", "", "", "", row.reason or "")
                if row.arg is None
                else (
                    row.arg,
                    f"{row.matcher} {_json(row.expected)}",
                    _json(row.actual) if row.known else "not known" if row.matched is None else "missing",
                    "unknown" if row.matched is None else "fits" if row.matched else "does not fit",
                    row.reason or "",
                )
            ),
        )
        for number, check in enumerate(turn.tool_checks or ())
        for row in argument_rows(check)
    ]
    headers = ("#", "Tool", "Verdict", "Argument", "Expected", "Actual", "Argument's verdict", "Reason")
    yield from _titled("Expected tools", table(headers, rows))


def _tool(written: Any) -> str:
    return written if isinstance(written, str) else _json(written)


def _metric(metric: MetricResult) -> tuple[str, ...]:
    words = {"scored": "no verdict", "not_applicable": "not applicable", "error": mark("error")}
    return (
        metric.id,
        score(metric.score),
        "" if metric.threshold is None else score(metric.threshold),
        words.get(metric.status) or verdict(metric.passed),
        metric.reason or "",
        metric.model or "",
        str(metric.retries),
    )


def _file(file: FileRecord) -> tuple[str, ...]:
    shown = {name: value for name, value in file.details.items() if name != "markdown_content"}
    where = file.path or (without_query(file.url) if file.url else "")
    return where, file.type, _json(shown) if shown else ""


def _json(value: Any) -> str:
    """As JSON, on one line: text in quotes, so that 20 and "20" differ."""
    return json.dumps(plain(value), ensure_ascii=False)
