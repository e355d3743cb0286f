"""What a run keeps of an earlier one: its cases that ended, as long as the suite still means the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .engine.definitions import fingerprint
from .engine.journal import is_open
from .engine.journal_folder import find_journal, journals_in, known_folders, runs_folder
from .engine.journal_reader import ReadJournal, journal_facts, read_journal
from .engine.journal_run import case_fingerprint
from .errors import ConfigError, Problem
from .options import RunOptions, journal_folder
from .results.records import RunWarning

if TYPE_CHECKING:
    from .engine.journal_run import RunFacts
    from .engine.plan import CasePlan, RunPlan
    from .results.rollup import CaseResult
    from .schema.agent import ModelConfig
    from .schema.suite import SuiteConfig

__all__ = ["agent_fingerprint", "agent_name", "kept_plan"]

_NAMES_SHOWN = 5


def kept_plan(plan: RunPlan, options: RunOptions, folder: Path | None) -> RunPlan:
    """The plan with its journal, its budget, and what it need not do again.

    Args:
        plan: What would be done from the beginning.
        options: What was asked for.
        folder: The suite's folder; None for a suite made in Python.

    Raises:
        ConfigError: There is no such run to go on with, or it cannot be read.
    """
    plan = replace(
        plan, budget=options.budget, journal=plan.journal or journal_folder(options.journal, folder)
    )
    if options.resume is None:
        return plan
    earlier = _earlier(plan, options, folder)
    if options.journal is None and plan.journal is None:
        # What was kept there is gone on with there.
        plan = replace(plan, journal=earlier.path.parent.parent)
    comparison = _Comparison(plan, earlier, failed_too=options.resume_failed)
    kept = comparison.kept()
    return replace(
        plan,
        kept=kept,
        resumed_from=earlier.facts.run_id,
        warnings=(*plan.warnings, *map(RunWarning, comparison.said(len(kept)))),
    )


def agent_name(answering: object, model: str | None = None) -> str:
    """Who answers, in a word: the model, a function by its name, a backend by its class."""
    if model is not None:
        return model
    name = getattr(answering, "__qualname__", None) or type(answering).__qualname__
    home = getattr(answering, "__module__", None)
    return name if home in {None, "__main__", "builtins"} else f"{home}:{name}"


def agent_fingerprint(
    name: str,
    config: SuiteConfig,
    *,
    model: ModelConfig | None,
    instructions: str | None,
    response_format: Mapping[str, Any] | None,
) -> str:
    """Changes with who answers and with what they are told; neither with a key nor with a function's code.

    `model` is None where the suite's model does not answer.
    """
    model = None if model is None else model.model_copy(update={"api_key": None})
    told = json.dumps(response_format, sort_keys=True, default=repr)
    return fingerprint(name, repr(model), instructions, told, config.tools, config.claude, config.openai)


class _Words(NamedTuple):
    """How a run is spoken of, by the call that makes it."""

    done: str
    run: str
    is_another: str


_WORDS = {
    "run": _Words("played", "run", "an agent has played it: suite.run(resume=…) goes on with it"),
    "rescore": _Words(
        "scored", "scoring", "it has scored replies again: run.rescore(resume=…) goes on with it"
    ),
    "judge_repeatability": _Words(
        "judged", "judging", "it has asked a judge again: run.judge_repeatability(resume=…) goes on with it"
    ),
}


def _earlier(plan: RunPlan, options: RunOptions, folder: Path | None) -> ReadJournal:
    place = f"{plan.made_by}(resume=…)"
    if options.resume != "latest":
        home = options.journal if isinstance(options.journal, Path) else runs_folder(folder)
        assert options.resume is not None
        read = read_journal(find_journal(options.resume, [home, *known_folders()]))
        if read.facts.made_by == plan.made_by:
            return read
        message = f"run {read.facts.run_id} is none of this kind"
        other = _WORDS.get(read.facts.made_by)
        raise ConfigError([Problem(message, path=place, hint=other and other.is_another)])
    runs = plan.journal or runs_folder(folder)
    going_on = None
    for journal in reversed(journals_in(runs)):
        facts = journal_facts(journal)
        if facts is None or not _is_earlier(facts, plan):
            continue
        if not is_open(journal):
            return read_journal(journal)
        going_on = facts.run_id
    if going_on is not None:
        message = f"run {going_on} of this suite is still going on, and there is no earlier one"
        hint = "wait for it or interrupt it; resume='<its id>' takes what it has so far"
    else:
        message = f"there is no earlier {_WORDS[plan.made_by].run} of suite {plan.suite_name!r} in {runs}"
        hint = "leave `resume` out to begin anew; hd.runs(folder) lists the runs of a folder"
    raise ConfigError([Problem(message, path=place, hint=hint)])


def _is_earlier(facts: RunFacts, plan: RunPlan) -> bool:
    """Whether it is a run of the same suite, or has scored the same run."""
    return (
        facts.suite_name == plan.suite_name
        and Path(facts.suite_path).name == Path(plan.suite_path).name
        and facts.made_by == plan.made_by
        and (facts.rescored_from or "") == plan.recorded_id
        # One that was only saved does not tell what its cases were.
        and (plan.recorded is not None or any(facts.fingerprints.values()))
    )


@dataclass(frozen=True)
class _Change:
    """Why a case that an earlier run has is not taken from it."""

    case: str
    what: str


class _Comparison:
    """An earlier run against the plan, case by case."""

    def __init__(self, plan: RunPlan, earlier: ReadJournal, *, failed_too: bool) -> None:
        self._plan = plan
        self._facts = earlier.facts
        self._earlier = {(case.name, case.repeat): case for case in earlier.result.cases}
        self._failed_too = failed_too
        self._same_agent = self._facts.agent_fingerprint == plan.agent_fingerprint
        self._is_open = earlier.is_open
        self._changes: dict[_Change, None] = {}
        self._added: list[str] = []

    def kept(self) -> dict[int, CaseResult]:
        """By place in the plan, the cases that are not played again."""
        kept = {}
        for place, case in enumerate(self._plan.cases):
            before = self._earlier.get((case.name, case.repeat))
            if before is None:
                self._added.append(case.name)
            elif change := self._change(case):
                self._changes[_Change(case.name, change)] = None
            elif self._same_agent and self._has_ended(before, case):
                kept[place] = replace(
                    before, index=case.index, given_name=case.given_name, multi_turn=case.multi_turn
                )
        return kept

    def _change(self, case: CasePlan) -> str | None:
        known = self._facts.fingerprints.get((case.name, case.repeat))
        if not known:
            return "its definition is not in the journal"
        changed = [
            what
            for what, key, now in (
                ("its turns have changed", "case", case_fingerprint(case)),
                ("its metrics have changed", "metrics", case.metrics_fingerprint),
            )
            if known.get(key) != now
        ]
        return " and ".join(changed) or None

    def _has_ended(self, before: CaseResult, case: CasePlan) -> bool:
        """Whether each of its turns has a verdict that stands."""
        return len(before.turns) == len(case.turns) and all(
            turn.stands(known, failed_too=self._failed_too)
            for turn, known in zip(case.turns, before.turns, strict=True)
        )

    def said(self, kept: int) -> Iterator[str]:
        """What the user should know of it."""
        run, cases, done = self._facts.run_id, len(self._plan.cases), _WORDS[self._plan.made_by].done
        yield f"goes on with run {run}: {kept} of {cases} cases are kept, {cases - kept} are {done}"
        if self._is_open:
            yield f"run {run} is still going on in another process: what comes from now on is not seen"
        if not self._same_agent:
            yield (
                f"the agent is another one than in run {run} (its model, instructions, tools or name):"
                " every case is played again"
            )
        for change in self._changes:
            yield f"case {change.case!r} is {done} again: {change.what} since run {run}"
        planned = {(case.name, case.repeat) for case in self._plan.cases}
        gone = [name for name, repeat in self._earlier if (name, repeat) not in planned]
        if self._added:
            yield f"new since run {run}: {_listed(self._added)}"
        if gone:
            yield f"left out, though run {run} has them: {_listed(gone)}"


def _listed(names: list[str]) -> str:
    distinct = list(dict.fromkeys(names))
    shown = ", ".join(repr(name) for name in distinct[:_NAMES_SHOWN])
    return f"{shown} and {len(distinct) - _NAMES_SHOWN} more" if len(distinct) > _NAMES_SHOWN else shown
