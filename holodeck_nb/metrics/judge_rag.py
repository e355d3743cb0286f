"""The five retrieval metrics: a judge decides on single claims, statements and passages; we count."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from .base import GraderResult, NotApplicableError
from .judge_evidence import listed
from .judge_forms import Form, numbered_verdicts, texts, verdicts
from .judge_metric import Bench, expected_output, named_too, passages, question, reply, task_of
from .judge_prompts import RAG

if TYPE_CHECKING:
    from holodeck_nb.schema.metrics import MetricConfig

    from .base import GraderContext, MetricSetup
    from .judge_forms import Verdict

__all__ = ["RagJudge", "average_precision", "share"]

_CLAIMS: Form[tuple[str, ...]] = texts("claims", "one claim")
_STATEMENTS: Form[tuple[str, ...]] = texts("statements", "one statement")


@dataclass(frozen=True)
class RagJudge(Bench):
    """One of the five; each says what it counts and where the formula comes from."""

    measured: str = ""
    include_reason: bool = True

    kind: ClassVar[Literal["rag"]] = "rag"
    needs_ground_truth: ClassVar[bool] = False  # said by the metric itself, after the retrieval context

    @classmethod
    def build(cls, config: MetricConfig, setup: MetricSetup) -> RagJudge:
        """From a `RagMetric`."""
        assert config.type == "rag"
        bench = Bench.of(config, setup, config.threshold)
        return cls(**vars(bench), measured=config.metric_type, include_reason=config.include_reason)

    async def measure(self, context: GraderContext) -> GraderResult:
        """The share of what the judge said yes to, or the average precision.

        Raises:
            NotApplicableError: The turn lacks retrieval context or ground truth, or the reply claims nothing.
            MetricError: The judge gave no verdicts.
        """
        return await _MEASURES[self.measured](self, context)

    async def faithfulness(self, context: GraderContext) -> GraderResult:
        """Claims of the reply that the passages support / claims of the reply.

        Source: Es et al. 2023, "RAGAS: Automated Evaluation of Retrieval Augmented Generation", section 3,
        faithfulness: F = |V| / |S|.
        """
        found = passages(context)
        if (empty := _empty(context)) is not None:
            return empty
        hearing = self.hearing(context)
        claims = await hearing.ask(RAG.claims, [*question(context), *reply(context)], _CLAIMS)
        if not claims:
            raise NotApplicableError("the reply makes no claim that could be checked")
        evidence = [*found, *listed("claim", claims)]
        form = numbered_verdicts("claim", len(claims))
        evidence = named_too(self, context, evidence)
        judged = await hearing.ask(task_of(self, RAG.faithfulness), evidence, form)
        return self._result(share(judged), "claim", claims, judged, said_yes="supported")

    async def answer_relevancy(self, context: GraderContext) -> GraderResult:
        """Statements of the reply that are relevant to the question / statements of the reply.

        Source: DeepEval's documentation, "Answer Relevancy": number of relevant statements / total number of
        statements.
        """
        if (empty := _empty(context)) is not None:
            return empty
        hearing = self.hearing(context)
        statements = await hearing.ask(RAG.statements, reply(context), _STATEMENTS)
        if not statements:
            raise hearing.error("the judge found no statement in a reply that is not empty")
        evidence = [*question(context), *listed("statement", statements)]
        form = numbered_verdicts("statement", len(statements))
        evidence = named_too(self, context, evidence)
        judged = await hearing.ask(task_of(self, RAG.answer_relevancy), evidence, form)
        return self._result(share(judged), "statement", statements, judged, said_yes="relevant")

    async def contextual_precision(self, context: GraderContext) -> GraderResult:
        """Average precision of the passages in their order: relevant ones should come first.

        The mean is over the relevant passages among those retrieved, as in DeepEval; textbooks count what was
        not retrieved as 0, and here nobody knows of it (contextual recall looks for that).

        Source: Manning, Raghavan, Schütze 2008, "Introduction to Information Retrieval", section 8.4; as a
        metric of retrieval for LLMs: DeepEval's documentation, "Contextual Precision".
        """
        found, expected = passages(context), expected_output(context)
        hearing = self.hearing(context)
        form = numbered_verdicts("passage", len(found))
        task = task_of(self, RAG.contextual_precision)
        evidence = named_too(self, context, [*question(context), *expected, *found])
        judged = await hearing.ask(task, evidence, form)
        score = average_precision([verdict.yes for verdict in judged])
        shown = [f"passage {number}" for number in range(1, len(judged) + 1)]
        return self._result(score, "passage", shown, judged, said_yes="relevant")

    async def contextual_recall(self, context: GraderContext) -> GraderResult:
        """Sentences of the expected output that can be attributed to the passages / its sentences.

        Source: DeepEval's documentation, "Contextual Recall": attributable statements / all statements of the
        expected output, each sentence being one; the same idea in RAGAS as context recall.
        """
        found, expected = passages(context), expected_output(context)
        hearing = self.hearing(context)
        evidence = named_too(self, context, [*expected, *found])
        judged = await hearing.ask(task_of(self, RAG.contextual_recall), evidence, verdicts("sentence"))
        shown = [verdict.about for verdict in judged]
        return self._result(share(judged), "sentence", shown, judged, said_yes="attributed")

    async def contextual_relevancy(self, context: GraderContext) -> GraderResult:
        """Statements in the passages that are relevant to the question / statements in the passages.

        Source: DeepEval's documentation, "Contextual Relevancy": number of relevant statements / total number
        of statements.
        """
        found = passages(context)
        hearing = self.hearing(context)
        judged = await hearing.ask(
            task_of(self, RAG.contextual_relevancy),
            named_too(self, context, [*question(context), *found]),
            verdicts("statement", passages=len(found)),
        )
        shown = [verdict.about for verdict in judged]
        return self._result(share(judged), "statement", shown, judged, said_yes="relevant")

    def _result(
        self,
        score: float,
        what: str,
        shown: Sequence[str],
        judged: Sequence[Verdict],
        *,
        said_yes: str,
    ) -> GraderResult:
        yes = sum(verdict.yes for verdict in judged)
        reason = f"{yes} of {len(judged)} {what}{'' if len(judged) == 1 else 's'} {said_yes}"
        misses = [
            f"{text}: {verdict.reason}" if verdict.reason else text
            for text, verdict in zip(shown, judged, strict=True)
            if not verdict.yes
        ]
        if self.include_reason and misses:
            reason = f"{reason}; not {said_yes}: {'; '.join(misses)}"
        rows: list[dict[str, Any]] = [
            {what: text, said_yes: verdict.yes, "reason": verdict.reason}
            for text, verdict in zip(shown, judged, strict=True)
        ]
        return GraderResult(score=score, reason=reason, details={"verdicts": rows})


_MEASURES: dict[str, Callable[[RagJudge, GraderContext], Awaitable[GraderResult]]] = {
    "faithfulness": RagJudge.faithfulness,
    "answer_relevancy": RagJudge.answer_relevancy,
    "contextual_precision": RagJudge.contextual_precision,
    "contextual_recall": RagJudge.contextual_recall,
    "contextual_relevancy": RagJudge.contextual_relevancy,
}


def share(judged: Sequence[Verdict]) -> float:
    """The share of yes among at least one verdict, 0 to 1."""
    return sum(verdict.yes for verdict in judged) / len(judged)


def average_precision(relevant: Sequence[bool]) -> float:
    """The mean, over the relevant ranks, of the precision down to that rank; 0 where none is relevant.

    >>> average_precision([True, False, True])  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    hits, precisions = 0, []
    for rank, is_relevant in enumerate(relevant, 1):
        if is_relevant:
            hits += 1
            precisions.append(hits / rank)
    return sum(precisions) / len(precisions) if precisions else 0.0


def _empty(context: GraderContext) -> GraderResult | None:
    """What there is to say of a blank reply, without asking a judge; None for any other."""
    if context.agent_response.strip():
        return None
    return GraderResult(score=0.0, reason="the reply is empty")
