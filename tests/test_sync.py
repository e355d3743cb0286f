"""The border between sync and async: bounds, ticks, interrupts, one loop for all runs."""

import asyncio
import signal
import subprocess
import sys
import threading
import time

import pytest

from holodeck_nb.errors import ConfigError
from holodeck_nb.sync import (
    TimeLimitError,
    UserCodeExit,
    bounded,
    call,
    run_awaited,
    run_on_notebook_loop,
    run_sync,
)


def nothing():
    pass


async def giving(value):
    return value


async def raising(error):
    raise error


class TestBounded:
    def test_it_returns_what_the_work_returns(self):
        assert asyncio.run(bounded(giving(7), 1)) == 7

    def test_none_is_no_limit(self):
        assert asyncio.run(bounded(asyncio.sleep(0.01, 7), None)) == 7

    def test_the_limit_cancels_the_work(self):
        seen = []

        async def work():
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        with pytest.raises(TimeLimitError):
            asyncio.run(bounded(work(), 0.01))
        assert seen == ["cancelled"]

    def test_a_timeout_error_of_the_work_is_not_ours(self):
        with pytest.raises(TimeoutError) as caught:
            asyncio.run(bounded(raising(TimeoutError("theirs")), 1))
        assert not isinstance(caught.value, TimeLimitError)

    def test_work_that_swallows_its_cancellation_is_left_to_itself(self):
        async def stubborn():
            while True:
                try:
                    await asyncio.sleep(30)
                except asyncio.CancelledError:
                    if stop:
                        raise

        async def main():
            started = time.monotonic()
            with pytest.raises(TimeLimitError):
                await bounded(stubborn(), 0.01)
            return time.monotonic() - started

        stop = []

        async def main_and_clean_up():
            elapsed = await main()
            stop.append(True)
            return elapsed

        assert asyncio.run(main_and_clean_up()) < 5

    @pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()], ids=repr)
    def test_exits_come_back_as_ordinary_exceptions(self, error):
        with pytest.raises(UserCodeExit) as caught:
            asyncio.run(bounded(raising(error), 1))
        assert caught.value.original is error

    def test_cancelling_the_waiting_cancels_the_work(self):
        seen = []

        async def work():
            try:
                await asyncio.sleep(30)
            finally:
                seen.append("unwound")

        async def main():
            waiting = asyncio.ensure_future(bounded(work(), 60))
            await asyncio.sleep(0.01)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

        asyncio.run(main())
        assert seen == ["unwound"]


class AsyncAgent:
    async def __call__(self, text):
        return f"{text} on {threading.current_thread().name}"


class TestCall:
    def test_a_plain_function_runs_in_a_thread(self):
        assert asyncio.run(call(lambda: threading.current_thread().name)) == "holodeck-user-code"

    def test_a_coroutine_function_runs_on_the_loop(self):
        assert asyncio.run(call(AsyncAgent(), "it")) == "it on MainThread"

    def test_a_plain_function_may_return_an_awaitable(self):
        assert asyncio.run(call(lambda: giving(7))) == 7


class TestRunSync:
    def test_it_returns_what_the_work_returns(self):
        assert run_sync(giving(7), nothing) == 7

    def test_an_exception_arrives_as_it_is(self):
        with pytest.raises(ZeroDivisionError):
            run_sync(raising(ZeroDivisionError()), nothing)

    def test_ticks_come_on_the_callers_thread_and_last(self):
        ticks = []
        run_sync(asyncio.sleep(0.25), lambda: ticks.append(threading.current_thread()))
        assert len(ticks) >= 3
        assert set(ticks) == {threading.current_thread()}

    def test_all_runs_share_one_loop(self):
        async def loop():
            return asyncio.get_running_loop()

        assert run_sync(loop(), nothing) is run_sync(loop(), nothing)

    def test_it_works_inside_a_running_loop(self):
        async def cell():
            return run_sync(giving(7), nothing)

        assert asyncio.run(cell()) == 7

    def test_from_inside_itself_it_says_what_to_do(self):
        async def inner():
            return run_sync(giving(7), nothing)

        with pytest.raises(RuntimeError, match=r"await suite\.arun"):
            run_sync(inner(), nothing)

    def test_keyboard_interrupt_of_user_code_interrupts(self):
        with pytest.raises(KeyboardInterrupt):
            run_sync(raising(KeyboardInterrupt()), nothing)

    def test_a_failing_tick_stops_the_work(self):
        unwound = threading.Event()

        async def work():
            try:
                await asyncio.sleep(30)
            finally:
                unwound.set()

        def tick():
            raise RuntimeError("the display is gone")

        with pytest.raises(RuntimeError, match="the display is gone"):
            run_sync(work(), tick)
        assert unwound.is_set()

    def test_an_interrupt_gives_control_back_and_unwinds_the_work(self):
        unwound = threading.Event()

        async def work():
            try:
                await asyncio.sleep(30)
            finally:
                unwound.set()

        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        timer.start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            run_sync(work(), nothing)
        assert time.monotonic() - started < 2.5
        assert unwound.is_set()

    def test_a_forked_child_gets_a_loop_of_its_own(self):
        code = """
import os, sys, warnings
warnings.simplefilter("ignore")
from holodeck_nb.sync import run_sync
async def giving(value): return value
run_sync(giving(1), lambda: None)
child = os.fork()
if child == 0:
    os._exit(run_sync(giving(7), lambda: None))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
        )
        assert done.stdout == "7\n"


class TestRunAwaited:
    def test_the_callers_loop_stays_free(self):
        async def cell():
            beats = []

            async def heart():
                while True:
                    beats.append(1)
                    await asyncio.sleep(0.01)

            beating = asyncio.ensure_future(heart())
            value = await run_awaited(asyncio.sleep(0.2, 7), nothing)
            beating.cancel()
            return value, len(beats)

        value, beats = asyncio.run(cell())
        assert value == 7
        assert beats > 5

    def test_the_work_runs_on_the_loop_that_run_uses(self):
        async def loop():
            return asyncio.get_running_loop()

        async def cell():
            return await run_awaited(loop(), nothing)

        assert asyncio.run(cell()) is run_sync(loop(), nothing)

    def test_cancelling_it_cancels_the_work(self):
        unwound = threading.Event()

        async def work():
            try:
                await asyncio.sleep(30)
            finally:
                unwound.set()

        async def cell():
            running = asyncio.ensure_future(run_awaited(work(), nothing))
            await asyncio.sleep(0.1)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

        asyncio.run(cell())
        assert unwound.is_set()

    def test_it_may_be_awaited_inside_a_run(self):
        async def outer():
            return await run_awaited(giving(7), nothing)

        assert run_sync(outer(), nothing) == 7


class TestOnTheNotebooksLoop:
    def test_without_a_running_loop_it_says_so(self):
        with pytest.raises(ConfigError, match="no event loop is running here"):
            run_on_notebook_loop(giving(7), nothing)

    def test_it_runs_on_the_running_loop(self):
        # In a process of its own: nest-asyncio patches asyncio for good.
        code = """
import asyncio
from holodeck_nb.sync import run_on_notebook_loop
async def loop(): return asyncio.get_running_loop()
async def cell():
    ticks = []
    assert run_on_notebook_loop(loop(), lambda: ticks.append(1)) is asyncio.get_running_loop()
    print(len(ticks))
asyncio.run(cell())
"""
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
        )
        assert done.stdout == "1\n"

    def test_a_foreign_loop_is_refused_by_name(self, monkeypatch):
        async def cell():
            running = asyncio.get_running_loop()
            monkeypatch.setattr("asyncio.BaseEventLoop", type("Other", (), {}))
            assert running is not None
            run_on_notebook_loop(giving(7), nothing)

        with pytest.raises(ConfigError, match="does not let a running loop be entered again"):
            asyncio.run(cell())
