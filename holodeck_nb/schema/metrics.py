"""Metrics as a suite asks for them: one model a kind, told apart by `type` or by their keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from .agent import ModelConfig
from .scalars import Flag, Model, NonBlank, Number, Positive, Text, Whole

__all__ = [
    "CodeMetric",
    "EvaluateMetric",
    "GEvalMetric",
    "MetricConfig",
    "MetricOrReference",
    "MetricReference",
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
KINDS = ("standard", "code", "geval", "rag", "evaluate")
STANDARD_NAMES: tuple[str, ...] = get_args(StandardName)
RAG_NAMES: tuple[str, ...] = get_args(RagName)
_JUDGED_NAMES: tuple[str, ...] = get_args(JudgedName)
# Which key tells the kind where `type` is missing, first found first taken.
_TELLING_KEYS = {"grader": "code", "criteria": "geval", "metric_type": "rag", "module": "evaluate"}

Fraction = Annotated[Number, Field(ge=0, le=1)]


class _Common(Model):
    """What every metric may say."""

    name: NonBlank | None = None
    enabled: Flag = True
    fail_on_error: Flag = False

    @property
    def default_id(self) -> str:
        """The id where the suite gives no `name`."""
        raise NotImplementedError


class StandardMetric(_Common):
    """A built-in metric: exact, numeric, text overlap, or one of the four judged ones."""

    type: Literal["standard"] = "standard"
    metric: StandardName
    threshold: Annotated[Number, Field(ge=0)] | None = None
    scale: Whole | None = None
    model: ModelConfig | None = None
    retry_on_failure: Annotated[Whole, Field(ge=0)] | None = None
    timeout_ms: Positive | None = None
    custom_prompt: Text | None = None
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
    response_path: Text | None = None

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
    name: NonBlank
    criteria: NonBlank
    evaluation_steps: tuple[NonBlank, ...] | None = None
    evaluation_params: tuple[Text, ...] = ("actual_output",)
    strict_mode: Flag = False
    threshold: Fraction | None = None
    model: ModelConfig | None = None
    retry_on_failure: Annotated[Whole, Field(ge=0)] | None = None
    timeout_ms: Positive | None = None
    custom_prompt: Text | None = None

    @property
    def default_id(self) -> str:
        """The given name, which a G-Eval metric must have."""
        return self.name


class RagMetric(_Common):
    """One of the five retrieval metrics."""

    type: Literal["rag"] = "rag"
    metric_type: RagName
    threshold: Fraction = 0.5
    include_reason: Flag = True
    model: ModelConfig | None = None
    retry_on_failure: Annotated[Whole, Field(ge=0)] | None = None
    timeout_ms: Positive | None = None
    custom_prompt: Text | None = None

    @property
    def default_id(self) -> str:
        """The metric type."""
        return self.metric_type


class CodeMetric(_Common):
    """A grader of your own: `module.path:function`, or in Python the function itself."""

    type: Literal["code"] = "code"
    grader: Annotated[Any, BeforeValidator(lambda value: str(value) if isinstance(value, str) else value)]
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
    module: NonBlank
    result_key: Text | None = None
    threshold: Number | None = None
    scale: Whole | None = None
    timeout_ms: Positive | None = None
    response_path: Text | None = None

    @property
    def default_id(self) -> str:
        """The last part of the module's name or path."""
        return self.module.replace("\\", "/").rstrip("/").rpartition("/")[2]


class MetricReference(Model):
    """A bare name in a case or a turn: the agent-level metric of that name."""

    reference: NonBlank


def _spelled_out(value: Any) -> Any:
    """Turn every short form into the one long form: `type` names the kind."""
    if not isinstance(value, Mapping):
        return value
    data = dict(value)
    kind = data.get("type")
    if kind is None:
        found = next((kind for key, kind in _TELLING_KEYS.items() if key in data), "standard")
        return {**data, "type": found}
    if kind in STANDARD_NAMES or kind in RAG_NAMES:
        key, long_type = ("metric", "standard") if kind in STANDARD_NAMES else ("metric_type", "rag")
        if data.get(key, kind) != kind:
            facts = {"kind": str(kind), "key": key, "found": str(data[key])}
            raise PydanticCustomError("metric_kind", "type {kind} and {key} {found} disagree", facts)
        return {**data, "type": long_type, key: kind}
    return data


def _tag(value: Any) -> str | None:
    if isinstance(value, str):
        return "\0reference"
    if isinstance(value, Mapping):
        kind = value.get("type")
        return f"\0{kind}" if kind in KINDS else None
    kind = getattr(value, "type", None)
    return "\0reference" if isinstance(value, MetricReference) else f"\0{kind}" if kind in KINDS else None


_Kinds = (
    Annotated[StandardMetric, Tag("\0standard")]
    | Annotated[GEvalMetric, Tag("\0geval")]
    | Annotated[RagMetric, Tag("\0rag")]
    | Annotated[CodeMetric, Tag("\0code")]
    | Annotated[EvaluateMetric, Tag("\0evaluate")]
)
MetricConfig = Annotated[_Kinds, Discriminator(_tag), BeforeValidator(_spelled_out)]
MetricOrReference = Annotated[
    _Kinds
    | Annotated[
        MetricReference,
        BeforeValidator(lambda value: {"reference": value} if isinstance(value, str) else value),
        Tag("\0reference"),
    ],
    Discriminator(_tag),
    BeforeValidator(_spelled_out),
]
