"""User code that blocks runs in daemon threads of our own."""

import asyncio
import contextvars
import subprocess
import sys
import threading
import time

import pytest

from holodeck_nb.threads import UserCodeExit, in_thread


def test_it_returns_what_the_function_returns():
    assert asyncio.run(in_thread(lambda a, b: a - b, 5, b=3)) == 2


def test_an_exception_arrives_as_it_is():
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_thread(lambda: 1 / 0))


def raising(error):
    def function():
        raise error

    return function


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), StopIteration(1)], ids=repr
)
def test_what_would_end_the_loop_arrives_as_an_ordinary_exception(error):
    with pytest.raises(UserCodeExit) as caught:
        asyncio.run(in_thread(raising(error)))
    assert caught.value.original is error
    assert caught.value.is_interrupt is isinstance(error, KeyboardInterrupt)


def test_context_variables_go_along():
    variable = contextvars.ContextVar("variable")
    variable.set("here")
    assert asyncio.run(in_thread(variable.get)) == "here"


def test_many_blocking_calls_run_at_once():
    gate = threading.Barrier(50, timeout=10)

    async def main():
        return await asyncio.gather(*(in_thread(gate.wait) for _ in range(50)))

    assert sorted(asyncio.run(main())) == list(range(50))


def test_idle_threads_are_used_again():
    async def main():
        return {await in_thread(threading.get_ident) for _ in range(20)}

    assert len(asyncio.run(main())) == 1


def test_an_abandoned_call_delays_nobody():
    release = threading.Event()

    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await in_thread(release.wait, 30)
        return await in_thread(lambda: "next")

    started = time.monotonic()
    assert asyncio.run(main()) == "next"
    assert time.monotonic() - started < 10
    release.set()


def test_an_abandoned_call_does_not_keep_the_process():
    code = """
import asyncio, time
from holodeck_nb.threads import in_thread
async def main():
    try:
        async with asyncio.timeout(0.05):
            await in_thread(time.sleep, 60)
    except TimeoutError:
        print("on time")
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == "on time\n"
    assert done.stderr == ""
