"""The suite file: an agent, how it is judged, and the conversations to play."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from .agent import ClaudeConfig, Instructions, ModelConfig, OpenAIConfig
from .agent_tools import AgentTool
from .case import Case
from .metrics import MetricConfig, MetricReference
from .scalars import Count, Flag, Model, NonBlankSetting, Positive, Setting, Unchecked, Whole, untyped, wrong
from .values import kind_of

if TYPE_CHECKING:
    from .case import Turn

__all__ = ["EvaluationConfig", "ExecutionConfig", "SuiteConfig"]


class ExecutionConfig(Model):
    """How a run goes. Times in seconds; None where the suite leaves a field to its default."""

    llm_timeout: Positive | None = None
    file_timeout: Positive | None = None
    download_timeout: Positive | None = None
    grader_timeout: Positive | None = None
    max_retries: Annotated[Whole, Field(ge=0)] | None = None
    cache_enabled: Flag | None = None
    cache_dir: NonBlankSetting | None = None
    parallel_test_cases: Count | None = None
    verbose: Flag | None = None
    quiet: Flag | None = None


class EvaluationConfig(Model):
    """The agent-level metrics, and the model that judges where a metric names none."""

    model: ModelConfig | None = None
    metrics: tuple[MetricConfig, ...] = ()
    optimizer: Unchecked = None


def _response_format(value: Any) -> Any:
    if value is None or isinstance(value, Mapping):
        return untyped(value)
    if isinstance(value, str) and value.endswith((".json", ".yaml", ".yml")):
        return str(value)
    raise wrong(f"expected a mapping, or the path of a .json or .yaml file, got {kind_of(value)}")


class SuiteConfig(Model):
    """One suite file."""

    name: NonBlankSetting
    description: Setting | None = None
    author: Setting | None = None
    model: ModelConfig | None = None
    instructions: Instructions | None = None
    response_format: Annotated[Any, BeforeValidator(_response_format)] = None
    tools: tuple[AgentTool, ...] | None = None
    evaluations: EvaluationConfig | None = None
    test_cases: tuple[Case, ...] | None = None
    test_cases_file: NonBlankSetting | None = None
    execution: ExecutionConfig | None = None
    embedding_provider: Unchecked = None
    observability: Unchecked = None
    deployment: Unchecked = None
    claude: ClaudeConfig | None = None
    openai: OpenAIConfig | None = None

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases, in the order of the file."""
        return self.test_cases or ()

    @property
    def agent_metrics(self) -> tuple[MetricConfig, ...]:
        """The agent-level metrics, disabled ones included."""
        return self.evaluations.metrics if self.evaluations else ()

    @cached_property
    def metrics_by_name(self) -> Mapping[str, MetricConfig]:
        """The agent-level metrics by what a bare name in a case may call them.

        That is their `name`, else their own name; a name taken twice is the first one's, and the second is
        called `numeric_2`.
        """
        by_name: dict[str, MetricConfig] = {}
        for metric in self.agent_metrics:
            name = metric.name or metric.default_id
            place = 1
            while name in by_name:
                place += 1
                name = f"{metric.name or metric.default_id}_{place}"
            by_name[name] = metric
        return by_name

    def metrics_for(self, case: Case, turn: Turn) -> tuple[MetricConfig, ...]:
        """The metrics of one turn: the narrowest list whole, references followed, disabled ones left out.

        Raises:
            KeyError: A reference to a metric that the agent level does not have (refused while loading).
        """
        chosen = turn.evaluations if turn.evaluations is not None else case.evaluations
        if chosen is None:
            return self._enabled_agent_metrics
        if not chosen:
            return ()
        followed = (
            self.metrics_by_name[metric.reference] if isinstance(metric, MetricReference) else metric
            for metric in chosen
        )
        return tuple(metric for metric in followed if metric.enabled)

    @cached_property
    def _enabled_agent_metrics(self) -> tuple[MetricConfig, ...]:
        return tuple(metric for metric in self.agent_metrics if metric.enabled)
