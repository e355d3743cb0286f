"""A judge: a model that is asked one question about some texts, and answers in a form that is checked."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from holodeck_nb.errors import RunStoppedError, TurnError, described
from holodeck_nb.llm.chat_model import ChatModel, ChatRequest, Occasion, UserMessage
from holodeck_nb.llm.faults import Place
from holodeck_nb.results.judging import Judging
from holodeck_nb.schema.agent import ModelConfig
from holodeck_nb.sync import TimeLimitError, bounded

from .base import MetricError
from .judge_cache import JudgeCache, KeptReply
from .judge_evidence import Evidence, code_of, fenced, sendable
from .judge_forms import Misfit, read_reply
from .judge_meter import UNKNOWN, spent
from .judge_prompts import ANSWER_AGAIN, ANSWER_FORM, ORDER, ROLE
from .judge_weights import TOP_LOGPROBS, weights_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holodeck_nb.llm.chat_model import Completion

    from .judge_forms import Form, Scored
    from .judge_weights import Weights

__all__ = ["Hearing", "Judge"]

T = TypeVar("T")

_LONGEST_SHOWN = 200


@dataclass(eq=False)
class Judge:
    """A model that judges, for all metrics and turns of a run that name it.

    Attributes:
        config: The model with its settings.
        model: The same, ready to be asked.
        answer_s: How long one answer may take, in seconds.
        cache: What keeps its answers; None: nothing does.
        lost: Why it cannot be asked any more (a key is refused, the model unknown); None while it can.
    """

    config: ModelConfig
    model: ChatModel
    answer_s: float
    cache: JudgeCache | None = None
    lost: str | None = None

    @property
    def endpoint(self) -> str:
        """Where it answers; "" for a model of a package that does not tell."""
        place = getattr(self.model, "place", None)
        return place.endpoint if isinstance(place, Place) else ""

    @property
    def name(self) -> str:
        """`openai:gpt-5`."""
        return f"{self.config.provider}:{self.config.name}"

    def hearing(self, case: str, turn: int) -> Hearing:
        """Begin to judge one turn."""
        return Hearing(self, f"{case}, turn {turn}")


@dataclass
class Hearing:
    """One metric on one turn before its judge."""

    judge: Judge
    about: str = ""

    async def ask(self, task: str, evidence: Sequence[Evidence], form: Form[T]) -> T:
        """Have one question answered; asked once more where the answer has not the form.

        The evidence stands between markers with a code that its authors cannot know (see `judge_evidence`);
        the judge is told that nothing between them is meant for it, and in which order the texts come.

        Raises:
            MetricError: No answer in time, a refusal, no answer of the form; the details hold the raw reply.
        """
        answer, _ = await self._answered(_request(task, evidence, form), form)
        return answer

    async def weigh(
        self, task: str, evidence: Sequence[Evidence], form: Form[Scored]
    ) -> tuple[Scored, Weights | None]:
        """The same for a score, with what else it might have been; None where the provider does not tell."""
        request = replace(_request(task, evidence, form), top_logprobs=TOP_LOGPROBS)
        return await self._answered(request, form)

    async def _answered(self, request: ChatRequest, form: Form[T]) -> tuple[T, Weights | None]:
        cache = self.judge.cache
        key = None if cache is None else cache.key(self.judge.config, self.judge.endpoint, request)
        if cache is not None and key is not None and (kept := cache.reply(key)) is not None:
            try:
                answer = read_reply(kept.text, form)
            except Misfit:
                pass  # damaged: ask
            else:
                spent().append(Judging(cached=1))
                return answer, kept.weights
        completion = await self._completed(request)
        try:
            answer = read_reply(completion.text, form)
        except Misfit as misfit:
            again = UserMessage(ANSWER_AGAIN.format(problem=misfit, form=form.shown))
            request = replace(request, messages=(*request.messages, completion.message, again))
            completion = await self._completed(request)
            try:
                answer = read_reply(completion.text, form)
            except Misfit as error:
                reason = f"the judge's answer cannot be used, asked twice: {error}"
                raise self.error(reason, reply=completion.text) from error
        weights = weights_of(completion, form) if request.top_logprobs else None
        if cache is not None and key is not None:
            cache.keep(key, KeptReply(completion.text, completion.model, weights))
        return answer, weights

    def error(self, reason: str, *, reply: str | None = None, final: bool = True) -> MetricError:
        """That the metric could not be measured, with the reply that is no answer.

        Args:
            reason: Why.
            reply: What the judge said, as it said it.
            final: Whether another try would not change it.
        """
        if reply is None:
            return MetricError(reason, final=final)
        return MetricError(f"{reason}; it said: {_shortened(reply)}", details={"reply": reply}, final=final)

    async def _completed(self, request: ChatRequest) -> Completion:
        judge, began = self.judge, time.monotonic()
        if judge.lost is not None:
            raise self.error(judge.lost)
        parts = spent()
        parts.append(UNKNOWN)
        occasion = Occasion((self.about, 0), began, time_limit=began + judge.answer_s, limit_s=judge.answer_s)
        try:
            completion = await bounded(judge.model.complete(request, occasion), judge.answer_s)
        except TimeLimitError as error:
            limit = f"{judge.answer_s:g} s (execution.llm_timeout)"
            raise self.error(f"timeout: the judge did not answer within {limit}", final=False) from error
        except RunStoppedError as error:
            judge.lost = f"the judge cannot be asked: {described(error)}"
            raise self.error(judge.lost) from error
        except TurnError as error:
            reason = f"the judge could not be asked: {described(error)}"
            raise self.error(reason, final=error.final) from error
        parts[parts.index(UNKNOWN)] = Judging(1, usage=completion.usage, cost_usd=completion.cost_usd)
        if completion.refused:
            raise self.error("the judge refused to judge", reply=completion.text)
        if completion.truncated:
            limit = f"max_tokens {judge.config.max_tokens}"
            raise self.error(f"the judge's answer was cut off ({limit} of its model)", reply=completion.text)
        return completion


def _request(task: str, evidence: Sequence[Evidence], form: Form[T]) -> ChatRequest:
    evidence = [Evidence(name, sendable(text)) for name, text in evidence]
    code = code_of(evidence)
    order = ORDER.format(order=", ".join(name for name, _ in evidence))
    texts = [order, fenced(evidence, code)] if evidence else []
    parts = [task, *texts, ANSWER_FORM.format(form=form.shown)]
    return ChatRequest(
        (UserMessage("\n\n".join(parts)),),
        instructions=ROLE.format(code=code),
        response_format=form.schema,
    )


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _LONGEST_SHOWN else f"{line[:_LONGEST_SHOWN]}…")
