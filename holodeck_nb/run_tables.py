"""A run as DataFrames, and in one card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .results.rollup import RunResult, Summary
from .views import frames, html, run_frames

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RunTables"]


class RunSummary(Summary):
    """A run in numbers that shows itself: a line in a terminal, a card in a notebook."""

    def __repr__(self) -> str:
        """One line: what passed, of how many, in which time."""
        return html.summary_line(self)

    def _repr_html_(self) -> str:
        return html.summary_html(self)


class RunTables:
    """What happened when a suite was run. Every DataFrame is a fresh copy; unknown is `<NA>`, never 0."""

    def __init__(self, result: RunResult, *, before: RunResult | None = None) -> None:
        self._result = result
        self._before = before

    @property
    def result(self) -> RunResult:
        """The records behind the frames: cases, their turns, checks and metrics."""
        return self._result

    @property
    def turns(self) -> pd.DataFrame:
        """One row a turn, in the suite's order; the last columns are the metrics' scores, 0 to 1."""
        return frames.turns_frame(self._result)

    @property
    def failures(self) -> pd.DataFrame:
        """The turns that are not passed, with the reason; the columns of `turns`."""
        return frames.failures_frame(self._result)

    @property
    def metrics(self) -> pd.DataFrame:
        """One row a metric and turn."""
        return frames.metrics_frame(self._result)

    @property
    def tool_calls(self) -> pd.DataFrame:
        """One row a tool call."""
        return frames.tool_calls_frame(self._result)

    @property
    def tool_checks(self) -> pd.DataFrame:
        """One row an asserted argument, or an expected tool of which only the name is asserted."""
        return frames.tool_checks_frame(self._result)

    @property
    def cases(self) -> pd.DataFrame:
        """One row a case; the last columns are the metrics' means over its turns."""
        return frames.cases_frame(self._result)

    @property
    def repeats(self) -> pd.DataFrame:
        """One row a case over all its repeats: pass rate, pass@k, pass^k, means and deviations of metrics."""
        return run_frames.repeats_frame(self._result)

    @property
    def changes(self) -> pd.DataFrame:
        """What scoring again has changed: the rows of `compare` that differ; empty for a run as played."""
        frame = run_frames.changes_frame(self._before or self._result, self._result)
        return frame[frame["changed"]].reset_index(drop=True)

    def compare(self, other: RunTables) -> pd.DataFrame:
        """Verdicts of this run (`…_before`) and of another one (`…_after`), side by side.

        One row a turn (`metric` is `<NA>`) and one a metric of a turn, matched by case, turn and repeat.

        Example:
            >>> frame = run.compare(run.with_thresholds({"rouge": 0.8}))  # doctest: +SKIP
            >>> frame[frame["changed"]]  # doctest: +SKIP
        """
        return run_frames.changes_frame(self._result, other.result)

    @property
    def warnings(self) -> pd.DataFrame:
        """What a user should know though it changes no verdict."""
        return frames.warnings_frame(self._result)

    @property
    def summary(self) -> RunSummary:
        """Counts, pass rates (0 to 1) and means with the number of turns they are over."""
        return RunSummary.of(self._result)

    @property
    def passed(self) -> bool:
        """Whether every case passed."""
        return all(case.passed for case in self._result.cases)

    def __repr__(self) -> str:
        """One line: what passed, of how many, in which time."""
        return html.run_line(self._result)

    def _repr_html_(self) -> str:
        return html.run_html(self._result)
