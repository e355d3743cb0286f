"""How far verdicts agree: a metric's with a person's, and a judge's with its own when it is asked again."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .judging import Judging

__all__ = ["Agreement", "Compared", "Reasked", "Repeatability", "Share", "cohens_kappa", "wilson"]

_Z = 1.959963984540054  # two-sided 95 %


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `n`, with a 95 % interval (Wilson); all None where n is 0."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        """0 to 1."""
        return self.hits / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its 95 % interval."""
        return wilson(self.hits, self.n) if self.n else None

    def __str__(self) -> str:
        """`0.90 (0.60 to 0.98, 9 of 10)`."""
        if not self.n:
            return "none"
        low, high = wilson(self.hits, self.n)
        return f"{self.hits / self.n:.2f} ({low:.2f} to {high:.2f}, {self.hits} of {self.n})"


@dataclass(frozen=True, slots=True)
class Compared:
    """One turn that both a metric and a person have judged; `turn` is from 0, `score` 0 to 1."""

    case: str
    turn: int
    repeat: int
    label: bool
    passed: bool
    score: float
    reason: str | None = None

    @property
    def distance(self) -> float:
        """How far the score is from what the person said (1 or 0)."""
        return abs(self.score - float(self.label))


@dataclass(frozen=True)
class Agreement:
    """A metric's verdicts against a person's.

    Attributes:
        metric: The metric's id.
        turns: The turns that both have judged.
        unlabelled: How many turns the metric measured and the person did not judge.
        unmeasured: How many turns the person judged and the metric gave no verdict on (errors among them).
    """

    metric: str
    turns: tuple[Compared, ...]
    unlabelled: int = 0
    unmeasured: int = 0

    @property
    def n(self) -> int:
        """Over how many turns."""
        return len(self.turns)

    @cached_property
    def agreed(self) -> Share:
        """The share of turns on which both say the same."""
        return Share(sum(turn.label is turn.passed for turn in self.turns), self.n)

    @cached_property
    def kappa(self) -> float | None:
        """Cohen's kappa, -1 to 1: agreement beyond chance; None where chance alone explains all."""
        return cohens_kappa([(turn.label, turn.passed) for turn in self.turns])

    @cached_property
    def sensitivity(self) -> Share:
        """Of the turns that the person passes, the share that the metric passes."""
        good = [turn.passed for turn in self.turns if turn.label]
        return Share(sum(good), len(good))

    @cached_property
    def specificity(self) -> Share:
        """Of the turns that the person fails, the share that the metric fails."""
        bad = [turn.passed for turn in self.turns if not turn.label]
        return Share(len(bad) - sum(bad), len(bad))

    @cached_property
    def disagreed(self) -> tuple[Compared, ...]:
        """The turns on which they differ, the score that is farthest from the label first."""
        return tuple(
            sorted(
                (turn for turn in self.turns if turn.label is not turn.passed),
                key=lambda turn: -turn.distance,
            )
        )


@dataclass(frozen=True, slots=True)
class Reasked:
    """One turn, judged several times over.

    Attributes:
        case, turn, repeat: Which turn.
        scores: A score each time, 0 to 1; None where there was none.
        passed: A verdict each time; None where there was none.
        stated: The numbers that the judge said, where scores are weighted by probabilities; else the scores.
    """

    case: str
    turn: int
    repeat: int
    scores: tuple[float | None, ...]
    passed: tuple[bool | None, ...]
    stated: tuple[float | None, ...] = ()

    @property
    def measured(self) -> list[float]:
        """The scores that there are."""
        return [score for score in self.scores if score is not None]

    @property
    def spread(self) -> float | None:
        """The highest score less the lowest; None with fewer than two."""
        return max(self.measured) - min(self.measured) if len(self.measured) > 1 else None

    @property
    def verdicts(self) -> list[bool]:
        """The verdicts on what was measured."""
        pairs = zip(self.scores, self.passed, strict=True)
        return [passed for score, passed in pairs if score is not None and passed is not None]

    @property
    def flipped(self) -> bool | None:
        """Whether the verdict was not always the same; None with fewer than two."""
        return len(set(self.verdicts)) > 1 if len(self.verdicts) > 1 else None

    @property
    def agreement(self) -> float | None:
        """Of the pairs of verdicts (stated scores where there are none), the share that is the same."""
        stated = [score for score in self.stated or self.scores if score is not None]
        said: Sequence[float | bool] = self.verdicts or stated
        pairs = [a == b for a, b in itertools.combinations(said, 2)]
        return sum(pairs) / len(pairs) if pairs else None


@dataclass(frozen=True)
class Repeatability:
    """What a judge says when it is asked the same again and again.

    Attributes:
        metric: The metric's id.
        model: The judge's model; None where it is not known.
        asked: How often each turn was judged.
        turns: One a turn, in the suite's order.
        judging: What all of it took.
    """

    metric: str
    model: str | None
    asked: int
    turns: tuple[Reasked, ...]
    judging: Judging = field(default_factory=Judging)

    @cached_property
    def unanimous(self) -> Share:
        """The share of turns whose verdict was always the same."""
        flips = [turn.flipped for turn in self.turns if turn.flipped is not None]
        return Share(len(flips) - sum(flips), len(flips))

    @cached_property
    def agreement(self) -> float | None:
        """The mean over turns of the share of pairs that agree (observed agreement); None for none."""
        shares = [turn.agreement for turn in self.turns if turn.agreement is not None]
        return statistics.fmean(shares) if shares else None

    @cached_property
    def noise(self) -> float | None:
        """Standard deviation of a score about its turn's mean, 0 to 1, pooled over turns; None for none."""
        variances = [statistics.variance(turn.measured) for turn in self.turns if len(turn.measured) > 1]
        return math.sqrt(statistics.fmean(variances)) if variances else None

    @cached_property
    def flipped(self) -> tuple[Reasked, ...]:
        """The turns on which the judge changed its verdict."""
        return tuple(turn for turn in self.turns if turn.flipped)

    @property
    def unmeasured(self) -> int:
        """How many judgements gave no score."""
        return sum(score is None for turn in self.turns for score in turn.scores)


def cohens_kappa(pairs: Iterable[tuple[bool, bool]]) -> float | None:
    """Agreement of two raters beyond chance: (observed - expected) / (1 - expected).

    None without pairs, and where both always say the same one thing: chance would agree as well.

    Source: Cohen 1960, "A coefficient of agreement for nominal scales".

    >>> cohens_kappa([(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15)
    0.4
    """
    pairs = list(pairs)
    n = len(pairs)
    first, second = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    chance = first * second + (n - first) * (n - second)  # of n * n
    if not n or chance == n * n:
        return None
    return (sum(a == b for a, b in pairs) * n - chance) / (n * n - chance)


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % score interval of a share, 0 to 1; n is at least 1.

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference".

    >>> [round(end, 4) for end in wilson(9, 10)]
    [0.5958, 0.9821]
    """
    share, z2 = hits / n, _Z * _Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # The share is within it; rounding must not say otherwise.
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))
