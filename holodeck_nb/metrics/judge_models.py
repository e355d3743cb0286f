"""Which model judges: the metric's own, else the evaluations', else the agent's; opened once a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from holodeck_nb.errors import ConfigError, Problem
from holodeck_nb.schema.agent import ModelConfig

from .judge import Judge

if TYPE_CHECKING:
    from holodeck_nb.llm.chat_model import ChatModel
    from holodeck_nb.schema.metrics import MetricConfig

    from .judge_cache import JudgeCache

__all__ = ["Judges", "is_judged"]

# What a judge has where the suite says nothing: the same texts get the same verdict, and a list of verdicts
# is longer than a reply.
_TEMPERATURE = 0.0
_MAX_TOKENS = 4096


def is_judged(config: MetricConfig) -> bool:
    """Whether a model gives the score."""
    return config.type in {"geval", "rag"} or (config.type == "standard" and config.judged)


class Judges:
    """The judges of a run, by their models; metrics with the same model share one.

    Args:
        open_model: Opens a model; ConfigError where it cannot be had.
        default: The model where a metric names none: `evaluations.model`, else the agent's.
        answer_s: How long one answer may take, in seconds.
        cache: What keeps their answers; None: nothing does.
    """

    def __init__(
        self,
        open_model: Callable[[ModelConfig], ChatModel],
        default: ModelConfig | None,
        *,
        answer_s: float = 60.0,
        cache: JudgeCache | None = None,
    ) -> None:
        self._open_model = open_model
        self._default = default
        self._answer_s = answer_s
        self._cache = cache
        self._judges: dict[str, Judge] = {}

    def of(self, config: MetricConfig) -> Judge:
        """The judge of a metric.

        Raises:
            ConfigError: No model is named at any level, or it cannot judge, or it cannot be opened.
        """
        assert config.type in {"geval", "rag", "standard"}
        model: ModelConfig | None = getattr(config, "model", None) or self._default
        name = config.name or config.default_id
        if model is None:
            hint = "name one: `model` beside the metric, `evaluations.model` for all, or the suite's `model`"
            message = f"metric {name!r} needs a model to judge, and there is none"
            raise ConfigError([Problem(message, hint=hint)])
        if model.provider == "scripted":
            message = f"metric {name!r} needs a model to judge, and a scripted one cannot"
            hint = "name another one under `evaluations.model`, or as `model` beside the metric"
            raise ConfigError([Problem(message, hint=hint)])
        key = repr((model, None if model.api_key is None else model.api_key.reveal(), model.model_fields_set))
        if key not in self._judges:
            asked = _as_judge(model)
            try:
                opened = self._open_model(asked)
            except ConfigError as error:
                raise ConfigError(_of_metric(name, error)) from error
            self._judges[key] = Judge(asked, opened, self._answer_s, self._cache)
        return self._judges[key]

    def problems(self, configs: Iterable[MetricConfig]) -> Iterator[Problem]:
        """Why these metrics have no judge; each reason once."""
        told: set[str] = set()
        for config in configs:
            if is_judged(config) and config.enabled:
                try:
                    self.of(config)
                except ConfigError as error:
                    for problem in error.problems:
                        if problem.message not in told:
                            told.add(problem.message)
                            yield problem

    async def run_ended(self) -> tuple[str, ...]:
        """Close their models; what it returns are notices for the user."""
        return tuple([notice for judge in self._judges.values() for notice in await judge.model.close()])


def _as_judge(model: ModelConfig) -> ModelConfig:
    """The model with what a judge has where the suite says nothing, and still known as not said."""
    said = model.model_fields_set
    fields = {name: getattr(model, name) for name in ModelConfig.model_fields}
    if "temperature" not in said:
        fields["temperature"] = _TEMPERATURE
    if "max_tokens" not in said:
        fields["max_tokens"] = _MAX_TOKENS
    return ModelConfig.model_construct(_fields_set=set(said), **fields)


def _of_metric(name: str, error: ConfigError) -> Iterator[Problem]:
    for problem in error.problems:
        at = f" (model.{problem.path})" if problem.path else ""
        yield Problem(f"the judge of metric {name!r}: {problem.message}{at}", hint=problem.hint)
