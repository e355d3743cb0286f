"""One turn of a JSON report read back: what was played, its calls, metrics and tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holodeck_nb.results.records import MetricResult, TokenUsage, ToolInvocation, TurnResult

from .report_checks import rebuilt_checks

if TYPE_CHECKING:
    from holodeck_nb.results.records import MetricStatus, ToolCheck

    from .report_shape import InvocationShape, MetricShape, TurnShape, UsageShape

__all__ = ["read_turn", "unused_errors"]


def read_turn(shape: TurnShape, number: int, *, own: bool) -> TurnResult:
    """A turn as far as the report tells it.

    Args:
        shape: The turn's entry.
        number: Its place in the case, from 0, for reports that do not number them.
        own: Whether the report is ours: HoloDeck may count cached tokens beside the prompt, and may say of a
            turn that broke off that its tools did not match.
    """
    calls = tuple(_invocation(call) for call in shape.tool_invocations) or tuple(
        ToolInvocation(name, args=None) for name in shape.tool_calls
    )
    said = "; ".join(shape.errors)
    silent = shape.response is None and not shape.metric_results
    broken = silent and bool(said) and not (own and shape.tools_matched is not None)
    unplayed = shape.skipped or broken
    return TurnResult(
        turn=number if shape.turn_index is None else shape.turn_index,
        input=shape.input,
        ground_truth=shape.ground_truth,
        expected_tools=None if shape.expected_tools is None else tuple(shape.expected_tools),
        response=shape.response,
        tool_calls=calls,
        tool_checks=None if unplayed else rebuilt_checks(shape, calls),
        metrics=tuple(_metric(part, shape.grader_details or {}) for part in shape.metric_results),
        usage=None if shape.token_usage is None else _usage(shape.token_usage, own=own),
        error=said if broken and not shape.skipped else None,
        skip_reason=said or "skipped" if shape.skipped else None,
        duration_ms=None if shape.skipped else shape.execution_time_ms,
    )


def unused_errors(errors: list[str], checks: tuple[ToolCheck, ...]) -> list[str]:
    """The errors that became no check's reason."""
    used = Counter(check.reason for check in checks if not check.matched)
    left = []
    for error in errors:
        if used[error]:
            used[error] -= 1
        else:
            left.append(error)
    return left


def _invocation(shape: InvocationShape) -> ToolInvocation:
    raw = shape.args.get("_raw")
    unreadable = set(shape.args) == {"_raw"} and isinstance(raw, str)
    return ToolInvocation(
        shape.name,
        args=None if unreadable else shape.args,
        result=shape.result,
        error=shape.error,
        duration_ms=shape.duration_ms,
        raw_args=raw if unreadable else None,
    )


def _metric(shape: MetricShape, details: Mapping[str, Any]) -> MetricResult:
    extra = details.get(shape.metric_name)
    return MetricResult(
        shape.metric_name,
        shape.kind,
        _status(shape),
        score=None if shape.error else shape.score,
        threshold=shape.threshold,
        reason=shape.error or shape.reasoning,
        details=extra if isinstance(extra, Mapping) else None if extra is None else {"details": extra},
        model=shape.model_used,
        retries=shape.retry_count or 0,
        duration_ms=shape.evaluation_time_ms,
    )


def _status(shape: MetricShape) -> MetricStatus:
    if shape.error:
        return "error"
    if shape.passed is None:
        return "scored"
    return "passed" if shape.passed else "failed"


def _usage(shape: UsageShape, *, own: bool) -> TokenUsage:
    created, read = shape.cache_creation_tokens or None, shape.cache_read_tokens or None
    cached = (created or 0) + (read or 0)
    beside = not own and shape.total_tokens == shape.prompt_tokens + shape.completion_tokens + cached
    return TokenUsage(
        shape.prompt_tokens + (cached if beside else 0),
        shape.completion_tokens,
        shape.total_tokens,
        cache_creation_tokens=created,
        cache_read_tokens=read,
    )
