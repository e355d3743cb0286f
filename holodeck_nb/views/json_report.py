"""The JSON report: HoloDeck's TestReport, field for field, so that its models and dashboard read ours."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from holodeck_nb._version import __version__

from .json_turns import SCALE, file_entry, finite, milliseconds, optional_text, summed_usage, turn_entry
from .plain_data import clean, plain

if TYPE_CHECKING:
    from holodeck_nb.results.records import MetricResult
    from holodeck_nb.results.rollup import CaseResult, MetricRollup, RunResult

__all__ = ["WRITER", "report", "report_text"]

WRITER = "holodeck_nb"
_BETWEEN_INPUTS = "\n---\n"


def report(run: RunResult) -> dict[str, Any]:
    """The run as HoloDeck's `TestReport`: plain JSON data, no NaN, no text that is not UTF-8.

    `pass_rate` is 0 to 100 there, every `…_ms` a whole number, `timestamp` the end of the run in UTC,
    `holodeck_version` our name and version (`holodeck_nb 0.1.0`), by which a reader tells our reports.
    What the format has no field for is left out: warnings, cost, finish reasons, which case is a repeat, what
    a single-turn case's arguments were checked against.
    """
    ended = _end(run)
    return {
        "agent_name": clean(run.suite_name),
        "agent_config_path": clean(run.suite_path),
        "results": [_case(case, _iso(_moment(case) or ended)) for case in run.cases],
        "summary": _summary(run),
        "timestamp": _iso(ended),
        "holodeck_version": f"{WRITER} {__version__}",
        "environment": _environment(run),
    }


def report_text(run: RunResult) -> str:
    """The report as the text of a file: strict JSON, two blanks a level, text as it is, a final newline."""
    return json.dumps(report(run), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _case(case: CaseResult, timestamp: str) -> dict[str, Any]:
    turns = [turn_entry(turn) for turn in case.turns]
    single = turns[0] if len(turns) == 1 and not case.multi_turn else None
    many = single is None
    return {
        "test_name": optional_text(case.given_name),
        "test_input": _BETWEEN_INPUTS.join(turn["input"] for turn in turns),
        "processed_files": [
            file_entry(file, turn.turn if many else None) for turn in case.turns for file in turn.files
        ],
        "agent_response": turns[-1]["response"] if turns else None,
        "tool_calls": [name for turn in turns for name in turn["tool_calls"]],
        "tool_invocations": [call for turn in turns for call in turn["tool_invocations"]],
        "expected_tools": single and single["expected_tools"],
        "tools_matched": case.tools_matched,
        "metric_results": single["metric_results"] if single else _rolled_up(case),
        "ground_truth": single and single["ground_truth"],
        "passed": case.passed,
        "execution_time_ms": sum(turn["execution_time_ms"] for turn in turns),
        "errors": [
            f"[turn {turn['turn_index']}] {error}" if many else error
            for turn in turns
            for error in turn["errors"]
        ],
        "timestamp": timestamp,
        "token_usage": summed_usage([turn["token_usage"] for turn in turns]),
        "turns": turns if many else None,
    }


def _rolled_up(case: CaseResult) -> list[dict[str, Any]]:
    """Each metric once: the mean over the turns that measured it, passed where all did."""
    by_id: dict[str, list[MetricResult]] = {name: [] for name in case.metrics}
    for turn in case.turns:
        for metric in turn.metrics:
            if metric.status != "not_applicable":
                by_id[metric.id].append(metric)
    return [_rollup(case.metrics[name], parts) for name, parts in by_id.items()]


def _rollup(rollup: MetricRollup, parts: list[MetricResult]) -> dict[str, Any]:
    models = {part.model for part in parts}
    faults = [part.reason or "not measured" for part in parts if part.status == "error"]
    nowhere = rollup.mean is None and bool(faults)
    partly = f"{rollup.n_error} of {len(parts)} turns not measured: {faults[0]}" if faults else None
    return {
        "metric_name": clean(rollup.id),
        "kind": "standard" if rollup.kind == "evaluate" else rollup.kind,
        "score": 0.0 if nowhere else rollup.mean,
        "threshold": finite(rollup.threshold),
        "passed": rollup.passed,
        "scale": SCALE,
        "error": clean(faults[0]) if nowhere else None,
        "retry_count": sum(part.retries for part in parts),
        "evaluation_time_ms": sum(milliseconds(part.duration_ms) or 0 for part in parts),
        "model_used": optional_text(models.pop()) if len(models) == 1 else None,
        "reasoning": None if nowhere else optional_text(partly),
    }


def _summary(run: RunResult) -> dict[str, Any]:
    means: dict[str, list[float]] = {}
    for case in run.cases:
        for name, rollup in case.metrics.items():
            if rollup.mean is not None:
                means.setdefault(clean(name), []).append(rollup.mean)
    total, passed = len(run.cases), run.summary.cases_passed
    return {
        "total_tests": total,
        "passed": passed,
        "failed": total - passed,
        "pass_rate": 100 * passed / total if total else 0.0,
        "total_duration_ms": milliseconds(run.duration_ms) or 0,
        "metrics_evaluated": {name: len(scores) for name, scores in means.items()},
        "average_scores": {name: math.fsum(scores) / len(scores) for name, scores in means.items()},
    }


def _environment(run: RunResult) -> dict[str, str]:
    texts = {clean(str(name)): clean(str(value)) for name, value in run.environment.items()}
    if run.settings:
        texts["execution_config"] = json.dumps(plain(run.settings), ensure_ascii=False, allow_nan=False)
    return texts


def _end(run: RunResult) -> datetime | None:
    """When the run ended; the last we know of it where that is unknown."""
    if run.started_at is None:
        return max((moment for case in run.cases if (moment := _moment(case)) is not None), default=None)
    try:
        return _utc(run.started_at) + timedelta(milliseconds=milliseconds(run.duration_ms) or 0)
    except OverflowError:  # beyond the year 9999
        return run.started_at


def _moment(case: CaseResult) -> datetime | None:
    """When the case ended, or else when its last turn began; None where neither is known."""
    if case.finished_at is not None:
        return _utc(case.finished_at)
    return max((_utc(turn.started_at) for turn in case.turns if turn.started_at is not None), default=None)


def _utc(moment: datetime) -> datetime:
    """In UTC; a moment without a zone counts as UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _iso(moment: datetime | None) -> str:
    """ISO 8601 in UTC; "" where it is unknown."""
    return "" if moment is None else _utc(moment).isoformat()
