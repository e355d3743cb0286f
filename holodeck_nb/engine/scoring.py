"""The metrics of one turn: measured in order, each on its own, and never an exception from any of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from holodeck_nb.errors import RunStoppedError, described
from holodeck_nb.metrics.base import GraderResult, MetricError, NotApplicableError
from holodeck_nb.metrics.judge_meter import metered
from holodeck_nb.results.judging import JUDGING, Judging
from holodeck_nb.results.records import MetricResult
from holodeck_nb.sync import TimeLimitError, UserCodeExit, bounded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holodeck_nb.metrics.base import GraderContext, Metric
    from holodeck_nb.results.records import MetricStatus

__all__ = ["rejudged", "score_turn"]

BACK_OFF_S = 0.5
"""The wait before the first retry; each later one is twice as long."""


class _Measured(NamedTuple):
    """What came of a metric: a result, or why there is none."""

    result: GraderResult | None = None
    status: MetricStatus = "error"
    reason: str | None = None
    retries: int = 0
    final: bool = True  # another try would not change it
    details: Mapping[str, Any] | None = None


async def score_turn(
    metrics: Sequence[Metric],
    context: GraderContext,
    *,
    grader_timeout: float,
    definitions: Sequence[str | None] = (),
) -> tuple[MetricResult, ...]:
    """Measure every metric, in order; what goes wrong with one is its result and stops no other.

    Args:
        metrics: The metrics of the turn.
        context: The turn as played.
        grader_timeout: Seconds for a code grader that sets no limit of its own.
        definitions: What each metric's results are marked with (see `MetricResult`); empty for none.

    Raises:
        UserCodeExit: A grader raised KeyboardInterrupt: the run is to be interrupted.
    """
    marks = definitions or (None,) * len(metrics)
    return tuple(
        [
            await _score(metric, context, grader_timeout, mark)
            for metric, mark in zip(metrics, marks, strict=True)
        ]
    )


def rejudged(metric: MetricResult, threshold: float | None) -> MetricResult:
    """The same measurement under another threshold; what was not measured stays as it is.

    Where the metric's own verdict is not known (a report from elsewhere), a score of 0, and a no that no
    threshold explains, count as its own no.
    """
    score, old = metric.score, metric.threshold
    if score is None or not metric.measured or threshold == old:
        return metric
    too_low = old is not None and score < old
    verdict = metric.verdict
    if verdict is None and metric.status == "failed" and (score == 0 or not too_low):
        verdict = False
    elif verdict is None and metric.status == "passed" and old is None:
        verdict = True  # with neither a threshold nor a verdict it would be scored
    own_words = _own_words(metric) if metric.status == "failed" else metric.reason
    status, score, reason = _verdict(GraderResult(score, passed=verdict, reason=own_words), threshold)
    return replace(metric, status=status, score=score, threshold=threshold, reason=reason, verdict=verdict)


def _own_words(metric: MetricResult) -> str | None:
    """A failing metric's reason without what `_why` had added to it."""
    if metric.reason is None or metric.score is None:
        return metric.reason
    enough = metric.threshold is None or metric.score >= metric.threshold
    bare = _why(metric.score, metric.threshold, None, enough=enough)
    if metric.reason == bare:
        return None
    numbers = f" ({bare.partition('(')[2]}"
    return metric.reason.removesuffix(numbers) if enough else metric.reason.removeprefix(f"{bare}: ")


async def _score(
    metric: Metric, context: GraderContext, grader_timeout: float, definition: str | None
) -> MetricResult:
    if metric.needs_ground_truth and context.ground_truth is None:
        measured = _Measured(status="not_applicable", reason="no ground truth on this turn")
        return _result(metric, measured, None, definition)
    clock = perf_counter()
    measured = await _measured(metric, context, grader_timeout)
    return _result(metric, measured, (perf_counter() - clock) * 1000, definition)


async def _measured(metric: Metric, context: GraderContext, grader_timeout: float) -> _Measured:
    """Measure, and again after a failure as often as the metric allows; tell what judges were asked."""
    asked = metered()
    retries = 0
    measured = await _once(metric, context, grader_timeout)
    while not measured.final and retries < metric.max_retries:
        await asyncio.sleep(BACK_OFF_S * 2**retries)
        retries += 1
        measured = await _once(metric, context, grader_timeout)
    if asked:
        judging = {JUDGING: Judging.sum(asked).told()}
        measured = measured._replace(details={**(measured.details or {}), **judging})
    return measured._replace(retries=retries) if retries else measured


async def _once(metric: Metric, context: GraderContext, grader_timeout: float) -> _Measured:
    limit = metric.timeout_s
    if limit is None and metric.kind == "code":
        limit = grader_timeout
    work = metric.measure(context)
    try:
        # What talks to others may be cancelled by them: bounded, that is its own fault and ends nothing else.
        computes_only = limit is None and metric.kind == "standard" and metric.model is None
        result = await (work if computes_only else bounded(work, limit))
        return _Measured(result, details=result.details)
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
        return _Measured(reason=str(error), final=error.final, details=error.details)
    except Exception as error:  # noqa: BLE001 - the border to metrics: whatever breaks is this metric's result
        return _Measured(reason=described(error), final=isinstance(error, RunStoppedError))


def _result(
    metric: Metric, measured: _Measured, duration_ms: float | None, definition: str | None
) -> MetricResult:
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
        details=measured.details,
        model=metric.model,
        retries=measured.retries,
        duration_ms=duration_ms,
        verdict=None if result is None else result.passed,
        definition=definition,
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
