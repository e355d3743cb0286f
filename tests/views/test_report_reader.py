"""Reports read back: ours without loss of what they say, HoloDeck's with its verdicts, others refused."""

import copy
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holodeck_nb.errors import ConfigError
from holodeck_nb.results.records import (
    FileRecord,
    MetricResult,
    RunWarning,
    TokenUsage,
    ToolCheck,
    ToolInvocation,
    TurnResult,
)
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.views.json_report import report, report_text
from holodeck_nb.views.report_reader import run_from_report

CASES = Path(__file__).parents[3] / "shared" / "cases"

# Runs of every kind that the engine could make ------------------------------------------------------------

TEXT = st.text(max_size=8) | st.sampled_from(["", "\ud800", "\u202e|", "NaN", "[turn 0] x", "_raw", "turn"])
TIMES = st.none() | st.floats(0, 1e7)
COUNTS = st.integers(0, 10_000)
MOMENTS = st.none() | st.datetimes(
    datetime(2000, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    datetime(2100, 1, 1),  # noqa: DTZ001 - the same
    timezones=st.just(UTC) | st.none(),
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXT
    | st.sampled_from([Decimal("0.30"), 10**400, b"\xff", {1, 2}, datetime(2026, 1, 1, tzinfo=UTC)]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT | st.integers(), inner, max_size=3),
    max_leaves=5,
)
ARGS = st.dictionaries(TEXT, VALUES, max_size=3)
SCORES = st.floats(0, 1)
CALLS = st.builds(
    ToolInvocation, TEXT, ARGS, result=VALUES, error=st.none() | TEXT, duration_ms=TIMES
) | st.builds(ToolInvocation, TEXT, st.none(), raw_args=st.none() | TEXT)
KINDS = st.sampled_from(["standard", "rag", "geval", "code", "evaluate"])
MORE = {
    "threshold": st.none() | SCORES,
    "reason": st.none() | TEXT,
    "details": st.none() | ARGS,
    "model": st.none() | TEXT,
    "retries": st.integers(0, 3),
    "duration_ms": TIMES,
}
METRICS = st.builds(
    MetricResult, TEXT, KINDS, st.sampled_from(["passed", "failed", "scored"]), SCORES, **MORE
) | st.builds(MetricResult, TEXT, KINDS, st.sampled_from(["error", "not_applicable"]), **MORE)
USAGES = st.none() | st.builds(
    TokenUsage,
    st.none() | COUNTS,
    st.none() | COUNTS,
    st.none() | st.integers(20_000, 30_000),
    st.none() | COUNTS,
    st.none() | COUNTS,
)
FILES = st.builds(
    FileRecord,
    path=st.none() | TEXT,
    url=st.none() | TEXT | st.just("https://u:p@x.org/a?sig=1"),
    type=TEXT,
    details=st.fixed_dictionaries(
        {},
        optional={
            "description": TEXT,
            "pages": st.lists(COUNTS, max_size=2),
            "slides": st.tuples(COUNTS),
            "cache": st.booleans(),
            "markdown_content": TEXT,
            "cached_path": TEXT,
            "processing_time_ms": TIMES,
            "error": TEXT,
            "size": COUNTS,
            "turn": COUNTS,
        },
    ),
)


@st.composite
def checked_tools(draw, calls):
    """Entries of `expected_tools` as written, and a check for each; any verdict, any reason."""
    written, checks = [], []
    for _ in range(draw(st.integers(0, 4))):
        tool, args = draw(TEXT | st.sampled_from(["a", "b"])), draw(st.none() | ARGS)
        count, matched = draw(st.integers(1, 2)), bool(calls) and draw(st.booleans())
        bare = args is None and count == 1
        written.append(
            tool if bare else {"name": tool, "count": count, **({} if args is None else {"args": args})}
        )
        fits = (draw(st.integers(0, len(calls) - 1)),) if matched else ()
        reason = None if matched else draw(st.none() | TEXT | st.sampled_from(["r", "s"]))
        checks.append(ToolCheck(tool, count, args, matched=matched, matched_calls=fits, reason=reason))
    return tuple(written), tuple(checks)


@st.composite
def turns(draw, number):
    calls = tuple(draw(st.lists(CALLS, max_size=3)))
    written, checks = draw(checked_tools(calls))
    asserted = draw(st.booleans())
    common = {
        "turn": number,
        "input": draw(TEXT),
        "ground_truth": draw(st.none() | TEXT),
        "expected_tools": written if asserted else None,
        "files": tuple(draw(st.lists(FILES, max_size=2))),
    }
    kind = draw(st.sampled_from(["played", "played", "error", "skipped"]))
    if kind == "skipped":
        return TurnResult(**common, skip_reason=draw(TEXT))
    common |= {
        "tool_calls": calls,
        "usage": draw(USAGES),
        "started_at": draw(MOMENTS),
        "duration_ms": draw(TIMES),
    }
    if kind == "error":
        return TurnResult(**common, error=draw(TEXT), response=draw(st.none() | TEXT))
    return TurnResult(
        **common,
        response=draw(TEXT),
        tool_checks=checks if asserted else None,
        metrics=tuple(draw(st.lists(METRICS, max_size=3))),
    )


@st.composite
def cases(draw, place):
    single = draw(st.booleans())
    count = 1 if single else draw(st.integers(0, 3))
    given_name = draw(st.none() | st.sampled_from(["cash", "cash #2", "case 1"]) | TEXT)
    return CaseResult(
        given_name or f"case {place}",
        place,
        tuple(draw(turns(number)) for number in range(count)),
        given_name=given_name,
        multi_turn=not single,
        repeat=draw(st.integers(0, 2)),
        finished_at=draw(MOMENTS),
    )


@st.composite
def runs(draw):
    return RunResult(
        draw(TEXT),
        tuple(draw(cases(place)) for place in range(draw(st.integers(0, 3)))),
        suite_path=draw(TEXT),
        started_at=draw(MOMENTS),
        duration_ms=draw(TIMES),
        settings=draw(ARGS),
        environment=draw(st.dictionaries(TEXT, TEXT, max_size=2)),
        warnings=(RunWarning("w"),),
    )


@settings(deadline=None, max_examples=300, suppress_health_check=list(HealthCheck))
@given(runs())
def test_a_report_read_back_gives_the_same_report(run):
    first = report(run)
    again = run_from_report(first)
    assert report(again) == first
    assert report(run_from_report(json.loads(report_text(run)))) == first
    assert [case.passed for case in again.cases] == [case.passed for case in run.cases]
    assert again.warnings == ()


def test_what_comes_back(small_run):
    run = run_from_report(report(small_run))
    assert [case.name for case in run.cases] == ["net cash", "lost", "case 3"]
    assert [case.status for case in run.cases] == ["error", "skipped", "passed"]
    assert [case.multi_turn for case in run.cases] == [True, True, False]
    assert (run.started_at, run.duration_ms) == (small_run.started_at, 1800.0)
    assert run.settings == small_run.settings
    assert run.environment == small_run.environment
    first, second, third = run.cases[0].turns
    assert first.tool_checks == small_run.cases[0].turns[0].tool_checks
    assert second.reason == small_run.cases[0].turns[1].reason
    assert second.tool_calls[1] == ToolInvocation(
        "Math-lookup", None, error="no such row", raw_args='{"row": '
    )
    assert [(metric.status, metric.score) for metric in second.metrics] == [("failed", 0.0), ("error", None)]
    assert second.metrics[1].reason == "502"
    assert second.metrics[0].details == {"actual": 26588, "expected": 25587}
    assert (third.status, third.error, third.response) == ("error", "timeout after 60 s", None)
    assert run.cases[1].turns[0].skip_reason == "connection lost"
    assert first.files == (FileRecord(path="report.pdf", type="pdf", details={"pages": [1, 2], "size": 10}),)
    assert first.usage == TokenUsage(180, 12, cache_read_tokens=100)


def test_repeated_and_missing_names():
    turn = TurnResult(0, "in", response="x")
    given = ["cash", None, "cash", None]
    run = RunResult(
        "fin", tuple(CaseResult("-", n, (turn,), given_name=name) for n, name in enumerate(given))
    )
    assert [case.name for case in run_from_report(report(run)).cases] == [
        "cash",
        "case 2",
        "cash #2",
        "case 4",
    ]


def test_files_come_back_with_their_turn():
    files = [(), (FileRecord(path="b"),), (FileRecord(path="c"), FileRecord(path="d"))]
    case = CaseResult("c", 0, tuple(TurnResult(n, "in", response="x", files=f) for n, f in enumerate(files)))
    read = run_from_report(report(RunResult("fin", (case,)))).cases[0]
    assert [[file.path for file in turn.files] for turn in read.turns] == [[], ["b"], ["c", "d"]]


# HoloDeck's own -------------------------------------------------------------------------------------------


def foreign(**parts):
    """A report of HoloDeck with one single-turn case."""
    result = {
        "test_name": "t",
        "test_input": "in",
        "agent_response": "x",
        "passed": True,
        "execution_time_ms": 5,
    }
    return {
        "agent_name": "fin",
        "agent_config_path": "agent.yaml",
        "results": [{**result, "timestamp": "2026-11-30T18:47:13+00:00", **parts}],
        "summary": {"total_tests": 1, "passed": 1, "failed": 0, "pass_rate": 100.0, "total_duration_ms": 5},
        "timestamp": "2026-11-30T18:47:14+00:00",
        "holodeck_version": "0.7.1",
    }


def the_turn(**parts):
    return run_from_report(foreign(**parts)).cases[0].turns[0]


def test_the_example():
    path = CASES / "example_report.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    data = json.loads(path.read_text(encoding="utf-8"))
    before = copy.deepcopy(data)
    run = run_from_report(data, path=path.name)
    assert data == before
    assert [case.passed for case in run.cases] == [result["passed"] for result in data["results"]]
    for case, result in zip(run.cases, data["results"], strict=True):
        for turn, written in zip(case.turns, result["turns"] or [result], strict=True):
            assert turn.passed is written["passed"]
            assert turn.tools_matched is written["tools_matched"]
    assert run.cases[1].turns[0].reason == "zzz: no tool was called; numeric: score 0"
    assert [check.matched for check in run.cases[0].turns[1].tool_checks] == [True, False]
    assert "expected 181001, got 180000" in run.cases[0].turns[2].reason
    assert run.settings["llm_timeout"] == 60
    assert run.environment == {}
    assert run.started_at is None
    assert run.warnings == ()
    assert run.summary.usage == TokenUsage(720, 48)


TOKENS = [
    # prompt, completion, total, written, read    what we make of it
    ((10, 5, 15, 0, 0),                           TokenUsage(10, 5)),
    ((10, 5, 42, 3, 24),                          TokenUsage(37, 5, 42, 3, 24)),   # beside the prompt
    ((10, 5, 20, 0, 0),                           TokenUsage(10, 5, 20)),          # more than its parts: kept
    ((40, 5, 45, 3, 24),                          TokenUsage(40, 5, 45, 3, 24)),   # within it
]  # fmt: skip


@pytest.mark.parametrize(("counts", "usage"), TOKENS)
def test_tokens_of_a_holodeck_report(counts, usage):
    names = ("prompt", "completion", "total", "cache_creation", "cache_read")
    given = {f"{name}_tokens": count for name, count in zip(names, counts, strict=True)}
    assert the_turn(token_usage=given).usage == usage


def metric(**parts):
    return {"metric_name": "m", "kind": "standard", "score": 0.5, **parts}


METRIC_ROWS = [
    ({"passed": True},                          ("passed", 0.5)),
    ({"passed": False},                         ("failed", 0.5)),
    ({"passed": None, "threshold": 0.9},        ("scored", 0.5)),   # no verdict is invented
    ({"passed": False, "error": "502"},         ("error", None)),
    ({"passed": True, "error": ""},             ("passed", 0.5)),
    ({"score": None, "passed": None},           ("scored", None)),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "wanted"), METRIC_ROWS)
def test_metrics_of_a_holodeck_report(parts, wanted):
    (read,) = the_turn(metric_results=[metric(**parts)], passed=wanted[0] in {"passed", "scored"}).metrics
    assert (read.status, read.score) == wanted


def call(name, **args):
    return {"name": name, "args": args, "result": None, "bytes": 4}


TOOLS = [
    # expected_tools, calls, errors                                           reason
    (["zzz"], [], [],                                                         "zzz: no tool was called"),
    (["zzz"], [call("sum"), call("sum")], [],                                 "zzz: not called; called: sum"),
    ([{"name": "sum", "count": 2}], [call("sum")], [],
     "sum: called 1 of 2 times; called: sum"),
    (["sum", "zzz"], [call("sum")], [],                                      "zzz: not called; called: sum"),
    ([{"name": "Sum", "match": "exact"}], [call("Sums")], [],                "Sum: not called; called: Sums"),
    (["sum"], [{**call("sum"), "args": {"_raw": "{"}}], [],                   "sum: not called; called: sum"),
    ([{"name": "sum", "args": {"a": 1}}], [call("sum", a=2)], [],
     "sum: not matched; the report does not say why"),
    (["sum", {"name": "div", "args": {"a": 1}}], [call("sum"), call("div", a=2)], ["expected div: a is 2"],
     "expected div: a is 2"),
    (["sum"], [call("sum")], ["sum came too late"],                           "sum came too late"),
    ([], [], ["a tool is missing"],                                           "a tool is missing"),
    (None, [], [],          "the report says that an expected tool did not match, not which"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "calls", "errors", "reason"), TOOLS)
def test_which_tool_did_not_match(expected, calls, errors, reason):
    turn = the_turn(
        expected_tools=expected, tool_invocations=calls, errors=errors, tools_matched=False, passed=False
    )
    assert (turn.status, turn.tools_matched, turn.reason) == ("failed", False, reason)


def test_calls_of_an_old_report_have_names_alone():
    turn = the_turn(tool_calls=["sum"], expected_tools=["sum"], tools_matched=True)
    assert turn.tool_calls == (ToolInvocation("sum", None),)
    assert turn.tool_checks == (
        ToolCheck("sum", 1, None, matched=True, matched_calls=(0,), matched_names=("sum",)),
    )


def test_a_turn_without_reply_and_metrics_is_an_error():
    turn = the_turn(agent_response=None, errors=["timeout", "gone"], passed=False, tools_matched=False)
    assert (turn.status, turn.error, turn.tool_checks) == ("error", "timeout; gone", None)


def test_a_verdict_that_nothing_explains_is_kept():
    turn = the_turn(passed=False, metric_results=[metric(passed=True)])
    assert (turn.status, turn.error) == ("error", "the report says that this turn did not pass, not why")
    assert [part.score for part in turn.metrics] == [0.5]
    assert the_turn(passed=False, errors=["out of luck"]).error == "out of luck"


def test_a_pass_that_is_none_by_our_rules_gives_a_warning():
    run = run_from_report(foreign(metric_results=[metric(passed=False)]))
    assert [(warning.case, warning.turn) for warning in run.warnings] == [("t", 0)]
    assert run.warnings[0].text == (
        "the report says that the turn passed; by our rules it did not: m: score 0.5"
    )


def test_an_error_that_is_no_tools_gives_a_warning():
    run = run_from_report(
        foreign(metric_results=[metric(passed=False)], errors=["the disk is full"], passed=False)
    )
    assert [warning.text for warning in run.warnings] == ["from the report: the disk is full"]


def test_a_case_that_disagrees_with_its_turns_gives_a_warning():
    turn = {"turn_index": 0, "input": "in", "response": "x", "passed": True, "execution_time_ms": 1}
    run = run_from_report(foreign(turns=[turn], passed=False))
    assert [warning.text for warning in run.warnings] == [
        "the report says that the case did not pass, its turns do not"
    ]


@pytest.mark.parametrize("text", ["no literal", "[1, 2]", "", "(" * 10_000, "{'a': " * 500, "{1: f()}"])
def test_settings_that_cannot_be_read_stay_as_text(text):
    run = run_from_report({**foreign(), "environment": {"execution_config": text}})
    assert (run.settings, run.environment) == ({}, {"execution_config": text})


def test_settings_as_python_writes_them():
    run = run_from_report(
        {**foreign(), "environment": {"execution_config": r"{'cache_dir': 'C:\dir', 1: None}"}}
    )
    assert run.settings == {"cache_dir": r"C:\dir", "1": None}


def test_a_report_of_many_tools_and_errors_is_read_at_once():
    turn = the_turn(expected_tools=["a"] * 500, errors=["a: no"] * 500, tools_matched=False, passed=False)
    assert turn.failures == ("a: no",) * 500


def test_a_signed_address_loses_its_query():
    file = {"original": {"url": "https://x.org/a?sig=1", "type": "pdf"}, "markdown_content": ""}
    assert the_turn(processed_files=[file]).files == (FileRecord(url="https://x.org/a", type="pdf"),)


def test_a_time_before_all_times_is_unknown(small_run):
    data = report(small_run) | {"timestamp": "0001-01-01T00:00:00+00:00"}
    assert run_from_report(data).started_at is None


def test_times_without_a_zone_and_in_other_zones_are_utc():
    run = run_from_report(foreign(timestamp="2026-11-30T18:47:13"))
    assert run.cases[0].finished_at == datetime(2026, 11, 30, 18, 47, 13, tzinfo=UTC)
    run = run_from_report(foreign(timestamp="2026-11-30T18:47:13+02:00"))
    assert run.cases[0].finished_at.utcoffset() == timedelta(0)


# Not a report ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [None, [], "x", 3])
def test_data_that_is_no_mapping_is_no_report(data):
    with pytest.raises(ConfigError, match=r"r\.json: a report is a mapping"):
        run_from_report(data, path="r.json")


WRONG = [
    # change to the case                                       what is said
    ({"test_input": 3},                                      "results[0].test_input: must be text, got 3"),
    ({"passed": "yes"},                       "results[0].passed: must be true or false, got 'yes'"),
    ({"passed": 1},                           "results[0].passed: must be true or false, got 1"),
    ({"tool_calls": "sum"},                          "results[0].tool_calls: must be a list, got 'sum'"),
    ({"tool_invocations": [[]]},             "results[0].tool_invocations[0]: must be a mapping, got []"),
    ({"expected_tools": ["a", 4]},
     "results[0].expected_tools[1]: must be a tool's name or a mapping with name, args and count, got 4"),
    ({"execution_time_ms": -1},
     "results[0].execution_time_ms: must be at least 0.0, got -1"),
    ({"token_usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 14}},
     "results[0].token_usage: total_tokens 14 is less than prompt plus completion, 15"),
    ({"token_usage": {"prompt_tokens": 10**30, "completion_tokens": 5, "total_tokens": 10**30 + 5}},
     "results[0].token_usage.prompt_tokens: must be at most 9223372036854775807"),
    ({"timestamp": "yesterday"},
     "results[0].timestamp: must be a time like 2026-11-30T18:47:13+00:00, got 'yesterday'"),
    ({"timestamp": "0001-01-01T00:00:00+14:00"},               "results[0].timestamp: must be a time like"),
    ({"metric_results": [{"metric_name": "m", "kind": "odd", "score": 1}]},
     "results[0].metric_results[0].kind: must be 'standard', 'rag', 'geval' or 'code', got 'odd'"),
    ({"turns": [{"input": "in"}]},                             "results[0].turns[0].passed: is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "said"), WRONG)
def test_a_wrong_shape_is_refused_with_its_place(parts, said):
    with pytest.raises(ConfigError) as error:
        run_from_report(foreign(**parts), path="r.json")
    assert any(f"r.json: {said}" in str(problem) for problem in error.value.problems), str(error.value)


def test_all_problems_come_at_once():
    with pytest.raises(ConfigError) as error:
        run_from_report({"agent_name": 3, "results": [{"turns": [{"input": None}]}]}, path="r.json")
    assert str(error.value).splitlines() == [
        "6 problems",
        "r.json: agent_name: must be text, got 3",
        "r.json: results[0].test_input: is missing",
        "r.json: results[0].passed: is missing",
        "r.json: results[0].turns[0].input: must be text, got None",
        "r.json: results[0].turns[0].passed: is missing",
        "r.json: summary: is missing",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_spoiled_report_is_read_or_refused_and_nothing_else(small_run, data):
    spoiled = report(small_run)
    place = spoiled
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.integers(0, 2)) == 0 or not isinstance(place[key], dict | list):
            place[key] = data.draw(JSON)
            break
        place = place[key]
    try:
        run = run_from_report(spoiled)
    except ConfigError:
        return
    report_text(run)
