"""The chat agent's tool loop, with a model that answers from a list."""

import asyncio
import time

import pytest

import holodeck_nb as hd
from holodeck_nb.backends.base import Message, SessionContext
from holodeck_nb.backends.chat import ChatBackend, ChatLimits
from holodeck_nb.backends.function_tools import FunctionTools
from holodeck_nb.errors import SessionLostError, TurnError
from holodeck_nb.llm.chat_model import AssistantMessage, Completion, ToolCall, ToolResults, UserMessage
from holodeck_nb.results.records import TokenUsage


class ListModel:
    """Answers in order; a callable is called with the request, an exception is raised."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        self.closed = 0

    async def complete(self, request, occasion):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return await answer() if callable(answer) else answer

    async def close(self):
        self.closed += 1
        return ("it was slow",)


def says(text, **told):
    raw = {"role": "assistant", "content": text}
    return Completion(AssistantMessage(raw), text, **{"finish_reason": "stop", "model": "m", **told})


def calls(*told, **more):
    made = tuple(
        call if isinstance(call, ToolCall) else ToolCall(f"k{n}", call[0], call[1])
        for n, call in enumerate(told)
    )
    raw = {"role": "assistant", "content": None, "calls": len(made)}
    return Completion(AssistantMessage(raw), "", made, finish_reason="tool_calls", **more)


def converse(model, *texts, functions=(), **limits):
    """Send the texts one after the other; the replies, or the errors, and the session."""

    async def conversation():
        backend = ChatBackend(model, ChatLimits(**limits))
        tools = FunctionTools.of(functions)
        session = await backend.create_session(SessionContext("c", 0, tools=tools, instructions="be brief"))
        replies = []
        for text in texts:
            try:
                replies.append(await asyncio.wait_for(session.send(Message(text)), limits.get("turn_s")))
            except (TurnError, TimeoutError) as error:
                replies.append((error, session.partial))
        await session.close()
        return replies

    return asyncio.run(conversation())


def results_of(request):
    """The last tool results of a request: what the model is told of its calls."""
    last = [message for message in request.messages if isinstance(message, ToolResults)][-1]
    return [(result.call_id, result.text, result.is_error) for result in last.results]


def fail():
    raise LookupError("no row 'cash'")


def add(a: int, b: int) -> int:
    return a + b


def test_everything_that_can_go_wrong_with_a_call_is_told_to_the_model_and_recorded():
    broken = ToolCall("k9", "add", None, raw_args='{"a": 1', fault="the arguments are no JSON")
    model = ListModel(
        calls(("add", {"a": 1, "b": 2}), ("fail", {}), ("nobody", {}), ("add", {"a": "x"}), broken),
        says("done"),
    )
    [reply] = converse(model, "q", functions=[add, fail])
    assert reply.text == "done"
    recorded = [(call.name, call.args, call.result, call.error is None) for call in reply.tool_calls]
    assert recorded == [
        ("add", {"a": 1, "b": 2}, 3, True),
        ("fail", {}, None, False),
        ("nobody", {}, None, False),
        ("add", {"a": "x"}, None, False),
        ("add", None, None, False),
    ]
    assert reply.tool_calls[-1].raw_args == '{"a": 1'
    told = results_of(model.requests[1])
    assert told[0] == ("k0", "3", False)
    assert told[1] == ("k1", "Error: LookupError: no row 'cash'", True)
    assert "there is no tool 'nobody'; the suite's tools: add, fail" in told[2][1]
    assert "add cannot take these arguments" in told[3][1]
    assert told[4] == ("k9", "Error: the arguments are no JSON", True)


def test_calls_run_at_once_and_are_answered_in_order():
    running, most = 0, 0

    async def wait(seconds: float) -> float:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(seconds)
        running -= 1
        return seconds

    model = ListModel(calls(*[("wait", {"seconds": s}) for s in (0.03, 0.01, 0.02)]), says("x"))
    [reply] = converse(model, "q", functions=[wait])
    assert most == 3
    assert [call.result for call in reply.tool_calls] == [0.03, 0.01, 0.02]
    assert [text for _, text, _ in results_of(model.requests[1])] == ["0.03", "0.01", "0.02"]


def test_a_tool_that_changes_its_arguments_does_not_change_the_record():
    def take(items: list) -> int:
        items.clear()
        return 0

    model = ListModel(calls(("take", {"items": [1, 2]})), says("x"))
    [reply] = converse(model, "q", functions=[take])
    assert reply.tool_calls[0].args == {"items": [1, 2]}


def test_a_result_that_cannot_be_told():
    def loop():
        circle = []
        circle.append(circle)
        return circle

    model = ListModel(calls(("loop", {})), says("x"))
    converse(model, "q", functions=[loop])
    assert results_of(model.requests[1])[0][1].startswith("Error: the result of loop cannot be told")


def test_usage_and_cost_are_those_of_all_requests():
    model = ListModel(
        calls(("add", {"a": 1, "b": 1}), usage=TokenUsage(10, 5), cost_usd=0.1),
        says("x", usage=TokenUsage(20, 7), cost_usd=0.2),
        calls(("add", {"a": 1, "b": 1}), usage=TokenUsage(10, 5), cost_usd=0.1),
        says("y"),
        says("z"),
    )
    known, half, unknown = converse(model, "a", "b", "c", functions=[add])
    assert known.usage == TokenUsage(30, 12)
    assert known.cost_usd == pytest.approx(0.3)
    assert (half.usage.prompt_tokens, half.usage.complete, half.cost_usd) == (10, False, None)
    assert (unknown.usage, unknown.cost_usd) == (None, None)


def test_a_timeout_inside_a_tool_leaves_a_valid_history():
    def slow() -> str:
        time.sleep(0.4)
        return "late"

    model = ListModel(calls(("add", {"a": 1, "b": 2}), ("slow", {})), says("next"))
    (error, partial), reply = converse(model, "a", "b", functions=[add, slow], turn_s=0.15)
    assert isinstance(error, TimeoutError)
    assert [(call.name, call.result) for call in partial.tool_calls] == [("add", 3), ("slow", None)]
    assert partial.tool_calls[1].error == "no result received: the turn ended before the tool did"
    assert reply.text == "next"
    assert reply.tool_calls == ()
    assert [type(message).__name__ for message in model.requests[1].messages] == [
        "UserMessage", "AssistantMessage", "ToolResults", "UserMessage",
    ]  # fmt: skip
    assert results_of(model.requests[1]) == [
        ("k0", "3", False),
        ("k1", "Error: no result received: the turn ended before the tool did", True),
    ]


def test_a_reply_that_comes_too_late_is_dropped():
    class Stubborn(ListModel):
        async def complete(self, request, occasion):
            self.requests.append(request)
            if len(self.requests) == 1:
                try:
                    await asyncio.sleep(9)
                except asyncio.CancelledError:
                    await asyncio.sleep(0.05)  # still unwinding when the next turn begins
                    return says("late")
            await asyncio.sleep(0.1)
            return says("on time")

    model = Stubborn()

    async def conversation():
        session = await ChatBackend(model).create_session(SessionContext("c", 0))
        first = asyncio.create_task(session.send(Message("a")))
        await asyncio.sleep(0.01)
        first.cancel()
        second = await session.send(Message("b"))
        with pytest.raises(TurnError, match="given up"):
            await first
        await session.send(Message("c"))
        return second

    assert asyncio.run(conversation()).text == "on time"
    said = [m.text if isinstance(m, UserMessage) else m.raw["content"] for m in model.requests[2].messages]
    assert said == ["a", "b", "on time", "c"]


def test_a_fault_of_the_model_is_this_turns_alone():
    model = ListModel(says("one"), TurnError("boom"), says("three"))
    _, (error, partial), reply = converse(model, "a", "b", "c")
    assert str(error) == "boom"
    assert partial.usage is None
    assert reply.text == "three"
    assert [m.text for m in model.requests[2].messages if isinstance(m, UserMessage)] == ["a", "b", "c"]


@pytest.mark.parametrize("pauses", [False, True])
def test_rounds_end(pauses):
    again = says("thinking", paused=True) if pauses else calls(("add", {"a": 1, "b": 1}))
    model = ListModel(*[again] * 9)
    [(error, partial)] = converse(model, "q", functions=[add], rounds=3, rounds_setting="claude.max_turns")
    assert isinstance(error, SessionLostError)
    assert "more than 3 times on one turn (claude.max_turns)" in str(error)
    assert len(partial.tool_calls) == (0 if pauses else 3)
    assert len(model.requests) == 4


def test_a_paused_answer_is_sent_back_and_the_last_part_is_the_text():
    model = ListModel(says("still searching", paused=True, finish_reason="pause_turn"), says("done"))
    [reply] = converse(model, "q")
    assert (reply.text, reply.finish_reason) == ("done", "stop")
    assert model.requests[1].messages[-1].raw["content"] == "still searching"


def test_cut_off_before_the_first_word():
    [(error, partial)] = converse(ListModel(says(" ", truncated=True, finish_reason="length")), "q")
    assert str(error) == (
        "output limit reached before any visible text (finish reason 'length'): raise model.max_tokens"
    )
    assert (partial.truncated, partial.finish_reason) == (True, "length")


def test_cut_off_later_and_refused_and_empty():
    model = ListModel(says("half", truncated=True), says("I cannot.", refused=True), says(""))
    half, refused, empty = converse(model, "a", "b", "c")
    assert (half.text, half.truncated) == ("half", True)
    assert (refused.text, refused.refused) == ("I cannot.", True)
    assert (empty.text, empty.truncated, empty.refused) == ("", False, False)


def test_an_interrupt_in_a_tool_interrupts_the_run():
    def stop():
        raise KeyboardInterrupt

    suite = hd.Suite(name="s", test_cases=[{"input": "q"}]).with_tools([stop])
    model = ListModel(calls(("stop", {}), ("stop", {})))
    with pytest.raises(KeyboardInterrupt):
        suite.run(backend=ChatBackend(model), quiet=True)
    assert model.closed == 1


def test_the_end_of_a_run_closes_the_model_and_tells_what_it_has_to_tell():
    model = ListModel(says("x"), says("y"))
    cases = [{"input": "q"}, {"input": "q"}]
    run = hd.Suite(name="s", test_cases=cases).run(backend=ChatBackend(model), quiet=True)
    assert model.closed == 1
    assert "it was slow" in run.warnings["text"].tolist()


@pytest.mark.parametrize("broken", [RuntimeError("stuck"), None])
def test_a_model_that_does_not_close_costs_a_warning(broken, monkeypatch):
    monkeypatch.setattr("holodeck_nb.engine.casework.CLOSE_TIMEOUT_S", 0.05)

    class Stuck(ListModel):
        async def close(self):
            if broken:
                raise broken
            await asyncio.sleep(9)

    run = hd.Suite(name="s", test_cases=[{"input": "q"}]).run(
        backend=ChatBackend(Stuck(says("x"))), quiet=True
    )
    said = "closing the backend failed: RuntimeError: stuck" if broken else "the backend did not close within"
    assert any(text.startswith(said) for text in run.warnings["text"])
