"""Every provider over real HTTP, against servers that others wrote (contract 7): what must work."""

import asyncio
import json

import pytest

import holodeck_nb as hd
from holodeck_nb.backends.base import Message, SessionContext
from holodeck_nb.backends.chat import ChatBackend, ChatLimits
from holodeck_nb.llm.providers import ModelOptions, open_model
from holodeck_nb.schema.agent import ModelConfig

KEY = "sk-test-0123456789"
MODEL = {"openai": "gpt-4o", "azure_openai": "gpt-4o", "ollama": "qwen3:8b", "anthropic": "claude-sonnet-5"}
CELLS = [
    ("aimock", "openai"), ("aimock", "azure_openai"), ("aimock", "ollama"), ("aimock", "anthropic"),
    ("llmock", "openai"), ("llmock", "ollama"), ("llmock", "anthropic"),  # it has no Azure
]  # fmt: skip
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer"}, "reason": {"type": "string"}},
    "required": ["score", "reason"],
}
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 32


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr("holodeck_nb.llm.exchange._BACK_OFF_S", 0.02)


class Scene:
    """One provider on one server; `play` says what it will answer, in words that both servers have."""

    def __init__(self, server, provider):
        self.server = server
        self.provider = provider
        self.is_aimock = hasattr(server, "fail_next")

    def play(self, *steps):
        if not self.is_aimock:
            self.server.play(*(self._behavior(*step) for step in steps))
            return
        self.server.play(
            *(
                {"match": {"userMessage": "q", "sequenceIndex": place}, **self._fixture(*step)}
                for place, step in enumerate(steps)
            )
        )

    def _fixture(self, kind, *told):
        match kind:
            case "tools":
                return {"response": {"toolCalls": [{"name": n, "arguments": a} for n, a in told]}}
            case "fail":
                status, *wait = told
                retry = {"retryAfter": wait[0]} if wait else {}
                return {"response": {"error": {"message": "not now"}, "status": status, **retry}}
            case "slow":
                return {"response": {"content": "late"}, "chaos": {"latencyMs": 3000}}
            case "malformed":
                return {"response": {"content": "x"}, "chaos": {"malformedRate": 1.0}}
        text = told[0] if isinstance(told[0], str) else json.dumps(told[0])
        counted = ("input_tokens", "output_tokens")
        names = counted if self.provider == "anthropic" else ("prompt_tokens", "completion_tokens")
        return {"response": {"content": text, "usage": dict(zip(names, (100, 10), strict=True))}}

    def _behavior(self, kind, *told):
        match kind:
            case "tools":
                return {"type": "reply", "tool_calls": [{"name": n, "arguments": a} for n, a in told]}
            case "fail":
                status, *wait = told
                retry = {"retry_after": wait[0]} if wait else {}
                return {"type": "fail", "status": status, "message": "not now", **retry}
            case "slow":
                return {"type": "delay", "seconds": 3.0}
        text = told[0] if isinstance(told[0], str) else json.dumps(told[0])
        return {"type": "reply", "text": text}

    @property
    def model(self):
        endpoint = self.server.endpoint("openai" if self.provider == "ollama" else self.provider)
        return {
            "provider": self.provider,
            "name": MODEL[self.provider],
            "endpoint": endpoint,
            "api_key": KEY,
        }

    def run(self, *inputs, tools=(), **arguments):
        turns = [{"input": text} for text in inputs]
        suite = hd.Suite(name="s", model=self.model, test_cases=[{"name": "c", "turns": turns}])
        run = suite.with_tools(tools).run(quiet=True, **arguments)
        return run.result.cases[0].turns, run

    def ask(self, message, **context):
        """One message through a session, for what a suite cannot say."""
        config = ModelConfig.model_validate(self.model)

        async def conversation():
            backend = ChatBackend(open_model(config, ModelOptions()), ChatLimits())
            session = await backend.create_session(SessionContext("c", 0, **context))
            try:
                return await session.send(message)
            finally:
                await backend.run_ended()

        return asyncio.run(conversation())


@pytest.fixture(params=CELLS, ids=["-".join(cell) for cell in CELLS])
def scene(request):
    server, provider = request.param
    return Scene(request.getfixturevalue("aimock" if server == "aimock" else "llmock_server"), provider)


@pytest.fixture
def add():
    def add(a: float, b: float) -> float:
        """Add two numbers."""
        return a + b

    return add


def test_a_tool_conversation_of_two_turns(scene, add):
    scene.play(
        ("tools", ("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})),
        ("text", "3 and 7"),
        ("tools", ("add", {"a": 3, "b": 7})),
        ("text", "10"),
    )
    turns, run = scene.run("q one", "q two", tools=[add])
    assert [turn.response for turn in turns] == ["3 and 7", "10"]
    called = [[(call.name, call.args, call.result) for call in turn.tool_calls] for turn in turns]
    assert called == [
        [("add", {"a": 1, "b": 2}, 3.0), ("add", {"a": 3, "b": 4}, 7.0)],
        [("add", {"a": 3, "b": 7}, 10.0)],
    ]
    assert (
        run.turns["finish_reason"].tolist() == ["end_turn" if scene.provider == "anthropic" else "stop"] * 2
    )
    assert turns[0].model == MODEL[scene.provider]
    last = json.dumps(scene.server.requests[-1])
    assert all(said in last for said in ("q one", "3 and 7", "q two", "7.0"))


def test_structured_output(scene):
    scene.play(("text", {"score": 4, "reason": "fair"}))
    reply = scene.ask(Message("q"), response_format=SCHEMA)
    assert json.loads(reply.text) == {"score": 4, "reason": "fair"}
    sent = scene.server.requests[-1]
    if scene.provider != "anthropic":
        assert sent["response_format"]["json_schema"]["schema"]["required"] == ["score", "reason"]
    elif not scene.is_aimock:  # aimock keeps another form of the request
        assert sent["output_config"]["format"]["schema"]["additionalProperties"] is False


def test_an_image(scene):
    scene.play(("text", "a chart"))
    assert scene.ask(Message("q", (PNG,))).text == "a chart"
    if not (scene.is_aimock and scene.provider == "anthropic"):  # it keeps no images of such requests
        assert "iVBORw0KGgo" in json.dumps(scene.server.requests[-1])


def test_429_and_then_success(scene):
    scene.play(("fail", 429, 1), ("text", "done"))
    [turn], run = scene.run("q")
    assert (turn.response, turn.status) == ("done", "passed")
    assert any("asked once for a slower pace" in text for text in run.warnings["text"])


def test_500_and_then_success(scene):
    scene.play(("fail", 500), ("text", "done"))
    [turn], _ = scene.run("q")
    assert turn.response == "done"


def test_503_to_the_end_of_all_patience(scene):
    scene.play(("fail", 503), ("fail", 503), ("text", "too late"))
    [turn], _ = scene.run("q", max_retries=1)
    assert turn.error == f"{scene.provider} answered 503 after 2 attempts: {turn.error.partition(': ')[2]}"
    assert "not now" in turn.error


def test_a_timeout_and_the_next_turn_works(scene):
    scene.play(("slow",), ("text", "second"))
    turns, _ = scene.run("q one", "q two", llm_timeout=0.7)
    assert turns[0].error == "timeout: no reply within 0.7 s (execution.llm_timeout)"
    assert turns[1].response is not None
    sent = json.dumps(scene.server.requests[-1])
    assert "q one" in sent
    assert "late" not in sent


MALFORMED = pytest.mark.parametrize(
    "scene", [cell for cell in CELLS if cell[0] == "aimock"], indirect=True, ids="-".join
)  # llmock sends no malformed bodies


@MALFORMED
def test_a_malformed_body(scene):
    scene.play(("malformed",), ("text", "whole"))
    [turn], _ = scene.run("q")
    assert turn.response == "whole"


@MALFORMED
def test_a_malformed_body_every_time(scene):
    scene.play(("malformed",), ("malformed",), ("text", "too late"))
    [turn], _ = scene.run("q", max_retries=1)
    assert f"{scene.provider} sent a malformed reply after 2 attempts: it is no JSON" in turn.error


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_stops_the_run_once(scene, status):
    scene.play(("fail", status), ("text", "must not be asked"))
    cases = [{"name": f"c{number}", "input": "q"} for number in range(5)]
    run = hd.Suite(name="s", model=scene.model, test_cases=cases).run(quiet=True)
    assert run.cases["status"].tolist() == ["error", *["skipped"] * 4]
    reason = run.result.stop_reason
    assert reason.startswith(f"{scene.provider} answered {status}: ")
    variable = {
        "openai": "OPENAI_API_KEY",
        "azure_openai": "AZURE_OPENAI_API_KEY",
        "anthropic": "ANTHROPIC_API_KEY",
        "ollama": "model.api_key",
    }[scene.provider]
    assert variable in reason
    assert KEY not in reason
    assert len(scene.server.requests) == 1


def test_an_unknown_model_stops_the_run(scene):
    scene.play(("fail", 404))
    _, run = scene.run("q")
    assert f"is the model '{MODEL[scene.provider]}' there" in run.result.stop_reason


def test_a_bad_request_is_not_sent_again(scene):
    scene.play(("fail", 400), ("text", "must not be asked"))
    [turn], run = scene.run("q")
    assert turn.error.startswith(f"{scene.provider} answered 400: not now")
    assert run.result.stop_reason is None
    assert len(scene.server.requests) == 1


def test_usage_and_cost(scene, add):
    scene.play(("tools", ("add", {"a": 1, "b": 2})), ("text", "3"))
    [turn], run = scene.run("q", tools=[add])
    usage = turn.usage
    assert usage.complete
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    if scene.is_aimock:
        assert usage.prompt_tokens >= 100
    if scene.provider == "ollama":
        assert turn.cost_usd is None
        assert run.turns["cost_usd"].isna().all()
    else:
        assert turn.cost_usd > 0


def test_sixty_four_conversations_at_once(scene):
    if scene.is_aimock:
        fixtures = [
            {"match": {"userMessage": f"q {n:02d} {turn}"}, "response": {"content": f"answer {n:02d} {turn}"}}
            for n in range(64)
            for turn in ("first", "second")
        ]
        scene.server.play(*fixtures)
    else:
        scene.server.play({"type": "reply", "text": "answer", "times": 128})
    cases = [
        {"name": f"c{n}", "turns": [{"input": f"q {n:02d} first"}, {"input": f"q {n:02d} second"}]}
        for n in range(64)
    ]
    run = hd.Suite(name="s", model=scene.model, test_cases=cases).run(quiet=True, parallel_test_cases=64)
    said = [[turn.response for turn in case.turns] for case in run.result.cases]
    if scene.is_aimock:
        assert said == [[f"answer {n:02d} first", f"answer {n:02d} second"] for n in range(64)]
    else:
        assert said == [["answer", "answer"]] * 64
    asked = [json.dumps(body["messages"]) for body in scene.server.requests]
    assert len(asked) == 128
    assert all(len({part[:2] for part in body.split("q ")[1:]}) == 1 for body in asked)
