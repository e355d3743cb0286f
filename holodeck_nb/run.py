"""A run in the user's hands: DataFrames, a card, reports."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, overload

from .errors import ConfigError, Problem
from .results.rollup import RunResult, Summary
from .views import frames, html, json_report, markdown_report, report_reader

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Run", "last_run", "remember"]


class RunSummary(Summary):
    """A run in numbers that shows itself: a line in a terminal, a card in a notebook."""

    def __repr__(self) -> str:
        """One line: what passed, of how many, in which time."""
        return html.summary_line(self)

    def _repr_html_(self) -> str:
        return html.summary_html(self)


class Run:
    """What happened when a suite was run. Every DataFrame is a fresh copy; unknown is `<NA>`, never 0.

    Example:
        >>> run = Run.from_json("report.json")  # doctest: +SKIP
        >>> run.failures[["case", "turn", "reason"]]  # doctest: +SKIP
    """

    def __init__(self, result: RunResult) -> None:
        self._result = result

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

    @overload
    def to_json(self) -> str: ...
    @overload
    def to_json(self, path: str | os.PathLike[str]) -> Path: ...
    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | Path:
        """The JSON report, which HoloDeck's tools read too.

        Args:
            path: Where to write it; only a whole report replaces an older file.

        Returns:
            Where it was written; without a path, the report itself.

        Raises:
            OSError: It cannot be written there; nothing is left half-written.
        """
        text = json_report.report_text(self._result)
        return text if path is None else _write(path, text)

    @overload
    def to_markdown(self) -> str: ...
    @overload
    def to_markdown(self, path: str | os.PathLike[str]) -> Path: ...
    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str | Path:
        """The Markdown report; arguments and result as of `to_json`."""
        text = markdown_report.markdown(self._result)
        return text if path is None else _write(path, text)

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Run:
        """Read a JSON report, ours or HoloDeck's.

        Raises:
            ConfigError: There is no such file, or it is no report; every problem with its place.
        """
        name = os.fspath(path)
        try:
            data = json.loads(Path(name).read_bytes())
        except OSError as error:
            message = f"cannot read the report: {error.strerror or error}"
            raise ConfigError([Problem(message, file=name)]) from error
        except (ValueError, RecursionError) as error:
            raise ConfigError([Problem(f"this is no JSON: {error}", file=name)]) from error
        return cls(report_reader.run_from_report(data, path=name))

    def __repr__(self) -> str:
        """One line: what passed, of how many, in which time."""
        return html.run_line(self._result)

    def _repr_html_(self) -> str:
        return html.run_html(self._result)


_latest: Run | None = None


def remember(run: Run) -> Run:
    """Make `run` the one that `last_run` gives back."""
    global _latest  # noqa: PLW0603 - one process has one latest run, and an interrupted cell has no other way to it
    _latest = run
    return run


def last_run() -> Run | None:
    """The latest run of this process, also one that was interrupted; None before the first.

    Example:
        >>> last_run() is None or isinstance(last_run(), Run)
        True
    """
    return _latest


def _write(path: str | os.PathLike[str], text: str) -> Path:
    """Write a whole file or none: beside its place first, then moved there."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        with part.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target
