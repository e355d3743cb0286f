"""What all judged metrics have in common: whose they are, when they are tried again, what they are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .base import MetricError, NotApplicableError
from .judge import Judge
from .judge_evidence import Evidence, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holodeck_nb.schema.metrics import GEvalMetric, RagMetric, StandardMetric

    from .base import GraderContext, MetricSetup
    from .judge import Hearing

__all__ = [
    "PARAMS",
    "Bench",
    "called",
    "expected_output",
    "named_too",
    "passages",
    "question",
    "reply",
    "task_of",
]

_RETRIES = 3  # 006 FR-015
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Bench:
    """The common part of a judged metric.

    Attributes:
        id: Its id among the metrics of a turn.
        judge: Who judges; None where no model is there, which a run refuses before it begins.
        threshold: The least score that passes, 0 to 1; None where there is none.
        fail_on_error: Whether an error of it ends the case.
        timeout_s: How long one measurement may take, all its questions together; None for no limit.
        max_retries: How often a measurement is tried again after a timeout or a fault of the provider.
        custom_prompt: What is asked in place of our task; None where nothing is.
    """

    id: str
    judge: Judge | None
    threshold: float | None
    fail_on_error: bool
    timeout_s: float | None
    max_retries: int
    custom_prompt: str | None

    @classmethod
    def of(
        cls, config: GEvalMetric | RagMetric | StandardMetric, setup: MetricSetup, threshold: float | None
    ) -> Bench:
        """What a metric's settings say."""
        return cls(
            id=setup.id,
            judge=None if setup.judges is None else setup.judges.of(config),
            threshold=threshold,
            fail_on_error=config.fail_on_error,
            timeout_s=None if config.timeout_ms is None else config.timeout_ms / 1000,
            max_retries=_RETRIES if config.retry_on_failure is None else config.retry_on_failure,
            custom_prompt=config.custom_prompt if (config.custom_prompt or "").strip() else None,
        )

    @property
    def model(self) -> str | None:
        """`openai:gpt-5`; None without a judge."""
        return None if self.judge is None else self.judge.name

    def hearing(self, context: GraderContext) -> Hearing:
        """Begin to judge a turn.

        Raises:
            MetricError: There is no judge.
        """
        if self.judge is None:
            raise MetricError("there is no model to judge with", final=True)
        return self.judge.hearing(context.test_case_name, context.turn_index)


def called(name: str) -> str:
    """What the texts of this name are called in a prompt.

    >>> called("context")
    'the numbered passages'
    """
    match name:
        case "retrieval_context" | "context":
            return "the numbered passages"
        case "tools_called":
            return "the numbered calls of tools"
    return f"the text {name}"


def task_of(bench: Bench, ours: str, *, criteria: str = "") -> str:
    """The task as the judge is given it: ours, or the suite's own.

    In the latter, `{actual_output}` and the other names of texts become a word for the text of that name,
    which stands further down between its markers (see `named_too`), `{criteria}` becomes the criteria where
    there are some, and other braces stay as they are.
    """
    if bench.custom_prompt is None:
        return ours

    def word(found: re.Match[str]) -> str:
        if found[1] == "criteria" and criteria:
            return criteria
        return called(found[1]) if found[1] in PARAMS else found[0]

    return _PLACEHOLDER.sub(word, bench.custom_prompt)


def named_too(bench: Bench, context: GraderContext, shown: Sequence[Evidence]) -> list[Evidence]:
    """The texts that are shown, and those that a prompt of the suite's own names beside them.

    Raises:
        NotApplicableError: It names one that this turn does not have.
    """
    names = _PLACEHOLDER.findall(bench.custom_prompt or "")
    named = [evidence for name in names if name in PARAMS for evidence in PARAMS[name](context)]
    return list({evidence.name: evidence for evidence in (*shown, *named)}.values())


def question(context: GraderContext) -> list[Evidence]:
    """What the user asked on this turn."""
    return [Evidence("input", context.turn_input)]


def reply(context: GraderContext) -> list[Evidence]:
    """What the agent answered."""
    return [Evidence("actual_output", context.agent_response)]


def expected_output(context: GraderContext) -> list[Evidence]:
    """The right answer.

    Raises:
        NotApplicableError: The turn has none.
    """
    if context.ground_truth is None:
        raise NotApplicableError("no ground truth on this turn")
    return [Evidence("expected_output", context.ground_truth)]


def passages(context: GraderContext) -> list[Evidence]:
    """The retrieved passages, numbered from 1.

    Raises:
        NotApplicableError: The turn has none.
    """
    if not context.retrieval_context:
        raise NotApplicableError("no retrieval context on this turn")
    return listed("passage", context.retrieval_context)


def _calls(context: GraderContext) -> list[Evidence]:
    """The tools that the agent called, with arguments and results, numbered from 1."""
    calls = [
        f"{call.name}({call.raw_args if call.args is None else repr(dict(call.args))}) -> "
        + (f"error: {call.error}" if call.error is not None else repr(call.result))
        for call in context.tool_invocations
    ]
    return listed("tool call", calls) or [Evidence("tools_called", "none")]


PARAMS = {
    "input": question,
    "actual_output": reply,
    "expected_output": expected_output,
    "retrieval_context": passages,
    "context": passages,
    "tools_called": _calls,
}
"""What a judge may be shown, by the name in `evaluation_params`."""
