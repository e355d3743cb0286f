"""A run in the user's hands: DataFrames, a card, reports."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, overload

from .agreement import label_agreement, labels_by_turn, not_judged, reasked, repeated_metric, turns_with
from .engine.journal_folder import find_journal, journals_in, known_folders
from .engine.journal_list import run_rows
from .engine.journal_reader import read_journal
from .engine.journal_saving import save_run
from .engine.rescoring import rescored, with_thresholds
from .errors import ConfigError, Problem
from .results.rollup import RunResult, Summary
from .scoring_again import checked_thresholds, closing, execution_of, new_metrics
from .sync import run_sync
from .views import frames, html, html_report, json_report, markdown_report, report_reader, run_frames
from .whole_files import write_whole

if TYPE_CHECKING:
    import pandas as pd

    from .loading.loader import LoadedSuite
    from .schema.agent import ModelConfig
    from .views.agreement import JudgeRepeatability, LabelAgreement
    from .views.explorer import Explorer

__all__ = ["Run", "last_run", "remember", "runs"]

_GRADER_TIMEOUT_S = 60.0


class _Pace(TypedDict):
    """How recorded turns are measured; see `rescored`."""

    grader_timeout: float
    parallel: int


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

    def __init__(
        self,
        result: RunResult,
        *,
        journal: Path | None = None,
        before: RunResult | None = None,
        suite: LoadedSuite | None = None,
    ) -> None:
        self._suite = suite
        self._result = result
        self._journal = journal
        self._before = before

    @property
    def result(self) -> RunResult:
        """The records behind the frames: cases, their turns, checks and metrics."""
        return self._result

    @property
    def id(self) -> str | None:
        """What the run is called in its folder of runs (see `journal`); None without a journal."""
        return None if self._journal is None else self._journal.parent.name

    @property
    def journal(self) -> Path | None:
        """The file that holds every turn of this run; None where there is none."""
        return self._journal

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

    def compare(self, other: Run) -> pd.DataFrame:
        """Verdicts of this run (`…_before`) and of another one (`…_after`), side by side.

        One row a turn (`metric` is `<NA>`) and one a metric of a turn, matched by case, turn and repeat.

        Example:
            >>> frame = run.compare(run.with_thresholds({"rouge": 0.8}))  # doctest: +SKIP
            >>> frame[frame["changed"]]  # doctest: +SKIP
        """
        return run_frames.changes_frame(self._result, other.result)

    def rescore(
        self,
        metrics: Sequence[Any],
        *,
        folder: str | os.PathLike[str] | None = None,
        parallel: int | None = None,
        judge: str | Mapping[str, Any] | None = None,
    ) -> Run:
        """Judge the recorded replies by another list of metrics; no agent is called.

        Works on any run, also on one that was read. Turns that broke off or were skipped stay as they are.

        Args:
            metrics: The whole new list, for every turn: each as in a suite file, a grader function, or the
                bare id of a metric whose recorded results are kept. What was measured in the same way is not
                measured again (code graders and `evaluate` modules always are): only its threshold is new.
            folder: Where graders and relative paths are looked up; the suite file's folder if left out.
            parallel: How many cases at once; as many as in the run if left out.
            judge: The model that judges where a metric names none (`"openai:gpt-5"`, or the mapping of a
                suite file); if left out, the one of the suite that was run here.

        Returns:
            A new run; `changes` has old and new verdicts side by side. It has no journal: see `save`.

        Raises:
            ConfigError: A metric is wrong; every one of them, before any is measured.

        Example:
            >>> import holodeck_nb as hd
            >>> suite = hd.Suite(name="s", test_cases=[{"input": "2 + 2?", "ground_truth": "4"}])
            >>> run = suite.run(agent=lambda text: "It is 4.", quiet=True)
            >>> again = run.rescore([{"type": "numeric"}, {"type": "equality"}])
            >>> again.metrics[["metric", "passed"]].values.tolist()
            [['numeric', True], ['equality', False]]
        """
        wanted, judges = new_metrics(
            metrics,
            folder=self._home(folder),
            recorded=self._metric_ids(),
            judge=judge or self._judge_model,
            execution=execution_of(self._result.settings),
        )
        work = rescored(self._result, wanted, **self._pace(parallel))
        result = run_sync(closing(judges, work), lambda: None)
        return Run(result, before=self._result, suite=self._suite)

    def judge_repeatability(
        self,
        metric: str | Mapping[str, Any],
        n: int = 5,
        *,
        folder: str | os.PathLike[str] | None = None,
        parallel: int | None = None,
        judge: str | Mapping[str, Any] | None = None,
    ) -> JudgeRepeatability:
        """Ask a judge the same again and again: does it stay with what it says?

        Every time the model is asked afresh; answers that are kept are not used.

        Args:
            metric: The id of a metric of the suite that was run here, or a metric as in a suite file, which
                is then asked on every turn that was played.
            n: How often each turn is judged; at least 2.
            folder: As of `rescore`; so are `parallel` and `judge`.
            parallel: How many cases at once.
            judge: The model that judges where the metric names none.

        Returns:
            How often verdicts agree and how far scores scatter; `frame` has a row a turn, with `flipped`.

        Raises:
            ConfigError: The metric is wrong or has no judge, or `n` is less than 2.
        """
        chosen = repeated_metric(metric, n, self._suite)
        result = turns_with(self._result, metric) if isinstance(metric, str) else self._result
        wanted, judges = new_metrics(
            [chosen],
            folder=self._home(folder),
            recorded=(),
            judge=judge or self._judge_model,
            execution=execution_of(self._result.settings),
            remembers=False,
        )
        measured = wanted[0].metric
        if measured is None or measured.model is None:
            raise not_judged(wanted[0].id)
        work = reasked(result, measured, n, **self._pace(parallel))
        return run_sync(closing(judges, work), lambda: None)

    def agreement(
        self,
        metric: str,
        labels: pd.DataFrame | Sequence[Any],
        *,
        column: str = "label",
        threshold: float | None = None,
    ) -> LabelAgreement:
        """A metric's verdicts against labels by people: Cohen's kappa, sensitivity, specificity.

        Args:
            metric: The metric's id.
            labels: One a row of `turns` (true or false, 1 or 0, yes or no, pass or fail; empty: no label), or
                a DataFrame with `case`, `turn` (0 if left out), `repeat` (the same) and the column of labels.
            column: The column of labels in the DataFrame.
            threshold: From which score on the metric passes a turn; if left out, its own verdicts count.

        Raises:
            ConfigError: The run has no such metric, it gives no verdicts, or a label fits no turn.

        Example:
            >>> import holodeck_nb as hd
            >>> cases = [{"input": "a", "ground_truth": "a"}, {"input": "b", "ground_truth": "c"}]
            >>> suite = hd.Suite(name="s", test_cases=cases, evaluations=[{"type": "equality"}])
            >>> run = suite.run(agent=str, quiet=True)
            >>> run.agreement("equality", [True, True]).agreed.value
            0.5
        """
        return label_agreement(
            self._result, metric, labels_by_turn(self._result, labels, column), threshold=threshold
        )

    def _home(self, folder: str | os.PathLike[str] | None) -> Path:
        return Path(folder) if folder is not None else _home(self._result)

    def _pace(self, parallel: int | None) -> _Pace:
        settings = self._result.settings
        timeout = settings.get("grader_timeout")
        at_once = parallel or settings.get("parallel_test_cases")
        return {
            "grader_timeout": timeout if isinstance(timeout, int | float) else _GRADER_TIMEOUT_S,
            "parallel": at_once if isinstance(at_once, int) else 1,
        }

    @property
    def _judge_model(self) -> ModelConfig | None:
        """The judges' default model in the suite that was run; None for a run that was read."""
        if self._suite is None:
            return None
        config = self._suite.config
        return (config.evaluations and config.evaluations.model) or config.model

    def with_thresholds(self, thresholds: Mapping[str, float | None]) -> Run:
        """Judge the recorded scores by other thresholds; nothing is measured.

        A threshold can only make a metric's own verdict stricter; None takes it away.

        Args:
            thresholds: By metric id, 0 to 1.

        Raises:
            ConfigError: The run has no such metric, or a threshold is outside 0 to 1.
        """
        thresholds = checked_thresholds(thresholds, recorded=self._metric_ids())
        return Run(with_thresholds(self._result, thresholds), before=self._result, suite=self._suite)

    def _metric_ids(self) -> tuple[str, ...]:
        turns = (turn for _, turn in self._result.turns())
        return tuple(dict.fromkeys(metric.id for turn in turns for metric in turn.metrics))

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

    def explore(self, *, case: str | None = None, turn: int | None = None) -> Explorer:
        """Look into the run: cases, filters, and one conversation at a time with all that was checked.

        Args:
            case: The case to open; by default that of the first failing turn.
            turn: The turn of `case` to open it at, from 0.

        Returns:
            A widget that shows itself in a cell (a page of the failures where no kernel runs); its
            `selection` is what is open, as rows of `turns`.

        Raises:
            ValueError: The run has no such case, or the case no such turn.
        """
        from .views.explorer import Explorer  # noqa: PLC0415 - widgets are loaded with the first explorer

        return Explorer(self._result, case=case, turn=turn)

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

    @overload
    def to_html(self) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str]) -> Path: ...
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | Path:
        """The explorer and the run's card as one page that needs no kernel and no network.

        Arguments and result as of `to_json`. It has every conversation in it and prints the failures.
        """
        text = html_report.html_report(self._result)
        return text if path is None else _write(path, text)

    def save(self, folder: str | os.PathLike[str] | None = None) -> Path:
        """Write the whole run as a journal, which `Run.load` reads back with nothing lost.

        Args:
            folder: The folder of runs; `.holodeck/runs` of the working directory if left out.

        Returns:
            The journal; its folder's name is the run's id.

        Raises:
            OSError: It cannot be written there.
        """
        return save_run(self._result, None if folder is None else Path(folder), like=self._journal)

    @classmethod
    def load(cls, run: str | os.PathLike[str]) -> Run:
        """Read a run from its journal, however it ended: complete, interrupted, or with its process killed.

        Damaged lines are left out; `warnings` names them. Turns of which nothing is known are skipped.

        Args:
            run: The journal's path, its folder's, or the run's id (looked up in the working directory's
                `.holodeck/runs` and in those that this process has written to).

        Raises:
            ConfigError: There is no such run, it cannot be read, or a later version has written it.

        Example:
            >>> run = Run.load("20261130-184713-512-9c3f1a")  # doctest: +SKIP
            >>> run.turns[["case", "turn", "status"]]  # doctest: +SKIP
        """
        read = read_journal(find_journal(run))
        return cls(read.result, journal=read.path)

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


def runs(folder: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """The runs that were kept, the oldest first: state, counts, tokens, cost, then every setting.

    `state` is `complete`, `stopped`, `going on`, `broken off` (its process died) or `unreadable`.

    Args:
        folder: A folder of runs, a folder with a `.holodeck/runs`, or a suite file. If left out: the working
            directory, and wherever this process has kept runs.

    Example:
        >>> runs("no/such/folder")["run"].tolist()
        []
    """
    places = known_folders() if folder is None else [folder]
    journals = [journal for place in places for journal in journals_in(place)]
    return run_frames.runs_frame(list(run_rows(sorted(journals, key=lambda path: path.parent.name))))


def _home(result: RunResult) -> Path:
    return Path(result.suite_path).absolute().parent if result.suite_path else Path.cwd()


def _write(path: str | os.PathLike[str], text: str) -> Path:
    target = Path(path)
    write_whole(target, text)
    return target
