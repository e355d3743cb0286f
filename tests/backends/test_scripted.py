"""The scripted agent: replies by case and turn, real tools, and what it was sent."""

import asyncio

import pytest

from holodeck_nb.backends.base import Message, Reply, SessionContext
from holodeck_nb.backends.function_tools import FunctionTools
from holodeck_nb.backends.scripted import ScriptedBackend
from holodeck_nb.errors import ConfigError, SessionLostError, TurnError
from holodeck_nb.results.records import TokenUsage


def subtract(a: float, b: float) -> float:
    return a - b


CASE = SessionContext(case="cash", index=0, tools=FunctionTools.of([subtract]))


def play(backend, *texts, context=CASE):
    """What comes back for each text: a Reply, or the error."""

    async def main():
        session = await backend.create_session(context)
        outcomes = []
        for text in texts:
            try:
                outcomes.append(await session.send(Message(text)))
            except TurnError as error:
                outcomes.append(error)
        await session.close()
        return outcomes

    return asyncio.run(main())


def test_replies_come_in_the_order_of_the_turns():
    assert play(ScriptedBackend({"cash": ["one", {"text": "two"}]}), "a", "b") == [Reply("one"), Reply("two")]


def test_a_case_is_found_by_name_or_by_place():
    backend = ScriptedBackend({"#1": ["by place"], "cash": ["by name"]})
    assert play(backend, "a")[0].text == "by name"
    assert play(backend, "a", context=SessionContext(case="case 2", index=1))[0].text == "by place"


def test_a_call_with_a_result_is_used_as_it_is():
    [reply] = play(
        ScriptedBackend({"cash": [{"tool_calls": [{"name": "fx", "args": {"a": 1}, "result": None}]}]}), "a"
    )
    [call] = reply.tool_calls
    assert (call.name, call.args, call.result, call.error) == ("fx", {"a": 1}, None, None)


def test_a_call_with_an_error_is_used_as_it_is():
    [reply] = play(ScriptedBackend({"cash": [{"tool_calls": [{"name": "subtract", "error": "down"}]}]}), "a")
    assert reply.tool_calls[0].error == "down"


def test_a_call_without_a_result_runs_the_real_tool():
    script = {"cash": [{"tool_calls": [{"name": "subtract", "args": {"a": 206588, "b": 181001}}]}]}
    [reply] = play(ScriptedBackend(script), "a")
    assert reply.tool_calls[0].result == 25587.0
    assert reply.tool_calls[0].duration_ms is not None


def test_a_call_of_a_tool_that_is_not_there_is_an_error_in_the_record():
    [reply] = play(ScriptedBackend({"cash": [{"text": "x", "tool_calls": [{"name": "add"}]}]}), "a")
    assert reply.tool_calls[0].error == "there is no tool 'add'; the suite's tools: subtract"


def test_everything_a_reply_may_say_arrives():
    said = {
        "text": "I cannot",
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "cache_read_tokens": 4},
        "model": "fake-1",
        "finish_reason": "length",
        "refused": True,
        "truncated": True,
    }
    [reply] = play(ScriptedBackend({"cash": [said]}), "a")
    assert reply == Reply(
        "I cannot",
        usage=TokenUsage(prompt_tokens=10, completion_tokens=2, total_tokens=12, cache_read_tokens=4),
        model="fake-1",
        finish_reason="length",
        refused=True,
        truncated=True,
    )


def test_a_script_may_fail_a_turn_and_go_on():
    first, second = play(ScriptedBackend({"cash": [{"raise_": "down"}, "up"]}), "a", "b")
    assert (type(first), str(first)) == (TurnError, "down")
    assert second.text == "up"


def test_a_fatal_failure_loses_the_session():
    [error] = play(ScriptedBackend({"cash": [{"raise_": "gone", "fatal": True}]}), "a")
    assert (type(error), str(error)) == (SessionLostError, "gone")


def test_a_script_that_runs_out_says_so():
    _, error = play(ScriptedBackend({"cash": ["one"]}), "a", "b")
    assert str(error) == "the script of case 'cash' ends after 1 replies"


def test_a_case_without_replies_says_so():
    [error] = play(ScriptedBackend({}), "a")
    assert str(error) == "the script has no replies for case 'cash'"


def test_it_keeps_what_was_sent_and_what_had_been_said():
    backend = ScriptedBackend({"cash": ["a1", {"raise_": "down"}, "a3"]})
    play(backend, "u1", "u2", "u3")
    assert backend.sent == {"cash": ["u1", "u2", "u3"]}
    assert backend.history == {"cash": [["u1"], ["u1", "a1", "u2"], ["u1", "a1", "u2", "u3"]]}


def test_a_second_run_begins_anew():
    backend = ScriptedBackend({"cash": ["one"]})
    assert play(backend, "a") == play(backend, "a")
    assert backend.sent == {"cash": ["a"]}


def test_finished_calls_of_a_turn_that_is_cut_off_are_kept():
    script = {"cash": [{"tool_calls": [{"name": "fx", "result": 1}], "delay_s": 30}]}

    async def main():
        session = await ScriptedBackend(script).create_session(CASE)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.send(Message("a")), 0.05)
        return session.partial

    assert [call.name for call in asyncio.run(main()).tool_calls] == ["fx"]


@pytest.mark.parametrize("waiting", [{"delay_s": 0.05}, {"blocking_sleep_s": 0.05}])
def test_waiting_leaves_the_loop_free(waiting):
    async def main():
        session = await ScriptedBackend({"cash": [waiting]}).create_session(CASE)
        answer = asyncio.ensure_future(session.send(Message("a")))
        beats = 0
        while not answer.done():
            beats += 1
            await asyncio.sleep(0.005)
        return beats

    assert asyncio.run(main()) >= 3


def test_replies_for_a_case_that_is_not_there_are_refused():
    with pytest.raises(ConfigError) as caught:
        ScriptedBackend({"cahs": ["one"], "#7": ["two"], "#0": ["three"]}).check_cases([CASE])
    assert str(caught.value) == (
        "2 problems\n"
        "the script has replies for 'cahs', which is no case of the suite\n    hint: its cases: 'cash'\n"
        "the script has replies for '#7', which is no case of the suite\n    hint: its cases: 'cash'"
    )


WRONG = [
    ({"cash": "one"}, "replies.cash"),
    ({"cash": [None]}, "replies.cash[0]"),
    ({"cash": [{"txt": "one"}]}, "replies.cash[0].txt"),
    ({"cash": [{"delay_s": -1}]}, "replies.cash[0].delay_s"),
    ({"cash": [{"tool_calls": [{"args": {}}]}]}, "replies.cash[0].tool_calls[0].name"),
    ({"cash": [{"usage": {"prompt_tokens": -1}}]}, "replies.cash[0].usage.prompt_tokens"),
    (
        {"cash": [{"usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 1}}]},
        "replies.cash[0].usage",
    ),
    ({"cash": [{"usage": {"tokens": 1}}]}, "replies.cash[0].usage.tokens"),
    ({"cash": [{"refused": "maybe"}]}, "replies.cash[0].refused"),
]


@pytest.mark.parametrize(("replies", "place"), WRONG, ids=[place for _, place in WRONG])
def test_a_wrong_script_is_refused_with_its_place(replies, place):
    with pytest.raises(ConfigError) as caught:
        ScriptedBackend(replies)
    assert [problem.path for problem in caught.value.problems] == [place]
    assert "pydantic" not in str(caught.value)
