"""Turns as mappings for the journal, and back: all that a TurnResult holds, what is empty left out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holodeck_nb.results.records import (
    ArgumentCheck,
    FileRecord,
    MetricResult,
    RunWarning,
    TokenUsage,
    ToolCheck,
    ToolInvocation,
    TurnResult,
)
from holodeck_nb.views.json_turns import without_query

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["asked_data", "moment", "turn_data", "turn_of", "warning_data", "warning_of"]

# What the suite alone tells of a turn, and the plain fields of what happened.
_ASKED = ("input", "ground_truth", "expected_tools", "retrieval_context", "turn_config")
_PLAIN = (
    "response", "error", "skip_reason", "duration_ms", "cost_usd", "model", "finish_reason", "refused",
    "truncated",
)  # fmt: skip
_TOKENS = ("prompt_tokens", "completion_tokens", "total_tokens", "cache_creation_tokens", "cache_read_tokens")
_LISTED = ("expected_tools", "retrieval_context")


def turn_data(turn: TurnResult) -> dict[str, Any]:
    """A turn; `status` is for readers of the file, what is None, False or empty stays out."""
    data = {"turn": turn.turn, "status": turn.status, **_given(turn, _ASKED), **_given(turn, _PLAIN)}
    if turn.started_at is not None:
        data["started_at"] = turn.started_at.isoformat()
    if turn.usage is not None:
        data["usage"] = _usage_data(turn.usage)
    if turn.tool_calls:
        data["tool_calls"] = [_call_data(call) for call in turn.tool_calls]
    if turn.tool_checks is not None:
        data["tool_checks"] = [_check_data(check) for check in turn.tool_checks]
    if turn.metrics:
        data["metrics"] = [_metric_data(metric) for metric in turn.metrics]
    if turn.files:
        data["files"] = [_file_data(file) for file in turn.files]
    return data


def turn_of(data: Mapping[str, Any]) -> TurnResult:
    """The turn that `turn_data` wrote.

    Raises:
        KeyError, TypeError, ValueError: It did not write that.
    """
    get = data.get
    told: dict[str, Any] = {name: data[name] for name in _PLAIN if name in data}
    started_at, usage, checks = get("started_at"), get("usage"), get("tool_checks")
    return TurnResult(
        data["turn"],
        **asked_of(data),
        **told,
        started_at=None if started_at is None else moment(started_at),
        usage=None if usage is None else TokenUsage(**usage),
        tool_calls=tuple([ToolInvocation(**call) for call in get("tool_calls", ())]),
        tool_checks=None if checks is None else tuple([_check_of(check) for check in checks]),
        metrics=tuple([MetricResult(**metric) for metric in get("metrics", ())]),
        files=tuple([FileRecord(**file) for file in get("files", ())]),
    )


def asked_data(told: Mapping[str, Any]) -> dict[str, Any]:
    """What the suite tells of a turn that has not been played (see `TurnPlan.told`)."""
    return {name: told[name] for name in _ASKED if told.get(name) is not None}


def asked_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a TurnResult that `asked_data` wrote."""
    asked = {name: data[name] for name in _ASKED if name in data}
    for name in _LISTED:
        if name in asked:
            asked[name] = tuple(asked[name])
    return {"input": data["input"], **asked}


def warning_data(warning: RunWarning) -> dict[str, Any]:
    """A warning; what it does not speak of stays out."""
    return {"text": warning.text, **_given(warning, ("case", "turn", "place"))}


def warning_of(data: Mapping[str, Any]) -> RunWarning:
    """The warning that `warning_data` wrote."""
    return RunWarning(data["text"], data.get("case"), data.get("turn"), data.get("place", ""))


def moment(text: str) -> datetime:
    """A moment in UTC from its ISO text."""
    return datetime.fromisoformat(text)


def _given(record: object, names: Iterable[str]) -> dict[str, Any]:
    """The fields that say something; 0 says something, and so does an empty reply or list."""
    return {
        name: value
        for name in names
        if (value := getattr(record, name)) is not None
        and value is not False
        and (value != "" or name != "place")
    }


def _usage_data(usage: TokenUsage) -> dict[str, Any]:
    data = _given(usage, _TOKENS)
    return data if usage.complete else {**data, "complete": False}


def _call_data(call: ToolInvocation) -> dict[str, Any]:
    data = {"name": call.name, "args": call.args}
    return data | _given(call, ("error", "duration_ms", "raw_args", "id")) | _result(call.result)


def _result(result: Any) -> dict[str, Any]:
    return {} if result is None else {"result": result}


def _check_data(check: ToolCheck) -> dict[str, Any]:
    data: dict[str, Any] = {
        "tool": check.tool,
        "count": check.count,
        "args": check.args,
        "matched": check.matched,
    }
    if check.matched_calls:
        data |= {"matched_calls": check.matched_calls, "matched_names": check.matched_names}
    if check.arguments:
        data["arguments"] = [_argument_data(argument) for argument in check.arguments]
    return data | _given(check, ("closest_call", "reason"))


def _argument_data(argument: ArgumentCheck) -> dict[str, Any]:
    data = {
        "arg": argument.arg,
        "matcher": argument.matcher,
        "expected": argument.expected,
        "actual": argument.actual,
        "missing": argument.missing,
        "matched": argument.matched,
    }
    return data if argument.reason is None else {**data, "reason": argument.reason}


def _check_of(data: Mapping[str, Any]) -> ToolCheck:
    get = data.get
    return ToolCheck(
        data["tool"],
        data["count"],
        data["args"],
        data["matched"],
        tuple(get("matched_calls", ())),
        tuple(get("matched_names", ())),
        tuple([ArgumentCheck(**argument) for argument in get("arguments", ())]),
        get("closest_call"),
        get("reason"),
    )


def _metric_data(metric: MetricResult) -> dict[str, Any]:
    data: dict[str, Any] = {"id": metric.id, "kind": metric.kind, "status": metric.status}
    data |= _given(metric, ("score", "threshold", "reason", "details", "model", "duration_ms", "definition"))
    if metric.retries:
        data["retries"] = metric.retries
    return data if metric.verdict is None else {**data, "verdict": metric.verdict}


def _file_data(file: FileRecord) -> dict[str, Any]:
    data = {**_given(file, ("path", "type", "details"))}
    return data if file.url is None else {**data, "url": without_query(file.url)}
