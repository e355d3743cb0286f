"""Any Python callable as an agent."""

import asyncio
import functools
import threading

import pytest

from holodeck_nb.backends.base import AgentBackend, AgentSession, Message, Reply, SessionContext
from holodeck_nb.backends.callables import CallableBackend
from holodeck_nb.errors import TurnError


def converse(agent, *texts, case="net cash"):
    """What the agent answers to each text, or the error it raises, in one session."""

    async def main():
        session = await CallableBackend(agent).create_session(SessionContext(case=case, index=0))
        answers = []
        for text in texts:
            try:
                answers.append((await session.send(Message(text))).text)
            except Exception as error:  # noqa: BLE001 - the test looks at it
                answers.append(error)
        await session.close()
        return answers

    return asyncio.run(main())


def shout(text):
    return text.upper()


async def shout_async(text):
    await asyncio.sleep(0)
    return text.upper()


class Agent:
    def answer(self, text):
        return text.upper()

    def __call__(self, text):
        return text.upper()


AGENTS = [
    shout,
    shout_async,
    str.upper,
    Agent(),
    Agent().answer,
    functools.partial(lambda prefix, text: text.upper(), "prefix"),
    lambda text, *, temperature=0.3: text.upper(),
    lambda text: Reply(text.upper()),
    lambda text: shout_async(text),  # noqa: PLW0108 - a plain function that returns an awaitable
]


@pytest.mark.parametrize("agent", AGENTS)
def test_text_in_text_out(agent):
    assert converse(agent, "ping", "pong") == ["PING", "PONG"]


def seen(text, conversation):
    said = ", ".join(f"{message['role']}: {message['content']}" for message in conversation.history)
    return f"{conversation.case}[{conversation.turn}] after [{said}]"


async def seen_async(text, conversation):
    return seen(text, conversation)


def seen_by_star(*args):
    return seen(*args)


@pytest.mark.parametrize("agent", [seen, seen_async, seen_by_star])
def test_a_second_parameter_receives_the_conversation(agent):
    assert converse(agent, "one", "two") == [
        "net cash[0] after []",
        "net cash[1] after [user: one, assistant: net cash[0] after []]",
    ]


def test_after_a_broken_turn_the_question_stays_and_no_answer_is_invented():
    def agent(text, conversation):
        if text == "two":
            raise RuntimeError("down")
        return str([message["content"] for message in conversation.messages])

    answers = converse(agent, "one", "two", "three")
    assert answers[0] == "[]"
    assert str(answers[1]) == "down"
    assert answers[2] == "['one', '[]', 'two']"


def test_what_the_agent_does_to_the_history_has_no_effect():
    def agent(text, conversation):
        conversation.messages.append({"role": "user", "content": "smuggled"})
        conversation.messages[0:1] = []
        return str(len(conversation.history))

    assert converse(agent, "one", "two") == ["0", "2"]


WRONG = [
    (lambda text: None, "the agent returned None; expected text or a Reply"),
    (lambda text: 42, "the agent returned a int; expected text or a Reply"),
    (lambda text: {"text": "x"}, "the agent returned a dict; expected text or a Reply"),
    (lambda text: Reply(None), "the agent returned a Reply whose text is None; expected text"),
]


@pytest.mark.parametrize(("agent", "message"), WRONG)
def test_anything_but_text_or_a_reply_is_a_fault_of_the_turn(agent, message):
    [error] = converse(agent, "ping")
    assert isinstance(error, TurnError)
    assert str(error) == message


def test_sessions_do_not_share_a_history():
    backend = CallableBackend(seen)

    async def main():
        first = await backend.create_session(SessionContext(case="a", index=0))
        second = await backend.create_session(SessionContext(case="b", index=1))
        await first.send(Message("to a"))
        return (await second.send(Message("to b"))).text

    assert asyncio.run(main()) == "b[0] after []"


def test_a_blocking_agent_runs_in_a_thread_of_ours():
    assert converse(lambda text: threading.current_thread().name, "ping") == ["holodeck-user-code"]


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="an agent is a function of the text; got str"):
        CallableBackend("gpt")


def test_it_fits_the_protocols():
    backend = CallableBackend(shout)
    session = asyncio.run(backend.create_session(SessionContext(case="a", index=0)))
    assert isinstance(backend, AgentBackend)
    assert isinstance(session, AgentSession)
