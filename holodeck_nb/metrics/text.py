"""How near the reply is to the ground truth as text: BLEU, ROUGE, METEOR, chrF, TER and similarity."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Literal
from unicodedata import normalize

from holodeck_nb.sync import in_thread

from .base import GraderResult, MetricError, NotApplicableError
from .response_path import Path, ResponsePathError, extract, read_path
from .text_scores import LOADERS, Compare, Comparison
from .text_tokens import has_tokens

if TYPE_CHECKING:
    from holodeck_nb.schema.metrics import MetricConfig

    from .base import GraderContext, MetricSetup

__all__ = ["TextMetric"]

_MOST_CHARACTERS = 200_000  # of one text: a second, and some hundred megabytes for chrF
# Reply and ground truth together; longer ones would keep the loop, and with it all other cases, waiting.
_CHARACTERS_IN_THE_LOOP = {"ter": 200}
_USUALLY_IN_THE_LOOP = 4_000

# One scorer for all metrics and turns of the process. One loads at a time: the libraries import in circles,
# and two threads that do so at once wait for each other.
_loaded: dict[str, Compare] = {}
_loading = Lock()


@dataclass(frozen=True, slots=True)
class TextMetric:
    """One of the six text metrics; a score from 0 to 1 that only a threshold turns into a verdict.

    The same for all six: accents may be written either way (NFC), case counts as written unless the suite
    says `case_insensitive`; a text against itself is 1; a reply that is empty, blank or nothing but
    punctuation is 0. What each of them measures is told in `text_scores`.
    """

    id: str
    name: str
    threshold: float | None = None
    fail_on_error: bool = False
    timeout_s: float | None = None
    case_insensitive: bool = False
    path: Path | None = None

    kind: ClassVar[Literal["standard"]] = "standard"
    needs_ground_truth: ClassVar[bool] = True
    max_retries: ClassVar[int] = 0
    model: ClassVar[None] = None

    @classmethod
    def build(cls, config: MetricConfig, setup: MetricSetup) -> TextMetric:
        """From a `StandardMetric`; loads no library yet."""
        assert config.type == "standard"
        return cls(
            id=setup.id,
            name=config.metric,
            threshold=config.threshold,
            fail_on_error=config.fail_on_error,
            timeout_s=None if config.timeout_ms is None else config.timeout_ms / 1000,
            case_insensitive=config.case_insensitive,
            path=None if config.response_path is None else read_path(config.response_path),
        )

    async def measure(self, context: GraderContext) -> GraderResult:
        """The score, with what the metric has to say about it in the details.

        A thread cannot be killed: after a timeout a long comparison goes on in the background.

        Raises:
            NotApplicableError: There is no ground truth.
            MetricError: The ground truth is too long to be compared.
        """
        if context.ground_truth is None:
            raise NotApplicableError("no ground truth on this turn")
        reply = context.agent_response
        if self.path is not None:
            try:
                reply = extract(reply, self.path)
            except ResponsePathError as error:
                return GraderResult(score=0.0, passed=False, reason=f"response_path: {error}")
        if not reply.strip():
            return GraderResult(score=0.0, reason="the reply is empty")
        reply, truth = self._comparable(reply), self._comparable(context.ground_truth)
        if (refusal := self._too_long(reply, truth)) is not None:
            return refusal
        compare: Compare = _loaded.get(self.name) or await in_thread(_load, self.name)
        found: Comparison
        if len(reply) + len(truth) > _CHARACTERS_IN_THE_LOOP.get(self.name, _USUALLY_IN_THE_LOOP):
            found = await in_thread(_compared, compare, reply, truth)
        else:
            found = _compared(compare, reply, truth)
        return GraderResult(score=found.score, reason=found.reason, details=found.details)

    def _comparable(self, text: str) -> str:
        text = normalize("NFC", text)
        return normalize("NFC", text.casefold()) if self.case_insensitive else text

    def _too_long(self, reply: str, truth: str) -> GraderResult | None:
        """The result where a text is too long for a comparison; None where none is."""
        if max(len(reply), len(truth)) <= _MOST_CHARACTERS:
            return None
        if reply == truth:
            return GraderResult(score=1.0)
        limit = f"characters, and {self.name} compares at most {_MOST_CHARACTERS:,}"
        if len(truth) > _MOST_CHARACTERS:
            raise MetricError(f"the ground truth has {len(truth):,} {limit}")
        return GraderResult(score=0.0, passed=False, reason=f"the reply has {len(reply):,} {limit}")


def _load(name: str) -> Compare:
    with _loading:
        if name not in _loaded:
            has_tokens("")  # what it needs is loaded here too, not in the loop
            _loaded[name] = LOADERS[name]()
        return _loaded[name]


def _compared(compare: Compare, reply: str, truth: str) -> Comparison:
    if reply == truth:  # "…" and "—" have no words, and are still what was asked for
        return compare(reply, truth)._replace(score=1.0)
    if not has_tokens(reply):
        return Comparison(0.0, reason="the reply is nothing but punctuation")
    return compare(reply, truth)
