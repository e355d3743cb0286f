"""Connections that break, many conversations at once, blocks that come back: over HTTP, all providers."""

import asyncio
import json
import threading
import time
import urllib.request

import pytest
from servers import Wired

import holodeck_nb as hd
from holodeck_nb.sync import _LoopThread

PROVIDERS = ["openai", "azure_openai", "ollama", "anthropic"]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr("holodeck_nb.llm.exchange._BACK_OFF_S", 0.02)


def said(provider, text, **more):
    if provider == "anthropic":
        return {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn", **more}
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], **more}


def suite_of(provider, server, cases=1, turns=("q",)):
    model = {"provider": provider, "name": "m", "endpoint": server.url, "api_key": "sk-0123456789"}
    asked = [
        {"name": f"c{n}", "turns": [{"input": f"{turn} {n:02d}"} for turn in turns]} for n in range(cases)
    ]
    return hd.Suite(name="s", model=model, test_cases=asked)


def in_order(*answers):
    waiting = iter(answers)
    return lambda body: next(waiting)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_connections_that_are_cut_before_and_inside_the_body(provider):
    good = said(provider, "whole")
    with Wired(in_order(None, (200, good, {"x-cut": "yes"}), good)) as server:
        run = suite_of(provider, server).run(quiet=True)
    assert run.turns["response"].tolist() == ["whole"]
    assert len(server.requests) == 3


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_connection_that_is_always_cut_and_the_next_turn(provider):
    with Wired(in_order(None, None, said(provider, "back"))) as server:
        run = suite_of(provider, server, turns=("a", "b")).run(quiet=True, max_retries=1)
    first, second = run.result.cases[0].turns
    assert first.error.startswith(f"{provider}: the connection to {server.url}")
    assert "broke after 2 attempts" in first.error
    assert second.response == "back"


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>Bad gateway</html>", b"[]", b"{}", b'"text"', b"\xff\xfe", b"null"],
    ids=["empty", "html", "list", "bare", "text", "bytes", "null"],
)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_bodies_that_are_no_replies(provider, body):
    with Wired(in_order((200, body, {}), said(provider, "fine"))) as server:
        run = suite_of(provider, server).run(quiet=True)
    assert run.turns["response"].tolist() == ["fine"]


@pytest.mark.parametrize(("status", "again"), [(503, True), (400, False)])
def test_an_error_that_is_told_under_status_200(status, again):
    fault = {"error": {"code": status, "message": "upstream"}}
    with Wired(in_order(fault, said("openai", "fine"))) as server:
        run = suite_of("openai", server).run(quiet=True)
    assert run.turns["status"].tolist() == ["passed" if again else "error"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_context_that_overflows_loses_the_session(provider):
    fault = {"error": {"message": "prompt is too long: 9 > 8", "code": "context_length_exceeded"}}
    with Wired(in_order((400, fault, {}))) as server:
        run = suite_of(provider, server, turns=("a", "b")).run(quiet=True)
    assert run.turns["status"].tolist() == ["error", "skipped"]
    assert "no longer fits into the model's context" in run.turns["reason"][1]


def test_thinking_blocks_come_back_as_they_were(aimock):
    aimock.play(
        {
            "match": {"userMessage": "first", "hasToolResult": False},
            "response": {
                "toolCalls": [{"name": "add", "arguments": {"a": 1, "b": 2}}],
                "reasoning": "let me add",
                "reasoningSignature": "c2lnbmF0dXJl",
            },
        },
        {"match": {"userMessage": "first"}, "response": {"content": "3"}},
    )
    received = []

    def relay(body):
        headers = {"content-type": "application/json", "x-api-key": "k"}
        request = urllib.request.Request(f"{aimock.url}/v1/messages", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as response:
            received.append(json.loads(response.read()))
        return received[-1]

    def add(a: float, b: float) -> float:
        return a + b

    with Wired(relay) as server:
        run = suite_of("anthropic", server, turns=("first",)).with_tools([add]).run(quiet=True)
    assert run.turns["response"].tolist() == ["3"]
    assert received[0]["content"][0]["signature"] == "c2lnbmF0dXJl"
    assert server.requests[1]["messages"][1]["content"] == received[0]["content"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_sixty_four_conversations_leave_nothing_behind(provider):
    """No crossing; no connection, task or thread is left."""

    def answer(body):
        time.sleep(0.01)
        texts = [str(m["content"]) for m in body["messages"] if m["role"] == "user"]
        numbers = {text.rstrip("'}]")[-2:] for text in texts}
        return said(provider, f"{numbers} {len(texts)}")

    with Wired(answer) as server:
        suite_of(provider, server).run(quiet=True)  # from now on the loop's own threads are there
    threads = set(threading.enumerate())
    with Wired(answer) as server:
        run = suite_of(provider, server, cases=64, turns=("a", "b", "c")).run(
            quiet=True, parallel_test_cases=64
        )
        deadline = time.monotonic() + 5
        while server.connections and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.connections == set()
    replies = [[turn.response for turn in case.turns] for case in run.result.cases]
    assert replies == [[f"{{'{n:02d}'}} {turn}" for turn in (1, 2, 3)] for n in range(64)]
    loop = _LoopThread.get().loop
    assert asyncio.run_coroutine_threadsafe(_tasks(), loop).result(5) == 1  # the one that counts
    left = {thread.name for thread in set(threading.enumerate()) - threads if thread.is_alive()}
    # The server's, ours that end when idle, and the loop's own pool for looking up names.
    assert all(("Thread-" in name) or name.startswith(("holodeck-user-code", "asyncio_")) for name in left)


async def _tasks():
    await asyncio.sleep(0.05)
    return len(asyncio.all_tasks())
