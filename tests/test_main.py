"""The command: what it prints where, and its exit codes."""

import json
import re
import subprocess
import sys
from textwrap import dedent

import pytest

from holodeck_nb.__main__ import main
from holodeck_nb.results.records import TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.run import Run

SUITE = """\
name: cash
model: {provider: scripted, script: replies.yaml}
evaluations: {metrics: [{type: numeric}]}
test_cases:
  - {name: right, input: "net cash in 2009?", ground_truth: 206588}
  - {name: wrong, input: "net cash in 2008?", ground_truth: 181001}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.yaml").write_text(SUITE)
    (tmp_path / "replies.yaml").write_text('right: ["206,588"]\nwrong: ["It was 180,000."]\n')
    return tmp_path


EXITS = [
    # arguments                                       exit code
    (["test", "--case", "right"],                     0),
    (["test", "agent.yaml", "--case", "r*"],          0),
    (["test"],                                        1),
    (["test", "--parallel", "2"],                     1),
    (["test", "--case", "nothing*"],                  2),  # no case at all
    (["test", "missing.yaml"],                        2),
    (["test", "--parallel", "0"],                     2),
    (["test", "--model", "olama:qwen3:8b"],           2),  # no such provider
    (["validate"],                                    0),
    (["validate", "missing.yaml"],                    2),
    (["schema"],                                      0),
    (["test", "--output", "no/such/folder/r.json"],   3),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code"), EXITS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_exit_codes(folder, arguments, code):
    assert main(arguments) == code


@pytest.mark.parametrize(
    "arguments", [["test"], ["test", "--verbose"], ["test", "--output", "r.json"], ["validate"]]
)
def test_standard_output_stays_empty(folder, capsys, arguments):
    main(arguments)
    assert capsys.readouterr().out == ""


def test_the_summary_names_every_failure(folder, capsys):
    main(["test"])
    assert re.sub(r"\d+ ms", "TIME", capsys.readouterr().err) == dedent("""\
        ✅ 1/2 right: passed
        ❌ 2/2 wrong: failed — turn 0: numeric: expected 181001, got 180000 (difference 1001, tolerance 1e-06)
        2 tests · 1 passed · 1 failed · pass rate 50.0 % · TIME
        """)


def test_quiet_says_nothing(folder, capsys):
    assert main(["test", "--quiet"]) == 1
    assert capsys.readouterr().err == ""


def test_verbose_adds_the_turns(folder, capsys):
    main(["test", "--verbose", "--case", "right"])
    assert "   ✅ right, turn 0: passed\n" in capsys.readouterr().err


REPORTS = [
    (["--output", "report.json"], "report.json", "{"),
    (["--output", "report.md"], "report.md", "#"),
    (["--output", "report.txt", "--format", "markdown"], "report.txt", "#"),
    (["--output", "report.md", "--format", "json"], "report.md", "{"),
]


@pytest.mark.parametrize(("arguments", "file", "begins"), REPORTS)
def test_the_report_is_of_the_form_asked_for(folder, arguments, file, begins):
    main(["test", *arguments])
    assert (folder / file).read_text(encoding="utf-8").startswith(begins)


def test_a_format_without_a_file_goes_to_standard_output(folder, capsys):
    main(["test", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["summary"]["total_tests"] == 2


def test_a_broken_suite_is_told_with_its_place_and_nothing_is_written(folder, capsys):
    (folder / "agent.yaml").write_text(SUITE.replace("ground_truth: 206588", "ground_thruth: 206588"))
    assert main(["test", "--output", "report.json"]) == 2
    assert capsys.readouterr().err == (
        "agent.yaml:5: test case 'right', test_cases[0].ground_thruth: not a known field\n"
        "    hint: did you mean 'ground_truth'?\n"
    )
    assert not (folder / "report.json").exists()


def test_a_run_that_had_to_stop_could_not_run(folder, monkeypatch):
    def refused(suite, **_):
        turn = TurnResult(0, "q", error="the key is refused: set OPENAI_API_KEY")
        result = RunResult("cash", (CaseResult("right", 0, (turn,)),), stop_reason=turn.error)
        return Run(result)

    monkeypatch.setattr("holodeck_nb.suite.Suite.run", refused)
    assert main(["test"]) == 3


def test_an_unexpected_fault_shows_its_trace_only_when_asked_to(folder, capsys, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr("holodeck_nb.suite.Suite.run", broken)
    assert main(["test"]) == 3
    assert capsys.readouterr().err == "could not run: RuntimeError: boom\n"
    assert main(["test", "--verbose"]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_it_is_a_module_and_says_its_version():
    done = subprocess.run(
        [sys.executable, "-m", "holodeck_nb", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("holodeck-nb ")
