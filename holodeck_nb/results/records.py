"""What happened on one turn: the reply, its tool calls, the checks, the metrics, the tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ArgumentCheck",
    "FileRecord",
    "MetricResult",
    "MetricStatus",
    "RunWarning",
    "Status",
    "TokenUsage",
    "ToolCheck",
    "ToolInvocation",
    "TurnResult",
]

Status = Literal["passed", "failed", "error", "skipped"]
MetricStatus = Literal["passed", "failed", "scored", "error", "not_applicable"]
MetricKind = Literal["standard", "rag", "geval", "code", "evaluate"]

_NAYS = frozenset({"failed", "error"})  # the statuses of a metric whose `passed` is False
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_TOKEN_FIELDS = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "cache_creation_tokens",
    "cache_read_tokens",
)


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one turn, or of several added up. None is unknown, never 0.

    Attributes:
        prompt_tokens: The whole input, tokens read from a cache included.
        completion_tokens: The whole output, reasoning included.
        total_tokens: Prompt plus completion; filled in where both are known.
        cache_creation_tokens: The part of the prompt written to the provider's cache.
        cache_read_tokens: The part of the prompt read from the provider's cache.
        complete: False where a part of the sum was unknown, so that the true number is higher.

    Raises:
        ValueError: A count below zero, or a total that is less than its parts.

    Example:
        >>> TokenUsage(prompt_tokens=180, completion_tokens=12).total_tokens
        192
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cache_creation_tokens: int | None = None
    cache_read_tokens: int | None = None
    complete: bool = True

    def __post_init__(self) -> None:
        """Fill in the total and refuse counts that cannot be."""
        for name in _TOKEN_FIELDS:
            count = getattr(self, name)
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
                raise ValueError(f"{name} must be a whole number of at least 0, or None; got {count!r}")
        if self.prompt_tokens is None or self.completion_tokens is None:
            return
        parts = self.prompt_tokens + self.completion_tokens
        if self.total_tokens is None:
            object.__setattr__(self, "total_tokens", parts)
        elif self.total_tokens < parts:
            raise ValueError(f"total_tokens {self.total_tokens} is less than prompt plus completion, {parts}")

    @classmethod
    def sum(cls, usages: Iterable[TokenUsage | None]) -> TokenUsage | None:
        """Add up field by field what is known; None where nothing is known at all.

        The sum of a field over parts of which some are unknown is the sum of the known ones, and `complete`
        is False as soon as a part's prompt, completion or total is unknown (or is itself incomplete). The
        total is never less than the known prompt and completion tokens.
        """
        parts = list(usages)
        known = [part for part in parts if part is not None]
        if not known:
            return None
        sums: dict[str, int | None] = {}
        for name in _TOKEN_FIELDS:
            counts = [count for part in known if (count := getattr(part, name)) is not None]
            sums[name] = sum(counts) if counts else None
        prompt, completion, total = (sums[name] for name in _TOKEN_FIELDS[:3])
        if prompt is not None and completion is not None and total is not None:
            # A part may know its prompt and not its total.
            sums["total_tokens"] = max(total, prompt + completion)
        whole = len(known) == len(parts) and all(part.complete and part.is_known for part in known)
        return cls(**sums, complete=whole)

    @property
    def is_known(self) -> bool:
        """Whether prompt, completion and total are all known."""
        return None not in {self.prompt_tokens, self.completion_tokens, self.total_tokens}


@dataclass(frozen=True, slots=True)
class ToolInvocation:
    """One call of a tool by the agent.

    Attributes:
        name: As called, with any prefix the framework puts before it (`Math-subtract`).
        args: By argument name; None where they could not be read (then `raw_args` holds the text).
        result: Whatever the tool gave back; None where it failed or gave nothing.
        error: What went wrong, None where nothing did.
        duration_ms: None where it was not measured.
        raw_args: The text of unreadable arguments.
        id: The provider's id of the call, if it has one.

    Example:
        >>> ToolInvocation("subtract", {"a": 206588, "b": 181001}, result=25587).name
        'subtract'
    """

    name: str
    args: Mapping[str, Any] | None = field(default_factory=lambda: _NOTHING)
    result: Any = None
    error: str | None = None
    duration_ms: float | None = None
    raw_args: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ArgumentCheck:
    """One asserted argument of one expected tool, against the call that came closest.

    Attributes:
        arg: The argument's name.
        matcher: `exact`, `fuzzy` or `regex`.
        expected: The asserted value or pattern.
        actual: What the closest call passed; None where no call or no such argument (`missing`).
        missing: Whether the closest call lacks the argument, or there is no call at all.
        matched: Whether it fits.
        reason: Why not; None where it fits.
    """

    arg: str
    matcher: Literal["exact", "fuzzy", "regex"]
    expected: Any
    actual: Any
    missing: bool
    matched: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCheck:
    """One entry of `expected_tools` against the calls of its turn.

    Attributes:
        tool: The expected name.
        count: How many fitting calls are wanted at least.
        args: The asserted arguments as written (matchers as mappings); None where only the name is asserted.
        matched: Whether enough calls fit.
        matched_calls: The calls that fit, by their place in the turn, from 0.
        matched_names: The called names that fit, without repeats.
        arguments: One check an asserted argument, on the first fitting call or else the closest one.
        closest_call: The call that `arguments` speaks of, from 0; None where no call has the name.
        reason: Why it does not match; None where it does.
    """

    tool: str
    count: int
    args: Mapping[str, Any] | None
    matched: bool
    matched_calls: tuple[int, ...] = ()
    matched_names: tuple[str, ...] = ()
    arguments: tuple[ArgumentCheck, ...] = ()
    closest_call: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MetricResult:
    """One metric on one turn.

    Attributes:
        id: Unique among the metrics of the turn: `numeric`, `numeric_2`, or the metric's `name`.
        kind: standard, rag, geval, code or evaluate.
        status: `scored` where there is neither threshold nor verdict; `error` where it could not be measured;
            `not_applicable` where it had nothing to measure (no ground truth).
        score: 0 to 1; None unless measured.
        threshold: The least score that passes; None where there is none.
        reason: Why it failed, could not be measured or does not apply; free text of the metric otherwise.
        details: What the metric wants to show beside the score; JSON-compatible, None where nothing.
        model: The judge's model; None for metrics without one.
        retries: How often it was tried again.
        duration_ms: None where it did not run.
        verdict: The metric's own yes or no, whatever the threshold; None where it gave none or none is known.
        definition: Tells one way to measure from another (thresholds aside); None where it is not known.
    """

    id: str
    kind: MetricKind
    status: MetricStatus
    score: float | None = None
    threshold: float | None = None
    reason: str | None = None
    details: Mapping[str, Any] | None = None
    model: str | None = None
    retries: int = 0
    duration_ms: float | None = None
    # How it came about, for scoring again: no part of what was found.
    verdict: bool | None = field(default=None, compare=False)
    definition: str | None = field(default=None, compare=False)

    @property
    def passed(self) -> bool | None:
        """The verdict: None for `scored` and `not_applicable`, which have none; False for `error`."""
        match self.status:
            case "passed":
                return True
            case "failed" | "error":
                return False
            case _:
                return None

    @property
    def measured(self) -> bool:
        """Whether there is a score that may enter a mean."""
        score = self.score
        return score is not None and isfinite(score) and self.status in {"passed", "failed", "scored"}


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file that a turn brought along, as the report tells of it; addresses have no query."""

    path: str | None = None
    url: str | None = None
    type: str = ""
    details: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class RunWarning:
    """Something a user should know though it changes no verdict.

    Attributes:
        text: What, and what to do.
        case: The case's name; None for the whole run.
        turn: From 0; None for the whole case.
        place: The path in the suite (`test_cases[0].turns[1].ground_truth`), or "" where there is none.
    """

    text: str
    case: str | None = None
    turn: int | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """One turn: what was asked, what came back, what was checked.

    Attributes:
        turn: Its place in the case, from 0.
        input: The text the suite asks with (without file blocks).
        ground_truth: The right answer; None where none is asserted.
        expected_tools: As written in the suite (names or mappings); None where nothing is asserted.
        retrieval_context: The passages given for metrics; None where there are none.
        turn_config: The turn's free mapping for graders; None where there is none.
        files: The files that went with the input.
        response: The agent's text, "" if it answered with nothing; None where there was no reply.
        tool_calls: In the order of the calls; on an `error` turn those that had finished.
        tool_checks: One an entry of `expected_tools`; None where nothing is asserted or nothing was checked.
        metrics: In the suite's order; empty on `error` and `skipped` turns.
        usage: Tokens; None is unknown.
        cost_usd: None is unknown.
        model: The model that answered, as the provider names it; None is unknown.
        finish_reason: As the provider says it (`stop`, `length`, …); None is unknown.
        refused: Whether the model refused; truncated: whether the reply was cut off.
        error: The fault of the turn itself; then no check and no metric ran.
        skip_reason: Why it was never played.
        started_at: UTC; None where it was not played.
        duration_ms: From the send to the reply; None where it was not played.
    """

    turn: int
    input: str
    ground_truth: str | None = None
    expected_tools: tuple[Any, ...] | None = None
    retrieval_context: tuple[str, ...] | None = None
    turn_config: Mapping[str, Any] | None = None
    files: tuple[FileRecord, ...] = ()
    response: str | None = None
    tool_calls: tuple[ToolInvocation, ...] = ()
    tool_checks: tuple[ToolCheck, ...] | None = None
    metrics: tuple[MetricResult, ...] = ()
    usage: TokenUsage | None = None
    cost_usd: float | None = None
    model: str | None = None
    finish_reason: str | None = None
    refused: bool = False
    truncated: bool = False
    error: str | None = None
    skip_reason: str | None = None
    started_at: datetime | None = None
    duration_ms: float | None = None

    @property
    def status(self) -> Status:
        """`skipped`, `error`, `failed` (a check or metric said no, or a metric broke) or `passed`."""
        if self.skip_reason is not None:
            return "skipped"
        if self.error is not None:
            return "error"
        if self.tools_matched is False:
            return "failed"
        for metric in self.metrics:  # plain loops here and below: every frame asks this of every turn
            if metric.status in _NAYS:
                return "failed"
        return "passed"

    @property
    def passed(self) -> bool:
        """Whether the status is `passed`."""
        return self.status == "passed"

    @property
    def tools_matched(self) -> bool | None:
        """Whether every entry of `expected_tools` matched; None where nothing was asserted or checked."""
        if self.tool_checks is None:
            return None
        for check in self.tool_checks:  # noqa: SIM110 - a generator costs more than the loop, see `status`
            if not check.matched:
                return False
        return True

    @property
    def failures(self) -> tuple[str, ...]:
        """Every reason why this turn is not passed, in reading order; empty on a passed turn."""
        if self.skip_reason is not None:
            return (self.skip_reason,)
        if self.error is not None:
            return (self.error,)
        checks = tuple(
            check.reason or f"{check.tool}: not matched"
            for check in self.tool_checks or ()
            if not check.matched
        )
        metrics = tuple(
            f"{metric.id}: {metric.reason or _bare_verdict(metric)}"
            for metric in self.metrics
            if metric.passed is False
        )
        return checks + metrics

    @property
    def reason(self) -> str | None:
        """Why this turn is not passed, in one line; None on a passed turn."""
        return "; ".join(self.failures) or None


def _bare_verdict(metric: MetricResult) -> str:
    """What there is to say of a metric that gave no reason."""
    if metric.score is None:
        return "not measured" if metric.status == "error" else metric.status
    wanted = "" if metric.threshold is None else f", threshold {metric.threshold:g}"
    return f"score {metric.score:g}{wanted}"
