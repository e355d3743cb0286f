"""What a run will do, settled before it begins: named cases, and for each turn its metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from holodeck_nb.backends.base import SessionContext
from holodeck_nb.backends.function_tools import FunctionTools
from holodeck_nb.files.inputs import FileSettings
from holodeck_nb.metrics.base import Metric, build_metrics
from holodeck_nb.metrics.judge_models import Judges
from holodeck_nb.results.records import RunWarning, TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.schema.case import Case, Turn
from holodeck_nb.schema.files import FileInput
from holodeck_nb.schema.suite import SuiteConfig
from holodeck_nb.schema.tools import Regex

from .budget import Budget
from .definitions import fingerprint, metric_definition

__all__ = ["CasePlan", "NamedCase", "PlannedTurn", "RunPlan", "TurnPlan", "plan_cases", "repeated"]


@dataclass(frozen=True, slots=True)
class NamedCase:
    """A case with the name and the place (from 0) it has in its suite; both stay when cases are selected."""

    name: str
    index: int
    case: Case


class PlannedTurn(ABC):
    """One turn of a run before it is played, or scored again."""

    @property
    @abstractmethod
    def told(self) -> Mapping[str, Any]:
        """What is known of the turn's result beforehand, by field of TurnResult: what the suite tells."""

    @property
    @abstractmethod
    def told_apart_by(self) -> Sequence[FileInput | TurnResult]:
        """What makes it another turn beside what is told of it: its files, or what was recorded."""

    @property
    @abstractmethod
    def measured_by(self) -> tuple[tuple[str, ...], list[float | None]]:
        """A fingerprint for each of its metrics, and each one's threshold."""

    @abstractmethod
    def stands(self, before: TurnResult, *, failed_too: bool) -> bool:
        """Whether its result of an earlier run is kept; `failed_too`: failed ones are not."""

    def result(self, **happened: Any) -> TurnResult:
        """The turn's result: what is told of it, and what happened."""
        return TurnResult(**self.told, **happened)


@dataclass(frozen=True)
class TurnPlan(PlannedTurn):
    """One turn to play: its place (from 0), what the suite asks, and the metrics that will judge it.

    `definitions` has a fingerprint for each metric, in their order; empty where nobody asks for them.
    """

    turn: int
    asked: Turn
    metrics: tuple[Metric, ...]
    definitions: tuple[str, ...] = ()

    @cached_property
    def told(self) -> Mapping[str, Any]:
        """See PlannedTurn."""
        tools = self.asked.expected_tools
        return {
            "turn": self.turn,
            "input": self.asked.input,
            "ground_truth": self.asked.ground_truth,
            "expected_tools": None if tools is None else tuple(tool.written for tool in tools),
            "retrieval_context": self.asked.retrieval_context,
            "turn_config": self.asked.turn_config,
        }

    @property
    def told_apart_by(self) -> Sequence[FileInput]:
        """See PlannedTurn."""
        return self.asked.files or ()

    @property
    def measured_by(self) -> tuple[tuple[str, ...], list[float | None]]:
        """See PlannedTurn."""
        return self.definitions, [metric.threshold for metric in self.metrics]

    def stands(self, before: TurnResult, *, failed_too: bool) -> bool:
        """See PlannedTurn."""
        return before.passed or (before.status == "failed" and not failed_too)

    @cached_property
    def has_patterns(self) -> bool:
        """Whether an expected argument is a regular expression, which may take its time."""
        tools = self.asked.expected_tools or ()
        return any(isinstance(matcher, Regex) for tool in tools for matcher in (tool.args or {}).values())


@dataclass(frozen=True)
class CasePlan:
    """One conversation to play; or to score again, then with the moment when it was over."""

    name: str
    index: int
    given_name: str | None
    multi_turn: bool
    turns: tuple[PlannedTurn, ...]
    repeat: int = 0
    finished_at: datetime | None = None

    @property
    def metrics_fingerprint(self) -> str:
        """Changes with the metrics of any turn, and with their thresholds."""
        return fingerprint(*(turn.measured_by for turn in self.turns))


@dataclass(frozen=True)
class RunPlan:
    """Everything a run needs beside the backend. Times in seconds.

    Attributes:
        files: How the turns' files are read; None where no turn has any.
        cases: One a case and repeat, in the order of the results: the repeats of a case together.
        agent: Who answers, for readers; `agent_fingerprint` changes with model, instructions and tools.
        journal: The folder of the runs in which this one keeps a journal; None: it keeps none.
        resumed_from: The id of the run that this one goes on with; None where it begins anew.
        made_by: The call that makes it: `run`, or `rescore`, `judge_repeatability`, which talk to no agent.
        recorded: The run whose replies are scored again; None where an agent is talked to.
        recorded_id: Its id; "" where it has none.
        kept: By place in `cases`, what an earlier run has played and this one does not play again.
        budget: What the turns played now may cost.
        secrets: Texts that no error and no reason may show.
        judges: Who judges; None where nothing is judged.
    """

    suite_name: str
    cases: tuple[CasePlan, ...]
    suite_path: str = ""
    llm_timeout: float = 60.0
    grader_timeout: float = 60.0
    parallel: int = 1
    instructions: str | None = None
    tools: FunctionTools | None = None
    files: FileSettings | None = None
    response_format: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[RunWarning, ...] = ()
    agent: str = ""
    agent_fingerprint: str = ""
    journal: Path | None = None
    resumed_from: str | None = None
    made_by: str = "run"
    recorded: RunResult | None = None
    recorded_id: str = ""
    kept: Mapping[int, CaseResult] = field(default_factory=dict)
    budget: Budget | None = None
    secrets: tuple[str, ...] = ()
    judges: Judges | None = None

    @property
    def to_play(self) -> list[tuple[int, CasePlan]]:
        """The cases to play, with their places: every case once before any is repeated."""
        places = [place for place in enumerate(self.cases) if place[0] not in self.kept]
        return sorted(places, key=lambda place: place[1].repeat)

    def context(self, case: CasePlan) -> SessionContext:
        """What the backend may know about a case."""
        return SessionContext(
            case=case.name,
            index=case.index,
            repeat=case.repeat,
            given_name=case.given_name,
            instructions=self.instructions,
            tools=self.tools,
            response_format=self.response_format,
            turns=len(case.turns),
        )


def plan_cases(
    config: SuiteConfig,
    cases: Sequence[NamedCase],
    graders: Mapping[str, Callable[..., Any]],
    *,
    judges: Judges | None = None,
    folder: Path | None = None,
) -> tuple[CasePlan, ...]:
    """Give every turn its metrics; turns with the same list share the same metric objects."""
    built: dict[tuple[int, ...], tuple[tuple[Metric, ...], tuple[str, ...]]] = {}
    judge = (config.evaluations and config.evaluations.model) or config.model

    def metrics(case: Case, turn: Turn) -> tuple[tuple[Metric, ...], tuple[str, ...]]:
        configs = config.metrics_for(case, turn)
        key = tuple(map(id, configs))
        if key not in built:
            definitions = tuple(metric_definition(metric, judge) for metric in configs)
            built[key] = (
                build_metrics(configs, graders, judges=judges, folder=folder),
                definitions,
            )
        return built[key]

    return tuple(
        CasePlan(
            name=named.name,
            index=named.index,
            given_name=named.case.name,
            multi_turn=named.case.multi_turn,
            turns=tuple(
                TurnPlan(place, turn, *metrics(named.case, turn))
                for place, turn in enumerate(named.case.conversation)
            ),
        )
        for named in cases
    )


def repeated(cases: Sequence[CasePlan], repeats: int) -> tuple[CasePlan, ...]:
    """Every case so many times, its repeats (from 0) together."""
    return tuple(replace(case, repeat=repeat) for case in cases for repeat in range(repeats))
