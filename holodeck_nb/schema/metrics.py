"""Metrics as a suite asks for them: one model a kind, told apart by `type` or by their keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    ValidationInfo,
    WithJsonSchema,
)

from holodeck_nb.plugins import METRIC_PLUGINS

from .agent import ModelConfig
from .scalars import Count, Flag, FreeMapping, Model, NonBlankSetting, Number, Positive, Setting, Whole, wrong
from .values import kind_of

__all__ = [
    "CodeMetric",
    "EvaluateMetric",
    "GEvalMetric",
    "MetricConfig",
    "MetricOrReference",
    "MetricReference",
    "PluginMetric",
    "RagMetric",
    "StandardMetric",
]

JudgedName = Literal["groundedness", "relevance", "coherence", "fluency"]
StandardName = Literal[
    "equality", "numeric", "bleu", "rouge", "meteor", "chrf", "ter", "similarity",
    "groundedness", "relevance", "coherence", "fluency",
]  # fmt: skip
RagName = Literal[
    "faithfulness", "contextual_relevancy", "contextual_precision", "contextual_recall", "answer_relevancy"
]
KINDS = ("standard", "code", "geval", "rag", "evaluate", "plugin")
EVALUATION_PARAMS = (
    "input", "actual_output", "expected_output", "retrieval_context", "context", "tools_called",
)  # fmt: skip
STANDARD_NAMES: tuple[str, ...] = get_args(StandardName)
RAG_NAMES: tuple[str, ...] = get_args(RagName)
_JUDGED_NAMES: tuple[str, ...] = get_args(JudgedName)
# Which key tells the kind where `type` is missing, first found first taken.
_TELLING_KEYS = {"grader": "code", "criteria": "geval", "metric_type": "rag", "module": "evaluate"}

Fraction = Annotated[Number, Field(ge=0, le=1)]
_RESPONSE_PATH = re.compile(r"[A-Za-z_][\w-]*(?:\[[0-9]+\])*(?:\.[A-Za-z_][\w-]*(?:\[[0-9]+\])*)*", re.ASCII)
_JUDGED_LIMIT = 5


def _response_path(path: str) -> str:
    if not _RESPONSE_PATH.fullmatch(path):
        hint = "write keys and places like `result.items[0].value`"
        raise wrong(f"{kind_of(path)} is not a path into a JSON reply", hint=hint)
    return path


def _on_its_scale(threshold: float, info: ValidationInfo) -> float:
    metric = info.data.get("metric")
    if metric is not None and metric not in _JUDGED_NAMES and threshold > 1:
        raise wrong(f"expected at most 1, got {threshold:g}: {metric} scores from 0 to 1")
    highest = info.data.get("scale") or _JUDGED_LIMIT
    if threshold > highest:
        raise wrong(f"expected at most {highest}, got {threshold:g}: a judge scores from 1 to {highest}")
    return threshold


def _judges_scale(scale: int, info: ValidationInfo) -> int:
    if scale == 1 and info.data.get("metric") in _JUDGED_NAMES:
        raise wrong("expected at least 2, got 1: a judge scores from 1 to the scale's end")
    return scale


def _grader(value: Any) -> Any:
    if isinstance(value, str):
        if not re.fullmatch(r"[\w.]+:\w+", value):
            raise wrong(f"expected `module.path:function`, got {kind_of(value)}")
        return str(value)
    if callable(value):
        return value
    raise wrong(f"expected `module.path:function`, got {kind_of(value)}")


def _shown_to_judge(name: str) -> str:
    if name not in EVALUATION_PARAMS:
        message = f"{kind_of(name)} is nothing that a judge can be shown: {', '.join(EVALUATION_PARAMS)}"
        raise wrong(message, found=name, allowed=EVALUATION_PARAMS)
    return name


def _installed(name: str) -> str:
    if name not in METRIC_PLUGINS.names:
        known = METRIC_PLUGINS.names
        hint = "install the package that brings it, or define it with @hd.metric before the suite is loaded"
        message = f"no installed package has a metric {kind_of(name)}"
        raise wrong(message, found=name, allowed=known, hint=hint)
    return name


ResponsePath = Annotated[Setting, AfterValidator(_response_path)]


def _or_short_form(schema: dict[str, Any]) -> None:
    """Let the published schema know `type: numeric`, which says the metric too."""
    del schema["required"]


class _Common(Model):
    """What every metric may say."""

    name: NonBlankSetting | None = None
    enabled: Flag = True
    fail_on_error: Flag = False

    @property
    def default_id(self) -> str:
        """The id where the suite gives no `name`."""
        raise NotImplementedError


class StandardMetric(_Common):
    """A built-in metric: exact, numeric, text overlap, or one of the four judged ones."""

    model_config = ConfigDict(json_schema_extra=_or_short_form)

    type: Annotated[Literal["standard"], WithJsonSchema({"enum": ["standard", *STANDARD_NAMES]})] = "standard"
    metric: StandardName
    scale: Annotated[Count, AfterValidator(_judges_scale)] | None = None
    threshold: Annotated[Number, Field(ge=0), AfterValidator(_on_its_scale)] | None = None
    model: ModelConfig | None = None
    retry_on_failure: Annotated[Whole, Field(ge=0)] | None = None
    timeout_ms: Positive | None = None
    custom_prompt: Setting | None = None
    case_insensitive: Flag = False
    strip_whitespace: Flag = False
    strip_punctuation: Flag = False
    absolute_tolerance: Annotated[Number, Field(ge=0)] = 1e-6
    relative_tolerance: Annotated[Number, Field(ge=0)] = 0.0
    accept_percent: Flag = True
    accept_thousands_separators: Flag = True
    select: Literal["first", "last", "only"] | None = None
    percent_as: Literal["ratio", "points", "either"] = "ratio"
    rounding: Literal["answer"] | None = None
    scale_words: Literal["apply", "ignore", "either"] = "apply"
    response_path: ResponsePath | None = None

    @property
    def default_id(self) -> str:
        """The metric's own name."""
        return self.metric

    @property
    def judged(self) -> bool:
        """Whether a model gives the score."""
        return self.metric in _JUDGED_NAMES


class GEvalMetric(_Common):
    """A judge with criteria of your own."""

    type: Literal["geval"] = "geval"
    name: NonBlankSetting
    criteria: NonBlankSetting
    evaluation_steps: tuple[NonBlankSetting, ...] | None = None
    evaluation_params: Annotated[
        tuple[Annotated[Setting, AfterValidator(_shown_to_judge)], ...], Field(min_length=1)
    ] = ("actual_output",)
    strict_mode: Flag = False
    threshold: Fraction | None = None
    model: ModelConfig | None = None
    retry_on_failure: Annotated[Whole, Field(ge=0)] | None = None
    timeout_ms: Positive | None = None
    custom_prompt: Setting | None = None

    @property
    def default_id(self) -> str:
        """The given name, which a G-Eval metric must have."""
        return self.name


class RagMetric(_Common):
    """One of the five retrieval metrics."""

    model_config = ConfigDict(json_schema_extra=_or_short_form)

    type: Annotated[Literal["rag"], WithJsonSchema({"enum": ["rag", *RAG_NAMES]})] = "rag"
    metric_type: RagName
    threshold: Fraction = 0.5
    include_reason: Flag = True
    model: ModelConfig | None = None
    retry_on_failure: Annotated[Whole, Field(ge=0)] | None = None
    timeout_ms: Positive | None = None
    custom_prompt: Setting | None = None

    @property
    def default_id(self) -> str:
        """The metric type."""
        return self.metric_type


class CodeMetric(_Common):
    """A grader of your own: `module.path:function`, or in Python the function itself."""

    type: Literal["code"] = "code"
    grader: Annotated[Any, PlainValidator(_grader, json_schema_input_type=str)]
    threshold: Fraction | None = None
    timeout_ms: Positive | None = None

    @property
    def default_id(self) -> str:
        """The function's name."""
        if isinstance(self.grader, str):
            return self.grader.rpartition(":")[2]
        return str(getattr(self.grader, "__name__", type(self.grader).__name__))


class EvaluateMetric(_Common):
    """Any module of Hugging Face's `evaluate`, by name or local path."""

    type: Literal["evaluate"] = "evaluate"
    module: NonBlankSetting
    result_key: Setting | None = None
    threshold: Number | None = None
    scale: Count | None = None
    timeout_ms: Positive | None = None
    response_path: ResponsePath | None = None

    @property
    def default_id(self) -> str:
        """The last part of the module's name or path."""
        return self.module.replace("\\", "/").rstrip("/").rpartition("/")[2]


class PluginMetric(_Common):
    """A metric of an installed package, or a function under `@hd.metric`; `type` may be its name itself."""

    type: Literal["plugin"] = "plugin"
    metric: Annotated[NonBlankSetting, AfterValidator(_installed)]
    options: FreeMapping = Field(default_factory=dict)
    threshold: Fraction | None = None
    timeout_ms: Positive | None = None

    @property
    def default_id(self) -> str:
        """The metric's name."""
        return self.metric


class MetricReference(Model):
    """A bare name in a case or a turn: the agent-level metric of that name."""

    type: Literal["reference"] = "reference"
    reference: NonBlankSetting


def _spelled_out(value: Any) -> Any:
    """Turn every short form into the one long form: `type` names the kind."""
    if not isinstance(value, Mapping):
        if isinstance(value, _Common):
            return value
        if isinstance(value, str):
            known = value in STANDARD_NAMES or value in RAG_NAMES
            hint = f"write `- type: {value}`" if known else "write a mapping with `type`"
            raise wrong(
                f"{kind_of(value)} is a bare name, and the metrics of the agent are defined here", hint=hint
            )
        raise wrong(f"expected a metric: a mapping with `type`, got {kind_of(value)}")
    kind = value.get("type")
    if kind is None:
        found = next((kind for key, kind in _TELLING_KEYS.items() if key in value), "standard")
        return {**value, "type": found}
    if kind in KINDS:
        return value
    if kind not in STANDARD_NAMES and kind not in RAG_NAMES:
        plugged = METRIC_PLUGINS.names
        if kind in plugged:
            return {**value, "type": "plugin", "metric": value.get("metric", kind)}
        allowed = (*KINDS, *STANDARD_NAMES, *RAG_NAMES, *plugged)
        raise wrong(f"{kind_of(kind)} is not a kind of metric", at="type", found=kind, allowed=allowed)
    key, long_type = ("metric", "standard") if kind in STANDARD_NAMES else ("metric_type", "rag")
    named = value.get(key, kind)
    if named != kind:
        raise wrong(f"`type: {kind}` and `{key}: {named}` disagree", hint="leave one of the two out")
    return {**value, "type": long_type, key: kind}


def _spelled_out_or_name(value: Any) -> Any:
    if isinstance(value, str):
        if not value.strip():
            raise wrong("the name of a metric cannot be blank")
        return {"type": "reference", "reference": value}
    return value if isinstance(value, MetricReference) else _spelled_out(value)


def _tag(value: Any) -> str:
    return f"\0{value['type'] if isinstance(value, Mapping) else value.type}"


_Kinds = (
    Annotated[StandardMetric, Tag("\0standard")]
    | Annotated[GEvalMetric, Tag("\0geval")]
    | Annotated[RagMetric, Tag("\0rag")]
    | Annotated[CodeMetric, Tag("\0code")]
    | Annotated[EvaluateMetric, Tag("\0evaluate")]
    | Annotated[PluginMetric, Tag("\0plugin")]
)
MetricConfig = Annotated[_Kinds, Discriminator(_tag), BeforeValidator(_spelled_out)]
MetricOrReference = Annotated[
    _Kinds | Annotated[MetricReference, Tag("\0reference")],
    Discriminator(_tag),
    BeforeValidator(_spelled_out_or_name, json_schema_input_type=str | _Kinds),
]
