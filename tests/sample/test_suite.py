"""The sample as a newcomer runs it: ten conversations, a right analyst and a careless one (032 US6)."""

import json
import re
import subprocess
import sys

import pytest
import yaml

import holodeck_nb as hd

GRADER = "turn_program_equivalence"
MRO, AON = "Single_MRO/2007/page_134.pdf-1", "Single_AON/2009/page_48.pdf-1"
PM, PNC = "Double_PM/2015/page_127.pdf", "Double_PNC/2013/page_207.pdf"
AES, BLL = "Single_AES/2002/page_46.pdf-1", "Single_BLL/2007/page_35.pdf-1"
L, MAS = "Single_L/2015/page_59.pdf-2", "Double_MAS/2018/page_35.pdf"
BDX = "Single_BDX/2018/page_82.pdf-3"


def test_the_sample_loads_without_warnings(suite):
    assert suite.warnings == ()
    assert len(suite) == 10
    assert sum(len(case.conversation) for case in suite.cases) == 40
    assert [tool.name for tool in suite.config.tools] == [
        "lookup", "add", "subtract", "multiply", "divide", "exp", "greater",
    ]  # fmt: skip


def test_the_right_analyst_passes_every_turn(run):
    assert run.passed
    assert (len(run.cases), len(run.turns)) == (10, 40)
    assert run.failures.empty
    assert run.warnings.empty


def test_the_tools_are_really_called(run):
    calls = run.tool_calls
    assert set(calls["name"]) == {"lookup", "add", "subtract", "multiply", "divide", "greater"}
    assert calls["error"].isna().all()
    assert calls["result"].notna().all()
    assert calls["duration_ms"].notna().all()


def test_every_answer_that_is_looked_up_is_the_figure_that_the_tool_gave(run):
    """A turn with lookups alone repeats one of them: the replies hold no figure of their own."""
    answers = run.turns.set_index(["case", "turn"])["response"]
    looked_up = 0
    for place, calls in run.tool_calls.groupby(["case", "turn"]):
        if calls["name"].tolist() == ["lookup"]:
            assert calls["result"].tolist() == [pytest.approx(_value(answers[place]))]
            looked_up += 1
    assert looked_up == 13


def _value(text):
    number = float(text.strip("$%").replace(",", ""))
    return number / 100 if text.endswith("%") else number


def test_three_kinds_of_check_meet_on_one_turn(suite, run):
    (case,) = suite.select(name=MRO).cases
    last = case.turns[-1]
    assert last.expected_tools[0].written == {
        "name": "subtract", "args": {"a": {"fuzzy": "60.94"}, "b": {"fuzzy": "25.14"}},
    }  # fmt: skip
    metrics = run.metrics.query("case == @MRO and turn == 4")
    assert metrics[["metric", "kind", "passed"]].values.tolist() == [
        ["numeric", "standard", True],
        [GRADER, "code", True],
    ]


def test_metrics_stand_at_all_three_levels(suite):
    def levels(name, turn):
        case = next(case for case in suite.cases if case.name == name)
        metrics = suite.config.metrics_for(case, case.turns[turn])
        return [getattr(metric, "metric", None) or metric.default_id for metric in metrics]

    assert levels(MRO, 0) == ["numeric", GRADER]  # the agent's
    assert levels(BLL, 0) == ["numeric", GRADER]  # the case's own
    assert levels(PNC, 1) == ["equality", GRADER]  # the turn's own, the grader by name
    assert levels(AES, 4) == ["equality", GRADER]  # the same in full
    ball = next(case for case in suite.cases if case.name == BLL)
    assert [metric.type for metric in ball.evaluations] == ["standard", "code"]
    assert suite.config.agent_metrics[0].absolute_tolerance == 0.0001


def test_usage_is_told_where_a_reply_tells_it(run):
    cases = run.cases.set_index("case")
    assert cases.loc[MRO, "total_tokens"] == 5258
    assert cases.loc[MRO, "usage_complete"]
    assert cases["total_tokens"].isna()[PM]


# turn, what its reason says
MISTAKES = [
    (MRO, 1, "failed", [
        "lookup: closest call #1: column expected 2005, got '2006'", "numeric: expected 25.14, got 37.84",
    ]),
    (MRO, 4, "failed", ["numeric: expected 1.42403, got 1.42"]),
    (AON, 0, "failed", ["numeric: expected -89, got 89", "the sign is opposite"]),
    (AON, 2, "failed", [
        "divide: closest call #2: b expected 1356, got -89", "numeric: expected -0.06563, got -15.236",
        "step 2 swaps its operands: divide(1356, -89), the program divide(#0, 1356)",
    ]),
    (PM, 3, "failed", ["numeric: expected 0.37738, got 0.0037738", "100 times too small"]),
    (PM, 5, "failed", [
        "divide: closest call #2: b expected 4190, got 6826", "numeric: expected 0.62912, got 0.3862",
        "step 2 divides by 6826, the program by 4190",
    ]),
    (PNC, 0, "failed", ["2 numbers and none is marked as the answer: 36,197, 1,189"]),
    (AES, 4, "failed", [
        "greater: never called", "step 1, subtract(17.84, 4.11), is missing: called was no tool at all",
    ]),
    (L, 1, "error", ["no reply within 2 s"]),
    (MAS, 2, "error", ["503 from the provider: overloaded"]),
    (MAS, 3, "failed", [
        "a expected 15.1%, got 15.1 (100 times too large)",
        "step 1 is subtract(15.1, 15.7), the program's subtract(15.1%, 15.7%) (100 times too large)",
    ]),
    (BDX, 4, "error", ["connection to the provider lost"]),
    (BDX, 5, "skipped", ["the session was lost on turn 4"]),
]  # fmt: skip


def test_the_careless_analyst_fails_on_the_listed_turns_alone(careless):
    turns = careless.turns
    not_passed = turns[turns["status"] != "passed"]
    found = list(not_passed[["case", "turn", "status"]].itertuples(index=False, name=None))
    assert found == [mistake[:3] for mistake in MISTAKES]


@pytest.mark.parametrize(("case", "turn", "status", "told"), MISTAKES)
def test_the_reason_names_the_mistake(careless, case, turn, status, told):
    (reason,) = careless.turns.query("case == @case and turn == @turn")["reason"]
    assert [text for text in told if text not in reason] == []


# Which checks find a mistake, and which do not: turn -> numeric or equality, grader, expected tools.
FOUND_BY = [
    (MRO, 1, False, True, False),
    (MRO, 4, False, True, True),
    (AON, 0, False, True, True),
    (AON, 2, False, False, False),
    (PM, 3, False, True, True),
    (PM, 5, False, False, False),
    (PNC, 0, False, True, True),
    (AES, 4, True, False, False),
    (MAS, 3, True, False, False),
]


@pytest.mark.parametrize(("case", "turn", "answer", "grader", "tools"), FOUND_BY)
def test_each_mistake_is_found_by_the_checks_it_concerns(careless, case, turn, answer, grader, tools):
    metrics = careless.metrics.query("case == @case and turn == @turn")
    assert metrics["passed"].tolist() == [answer, grader]
    checks = careless.tool_checks.query("case == @case and turn == @turn")
    assert checks["matched"].all() == tools


def test_wordy_answers_that_are_right_pass(careless):
    turns = careless.turns.set_index(["case", "turn"])
    for case, turn in ((MRO, 2), (AES, 0), (PNC, 1)):
        assert turns.loc[(case, turn), "passed"]


def test_the_turn_after_a_timeout_or_an_error_is_played(careless):
    turns = careless.turns.set_index(["case", "turn"])
    assert turns.loc[(L, 2), "status"] == "passed"
    assert turns.loc[(MAS, 3), "response"] == "-0.6%"


def test_the_readme_lists_the_careless_analysts_mistakes(sample):
    listed, case = [], None
    for line in (sample / "README.md").read_text(encoding="utf-8").splitlines():
        row = re.fullmatch(r"\| (?:`([^`]+)`)? ?\| (\d) \| .+ \| .+ \|", line)
        if row:
            case = row[1] or case
            listed.append((case, int(row[2])))
    assert listed == [mistake[:2] for mistake in MISTAKES]


def test_the_careless_suite_is_the_same_suite(sample):
    def rest(name):
        data = yaml.safe_load((sample / name).read_text(encoding="utf-8"))
        return {key: data[key] for key in data if key not in {"name", "description", "model", "execution"}}

    assert rest("careless.yaml") == rest("agent.yaml")


def test_the_careless_replies_differ_where_they_are_marked(sample):
    texts = [
        yaml.safe_load((sample / "replies" / name).read_text(encoding="utf-8"))
        for name in ("analyst.yaml", "careless.yaml")
    ]
    right, wrong = texts
    differ = [
        (case, turn)
        for case, replies in right.items()
        for turn, reply in enumerate(replies)
        if turn >= len(wrong[case]) or wrong[case][turn] != reply
    ]
    assert set(differ) == {mistake[:2] for mistake in MISTAKES} | {(MRO, 2), (AES, 0), (PNC, 1)}


@pytest.mark.parametrize(("file", "code"), [("agent.yaml", 0), ("careless.yaml", 1)])
def test_the_command_of_the_readme(sample, file, code):
    done = _command(sample.parents[1], f"sample/financial-assistant/{file}")
    assert done.returncode == code, done.stderr


def test_the_command_in_the_samples_folder_needs_no_name(sample):
    done = _command(sample)
    assert done.returncode == 0, done.stderr


def _command(folder, *arguments):
    command = [sys.executable, "-m", "holodeck_nb", "test", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def test_the_python_of_the_readme_runs(sample, monkeypatch):
    monkeypatch.chdir(sample.parents[1])
    blocks = re.findall(r"```python\n(.*?)```", (sample / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    shared = {}
    for block in blocks:
        exec(block, shared)
    assert shared["run"].passed
    assert not shared["careless"].passed
    assert shared["my_agent"]("How much was it two years earlier?", None).text == "25.14"


def test_the_turn_in_the_readme_is_the_one_in_the_data(sample):
    (block,) = re.findall(r"```yaml\n(.*?)```", (sample / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    cases = json.loads((sample / "data" / "convfinqa_subset.json").read_text(encoding="utf-8"))
    assert yaml.safe_load(block) == cases[0]["turns"][4]


MODELS = ["ollama", "openai", "anthropic"]


@pytest.mark.parametrize("provider", MODELS)
def test_the_model_blocks_in_comments_load_once_their_key_is_there(copy, monkeypatch, provider):
    """US6: the suite loads on each backend when its key is present."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    text = (copy / "agent.yaml").read_text(encoding="utf-8")
    text = text.replace("model:\n  provider: scripted\n  name: analyst\n  script: replies/analyst.yaml\n", "")
    commented = re.search(rf"^# model: .*\n#   provider: {provider}\n(?:#   .*\n)+", text, re.MULTILINE)[0]
    (copy / "agent.yaml").write_text(
        text.replace(commented, re.sub(r"^# ", "", commented, flags=re.MULTILINE))
    )
    suite = hd.Suite.from_yaml(copy / "agent.yaml")
    assert suite.config.model.provider == provider
    assert len(suite) == 10


def test_a_missing_key_is_a_config_error(copy, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    text = (copy / "agent.yaml").read_text(encoding="utf-8")
    text = text.replace("  script: replies/analyst.yaml\n", "  api_key: ${OPENAI_API_KEY}\n")
    (copy / "agent.yaml").write_text(text.replace("provider: scripted", "provider: openai"))
    with pytest.raises(hd.ConfigError, match="OPENAI_API_KEY"):
        hd.Suite.from_yaml(copy / "agent.yaml")


def test_a_broken_grader_path_names_case_turn_and_path(copy):
    file = copy / "data" / "convfinqa_subset.json"
    cases = json.loads(file.read_text(encoding="utf-8"))
    greater = next(case for case in cases if case["name"] == AES)["turns"][4]
    greater["evaluations"][1]["grader"] = "graders:turn_program_equivalents"
    file.write_text(json.dumps(cases, indent=2), encoding="utf-8")
    with pytest.raises(hd.ConfigError) as error:
        hd.Suite.from_yaml(copy / "agent.yaml")
    (problem,) = error.value.problems
    told = str(problem)
    assert f"test case '{AES}'" in told
    assert "turns[4].evaluations[1].grader" in told
    assert "graders:turn_program_equivalents" in told
    assert "did you mean 'turn_program_equivalence'?" in told


def test_a_broken_grader_path_makes_the_command_exit_with_2(copy):
    text = (copy / "agent.yaml").read_text(encoding="utf-8")
    (copy / "agent.yaml").write_text(text.replace("graders:turn", "benchmarks:turn"), encoding="utf-8")
    done = _command(copy)
    assert done.returncode == 2
    assert "benchmarks:turn_program_equivalence" in done.stderr


def test_a_wrong_argument_is_pinpointed(suite):
    """US6-3, with the program of the specification's kind: the report says which argument differs."""

    def agent(text):
        wrong = hd.ToolInvocation("subtract", {"a": 60.94, "b": 37.84}, result=23.1)
        return hd.Reply("23.1", (wrong,))

    checks = suite.select(name=MRO).run(agent=agent, quiet=True).tool_checks
    rows = checks.query("turn == 2 and tool == 'subtract'")
    assert rows[["arg", "expected", "actual", "matched"]].values.tolist() == [
        ["a", "60.94", 60.94, True],
        ["b", "25.14", 37.84, False],
    ]


def test_an_agent_without_tools_gets_its_answers_judged_all_the_same(suite):
    run = suite.run(agent=lambda text: "no", quiet=True)
    assert len(run.turns) == 40
    assert set(run.turns["status"]) == {"failed"}
