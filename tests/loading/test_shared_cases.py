"""The cases that everybody must get right, as far as loading decides them."""

import json
from pathlib import Path

import pytest

from holodeck_nb.errors import ConfigError
from holodeck_nb.loading.execution import resolve_execution
from holodeck_nb.loading.loader import load_mapping, load_suite
from holodeck_nb.loading.writer import suite_yaml

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=f"the shared cases are not at {CASES}")

HELD_TO_ANOTHER_RULE = {}  # none of these areas decides against the contract


def rows(*areas):
    if not CASES.is_dir():
        return []
    every = json.loads((CASES / "peer_conformance.json").read_text(encoding="utf-8"))
    return [pytest.param(row, id=row["id"]) for row in every if row["area"] in areas]


def suite_of(row):
    given = row["input"]
    match row["area"]:
        case "response_path_grammar":
            return {"evaluations": {"metrics": [{"type": "numeric", "response_path": given["path"]}]}}
        case "config_metric" | "config_code_metric":
            return {"evaluations": {"metrics": [given["metric"]]}}
        case "config_matcher":
            tool = {"name": "t", "args": {"a": given["arg"]}}
            return {"test_cases": [{"input": "a", "expected_tools": [tool]}]}
        case "config_expected_tool":
            tools = given.get("expected_tools") or [given["expected_tool"]]
            return {"test_cases": [{"input": "a", "expected_tools": tools}]}
        case "config_turn":
            return {"test_cases": [{"turns": [given["turn"]]}]}
        case "config_file_input":
            return {"test_cases": [{"input": "a", "files": [given["file"]]}]}
        case "execution_config":
            return {"execution": given["execution"]}
        case _:
            return {"test_cases": [given["test_case"]]}


AREAS = (
    "response_path_grammar", "config_metric", "config_code_metric", "config_matcher", "config_expected_tool",
    "config_turn", "config_file_input", "config_test_case",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_benchmarks.py").write_text("def numeric_equal(context):\n    return True\n")
    for name in ("file", "data/document.pdf", "data.txt", "document.pdf", "data.xlsx"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize("row", [*rows(*AREAS), *rows("execution_config")[:3]])
@pytest.mark.parametrize("way", ["python", "file"])
def test_one_suite(row, way, folder):
    data = {"name": "probe", **suite_of(row)}
    file = folder / "agent.yaml"
    file.write_text(json.dumps(data))
    wanted = row["expected"]

    def load():
        return load_suite(file) if way == "file" else load_mapping(data, folder=folder)

    if not wanted["valid"]:
        with pytest.raises(ConfigError) as refused:
            load()
        assert all(text in str(refused.value) for text in wanted.get("error_contains", ()))
        return
    config = load().config
    if row["area"] == "config_expected_tool":
        tools = config.cases[0].expected_tools
        assert len(tools) == wanted.get("length", 1)
        assert tools[0].count == wanted.get("count", 1)
    if row["area"] == "config_matcher":
        (matcher,) = config.cases[0].expected_tools[0].args.values()
        assert type(matcher).__name__.lower() == {"literal": "exact"}.get(wanted["kind"], wanted["kind"])
    if "display_name" in wanted:
        assert config.agent_metrics[0].default_id == wanted["display_name"]


@pytest.mark.parametrize("row", rows("execution_config")[3:])
def test_one_resolution(row):
    given = row["input"]
    data = {} if given["yaml"] is None else {"execution": {"parallel_test_cases": given["yaml"]}}
    config = load_mapping({"name": "probe", **data}).config.execution
    resolved = resolve_execution(config, {"parallel_test_cases": given["cli"]}, {})
    assert resolved.parallel_test_cases == row["expected"]["parallel_test_cases"]


@pytest.mark.parametrize("row", rows("test_cases_file"))
def test_one_file_of_cases(row, write):
    given, wanted = row["input"], row["expected"]
    if given["file_content"] is not None:
        write("cases.yaml", given["file_content"])
    inline = "" if given["inline_test_cases"] is None else f"\ntest_cases: {given['inline_test_cases']}"
    write("agent.yaml", f"name: probe\ntest_cases_file: cases.yaml{inline}")
    if not wanted["valid"]:
        with pytest.raises(ConfigError) as refused:
            load_suite("agent.yaml")
        assert all(text in str(refused.value) for text in wanted["error_contains"])
        return
    cases = load_suite("agent.yaml").config.cases
    assert len(cases) == wanted.get("cases", len(cases))
    assert cases[0].name == wanted.get("first_name", cases[0].name)
    assert len(cases[0].conversation) == wanted.get("first_turns", 1)


@pytest.mark.parametrize("row", rows("config_round_trip"))
def test_one_round_trip(row):
    config = load_mapping({"name": "probe", "test_cases": [row["input"]["test_case"]]}).config
    assert [tool.written for tool in config.cases[0].expected_tools] == row["expected"]["dump.expected_tools"]
    assert "expected_tools:\n      - lookup\n" in suite_yaml(config)


def public():
    if not CASES.is_dir():
        return []
    every = json.loads((CASES / "public_cases.json").read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["id"]) for case in every if case["id"].startswith("CFG-")]


@pytest.mark.parametrize("case", public())
def test_one_public_fault(case, load, monkeypatch):
    check = case["check"]
    for name, value in check.get("with_env", {}).items():
        monkeypatch.setenv(name, value)
    if check.get("load") != "error":
        suite = load(case["suite_yaml"])
        for name, inputs in check.get("turn_input_equals", {}).items():
            played = next(each for each in suite.config.cases if each.name == name)
            assert [turn.input for turn in played.conversation] == inputs
        check = check.get("second_run_without_env")
        if check is None:
            return
        monkeypatch.delenv("K")
    with pytest.raises(ConfigError) as refused:
        load(case["suite_yaml"])
    message = str(refused.value)
    assert len(refused.value.problems) == check.get("problem_count", len(refused.value.problems))
    assert [text for text in check.get("mentions_all", ()) if text not in message] == []
    assert [text for text in check.get("mentions_none", ()) if text in message] == []


def test_every_public_suite_loads_or_is_meant_not_to(tmp_path, monkeypatch):
    monkeypatch.setenv("K", "key")
    monkeypatch.setenv("PROBE_KEY", "key")
    refused = []
    for case in json.loads((CASES / "public_cases.json").read_text(encoding="utf-8")):
        if case.get("suite_yaml") and not case.get("files"):
            (tmp_path / "agent.yaml").write_text(case["suite_yaml"], encoding="utf-8")
            try:
                load_suite(tmp_path / "agent.yaml")
            except ConfigError as error:
                refused.append((case["id"], case["check"].get("load"), str(error)))
    refused_by_design = {"SEC-01"}  # `temperature: hot`
    assert [row for row in refused if row[1] != "error" and row[0] not in refused_by_design] == []
