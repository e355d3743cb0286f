"""The parts of a JSON report below the case: turns, metrics, tool calls, files, tokens."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from .plain_data import clean, plain

if TYPE_CHECKING:
    from holodeck_nb.results.records import (
        FileRecord,
        MetricResult,
        TokenUsage,
        ToolCheck,
        ToolInvocation,
        TurnResult,
    )

__all__ = [
    "FILE_KEYS",
    "file_entry",
    "finite",
    "metric_entry",
    "milliseconds",
    "optional_text",
    "summed_usage",
    "turn_entry",
    "turn_errors",
    "without_query",
]

SCALE = "0-1"
FILE_KEYS = ("description", "pages", "sheet", "range", "cache")
_TOKENS = ("prompt_tokens", "completion_tokens", "total_tokens", "cache_creation_tokens", "cache_read_tokens")


def turn_entry(turn: TurnResult) -> dict[str, Any]:
    """One turn as the report lists it under `turns`; `response` is null on a turn that ended in an error."""
    invocations = [_invocation(call) for call in turn.tool_calls]
    metrics = [metric for metric in turn.metrics if metric.status != "not_applicable"]
    return {
        "turn_index": turn.turn,
        "input": clean(turn.input),
        "response": None if turn.status in {"error", "skipped"} else optional_text(turn.response),
        "ground_truth": optional_text(turn.ground_truth),
        "expected_tools": None
        if turn.expected_tools is None
        else [plain(tool) for tool in turn.expected_tools],
        "tool_calls": [invocation["name"] for invocation in invocations],
        "tool_invocations": invocations,
        "tools_matched": turn.tools_matched,
        "arg_match_details": [_detail(check) for check in turn.tool_checks or () if check.args] or None,
        "metric_results": [metric_entry(metric) for metric in metrics],
        "passed": turn.passed,
        "execution_time_ms": milliseconds(turn.duration_ms) or 0,
        "token_usage": _usage(turn.usage),
        "errors": turn_errors(turn),
        "skipped": turn.status == "skipped",
        "grader_details": {clean(metric.id): plain(metric.details) for metric in metrics if metric.details}
        or None,
    }


def turn_errors(turn: TurnResult) -> list[str]:
    """Why the turn broke off or was skipped, else each expected tool that did not match.

    What a metric has to say stands with the metric.
    """
    if turn.skip_reason is not None:
        return [clean(turn.skip_reason) or "skipped"]
    if turn.error is not None:
        return [clean(turn.error) or "error"]
    return [_reason(check) for check in turn.tool_checks or () if not check.matched]


def metric_entry(metric: MetricResult) -> dict[str, Any]:
    """One metric; `error` is set where it could not be measured, and then `score` 0.0 means nothing."""
    reason = optional_text(metric.reason)
    broken = metric.status == "error"
    return {
        "metric_name": clean(metric.id),
        "kind": "standard" if metric.kind == "evaluate" else metric.kind,
        "score": 0.0 if broken else finite(metric.score),
        "threshold": finite(metric.threshold),
        "passed": metric.passed,
        "scale": SCALE,
        "error": reason or "not measured" if broken else None,
        "retry_count": metric.retries,
        "evaluation_time_ms": milliseconds(metric.duration_ms) or 0,
        "model_used": optional_text(metric.model),
        "reasoning": None if broken else reason,
    }


def file_entry(file: FileRecord, turn: int | None) -> dict[str, Any]:
    """One file of a case; `metadata.turn` says of which turn, where the case has several (None: it has one).

    Details that a suite file knows (`description`, `pages`, `sheet`, …) stand in `original`, slides as pages.
    """
    details = plain(file.details)
    slides = details.pop("slides", None)
    if details.get("pages") is None:
        details["pages"] = slides
    original = {
        "path": optional_text(file.path),
        "url": None if file.url is None else without_query(clean(file.url)),
        "type": clean(file.type) or "text",
        **{key: details.pop(key, None) for key in FILE_KEYS},
    }
    entry = {
        "original": original,
        "markdown_content": _as_text(details.pop("markdown_content", None)) or "",
        "cached_path": _as_text(details.pop("cached_path", None)),
        "processing_time_ms": milliseconds(details.pop("processing_time_ms", None)),
        "error": _as_text(details.pop("error", None)),
    }
    metadata = details if turn is None else {**details, "turn": turn}
    return {**entry, "metadata": metadata or None}


def without_query(url: str) -> str:
    """The address without what may be signed or secret: query, fragment, user and password."""
    try:
        parts = urlsplit(url)
    except ValueError:  # such as half a bracket
        return url.partition("?")[0].partition("#")[0]
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def summed_usage(entries: list[dict[str, int] | None]) -> dict[str, int] | None:
    """Element by element over what the turns' entries know; None where none knows anything."""
    known = [entry for entry in entries if entry is not None]
    return {name: sum(entry[name] for entry in known) for name in _TOKENS} if known else None


def milliseconds(duration_ms: object) -> int | None:
    """Rounded to whole milliseconds; None where it is unknown."""
    if not isinstance(duration_ms, int | float) or not math.isfinite(duration_ms):
        return None
    return round(duration_ms)


def optional_text(text: str | None) -> str | None:
    """The text, fit for UTF-8; None stays None."""
    return None if text is None else clean(text)


def finite(number: float | None) -> float | None:
    """The number, None where it is NaN or infinite."""
    return None if number is None or not math.isfinite(number) else float(number)


def _usage(usage: TokenUsage | None) -> dict[str, int] | None:
    """Null unless prompt, completion and total are known; cache counts that are unknown are written 0."""
    if usage is None or not usage.is_known:
        return None
    return {name: getattr(usage, name) or 0 for name in _TOKENS}


def _invocation(call: ToolInvocation) -> dict[str, Any]:
    result = plain(call.result)
    return {
        "name": clean(call.name),
        "args": {"_raw": clean(call.raw_args or "")} if call.args is None else plain(call.args),
        "result": result,
        "bytes": len(json.dumps(result, default=str)),
        "duration_ms": milliseconds(call.duration_ms),
        "error": optional_text(call.error),
    }


def _detail(check: ToolCheck) -> dict[str, Any]:
    fits = check.matched and bool(check.matched_calls)
    return {
        "expected_tool": clean(check.tool),
        "args_asserted": plain(check.args),
        "matched_call_index": check.matched_calls[0] if fits else -1,
        "unmatched_reason": None if check.matched else _reason(check),
    }


def _reason(check: ToolCheck) -> str:
    return clean(check.reason or f"{check.tool}: not matched")


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)
