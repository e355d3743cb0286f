"""The DataFrames: declared columns and dtypes, unknown is <NA>, one row a turn and so on."""

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pandas as pd
import pytest

from holodeck_nb.results import columns
from holodeck_nb.results.records import (
    ArgumentCheck,
    MetricResult,
    TokenUsage,
    ToolCheck,
    ToolInvocation,
    TurnResult,
)
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.views import frames
from holodeck_nb.views.asserted_arguments import matcher_of

MAKERS = [
    (frames.turns_frame, columns.TURN_COLUMNS),
    (frames.failures_frame, columns.TURN_COLUMNS),
    (frames.metrics_frame, columns.METRIC_COLUMNS),
    (frames.tool_calls_frame, columns.TOOL_CALL_COLUMNS),
    (frames.tool_checks_frame, columns.TOOL_CHECK_COLUMNS),
    (frames.cases_frame, columns.CASE_COLUMNS),
    (frames.warnings_frame, columns.WARNING_COLUMNS),
]


def one_turn(**parts):
    return RunResult(
        "fin", (CaseResult("cash", 0, (TurnResult(**{"turn": 0, "input": "in", "response": "x", **parts}),)),)
    )


def rows(frame):
    """Rows as dicts, <NA> and NaT as None."""
    return [
        {name: None if value is pd.NA or value is pd.NaT else value for name, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


@pytest.mark.parametrize(("make", "declared"), MAKERS)
def test_an_empty_run_has_every_column_and_dtype(make, declared):
    frame = make(RunResult("empty", ()))
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == declared
    assert list(frame.columns) == list(declared)
    assert frame.index.equals(pd.RangeIndex(0))


@pytest.mark.parametrize(("make", "declared"), MAKERS)
def test_a_run_has_the_declared_columns_then_the_metrics(make, declared, small_run):
    frame = make(small_run)
    own = {name: str(dtype) for name, dtype in frame.dtypes.items() if name in declared}
    assert own == declared
    more = list(frame.columns)[len(declared) :]
    assert more == (["numeric", "judge", "bleu"] if "passed" in declared and "metric" not in declared else [])
    assert all(str(frame[name].dtype) == "Float64" for name in more)
    assert isinstance(frame.index, pd.RangeIndex)


def test_turns(small_run):
    start = pd.Timestamp("2026-11-30 18:47:13", tz="UTC")
    first, second, third, skipped, single = rows(frames.turns_frame(small_run))
    assert first == {
        "case": "net cash",
        "turn": 0,
        "repeat": 0,
        "status": "passed",
        "passed": True,
        "input": "what is net cash in 2009?",
        "response": "206588",
        "ground_truth": "206588",
        "tools_expected": [{"name": "lookup", "args": {"row": "cash"}}],
        "tools_called": ["lookup"],
        "tools_matched": True,
        "reason": None,
        "finish_reason": "stop",
        "refused": False,
        "truncated": False,
        "duration_ms": 100.2,
        "prompt_tokens": 180,
        "completion_tokens": 12,
        "total_tokens": 192,
        "usage_complete": True,
        "cost_usd": 0.5,
        "started_at": start,
        "numeric": 1.0,
        "judge": 0.75,
        "bleu": None,
    }
    assert second["status"] == "failed"
    assert second["tools_called"] == ["Math-subtract", "Math-lookup"]
    assert (second["numeric"], second["judge"]) == (0.0, None)  # an error has no score
    assert second["reason"] == (
        "lookup: arguments could not be read; subtract: closest call #1: b expected 181001, got 180000; "
        "numeric: 26588 is not 25587; judge: 502"
    )
    assert (third["status"], third["response"], third["refused"], third["usage_complete"]) == (
        "error",
        None,
        None,
        None,
    )
    assert (skipped["status"], skipped["reason"]) == ("skipped", "connection lost")
    assert (skipped["duration_ms"], skipped["started_at"], skipped["tools_matched"]) == (None, None, None)
    assert (single["case"], single["response"], single["passed"]) == ("case 3", "", True)


def test_failures_are_the_turns_that_are_not_passed(small_run):
    turns, failures = frames.turns_frame(small_run), frames.failures_frame(small_run)
    wanted = turns[~turns["passed"]].reset_index(drop=True)
    pd.testing.assert_frame_equal(failures, wanted)
    assert list(failures["status"]) == ["failed", "error", "skipped"]


def test_metrics(small_run):
    frame = frames.metrics_frame(small_run)
    assert list(frame["status"]) == ["passed", "scored", "failed", "error", "not_applicable"]
    assert rows(frame)[3] == {
        "case": "net cash",
        "turn": 1,
        "repeat": 0,
        "metric": "judge",
        "kind": "geval",
        "status": "error",
        "score": None,
        "threshold": None,
        "passed": False,
        "reason": "502",
        "details": None,
        "model": "gpt",
        "retries": 3,
        "duration_ms": 20.0,
    }
    assert rows(frame)[2]["details"] == {"actual": 26588, "expected": 25587}
    assert frame["passed"].tolist() == [True, pd.NA, False, False, pd.NA]


def test_tool_calls(small_run):
    frame = frames.tool_calls_frame(small_run)
    assert list(zip(frame["turn"], frame["call"], frame["name"], strict=True)) == [
        (0, 0, "lookup"),
        (1, 0, "Math-subtract"),
        (1, 1, "Math-lookup"),
    ]
    assert frame["args"].tolist() == [{"row": "cash", "table": 1}, {"a": "206,588", "b": 180000}, pd.NA]
    assert frame["result"].tolist() == [{"value": 206588}, 26588, pd.NA]
    assert frame["error"].tolist() == [pd.NA, pd.NA, "no such row"]


def test_a_column_of_objects_that_happens_to_hold_only_text_stays_one():
    frame = frames.tool_calls_frame(
        one_turn(tool_calls=(ToolInvocation("t", {}, "a"), ToolInvocation("t", {}, "b")))
    )
    assert frame["result"].dtype == object
    assert frame["result"].tolist() == ["a", "b"]


def test_tool_checks(small_run):
    frame = frames.tool_checks_frame(small_run)
    keep = ["turn", "check", "tool", "arg", "matcher", "expected", "actual", "matched", "reason"]
    assert [tuple(row.values()) for row in rows(frame[keep])] == [
        (0, 0, "lookup", "row", "exact", "cash", "cash", True, None),
        (1, 0, "lookup", None, None, None, None, False, "lookup: arguments could not be read"),
        (1, 1, "subtract", "a", "fuzzy", "206588", "206,588", True, None),
        (1, 1, "subtract", "b", "exact", 181001, 180000, False, "expected 181001"),
    ]


def test_an_entry_that_was_called_too_seldom_says_so_on_each_row(small_run):
    fits = replace(small_run.cases[0].turns[0].tool_checks[0], count=2, matched=False, reason="1 of 2 calls")
    frame = frames.tool_checks_frame(one_turn(tool_checks=(fits,)))
    assert (frame["matched"].tolist(), frame["reason"].tolist()) == ([True], ["1 of 2 calls"])


def test_arguments_whose_verdict_a_report_does_not_tell_are_unknown():
    check = ToolCheck("t", 1, {"a": 1, "b": {"regex": "x"}, "c": {"exact": None}}, matched=False, reason="no")
    frame = frames.tool_checks_frame(one_turn(tool_checks=(check,)))
    assert frame["matched"].tolist() == [pd.NA] * 3
    assert frame["actual"].tolist() == [pd.NA] * 3
    assert frame["expected"].tolist() == [1, "x", None]  # None is a value that can be asserted
    assert frame["matcher"].tolist() == ["exact", "regex", "exact"]


def test_a_matcher_that_is_handed_over_as_written_is_unwrapped():
    arguments = (
        ArgumentCheck("a", "fuzzy", {"fuzzy": "1"}, "1", missing=False, matched=True),
        ArgumentCheck("b", "exact", {"fuzzy": "1"}, {"fuzzy": "1"}, missing=False, matched=True),  # a literal
        ArgumentCheck("c", "exact", None, None, missing=True, matched=False, reason="missing"),
    )
    frame = frames.tool_checks_frame(
        one_turn(tool_checks=(ToolCheck("t", 1, {}, matched=False, arguments=arguments),))
    )
    assert frame["expected"].tolist() == ["1", {"fuzzy": "1"}, None]
    assert frame["actual"].tolist() == ["1", {"fuzzy": "1"}, pd.NA]


def test_written_matchers():
    assert [matcher_of(written) for written in ({"fuzzy": "a"}, {"exact": {"fuzzy": 1}}, {"a": 1}, [1])] == [
        ("fuzzy", "a"),
        ("exact", {"fuzzy": 1}),
        ("exact", {"a": 1}),
        ("exact", [1]),
    ]


def test_cases(small_run):
    first, lost, single = rows(frames.cases_frame(small_run))
    assert first == {
        "case": "net cash",
        "repeat": 0,
        "status": "error",
        "passed": False,
        "turns": 3,
        "turns_passed": 1,
        "first_failed_turn": 1,
        "tools_matched": False,
        "reason": "turn 1: " + small_run.cases[0].turns[1].reason,
        "duration_ms": pytest.approx(60_109.7),
        "total_tokens": 384,
        "usage_complete": False,
        "cost_usd": None,
        "numeric": 0.5,
        "judge": 0.75,  # the mean over the one turn that measured it
        "bleu": None,
    }
    assert (lost["status"], lost["duration_ms"], lost["usage_complete"]) == ("skipped", None, None)
    assert (single["passed"], single["first_failed_turn"], single["reason"]) == (True, None, None)


def test_warnings(small_run):
    assert rows(frames.warnings_frame(small_run)) == [
        {"case": None, "turn": None, "place": "", "text": "1 turn asserts nothing"},
        {"case": "net cash", "turn": 1, "place": "", "text": "odd"},
    ]


@pytest.mark.parametrize(
    ("usage", "complete"),
    [
        (None, None),
        (TokenUsage(1, 2), True),
        (TokenUsage(1, 2, complete=False), False),
        (TokenUsage(1), False),
        (TokenUsage(), False),
    ],
)
def test_usage_is_complete_unknown_or_not(usage, complete):
    for make in (frames.turns_frame, frames.cases_frame):
        cell = make(one_turn(usage=usage))["usage_complete"][0]
        assert (None if cell is pd.NA else bool(cell)) is complete


def test_changing_a_frame_changes_no_result(small_run):
    frame = frames.tool_calls_frame(small_run)
    frame["args"][0]["row"] = "spoiled"
    turns = frames.turns_frame(small_run)
    turns["tools_expected"][0][0]["args"]["row"] = "spoiled"
    assert frames.tool_calls_frame(small_run)["args"][0] == {"row": "cash", "table": 1}
    assert frames.turns_frame(small_run)["tools_expected"][0] == [{"name": "lookup", "args": {"row": "cash"}}]


def test_metrics_named_like_a_column_get_another_name():
    names = ("reason", "reason_metric", "turns", "numeric")
    run = one_turn(metrics=tuple(MetricResult(n, "code", "scored", i / 4) for i, n in enumerate(names)))
    for make, declared in (
        (frames.turns_frame, columns.TURN_COLUMNS),
        (frames.cases_frame, columns.CASE_COLUMNS),
    ):
        frame = make(run)
        assert list(frame.columns)[len(declared) :] == [
            "reason_metric_metric",
            "reason_metric",
            "turns_metric",
            "numeric",
        ]
        assert [frame[name][0] for name in list(frame.columns)[len(declared) :]] == [0.0, 0.25, 0.5, 0.75]


def test_a_metric_that_stands_twice_on_a_turn_gives_the_mean_of_what_was_measured():
    def scored(score, status="scored"):
        return MetricResult("m", "code", status, score)

    run = one_turn(metrics=(scored(1.0), scored(0.0), scored(None, "error")))
    assert frames.turns_frame(run)["m"][0] == frames.cases_frame(run)["m"][0] == 0.5


MOMENTS = [
    (datetime(2026, 11, 30, 12, 0, 0, 250, tzinfo=UTC), "2026-11-30 12:00:00.000250+00:00"),
    (datetime(2026, 11, 30, 12, tzinfo=timezone(timedelta(hours=2))), "2026-11-30 10:00:00+00:00"),
    (datetime(2026, 11, 30, 12), "2026-11-30 12:00:00+00:00"),  # noqa: DTZ001 - counts as UTC
]


@pytest.mark.parametrize(("moment", "text"), MOMENTS)
def test_moments_are_in_utc(moment, text):
    assert str(frames.turns_frame(one_turn(started_at=moment))["started_at"][0]) == text


def test_text_that_no_file_can_hold_is_mended():
    frame = frames.turns_frame(one_turn(response="lone \ud800", input="\ud83d\ude00"))
    assert (frame["response"][0], frame["input"][0]) == ("lone \ufffd", "\U0001f600")


def test_repeats_keep_their_number_and_the_suites_order():
    cases = tuple(
        CaseResult(name, place, (TurnResult(0, "in", response="x"),), repeat=repeat)
        for place, name in enumerate(("z1", "a2"))
        for repeat in (0, 1)
    )
    frame = frames.turns_frame(RunResult("fin", cases))
    assert list(zip(frame["case"], frame["repeat"], strict=True)) == [
        ("z1", 0),
        ("z1", 1),
        ("a2", 0),
        ("a2", 1),
    ]


@pytest.mark.parametrize("storage", ["python", "pyarrow"])
def test_the_display_of_a_frame_runs_nothing(hostile_run, storage):
    """Texts are kept by pyarrow wherever it is installed, which takes less than Python does."""
    if storage == "pyarrow":
        pytest.importorskip("pyarrow")
    with pd.option_context("mode.string_storage", storage):
        frame = frames.turns_frame(hostile_run)
    assert frame["input"].dtype.storage == storage
    shown = frame._repr_html_()
    assert "<img" not in shown
    assert "<script" not in shown


def test_views_load_pandas_only_with_the_first_frame():
    code = (
        "import sys, holodeck_nb.views.frames, holodeck_nb.views.html, holodeck_nb.views.json_report, "
        "holodeck_nb.views.markdown_report; sys.exit('pandas' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
