"""46 places where HoloDeck 0.7.1 falls short of its own requirements: here, what is wanted is done."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import cases_interpreter as cases
import pytest

import holodeck_nb as hd
from holodeck_nb.__main__ import main
from holodeck_nb.schema.metrics import StandardMetric

FILES = "a file reader"
WAITING = {
    "div-24": FILES,
    "div-25": FILES,
    "div-26": FILES,
    "div-27": FILES,
    "div-28": FILES,
    "div-30": FILES,
    "div-36": "a provider's adapter, which reads the arguments of calls",
}
FAULTS = {}


def fault(number):
    def keep(function):
        FAULTS[f"div-{number:02}"] = function
        return function

    return keep


@pytest.mark.parametrize("row", cases.rows("reference_faults.json"))
def test_what_is_wanted_is_done(row, tmp_path, monkeypatch):
    if row["id"] in WAITING:
        pytest.skip(f"waiting for {WAITING[row['id']]}")
    FAULTS[row["id"]](tmp_path, monkeypatch)


def test_every_fault_has_a_test_or_waits():
    every = {row["id"] for row in cases.read("reference_faults.json")}
    assert len(every) == 46
    assert FAULTS.keys() | WAITING.keys() == every
    assert not FAULTS.keys() & WAITING.keys()


NUMERIC = {"type": "numeric"}
LOOSE = {"type": "numeric", "absolute_tolerance": 0.5}


def run(test_cases, replies=None, *, metrics=(), agent=None, folder=None, **arguments):
    """A run of these cases; replies of one case may be given as a list."""
    suite = hd.Suite.from_dict(
        {"name": "probe", "test_cases": test_cases, "evaluations": list(metrics)}, folder=folder
    )
    who = {"agent": agent} if agent else {"backend": hd.ScriptedBackend(replies)}
    return suite.run(quiet=True, **who, **arguments)


def one(turn, reply, *, metrics=(), **arguments):
    """The only turn of the only case."""
    return run([turn], {"#0": [reply]}, metrics=metrics, **arguments).result.cases[0].turns[0]


def code(grader, **fields):
    return {"type": "code", "grader": grader, **fields}


def refused(**fields):
    with pytest.raises(hd.ConfigError) as caught:
        hd.Suite(**{"name": "probe", **fields})
    return caught.value


def passed(run_):
    return [turn.passed for _, turn in run_.result.turns()]


def report(run_):
    return cases.strict_json(run_.to_json())


@fault(1)
def one_turns_tolerance_is_its_own(folder, patch):
    turns = [
        {"input": "a", "ground_truth": "1.0"},
        {"input": "b", "ground_truth": "1.0", "evaluations": [LOOSE]},
    ]
    assert passed(run([{"turns": turns}], {"#0": ["1.4", "1.4"]}, metrics=[NUMERIC])) == [False, True]
    assert passed(run([{"turns": turns[::-1]}], {"#0": ["1.4", "1.4"]}, metrics=[NUMERIC])) == [True, False]


@fault(2)
def a_later_override_takes_nothing_from_an_earlier_turn(folder, patch):
    strict = {"type": "numeric", "accept_thousands_separators": False}
    turns = [
        {"input": "a", "ground_truth": "25587"},
        {"input": "b", "ground_truth": "25587", "evaluations": [strict]},
    ]
    result = run([{"turns": turns}], {"#0": ["25,587", "25,587"]}, metrics=[NUMERIC])
    assert passed(result) == [True, False]
    assert "accept_thousands_separators is false" in result.result.cases[0].reason


@fault(3)
def zeros_count_in_an_average(folder, patch):
    truths = ["1", "2", "3", "4"]
    suite = [{"input": "q", "ground_truth": truth} for truth in truths]
    summary = report(run(suite, agent=lambda text: "1", metrics=[NUMERIC]))["summary"]
    assert (summary["average_scores"], summary["metrics_evaluated"]) == ({"numeric": 0.25}, {"numeric": 4})


@fault(4)
def an_empty_reply_is_judged(folder, patch):
    turn = one({"input": "q", "ground_truth": "42"}, "", metrics=[NUMERIC, {"type": "equality"}])
    assert [metric.status for metric in turn.metrics] == ["failed", "failed"]


@fault(5)
def an_unreadable_reply_says_why(folder, patch):
    result = run([{"input": "q", "ground_truth": "42"}], agent=lambda text: "n/a", metrics=[NUMERIC])
    [metric] = report(result)["results"][0]["metric_results"]
    assert (metric["score"], metric["passed"]) == (0.0, False)
    assert metric["reasoning"] == "expected 42, but no number could be read: no number in the text"


@fault(6)
def a_disabled_metric_is_not_run(folder, patch):
    off = {"type": "standard", "metric": "numeric", "enabled": False}
    turn = one({"input": "q", "ground_truth": "42"}, "7", metrics=[off])
    assert (turn.metrics, turn.passed) == ((), True)


@fault(7)
def a_session_that_cannot_be_opened_is_one_cases_fault(folder, patch):
    class Full(hd.ScriptedBackend):
        async def create_session(self, context):
            if context.index == 1:
                raise OSError("no seat")
            return await super().create_session(context)

    suite = hd.Suite(name="s", test_cases=[{"name": name, "input": "q"} for name in "abc"])
    result = suite.run(backend=Full({name: ["x"] for name in "abc"}), quiet=True)
    assert [case.passed for case in result.result.cases] == [True, False, True]
    assert [entry["passed"] for entry in report(result)["results"]] == [True, False, True]
    assert "no seat" in report(result)["results"][1]["errors"][0]


def raising(context):
    raise ValueError("no row")


@fault(8)
def fail_on_error_ends_a_single_turn_case_alone(folder, patch):
    metrics = [code(raising, fail_on_error=True)]
    suite = [{"input": "q", "evaluations": metrics}, {"input": "q"}]
    assert passed(run(suite, agent=lambda text: "x")) == [False, True]


@fault(9)
def fail_on_error_keeps_the_turn_and_tells_the_true_reason(folder, patch):
    reply = {
        "text": "kept",
        "tool_calls": [{"name": "t", "result": 1}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    result = run(
        [{"turns": [{"input": "a"}, {"input": "b"}]}],
        {"#0": [reply, "x"]},
        metrics=[code(raising, fail_on_error=True)],
    )
    first, second = report(result)["results"][0]["turns"]
    assert (first["response"], first["tool_calls"], first["token_usage"]["total_tokens"]) == (
        "kept",
        ["t"],
        5,
    )
    assert "no row" in first["metric_results"][0]["error"]
    assert second["skipped"] is True
    assert "no row" in second["errors"][0]


@fault(10)
def a_grader_sees_tools_and_case_of_a_single_turn(folder, patch):
    seen = []

    def grade(context):
        seen.append((context.test_case_name, context.tool_invocations[0].args["a"]))
        return hd.GraderResult(score=1.0, details={"v": 1})

    calls = {"text": "x", "tool_calls": [{"name": "t", "args": {"a": 7}, "result": 1}]}
    suite = [{"name": "cash", "input": "q"}]
    result = run(suite, {"cash": [calls]}, metrics=[code(grade)])
    assert seen == [("cash", 7)]
    assert result.metrics["details"].tolist() == [{"v": 1}]


@fault(11)
def what_a_grader_changes_changes_nothing(folder, patch):
    def meddling(context):
        refusals = []
        for change in (
            lambda: context.tool_invocations[0].args.update(a=0),
            lambda: context.turn_config["steps"].append(9),
            lambda: context.turn_config.__setitem__("k", 9),
        ):
            with pytest.raises(TypeError, match="read-only"):
                change()
            refusals.append(True)
        return all(refusals)

    suite = [{"turns": [{"input": "q", "turn_config": {"steps": [1]}}]}]
    reply = {"text": "x", "tool_calls": [{"name": "t", "args": {"a": 7}, "result": 1}]}
    result = run(suite, {"#0": [reply]}, metrics=[code(meddling)])
    assert result.passed
    [turn] = report(result)["results"][0]["turns"]
    assert turn["tool_invocations"][0]["args"] == {"a": 7}
    assert result.result.cases[0].turns[0].turn_config == {"steps": [1]}


@fault(12)
def a_score_out_of_range_is_refused(folder, patch):
    turn = one({"input": "q"}, "x", metrics=[code(lambda context: 7.5)])
    assert (turn.metrics[0].status, turn.metrics[0].score) == ("error", None)
    assert "7.5 is not within 0 and 1" in turn.reason


@fault(13)
def sys_exit_in_a_grader_is_a_metric_error(folder, patch):
    result = run(
        [{"input": "q"}, {"input": "q"}], agent=lambda text: "x", metrics=[code(lambda ctx: sys.exit(3))]
    )
    assert [turn.metrics[0].status for _, turn in result.result.turns()] == ["error", "error"]
    assert "SystemExit: 3" in result.result.cases[0].reason


@fault(14)
def a_grader_that_cannot_be_imported_is_a_config_error(folder, patch):
    (folder / "dividing.py").write_text("x = 1 / 0\n")
    (folder / "broken.py").write_text("def grade(:\n")
    for module, told in (("dividing", "ZeroDivisionError"), ("broken", "SyntaxError")):
        (folder / "agent.yaml").write_text(
            "name: s\ntest_cases:\n  - name: cash\n    turns:\n      - input: q\n"
            f"        evaluations: [{{type: code, grader: '{module}:grade'}}]\n"
        )
        with pytest.raises(hd.ConfigError) as caught:
            hd.Suite.from_yaml(folder / "agent.yaml")
        text = str(caught.value)
        assert all(part in text for part in (told, "'cash'", "turns[0]", "agent.yaml:6")), text
        assert main(["validate", str(folder / "agent.yaml")]) == 2


@fault(15)
def a_missing_grader_names_case_and_turn(folder, patch):
    turns = [{"input": "a"}, {"input": "b", "evaluations": [code("nowhere_xyz:grade")]}]
    text = str(refused(test_cases=[{"name": "cash", "turns": turns}]))
    assert "test case 'cash', test_cases[0].turns[1].evaluations[0].grader" in text


@fault(16)
def a_bad_pattern_names_the_case(folder, patch):
    tool = {"name": "t", "args": {"a": {"regex": "("}}}
    text = str(refused(test_cases=[{"name": "cash", "input": "q", "expected_tools": [tool]}]))
    assert text.startswith("test case 'cash', test_cases[0].expected_tools[0].args.a.regex: cannot compile")


@fault(17)
def no_turns_names_the_case(folder, patch):
    text = str(refused(test_cases=[{"name": "cash", "turns": []}]))
    assert text == "test case 'cash', test_cases[0].turns: empty: a conversation has at least one turn"


@fault(18)
def a_negative_tolerance_is_one_line(folder, patch):
    metric = {"type": "standard", "metric": "numeric", "absolute_tolerance": -1}
    error = refused(test_cases=[{"name": "cash", "turns": [{"input": "q", "evaluations": [metric]}]}])
    assert str(error) == (
        "test case 'cash', test_cases[0].turns[0].evaluations[0].absolute_tolerance: "
        "expected at least 0, got -1"
    )


@fault(19)
def yes_and_a_full_stop(folder, patch):
    for metric in ({"type": "equality"}, {"type": "standard", "metric": "equality"}):
        metrics = [{**metric, "case_insensitive": True}]
        assert one({"input": "q", "ground_truth": "yes."}, "Yes", metrics=metrics).passed
        assert one({"input": "q", "ground_truth": "Yes"}, "yes.", metrics=metrics).passed


@fault(20)
def prose_currency_and_brackets_are_read(folder, patch):
    for reply, truth in (("The answer is 25,587.", "25587"), ("$25,587", "25587"), ("(123)", "-123")):
        assert one({"input": "q", "ground_truth": truth}, reply, metrics=[NUMERIC]).passed, reply


@fault(21)
def the_variable_for_parallel_cases(folder, patch):
    patch.setenv("HOLODECK_PARALLEL_TEST_CASES", "7")
    assert run([{"input": "q"}], agent=str).result.settings["parallel_test_cases"] == 7


@fault(22)
def argument_before_file_before_variable_before_default(folder, patch):
    patch.setenv("HOLODECK_LLM_TIMEOUT", "7")
    suite = hd.Suite(name="s", test_cases=[{"input": "q"}])

    def limit(suite_, **arguments):
        return suite_.run(agent=str, quiet=True, **arguments).result.settings["llm_timeout"]

    from_file = suite.with_execution(llm_timeout=8)
    assert (limit(suite), limit(from_file), limit(from_file, llm_timeout=9)) == (7, 8, 9)
    patch.delenv("HOLODECK_LLM_TIMEOUT")
    assert limit(suite) == 60


@fault(23)
def a_single_turn_has_a_timeout(folder, patch):
    turn = one({"input": "q"}, {"text": "late", "delay_s": 30}, llm_timeout=0.05)
    assert (turn.status, turn.response) == ("error", None)
    assert turn.error.startswith("timeout")


@fault(29)
def retries_and_limits_of_a_metric_are_read(folder, patch):
    gate = threading.Event()
    slow = code(lambda context: gate.wait(30), timeout_ms=50)
    turn = one({"input": "q"}, "x", metrics=[slow])
    gate.set()
    assert turn.metrics[0].reason == "timeout: no result within 0.05 s (the metric's timeout_ms)"
    assert StandardMetric(metric="fluency", retry_on_failure=2).retry_on_failure == 2


@fault(31)
def an_enormous_argument_is_a_mismatch(folder, patch):
    tool = {"name": "t", "args": {"a": 1}}
    agent = agent_that_calls("t", a=10**400)
    result = run([{"input": "q", "expected_tools": [tool]}, {"input": "r"}], agent=agent)
    assert passed(result) == [False, True]
    assert "a whole number of 401 digits" in result.result.cases[0].reason
    report(result)


def agent_that_calls(tool, **args):
    return lambda text: hd.Reply("x", (hd.ToolInvocation(tool, args),))


@fault(32)
def fuzzy_is_not_that_fuzzy(folder, patch):
    pairs = [("12", "1,2"), ("a_b", "ab"), ("9007199254740993", 9007199254740992)]
    for expected, actual in pairs:
        tool = {"name": "t", "args": {"a": {"fuzzy": expected}}}
        assert not run(
            [{"input": "q", "expected_tools": [tool]}], agent=agent_that_calls("t", a=actual)
        ).passed


@fault(33)
def large_whole_numbers_keep_their_last_digit(folder, patch):
    tool = {"name": "t", "args": {"a": 9007199254740993}}
    for actual, fits in ((9007199254740992, False), (9007199254740992.0, False), (9007199254740993, True)):
        result = run([{"input": "q", "expected_tools": [tool]}], agent=agent_that_calls("t", a=actual))
        assert result.passed is fits


@fault(34)
def a_name_inside_a_word_warns_and_no_name_is_refused(folder, patch):
    result = run([{"input": "q", "expected_tools": ["add"]}], agent=agent_that_calls("address_lookup"))
    assert result.passed
    assert "'add' fits 'address_lookup' only inside a word" in result.warnings["text"][0]
    assert "expected_tools[0].name" in str(refused(test_cases=[{"input": "q", "expected_tools": [""]}]))


@fault(35)
def a_tool_that_was_never_called_is_named(folder, patch):
    result = run([{"input": "q", "expected_tools": ["subtract"]}], agent=lambda text: "x")
    assert report(result)["results"][0]["errors"] == ["subtract: never called (no tool was called)"]


@fault(37)
def unquoted_text_is_text(folder, patch):
    (folder / "agent.yaml").write_text(
        "name: s\ntest_cases:\n  - {input: a, ground_truth: 25587}\n  - {input: b, ground_truth: yes}\n"
    )
    suite = hd.Suite.from_yaml(folder / "agent.yaml")
    assert [case.ground_truth for case in suite.cases] == ["25587", "yes"]


@fault(38)
def a_limit_is_more_than_nothing(folder, patch):
    for seconds in (-5, 0):
        assert f"execution.llm_timeout: expected more than 0, got {seconds}" in str(
            refused(execution={"llm_timeout": seconds})
        )
        with pytest.raises(hd.ConfigError, match="llm_timeout"):
            run([{"input": "q"}], agent=str, llm_timeout=seconds)


@fault(39)
def a_variable_in_a_comment_is_a_comment(folder, patch):
    patch.delenv("NOT_SET_ANYWHERE", raising=False)
    (folder / "agent.yaml").write_text(
        "# ${NOT_SET_ANYWHERE}\nname: s # or ${NOT_SET_ANYWHERE}\n"
        "test_cases: [{input: '${NOT_SET_ANYWHERE}'}]\n"
    )
    assert hd.Suite.from_yaml(folder / "agent.yaml").cases[0].input == "${NOT_SET_ANYWHERE}"


OFFLINE = """
import socket
def refuse(*args, **kwargs):
    raise OSError("no network here")
import holodeck_nb as hd
suite = hd.Suite(name="s", test_cases=[{"input": "q", "ground_truth": "net cash rose"}],
                 evaluations=[{"type": "rouge"}, {"type": "meteor"}, {"type": "bleu"}])
connect, getaddrinfo = socket.socket.connect, socket.getaddrinfo
socket.socket.connect = socket.getaddrinfo = refuse
print([metric.status for metric in suite.run(agent=lambda t: "net cash rose", quiet=True)
       .result.cases[0].turns[0].metrics])
"""


@fault(40)
def text_metrics_need_no_network(folder, patch):
    from holodeck_nb.metrics.base import unavailable

    missing = [name for name in ("bleu", "rouge", "meteor") if unavailable(StandardMetric(metric=name))]
    if missing:
        pytest.skip(f"waiting for the metrics {', '.join(missing)}")
    environment = {**os.environ, "HOME": str(folder), "NLTK_DATA": str(folder), "HF_HUB_OFFLINE": "0"}
    said = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert said.stdout.strip() == "['scored', 'scored', 'scored']", said.stderr


@fault(41)
def markdown_of_a_failing_case_with_arguments(folder, patch):
    tool = {"name": "subtract", "args": {"a": {"fuzzy": "206588"}, "b": 1}}
    result = run([{"input": "q", "expected_tools": [tool]}], agent=agent_that_calls("subtract", a=1, b=2))
    text = result.to_markdown(folder / "report.md").read_text(encoding="utf-8")
    assert "subtract" in text
    assert "206588" in text


@fault(42)
def paths_begin_at_the_file_that_names_them(folder, patch):
    (folder / "suite" / "data").mkdir(parents=True)
    (folder / "suite" / "data" / "a.txt").write_text("x")
    (folder / "suite" / "agent.yaml").write_text(
        "name: s\ninstructions: {file: data/a.txt}\n"
        "test_cases: [{input: q, files: [{path: data/a.txt, type: text}]}]\n"
    )
    patch.chdir(folder)
    assert len(hd.Suite.from_yaml(Path("suite", "agent.yaml"))) == 1


@fault(43)
def a_run_inside_a_running_loop(folder, patch):
    async def cell():
        return run([{"input": "q"}], agent=lambda text: "x").passed

    assert asyncio.run(cell())


@fault(44)
def one_cases_tolerance_is_its_own(folder, patch):
    loose = {"input": "a", "ground_truth": "1", "evaluations": [LOOSE]}
    strict = {"input": "b", "ground_truth": "1", "evaluations": [NUMERIC]}
    assert passed(run([loose, strict], agent=lambda text: "1.4")) == [True, False]
    assert passed(run([strict, loose], agent=lambda text: "1.4")) == [False, True]


@fault(45)
def the_environment_is_machine_readable(folder, patch):
    result = run([{"input": "q"}], agent=lambda text: "x")
    environment = report(result)["environment"]
    assert {"python_version", "os", "execution_config"} <= environment.keys()
    assert all(isinstance(value, str) for value in environment.values())
    assert json.loads(environment["execution_config"])["llm_timeout"] == 60
    assert environment["python_version"] in result.to_markdown()


@fault(46)
def the_duration_is_the_clocks(folder, patch):
    everybody = threading.Barrier(8, timeout=30)

    def agent(text):
        everybody.wait()
        time.sleep(0.05)
        return "x"

    result = run([{"input": "q"}] * 8, agent=agent, parallel_test_cases=8)
    whole = report(result)["summary"]["total_duration_ms"]
    parts = sum(entry["execution_time_ms"] for entry in report(result)["results"])
    assert isinstance(whole, int)
    assert parts >= 8 * 50
    assert whole < parts
