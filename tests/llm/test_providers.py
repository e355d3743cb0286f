"""What a provider needs before the first call, and what it sends with every request."""

import pytest
from servers import Wired, free_port

import holodeck_nb as hd
from holodeck_nb.llm.providers import ModelOptions, open_model
from holodeck_nb.schema.agent import ModelConfig

NO_KEY = {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"}
CASE = {"test_cases": [{"name": "c", "input": "q"}]}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in NO_KEY | {"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"}:
        monkeypatch.delenv(name, raising=False)


def refused(model, folder=None, **fields):
    suite = hd.Suite.from_dict({"name": "s", "model": model, **CASE, **fields}, folder=folder)
    with pytest.raises(hd.ConfigError) as caught:
        suite.run(quiet=True)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("model", "variable"),
    [("openai:gpt-4o", "OPENAI_API_KEY"), ("anthropic:claude-sonnet-5", "ANTHROPIC_API_KEY")],
)
def test_a_missing_key_names_the_variable(model, variable):
    provider = model.partition(":")[0]
    [problem] = refused(model)
    assert problem == (
        f"model.api_key: {provider} needs a key, and {variable} is not set\n"
        f"    hint: set {variable} in the environment or in a .env file beside the suite, "
        f"or write `api_key: ${{{variable}}}`"
    )


def test_azure_misses_key_and_address_at_once():
    key, address = refused("azure_openai:my-deployment")
    assert "AZURE_OPENAI_API_KEY is not set" in key
    assert "AZURE_OPENAI_ENDPOINT" in address


def test_a_key_in_the_env_file_beside_the_suite(tmp_path):
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-from-the-file\n")
    with Wired(lambda body: {"choices": [{"message": {"content": "x"}}]}) as server:
        model = {"provider": "openai", "name": "m", "endpoint": server.url}
        suite = hd.Suite.from_dict({"name": "s", "model": model, **CASE}, folder=tmp_path)
        assert suite.run(quiet=True).turns["response"].tolist() == ["x"]
    assert server.headers[0]["authorization"] == "Bearer sk-from-the-file"


def test_tools_that_no_chat_agent_runs_and_what_else_is_wrong_at_once():
    tools = [
        {"name": "search", "description": "d", "type": "vectorstore", "source": "docs"},
        {"name": "files", "description": "d", "type": "mcp", "command": "x"},
    ]
    told = refused("openai:gpt-4o", tools=tools)
    assert told[0].startswith("tools[0]: a chat agent cannot use 'search'")
    assert "no tools of type mcp" in told[1]
    assert "OPENAI_API_KEY is not set" in told[2]


def test_an_unknown_provider():
    config = ModelConfig.model_validate({"provider": "nobody", "name": "m"})
    with pytest.raises(
        hd.ConfigError, match="it is one of scripted, openai, azure_openai, ollama, anthropic"
    ):
        open_model(config, ModelOptions())


def test_an_agent_of_ones_own_may_have_any_tools():
    tools = [{"name": "search", "description": "d", "type": "vectorstore", "source": "docs"}]
    suite = hd.Suite.from_dict({"name": "s", "model": "openai:gpt-4o", "tools": tools, **CASE})
    assert suite.run(agent=str.upper, quiet=True).turns["response"].tolist() == ["Q"]


def test_a_missing_package(monkeypatch):
    def not_there(name):
        raise ImportError(name)

    monkeypatch.setattr("holodeck_nb.llm.providers.import_module", not_there)
    assert "this provider needs openai: pip install openai" in refused("ollama:qwen3:8b")[0]


def test_ways_to_sign_in_that_we_do_not_have():
    model = {"provider": "anthropic", "name": "m", "auth_provider": "bedrock"}
    assert "'bedrock' cannot be used" in refused(model)[0]


def test_nobody_answers_and_what_to_start(monkeypatch):
    port = free_port()
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{port}")
    suite = hd.Suite(name="s", model="ollama:qwen3:8b", **CASE)
    run = suite.run(quiet=True, max_retries=0)
    assert run.turns["reason"][0] == (
        f"nothing answers at http://127.0.0.1:{port}/v1: start Ollama (`ollama serve`) and fetch the model "
        "(`ollama pull qwen3:8b`)"
    )


def sent(model, reply, **fields):
    with Wired(lambda body: reply) as server:
        model = {"name": "m", "api_key": "sk-0123456789", "endpoint": server.url, **model}
        run = hd.Suite(name="s", model=model, **CASE, **fields).run(quiet=True)
    assert run.turns["status"].tolist() == ["passed"]
    return server.requests[0]


OPENAI = {"choices": [{"message": {"content": "x"}}]}
ANTHROPIC = {"content": [{"type": "text", "text": "x"}]}


def test_sampling_and_effort_of_openai():
    model = {"provider": "openai", "temperature": 0.5, "top_p": 0.9, "max_tokens": 7}
    body = sent(model, OPENAI, openai={"effort": "high"})
    assert {key: body[key] for key in body if key != "messages"} == {
        "model": "m", "temperature": 0.5, "top_p": 0.9, "max_tokens": 7, "reasoning_effort": "high",
    }  # fmt: skip


def test_sampling_effort_and_thinking_of_anthropic():
    body = sent({"provider": "anthropic", "top_p": 0.9}, ANTHROPIC, claude={"effort": "max"})
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.3, 0.9, 1000)
    assert body["output_config"] == {"effort": "max"}
    thinking = {"extended_thinking": {"enabled": True, "budget_tokens": 2000}}
    body = sent({"provider": "anthropic"}, ANTHROPIC, claude=thinking)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert body["max_tokens"] == 3000
    assert "temperature" not in body


def test_instructions_from_a_file_lose_their_front_matter(tmp_path):
    (tmp_path / "system.md").write_text("---\ntitle: x\n---\n\nYou are an analyst.\n")
    with Wired(lambda body: OPENAI) as server:
        model = {"provider": "ollama", "name": "m", "endpoint": server.url}
        data = {"name": "s", "model": model, "instructions": {"file": "system.md"}, **CASE}
        hd.Suite.from_dict(data, folder=tmp_path).run(quiet=True)
    assert server.requests[0]["messages"][0] == {"role": "system", "content": "You are an analyst.\n"}


PLUGIN = """
from holodeck_nb.llm.chat_model import AssistantMessage, Completion

class Loud:
    async def complete(self, request, occasion):
        return Completion(AssistantMessage({}), request.messages[-1].text.upper())

    async def close(self):
        return ()

def open_loud(config, options):
    return Loud()
"""


def test_a_provider_that_an_installed_package_brings(tmp_path, monkeypatch):
    (tmp_path / "loud_models.py").write_text(PLUGIN)
    about = tmp_path / "loud_models-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: loud-models\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[holodeck_nb.models]\nloud = loud_models:open_loud\n")
    monkeypatch.syspath_prepend(tmp_path)
    suite = hd.Suite(name="s", model="loud:m", **CASE)
    assert suite.run(quiet=True).turns["response"].tolist() == ["Q"]
    with pytest.raises(hd.ConfigError, match="'loud' can be neither recorded nor replayed"):
        suite.run(quiet=True, record=tmp_path / "tape.jsonl")
    judged = {"metrics": [{"type": "relevance", "model": "loud:m"}]}
    suite = hd.Suite(name="s", model={"provider": "ollama", "name": "m"}, evaluations=judged, **CASE)
    with pytest.raises(hd.ConfigError, match="'loud' can be neither recorded nor replayed"):
        suite.run(quiet=True, record=tmp_path / "tape.jsonl")


def test_the_model_is_not_opened_before_the_first_call():
    config = ModelConfig.model_validate({"provider": "ollama", "name": "m"})
    model = open_model(config, ModelOptions())
    assert model.exchange._wire._client is None
