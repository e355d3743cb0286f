"""The shape of a JSON report as a reader needs it: what may be missing, what must be of which type."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from holodeck_nb.errors import ConfigError, Problem

from .plain_data import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

__all__ = ["CaseShape", "FileShape", "MetricShape", "ReportShape", "TurnShape", "UsageShape", "report_shape"]

_MOST = 2**63 - 1  # what a DataFrame's Int64 holds
_LEVELS = 150  # more than `plain` leaves in any value of a report, so that nothing is cut twice
_SHOWN = 60

Count = Annotated[int, Field(ge=0, le=_MOST)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Duration = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _moment(value: Any) -> datetime | None:
    if value is None or value == "":
        return None
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise PydanticCustomError("moment", "must be a time like 2026-11-30T18:47:13+00:00") from error


Moment = Annotated[datetime | None, BeforeValidator(_moment)]


class _Shape(BaseModel):
    """Types are never bent; keys that we do not read are let pass, a later version may have more."""

    model_config = ConfigDict(
        strict=True, extra="ignore", frozen=True, hide_input_in_errors=True, defer_build=True
    )


class UsageShape(_Shape):
    """Tokens of a turn or of a case."""

    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Count
    cache_creation_tokens: Count | None = None
    cache_read_tokens: Count | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        parts = self.prompt_tokens + self.completion_tokens
        if self.total_tokens < parts:
            message = "total_tokens {total} is less than prompt plus completion, {parts}"
            raise PydanticCustomError("total", message, {"total": self.total_tokens, "parts": parts})
        return self


class MetricShape(_Shape):
    """One metric on one turn."""

    metric_name: str
    kind: Literal["standard", "rag", "geval", "code"]
    score: Number | None
    threshold: Number | None = None
    passed: bool | None = None
    error: str | None = None
    retry_count: Count | None = None
    evaluation_time_ms: Duration | None = None
    model_used: str | None = None
    reasoning: str | None = None


class InvocationShape(_Shape):
    """One tool call."""

    name: str
    args: dict[str, Any] = Field(default_factory=dict)
    result: Any = None
    duration_ms: Duration | None = None
    error: str | None = None


class DetailShape(_Shape):
    """The verdict on one expected tool with arguments; `matched_call_index` is -1 where no call fits."""

    expected_tool: str
    args_asserted: dict[str, Any] | None = None
    matched_call_index: Annotated[int, Field(ge=-1, le=_MOST)] | None = None
    unmatched_reason: str | None = None


class ToolShape(_Shape):
    """An entry of `expected_tools` that is written as a mapping."""

    name: str
    args: dict[str, Any] | None = None
    count: Annotated[int, Field(ge=1, le=_MOST)] | None = None
    match: str | None = None


def _tool(value: Any) -> Any:
    """An entry stays as it is written, if it is one."""
    if not isinstance(value, str):
        try:
            ToolShape.model_validate(value)
        except ValidationError as error:
            message = "must be a tool's name or a mapping with name, args and count"
            raise PydanticCustomError("tool", message) from error
    return value


Tools = list[Annotated[Any, AfterValidator(_tool)]]


class TurnShape(_Shape):
    """One turn of a case; a single-turn case is read as one of these."""

    turn_index: Count | None = None
    input: str
    response: str | None = None
    ground_truth: str | None = None
    expected_tools: Tools | None = None
    tool_calls: list[str] = Field(default_factory=list)
    tool_invocations: list[InvocationShape] = Field(default_factory=list)
    tools_matched: bool | None = None
    arg_match_details: list[DetailShape] | None = None
    metric_results: list[MetricShape] = Field(default_factory=list)
    passed: bool
    execution_time_ms: Duration = 0
    token_usage: UsageShape | None = None
    errors: list[str] = Field(default_factory=list)
    skipped: bool = False
    grader_details: dict[str, Any] | None = None


class PlaceShape(_Shape):
    """Where a file is and which part of it was read."""

    path: str | None = None
    url: str | None = None
    type: str = ""
    description: str | None = None
    pages: list[Any] | None = None
    sheet: str | None = None
    range: str | None = None
    cache: bool | None = None


class FileShape(_Shape):
    """One file of a case."""

    original: PlaceShape
    markdown_content: str = ""
    metadata: dict[str, Any] | None = None
    cached_path: str | None = None
    processing_time_ms: Duration | None = None
    error: str | None = None


class CaseShape(_Shape):
    """One case; `turns` is None for a single-turn case."""

    test_name: str | None = None
    test_input: str
    processed_files: list[FileShape] = Field(default_factory=list)
    agent_response: str | None = None
    expected_tools: Tools | None = None
    tool_calls: list[str] = Field(default_factory=list)
    tool_invocations: list[InvocationShape] = Field(default_factory=list)
    tools_matched: bool | None = None
    metric_results: list[MetricShape] = Field(default_factory=list)
    ground_truth: str | None = None
    passed: bool
    execution_time_ms: Duration = 0
    errors: list[str] = Field(default_factory=list)
    timestamp: Moment = None
    token_usage: UsageShape | None = None
    turns: list[TurnShape] | None = None


class SummaryShape(_Shape):
    """Of the summary only what the cases do not tell."""

    total_duration_ms: Duration | None = None


class ReportShape(_Shape):
    """A whole report."""

    agent_name: str
    agent_config_path: str = ""
    results: list[CaseShape]
    summary: SummaryShape
    timestamp: Moment = None
    holodeck_version: str = ""
    environment: dict[str, str] = Field(default_factory=dict)


def report_shape(data: Mapping[str, Any], path: str = "") -> ReportShape:
    """Check a report from anywhere.

    Args:
        data: The report as JSON data.
        path: The file it comes from, for messages; "" where there is none.

    Raises:
        ConfigError: Every place that is not as it must be, with its path (`results[0].turns[1].input`).
    """
    file = path or None
    try:
        return ReportShape.model_validate(plain(data, levels=_LEVELS))
    except ValidationError as error:
        problems = [
            Problem(_message(part), path=_path(part["loc"]), file=file)
            for part in error.errors(include_url=False)
        ]
        raise ConfigError(problems) from error


def _path(place: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


_WANTED = {
    "bool_type": "true or false",
    "finite_number": "a finite number",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    "dict_type": "a mapping",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "text",
}


def _message(error: ErrorDetails) -> str:
    kind = error["type"]
    if kind == "missing":
        return "is missing"
    wanted = _WANTED.get(kind, "").format_map(error.get("ctx", {}))
    found = repr(error["input"])
    shown = found if len(found) <= _SHOWN else f"{found[:_SHOWN]}…"
    if wanted:
        return f"must be {wanted}, got {shown}"
    return error["msg"] if kind == "total" else f"{error['msg']}, got {shown}"
