"""Cases played several times: how likely one of k, or all of k, would pass, and how far they scatter."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .rollup import CaseResult

__all__ = ["PassEstimate", "Spread", "grouped", "pass_all_k", "pass_at_k", "pass_estimates", "spreads"]


@dataclass(frozen=True, slots=True)
class PassEstimate:
    """What k playings of a case would give, in the mean over cases.

    Attributes:
        k: How many playings.
        at_least_one: pass@k: the chance that at least one of k passes, 0 to 1.
        all: pass^k: the chance that all of k pass, 0 to 1.
        n: Over how many cases: those that were played at least k times.
    """

    k: int
    at_least_one: float
    all: float
    n: int


@dataclass(frozen=True, slots=True)
class Spread:
    """One quantity over cases that were played several times.

    Attributes:
        mean: The mean of the cases' means.
        within: Variance between the playings of one case, in the mean over cases: the noise of a single run.
        between: Variance between cases, the noise taken off (never below 0); None for a single case.
        n: Over how many cases: those with at least two playings.
    """

    mean: float
    within: float
    between: float | None
    n: int


def pass_at_k(played: int, passed: int, k: int) -> float:
    """The chance that at least one of k playings passes, estimated without bias from those there are.

    `1 - C(played - passed, k) / C(played, k)`; k is at most `played`.

    Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", section 2.1.

    >>> pass_at_k(played=4, passed=1, k=2)
    0.5
    """
    return 1.0 - math.comb(played - passed, k) / math.comb(played, k)


def pass_all_k(played: int, passed: int, k: int) -> float:
    """The chance that all of k playings pass (pass^k), estimated without bias: `C(passed, k) / C(played, k)`.

    Source: Yao et al. 2024, "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains".

    >>> pass_all_k(played=4, passed=3, k=2)
    0.5
    """
    return math.comb(passed, k) / math.comb(played, k)


def grouped(cases: Iterable[CaseResult]) -> Mapping[str, Sequence[CaseResult]]:
    """By name, the playings of each case that were played: those that were skipped tell nothing."""
    by_name: dict[str, list[CaseResult]] = {}
    for case in cases:
        playings = by_name.setdefault(case.name, [])
        if case.status != "skipped":
            playings.append(case)
    return by_name


def pass_estimates(cases: Iterable[CaseResult]) -> tuple[PassEstimate, ...]:
    """For k from 1 to the most playings of a case; empty where no case was played twice."""
    counts = [(len(playings), sum(case.passed for case in playings)) for playings in grouped(cases).values()]
    most = max((played for played, _ in counts), default=0)
    return tuple(_estimate(counts, k) for k in range(1, most + 1)) if most > 1 else ()


def spreads(cases: Iterable[CaseResult]) -> Mapping[str, Spread]:
    """By quantity: `passed` (1 or 0), then every metric; those of cases that were played twice or more.

    The parts of a one-way random-effects analysis: `within` is the mean of the cases' sample variances,
    `between` the variance of their means less the noise of such a mean.
    """
    values: dict[str, list[list[float]]] = {}
    for playings in grouped(cases).values():
        by_quantity: dict[str, list[float]] = {"passed": [float(case.passed) for case in playings]}
        for case in playings:
            for name, rollup in case.metrics.items():
                if rollup.mean is not None:
                    # A metric may be called `passed` in a report from elsewhere.
                    by_quantity.setdefault("passed_metric" if name == "passed" else name, []).append(
                        rollup.mean
                    )
        for name, scores in by_quantity.items():
            if len(scores) > 1:
                values.setdefault(name, []).append(scores)
    return MappingProxyType({name: _spread(samples) for name, samples in values.items()})


def _estimate(counts: Sequence[tuple[int, int]], k: int) -> PassEstimate:
    enough = [(played, passed) for played, passed in counts if played >= k]
    return PassEstimate(
        k,
        at_least_one=statistics.fmean(pass_at_k(played, passed, k) for played, passed in enough),
        all=statistics.fmean(pass_all_k(played, passed, k) for played, passed in enough),
        n=len(enough),
    )


def _spread(samples: Sequence[Sequence[float]]) -> Spread:
    means = [statistics.fmean(sample) for sample in samples]
    variances = [statistics.variance(sample) for sample in samples]
    between = None
    if len(samples) > 1:
        noise = statistics.fmean(
            variance / len(sample) for variance, sample in zip(variances, samples, strict=True)
        )
        between = max(0.0, statistics.variance(means) - noise)
    return Spread(statistics.fmean(means), statistics.fmean(variances), between, len(samples))
