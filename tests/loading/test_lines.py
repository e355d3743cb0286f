# ruff: noqa: E501 - a message stands whole on its line, as its reader sees it
"""Lines and paths through anchors, merge keys and the file with the test cases; everything at once."""

import textwrap

import pytest

from holodeck_nb.errors import ConfigError
from holodeck_nb.loading.loader import load_suite


def test_every_mistake_is_told_at_once_in_the_order_of_the_file(refusal):
    message = refusal("""\
        name: probe
        test_cases:
          - name: typo
            evaluations: [{type: standard, metric: numeric, abolute_tolerance: 0.01}]
            turns:
              - {input: a, ground_truth: "1", expected_tool: [subtract]}
              - {input: b, ground_truths: "2"}
              - input: c
                files: [{path: gone.pdf, type: pdf}]
                evaluations: [rouge]
          - turns:
              - {input: a, ground_truth: 1, ground_truth: 2}
        modle: x
        """)
    assert message == textwrap.dedent("""\
        7 problems
        agent.yaml:4: test case 'typo', test_cases[0].evaluations[0].abolute_tolerance: not a known field
            hint: did you mean 'absolute_tolerance'?
        agent.yaml:6: test case 'typo', test_cases[0].turns[0].expected_tool: not a known field
            hint: did you mean 'expected_tools'?
        agent.yaml:7: test case 'typo', test_cases[0].turns[1].ground_truths: not a known field
            hint: did you mean 'ground_truth'?
        agent.yaml:9: test case 'typo', test_cases[0].turns[2].files[0].path: file 'gone.pdf' not found
            hint: a relative path starts in the folder of the file that names it
        agent.yaml:10: test case 'typo', test_cases[0].turns[2].evaluations[0]: the agent's metrics have none called 'rouge'
            hint: write `- type: rouge` to define it here
        agent.yaml:12: test case 'case 2', test_cases[1].turns[0].ground_truth: repeated key 'ground_truth', first on line 12
        agent.yaml:13: modle: not a known field
            hint: did you mean 'model'?""")


def test_a_mistake_below_an_anchor_is_told_once_where_it_was_written(refusal):
    message = refusal("""\
        name: probe
        test_cases:
          - turns: &turns
              - input: a
                ground_truth: ""
          - name: again
            turns: *turns
        """)
    assert message == textwrap.dedent("""\
        agent.yaml:5: test case 'case 1', test_cases[0].turns[0].ground_truth: cannot be blank""")


def test_merged_keys_are_the_weaker_ones_and_keep_their_lines(load, refusal):
    text = """\
        name: probe
        model: &model
          provider: scripted
          temperature: {}
        evaluations:
          model:
            <<: [{{top_p: 0.5}}, *model]
            top_p: 0.25
          metrics: []
        """
    judge = load(text.format("0.7")).config.evaluations.model
    assert (judge.provider, judge.temperature, judge.top_p) == ("scripted", 0.7, 0.25)
    assert refusal(text.format("hot")) == textwrap.dedent("""\
        agent.yaml:4: model.temperature: expected a number, got 'hot'""")


def test_a_quoted_merge_key_is_a_key_like_any_other(load):
    case = load("""\
        name: probe
        test_cases: [{turns: [{input: a, turn_config: {"<<": 1}}]}]
        """).config.cases[0]
    assert case.turns[0].turn_config == {"<<": 1}


def test_two_merges_in_one_mapping_are_a_repeated_key(refusal):
    message = refusal("""\
        name: probe
        model:
          <<: {provider: scripted}
          <<: {name: b}
        """)
    assert message == textwrap.dedent("""\
        agent.yaml:4: model["<<"]: repeated key '<<', first on line 3
            hint: write several merges as one: `<<: [*first, *second]`""")


def test_repeated_names_are_numbered(refusal):
    message = refusal("""\
        name: probe
        test_cases:
          - {name: cash, input: a}
          - {name: cash, input: ""}
        """)
    assert message == "agent.yaml:4: test case 'cash #2', test_cases[1].input: cannot be blank"


LISTED = "- {name: ext, input: hello, expected_tools: [lookup]}\n"


@pytest.mark.parametrize("text", [LISTED, f"test_cases:\n{LISTED}", '[{"name": "ext", "input": "hello"}]'])
def test_cases_may_stand_in_a_file_of_their_own(text, load, write):
    write("cases/all.yaml", text)
    config = load("name: probe\ntest_cases_file: cases/all.yaml").config
    assert [case.name for case in config.cases] == ["ext"]
    assert config.test_cases_file is None  # the cases are the suite's from now on


@pytest.mark.parametrize(("first", "path"), [("", "[0]"), ("test_cases:\n", "test_cases[0]")])
def test_problems_of_the_cases_file_carry_its_name_lines_and_paths(first, path, write):
    write("suites/agent.yaml", "name: probe\ntest_cases_file: cases.yaml\nmodle: x")
    write(
        "suites/cases.yaml", f"{first}- name: ext\n  turns:\n  - input: a\n    ground_truth: ''\n    input: b"
    )
    line = 4 + bool(first)
    with pytest.raises(ConfigError) as refused:
        load_suite("suites/agent.yaml")
    assert (
        str(refused.value)
        == textwrap.dedent(f"""\
        3 problems
        suites/agent.yaml:3: modle: not a known field
            hint: did you mean 'model'?
        suites/cases.yaml:{line}: test case 'ext', {path}.turns[0].ground_truth: cannot be blank
        suites/cases.yaml:{line + 1}: test case 'ext', {path}.turns[0].input: repeated key 'input', first on line {line - 1}""")
    )


UNUSABLE = [
    # the file, and what is said
    (None, "agent.yaml:2: test_cases_file: file 'cases.yaml': file not found"),
    ("", "agent.yaml:2: test_cases_file: file 'cases.yaml': expected a list of test cases, or a mapping with `test_cases` alone, got nothing"),
    ("foo: bar", "cases.yaml:1: expected a list of test cases, or a mapping with `test_cases` alone, got the keys foo"),
    ("hello", "cases.yaml:1: expected a list of test cases, or a mapping with `test_cases` alone, got 'hello'"),
    ("- a\nb: c", "cases.yaml:2: broken YAML: did not find expected '-' indicator, while parsing a block collection that begins on line 1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), UNUSABLE)
def test_a_cases_file_that_cannot_be_used_hides_no_other_mistake(text, message, refusal, write):
    if text is not None:
        write("cases.yaml", text)
    assert refusal("name: probe\ntest_cases_file: cases.yaml\nexecution: {llm_timeout: 0}").splitlines() == [
        "2 problems",
        *sorted([message, "agent.yaml:3: execution.llm_timeout: expected more than 0, got 0"]),
    ]


def test_cases_stand_in_one_place_alone(refusal, write):
    write("cases.yaml", LISTED)
    assert refusal("name: probe\ntest_cases_file: cases.yaml\ntest_cases: [{input: y}]") == (
        "agent.yaml:2: test_cases_file: does not go with `test_cases`: the cases stand in the one or in the other"
    )


def test_files_of_cases_are_looked_up_beside_the_file_that_names_them(load, refusal, write):
    write("cases/report.pdf", "")
    write("cases/all.yaml", "- {input: a, files: [{path: report.pdf, type: pdf}]}")
    suite = load("name: probe\ntest_cases_file: cases/all.yaml")
    file = suite.config.cases[0].files[0]
    assert suite.folder / file.path == suite.folder / "cases" / "report.pdf"
    write("cases/all.yaml", "- {input: a, files: [{path: agent.yaml, type: text}]}")
    assert "file 'cases/agent.yaml' not found" in refusal("name: probe\ntest_cases_file: cases/all.yaml")


def test_the_working_directory_does_not_matter(write, monkeypatch, tmp_path):
    write("suites/prompt.md", "Be kind.")
    write("suites/agent.yaml", "name: probe\ninstructions: {file: prompt.md}")
    suite = load_suite("suites/agent.yaml")
    assert (suite.folder, suite.path) == (tmp_path / "suites", "suites/agent.yaml")
    monkeypatch.chdir(tmp_path / "suites")
    assert load_suite("agent.yaml").folder == suite.folder


def test_a_suite_without_cases_loads(load):
    assert load("name: probe").config.cases == ()
