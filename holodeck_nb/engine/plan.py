"""What a run will do, settled before it begins: named cases, and for each turn its metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from holodeck_nb.backends.base import SessionContext
from holodeck_nb.backends.function_tools import FunctionTools
from holodeck_nb.metrics.base import Metric, build_metrics
from holodeck_nb.results.records import RunWarning, TurnResult
from holodeck_nb.schema.case import Case, Turn
from holodeck_nb.schema.suite import SuiteConfig
from holodeck_nb.schema.tools import Regex

__all__ = ["CasePlan", "NamedCase", "RunPlan", "TurnPlan", "plan_cases"]


@dataclass(frozen=True, slots=True)
class NamedCase:
    """A case with the name and the place (from 0) it has in its suite; both stay when cases are selected."""

    name: str
    index: int
    case: Case


@dataclass(frozen=True)
class TurnPlan:
    """One turn: its place (from 0), what the suite asks, and the metrics that will judge it."""

    turn: int
    asked: Turn
    metrics: tuple[Metric, ...]

    @cached_property
    def told(self) -> Mapping[str, Any]:
        """What the suite alone tells of the turn's result, by field of TurnResult."""
        tools = self.asked.expected_tools
        return {
            "turn": self.turn,
            "input": self.asked.input,
            "ground_truth": self.asked.ground_truth,
            "expected_tools": None if tools is None else tuple(tool.written for tool in tools),
            "retrieval_context": self.asked.retrieval_context,
            "turn_config": self.asked.turn_config,
        }

    @cached_property
    def has_patterns(self) -> bool:
        """Whether an expected argument is a regular expression, which may take its time."""
        tools = self.asked.expected_tools or ()
        return any(isinstance(matcher, Regex) for tool in tools for matcher in (tool.args or {}).values())

    def result(self, **happened: Any) -> TurnResult:
        """The turn's result: what the suite tells of it, and what happened."""
        return TurnResult(**self.told, **happened)


@dataclass(frozen=True)
class CasePlan:
    """One conversation to play."""

    name: str
    index: int
    given_name: str | None
    multi_turn: bool
    turns: tuple[TurnPlan, ...]
    repeat: int = 0


@dataclass(frozen=True)
class RunPlan:
    """Everything a run needs beside the backend. Times in seconds."""

    suite_name: str
    cases: tuple[CasePlan, ...]
    suite_path: str = ""
    llm_timeout: float = 60.0
    grader_timeout: float = 60.0
    parallel: int = 1
    instructions: str | None = None
    tools: FunctionTools | None = None
    response_format: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[RunWarning, ...] = ()

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
    config: SuiteConfig, cases: Sequence[NamedCase], graders: Mapping[str, Callable[..., Any]]
) -> tuple[CasePlan, ...]:
    """Give every turn its metrics; turns with the same list share the same metric objects."""
    built: dict[tuple[int, ...], tuple[Metric, ...]] = {}

    def metrics(case: Case, turn: Turn) -> tuple[Metric, ...]:
        configs = config.metrics_for(case, turn)
        key = tuple(map(id, configs))
        if key not in built:
            built[key] = build_metrics(configs, graders)
        return built[key]

    return tuple(
        CasePlan(
            name=named.name,
            index=named.index,
            given_name=named.case.name,
            multi_turn=named.case.multi_turn,
            turns=tuple(
                TurnPlan(place, turn, metrics(named.case, turn))
                for place, turn in enumerate(named.case.conversation)
            ),
        )
        for named in cases
    )
