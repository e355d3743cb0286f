"""The JSON report is HoloDeck's TestReport: its field rules as models, and every rule of ours."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, ConfigDict, Field, model_validator

from holodeck_nb._version import __version__
from holodeck_nb.results.records import (
    FileRecord,
    MetricResult,
    TokenUsage,
    ToolCheck,
    ToolInvocation,
    TurnResult,
)
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.views.json_report import report, report_text

CASES = Path(__file__).parents[3] / "shared" / "cases"
Whole = Annotated[int, Field(ge=0)]


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Usage(Shape):
    prompt_tokens: Whole
    completion_tokens: Whole
    total_tokens: Whole
    cache_creation_tokens: Whole
    cache_read_tokens: Whole

    @model_validator(mode="after")
    def total(self):
        assert self.total_tokens >= self.prompt_tokens + self.completion_tokens
        return self


class Original(Shape):
    path: str | None
    url: str | None
    type: str
    description: str | None
    pages: list[int] | None
    sheet: str | None
    range: str | None
    cache: bool | None


class File(Shape):
    original: Original
    markdown_content: str
    metadata: dict[str, Any] | None
    cached_path: str | None
    processing_time_ms: Whole | None
    error: str | None


class Metric(Shape):
    metric_name: str
    kind: Literal["standard", "rag", "geval", "code"]
    score: float
    threshold: float | None
    passed: bool | None
    scale: str | None
    error: str | None
    retry_count: Whole
    evaluation_time_ms: Whole
    model_used: str | None
    reasoning: str | None


class Invocation(Shape):
    name: str
    args: dict[str, Any]
    result: Any
    bytes: Whole
    duration_ms: Whole | None
    error: str | None

    @model_validator(mode="after")
    def size(self):
        assert self.bytes == len(json.dumps(self.result, default=str))
        return self


class Detail(Shape):
    expected_tool: str
    args_asserted: dict[str, Any]
    matched_call_index: Annotated[int, Field(ge=-1)]
    unmatched_reason: str | None


class Common(Shape):
    tool_calls: list[str]
    tool_invocations: list[Invocation]
    expected_tools: list[Any] | None
    tools_matched: bool | None
    metric_results: list[Metric]
    ground_truth: str | None
    passed: bool
    execution_time_ms: Whole
    errors: list[str]
    token_usage: Usage | None

    @model_validator(mode="after")
    def names(self):
        assert self.tool_calls == [call.name for call in self.tool_invocations]
        return self


class Turn(Common):
    turn_index: Whole
    input: str
    response: str | None
    arg_match_details: list[Detail] | None
    skipped: bool
    grader_details: dict[str, Any] | None


class Case(Common):
    test_name: str | None
    test_input: str
    processed_files: list[File]
    agent_response: str | None
    timestamp: str
    turns: list[Turn] | None


class Summary(Shape):
    total_tests: Whole
    passed: Whole
    failed: Whole
    pass_rate: Annotated[float, Field(ge=0, le=100)]
    total_duration_ms: Whole
    metrics_evaluated: dict[str, int]
    average_scores: dict[str, float]

    @model_validator(mode="after")
    def counts(self):
        assert self.passed + self.failed == self.total_tests
        assert list(self.metrics_evaluated) == list(self.average_scores)
        return self


class Report(Shape):
    agent_name: str
    agent_config_path: str
    results: list[Case]
    summary: Summary
    timestamp: str
    holodeck_version: str
    environment: dict[str, str]

    @model_validator(mode="after")
    def count(self):
        assert self.summary.total_tests == len(self.results)
        return self


def one_turn(*, multi_turn=True, **parts):
    turn = TurnResult(**{"turn": 0, "input": "in", "response": "x", **parts})
    return RunResult("fin", (CaseResult("cash", 0, (turn,), multi_turn=multi_turn),))


def the_turn(**parts):
    return report(one_turn(**parts))["results"][0]["turns"][0]


def strict(text):
    """Parse as a reader that knows no NaN."""

    def refuse(word):
        raise AssertionError(word)

    return json.loads(text, parse_constant=refuse)


def test_the_models_of_this_test_read_the_example_of_the_format():
    path = CASES / "example_report.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    Report.model_validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["small_run", "hostile_run"])
def test_a_report_is_holodecks_field_for_field(name, request):
    run = request.getfixturevalue(name)
    data = report(run)
    assert Report.model_validate(data).model_dump() == data
    assert strict(report_text(run)) == data
    report_text(run).encode()


def peers(area):
    path = CASES / "peer_conformance.json"
    if not path.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{path.name} is not there"))]
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [pytest.param(row, id=row["id"]) for row in rows if row["area"] == area]


TOKENS = ("prompt", "completion", "total", "cache_creation", "cache_read")


@pytest.mark.parametrize("row", peers("case_rollup"))
def test_a_case_of_several_turns_rolls_up(row):
    given, expected = row["input"], dict(row["expected"])
    count = given.get("turns") or len(next(iter(given.values())))
    turns = []
    for n in range(count):
        parts = {"turn": n, "input": "in", "response": "x"}
        parts["input"] = given.get("turn_inputs", ["in"] * count)[n]
        parts["response"] = given.get("turn_responses", ["x"] * count)[n]
        parts["tool_calls"] = tuple(map(ToolInvocation, given.get("turn_tool_calls", [()] * count)[n]))
        parts["duration_ms"] = given.get("turn_execution_time_ms", [None] * count)[n]
        if given.get("skipped", [False] * count)[n]:
            parts["skip_reason"] = "lost"
        if not given.get("turn_passed", [True] * count)[n]:
            parts["error"] = "no"
        for error in given.get("turn_errors", [()] * count)[n]:
            parts["error"] = error
        if "turn_token_usage" in given:
            parts["usage"] = TokenUsage(**{f"{k}_tokens": v for k, v in given["turn_token_usage"][n].items()})
        turns.append(TurnResult(**parts))
    result = report(RunResult("fin", (CaseResult("c", 0, tuple(turns)),)))["results"][0]
    if "turns_len" in expected:
        assert len(result["turns"]) == expected.pop("turns_len")
    if "token_usage" in expected:
        expected["token_usage"] = {f"{key}_tokens": expected["token_usage"][key] for key in TOKENS}
    assert {key: result[key] for key in expected} == expected


@pytest.mark.parametrize("row", peers("summary"))
def test_the_summary_counts_cases(row):
    cases = tuple(
        CaseResult(
            f"c{place}",
            place,
            tuple(
                TurnResult(n, "in", response="x", error=None if case["passed"] else "no")
                for n in range(case.get("turns", 1))
            ),
        )
        for place, case in enumerate(row["input"]["cases"])
    )
    summary = report(RunResult("fin", cases))["summary"]
    assert {key: summary[key] for key in row["expected"]} == row["expected"]


def test_an_empty_run_is_a_report():
    data = report(RunResult("empty", ()))
    Report.model_validate(data)
    assert data["summary"]["pass_rate"] == 0.0
    assert (data["agent_config_path"], data["timestamp"], data["environment"]) == ("", "", {})


def test_a_single_turn_case_has_no_turns_and_keeps_its_own_fields(small_run):
    single = report(small_run)["results"][2]
    assert single["turns"] is None
    assert single["test_name"] is None
    assert (single["ground_truth"], single["agent_response"], single["test_input"]) == ("hi", "", "hello")


def test_a_conversation_has_its_ground_truths_and_tools_with_the_turns(small_run):
    case = report(small_run)["results"][0]
    assert (case["ground_truth"], case["expected_tools"]) == (None, None)
    assert case["test_input"] == "what is net cash in 2009?\n---\nwhat is the difference?\n---\nand?"
    assert [turn["ground_truth"] for turn in case["turns"]] == ["206588", "25587", None]
    assert case["agent_response"] is None  # that of the last turn, which ended in an error
    assert case["errors"] == [
        "[turn 1] lookup: arguments could not be read",
        "[turn 1] subtract: closest call #1: b expected 181001, got 180000",
        "[turn 2] timeout after 60 s",
    ]


def test_errors_of_a_single_turn_case_name_no_turn_and_say_which_tool_was_missed():
    run = one_turn(
        multi_turn=False,
        expected_tools=("zzz",),
        tool_checks=(ToolCheck("zzz", 1, None, matched=False, reason="zzz: no tool was called"),),
    )
    assert report(run)["results"][0]["errors"] == ["zzz: no tool was called"]


METRICS = [
    # metric                                                  what is written
    (MetricResult("numeric", "standard", "passed", 1.0),      {"score": 1.0, "passed": True, "error": None}),
    (MetricResult("bleu", "evaluate", "scored", 0.5),         {"kind": "standard", "passed": None}),
    (MetricResult("numeric", "standard", "failed", 0.0, reason="no number in 'x'"),
     {"score": 0.0, "passed": False, "error": None, "reasoning": "no number in 'x'"}),
    (MetricResult("judge", "geval", "error", reason="502"),
     {"score": 0.0, "passed": False, "error": "502", "reasoning": None}),
    (MetricResult("judge", "geval", "error"),                 {"error": "not measured"}),
    (MetricResult("judge", "rag", "passed", 0.9, 0.5, model="gpt", retries=2, duration_ms=12.6),
     {"threshold": 0.5, "model_used": "gpt", "retry_count": 2, "evaluation_time_ms": 13, "scale": "0-1"}),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "written"), METRICS)
def test_a_metric_is_written(metric, written):
    (entry,) = the_turn(metrics=(metric,))["metric_results"]
    assert {key: entry[key] for key in written} == written


def test_a_metric_that_does_not_apply_is_left_out_everywhere():
    data = report(one_turn(metrics=(MetricResult("bleu", "standard", "not_applicable", details={"a": 1}),)))
    assert data["results"][0]["turns"][0]["metric_results"] == []
    assert data["results"][0]["metric_results"] == []
    assert data["summary"]["metrics_evaluated"] == {}


def run_of(*cases):
    """One case a list, one turn a score; None is an error of the metric."""

    def metric(score):
        if score is None:
            return MetricResult("numeric", "standard", "error", reason="502", model="gpt", duration_ms=4.4)
        status = "passed" if score else "failed"
        return MetricResult("numeric", "standard", status, score, model="gpt", retries=1, duration_ms=4.4)

    return RunResult(
        "fin",
        tuple(
            CaseResult(
                f"c{place}",
                place,
                tuple(TurnResult(n, "in", response="x", metrics=(metric(s),)) for n, s in enumerate(scores)),
            )
            for place, scores in enumerate(cases)
        ),
    )


AVERAGES = [
    # scores by case                     cases that measured it   mean over those cases
    ([[1.0], [0.0], [0.0], [0.0]],       4,                       0.25),
    ([[1.0, 0.0], [1.0]],                2,                       0.75),  # of cases, not of turns
    ([[1.0], [None], [0.0]],             2,                       0.5),   # an error was not measured
    ([[None]],                           None,                    None),
]  # fmt: skip


@pytest.mark.parametrize(("cases", "count", "mean"), AVERAGES)
def test_averages_are_over_the_cases_that_measured_a_metric_zeros_included(cases, count, mean):
    summary = report(run_of(*cases))["summary"]
    assert summary["metrics_evaluated"].get("numeric") == count
    assert summary["average_scores"].get("numeric") == mean


def test_a_metric_of_several_turns_stands_once_with_its_mean():
    (entry,) = report(run_of([1.0, None, 0.0]))["results"][0]["metric_results"]
    assert entry == {
        "metric_name": "numeric",
        "kind": "standard",
        "score": 0.5,
        "threshold": None,
        "passed": False,
        "scale": "0-1",
        "error": None,
        "retry_count": 2,
        "evaluation_time_ms": 12,
        "model_used": "gpt",
        "reasoning": "1 of 3 turns not measured: 502",
    }
    (entry,) = report(run_of([None, None]))["results"][0]["metric_results"]
    assert (entry["score"], entry["error"], entry["passed"]) == (0.0, "502", False)


USAGES = [
    # of a turn                                                   written
    (None,                                                        None),
    (TokenUsage(10),                                              None),  # unknown is never 0
    (TokenUsage(10, 5),                                           (10, 5, 15, 0, 0)),
    (TokenUsage(10, 5, cache_creation_tokens=2, cache_read_tokens=3), (10, 5, 15, 2, 3)),
]  # fmt: skip


@pytest.mark.parametrize("multi_turn", [True, False])
@pytest.mark.parametrize(("usage", "written"), USAGES)
def test_tokens_are_null_unless_known(usage, written, multi_turn):
    case = report(one_turn(usage=usage, multi_turn=multi_turn))["results"][0]
    for entry in (case, *(case["turns"] or ())):
        assert written == (entry["token_usage"] and tuple(entry["token_usage"].values()))


def test_a_case_sums_the_tokens_it_knows():
    turns = tuple(TurnResult(n, "in", response="x", usage=u) for n, u in enumerate([TokenUsage(10, 5), None]))
    assert report(RunResult("fin", (CaseResult("c", 0, turns),)))["results"][0]["token_usage"] == {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "cache_creation_tokens": 0,
        "cache_read_tokens": 0,
    }


def test_arguments_that_cannot_be_read_are_written_raw():
    turn = the_turn(tool_calls=(ToolInvocation("t", None, raw_args='{"a": '), ToolInvocation("u", None)))
    assert [call["args"] for call in turn["tool_invocations"]] == [{"_raw": '{"a": '}, {"_raw": ""}]


def test_details_of_arguments_only_for_entries_with_arguments(small_run):
    first, second, third = (turn["arg_match_details"] for turn in report(small_run)["results"][0]["turns"])
    assert first == [
        {
            "expected_tool": "lookup",
            "args_asserted": {"row": "cash"},
            "matched_call_index": 0,
            "unmatched_reason": None,
        }
    ]
    assert second == [
        {
            "expected_tool": "subtract",
            "args_asserted": {"a": {"fuzzy": "206588"}, "b": 181001},
            "matched_call_index": -1,
            "unmatched_reason": "subtract: closest call #1: b expected 181001, got 180000",
        }
    ]
    assert third is None


def test_grader_details_are_by_metric(small_run):
    turns = report(small_run)["results"][0]["turns"]
    assert turns[1]["grader_details"] == {"numeric": {"actual": 26588, "expected": 25587}}
    assert turns[2]["grader_details"] is None


def test_only_skipped_turns_are_skipped_and_have_no_response(small_run):
    data = report(small_run)
    assert [turn["skipped"] for turn in data["results"][0]["turns"]] == [False, False, False]
    (lost,) = data["results"][1]["turns"]
    assert (lost["skipped"], lost["response"], lost["errors"]) == (True, None, ["connection lost"])
    assert lost["expected_tools"] == ["lookup"]
    assert lost["tools_matched"] is None


def test_the_response_of_a_turn_that_ended_in_an_error_is_null():
    assert the_turn(response="late", error="timeout")["response"] is None
    assert the_turn(response="")["response"] == ""


FILES = [
    # record                                                            original differs by
    (FileRecord(path="a.pdf", type="pdf", details={"pages": (1, 2)}),   {"path": "a.pdf", "pages": [1, 2]}),
    (FileRecord(path="a.pptx", type="powerpoint", details={"slides": [3]}), {"path": "a.pptx", "pages": [3]}),
    (FileRecord(path="a.xlsx", type="excel", details={"sheet": "S", "range": "A1:B2"}),
     {"path": "a.xlsx", "sheet": "S", "range": "A1:B2"}),
    (FileRecord(url="https://me:pw@x.org/a.csv?sig=SECRET#SECRET", type="csv", details={"cache": False}),
     {"url": "https://x.org/a.csv", "cache": False}),
    (FileRecord(url="http://[half", type="csv"),                        {"url": "http://[half"}),
]  # fmt: skip


@pytest.mark.parametrize(("record", "differs"), FILES)
def test_files_of_the_turns_stand_with_the_case(record, differs):
    data = report(one_turn(files=(record,)))
    Report.model_validate(data)
    (entry,) = data["results"][0]["processed_files"]
    empty = dict.fromkeys(("path", "url", "description", "pages", "sheet", "range", "cache"))
    assert entry["original"] == {**empty, "type": record.type, **differs}
    assert entry["metadata"] == {"turn": 0}
    assert "SECRET" not in json.dumps(data)


def test_what_was_read_from_a_file_and_what_else_is_known():
    details = {
        "markdown_content": "# A",
        "processing_time_ms": 3.6,
        "cached_path": "c/1",
        "error": "too long",
        "size": 10,
    }
    entry = report(one_turn(files=(FileRecord(path="a", type="text", details=details),), multi_turn=False))
    assert entry["results"][0]["processed_files"] == [
        {
            "original": {
                "path": "a",
                "url": None,
                "type": "text",
                "description": None,
                "pages": None,
                "sheet": None,
                "range": None,
                "cache": None,
            },
            "markdown_content": "# A",
            "cached_path": "c/1",
            "processing_time_ms": 4,
            "error": "too long",
            "metadata": {"size": 10},
        }
    ]


def test_times_are_whole_milliseconds_and_add_up(small_run):
    data = report(small_run)
    case = data["results"][0]
    assert [turn["execution_time_ms"] for turn in case["turns"]] == [100, 10, 60_000]
    assert case["execution_time_ms"] == 60_110
    assert data["summary"]["total_duration_ms"] == 1800  # of the clock on the wall, not the sum of the cases


def test_timestamps_are_the_ends_in_utc(small_run):
    data = report(small_run)
    assert data["timestamp"] == "2026-11-30T18:47:14.800000+00:00"
    assert [case["timestamp"] for case in data["results"]] == [
        "2026-11-30T18:47:13+00:00",
        "2026-11-30T18:47:14.800000+00:00",  # unknown: not later than the end of the run
        "2026-11-30T18:47:13+00:00",
    ]


def test_a_run_beyond_the_last_year_ends_when_it_began():
    run = RunResult("fin", (), started_at=datetime.max.replace(tzinfo=UTC), duration_ms=1e9)
    assert report(run)["timestamp"] == "9999-12-31T23:59:59.999999+00:00"


def test_the_environment_is_text_by_name_and_the_settings_are_json(small_run):
    environment = report(small_run)["environment"]
    assert environment == {
        "python_version": "3.11.7",
        "os": "Linux",
        "execution_config": '{"llm_timeout": 60, "verbose": false}',
    }


def test_the_version_names_the_writer():
    assert report(RunResult("fin", ()))["holodeck_version"].startswith("holodeck_nb ")


def test_repeats_are_one_result_each():
    turn = TurnResult(0, "in", response="x")
    cases = tuple(CaseResult("c", 0, (turn,), given_name="c", repeat=repeat) for repeat in range(3))
    data = report(RunResult("fin", cases))
    assert [case["test_name"] for case in data["results"]] == ["c", "c", "c"]
    assert data["summary"]["total_tests"] == 3


def test_agent_text_that_looks_like_a_number_that_is_none_stays():
    run = one_turn(
        response="BaNaNa Infinity NaN",
        tool_calls=(ToolInvocation("ratio", {"v": float("nan")}, [float("inf"), "NaN"]),),
        metrics=(
            MetricResult("m", "code", "error", reason="NaN", details={"x": float("inf"), "y": "-Infinity"}),
        ),
    )
    data = strict(report_text(run))
    turn = data["results"][0]["turns"][0]
    assert turn["response"] == "BaNaNa Infinity NaN"
    assert turn["tool_invocations"][0]["args"] == {"v": None}
    assert turn["tool_invocations"][0]["result"] == [None, "NaN"]
    assert turn["grader_details"] == {"m": {"x": None, "y": "-Infinity"}}


def test_a_score_that_is_no_number_is_null_and_never_nan():
    run = one_turn(metrics=(MetricResult("m", "code", "passed", float("nan"), float("inf")),))
    (entry,) = strict(report_text(run))["results"][0]["turns"][0]["metric_results"]
    assert (entry["score"], entry["threshold"]) == (None, None)


def test_results_of_any_kind_are_written():
    result = {
        "d": Decimal("0.30"),
        "f": Fraction(1, 3),
        "t": datetime(2026, 11, 30, tzinfo=UTC),
        "day": date(2009, 12, 31),
        "s": {2, 1},
        "b": b"\xff!",
        3: (1, 2),
    }
    (call,) = the_turn(tool_calls=(ToolInvocation("t", {}, result),))["tool_invocations"]
    assert call["result"] == {
        "d": "0.30",
        "f": "1/3",
        "t": "2026-11-30T00:00:00+00:00",
        "day": "2009-12-31",
        "s": [1, 2],
        "b": "\\xff!",
        "3": [1, 2],
    }


def test_text_that_is_no_utf_8_is_mended_and_all_other_text_is_kept():
    text = report_text(one_turn(response="lone \ud800, pair \ud83d\ude00, ü, \u2028, \x00"))
    assert strict(text)["results"][0]["agent_response"] == "lone \ufffd, pair \U0001f600, ü, \u2028, \x00"
    assert "ü" in text


def test_a_report_reads_a_run_and_changes_nothing(small_run):
    before = repr(small_run)
    data = report(small_run)
    data["results"][0]["turns"][0]["tool_invocations"][0]["args"]["row"] = "spoiled"
    data["results"][0]["turns"][0]["expected_tools"][0]["args"]["row"] = "spoiled"
    assert repr(small_run) == before


def test_a_whole_report(small_run):
    first = small_run.cases[0]
    run = replace(small_run, cases=(replace(first, turns=first.turns[1:2]),))
    text = report_text(run).replace(__version__, "VERSION")
    assert text == snapshot("""\
{
  "agent_name": "fin",
  "agent_config_path": "agent.yaml",
  "results": [
    {
      "test_name": "net cash",
      "test_input": "what is the difference?",
      "processed_files": [],
      "agent_response": "26,588",
      "tool_calls": [
        "Math-subtract",
        "Math-lookup"
      ],
      "tool_invocations": [
        {
          "name": "Math-subtract",
          "args": {
            "a": "206,588",
            "b": 180000
          },
          "result": 26588,
          "bytes": 5,
          "duration_ms": 12,
          "error": null
        },
        {
          "name": "Math-lookup",
          "args": {
            "_raw": "{\\"row\\": "
          },
          "result": null,
          "bytes": 4,
          "duration_ms": null,
          "error": "no such row"
        }
      ],
      "expected_tools": null,
      "tools_matched": false,
      "metric_results": [
        {
          "metric_name": "numeric",
          "kind": "standard",
          "score": 0.0,
          "threshold": null,
          "passed": false,
          "scale": "0-1",
          "error": null,
          "retry_count": 0,
          "evaluation_time_ms": 8,
          "model_used": null,
          "reasoning": null
        },
        {
          "metric_name": "judge",
          "kind": "geval",
          "score": 0.0,
          "threshold": null,
          "passed": false,
          "scale": "0-1",
          "error": "502",
          "retry_count": 3,
          "evaluation_time_ms": 20,
          "model_used": "gpt",
          "reasoning": null
        }
      ],
      "ground_truth": null,
      "passed": false,
      "execution_time_ms": 10,
      "errors": [
        "[turn 1] lookup: arguments could not be read",
        "[turn 1] subtract: closest call #1: b expected 181001, got 180000"
      ],
      "timestamp": "2026-11-30T18:47:13+00:00",
      "token_usage": {
        "prompt_tokens": 180,
        "completion_tokens": 12,
        "total_tokens": 192,
        "cache_creation_tokens": 0,
        "cache_read_tokens": 0
      },
      "turns": [
        {
          "turn_index": 1,
          "input": "what is the difference?",
          "response": "26,588",
          "ground_truth": "25587",
          "expected_tools": [
            "lookup",
            {
              "name": "subtract",
              "args": {
                "a": {
                  "fuzzy": "206588"
                },
                "b": 181001
              }
            }
          ],
          "tool_calls": [
            "Math-subtract",
            "Math-lookup"
          ],
          "tool_invocations": [
            {
              "name": "Math-subtract",
              "args": {
                "a": "206,588",
                "b": 180000
              },
              "result": 26588,
              "bytes": 5,
              "duration_ms": 12,
              "error": null
            },
            {
              "name": "Math-lookup",
              "args": {
                "_raw": "{\\"row\\": "
              },
              "result": null,
              "bytes": 4,
              "duration_ms": null,
              "error": "no such row"
            }
          ],
          "tools_matched": false,
          "arg_match_details": [
            {
              "expected_tool": "subtract",
              "args_asserted": {
                "a": {
                  "fuzzy": "206588"
                },
                "b": 181001
              },
              "matched_call_index": -1,
              "unmatched_reason": "subtract: closest call #1: b expected 181001, got 180000"
            }
          ],
          "metric_results": [
            {
              "metric_name": "numeric",
              "kind": "standard",
              "score": 0.0,
              "threshold": null,
              "passed": false,
              "scale": "0-1",
              "error": null,
              "retry_count": 0,
              "evaluation_time_ms": 8,
              "model_used": null,
              "reasoning": "26588 is not 25587"
            },
            {
              "metric_name": "judge",
              "kind": "geval",
              "score": 0.0,
              "threshold": null,
              "passed": false,
              "scale": "0-1",
              "error": "502",
              "retry_count": 3,
              "evaluation_time_ms": 20,
              "model_used": "gpt",
              "reasoning": null
            }
          ],
          "passed": false,
          "execution_time_ms": 10,
          "token_usage": {
            "prompt_tokens": 180,
            "completion_tokens": 12,
            "total_tokens": 192,
            "cache_creation_tokens": 0,
            "cache_read_tokens": 0
          },
          "errors": [
            "lookup: arguments could not be read",
            "subtract: closest call #1: b expected 181001, got 180000"
          ],
          "skipped": false,
          "grader_details": {
            "numeric": {
              "actual": 26588,
              "expected": 25587
            }
          }
        }
      ]
    }
  ],
  "summary": {
    "total_tests": 1,
    "passed": 0,
    "failed": 1,
    "pass_rate": 0.0,
    "total_duration_ms": 1800,
    "metrics_evaluated": {
      "numeric": 1
    },
    "average_scores": {
      "numeric": 0.0
    }
  },
  "timestamp": "2026-11-30T18:47:14.800000+00:00",
  "holodeck_version": "holodeck_nb VERSION",
  "environment": {
    "python_version": "3.11.7",
    "os": "Linux",
    "execution_config": "{\\"llm_timeout\\": 60, \\"verbose\\": false}"
  }
}
""")
