"""G-Eval: a judge with criteria of your own, steps to go by, and a form to fill in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, Literal

from .base import GraderResult
from .judge_forms import Form, Scored, score_form, texts
from .judge_metric import PARAMS, Bench, called, named_too, task_of
from .judge_prompts import GEVAL, GEVAL_SCALES, GEVAL_STEPS
from .judge_weights import told, weighted_mean

if TYPE_CHECKING:
    from holodeck_nb.schema.metrics import GEvalMetric, MetricConfig

    from .base import GraderContext, MetricSetup
    from .judge import Hearing
    from .judge_evidence import Evidence

__all__ = ["GEvalJudge"]

_HIGHEST = 10
_SCORE: Form[Scored] = score_form(0, _HIGHEST)
_STRICT: Form[Scored] = score_form(0, 1)
_STEPS: Form[tuple[str, ...]] = texts("steps", "one step")


class GEvalJudge:
    """Criteria, steps, a score: a whole number 0 to 10, reported as 0 to 1; with `strict_mode` 0 or 1.

    Steps that the suite does not give are written by the judge, once for the metric. Where the provider tells
    the probabilities of tokens (OpenAI and Azure but for reasoning models, Ollama, vLLM, …), the score is the
    mean of the numbers that might have stood in its place, weighted by them (see `judge_weights`); elsewhere
    (Anthropic), and in `strict_mode`, which is a verdict, it is the number that the judge states.

    Source: Liu et al. 2023, "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment", section 2
    (criteria, generated chain of thought, form filling, scoring function).
    """

    kind: ClassVar[Literal["geval"]] = "geval"
    needs_ground_truth: ClassVar[bool] = False  # told by `evaluation_params`

    def __init__(self, bench: Bench, config: GEvalMetric) -> None:
        self._bench = bench
        self._config = config
        self._steps = config.evaluation_steps or None
        self._writing: asyncio.Future[tuple[str, ...]] | None = None
        self.id = bench.id
        self.threshold = bench.threshold
        self.fail_on_error = bench.fail_on_error
        self.timeout_s = bench.timeout_s
        self.max_retries = bench.max_retries
        self.model = bench.model

    @classmethod
    def build(cls, config: MetricConfig, setup: MetricSetup) -> GEvalJudge:
        """From a `GEvalMetric`."""
        assert config.type == "geval"
        return cls(Bench.of(config, setup, config.threshold), config)

    async def measure(self, context: GraderContext) -> GraderResult:
        """The judge's score and reason; the details hold the number that it stated, and what weighted it.

        Raises:
            NotApplicableError: One of `evaluation_params` is not there on this turn.
            MetricError: The judge gave no score.
        """
        evidence = self._evidence(context)
        hearing = self._bench.hearing(context)
        strict = self._config.strict_mode
        task, steps = await self._task(hearing)
        if strict:
            scored, weights, highest = await hearing.ask(task, evidence, _STRICT), None, 1
        else:
            (scored, weights), highest = await hearing.weigh(task, evidence, _SCORE), _HIGHEST
        score = scored.score if weights is None else weighted_mean(weights)
        return GraderResult(
            score=score / highest,
            passed=bool(scored.score) if strict else None,
            reason=scored.reason or None,
            details={
                "score": scored.score,
                "scale": [0, highest],
                **told(weights),
                **({} if steps is None else {"steps": list(steps)}),
            },
        )

    def _evidence(self, context: GraderContext) -> list[Evidence]:
        shown: dict[str, Evidence] = {}
        for name in self._config.evaluation_params:
            shown |= {evidence.name: evidence for evidence in PARAMS[name](context)}
        return named_too(self._bench, context, list(shown.values()))

    async def _task(self, hearing: Hearing) -> tuple[str, tuple[str, ...] | None]:
        """What is asked, and the steps in it; a prompt of the user's own has none of ours."""
        scale = GEVAL_SCALES.strict if self._config.strict_mode else GEVAL_SCALES.scale
        if self._bench.custom_prompt is not None:
            return f"{task_of(self._bench, '', criteria=self._config.criteria)}\n\n{scale}", None
        steps = self._steps or await self._written(hearing)
        listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
        return GEVAL.format(criteria=self._config.criteria, steps=listed, scale=scale), steps

    async def _written(self, hearing: Hearing) -> tuple[str, ...]:
        """The steps, written by the judge; turns that need them at once share one answer, or one error."""
        if self._writing is None:
            self._writing = asyncio.ensure_future(self._write(hearing))
            self._writing.add_done_callback(self._wrote)
        return await asyncio.shield(self._writing)  # a turn that gives up takes them from no other

    async def _write(self, hearing: Hearing) -> tuple[str, ...]:
        params = ", ".join(dict.fromkeys(map(called, self._config.evaluation_params)))
        asked = GEVAL_STEPS.format(params=params, criteria=self._config.criteria)
        written = await hearing.ask(asked, [], _STEPS)
        if not written:
            raise hearing.error("the judge wrote no steps for these criteria")
        return written

    def _wrote(self, writing: asyncio.Future[tuple[str, ...]]) -> None:
        self._writing = None
        if not writing.cancelled() and writing.exception() is None:
            self._steps = writing.result()
