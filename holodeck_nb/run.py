"""A run in the user's hands: DataFrames, reports, and scoring again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from .agreement import (
    asked_again,
    label_agreement,
    labels_by_turn,
    repeatability,
    repeated_metric,
    the_one,
    turns_with,
)
from .engine.journal_folder import find_journal
from .engine.journal_reader import read_journal
from .engine.journal_saving import save_run
from .engine.rescoring import recorded_cases, with_thresholds
from .errors import ConfigError, Problem
from .judging import JudgeTerms
from .loading.execution import Execution, checked_setting
from .loading.secrets import secrets_of
from .options import KeepingArguments, RunOptions
from .results.rollup import RunResult
from .run_reports import RunReports
from .scoring_again import (
    checked_thresholds,
    execution_of,
    kept_scoring,
    new_metrics,
    recorded_before,
    rescore_options,
    score_again,
    scoring_plan,
)
from .taping import TapingArguments
from .views import report_reader

if TYPE_CHECKING:
    import pandas as pd

    from .engine.plan import RunPlan
    from .loading.loader import LoadedSuite
    from .schema.agent import ModelConfig
    from .views.agreement import JudgeRepeatability, LabelAgreement
    from .views.explorer import Explorer

__all__ = ["Run", "last_run", "remember"]


class ScoringArguments(KeepingArguments, TapingArguments, total=False):
    """Where a scoring is kept, what it goes on with, and who answers in the judges' place; see `rescore`."""


class Run(RunReports):
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
        super().__init__(result, before=before)
        self._suite = suite
        self._journal = journal

    @property
    def id(self) -> str | None:
        """What the run is called in its folder of runs (see `journal`); None without a journal."""
        return None if self._journal is None else self._journal.parent.name

    @property
    def journal(self) -> Path | None:
        """The file that holds every turn of this run; None where there is none."""
        return self._journal

    def rescore(
        self,
        metrics: Sequence[Any],
        *,
        folder: str | os.PathLike[str] | None = None,
        parallel: int | None = None,
        judge: str | Mapping[str, Any] | None = None,
        quiet: bool | None = None,
        **kept: Unpack[ScoringArguments],
    ) -> Run:
        """Judge the recorded replies by another list of metrics; no agent is called.

        Works on any run, also on one that was read. Turns that broke off or were skipped stay as they are.
        It goes like a run: it shows how far it is, every turn is kept as soon as it is scored, an interrupt
        leaves `hd.last_run()`, and what has broken off can be gone on with.

        Args:
            metrics: The whole new list, for every turn: each as in a suite file, a grader function, or the
                bare id of a metric whose recorded results are kept. What was measured in the same way is not
                measured again (code graders and `evaluate` modules always are): only its threshold is new.
            folder: Where graders and relative paths are looked up; the suite file's folder if left out.
            parallel: How many cases at once; as many as in the run if left out.
            judge: The model that judges where a metric names none (`"openai:gpt-5"`, or the mapping of a
                suite file); if left out, the one of the suite that was run here.
            quiet: Whether nothing is shown; as in the run if left out.
            kept: Where it is kept, and what it goes on with:

                - `journal`: as of `Suite.run`; if left out, beside the journal of this run, where it has one.
                - `resume`: `"latest"`, the id of an earlier scoring of this run or the path of its journal:
                  scores only the cases that it lacks, or in which a metric broke.
                - `record`: a file to keep what judges are asked and answer in; `replay`: such a file, which
                  then answers in their place.

        Returns:
            A new run; `changes` has old and new verdicts side by side.

        Raises:
            ConfigError: A metric is wrong, or there is no such scoring to go on with; before any is measured.
            KeyboardInterrupt: You interrupted it; `hd.last_run()` has the turns scored so far.

        Example:
            >>> import holodeck_nb as hd
            >>> suite = hd.Suite(name="s", test_cases=[{"input": "2 + 2?", "ground_truth": "4"}])
            >>> run = suite.run(agent=lambda text: "It is 4.", quiet=True)
            >>> again = run.rescore([{"type": "numeric"}, {"type": "equality"}])
            >>> again.metrics[["metric", "passed"]].values.tolist()
            [['numeric', True], ['equality', False]]
        """
        options, taping = rescore_options("rescore", kept)
        execution = self._execution("rescore", parallel, quiet)
        wanted, judges = new_metrics(
            metrics,
            folder=self._home(folder),
            recorded=self._metric_ids(),
            judge=judge or self._judge_model,
            terms=JudgeTerms(execution, taping=taping),
        )
        # A recording is to have all of the answers, also those that are known.
        cases = recorded_cases(self._result, wanted, afresh=taping.recorder is not None)
        plan = scoring_plan(self._result, cases, judges, execution)

        def arrived(result: RunResult, journal: Path | None) -> Run:
            return remember(Run(result, journal=journal, before=self._result, suite=self._suite))

        plan = taping.going_on(self._kept(plan, options))
        return score_again(plan, arrived, quiet=execution.quiet)

    def judge_repeatability(
        self,
        metric: str | Mapping[str, Any],
        n: int = 5,
        *,
        folder: str | os.PathLike[str] | None = None,
        parallel: int | None = None,
        judge: str | Mapping[str, Any] | None = None,
        quiet: bool | None = None,
        **kept: Unpack[ScoringArguments],
    ) -> JudgeRepeatability:
        """Ask a judge the same again and again: does it stay with what it says?

        Every time the model is asked afresh; answers that are kept are not used. It is kept like a scoring,
        with each time as a repeat of its case.

        Args:
            metric: The id of a metric of the suite that was run here, or a metric as in a suite file, which
                is then asked on every turn that was played.
            n: How often each turn is judged; at least 2.
            folder: As of `rescore`; so are all that follow.
            parallel: How many cases at once.
            judge: The model that judges where the metric names none.
            quiet: Whether nothing is shown.
            kept: As of `rescore`; one that was interrupted, or that asked less often, can be gone on with.

        Returns:
            How often verdicts agree and how far scores scatter; `frame` has a row a turn, with `flipped`.

        Raises:
            ConfigError: The metric is wrong or has no judge, `n` is less than 2, or there is nothing to go on
                with.
            KeyboardInterrupt: You interrupted it; `hd.last_run()` has what was judged so far.
        """
        options, taping = rescore_options("judge_repeatability", kept)
        execution = self._execution("judge_repeatability", parallel, quiet)
        chosen = repeated_metric(metric, n, self._suite)
        result = turns_with(self._result, metric) if isinstance(metric, str) else self._result
        metrics, judges = new_metrics(
            [chosen],
            folder=self._home(folder),
            recorded=(),
            judge=judge or self._judge_model,
            terms=JudgeTerms(execution, remembers=False, taping=taping),
        )
        wanted = the_one(metrics)
        cases = asked_again(result, wanted, n)
        plan = scoring_plan(result, cases, judges, execution, made_by="judge_repeatability")

        def arrived(answers: RunResult, _: Path | None) -> JudgeRepeatability:
            return repeatability(result, wanted, n, answers)

        def stranded(answers: RunResult, journal: Path | None) -> Run:
            return remember(Run(answers, journal=journal, suite=self._suite))

        plan = taping.going_on(self._kept(plan, options))
        return score_again(plan, arrived, quiet=execution.quiet, stranded=stranded)

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
        """Where relative paths begin: the folder if one is given, else the suite file's."""
        if folder is not None:
            return Path(folder)
        if self._result.suite_path:
            beside = Path(self._result.suite_path).absolute().parent
            if self._suite is not None or beside.is_dir():  # a report may come from another machine
                return beside
        return Path.cwd()

    def _kept(self, plan: RunPlan, options: RunOptions) -> RunPlan:
        """The plan with its journal, and what an earlier scoring has found of it."""
        if self._suite is not None:
            plan = replace(plan, secrets=secrets_of(self._suite.config))
        declined = self._journal is None and self._suite is not None  # it was played here, and not kept
        return kept_scoring(plan, options, self._journal, self._home(None), journaled=not declined)

    def _execution(self, call: str, parallel: int | None, quiet: bool | None) -> Execution:
        """The manners of the run, with what a call that scores again says."""
        execution = execution_of(self._result.settings, are_ours=self._suite is not None)
        if parallel is not None:
            at_once = checked_setting("parallel_test_cases", parallel, f"{call}(parallel=…)")
            execution = replace(execution, parallel_test_cases=at_once)
        return execution if quiet is None else replace(execution, quiet=bool(quiet))

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

        Damaged lines are left out; `warnings` names them. Turns of which nothing is known are skipped. A run
        that has scored another one again knows its `changes`, as long as that one is there too.

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
        return cls(read.result, journal=read.path, before=recorded_before(read))

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
