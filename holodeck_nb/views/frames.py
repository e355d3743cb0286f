"""A run as DataFrames: turns, metrics, tool calls, tool checks, cases, failures, warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holodeck_nb.collection import paused
from holodeck_nb.results.columns import (
    CASE_COLUMNS,
    METRIC_COLUMNS,
    TOOL_CALL_COLUMNS,
    TOOL_CHECK_COLUMNS,
    TURN_COLUMNS,
    WARNING_COLUMNS,
)
from holodeck_nb.results.rollup import CaseResult

from .asserted_arguments import argument_rows
from .plain_data import clean, thawed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from holodeck_nb.results.records import TokenUsage, TurnResult
    from holodeck_nb.results.rollup import RunResult

__all__ = [
    "cases_frame",
    "failures_frame",
    "metrics_frame",
    "tool_calls_frame",
    "tool_checks_frame",
    "turns_frame",
    "warnings_frame",
]

_TAKEN = frozenset({*TURN_COLUMNS, *CASE_COLUMNS})


@paused()
def turns_frame(run: RunResult) -> pd.DataFrame:
    """One row a turn, in the order in which the suite lists them.

    Columns: those of `TURN_COLUMNS`, then one Float64 column a metric, in order of first appearance: its
    score, 0 to 1, `<NA>` where it did not run, did not apply or ended in an error. `tools_expected` and
    `tools_called` hold lists, `duration_ms` is milliseconds, `started_at` UTC. `refused` and `truncated` are
    `<NA>` where there was no reply. `usage_complete` is `<NA>` where no usage is known at all.

    A metric id that stands twice on one turn (a report from elsewhere) gives the mean of the two; one that is
    named like a column gets `_metric` behind its name.
    """
    return _turns_frame(run, list(run.turns()))


@paused()
def failures_frame(run: RunResult) -> pd.DataFrame:
    """The turns that are not passed (failed, error, skipped), in order; the columns of `turns_frame`."""
    return _turns_frame(run, [(case, turn) for case, turn in run.turns() if not turn.passed])


@paused()
def metrics_frame(run: RunResult) -> pd.DataFrame:
    """One row a metric of a turn, those in error or not applicable too; columns: `METRIC_COLUMNS`.

    `score` is 0 to 1, `<NA>` unless measured; `passed` is `<NA>` where there was no verdict; `details` is a
    dict or `<NA>`.
    """
    pairs = [(case, turn, metric) for case, turn in run.turns() for metric in turn.metrics]
    parts = [metric for _, _, metric in pairs]
    return _frame(
        METRIC_COLUMNS,
        {
            **_keys([(case, turn) for case, turn, _ in pairs]),
            "metric": [part.id for part in parts],
            "kind": [part.kind for part in parts],
            "status": [part.status for part in parts],
            "score": [part.score if part.measured else None for part in parts],
            "threshold": [part.threshold for part in parts],
            "passed": [part.passed for part in parts],
            "reason": [part.reason for part in parts],
            "details": _known([part.details for part in parts]),
            "model": [part.model for part in parts],
            "retries": [part.retries for part in parts],
            "duration_ms": [part.duration_ms for part in parts],
        },
    )


@paused()
def tool_calls_frame(run: RunResult) -> pd.DataFrame:
    """One row a tool call, numbered from 0 within its turn; columns: `TOOL_CALL_COLUMNS`.

    `args` is a dict, `<NA>` where it could not be read; `result` is what the tool gave back, `<NA>` where it
    gave nothing.
    """
    rows = [
        (case, turn, number, call)
        for case, turn in run.turns()
        for number, call in enumerate(turn.tool_calls)
    ]
    calls = [call for _, _, _, call in rows]
    return _frame(
        TOOL_CALL_COLUMNS,
        {
            **_keys([(case, turn) for case, turn, _, _ in rows]),
            "call": [number for _, _, number, _ in rows],
            "name": [call.name for call in calls],
            "args": _known([call.args for call in calls]),
            "result": _known([call.result for call in calls]),
            "error": [call.error for call in calls],
            "duration_ms": [call.duration_ms for call in calls],
        },
    )


@paused()
def tool_checks_frame(run: RunResult) -> pd.DataFrame:
    """One row an asserted argument; an entry with only a name gives one row with `arg` `<NA>`.

    Columns: `TOOL_CHECK_COLUMNS`; `check` is the entry's place in `expected_tools`, from 0. The verdicts are
    those on the first call that fits the whole entry, else on the closest one. `actual` is `<NA>` where that
    call lacks the argument or there is none; `expected` is the asserted value (None is a value).
    """
    rows = [
        (case, turn, number, check.tool, row)
        for case, turn in run.turns()
        for number, check in enumerate(turn.tool_checks or ())
        for row in argument_rows(check)
    ]
    parts = [row for _, _, _, _, row in rows]
    return _frame(
        TOOL_CHECK_COLUMNS,
        {
            **_keys([(case, turn) for case, turn, _, _, _ in rows]),
            "check": [number for _, _, number, _, _ in rows],
            "tool": [tool for _, _, _, tool, _ in rows],
            "arg": [part.arg for part in parts],
            "matcher": [part.matcher for part in parts],
            "expected": _known([part.expected for part in parts], [part.arg is not None for part in parts]),
            "actual": _known([part.actual for part in parts], [part.known for part in parts]),
            "matched": [part.matched for part in parts],
            "reason": [part.reason for part in parts],
        },
    )


@paused()
def cases_frame(run: RunResult) -> pd.DataFrame:
    """One row a case (and repeat), in the suite's order.

    Columns: those of `CASE_COLUMNS`, then one Float64 column a metric with the mean over the case's turns
    that measured it. `reason` is that of the first turn that is not passed.
    """
    cases = run.cases
    usages = [case.usage for case in cases]
    metrics: dict[str, list[float | None]] = {name: [None] * len(cases) for name in _metric_ids(cases)}
    for row, case in enumerate(cases):
        for name, rollup in case.metrics.items():
            metrics[name][row] = rollup.mean
    return _with_metrics(
        CASE_COLUMNS,
        {
            "case": [case.name for case in cases],
            "repeat": [case.repeat for case in cases],
            "status": [case.status for case in cases],
            "passed": [case.passed for case in cases],
            "turns": [len(case.turns) for case in cases],
            "turns_passed": [case.turns_passed for case in cases],
            "first_failed_turn": [case.first_failed_turn for case in cases],
            "tools_matched": [case.tools_matched for case in cases],
            "reason": [case.reason for case in cases],
            "duration_ms": [case.duration_ms for case in cases],
            "total_tokens": [usage and usage.total_tokens for usage in usages],
            "usage_complete": [_complete(usage) for usage in usages],
            "cost_usd": [case.cost_usd for case in cases],
        },
        metrics,
    )


@paused()
def warnings_frame(run: RunResult) -> pd.DataFrame:
    """What a user should know though it changes no verdict; `case` and `turn` are `<NA>` above them."""
    return _frame(
        WARNING_COLUMNS,
        {name: [getattr(warning, name) for warning in run.warnings] for name in WARNING_COLUMNS},
    )


def _turns_frame(run: RunResult, rows: Sequence[tuple[CaseResult, TurnResult]]) -> pd.DataFrame:
    turns = [turn for _, turn in rows]
    statuses = [turn.status for turn in turns]
    passed = [status == "passed" for status in statuses]
    usages = [turn.usage for turn in turns]
    return _with_metrics(
        TURN_COLUMNS,
        {
            **_keys(rows),
            "status": statuses,
            "passed": passed,
            "input": [turn.input for turn in turns],
            "response": [turn.response for turn in turns],
            "ground_truth": [turn.ground_truth for turn in turns],
            "tools_expected": _known([turn.expected_tools for turn in turns]),
            "tools_called": [
                [call.name if call.name.isascii() else clean(call.name) for call in turn.tool_calls]
                for turn in turns
            ],
            "tools_matched": [turn.tools_matched for turn in turns],
            "reason": [None if good else turn.reason for good, turn in zip(passed, turns, strict=True)],
            "finish_reason": [turn.finish_reason for turn in turns],
            "refused": [_said(turn, turn.refused) for turn in turns],
            "truncated": [_said(turn, turn.truncated) for turn in turns],
            "duration_ms": [turn.duration_ms for turn in turns],
            "prompt_tokens": [usage and usage.prompt_tokens for usage in usages],
            "completion_tokens": [usage and usage.completion_tokens for usage in usages],
            "total_tokens": [usage and usage.total_tokens for usage in usages],
            "usage_complete": [_complete(usage) for usage in usages],
            "cost_usd": [turn.cost_usd for turn in turns],
            "started_at": [turn.started_at for turn in turns],
        },
        _scores(_metric_ids(run.cases), turns),
    )


def _scores(ids: Iterable[str], turns: Sequence[TurnResult]) -> dict[str, list[float | None]]:
    scores: dict[str, list[float | None]] = {name: [None] * len(turns) for name in ids}
    for row, turn in enumerate(turns):
        twice = False
        for metric in turn.metrics:
            if metric.measured:
                twice = twice or scores[metric.id][row] is not None
                scores[metric.id][row] = metric.score
        if twice:
            for name, rollup in CaseResult("", 0, (turn,)).metrics.items():
                scores[name][row] = rollup.mean
    return scores


def _metric_ids(cases: Iterable[CaseResult]) -> list[str]:
    """In order of first appearance over the whole run."""
    return list(dict.fromkeys(metric.id for case in cases for turn in case.turns for metric in turn.metrics))


def _with_metrics(
    columns: dict[str, str], values: dict[str, Any], metrics: dict[str, list[float | None]]
) -> pd.DataFrame:
    every, cells = dict(columns), dict(values)
    for name, scores in metrics.items():
        column = name
        while column in _TAKEN or column in every or (column != name and column in metrics):
            column += "_metric"
        every[column], cells[column] = "Float64", scores
    return _frame(every, cells)


def _frame(columns: Mapping[str, str], values: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    from .frame_columns import frame  # noqa: PLC0415 - pandas is loaded with the first frame

    return frame(columns, values)


def _keys(rows: Sequence[tuple[CaseResult, TurnResult]]) -> dict[str, Any]:
    return {
        "case": [case.name for case, _ in rows],
        "turn": [turn.turn for _, turn in rows],
        "repeat": [case.repeat for case, _ in rows],
    }


def _known(values: Sequence[Any], known: Sequence[bool] | None = None) -> list[Any]:
    """Plain copies for an object column; `<NA>` where nothing is known (by default: where it is None)."""
    from .frame_columns import UNKNOWN  # noqa: PLC0415 - see `_frame`

    flags = [value is not None for value in values] if known is None else known
    return [thawed(value) if flag else UNKNOWN for value, flag in zip(values, flags, strict=True)]


def _said(turn: TurnResult, flag: bool) -> bool | None:
    return flag if flag or turn.response is not None else None


def _complete(usage: TokenUsage | None) -> bool | None:
    return None if usage is None else usage.complete and usage.is_known
