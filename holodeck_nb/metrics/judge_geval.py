"""G-Eval: a judge with criteria of your own, steps to go by, and a form to fill in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, Literal

from .base import GraderResult
from .judge_forms import Form, Scored, score_form, texts
from .judge_metric import PARAMS, Bench, task_of
from .judge_prompts import GEVAL, GEVAL_SCALES, GEVAL_STEPS

if TYPE_CHECKING:
    from holodeck_nb.schema.metrics import GEvalMetric, MetricConfig

    from .base import GraderContext, MetricSetup
    from .judge import Hearing
    from .judge_evidence import Evidence

__all__ = ["GEvalJudge"]

_HIGHEST = 10
_SCORE: Form[Scored] = score_form(0, _HIGHEST)
_STRICT: Form[Scored] = score_form(0, 1)
# What the texts of these names are called in the prompt.
_TOLD = {
    **dict.fromkeys(("retrieval_context", "context"), "numbered passages"),
    "tools_called": "the numbered calls of tools",
}
_STEPS: Form[tuple[str, ...]] = texts("steps", "one step")


class GEvalJudge:
    """Criteria, steps, a score: a whole number 0 to 10, reported as 0 to 1; with `strict_mode` 0 or 1.

    Steps that the suite does not give are written by the judge, once for the metric. The score is the one
    that the judge states: the paper's weighting by the probabilities of its tokens needs a provider that
    tells them, and none of ours does so far.

    Source: Liu et al. 2023, "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment", section 2
    (criteria, generated chain of thought, form filling).
    """

    kind: ClassVar[Literal["geval"]] = "geval"
    needs_ground_truth: ClassVar[bool] = False  # told by `evaluation_params`

    def __init__(self, bench: Bench, config: GEvalMetric) -> None:
        self._bench = bench
        self._config = config
        self._steps = config.evaluation_steps
        self._writing = asyncio.Lock()
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
        """The judge's score and reason.

        Raises:
            NotApplicableError: One of `evaluation_params` is not there on this turn.
            MetricError: The judge gave no score.
        """
        evidence = self._evidence(context)
        hearing = self._bench.hearing(context)
        strict = self._config.strict_mode
        task, steps = await self._task(hearing)
        scored = await hearing.ask(task, evidence, _STRICT if strict else _SCORE)
        highest = 1 if strict else _HIGHEST
        return GraderResult(
            score=scored.score / highest,
            passed=bool(scored.score) if strict else None,
            reason=scored.reason or None,
            details={
                "score": scored.score,
                "scale": [0, highest],
                **({} if steps is None else {"steps": list(steps)}),
                **hearing.told(),
            },
        )

    def _evidence(self, context: GraderContext) -> list[Evidence]:
        shown: dict[str, Evidence] = {}
        for name in self._config.evaluation_params:
            shown |= {evidence.name: evidence for evidence in PARAMS[name](context)}
        return list(shown.values())

    async def _task(self, hearing: Hearing) -> tuple[str, tuple[str, ...] | None]:
        """What is asked, and the steps in it; a prompt of the user's own has none of ours."""
        scale = GEVAL_SCALES.strict if self._config.strict_mode else GEVAL_SCALES.scale
        if self._bench.custom_prompt is not None:
            return f"{task_of(self._bench, '')}\n\n{scale}", None
        async with self._writing:  # one turn has them written, the others wait for them
            if self._steps is None:
                told = (_TOLD.get(name, name) for name in self._config.evaluation_params)
                params = ", ".join(dict.fromkeys(told))
                asked = GEVAL_STEPS.format(params=params, criteria=self._config.criteria)
                written = await hearing.ask(asked, [], _STEPS)
                if not written:
                    raise hearing.error("the judge wrote no steps for these criteria")
                self._steps = written
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(self._steps, 1))
        return GEVAL.format(criteria=self._config.criteria, steps=steps, scale=scale), self._steps
