"""`${NAME}` in settings: where it is replaced, where it is not, and what is said when it cannot be."""

import os

import pytest

from holodeck_nb.errors import ConfigError
from holodeck_nb.loading.loader import load_mapping, load_suite
from holodeck_nb.loading.variables import escape, read_env_file
from holodeck_nb.loading.writer import suite_yaml
from holodeck_nb.schema.values import Substituted

REPLACED = [
    # written, and read where X is `v${Y}`, EMPTY is "" and UNSET is not there
    ("${X}", "v${Y}"),  # what comes out is not read again
    ("a ${X} b ${X}", "a v${Y} b v${Y}"),
    ("${UNSET:-d}", "d"),
    ("${UNSET:-}", ""),
    ("${EMPTY:-d}", "d"),  # as in a shell
    ("${EMPTY}", ""),
    ("${X:-d}", "v${Y}"),
    ("$${X}", "${X}"),
    ("$$${X}", "$${X}"),
    ("$X and $ 80 and $1,200", "$X and $ 80 and $1,200"),
    ("${not a name} ${} ${1} ${", "${not a name} ${} ${1} ${"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "read"), REPLACED)
def test_a_variable_is_replaced_in_settings(written, read, load, monkeypatch):
    monkeypatch.setenv("X", "v${Y}")
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.delenv("UNSET", raising=False)
    suite = load(f"name: probe\ndescription: '{written}'")
    assert suite.config.description == read
    again = load(suite_yaml(suite.config))
    assert again.config == suite.config


def test_nothing_is_replaced_elsewhere(load, monkeypatch):
    monkeypatch.setenv("X", "no")
    config = load("""\
        name: probe   # ${UNSET_NAME}
        deployment: {a: "${X}"}
        observability: {a: "${UNSET_NAME}"}
        embedding_provider: {a: "${X}"}
        evaluations: {metrics: [], optimizer: {a: "${X}"}}
        test_cases:
          - input: cost was $ 80 million, ${X}?
            evaluations: [{type: fluency, custom_prompt: "${X}"}]
            expected_tools: [{name: t, args: {"${X}": {regex: "cost.*$"}, b: "$${X}"}}]
        """).config
    turn = config.cases[0]
    assert turn.input == "cost was $ 80 million, ${X}?"
    assert turn.evaluations[0].custom_prompt == "${X}"
    assert turn.expected_tools[0].written_args == {"${X}": {"regex": "cost.*$"}, "b": "$${X}"}
    blocks = (config.deployment, config.embedding_provider, config.evaluations.optimizer)
    assert blocks == ({"a": "${X}"},) * 3
    assert config.observability == {"a": "${UNSET_NAME}"}


def test_keys_are_never_replaced(refusal, monkeypatch):
    monkeypatch.setenv("X", "name")
    assert refusal('"${X}": probe').startswith("2 problems\n")


def test_a_number_may_come_from_a_variable(load, monkeypatch):
    monkeypatch.setenv("TEMPERATURE", "0.7")
    model = load('name: p\nmodel: {provider: openai, name: m, temperature: "${TEMPERATURE}"}').config.model
    assert model.temperature == 0.7


def test_free_blocks_read_plain_variables_by_the_rules_of_yaml(load, monkeypatch):
    monkeypatch.setenv("N", "5")
    config = load("name: p\nresponse_format:\n  a: ${N}\n  b: '${N}'").config
    assert config.response_format == {"a": 5, "b": "5"}


def test_the_environment_wins_over_the_file(load, write, monkeypatch):
    write(".env", "FIRST_X=file\nSECOND_X=file\n")
    monkeypatch.setenv("FIRST_X", "environment")
    monkeypatch.delenv("SECOND_X", raising=False)
    assert load("name: ${FIRST_X} ${SECOND_X}").config.name == "environment file"
    assert "SECOND_X" not in os.environ


def test_the_file_lies_beside_the_suite(write):
    write(".env", "WHERE_X=here")
    write("suites/.env", "WHERE_X=beside")
    write("suites/agent.yaml", "name: ${WHERE_X}")
    assert load_suite("suites/agent.yaml").config.name == "beside"


ENV_LINES = [
    ("A=b", "b"),
    ("  export A = b  ", "b"),
    ("A=b c # comment", "b c"),
    ("A=b#c", "b#c"),
    ("A=", ""),
    ("A=# comment", ""),
    ("A='b # c' # d", "b # c"),
    ('A="b\\n\\"c\\""', 'b\n"c"'),
    ("A='b\\n'", "b\\n"),
    ("# A=b\n\nA=c=d", "c=d"),
    ("\ufeffA=b", "b"),
]


@pytest.mark.parametrize(("text", "value"), ENV_LINES)
def test_one_line_of_an_env_file(text, value, write):
    assert read_env_file(write(".env", text.encode())) == {"A": value}


def test_an_env_file_that_cannot_be_read_is_an_empty_one(tmp_path):
    assert read_env_file(tmp_path) == {}
    assert read_env_file(tmp_path / "nowhere") == {}


def test_an_unset_variable_is_one_problem_that_names_it_and_the_field(refusal, monkeypatch):
    monkeypatch.delenv("NOT_SET", raising=False)
    message = refusal("""\
        name: probe
        model: {provider: openai, name: m, api_key: "${NOT_SET}", temperature: "${NOT_SET}"}
        """)
    hint = "    hint: set it, put it into a .env file beside the suite, or write ${NOT_SET:-default}"
    assert message.splitlines() == [
        "2 problems",
        "agent.yaml:2: model.api_key: the environment variable NOT_SET is not set",
        hint,
        "agent.yaml:2: model.temperature: the environment variable NOT_SET is not set",
        hint,
    ]


SECRET = "KEY-7f3a-SECRET"
LEAKS = [
    # a mistake beside the secret, or with it
    'model: {provider: openai, name: m, api_key: "${PROBE_KEY}", temperature: hot}',
    'model: {provider: openai, name: m, temperature: "${PROBE_KEY}"}',
    'model: {provider: "${PROBE_KEY}", name: m}',
    'model: "${PROBE_KEY}"',
    'model: {provider: openai, name: m, api_key: ["${PROBE_KEY}"]}',
    'model: {provider: openai, name: m, auth_provider: "${PROBE_KEY}"}',
    f"model: {{provider: openai, name: m, api_key: {SECRET}, auth_provider: {SECRET}}}",
    f"model: {{provider: {SECRET}, name: m, api_key: {SECRET}}}",
    f"tools: [{{type: mcp, name: t, description: d, env: {{A: {SECRET}, B: [{SECRET}]}}}}]",
    "tools: [{type: mcp, name: t, description: d, headers: KEY-7, env: KEY-7, args: '${PROBE_KEY}'}]",
    f"tools: [{{type: mcp, name: t, description: d, headers: {SECRET}, env: {{A: {SECRET}}}}}]",
    'execution: {llm_timeout: "${PROBE_KEY}", verbose: "${PROBE_KEY}"}',
    'instructions: {file: "${PROBE_KEY}"}',
    'evaluations: {metrics: [{type: "${PROBE_KEY}"}, {grader: "${PROBE_KEY}"}, {grader: "x:${PROBE_KEY}"}]}',
    'test_cases_file: "${PROBE_KEY}"',
    'response_format: "${PROBE_KEY}"',
    'tools: [{type: function, name: "${PROBE_KEY}", description: d, file: f, function: f}]',
    f"model: {{provider: x, api_key: {SECRET}}}\ntest_cases: [{{input: a, evaluations: [{SECRET}]}}]",
]  # fmt: skip


@pytest.mark.parametrize("text", LEAKS)
def test_no_error_shows_a_secret(text, refusal, monkeypatch):
    monkeypatch.setenv("PROBE_KEY", SECRET)
    message = refusal(f"name: probe\n{text}")
    assert SECRET not in message
    assert "KEY-7" not in message


def test_no_repr_and_no_file_shows_a_secret(load, monkeypatch):
    monkeypatch.setenv("PROBE_KEY", SECRET)
    suite = load("""\
        name: probe
        model: {provider: openai, name: m, api_key: "${PROBE_KEY}", endpoint: "https://${PROBE_KEY}@host"}
        tools:
          - {type: mcp, name: t, description: d, args: ["${PROBE_KEY}"], config: {a: "${PROBE_KEY}"}}
        """)
    text = suite_yaml(suite.config)
    assert SECRET not in repr(suite) + str(suite.config) + text
    assert "api_key: ${PROBE_KEY}" in text
    assert suite.config.model.endpoint == f"https://{SECRET}@host"
    assert load(text).config == suite.config


def test_a_mapping_from_python_is_read_the_same_way(monkeypatch):
    monkeypatch.setenv("PROBE_KEY", SECRET)
    model = {"provider": "openai", "name": "m", "api_key": "${PROBE_KEY}"}
    config = load_mapping({"name": "a $${X}", "model": model}).config
    assert config.name == "a ${X}"
    assert config.model.api_key.reveal() == SECRET
    again = load_mapping({"name": "again", "model": config.model, "description": escape("${X}")}).config
    assert (again.model, again.description) == (config.model, "${X}")
    with pytest.raises(ConfigError, match=r"^description: the environment variable NOT_SET_XYZ is not set"):
        load_mapping({"name": "n", "description": "${NOT_SET_XYZ}"})


def test_a_substituted_value_survives_a_copy():
    import copy
    import pickle

    value = Substituted("v", "${X}")
    for again in (copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert (again, again.template) == ("v", "${X}")
