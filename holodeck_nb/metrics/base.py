"""What a metric is to us: a played turn in, a score and a verdict out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from holodeck_nb.results.records import ToolInvocation
from holodeck_nb.schema.metrics import MetricConfig, StandardMetric

if TYPE_CHECKING:
    from holodeck_nb.results.records import MetricKind

    from .judge_models import Judges  # noqa: TC004 - judges import what is here, and nobody reads the annotation

__all__ = [
    "METRICS",
    "GraderContext",
    "GraderResult",
    "Metric",
    "MetricError",
    "MetricSetup",
    "NotApplicableError",
    "build_metrics",
    "metric_ids",
    "unavailable",
]

# Standard metrics by their name, all others by their kind -> where `build(config, setup)` is; imported on
# first use, so that no run pays for a metric it does not have.
METRICS = {
    "equality": "holodeck_nb.metrics.equality:Equality.build",
    "numeric": "holodeck_nb.metrics.numeric:Numeric.build",
    "bleu": "holodeck_nb.metrics.text:TextMetric.build",
    "rouge": "holodeck_nb.metrics.text:TextMetric.build",
    "meteor": "holodeck_nb.metrics.text:TextMetric.build",
    "chrf": "holodeck_nb.metrics.text:TextMetric.build",
    "ter": "holodeck_nb.metrics.text:TextMetric.build",
    "similarity": "holodeck_nb.metrics.text:TextMetric.build",
    "groundedness": "holodeck_nb.metrics.judge_quality:QualityJudge.build",
    "relevance": "holodeck_nb.metrics.judge_quality:QualityJudge.build",
    "coherence": "holodeck_nb.metrics.judge_quality:QualityJudge.build",
    "fluency": "holodeck_nb.metrics.judge_quality:QualityJudge.build",
    "geval": "holodeck_nb.metrics.judge_geval:GEvalJudge.build",
    "rag": "holodeck_nb.metrics.judge_rag:RagJudge.build",
    "evaluate": "holodeck_nb.metrics.evaluate_module:EvaluateModule.build",
    "code": "holodeck_nb.metrics.code:CodeGrader.build",
    "plugin": "holodeck_nb.metrics.plugin_metric:build_plugin",
}


@dataclass(frozen=True, slots=True)
class GraderContext:
    """All that a metric may see of a turn.

    A code grader gets a deep copy that refuses to be changed: its mappings are dicts and its lists are lists
    (they compare, print and go into JSON as usual), but assigning, appending and the like raise TypeError.
    `copy.deepcopy(context.turn_config)` is an ordinary dict again.

    Attributes:
        turn_input: The question.
        agent_response: The reply, "" where the agent said nothing.
        ground_truth: The right answer; None where the suite gives none.
        tool_invocations: The calls of this turn, in order.
        retrieval_context: The passages of this turn; None where the suite gives none.
        turn_index: From 0.
        test_case_name: As reports show it.
        turn_config: The turn's free mapping; None where the suite gives none.

    Example:
        >>> context = GraderContext("net cash?", "206588", ground_truth="206588")
        >>> context.agent_response == context.ground_truth
        True
    """

    turn_input: str
    agent_response: str
    ground_truth: str | None = None
    tool_invocations: tuple[ToolInvocation, ...] = ()
    retrieval_context: tuple[str, ...] | None = None
    turn_index: int = 0
    test_case_name: str = ""
    turn_config: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class GraderResult:
    """What a metric or a grader gives back.

    Attributes:
        score: 0 to 1; True and False are 1 and 0, and a verdict. None leaves it to the verdict (1 or 0).
        passed: The verdict; None leaves it to the metric's threshold, and without one it is only scored.
        reason: Why, in words for the report.
        details: Anything JSON-compatible to show beside the score.

    Example:
        >>> GraderResult(score=0.5, passed=False, reason="step 2 divides by 180000").score
        0.5
    """

    score: float | bool | None = None
    passed: bool | None = None
    reason: str | None = None
    details: Mapping[str, Any] | None = None


class MetricError(Exception):
    """The metric could not be measured; the message goes into the report. Not a verdict on the reply.

    Attributes:
        details: What to show beside the reason; None for nothing.
        final: Whether another try would not change it.
    """

    def __init__(
        self, message: str, *, details: Mapping[str, Any] | None = None, final: bool = False
    ) -> None:
        super().__init__(message)
        self.details = details
        self.final = final


class NotApplicableError(Exception):
    """The metric has nothing to measure on this turn; the message says what is missing."""


class Metric(Protocol):
    """One metric, ready to measure; shared by all turns that use the same configuration.

    Attributes:
        id: Unique among the metrics of a turn.
        kind: standard, rag, geval, code or evaluate.
        threshold: The least score that passes, 0 to 1; None where there is none.
        needs_ground_truth: Whether it is not applicable on a turn without ground truth.
        fail_on_error: Whether an error of it ends the case.
        timeout_s: How long one measurement may take; None leaves it to the kind: a code grader has the run's
            `grader_timeout`, a metric that only computes has no limit.
        max_retries: How often a failed measurement is tried again.
        model: The judge's model; None for metrics without one.
    """

    @property
    def id(self) -> str: ...  # noqa: D102 - told above
    @property
    def kind(self) -> MetricKind: ...  # noqa: D102 - told above
    @property
    def threshold(self) -> float | None: ...  # noqa: D102 - told above
    @property
    def needs_ground_truth(self) -> bool: ...  # noqa: D102 - told above
    @property
    def fail_on_error(self) -> bool: ...  # noqa: D102 - told above
    @property
    def timeout_s(self) -> float | None: ...  # noqa: D102 - told above
    @property
    def max_retries(self) -> int: ...  # noqa: D102 - told above
    @property
    def model(self) -> str | None: ...  # noqa: D102 - told above

    async def measure(self, context: GraderContext) -> GraderResult:
        """Measure one reply; MetricError where it cannot be, NotApplicableError where there is nothing to."""
        ...


@dataclass(frozen=True, slots=True)
class MetricSetup:
    """What a metric is built with, beside its configuration.

    Attributes:
        id: Its id among the metrics of a turn.
        graders: The suite's graders, by the reference that names them (`graders:numeric_equal`).
        judges: Who judges; None where nothing is judged.
        folder: Where relative paths begin; None for the working directory.
    """

    id: str
    graders: Mapping[str, Callable[..., Any]]
    judges: Judges | None = None
    folder: Path | None = None


def build_metrics(
    configs: tuple[MetricConfig, ...],
    graders: Mapping[str, Callable[..., Any]],
    *,
    judges: Judges | None = None,
    folder: Path | None = None,
) -> tuple[Metric, ...]:
    """The metrics of one turn, ready to measure, in order; disabled ones are left out.

    The arguments are those of `MetricSetup`.

    Raises:
        KeyError: A metric that this version does not have (see `unavailable`), or a grader that is not among
            `graders`; both are refused before a run.
        ValueError: A malformed `response_path`.
        ConfigError: A judged metric that has no judge; a run refuses it before it begins.
    """
    enabled = tuple(config for config in configs if config.enabled)
    return tuple(
        _builder(_key(config))(config, MetricSetup(metric_id, graders, judges, folder))
        for config, metric_id in zip(enabled, metric_ids(enabled), strict=True)
    )


def metric_ids(configs: tuple[MetricConfig, ...]) -> tuple[str, ...]:
    """The ids of one list of metrics: its `name`, else the metric's own; repeats are counted from 2.

    >>> metric_ids((StandardMetric(metric="numeric"), StandardMetric(metric="numeric")))
    ('numeric', 'numeric_2')
    """
    given = {config.name for config in configs if config.name is not None}
    taken: set[str] = set()
    ids = []
    for config in configs:
        wanted = config.name or config.default_id
        # A given name belongs to the metric that bears it.
        free = wanted not in taken and (config.name is not None or wanted not in given)
        number = 1
        while not free:
            number += 1
            free = f"{wanted}_{number}" not in taken | given
        taken.add(wanted if number == 1 else f"{wanted}_{number}")
        ids.append(wanted if number == 1 else f"{wanted}_{number}")
    return tuple(ids)


def unavailable(config: MetricConfig, folder: Path | None = None) -> str | None:
    """Why the metric cannot be run here, by name; None where it can.

    Whether a judged metric has a model is told by `Judges.problems`.

    Args:
        config: The metric.
        folder: Where relative paths begin; None for the working directory.

    >>> unavailable(StandardMetric(metric="numeric"))
    """
    if config.type == "evaluate":
        from .evaluate_module import unusable  # noqa: PLC0415 - the protocol loads no metric

        return unusable(config, folder)
    if config.type == "plugin":
        from .plugin_metric import unusable_plugin  # noqa: PLC0415 - the same

        return unusable_plugin(config)
    return None


def _key(config: MetricConfig) -> str:
    return config.metric if isinstance(config, StandardMetric) else config.type


def _builder(key: str) -> Callable[[MetricConfig, MetricSetup], Metric]:
    module, _, path = METRICS[key].partition(":")
    found: Any = import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    builder: Callable[[MetricConfig, MetricSetup], Metric] = found
    return builder
