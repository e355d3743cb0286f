"""Playings side by side as DataFrames: repeats of a case, verdicts before and after, the runs of a folder."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from holodeck_nb.results.columns import CHANGE_COLUMNS, REPEAT_COLUMNS, RUN_COLUMNS
from holodeck_nb.results.repeats import grouped, pass_all_k, pass_at_k

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from holodeck_nb.results.records import MetricResult, TurnResult
    from holodeck_nb.results.rollup import CaseResult, RunResult

__all__ = ["changes_frame", "repeats_frame", "runs_frame"]

_Key = tuple[str, int, int, str | None]


def repeats_frame(run: RunResult) -> pd.DataFrame:
    """One row a case over all its repeats, in the suite's order.

    Columns: those of `REPEAT_COLUMNS` (repeats that were skipped do not count); `pass@k` and `pass^k` for k
    1, 2, 4, 8, … and the most there are (`<NA>` where a case has fewer); then for each metric its mean
    over the repeats, and with `_sd` behind its name the sample standard deviation (`<NA>` below two repeats).
    """
    by_name = grouped(run.cases)
    played = [len(playings) for playings in by_name.values()]
    passed = [sum(case.passed for case in playings) for playings in by_name.values()]
    columns: dict[str, str] = dict(REPEAT_COLUMNS)
    values: dict[str, list[Any]] = {
        "case": list(by_name),
        "repeats": played,
        "repeats_passed": passed,
        "pass_rate": [good / n if n else None for n, good in zip(played, passed, strict=True)],
    }
    for k in _shown_ks(max(played, default=0)):
        for name, estimate in ((f"pass@{k}", pass_at_k), (f"pass^{k}", pass_all_k)):
            columns[name] = "Float64"
            values[name] = [
                estimate(n, good, k) if n >= k else None for n, good in zip(played, passed, strict=True)
            ]
    for metric in dict.fromkeys(name for case in run.cases for name in case.metrics):
        scores = [_scores(metric, playings) for playings in by_name.values()]
        mean, deviation = _free(metric, columns), _free(f"{metric}_sd", columns)
        columns[mean] = columns[deviation] = "Float64"
        values[mean] = [statistics.fmean(sample) if sample else None for sample in scores]
        values[deviation] = [statistics.stdev(sample) if len(sample) > 1 else None for sample in scores]
    return _frame(columns, values)


def changes_frame(before: RunResult, after: RunResult) -> pd.DataFrame:
    """Old and new verdicts side by side: one row a turn (`metric` `<NA>`) and one a metric of it.

    Columns: `CHANGE_COLUMNS`; what only one of the two runs has is `<NA>` on the other side. `changed` says
    whether status, score or threshold differ. Turns are matched by case, turn and repeat.
    """
    old, new = dict(_verdicts(before)), dict(_verdicts(after))
    keys = list(dict.fromkeys([*new, *(key for key in old if key not in new)]))
    values: dict[str, list[Any]] = {
        name: [key[place] for key in keys] for place, name in enumerate(("case", "turn", "repeat", "metric"))
    }
    for suffix, side in (("before", old), ("after", new)):
        for place, name in enumerate(("status", "score", "threshold", "reason")):
            values[f"{name}_{suffix}"] = [side[key][place] if key in side else None for key in keys]
    values["changed"] = [old.get(key, ())[:3] != new.get(key, ())[:3] for key in keys]
    return _frame(CHANGE_COLUMNS, values)


def runs_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row a run: the columns of `RUN_COLUMNS`, then its settings, a column each.

    Args:
        rows: By column; `settings` a mapping. What a row does not have is `<NA>`.
    """
    values: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in RUN_COLUMNS}
    columns = dict(RUN_COLUMNS)
    for setting in dict.fromkeys(name for row in rows for name in row.get("settings", {})):
        name = _free(setting, columns)
        columns[name] = "object"
        values[name] = [row.get("settings", {}).get(setting) for row in rows]
    return _frame(columns, values)


def _shown_ks(most: int) -> list[int]:
    """1, 2, 4, 8, … and the last."""
    powers = [2**exponent for exponent in range(most.bit_length()) if 2**exponent < most]
    return [*powers, most] if most else []


def _scores(metric: str, playings: Iterable[CaseResult]) -> list[float]:
    rollups = (case.metrics.get(metric) for case in playings)
    return [rollup.mean for rollup in rollups if rollup is not None and rollup.mean is not None]


def _verdicts(run: RunResult) -> Iterable[tuple[_Key, tuple[Any, ...]]]:
    for case, turn in run.turns():
        key = (case.name, turn.turn, case.repeat)
        yield (*key, None), _turn_verdict(turn)
        for metric in turn.metrics:
            yield (*key, metric.id), _metric_verdict(metric)


def _turn_verdict(turn: TurnResult) -> tuple[Any, ...]:
    return turn.status, None, None, turn.reason


def _metric_verdict(metric: MetricResult) -> tuple[Any, ...]:
    return metric.status, metric.score if metric.measured else None, metric.threshold, metric.reason


def _free(name: str, columns: Mapping[str, str]) -> str:
    while name in columns:
        name += "_metric"
    return name


def _frame(columns: Mapping[str, str], values: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    from .frame_columns import frame  # noqa: PLC0415 - pandas is loaded with the first frame

    return frame(columns, values)
