"""The metrics of one turn: measured in order, each on its own, and never an exception from any of them."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from holodeck_nb.errors import RunStoppedError, described
from holodeck_nb.metrics.base import MetricError, NotApplicableError
from holodeck_nb.results.records import MetricResult
from holodeck_nb.sync import TimeLimitError, UserCodeExit, bounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holodeck_nb.metrics.base import GraderContext, GraderResult, Metric
    from holodeck_nb.results.records import MetricStatus

__all__ = ["score_turn"]

BACK_OFF_S = 0.5
"""The wait before the first retry; each later one is twice as long."""


class _Measured(NamedTuple):
    """What came of a metric: a result, or why there is none."""

    result: GraderResult | None = None
    status: MetricStatus = "error"
    reason: str | None = None
    retries: int = 0
    final: bool = True  # another try would not change it


async def score_turn(
    metrics: Sequence[Metric], context: GraderContext, *, grader_timeout: float
) -> tuple[MetricResult, ...]:
    """Measure every metric, in order; what goes wrong with one is its result and stops no other.

    Args:
        metrics: The metrics of the turn.
        context: The turn as played.
        grader_timeout: Seconds for a code grader that sets no limit of its own.

    Raises:
        UserCodeExit: A grader raised KeyboardInterrupt: the run is to be interrupted.
    """
    return tuple([await _score(metric, context, grader_timeout) for metric in metrics])


async def _score(metric: Metric, context: GraderContext, grader_timeout: float) -> MetricResult:
    if metric.needs_ground_truth and context.ground_truth is None:
        measured = _Measured(status="not_applicable", reason="no ground truth on this turn")
        return _result(metric, measured, duration_ms=None)
    clock = perf_counter()
    measured = await _measured(metric, context, grader_timeout)
    return _result(metric, measured, duration_ms=(perf_counter() - clock) * 1000)


async def _measured(metric: Metric, context: GraderContext, grader_timeout: float) -> _Measured:
    """Measure, and again after a failure as often as the metric allows."""
    retries = 0
    while True:
        measured = await _once(metric, context, grader_timeout)
        if measured.final or retries >= metric.max_retries:
            return measured._replace(retries=retries) if retries else measured
        await asyncio.sleep(BACK_OFF_S * 2**retries)
        retries += 1


async def _once(metric: Metric, context: GraderContext, grader_timeout: float) -> _Measured:
    limit = metric.timeout_s
    if limit is None and metric.kind == "code":
        limit = grader_timeout
    work = metric.measure(context)
    try:
        return _Measured(await (work if limit is None else bounded(work, limit)))
    except NotApplicableError as error:
        return _Measured(status="not_applicable", reason=str(error))
    except TimeLimitError:
        setting = "execution.grader_timeout" if metric.timeout_s is None else "the metric's timeout_ms"
        return _Measured(reason=f"timeout: no result within {limit:g} s ({setting})", final=False)
    except UserCodeExit as error:
        if error.is_interrupt:
            raise
        return _Measured(reason=str(error))
    except MetricError as error:
        return _Measured(reason=str(error), final=False)
    except Exception as error:  # noqa: BLE001 - the border to metrics: whatever breaks is this metric's result
        return _Measured(reason=described(error), final=isinstance(error, RunStoppedError))


def _result(metric: Metric, measured: _Measured, duration_ms: float | None) -> MetricResult:
    result, status, reason, score = measured.result, measured.status, measured.reason, None
    if result is not None:
        status, score, reason = _verdict(result, metric.threshold)
    return MetricResult(
        id=metric.id,
        kind=metric.kind,
        status=status,
        score=score,
        threshold=metric.threshold,
        reason=reason,
        details=None if result is None else result.details,
        model=metric.model,
        retries=measured.retries,
        duration_ms=duration_ms,
    )


def _verdict(result: GraderResult, threshold: float | None) -> tuple[MetricStatus, float | None, str | None]:
    """Status, score and reason; a threshold can only make a verdict stricter."""
    score = float(result.passed) if result.score is None and result.passed is not None else result.score
    if score is None:
        return "error", None, "the metric gave neither a score nor a verdict"
    score = float(score)
    if not 0 <= score <= 1:  # NaN is in no range
        return "error", None, f"the metric gave the score {score:g}, which is not within 0 and 1"
    # Two floats compare as the shortest decimals that they print as: no two floats print alike.
    enough = threshold is None or score >= threshold
    if result.passed is None and threshold is None:
        return "scored", score, result.reason
    if enough and result.passed is not False:
        return "passed", score, result.reason
    return "failed", score, _why(score, threshold, result.reason, enough=enough)


def _why(score: float, threshold: float | None, reason: str | None, *, enough: bool) -> str:
    """A failing metric's reason: its own words, and the score and threshold where they decide."""
    if not enough and threshold is not None:
        decided = f"score {_two(score, threshold)} is below the threshold {_two(threshold, score)}"
        return f"{decided}: {reason}" if reason else decided
    numbers = f"score {score:.2f}" + ("" if threshold is None else f", threshold {threshold:.2f}")
    if reason is None:
        return f"its verdict is no ({numbers})"
    return reason if threshold is None and score in {0.0, 1.0} else f"{reason} ({numbers})"


def _two(number: float, other: float) -> str:
    """Two decimals, or all of them where two would make both numbers look the same."""
    return f"{number:.2f}" if f"{number:.2f}" != f"{other:.2f}" else repr(number)
