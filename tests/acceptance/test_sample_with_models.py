"""The sample against models: `--model ollama:…`, `openai:…`, `anthropic:…`, and a recording of one."""

import json

import pytest
from analyst_server import SAMPLE, analyst_fixtures

import holodeck_nb as hd
from holodeck_nb.__main__ import main

MODELS = ["ollama:qwen3:8b", "openai:gpt-4o-mini", "anthropic:claude-sonnet-5"]
RECORDING = SAMPLE / "recordings/analyst.jsonl"


@pytest.fixture(scope="module")
def suite():
    return hd.Suite.from_yaml(SAMPLE / "agent.yaml")


@pytest.fixture(scope="module")
def scripted(suite):
    return suite.run(quiet=True)


def verdicts(run):
    """Turn by turn: what was said, called, checked and measured."""
    frame = run.turns
    columns = ["case", "turn", "status", "response", "tools_called", "tools_matched"]
    scores = [(m.id, m.status, m.score) for _, turn in run.result.turns() for m in turn.metrics]
    return frame[columns].to_dict("records"), scores


@pytest.mark.parametrize("model", MODELS)
def test_the_same_verdicts_turn_by_turn(model, suite, scripted, aimock, monkeypatch):
    aimock.play(*analyst_fixtures(suite))
    monkeypatch.setenv("OLLAMA_HOST", aimock.url)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{aimock.url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", aimock.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-0123456789")
    run = suite.with_model(model).run(quiet=True, parallel_test_cases=4)
    assert verdicts(run) == verdicts(scripted)


def test_the_command(suite, scripted, aimock, monkeypatch, tmp_path):
    aimock.play(*analyst_fixtures(suite))
    monkeypatch.setenv("OLLAMA_HOST", aimock.url)
    report = tmp_path / "report.json"
    arguments = ["test", str(SAMPLE / "agent.yaml"), "--model", MODELS[0], "--output", str(report), "--quiet"]
    assert main(arguments) == (0 if scripted.passed else 1)
    results = json.loads(report.read_text(encoding="utf-8"))["results"]
    assert [result["passed"] for result in results] == [case.passed for case in scripted.result.cases]


def test_the_recording_that_ships_needs_no_network_and_says_what_it_is(suite, scripted, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    run = suite.with_model("openai:gpt-4o-mini").run(replay=RECORDING, quiet=True, parallel_test_cases=4)
    assert verdicts(run) == verdicts(scripted)
    [told] = [text for text in run.warnings["text"] if "recording" in text]
    assert "no model" in told
