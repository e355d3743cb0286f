"""Sessions, order, limits, statuses, skips: the road of a run."""

import asyncio
import threading
import time

import pytest

from holodeck_nb.backends.base import Message, Reply
from holodeck_nb.backends.callables import CallableBackend
from holodeck_nb.errors import RunStoppedError, SessionLostError, TurnError
from holodeck_nb.results.events import CaseFinished, CaseStarted, RunFinished, RunStarted, TurnFinished
from holodeck_nb.results.records import TokenUsage
from holodeck_nb.sync import UserCodeExit

EQUALITY = {"type": "equality"}
NUMERIC = {"type": "numeric"}


def turns(*truths, **common):
    """A case of several turns, each with its ground truth."""
    return {
        "turns": [{"input": f"u{i}", **({"ground_truth": t} if t else {})} for i, t in enumerate(truths)],
        **common,
    }


def statuses(case):
    return [turn.status for turn in case.turns]


class Session:
    """A session made of a function; notes what is done to it."""

    def __init__(self, answer, log):
        self.answer = answer
        self.log = log

    async def send(self, message: Message) -> Reply:
        self.log.append(f"send {message.text}")
        return await self.answer(message)

    async def close(self):
        self.log.append("close")


class Backend:
    """Opens Sessions, one log for all; `answer` is async."""

    def __init__(self, answer, open_=None):
        self.answer = answer
        self.open = open_
        self.log = []

    async def create_session(self, context):
        self.log.append(f"open {context.case}")
        if self.open is not None:
            await self.open(context)
        return Session(self.answer, self.log)


async def echo(message):
    return Reply(message.text)


class TestOrder:
    def test_one_session_a_case_turns_in_order_and_closed_at_the_end(self, play):
        backend = Backend(echo)
        play([{"name": "a", **turns("", "")}, {"name": "b", "input": "once"}], backend)
        assert backend.log == ["open a", "send u0", "send u1", "close", "open b", "send once", "close"]

    def test_a_single_turn_case_takes_the_same_path(self, play):
        run = play([{"input": "u", "ground_truth": "x"}], {"#0": ["x"]}, metrics=[EQUALITY])
        [case] = run.cases
        assert (case.name, case.given_name, case.multi_turn, case.passed) == ("case 1", None, False, True)

    def test_results_keep_the_suites_order_whatever_finishes_first(self, play):
        script = {"z": [{"delay_s": 0.06}], "a": [{"delay_s": 0.03}], "m": [{}]}
        run = play([{"name": name, "input": "u"} for name in script], script, parallel=3)
        assert [case.name for case in run.cases] == ["z", "a", "m"]
        finished = [event.result.name for event in run.events if isinstance(event, CaseFinished)]
        assert finished == ["m", "a", "z"]

    @pytest.mark.parametrize("parallel", [1, 3, 100])
    def test_at_most_so_many_cases_at_once(self, play, parallel):
        running, most = set(), []

        async def answer(message):
            running.add(message.text)
            most.append(len(running))
            await asyncio.sleep(0.005)
            running.discard(message.text)
            return Reply("")

        play([{"input": f"u{i}"} for i in range(6)], Backend(answer), parallel=parallel)
        assert max(most) == min(parallel, 6)

    def test_events_tell_the_story(self, play):
        run = play([{"name": "a", **turns("", "")}], {"a": ["x", "y"]})
        assert [type(event) for event in run.events] == [
            RunStarted, CaseStarted, TurnFinished, TurnFinished, CaseFinished, RunFinished
        ]  # fmt: skip
        assert (run.events[0].cases, run.events[0].turns) == (1, 2)
        assert [event.result.response for event in run.events if isinstance(event, TurnFinished)] == [
            "x",
            "y",
        ]
        assert run.events[-1].result is run.result

    def test_conversations_do_not_mix_when_cases_run_at_once(self, play):
        def agent(text, conversation):
            seen = [message["content"] for message in conversation.history]
            return "ok" if not seen else seen[0].split()[-1]

        cases = [
            {
                "name": f"k{i}",
                "turns": [{"input": f"code is C{i}"}, {"input": "what code?", "ground_truth": f"C{i}"}],
            }
            for i in range(64)
        ]
        run = play(cases, CallableBackend(agent), metrics=[EQUALITY], parallel=64)
        assert all(case.passed for case in run.cases)


class TestLimits:
    def test_a_slow_turn_is_an_error_and_the_next_one_is_played(self, play):
        script = {"a": [{"delay_s": 30}, "x"]}
        run = play([{"name": "a", **turns("x", "x")}], script, metrics=[EQUALITY], llm_timeout=0.05)
        [case] = run.cases
        assert statuses(case) == ["error", "passed"]
        assert case.turns[0].error == "timeout: no reply within 0.05 s (execution.llm_timeout)"
        assert case.turns[0].metrics == ()
        assert case.turns[0].response is None
        assert case.status == "error"

    def test_blocking_code_stalls_neither_the_limit_nor_other_cases(self, play):
        release = threading.Event()

        def agent(text):
            if text == "block":
                release.wait(20)
            return "x"

        cases = [{"name": "block", "input": "block"}, {"name": "quick", "input": "u"}]
        started = time.monotonic()
        run = play(cases, CallableBackend(agent), llm_timeout=0.2, parallel=2)
        elapsed = time.monotonic() - started
        release.set()
        assert [case.status for case in run.cases] == ["error", "passed"]
        assert run.cases[1].turns[0].duration_ms < run.cases[0].turns[0].duration_ms
        assert elapsed < 10

    def test_a_late_reply_is_dropped(self, play):
        async def answer(message):
            if message.text == "u0":
                await asyncio.sleep(30)
            return Reply(f"to {message.text}")

        run = play([{"name": "a", **turns("", "")}], Backend(answer), llm_timeout=0.05)
        assert [turn.response for turn in run.cases[0].turns] == [None, "to u1"]

    def test_tools_that_had_finished_are_kept(self, play):
        script = {"a": [{"tool_calls": [{"name": "lookup", "result": 1}], "delay_s": 30}]}
        run = play([{"name": "a", **turns("")}], script, llm_timeout=0.05)
        assert [call.name for call in run.cases[0].turns[0].tool_calls] == ["lookup"]

    def test_a_session_that_will_not_close_costs_a_warning(self, play, monkeypatch):
        monkeypatch.setattr("holodeck_nb.engine.casework.CLOSE_TIMEOUT_S", 0.05)

        class Stubborn(Session):
            async def close(self):
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    await asyncio.sleep(60)

        class Opening(Backend):
            async def create_session(self, context):
                return Stubborn(echo, self.log)

        run = play([{"name": "a", "input": "u"}, {"name": "b", "input": "u"}], Opening(echo))
        assert [case.passed for case in run.cases] == [True, True]
        texts = [(warning.case, warning.text) for warning in run.result.warnings if warning.case]
        assert texts == [("a", "the session did not close within 0.05 s and was left to itself")]

    def test_a_session_that_fails_to_close_costs_a_warning(self, play):
        class Failing(Session):
            async def close(self):
                raise OSError("already closed")

        class Opening(Backend):
            async def create_session(self, context):
                return Failing(echo, self.log)

        run = play([{"name": "a", "input": "u"}], Opening(echo))
        assert run.cases[0].passed
        assert run.result.warnings[0].text == "closing the session failed: OSError: already closed"


def failing(error):
    """Answers, but raises `error` on the second turn."""

    async def answer(message):
        if message.text == "u1":
            raise error
        return Reply("x")

    return answer


FAULTS = [
    # raised on turn 1              its error                             the later turns
    (TurnError("502 from fx"),      "502 from fx",                        "passed"),
    (RuntimeError("boom"),          "RuntimeError: boom",                 "passed"),
    (TimeoutError("theirs"),        "TimeoutError: theirs",               "passed"),
    (SystemExit(3),                 "SystemExit: 3",                      "passed"),
    (SessionLostError("gone"),      "gone",                               "skipped"),
    (RunStoppedError("key refused"), "key refused",                       "skipped"),
]  # fmt: skip

OPENING = [
    (RuntimeError("no seat"), "the session could not be opened: RuntimeError: no seat"),
    (SessionLostError("no seat"), "the session could not be opened: no seat"),
]


class TestFaults:
    @pytest.mark.parametrize(("fault", "error", "later"), FAULTS)
    def test_a_fault_is_this_turns_result(self, play, fault, error, later):
        run = play([{"name": "a", **turns("x", "x", "x", "x")}], Backend(failing(fault)), metrics=[EQUALITY])
        [case] = run.cases
        assert statuses(case) == ["passed", "error", later, later]
        assert case.turns[1].error == error
        assert case.status == "error"

    def test_a_lost_session_skips_the_later_turns_with_the_reason(self, play):
        cases = [
            {"name": "dead", **turns("x", "x", "x")},
            {"name": "alive", "input": "u0", "ground_truth": "x"},
        ]
        run = play(cases, Backend(failing(SessionLostError("gone"))), metrics=[EQUALITY])
        dead, alive = run.cases
        assert dead.turns[2].skip_reason == "the session was lost on turn 1: gone"
        assert (dead.turns[2].metrics, dead.metrics["equality"].mean, dead.metrics["equality"].n) == (
            (),
            1.0,
            1,
        )
        assert alive.passed
        assert run.backend.log.count("close") == 2

    def test_a_refused_key_stops_the_whole_run(self, play):
        backend = Backend(failing(RunStoppedError("key refused: set FIN_KEY")))
        run = play([{"name": "a", **turns("", "", "")}, {"name": "b", "input": "u"}], backend)
        assert [statuses(case) for case in run.cases] == [["passed", "error", "skipped"], ["skipped"]]
        assert run.cases[1].turns[0].skip_reason == "key refused: set FIN_KEY"
        assert (run.cases[1].status, run.result.stop_reason) == ("skipped", "key refused: set FIN_KEY")
        assert "open b" not in backend.log

    def test_turns_in_flight_end_when_the_run_stops(self, play):
        async def answer(message):
            if message.text == "bad":
                await asyncio.sleep(0.02)
                raise RunStoppedError("key refused")
            await asyncio.sleep(0.08)
            return Reply("x")

        run = play(
            [{"input": "bad"}, {"turns": [{"input": "good"}, {"input": "later"}]}],
            Backend(answer),
            parallel=2,
        )
        assert [statuses(case) for case in run.cases] == [["error"], ["passed", "skipped"]]

    @pytest.mark.parametrize(("fault", "error"), OPENING)
    def test_a_session_that_cannot_be_opened(self, play, fault, error):
        async def open_(context):
            if context.case == "b":
                raise fault

        cases = [{"name": name, **turns("x", "x")} for name in "abc"]
        run = play(cases, Backend(echo, open_))
        assert [case.status for case in run.cases] == ["passed", "error", "passed"]
        first, second = run.cases[1].turns
        assert (first.error, second.status, second.skip_reason) == (
            error,
            "skipped",
            "the session could not be opened",
        )

    def test_a_session_that_takes_too_long_to_open(self, play):
        async def open_(context):
            await asyncio.sleep(30)

        run = play([{"name": "a", "input": "u"}], Backend(echo, open_), llm_timeout=0.05)
        expected = "the session could not be opened: timeout after 0.05 s (execution.llm_timeout)"
        assert run.cases[0].turns[0].error == expected

    def test_a_key_refused_while_opening_stops_the_run(self, play):
        async def open_(context):
            raise RunStoppedError("key refused")

        run = play([{"name": "a", "input": "u"}, {"name": "b", "input": "u"}], Backend(echo, open_))
        assert [case.status for case in run.cases] == ["error", "skipped"]
        assert run.result.stop_reason == "key refused"

    def test_keyboard_interrupt_in_user_code_interrupts_the_run(self, play):
        with pytest.raises(UserCodeExit) as caught:
            play([{"name": "a", **turns("", "", "")}], Backend(failing(KeyboardInterrupt())))
        assert caught.value.is_interrupt

    def test_a_session_may_be_made_of_plain_functions(self, play):
        class PlainSession:
            def send(self, message):
                return Reply(threading.current_thread().name)

            def close(self):
                pass

        class PlainBackend:
            def create_session(self, context):
                return PlainSession()

        run = play([{"name": "a", "input": "u"}], PlainBackend())
        assert run.cases[0].turns[0].response == "holodeck-user-code"


class TestJudging:
    def test_everything_the_reply_tells_is_in_the_result(self, play):
        usage = TokenUsage(prompt_tokens=180, completion_tokens=12)

        async def answer(message):
            return Reply(
                "x",
                usage=usage,
                cost_usd=0.01,
                model="m",
                finish_reason="length",
                refused=True,
                truncated=True,
            )

        [turn] = play([{"input": "u"}], Backend(answer)).cases[0].turns
        told = (turn.usage, turn.cost_usd, turn.model, turn.finish_reason, turn.refused, turn.truncated)
        assert told == (usage, 0.01, "m", "length", True, True)
        assert turn.started_at.utcoffset().total_seconds() == 0
        assert turn.duration_ms >= 0

    def test_an_empty_reply_is_a_reply(self, play):
        run = play([{"name": "a", "input": "u", "ground_truth": "42"}], {"a": [""]}, metrics=[NUMERIC])
        [turn] = run.cases[0].turns
        assert (turn.response, turn.status, turn.metrics[0].score) == ("", "failed", 0.0)

    def test_a_turns_tools_are_its_own(self, play):
        cases = [
            {
                "name": "a",
                "turns": [
                    {"input": "u", "expected_tools": ["add"]},
                    {"input": "u", "expected_tools": ["sub"]},
                ],
            }
        ]
        script = {"a": [{"tool_calls": [{"name": "add", "result": 1}, {"name": "sub", "result": 1}]}, "none"]}
        first, second = play(cases, script).cases[0].turns
        assert (first.status, second.status) == ("passed", "failed")
        assert second.reason == "sub: never called (no tool was called)"

    def test_a_failed_turn_does_not_stop_the_next_one(self, play):
        run = play([{"name": "a", **turns("x", "x")}], {"a": ["y", "x"]}, metrics=[EQUALITY])
        assert statuses(run.cases[0]) == ["failed", "passed"]

    def test_the_narrowest_metrics_win_whole(self, play):
        cases = [
            {
                "name": "a",
                "evaluations": [NUMERIC],
                "turns": [
                    {"input": "u", "ground_truth": "1"},
                    {"input": "u", "ground_truth": "1", "evaluations": [EQUALITY]},
                    {"input": "u", "ground_truth": "1", "evaluations": []},
                ],
            },
            {"name": "b", "input": "u", "ground_truth": "1"},
        ]
        script = {"a": ["1", "1", "1"], "b": ["1"]}
        run = play(cases, script, metrics=[EQUALITY, NUMERIC])
        ids = [[metric.id for metric in turn.metrics] for case in run.cases for turn in case.turns]
        assert ids == [["numeric"], ["equality"], [], ["equality", "numeric"]]

    def test_one_turns_setting_does_not_judge_another(self, play):
        loose = {"type": "numeric", "absolute_tolerance": 0.5}
        cases = [
            {"name": "loose", "input": "u", "ground_truth": "1", "evaluations": [loose]},
            {"name": "strict", "input": "u", "ground_truth": "1"},
        ]
        run = play(cases, {"loose": ["1.4"], "strict": ["1.4"]}, metrics=[NUMERIC])
        assert [case.passed for case in run.cases] == [True, False]

    def test_turns_with_the_same_metrics_share_them(self, play):
        run = play([{"name": "a", **turns("1", "1")}], {"a": ["1", "1"]}, metrics=[NUMERIC])
        first, second = run.record.plan.cases[0].turns
        assert first.metrics is second.metrics

    def test_fail_on_error_ends_the_case_and_keeps_the_turn(self, play):
        def grade(context):
            raise ValueError("no row")

        cases = [
            {"name": "a", **turns("x", "x")},
            {"name": "b", "input": "u", "ground_truth": "x", "evaluations": [EQUALITY]},
        ]
        grader = {"type": "code", "grader": grade, "fail_on_error": True}
        script = {"a": [{"text": "x", "tool_calls": [{"name": "t", "result": 1}]}, "x"], "b": ["x"]}
        run = play(cases, script, metrics=[grader])
        first, second = run.cases[0].turns
        assert (first.response, first.tool_calls[0].name, first.metrics[0].status) == ("x", "t", "error")
        assert second.status == "skipped"
        assert "grade" in second.skip_reason
        assert "no row" in second.skip_reason
        assert run.cases[1].passed

    def test_the_grader_sees_the_turn(self, play):
        seen = []

        def grade(context):
            seen.append(context)
            return True

        cases = [
            {
                "name": "a",
                "turns": [
                    {"input": "u", "ground_truth": "x", "retrieval_context": ["p"], "turn_config": {"k": 1}}
                ],
            }
        ]
        script = {"a": [{"text": "y", "tool_calls": [{"name": "t", "args": {"a": 1}, "result": 2}]}]}
        play(cases, script, metrics=[{"type": "code", "grader": grade}])
        [context] = seen
        assert (context.turn_input, context.agent_response, context.ground_truth) == ("u", "y", "x")
        assert (context.turn_index, context.test_case_name) == (0, "a")
        assert context.retrieval_context == ("p",)
        assert context.turn_config["k"] == 1
        assert context.tool_invocations[0].args["a"] == 1


class TestPatterns:
    def test_a_runaway_pattern_fails_its_turn_and_others_keep_running(self, play):
        runaway = {"name": "t", "args": {"a": {"regex": "(a|a|aa)+b"}}}
        cases = [
            {"name": "slow", "input": "u", "expected_tools": [runaway]},
            *({"name": f"q{i}", "input": "u"} for i in range(20)),
        ]
        script = {"slow": [{"tool_calls": [{"name": "t", "args": {"a": "a" * 60}, "result": 1}]}]}
        script |= {f"q{i}": [{"delay_s": 0.01}] for i in range(20)}
        run = play(cases, script, parallel=2)
        assert [case.passed for case in run.cases] == [False] + [True] * 20
        finished = [event.result.name for event in run.events if isinstance(event, CaseFinished)]
        assert finished[-1] == "slow"
        assert "took longer than 1 s" in run.cases[0].reason


class TestWarnings:
    def test_turns_with_nothing_asserted_are_counted(self, play):
        cases = [{"name": "a", **turns("", "x", "")}]
        run = play(cases, {"a": ["x", "x", "x"]}, metrics=[EQUALITY])
        assert run.cases[0].passed
        assert [warning.text for warning in run.result.warnings] == [
            "2 turns passed because nothing is asserted: no expected tools, and no metric gave a verdict"
        ]

    def test_a_name_that_fits_inside_a_word_is_said_once(self, play):
        call = {"tool_calls": [{"name": "address_lookup", "result": 1}]}
        cases = [{"name": "a", "turns": [{"input": "u", "expected_tools": ["add"]}] * 2}]
        run = play(cases, {"a": [call, call]})
        [warning] = run.result.warnings
        assert (warning.case, warning.turn) == ("a", 0)
        assert "'add'" in warning.text
        assert "'address_lookup'" in warning.text


class TestRecord:
    def test_it_is_readable_at_any_moment(self, play):
        records, seen = [], []

        async def answer(message):
            seen.append([turn.status for turn in records[0].result().cases[0].turns])
            return Reply("x")

        play([{"name": "a", **turns("", "")}], Backend(answer), on_record=records.append)
        assert seen == [["skipped", "skipped"], ["passed", "skipped"]]

    def test_an_empty_suite_is_an_empty_run(self, play):
        run = play([], {})
        assert run.cases == ()
        assert run.result.summary.pass_rate is None

    def test_the_environment_is_text(self, play):
        environment = play([{"input": "u"}], {"#0": ["x"]}).result.environment
        assert {"python_version", "os", "holodeck_nb_version"} <= set(environment)
        assert all(isinstance(value, str) for value in environment.values())
