"""The lines of a whole run: what it is, what it will play, what was played, how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from holodeck_nb._version import __version__
from holodeck_nb.results.records import RunWarning, TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.schema.files import FileInput
from holodeck_nb.views.json_turns import without_query

from .definitions import fingerprint
from .journal import FORMAT, VERSION
from .journal_lines import journal_line
from .journal_records import asked_data, turn_data, warning_data
from .plan import CasePlan, RunPlan

__all__ = [
    "RunFacts",
    "case_fingerprint",
    "end_line",
    "ended_line",
    "opening_lines",
    "plan_facts",
    "result_lines",
    "told_of",
    "turn_line",
    "warning_line",
]


@dataclass(frozen=True)
class RunFacts:
    """What a journal tells of its run before the first turn.

    Attributes:
        run_id: The name of the run's folder.
        suite_name, suite_path, started_at, settings, environment: As in RunResult.
        agent, agent_fingerprint, resumed_from, made_by: As in RunPlan.
        rescored_from: The id of the run whose replies were scored again, "" where it has none; None for a run
            that talked to an agent.
        fingerprints: By case and repeat, those of its definition (`case`) and of its metrics (`metrics`).
    """

    run_id: str
    suite_name: str
    suite_path: str = ""
    started_at: datetime | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    agent: str = ""
    agent_fingerprint: str = ""
    resumed_from: str | None = None
    made_by: str = "run"
    rescored_from: str | None = None
    fingerprints: Mapping[tuple[str, int], Mapping[str, str]] = field(default_factory=dict)


def plan_facts(
    plan: RunPlan, run_id: str, started_at: datetime | None, environment: Mapping[str, str]
) -> RunFacts:
    """What a plan tells of its run; the fingerprints of cases come with their lines."""
    return RunFacts(
        run_id=run_id,
        suite_name=plan.suite_name,
        suite_path=plan.suite_path,
        started_at=started_at,
        settings=plan.settings,
        environment=environment,
        agent=plan.agent,
        agent_fingerprint=plan.agent_fingerprint,
        resumed_from=plan.resumed_from,
        made_by=plan.made_by,
        rescored_from=None if plan.recorded is None else plan.recorded_id,
    )


def opening_lines(facts: RunFacts, cases: Iterable[CasePlan]) -> Iterator[dict[str, Any]]:
    """The run, a line for each of its cases, and the run again: its line is worth a second copy."""
    cases = list(cases)
    run = _run_line(facts, len(cases), sum(len(case.turns) for case in cases))
    yield run
    # Repeats are asked the same, and share a line; what was recorded of each is its own.
    for _, repeats in groupby(cases, key=lambda case: (case.name, id(case.turns))):
        case, *others = repeats
        asked = _asked(turn.told for turn in case.turns)
        yield {
            **_case_line(case, [case.repeat, *(other.repeat for other in others)]),
            "fingerprints": {"case": _fingerprint(case, asked), "metrics": case.metrics_fingerprint},
            "turns": asked,
        }
    yield run


def result_lines(result: RunResult, facts: RunFacts) -> Iterator[dict[str, Any]]:
    """A run that is over as a journal would have it."""
    turns = sum(len(case.turns) for case in result.cases)
    run = _run_line(facts, len(result.cases), turns)
    yield run
    for case in result.cases:
        asked = _asked(map(told_of, case.turns))
        marks = facts.fingerprints.get((case.name, case.repeat), {})
        yield {**_case_line(case, [case.repeat]), "fingerprints": marks, "turns": asked}
    yield run
    for case in result.cases:
        yield from (turn_line(case, turn) for turn in case.turns)
        if case.finished_at is not None:
            yield ended_line(case, case.finished_at)
    yield from map(warning_line, result.warnings)
    yield end_line(result)


def turn_line(case: CasePlan | CaseResult, turn: TurnResult) -> dict[str, Any]:
    """A turn that has ended: complete in itself."""
    return {
        "kind": "turn",
        "case": case.name,
        "index": case.index,
        "repeat": case.repeat,
        **turn_data(turn),
    }


def ended_line(case: CasePlan | CaseResult, finished_at: datetime) -> dict[str, Any]:
    """Every turn of a case has ended, and its session is closed."""
    kind = "case_ended"
    return {"kind": kind, "case": case.name, "repeat": case.repeat, "finished_at": finished_at.isoformat()}


def warning_line(warning: RunWarning) -> dict[str, Any]:
    """A warning of the run."""
    return {"kind": "warning", **warning_data(warning)}


def end_line(result: RunResult) -> dict[str, Any]:
    """The run is over; with its counts, so that a list of runs need not read them all."""
    summary = result.summary
    names = ("cases", "cases_passed", "turns", "turns_passed", "turns_skipped", "cost_usd")
    return {
        "kind": "end",
        "duration_ms": result.duration_ms,
        "stop_reason": result.stop_reason,
        "summary": {
            **{name: getattr(summary, name) for name in names},
            "total_tokens": summary.usage and summary.usage.total_tokens,
        },
    }


def case_fingerprint(case: CasePlan) -> str:
    """Changes with whatever the suite asks in the case."""
    return _fingerprint(case, _asked(turn.told for turn in case.turns))


def _asked(turns: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What is told of each turn; its number where that is not its place."""
    return [
        {**asked_data(told), **({} if told["turn"] == place else {"turn": told["turn"]})}
        for place, told in enumerate(turns)
    ]


def _fingerprint(case: CasePlan, asked: list[dict[str, Any]]) -> str:
    marks = [_mark(mark) for turn in case.turns for mark in turn.told_apart_by]
    return fingerprint(journal_line({"turns": asked}), *marks)


def _mark(mark: FileInput | TurnResult) -> str | bytes:
    """A turn as it was recorded; a file as the suite names it, where what is signed in an address changes."""
    if isinstance(mark, TurnResult):
        return journal_line(turn_data(mark))
    fields = {**dict(mark), "url": None if mark.url is None else without_query(mark.url)}
    return repr(sorted(fields.items()))


def told_of(turn: TurnResult) -> dict[str, Any]:
    """What the suite had told of a turn, by field."""
    return {
        "turn": turn.turn,
        "input": turn.input,
        "ground_truth": turn.ground_truth,
        "expected_tools": turn.expected_tools,
        "retrieval_context": turn.retrieval_context,
        "turn_config": turn.turn_config,
    }


def _run_line(facts: RunFacts, cases: int, turns: int) -> dict[str, Any]:
    return {
        "kind": "run",
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"holodeck_nb {__version__}",
        "run": facts.run_id,
        "suite": facts.suite_name,
        "suite_path": facts.suite_path,
        "started_at": None if facts.started_at is None else facts.started_at.isoformat(),
        "agent": facts.agent,
        "agent_fingerprint": facts.agent_fingerprint,
        "resumed_from": facts.resumed_from,
        "made_by": facts.made_by,
        "rescored_from": facts.rescored_from,
        "cases": cases,
        "turns": turns,
        "settings": facts.settings,
        "environment": facts.environment,
    }


def _case_line(case: CasePlan | CaseResult, repeats: list[int]) -> dict[str, Any]:
    return {
        "kind": "case",
        "case": case.name,
        "index": case.index,
        "given_name": case.given_name,
        "multi_turn": case.multi_turn,
        "repeats": repeats,
    }
