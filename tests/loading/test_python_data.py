# ruff: noqa: E501 - a message stands whole on its line, as its reader sees it
"""Suites made in Python: native values, models where blocks stand, and what no file could hold."""

from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from holodeck_nb.errors import ConfigError
from holodeck_nb.loading.loader import load_mapping
from holodeck_nb.loading.writer import suite_yaml
from holodeck_nb.schema.case import Case, Turn
from holodeck_nb.schema.metrics import StandardMetric
from holodeck_nb.schema.tools import ExpectedTool, Fuzzy


def grade(context):
    return True


def test_native_values_are_what_they_are():
    case = load_mapping({
        "name": "probe",
        "test_cases": [{"turns": ({
            "input": "a",
            "ground_truth": 25587,
            "expected_tools": [{"name": "t", "args": {
                "a": 1, "b": 1.0, "c": "1", "d": True, "e": None, "f": np.int64(3), "g": np.float32(0.5),
                "h": Decimal(7), "i": Decimal("0.5"), "j": date(2009, 12, 31), "k": (1, [2]), 5: "key",
                "l": {"fuzzy": 181001},
            }}],
            "turn_config": {"program": "subtract(1, 2)", "no": "no", "steps": np.array([1, 2])},
        },)}],
    }).config.cases[0]  # fmt: skip
    turn = case.turns[0]
    args = turn.expected_tools[0].written_args
    assert turn.ground_truth == "25587"
    assert args == {
        "a": 1, "b": 1.0, "c": "1", "d": True, "e": None, "f": 3, "g": 0.5, "h": 7, "i": 0.5, "j": "2009-12-31",
        "k": [1, [2]], "5": "key", "l": {"fuzzy": "181001"},
    }  # fmt: skip
    assert [type(args[key]) for key in "abcdfghi"] == [int, float, str, bool, int, float, int, float]
    assert turn.turn_config == {"program": "subtract(1, 2)", "no": "no", "steps": [1, 2]}


def test_models_may_stand_where_blocks_stand():
    turn = Turn(input="a ${X}", expected_tools=(ExpectedTool(name="t", args={"a": Fuzzy(fuzzy="5")}),))
    data = {
        "name": "probe",
        "model": "scripted",
        "evaluations": {"metrics": [StandardMetric(metric="numeric", absolute_tolerance=0.5)]},
        "test_cases": [Case(name="c", turns=(turn,)), {"turns": [turn], "evaluations": ["numeric"]}],
    }
    config = load_mapping(data).config
    assert config.cases[0].turns == config.cases[1].turns == (turn,)
    assert config.metrics_for(config.cases[1], turn)[0].absolute_tolerance == 0.5


def test_a_number_may_be_a_name():
    metrics = [{"type": "numeric", "name": 5}]
    case = {"input": "a", "evaluations": ["5"]}
    config = load_mapping({"name": 7, "evaluations": {"metrics": metrics}, "test_cases": [case]}).config
    assert config.metrics_for(config.cases[0], config.cases[0].conversation[0]) == config.agent_metrics
    with pytest.raises(ConfigError, match="none called 'numeric'"):
        load_mapping(
            {
                "name": 7,
                "evaluations": {"metrics": metrics},
                "test_cases": [{**case, "evaluations": ["numeric"]}],
            }
        )


def test_a_function_may_be_a_grader():
    suite = load_mapping({"name": "p", "evaluations": {"metrics": [{"grader": grade}]}})
    metric = suite.config.agent_metrics[0]
    assert (metric.grader, metric.default_id, suite.graders) == (grade, "grade", {})


REFUSED = [
    ({"name": True}, "name: expected text, got true\n    hint: write it as text: 'true'"),
    ({"name": "p", "description": False}, "description: expected text, got false\n    hint: write it as text: 'false'"),
    ({"name": "p", "test_cases": [{"input": "a", "ground_truth": True}]},
     "test case 'case 1', test_cases[0].ground_truth: expected text, got true\n    hint: write it as text: 'true'"),
    ({"name": "p", "test_cases": [{"input": "a", "ground_truth": float("nan")}]},
     "test case 'case 1', test_cases[0].ground_truth: expected text, got NaN\n    hint: leave it out where there is none"),
    ({"name": "p", "test_cases": [{"input": "a", "turn": 1}]},
     "test case 'case 1', test_cases[0].turn: not a known field\n    hint: did you mean 'turns'?"),
    ({"name": "p", "description": "\ud800"}, "description: holds characters that no file can"),
    ({"name": "p", "description": object()},
     "description: a suite cannot hold a Python object\n    hint: use text, numbers, lists and mappings"),
    ({"name": "p", "response_format": {1: 2, "1": 3}}, 'response_format["1"]: repeated key \'1\''),
    ({"name": "p", "response_format": {None: 2}}, "response_format: a key must be text, got nothing"),
    ({"name": "p", "response_format": {"n": 10**5000}}, "response_format.n: expected a number of at most 4000 digits"),
    ({"name": "p", "execution": {"llm_timeout": 10**400}},
     "execution.llm_timeout: expected a number, got one too large to hold"),
    ({"name": "p", "instructions": {"file": "a.md"}},
     "instructions.file: a suite made in Python has no folder for the relative path 'a.md'\n    hint: give an absolute path, or say in which folder the suite lies"),
    ({"name": "p", "test_cases_file": "a.yaml"}, "test_cases_file: no folder for the relative path 'a.yaml'\n    hint: give an absolute path, or say in which folder the suite lies"),
    ({"name": "p", "evaluations": {"metrics": [{"grader": 5}]}},
     "evaluations.metrics[0].grader: expected `module.path:function`, got the number 5"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), REFUSED)
def test_what_cannot_be_is_refused(data, message):
    with pytest.raises(ConfigError) as refused:
        load_mapping(data)
    assert str(refused.value) == message


def test_what_is_no_mapping_is_refused():
    with pytest.raises(ConfigError) as refused:
        load_mapping(["a"])
    assert str(refused.value).splitlines()[1] == "a suite is a mapping, got a list"


def test_data_that_holds_itself_is_refused():
    block = {"a": 1}
    block["b"] = [block, block]
    with pytest.raises(ConfigError, match="holds itself"):
        load_mapping({"name": "p", "response_format": block})


def test_problems_come_in_the_order_of_the_data():
    with pytest.raises(ConfigError) as refused:
        load_mapping({
            "execution": {"quiet": 5},
            "test_cases": [{"input": "a", "evaluations": ["bleu"]}, {"input": ""}],
            "nme": "p",
            "model": {"provider": "opnai", "name": "m"},
        })  # fmt: skip
    assert [problem.path for problem in refused.value.problems] == [
        "execution.quiet", "test_cases[0].evaluations[0]", "test_cases[1].input", "nme", "model.provider",
    ]  # fmt: skip


def test_relative_paths_start_in_the_folder(tmp_path):
    (tmp_path / "cases.yaml").write_text("- {input: a}")
    (tmp_path / "graders.py").write_text("def close(context):\n    return True\n")
    data = {
        "name": "p",
        "test_cases_file": "cases.yaml",
        "evaluations": {"metrics": [{"grader": "graders:close"}]},
    }
    suite = load_mapping(data, folder=tmp_path)
    assert (len(suite.config.cases), suite.path, suite.folder) == (1, "", tmp_path)
    assert list(suite.graders) == ["graders:close"]
    assert "cases.yaml" not in suite_yaml(suite.config)
    assert data["test_cases_file"] == "cases.yaml"  # the user's own data stays as it was
