"""Real graders: sync and async, slow, raising, leaving, and trying to change what they see."""

import asyncio
import functools
import sys
import threading
import time

import numpy as np
import pytest

from holodeck_nb.metrics.base import GraderContext, GraderResult, MetricError, build_metrics
from holodeck_nb.results.records import ToolInvocation
from holodeck_nb.schema.metrics import CodeMetric
from holodeck_nb.sync import TimeLimitError, UserCodeExit, bounded

CONTEXT = GraderContext(
    "what was net cash?",
    "206588",
    ground_truth="206588",
    tool_invocations=(ToolInvocation("subtract", {"a": 206588, "b": [181001]}, result={"rows": [1]}),),
    retrieval_context=("passage",),
    turn_index=2,
    test_case_name="net cash",
    turn_config={"program": ["subtract"]},
)


def metric(grader, graders=None, **options):
    return build_metrics((CodeMetric(grader=grader, **options),), graders or {})[0]


def measure(grader, limit=None):
    return asyncio.run(bounded(metric(grader).measure(CONTEXT), limit))


def failure(grader, limit=None):
    with pytest.raises(MetricError) as error:
        measure(grader, limit)
    return str(error.value)


def test_a_grader_sees_the_whole_turn():
    seen = []

    def grade(ctx):
        seen.append(ctx)
        return ctx.agent_response == ctx.ground_truth

    assert measure(grade) == GraderResult(score=1.0, passed=True)
    assert seen == [CONTEXT]


def test_an_async_grader_is_awaited_on_the_running_loop():
    async def grade(ctx):
        await asyncio.sleep(0)
        return ctx.turn_index == 3

    assert measure(grade) == GraderResult(score=0.0, passed=False)


async def agrees(ctx):
    return {"score": 0.5, "reason": "half"}


def returns_a_coroutine(ctx):
    return agrees(ctx)


class Grader:
    def __call__(self, ctx):
        return 0.25


class AsyncGrader:
    async def __call__(self, ctx):
        return 0.75

    def method(self, ctx):
        return 0.5


CALLABLES = [
    (agrees,                                     0.5),
    (returns_a_coroutine,                        0.5),
    (functools.partial(agrees),                  0.5),
    (Grader(),                                   0.25),
    (AsyncGrader(),                              0.75),
    (AsyncGrader().method,                       0.5),
    (functools.partial(lambda n, ctx: n, 0.1),   0.1),
    (lambda ctx: np.float32(0.7),                0.7),
    (lambda ctx: GraderResult(score=0.3),        0.3),
]  # fmt: skip


@pytest.mark.parametrize(("grader", "score"), CALLABLES, ids=range(len(CALLABLES)))
def test_whatever_can_be_called_is_a_grader(grader, score):
    assert measure(grader).score == score


def test_a_sync_grader_runs_in_a_daemon_thread():
    threads = []
    measure(lambda ctx: bool(threads.append(threading.current_thread()) or True))
    assert threads[0] is not threading.main_thread()
    assert threads[0].daemon


def boom(ctx):
    raise ValueError("boom")


def leave(ctx):
    sys.exit(3)


def forever(ctx):
    return forever(ctx)


class SilentError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def silent(ctx):
    raise SilentError


def stops(ctx):
    raise StopIteration("done")


def cancels(ctx):
    raise asyncio.CancelledError("mine")


def generates(ctx):
    yield True


async def generates_slowly(ctx):
    yield True


async def async_boom(ctx):
    raise ValueError("boom")


async def async_leave(ctx):
    sys.exit(3)


async def async_cancels(ctx):
    raise asyncio.CancelledError("mine")


def own_timeout(ctx):
    raise TimeoutError("the price service is slow")


RAISING = [
    (boom,          "boom raised ValueError: boom (line "),
    (leave,         "leave raised SystemExit: 3 (line "),
    (forever,       "forever raised RecursionError: maximum recursion depth exceeded"),
    (silent,        "silent raised SilentError: (its message cannot be read) (line "),
    (stops,         "stops raised StopIteration: done (line "),
    (cancels,       "cancels raised CancelledError: mine (line "),
    (async_boom,    "async_boom raised ValueError: boom (line "),
    (async_leave,   "async_leave raised SystemExit: 3 (line "),
    (async_cancels, "async_cancels raised CancelledError: mine (line "),
    (own_timeout,   "own_timeout raised TimeoutError: the price service is slow (line "),
    (lambda: True,  "<lambda> raised TypeError: "),   # takes no context
]  # fmt: skip


@pytest.mark.parametrize(("grader", "text"), RAISING, ids=[text.split()[0] for _, text in RAISING])
def test_what_a_grader_raises_is_told_with_its_name(grader, text):
    reason = failure(grader, 30)
    assert reason.startswith("grader ")
    assert text in reason


def test_the_line_is_that_of_the_grader_and_not_of_a_library():
    def grade(ctx):
        int("x")

    assert failure(grade).endswith(f"(line {grade.__code__.co_firstlineno + 1})")


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_an_interrupt_reaches_the_engine(kind):
    def interrupt(ctx):
        raise KeyboardInterrupt

    async def interrupt_async(ctx):
        raise KeyboardInterrupt

    with pytest.raises(UserCodeExit) as error:
        measure(interrupt if kind == "sync" else interrupt_async)
    assert error.value.is_interrupt


RETURNING = [
    (lambda ctx: None,   "returned None: that is no result; accepted are a bool, a number from 0 to 1"),
    (lambda ctx: "yes",  "returned 'yes': that is no result"),
    (lambda ctx: 1.7,    "returned 1.7: the score 1.7 is not within 0 and 1"),
    (lambda ctx: {},     "returned {}: it has neither `score` nor `passed`"),
    (generates,          "returned <generator object generates at 0x"),
    (generates_slowly,   "returned <async_generator object generates_slowly at 0x"),
    (lambda ctx: {"score": 1, "details": {"bad": object()}}, "is not JSON-serializable"),
    (lambda ctx: {"passed": True, "details": {"c": agrees}}, "is not JSON-serializable"),
]  # fmt: skip


@pytest.mark.parametrize(("grader", "text"), RETURNING, ids=range(len(RETURNING)))
def test_what_is_no_result_is_told_with_what_would_be(grader, text):
    reason = failure(grader)
    assert text in reason
    assert reason.endswith("or a GraderResult")


def test_values_that_break_when_looked_at_are_an_error_too():
    class Hostile(dict):
        def get(self, *_):
            raise RuntimeError("hands off")

    assert "RuntimeError: hands off" in failure(lambda ctx: Hostile(score=1))


def test_the_given_reference_names_the_grader():
    made = metric("probe_graders:bad", {"probe_graders:bad": boom})
    with pytest.raises(MetricError, match="grader probe_graders:bad raised ValueError: boom"):
        asyncio.run(made.measure(CONTEXT))
    assert made.id == "bad"


def test_a_grader_can_change_nothing():
    def vandal(ctx):
        for change in (
            lambda: ctx.tool_invocations[0].args.update(a=1),
            lambda: ctx.tool_invocations[0].args["b"].append(1),
            ctx.tool_invocations[0].result["rows"].clear,
            ctx.turn_config.clear,
            lambda: ctx.turn_config["program"].append("divide"),
        ):
            with pytest.raises(TypeError):
                change()
        dict.clear(ctx.turn_config)
        object.__setattr__(ctx, "ground_truth", "0")
        object.__setattr__(ctx.tool_invocations[0], "name", "add")
        return True

    assert measure(vandal).passed
    assert CONTEXT.tool_invocations[0] == ToolInvocation(
        "subtract", {"a": 206588, "b": [181001]}, result={"rows": [1]}
    )
    assert (CONTEXT.ground_truth, CONTEXT.turn_config) == ("206588", {"program": ["subtract"]})


def test_a_refused_result_names_the_grader():
    def nothing(ctx):
        return None

    with pytest.raises(MetricError, match=r"^grader .*nothing returned None: that is no result"):
        measure(nothing)


def test_an_async_grader_can_change_nothing_either():
    async def vandal(ctx):
        with pytest.raises(TypeError):
            ctx.turn_config.clear()
        object.__setattr__(ctx, "ground_truth", "0")
        return True

    assert measure(vandal).passed
    assert (CONTEXT.ground_truth, CONTEXT.turn_config) == ("206588", {"program": ["subtract"]})


def test_a_slow_grader_is_left_behind():
    release = threading.Event()
    begin = time.monotonic()
    with pytest.raises(TimeLimitError):
        measure(lambda ctx: release.wait(30), limit=0.05)
    release.set()
    assert time.monotonic() - begin < 10


def test_a_slow_async_grader_is_cancelled():
    cancelled = []

    async def slow(ctx):
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    with pytest.raises(TimeLimitError):
        measure(slow, limit=0.05)
    assert cancelled


def test_slow_graders_of_several_turns_run_side_by_side():
    together = threading.Barrier(3, timeout=20)

    async def three():
        made = metric(lambda ctx: together.wait() >= 0)
        return await asyncio.gather(*(made.measure(CONTEXT) for _ in range(3)))

    assert [result.passed for result in asyncio.run(three())] == [True] * 3


def test_settings_come_from_the_suite():
    made = metric(boom, threshold=0.7, fail_on_error=True, timeout_ms=1500)
    assert (made.threshold, made.fail_on_error, made.timeout_s, made.max_retries) == (0.7, True, 1.5, 0)
    assert (made.kind, made.model, made.needs_ground_truth) == ("code", None, False)
