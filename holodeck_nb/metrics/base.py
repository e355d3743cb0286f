"""What a metric is to us: a played turn in, a score and a verdict out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from holodeck_nb.results.records import ToolInvocation

if TYPE_CHECKING:
    from holodeck_nb.results.records import MetricKind

__all__ = ["GraderContext", "GraderResult", "Metric", "MetricError", "NotApplicableError"]


@dataclass(frozen=True, slots=True)
class GraderContext:
    """All that a metric may see of a turn; deeply read-only.

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
        score: 0 to 1; True and False are 1 and 0. None leaves it to the verdict (1 or 0).
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
    """The metric could not be measured; the message goes into the report. Not a verdict on the reply."""


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
        timeout_s: How long one measurement may take; None for metrics that only compute.
        max_retries: How often a failed measurement is tried again.
        model: The judge's model; None for metrics without one.
    """

    id: str
    kind: MetricKind
    threshold: float | None
    needs_ground_truth: bool
    fail_on_error: bool
    timeout_s: float | None
    max_retries: int
    model: str | None

    async def measure(self, context: GraderContext) -> GraderResult:
        """Measure one reply; MetricError where it cannot be, NotApplicableError where there is nothing to."""
        ...
