# ruff: noqa: E501 - a message stands whole on its line, as its reader sees it
"""Files and graders that a suite names are looked at while it loads."""

import textwrap

import pytest

BROKEN = {
    "does not compile": "def close(context:\n",
    "raises": "1 / 0\n",
    "ends the program": "raise SystemExit(3)\n",
    "has no such function": "def other(context): ...\n",
    "has something else of that name": "close = 5\n",
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN.keys())
def test_a_grader_that_cannot_be_imported_names_case_and_turn(source, refusal, write):
    write("graders.py", source)
    message = refusal("""\
        name: probe
        test_cases:
          - name: graded
            turns:
              - input: a
              - input: b
                evaluations:
                  - {type: code, grader: "graders:close"}
                  - {type: code, grader: "graders:close", name: again}
        """)
    place = "agent.yaml:8: test case 'graded', test_cases[0].turns[1].evaluations[0].grader: grader 'graders:close'"
    assert message.startswith(place)  # once, at the first place that uses it
    assert "Traceback" not in message


def test_a_grader_is_imported_once_from_the_suites_folder(load, write):
    write("graders.py", "with open('log', 'a') as log:\n    log.write('x')\ndef close(context): ...\n")
    suite = load("""\
        name: probe
        evaluations: {metrics: [{grader: "graders:close"}, {grader: "graders:close"}]}
        test_cases: [{input: a, evaluations: [{grader: "graders:close"}, close]}]
        """)
    assert list(suite.graders) == ["graders:close"]
    assert (suite.folder / "log").read_text() == "x"


def test_every_missing_file_is_told_where_it_is_named(refusal, write):
    write("here/x", "")
    message = refusal("""\
        name: probe
        model: {provider: scripted, script: replies.yaml}
        instructions: {file: prompt.md}
        response_format: schema.json
        tools: [{name: t, description: d, file: tools.py, function: f}]
        test_cases:
          - {input: a, files: [{path: a.pdf, type: pdf}, {path: here, type: pdf}, {url: "http://x", type: pdf}]}
          - turns: [{input: a, files: [{path: a.pdf, type: pdf}, {path: /no/such.pdf, type: pdf}]}]
        """)
    told = [line for line in message.splitlines()[1:] if not line.startswith("    hint")]
    assert told == textwrap.dedent("""\
        agent.yaml:2: model.script: file 'replies.yaml' not found
        agent.yaml:3: instructions.file: file 'prompt.md' not found
        agent.yaml:4: response_format: file 'schema.json' not found
        agent.yaml:5: tools[0].file: file 'tools.py' not found
        agent.yaml:7: test case 'case 1', test_cases[0].files[0].path: file 'a.pdf' not found
        agent.yaml:7: test case 'case 1', test_cases[0].files[1].path: file 'here' is a folder, not a file
        agent.yaml:8: test case 'case 2', test_cases[1].turns[0].files[0].path: file 'a.pdf' not found
        agent.yaml:8: test case 'case 2', test_cases[1].turns[0].files[1].path: file '/no/such.pdf' not found
        """).splitlines()  # fmt: skip
    assert message.splitlines()[-1].endswith(
        "file '/no/such.pdf' not found"
    )  # an absolute path needs no hint


def test_files_that_are_there_are_fine(load, write):
    for name in ("replies.yaml", "prompt.md", "schema.json", "tools.py", "data/a.pdf"):
        write(name, "")
    load("""\
        name: probe
        model: {provider: scripted, script: replies.yaml}
        instructions: {file: prompt.md}
        response_format: schema.json
        tools: [{name: t, description: d, file: tools.py, function: f}]
        test_cases: [{input: a, files: [{path: data/a.pdf, type: pdf}]}]
        """)
