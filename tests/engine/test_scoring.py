"""The metrics of a turn: in order, each on its own, with a verdict that a threshold can only tighten."""

import asyncio
import math
import threading
import time
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holodeck_nb.engine import scoring
from holodeck_nb.engine.scoring import score_turn
from holodeck_nb.errors import RunStoppedError
from holodeck_nb.metrics.base import (
    GraderContext,
    GraderResult,
    MetricError,
    NotApplicableError,
    build_metrics,
)
from holodeck_nb.metrics.judge_meter import spent
from holodeck_nb.results.judging import Judging
from holodeck_nb.results.records import TokenUsage
from holodeck_nb.schema.metrics import CodeMetric, StandardMetric
from holodeck_nb.sync import UserCodeExit

CONTEXT = GraderContext("q", "25587", ground_truth="25587")


@dataclass
class Fake:
    """A metric that gives back, or raises, one thing after the other."""

    outcomes: list
    id: str = "fake"
    kind: str = "geval"
    threshold: float | None = None
    needs_ground_truth: bool = False
    fail_on_error: bool = False
    timeout_s: float | None = None
    max_retries: int = 0
    model: str | None = None
    measured: int = field(default=0)

    async def measure(self, context):
        outcome = self.outcomes[min(self.measured, len(self.outcomes) - 1)]
        self.measured += 1
        if isinstance(outcome, Exception):
            raise outcome
        if callable(outcome):
            return await outcome()
        return outcome


def score(*metrics, context=CONTEXT, grader_timeout=30):
    return asyncio.run(score_turn(metrics, context, grader_timeout=grader_timeout))


def built(*configs):
    return build_metrics(configs, {})


VERDICTS = [
    # score  verdict  threshold   status     reason
    (0.5,    None,    None,       "scored",  None),
    (1.0,    None,    None,       "scored",  None),   # a number without threshold or verdict is only scored
    (0.75,   None,    0.7,        "passed",  None),
    (0.7,    None,    0.7,        "passed",  None),   # equal is enough
    (0.5,    None,    0.7,        "failed",  "score 0.50 is below the threshold 0.70"),
    (0.699,  None,    0.7,        "failed",  "score 0.699 is below the threshold 0.7"),
    (1 - 0.9, None,   0.1,        "failed",  "score 0.09999999999999998 is below the threshold 0.1"),
    (0.1 + 0.2, None, 0.3,        "passed",  None),
    (1.0,    True,    None,       "passed",  None),
    (0.0,    False,   None,       "failed",  "its verdict is no (score 0.00)"),
    (None,   True,    None,       "passed",  None),
    (None,   False,   None,       "failed",  "its verdict is no (score 0.00)"),
    (0.5,    True,    0.7,        "failed",  "score 0.50 is below the threshold 0.70"),  # only tightened
    (0.9,    False,   0.7,        "failed",  "its verdict is no (score 0.90, threshold 0.70)"),
    (0.9,    True,    0.7,        "passed",  None),
    (0.5,    True,    None,       "passed",  None),
    (True,   None,    0.7,        "passed",  None),
    (0.0,    None,    0.0,        "passed",  None),
    (0.0,    False,   0.0,        "failed",  "its verdict is no (score 0.00, threshold 0.00)"),
]  # fmt: skip


@pytest.mark.parametrize(("given_", "verdict", "threshold", "status", "reason"), VERDICTS)
def test_the_verdict(given_, verdict, threshold, status, reason):
    (result,) = score(Fake([GraderResult(given_, verdict)], threshold=threshold))
    assert (result.status, result.reason, result.threshold) == (status, reason, threshold)
    assert type(result.score) is float


WORDS = [
    # score  verdict  threshold   the metric's own words and what becomes of them
    (0.5,    None,    0.7,        "score 0.50 is below the threshold 0.70: step 2 is wrong"),
    (0.0,    False,   None,       "step 2 is wrong"),
    (0.5,    False,   None,       "step 2 is wrong (score 0.50)"),
    (0.9,    False,   0.7,        "step 2 is wrong (score 0.90, threshold 0.70)"),
    (1.0,    True,    None,       "step 2 is wrong"),
    (0.5,    None,    None,       "step 2 is wrong"),
]  # fmt: skip


@pytest.mark.parametrize(("given_", "verdict", "threshold", "reason"), WORDS)
def test_a_failing_reason_gives_score_and_threshold(given_, verdict, threshold, reason):
    (result,) = score(Fake([GraderResult(given_, verdict, "step 2 is wrong")], threshold=threshold))
    assert result.reason == reason


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_threshold_never_makes_a_verdict_milder(got, threshold):
    for verdict in (True, False, None):
        (bare,) = score(Fake([GraderResult(got, verdict)]))
        (tight,) = score(Fake([GraderResult(got, verdict)], threshold=threshold))
        assert not (bare.passed is False and tight.passed)
        assert tight.passed is (verdict is not False and got >= threshold)


def test_results_keep_the_order_and_one_error_stops_no_other():
    results = score(
        Fake([GraderResult(passed=True)], id="a"),
        Fake([MetricError("no judge")], id="b"),
        Fake([ValueError("boom")], id="c"),
        Fake([NotApplicableError("no passages")], id="d"),
        Fake([GraderResult()], id="e"),
        Fake([GraderResult(passed=True)], id="f"),
    )
    assert [(r.id, r.status, r.reason, r.score) for r in results] == [
        ("a", "passed", None, 1.0),
        ("b", "error", "no judge", None),
        ("c", "error", "ValueError: boom", None),
        ("d", "not_applicable", "no passages", None),
        ("e", "error", "the metric gave neither a score nor a verdict", None),
        ("f", "passed", None, 1.0),
    ]


def test_without_ground_truth_a_metric_that_needs_one_does_not_apply():
    results = score(
        *built(
            StandardMetric(metric="equality"),
            StandardMetric(metric="numeric"),
            CodeMetric(grader=lambda ctx: True),
        ),
        context=GraderContext("q", "25587"),
    )
    assert [r.status for r in results] == ["not_applicable", "not_applicable", "passed"]
    assert results[0].reason == "no ground truth on this turn"
    assert results[0].duration_ms is None


def test_an_empty_reply_is_measured():
    results = score(
        *built(StandardMetric(metric="equality"), StandardMetric(metric="numeric")),
        context=GraderContext("q", "", ground_truth="42"),
    )
    assert [(r.status, r.score) for r in results] == [("failed", 0.0), ("failed", 0.0)]


def test_built_in_metrics_end_to_end():
    equal, near, far, graded = score(
        *built(
            StandardMetric(metric="equality", threshold=1),
            StandardMetric(metric="numeric", absolute_tolerance=600),
            StandardMetric(metric="numeric", absolute_tolerance=1),
            CodeMetric(grader=lambda ctx: {"score": 0.5, "details": {"n": 1}}, threshold=0.7),
        ),
        context=GraderContext("q", "25000", ground_truth="25587"),
    )
    assert (equal.id, equal.kind, equal.status) == ("equality", "standard", "failed")
    assert equal.reason == "score 0.00 is below the threshold 1.00: expected '25587', got '25000'"
    assert (near.id, near.status) == ("numeric", "passed")
    assert (far.id, far.reason) == ("numeric_2", "expected 25587, got 25000 (difference 587, tolerance 1)")
    assert (graded.kind, graded.status, graded.details) == ("code", "failed", {"n": 1})
    assert all(result.duration_ms >= 0 for result in (equal, near, far, graded))


def test_an_unreadable_truth_is_an_error_of_the_metric():
    (result,) = score(
        *built(StandardMetric(metric="numeric")), context=GraderContext("q", "5", ground_truth="x")
    )
    assert result.status == "error"
    assert result.score is None
    assert result.passed is False
    assert not result.measured


def test_a_slow_grader_runs_into_the_limit_of_the_run_and_the_next_one_goes_on():
    release = threading.Event()
    begin = time.monotonic()
    slow, after = score(
        *built(
            CodeMetric(grader=lambda ctx: release.wait(30), name="slow"), CodeMetric(grader=lambda ctx: True)
        ),
        grader_timeout=0.05,
    )
    release.set()
    assert time.monotonic() - begin < 10
    assert slow.reason == "timeout: no result within 0.05 s (execution.grader_timeout)"
    assert (slow.status, after.status) == ("error", "passed")


def test_the_metric_has_a_limit_of_its_own():
    async def slow(ctx):
        await asyncio.sleep(30)

    (result,) = score(*built(CodeMetric(grader=slow, timeout_ms=50)))
    assert result.reason == "timeout: no result within 0.05 s (the metric's timeout_ms)"


def test_a_metric_without_limit_is_not_bounded_by_the_graders():
    async def a_while():
        await asyncio.sleep(0.03)
        return GraderResult(passed=True)

    (result,) = score(Fake([a_while]), grader_timeout=0.001)
    assert result.passed


@pytest.fixture
def no_wait(monkeypatch):
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr(scoring.asyncio, "sleep", sleep)
    return waits


def test_a_metric_with_retries_is_tried_again_with_growing_waits(no_wait):
    fake = Fake([MetricError("busy"), ValueError("odd"), MetricError("busy"), GraderResult(1)], max_retries=3)
    (result,) = score(fake)
    assert (result.status, result.retries, fake.measured) == ("scored", 3, 4)
    assert no_wait == [0.5, 1.0, 2.0]


def test_when_the_retries_are_used_up_the_last_reason_stands(no_wait):
    (result,) = score(Fake([MetricError("first"), MetricError("last")], max_retries=1))
    assert (result.status, result.reason, result.retries) == ("error", "last", 1)


@pytest.mark.parametrize(
    "outcome",
    [NotApplicableError("no passages"), RunStoppedError("the key is refused"), UserCodeExit(SystemExit(1))],
)
def test_what_another_try_would_not_change_is_not_tried_again(no_wait, outcome):
    fake = Fake([outcome], max_retries=3)
    score(fake)
    assert fake.measured == 1


def test_deterministic_metrics_and_graders_are_never_tried_again(no_wait):
    calls = []

    def grade(ctx):
        calls.append(1)
        raise ValueError("boom")

    (result,) = score(*built(CodeMetric(grader=grade)))
    assert (len(calls), result.retries, no_wait) == (1, 0, [])


def test_an_interrupt_in_a_grader_reaches_the_engine():
    def grade(ctx):
        raise KeyboardInterrupt

    with pytest.raises(UserCodeExit) as error:
        score(*built(CodeMetric(grader=grade)))
    assert error.value.is_interrupt


def test_an_exit_in_a_grader_is_its_error():
    def grade(ctx):
        raise SystemExit(3)

    (result,) = score(*built(CodeMetric(grader=grade)))
    assert result.status == "error"
    assert "SystemExit: 3" in result.reason


def test_graders_of_one_turn_do_not_see_what_the_one_before_did():
    def vandal(ctx):
        dict.clear(ctx.turn_config)
        return True

    def witness(ctx):
        return ctx.turn_config == {"a": [1]}

    context = GraderContext("q", "a", turn_config={"a": [1]})
    results = score(*built(CodeMetric(grader=vandal), CodeMetric(grader=witness)), context=context)
    assert [result.passed for result in results] == [True, True]
    assert context.turn_config == {"a": [1]}


def test_the_judges_model_is_told():
    (result,) = score(Fake([GraderResult(0.5)], model="openai:gpt-x"))
    assert result.model == "openai:gpt-x"


def test_a_judge_that_is_cancelled_from_elsewhere_is_an_error_and_ends_nothing_else():
    async def cancelled():
        raise asyncio.CancelledError

    broken, fine = score(Fake([cancelled]), Fake([GraderResult(1.0)], id="fine"))
    assert (broken.status, broken.reason) == ("error", "CancelledError: it cancelled itself")
    assert fine.score == 1.0


def asks(*parts, then):
    async def measure():
        spent().extend(parts)
        if isinstance(then, Exception):
            raise then
        return then

    return measure


ONE = Judging(1, usage=TokenUsage(10, 1), cost_usd=0.5)


@pytest.mark.parametrize(
    ("then", "details"),
    [
        (GraderResult(0.5, details={"score": 5}), {"score": 5}),
        (GraderResult(0.5), {}),
        (NotApplicableError("no claim"), {}),
        (MetricError("prose", details={"reply": "nine"}, final=True), {"reply": "nine"}),
        (ValueError("boom"), {}),
    ],
)
def test_what_a_judge_was_asked_is_told_whatever_came_of_it(then, details):
    (result,) = score(Fake([asks(ONE, Judging(cached=1), then=then)]))
    told = {"requests": 1, "cached": 1, "prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    assert result.details == {**details, "judging": {**told, "cost_usd": 0.5}}


def test_what_a_judge_was_asked_is_summed_over_tries_and_is_each_metrics_own(no_wait):
    fails = asks(ONE, then=MetricError("busy"))
    first, second, third = score(
        Fake([fails, fails, asks(ONE, then=GraderResult(1))], max_retries=3),
        Fake([asks(ONE, then=GraderResult(1))]),
        Fake([GraderResult(1, details={"n": 1})]),
    )
    assert [first.details["judging"]["requests"], second.details["judging"]["requests"]] == [3, 1]
    assert third.details == {"n": 1}


def test_a_metric_that_is_cancelled_leaves_nothing_behind():
    async def hangs():
        spent().append(ONE)
        await asyncio.Event().wait()

    async def interrupted():
        task = asyncio.create_task(score_turn([Fake([hangs])], CONTEXT, grader_timeout=30))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await score_turn([Fake([GraderResult(1)])], CONTEXT, grader_timeout=30)

    (result,) = asyncio.run(interrupted())
    assert result.details is None


def test_no_metrics_no_results():
    assert score() == ()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 1.1])
def test_a_score_out_of_bounds_is_an_error_of_the_metric(bad):
    (result,) = score(Fake([GraderResult(bad)]))
    assert (result.status, result.score) == ("error", None)
    assert result.reason == f"the metric gave the score {bad:g}, which is not within 0 and 1"


def test_nan_never_gets_in():
    (result,) = score(*built(CodeMetric(grader=lambda ctx: math.nan)))
    assert (result.status, result.score) == ("error", None)
