"""Sessions that hang, die, answer late, swallow their cancellation or lie: each costs its own turn."""

import asyncio
import threading
import time

import pytest

from holodeck_nb.backends.base import Reply
from holodeck_nb.backends.callables import CallableBackend
from holodeck_nb.backends.function_tools import FunctionTools
from holodeck_nb.backends.scripted import ScriptedBackend
from holodeck_nb.errors import RunStoppedError, SessionLostError, TurnError
from holodeck_nb.results.records import ToolInvocation

EQUALITY = {"type": "equality"}
LIMIT = 0.08


def conversation(*truths, name="a"):
    turns = [{"input": f"u{i}", **({"ground_truth": t} if t else {})} for i, t in enumerate(truths)]
    return {"name": name, "turns": turns}


def statuses(case):
    return [turn.status for turn in case.turns]


class Backend:
    """One session a case, made by `session(context)`; keeps them all."""

    def __init__(self, session):
        self.session = session
        self.sessions = []

    async def create_session(self, context):
        self.sessions.append(self.session(context))
        return self.sessions[-1]


class Session:
    """Answers `x`; what it does first on turn n is told by `steps[n]`."""

    def __init__(self, *steps):
        self.steps = dict(enumerate(steps))
        self.heard = []
        self.closed = 0

    async def send(self, message):
        self.heard.append(message.text)
        step = self.steps.get(len(self.heard) - 1)
        value = await step(self) if step else None
        return value or Reply("x")

    async def close(self):
        self.closed += 1


async def hang(session):
    await asyncio.sleep(600)


async def swallow(session):
    """Will not be cancelled at once."""
    for _ in range(2):
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            continue


async def answer_late(session):
    """Turns its cancellation into a reply."""
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        return Reply("too late")


async def fail_late(session):
    """Turns its cancellation into an error of its own."""
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError as error:
        raise SessionLostError("closed while waiting") from error


async def cancel_itself(session):
    raise asyncio.CancelledError


class TestEveryPointOfATurn:
    @pytest.mark.parametrize("step", [hang, swallow, answer_late, fail_late], ids=lambda step: step.__name__)
    def test_a_turn_that_takes_too_long_is_an_error_and_the_next_is_played(self, play, step):
        backend = Backend(lambda context: Session(None, step))
        run = play([conversation("x", "x", "x")], backend, metrics=[EQUALITY], llm_timeout=LIMIT)
        [case] = run.cases
        assert statuses(case) == ["passed", "error", "passed"]
        assert case.turns[1].error == f"timeout: no reply within {LIMIT:g} s (execution.llm_timeout)"
        assert (case.turns[1].response, case.turns[1].metrics, case.turns[1].tool_checks) == (None, (), None)
        [session] = backend.sessions
        assert (session.heard, session.closed) == (["u0", "u1", "u2"], 1)

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_whichever_turn_it_is(self, play, place):
        steps = [None] * 3
        steps[place] = hang
        run = play([conversation("x", "x", "x")], Backend(lambda context: Session(*steps)), llm_timeout=LIMIT)
        wanted = ["passed"] * 3
        wanted[place] = "error"
        assert statuses(run.cases[0]) == wanted

    def test_during_a_blocking_tool(self, play):
        gate = threading.Event()

        def lookup(row: str) -> int:
            if row == "slow":
                gate.wait(30)
            return 1

        slow = [{"name": "lookup", "args": {"row": "quick"}}, {"name": "lookup", "args": {"row": "slow"}}]
        script = {"a": [{"text": "1", "tool_calls": slow}, {"text": "2", "tool_calls": slow[:1]}]}
        run = play([conversation("1", "2")], script, tools=FunctionTools.of([lookup]), llm_timeout=LIMIT)
        gate.set()
        first, second = run.cases[0].turns
        assert (first.status, second.status) == ("error", "passed")
        assert [(call.args["row"], call.result) for call in first.tool_calls] == [("quick", 1)]
        assert [(call.args["row"], call.result) for call in second.tool_calls] == [("quick", 1)]

    def test_during_an_async_tool(self, play):
        seen = []

        async def lookup() -> int:
            try:
                await asyncio.sleep(600)
            finally:
                seen.append("cancelled")
            return 1

        script = {"a": [{"tool_calls": [{"name": "lookup"}]}, "x"]}
        run = play([conversation("x", "x")], script, tools=FunctionTools.of([lookup]), llm_timeout=LIMIT)
        assert statuses(run.cases[0]) == ["error", "passed"]
        assert (seen, run.cases[0].turns[0].tool_calls) == (["cancelled"], ())

    def test_the_limit_is_for_the_turn_as_a_whole(self, play):
        async def lookup() -> int:
            await asyncio.sleep(LIMIT / 2)
            return 1

        script = {"a": [{"tool_calls": [{"name": "lookup"}] * 6}]}
        run = play([conversation("x")], script, tools=FunctionTools.of([lookup]), llm_timeout=LIMIT)
        [turn] = run.cases[0].turns
        assert turn.status == "error"
        assert len(turn.tool_calls) < 6

    def test_a_session_that_cancels_itself_is_a_fault_of_its_turn(self, play):
        cases = [conversation("x", "x"), conversation("x", name="b")]
        run = play(
            cases, Backend(lambda context: Session(cancel_itself) if context.case == "a" else Session())
        )
        assert [case.status for case in run.cases] == ["error", "passed"]
        assert statuses(run.cases[0]) == ["error", "passed"]
        assert run.cases[0].turns[0].error == "CancelledError: it cancelled itself"

    def test_what_had_been_done_is_kept_only_on_its_own_turn(self, play):
        async def half(session):
            session.partial = Reply("", (ToolInvocation("lookup", {"row": 1}, 5),))
            await asyncio.sleep(600)

        async def nothing(session):
            session.partial = None
            await asyncio.sleep(600)

        backend = Backend(lambda context: Session(half, nothing, None))
        first, second, third = play([conversation("", "", "x")], backend, llm_timeout=LIMIT).cases[0].turns
        assert [call.name for call in first.tool_calls] == ["lookup"]
        assert (second.tool_calls, third.tool_calls) == ((), ())


class TestGradersInTheirTime:
    def test_a_grader_that_hangs_does_not_eat_the_turns_after_it(self, play):
        gate = threading.Event()

        def hanging(context):
            return gate.wait(30) if context.turn_index == 0 else True

        run = play(
            [conversation("x", "x")],
            {"a": ["x", "x"]},
            metrics=[{"type": "code", "grader": hanging}],
            grader_timeout=LIMIT,
        )
        gate.set()
        assert [turn.metrics[0].status for turn in run.cases[0].turns] == ["error", "passed"]

    def test_an_async_grader_that_swallows_its_cancellation(self, play):
        async def hanging(context):
            await swallow(None)
            return True

        run = play(
            [conversation("x")],
            {"a": ["x"]},
            metrics=[{"type": "code", "grader": hanging}, EQUALITY],
            grader_timeout=LIMIT,
        )
        assert [metric.status for metric in run.cases[0].turns[0].metrics] == ["error", "passed"]

    def test_a_broken_grader_ends_nothing_unless_it_is_asked_to(self, play):
        def broken(context):
            raise ValueError("no row")

        for ends, wanted in ((False, ["failed", "failed"]), (True, ["failed", "skipped"])):
            metric = {"type": "code", "grader": broken, "fail_on_error": ends}
            run = play([conversation("x", "x")], {"a": ["x", "x"]}, metrics=[metric])
            assert statuses(run.cases[0]) == wanted


class TestLost:
    @pytest.mark.parametrize("place", [0, 1, 3])
    def test_the_rest_is_skipped_and_nothing_more_is_sent(self, play, place):
        async def lose(session):
            raise SessionLostError("connection reset")

        backend = Backend(lambda context: Session(*[None] * place, lose))
        run = play([conversation("x", "x", "x", "x")], backend, metrics=[EQUALITY])
        [case] = run.cases
        assert statuses(case) == ["passed"] * place + ["error"] + ["skipped"] * (3 - place)
        assert {t.skip_reason for t in case.turns[place + 1 :]} <= {
            f"the session was lost on turn {place}: connection reset"
        }
        assert backend.sessions[0].heard == [f"u{n}" for n in range(place + 1)]
        assert backend.sessions[0].closed == 1
        assert case.usage is None

    def test_each_case_tells_its_own_reason(self, play):
        def session(context):
            async def lose(session):
                raise SessionLostError(f"lost {context.case}")

            return Session(lose)

        cases = [conversation("x", "x", name=f"c{n}") for n in range(8)]
        for case in play(cases, Backend(session), parallel=8).cases:
            assert case.turns[0].error == f"lost {case.name}"
            assert case.turns[1].skip_reason == f"the session was lost on turn 0: lost {case.name}"

    def test_a_run_that_is_stopped_skips_every_unplayed_turn_with_the_reason(self, play):
        async def stop(session):
            raise RunStoppedError("model 'gpt-9' is unknown")

        def session(context):
            return Session(stop) if context.index == 2 else Session()

        cases = [conversation("x", "x", name=f"c{n}") for n in range(6)]
        run = play(cases, Backend(session))
        assert [case.status for case in run.cases] == ["passed", "passed", "error", *["skipped"] * 3]
        reasons = {turn.skip_reason for case in run.cases[2:] for turn in case.turns if turn.skip_reason}
        assert reasons == {"model 'gpt-9' is unknown"}

    def test_whatever_cannot_be_a_session_is_the_first_turns_error(self, play):
        class Giving:
            async def create_session(self, context):
                return None

        run = play([conversation("x", "x")], Giving())
        assert statuses(run.cases[0]) == ["error", "skipped"]
        assert "create_session returned None" in run.cases[0].turns[0].error

    @pytest.mark.parametrize("reply", [None, 5, {"text": "x"}, Reply(None), Reply("x", (1,)), b"x"])
    def test_a_reply_of_the_wrong_kind_is_an_error_of_its_turn(self, play, reply):
        async def odd(session):
            return reply

        class Odd(Session):
            async def send(self, message):
                await super().send(message)
                return reply if message.text == "u0" else Reply("x")

        run = play([conversation("x", "x")], Backend(lambda context: Odd()), metrics=[EQUALITY])
        assert statuses(run.cases[0]) == ["error", "passed"]
        assert "the agent returned" in run.cases[0].turns[0].error

    def test_an_error_whose_text_cannot_be_had(self, play):
        class MuteError(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        async def fail(session):
            raise MuteError

        run = play([conversation("x", "x")], Backend(lambda context: Session(fail)))
        assert statuses(run.cases[0]) == ["error", "passed"]
        assert "MuteError" in run.cases[0].turns[0].error


class TestHistory:
    """What the agent is told of a conversation in which a turn broke off."""

    def test_of_a_function(self, play):
        gate = threading.Event()
        seen = []

        def agent(text, conversation):
            seen.append([(m["role"], m["content"]) for m in conversation.history])
            if text == "u1":
                gate.wait(30)
                return "late"
            if text == "u2":
                raise TurnError("502")
            return f"to {text}"

        run = play([conversation("", "", "", "")], CallableBackend(agent), llm_timeout=0.3)
        gate.set()
        assert statuses(run.cases[0]) == ["passed", "error", "error", "passed"]
        user = [("user", f"u{n}") for n in range(3)]
        assert seen == [
            [],
            [user[0], ("assistant", "to u0")],
            [user[0], ("assistant", "to u0"), user[1]],
            [user[0], ("assistant", "to u0"), user[1], user[2]],
        ]

    def test_of_a_script(self, play):
        backend = ScriptedBackend({"a": ["a0", {"text": "never", "delay_s": 600}, "a2"]})
        play([conversation("", "", "")], backend, llm_timeout=LIMIT)
        assert backend.history["a"] == [["u0"], ["u0", "a0", "u1"], ["u0", "a0", "u1", "u2"]]

    def test_a_reply_that_comes_after_its_turn_is_nobodys(self, play):
        gate, answered = threading.Event(), threading.Event()

        def agent(text, conversation):
            if text == "u0":
                gate.wait(30)
                answered.set()
                return "late"
            gate.set()
            answered.wait(30)
            time.sleep(0.02)  # the late reply is on its way to the loop
            return " ".join(m["content"] for m in conversation.history)

        run = play([conversation("", "", "")], CallableBackend(agent), llm_timeout=0.3)
        assert [turn.response for turn in run.cases[0].turns] == [None, "u0", "u0 u1 u0"]


class TestManyAtOnce:
    def test_64_cases_and_not_a_word_crosses(self, play):
        """Each agent says what it has heard; tools, graders and replies of 64 cases run at once."""
        together = asyncio.Barrier(64)

        def tool(word: str) -> str:
            return word[::-1]

        class Gossip(Session):
            def __init__(self, context):
                super().__init__()
                self.context = context

            async def send(self, message):
                if not self.heard:
                    await together.wait()
                self.heard.append(message.text)
                call = await self.context.tools.run("tool", {"word": self.context.case})
                return Reply(" ".join(self.heard), (call,))

        def grade(context):
            name = context.test_case_name
            own = all(word.startswith(name) for word in context.agent_response.split())
            [call] = context.tool_invocations
            return own and call.args["word"] == name and call.result == name[::-1]

        cases = [
            {
                "name": f"case-{n:02}",
                "turns": [
                    {
                        "input": f"case-{n:02}/{turn}",
                        "expected_tools": [{"name": "tool", "args": {"word": f"case-{n:02}"}}],
                    }
                    for turn in range(5)
                ],
            }
            for n in range(64)
        ]
        run = play(
            cases,
            Backend(Gossip),
            metrics=[{"type": "code", "grader": grade}],
            parallel=64,
            tools=FunctionTools.of([tool]),
        )
        assert [case.name for case in run.cases] == [case["name"] for case in cases]
        assert [case.reason for case in run.cases if not case.passed] == []
        said = [turn.response.split()[-1] for case in run.cases for turn in case.turns]
        assert said == [turn["input"] for case in cases for turn in case["turns"]]
        assert all(session.closed == 1 for session in run.backend.sessions)

    def test_half_of_64_time_out_and_the_others_do_not_notice(self, play):
        def session(context):
            return Session(hang if context.index % 2 else None)

        cases = [conversation("x", "x", name=f"c{n}") for n in range(64)]
        run = play(cases, Backend(session), metrics=[EQUALITY], parallel=64, llm_timeout=0.5)
        wanted = [["error" if n % 2 else "passed", "passed"] for n in range(64)]
        assert [statuses(case) for case in run.cases] == wanted

    def test_the_same_run_twice_gives_equal_results(self, play):
        script = {f"c{n}": [{"text": "x", "delay_s": 0.001 * (n % 5)}, "y"] for n in range(20)}
        cases = [conversation("x", "x", name=name) for name in script]

        def facts(parallel):
            run = play(cases, script, metrics=[EQUALITY], parallel=parallel)
            return [
                (case.name, turn.status, turn.response, turn.reason, [(m.id, m.score) for m in turn.metrics])
                for case in run.cases
                for turn in case.turns
            ]

        assert facts(1) == facts(20) == facts(7)
