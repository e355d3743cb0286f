"""The suite file: an agent, how it is judged, and the conversations to play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from .agent import AgentTool, ClaudeConfig, Instructions, ModelConfig, OpenAIConfig
from .case import Case
from .metrics import MetricConfig, MetricReference
from .scalars import Anything, Count, Flag, Model, NonBlank, Positive, Text, Unchecked, Whole

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
    cache_dir: NonBlank | None = None
    parallel_test_cases: Count | None = None
    verbose: Flag | None = None
    quiet: Flag | None = None


class EvaluationConfig(Model):
    """The agent-level metrics, and the model that judges where a metric names none."""

    model: ModelConfig | None = None
    metrics: tuple[MetricConfig, ...] = ()
    optimizer: Unchecked = None


class SuiteConfig(Model):
    """One suite file."""

    name: NonBlank
    description: Text | None = None
    author: Text | None = None
    model: ModelConfig | None = None
    instructions: Instructions | None = None
    response_format: Anything = None
    tools: tuple[AgentTool, ...] | None = None
    evaluations: EvaluationConfig | None = None
    test_cases: tuple[Case, ...] | None = None
    test_cases_file: NonBlank | None = None
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

    def metrics_for(self, case: Case, turn: Turn) -> tuple[MetricConfig, ...]:
        """The metrics of one turn: the narrowest list whole, references followed, disabled ones left out.

        Raises:
            KeyError: A reference to a metric that the agent level does not have (refused while loading).
        """
        chosen: Any = next(
            (level for level in (turn.evaluations, case.evaluations) if level is not None), self.agent_metrics
        )
        by_name = {metric.name or metric.default_id: metric for metric in reversed(self.agent_metrics)}
        followed = (
            by_name[metric.reference] if isinstance(metric, MetricReference) else metric for metric in chosen
        )
        return tuple(metric for metric in followed if metric.enabled)
