"""Roll-ups: a case from its turns, a run from its cases."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holodeck_nb.results.records import MetricResult, TokenUsage, ToolCheck, ToolInvocation, TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult

CASES = Path(__file__).parents[3] / "shared" / "cases" / "peer_conformance.json"


def peers(area):
    if not CASES.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{CASES.name} is not there"))]
    rows = json.loads(CASES.read_text(encoding="utf-8"))
    return [pytest.param(row, id=row["id"]) for row in rows if row["area"] == area]


def turn(number=0, status="passed", **parts):
    """A turn of the wanted status."""
    by_status = {
        "passed": {"response": "yes"},
        "failed": {
            "response": "no",
            "tool_checks": (ToolCheck("t", 1, None, matched=False, reason="t: no"),),
        },
        "error": {"error": "timeout"},
        "skipped": {"skip_reason": "connection lost"},
    }
    return TurnResult(number, f"question {number}", **{**by_status[status], **parts})


def case(*turns, name="cash", **parts):
    return CaseResult(name, 0, turns, **parts)


STATUSES = [
    (["passed", "passed"],             "passed"),
    (["passed", "failed"],             "failed"),
    (["failed", "error", "passed"],    "error"),
    (["error", "skipped"],             "error"),
    (["passed", "skipped"],            "failed"),   # something was played, not all of it passed
    (["skipped", "skipped"],           "skipped"),
    ([],                               "passed"),
]  # fmt: skip


@pytest.mark.parametrize(("turns", "status"), STATUSES)
def test_a_case_is_as_its_turns_are(turns, status):
    result = case(*(turn(number, name) for number, name in enumerate(turns)))
    assert result.status == status
    assert result.passed is (status == "passed")
    assert result.turns_passed == turns.count("passed")


def test_a_case_names_the_first_turn_that_is_not_passed():
    result = case(turn(0), turn(1, "failed"), turn(2, "error"))
    assert (result.first_failed_turn, result.reason) == (1, "turn 1: t: no")
    assert (case(turn(0)).first_failed_turn, case(turn(0)).reason) == (None, None)


@pytest.mark.parametrize("row", peers("tools_rollup"))
def test_tools_of_a_case(row):
    turns = [
        turn(n, response="x", tool_checks=None if so is None else (ToolCheck("t", 1, None, matched=so),))
        for n, so in enumerate(row["input"]["turn_tools_matched"])
    ]
    assert case(*turns).tools_matched is row["expected"]["case_tools_matched"]


@pytest.mark.parametrize("row", peers("metric_rollup"))
def test_metrics_of_a_case(row):
    threshold, name = row["input"]["threshold"], row["input"]["metric"]

    def result(score):
        if score is None:
            return MetricResult(name, "standard", "not_applicable")
        return MetricResult(name, "standard", "passed" if score >= threshold else "failed", score, threshold)

    rolled = case(*(turn(n, metrics=(result(s),)) for n, s in enumerate(row["input"]["turn_scores"]))).metrics
    wanted = row["expected"]
    assert (name in rolled) is wanted.get("metric_present", True)
    if "case_score" in wanted:
        assert rolled[name].mean == wanted["case_score"]
        assert rolled[name].n == sum(score is not None for score in row["input"]["turn_scores"])
    if "case_passed" in wanted:
        assert rolled[name].passed is wanted["case_passed"]


def test_an_error_stays_out_of_the_mean_and_out_of_n_and_costs_the_verdict():
    rolled = case(
        turn(0, metrics=(MetricResult("judge", "geval", "passed", 0.8, 0.5),)),
        turn(1, metrics=(MetricResult("judge", "geval", "error", reason="502"),)),
        turn(2, metrics=(MetricResult("judge", "geval", "failed", 0.0, 0.5),)),
    ).metrics["judge"]
    assert (rolled.mean, rolled.n, rolled.n_error, rolled.n_passed, rolled.n_failed) == (0.4, 2, 1, 1, 1)
    assert rolled.passed is False
    assert rolled.threshold is None  # the turns do not agree on it


def test_a_metric_that_was_never_measured_has_no_mean():
    rolled = case(turn(0, metrics=(MetricResult("judge", "geval", "error", reason="502"),))).metrics["judge"]
    assert (rolled.mean, rolled.n, rolled.passed) == (None, 0, False)


def test_metrics_come_in_order_of_first_appearance():
    results = [MetricResult(name, "standard", "scored", 0.5) for name in ("rouge", "bleu", "chrf")]
    rolled = case(turn(0, metrics=(results[1],)), turn(1, metrics=(results[0], results[1], results[2])))
    assert list(rolled.metrics) == ["bleu", "rouge", "chrf"]


COUNTS = st.none() | st.integers(0, 1_000)


@given(st.lists(st.tuples(st.sampled_from(["passed", "error", "skipped"]), COUNTS, COUNTS), max_size=6))
def test_the_usage_of_a_case_is_the_sum_of_its_turns(rows):
    turns = [
        turn(n, status, usage=None if prompt is answer is None else TokenUsage(prompt, answer))
        for n, (status, prompt, answer) in enumerate(rows)
    ]
    played = [one.usage for one in turns if one.status != "skipped"]
    usage = case(*turns).usage
    assert usage == TokenUsage.sum(played)
    if usage is not None:
        assert usage.prompt_tokens == (
            sum(u.prompt_tokens for u in played if u and u.prompt_tokens is not None)
            if any(u and u.prompt_tokens is not None for u in played)
            else None
        )
        assert usage.complete is all(u is not None and u.is_known for u in played)


def test_cost_is_unknown_as_soon_as_a_played_turn_is():
    assert case(turn(0, cost_usd=0.5), turn(1, cost_usd=0.25)).cost_usd == 0.75
    assert case(turn(0, cost_usd=0.5), turn(1)).cost_usd is None
    assert case(turn(0, cost_usd=0.5), turn(1, "skipped")).cost_usd == 0.5
    assert case(turn(0, "skipped")).cost_usd is None


def test_time_and_calls_of_a_case():
    result = case(
        turn(0, duration_ms=100.0, tool_calls=(ToolInvocation("lookup"),)),
        turn(1, duration_ms=250.0, tool_calls=(ToolInvocation("subtract"), ToolInvocation("divide"))),
        turn(2, "skipped"),
    )
    assert result.duration_ms == 350.0
    assert [call.name for call in result.tool_calls] == ["lookup", "subtract", "divide"]
    assert case(turn(0, "skipped")).duration_ms is None


def run(*cases, **parts):
    return RunResult("fin", cases, **parts)


def test_a_summary_counts_cases_and_turns_by_status():
    s = run(
        case(turn(0), turn(1)),
        case(turn(0), turn(1, "failed")),
        case(turn(0, "error"), turn(1, "skipped")),
        case(turn(0, "skipped")),
        duration_ms=1800.0,
    ).summary
    assert (s.cases, s.cases_passed, s.cases_failed, s.cases_error, s.cases_skipped) == (4, 1, 1, 1, 1)
    assert (s.turns, s.turns_passed, s.turns_failed, s.turns_error, s.turns_skipped) == (7, 3, 1, 1, 2)
    assert (s.pass_rate, s.turn_pass_rate, s.duration_ms) == (0.25, 3 / 7, 1800.0)


def test_an_empty_run_has_no_rates():
    s = run().summary
    assert (s.cases, s.turns, s.pass_rate, s.turn_pass_rate, s.usage, s.cost_usd) == (
        0,
        0,
        None,
        None,
        None,
        None,
    )
    assert dict(s.metrics) == {}


def test_means_over_the_run_keep_zeros_and_say_over_how_many():
    cases = [
        case(turn(0, metrics=(MetricResult("numeric", "standard", "passed" if s else "failed", s),)))
        for s in (1.0, 0.0, 0.0, 0.0)
    ]
    rolled = run(*cases).summary.metrics["numeric"]
    assert (rolled.mean, rolled.n) == (0.25, 4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_a_mean_does_not_depend_on_the_order(scores):
    def mean(values):
        parts = tuple(MetricResult("m", "standard", "scored", value) for value in values)
        return case(turn(0, metrics=parts)).metrics["m"].mean

    assert mean(scores) == mean(scores[::-1])
    assert mean(scores) == pytest.approx(sum(scores) / len(scores))


def test_turns_come_with_their_case_in_the_suites_order():
    first, second = case(turn(0), turn(1), name="z1"), case(turn(0), name="a2")
    pairs = run(first, second, started_at=datetime(2026, 11, 30, tzinfo=UTC)).turns()
    assert [(one.name, two.turn) for one, two in pairs] == [("z1", 0), ("z1", 1), ("a2", 0)]
