# ruff: noqa: E501 - a message stands whole on its line, as its reader sees it
"""Where the settings of a run come from, and what is said of bad ones."""

from dataclasses import asdict

import pytest

from holodeck_nb.errors import ConfigError
from holodeck_nb.loading.execution import Execution, resolve_execution
from holodeck_nb.schema.suite import ExecutionConfig

ORDER = [
    # argument, YAML, variable, and what counts
    (8, 2, "5", 8),
    (None, 2, "5", 2),
    (None, None, "5", 5),
    (None, None, None, 1),
    (None, None, "", 1),
    (8, None, "many", 8),  # a variable that does not count may be anything
]


@pytest.mark.parametrize(("argument", "written", "variable", "wanted"), ORDER)
def test_argument_then_suite_then_variable_then_default(argument, written, variable, wanted):
    config = None if written is None else ExecutionConfig(parallel_test_cases=written)
    environment = {} if variable is None else {"HOLODECK_PARALLEL_TEST_CASES": variable}
    resolved = resolve_execution(config, {"parallel_test_cases": argument}, environment)
    assert resolved.parallel_test_cases == wanted


def test_every_field_has_a_variable():
    values = {
        "llm_timeout": 1.5, "file_timeout": 2.0, "download_timeout": 3.0, "grader_timeout": 4.0,
        "max_retries": 0, "cache_enabled": False, "cache_dir": "c", "parallel_test_cases": 7, "verbose": True, "quiet": True,
    }  # fmt: skip
    environment = {f"HOLODECK_{name.upper()}": f" {value} " for name, value in values.items()}
    assert asdict(resolve_execution(None, {}, environment)) == values
    assert asdict(resolve_execution(None, values, {})) == values
    assert asdict(resolve_execution(ExecutionConfig(**values), {}, {})) == values


def test_the_defaults():
    assert resolve_execution(ExecutionConfig(), {}, {}) == Execution(
        60.0, 30.0, 30.0, 60.0, 2, True, ".holodeck/cache", 1, False, False
    )


def test_the_process_environment_counts(monkeypatch):
    monkeypatch.setenv("HOLODECK_LLM_TIMEOUT", "12")
    assert resolve_execution(None, {}).llm_timeout == 12


BAD = [
    ({"llm_timeout": 0}, {}, "run(llm_timeout=…): expected more than 0, got 0"),
    ({"llm_timeout": "soon"}, {}, "run(llm_timeout=…): expected a number, got 'soon'"),
    ({"llm_timeout": True}, {}, "run(llm_timeout=…): expected a number, got true"),
    ({"llm_timeout": float("nan")}, {}, "run(llm_timeout=…): expected a number, got the number nan"),
    ({"max_retries": 1.5}, {}, "run(max_retries=…): expected a whole number, got the number 1.5"),
    ({"quiet": 1}, {}, "run(quiet=…): expected true or false, got the number 1"),
    ({}, {"HOLODECK_MAX_RETRIES": "-1"}, "HOLODECK_MAX_RETRIES: expected at least 0, got -1"),
    ({}, {"HOLODECK_VERBOSE": "2"}, "HOLODECK_VERBOSE: expected true or false, got '2'"),
    ({"timeout": 1}, {}, "run(timeout=…): run has no argument 'timeout'"),
    ({"max_retries": "x"}, {"HOLODECK_QUIET": "x"}, """\
2 problems
run(max_retries=…): expected a number, got 'x'
HOLODECK_QUIET: expected true or false, got 'x'"""),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "environment", "message"), BAD)
def test_a_bad_value_names_the_argument_or_the_variable(arguments, environment, message):
    with pytest.raises(ConfigError) as refused:
        resolve_execution(None, arguments, environment)
    assert str(refused.value) == message
