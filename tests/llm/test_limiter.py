import asyncio
import time

from holodeck_nb.llm.limiter import Limiter, shared_limiter


def test_older_turns_go_first():
    async def order():
        limiter = Limiter(most_at_once=1)
        done = []

        async def one(age):
            async with limiter.slot(age):
                done.append(age)
                await asyncio.sleep(0)

        async with limiter.slot(0):
            tasks = [asyncio.create_task(one(age)) for age in (3, 1, 2)]
            await asyncio.sleep(0.01)
            assert done == []
        await asyncio.gather(*tasks)
        return done

    assert asyncio.run(order()) == [1, 2, 3]


def test_a_refusal_halves_what_goes_at_once_and_answers_bring_it_back():
    async def story():
        limiter = Limiter()
        sent = []
        for age in range(8):
            slot = limiter.slot(age)
            sent.append((slot, await slot.__aenter__()))
        assert limiter.refused(sent[0][1], 0.02) is False
        assert limiter.refused(sent[1][1], 0.02) is True  # it was under way already
        assert limiter._at_once == 4
        for slot, _ in sent:
            await slot.__aexit__(None, None, None)
        began = time.monotonic()
        async with limiter.slot(9):
            assert time.monotonic() - began > 0.01
        for _ in range(200):
            limiter.answered()
        assert limiter._interval_s == 0
        return limiter._at_once

    assert asyncio.run(story()) == float("inf")


def test_who_gives_up_waiting_leaves_no_trace():
    async def story():
        limiter = Limiter(most_at_once=1)

        async def one():
            async with limiter.slot(1):
                await asyncio.sleep(1)

        async with limiter.slot(0):
            waiting = [asyncio.create_task(one()) for _ in range(3)]
            await asyncio.sleep(0.01)
            waiting[0].cancel()
            await asyncio.sleep(0)
        # The second was let in at this moment; it gives up as well.
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        async with asyncio.timeout(1), limiter.slot(2):
            return limiter._in_flight

    assert asyncio.run(story()) == 1


def test_one_limiter_a_place_and_loop():
    async def story():
        first = shared_limiter("openai", "a")
        assert shared_limiter("openai", "a") is first
        assert shared_limiter("openai", "b") is not first
        return first

    assert asyncio.run(story()) is not asyncio.run(story())
