"""Records of a turn: tokens that know what is unknown, statuses, reasons."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holodeck_nb.results.records import MetricResult, TokenUsage, ToolCheck, ToolInvocation, TurnResult

CASES = Path(__file__).parents[3] / "shared" / "cases" / "peer_conformance.json"
COUNTS = st.none() | st.integers(0, 10_000)


def peers(area):
    if not CASES.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{CASES.name} is not there"))]
    rows = json.loads(CASES.read_text(encoding="utf-8"))
    return [pytest.param(row, id=row["id"]) for row in rows if row["area"] == area]


@pytest.mark.parametrize("row", peers("token_usage"))
def test_the_counts_that_holodeck_accepts(row):
    if row["expected"]["valid"]:
        TokenUsage(**row["input"]["usage"])
    else:
        with pytest.raises(ValueError, match="tokens"):
            TokenUsage(**row["input"]["usage"])


@pytest.mark.parametrize("count", [-1, True, 1.5, "3"])
def test_a_count_is_a_whole_number(count):
    with pytest.raises(ValueError, match="prompt_tokens must be a whole number of at least 0"):
        TokenUsage(prompt_tokens=count)


SUMS = [
    # parts                                        sum
    ([],                                           None),
    ([None, None],                                 None),
    ([TokenUsage(10, 5), TokenUsage(20, 10)],      TokenUsage(30, 15)),
    ([TokenUsage(10, 5), None],                    TokenUsage(10, 5, complete=False)),
    ([TokenUsage(10, 5), TokenUsage(20)],          TokenUsage(30, 5, 35, complete=False)),  # at least 35
    ([TokenUsage(10, 5, complete=False)],          TokenUsage(10, 5, complete=False)),
    # A cache count that some do not report leaves the sum complete.
    ([TokenUsage(10, 5, cache_read_tokens=3), TokenUsage(1, 1)], TokenUsage(11, 6, cache_read_tokens=3)),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "expected"), SUMS)
def test_sums(parts, expected):
    assert TokenUsage.sum(parts) == expected


@given(st.lists(st.builds(TokenUsage, COUNTS, COUNTS) | st.none(), max_size=6))
def test_a_sum_never_guesses_and_never_raises(parts):
    total = TokenUsage.sum(parts)
    known = [part for part in parts if part is not None]
    if not known:
        assert total is None
        return
    for name in ("prompt_tokens", "completion_tokens"):
        counts = [getattr(part, name) for part in known if getattr(part, name) is not None]
        assert getattr(total, name) == (sum(counts) if counts else None)
    assert total.complete is (len(known) == len(parts) and all(part.is_known for part in known))


def check(matched, tool="subtract", reason=None):
    return ToolCheck(tool, 1, None, matched=matched, reason=reason)


def metric(status, score=None, **more):
    return MetricResult("numeric", "standard", status, score, **more)


STATUSES = [
    # what is in the turn                                              status     reason
    ({"response": "x"},                                                "passed",  None),  # nothing asserted
    ({"response": "", "tool_checks": ()},                              "passed",  None),  # a reply, too
    ({"response": "x", "metrics": (metric("passed", 1.0),)},           "passed",  None),
    ({"response": "x", "metrics": (metric("scored", 0.0),)},           "passed",  None),
    ({"response": "x", "metrics": (metric("not_applicable"),)},        "passed",  None),
    ({"response": "x", "metrics": (metric("failed", 0.25, threshold=0.5),)},
     "failed", "numeric: score 0.25, threshold 0.5"),
    ({"response": "x", "metrics": (metric("failed", 0.0),)},           "failed",  "numeric: score 0"),
    ({"response": "x", "metrics": (metric("failed", 0.0, reason="off"),)},  "failed", "numeric: off"),
    ({"response": "x", "metrics": (metric("error", reason="judge: 502"),)}, "failed", "numeric: judge: 502"),
    ({"response": "x", "metrics": (metric("error"),)},                 "failed",  "numeric: not measured"),
    ({"response": "x", "tool_checks": (check(True), check(False, "divide", "divide: no call"))},
     "failed", "divide: no call"),
    ({"response": "x", "tool_checks": (check(False),), "metrics": (metric("failed", 0.0),)},
     "failed", "subtract: not matched; numeric: score 0"),
    ({"error": "timeout after 60 s"},                                  "error",   "timeout after 60 s"),
    ({"skip_reason": "connection lost"},                               "skipped", "connection lost"),
    ({"skip_reason": "connection lost", "error": "x"},                 "skipped", "connection lost"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "status", "reason"), STATUSES)
def test_a_turn_says_what_became_of_it_and_why(parts, status, reason):
    turn = TurnResult(0, "in", **parts)
    assert (turn.status, turn.reason) == (status, reason)
    assert turn.passed is (status == "passed")


@pytest.mark.parametrize(
    ("checks", "matched"),
    [(None, None), ((), True), ((check(True),), True), ((check(True), check(False)), False)],
)
def test_tools_match_where_every_entry_does(checks, matched):
    assert TurnResult(0, "in", response="x", tool_checks=checks).tools_matched is matched


@pytest.mark.parametrize(
    ("status", "score", "passed", "measured"),
    [
        ("passed", 1.0, True, True),
        ("failed", 0.0, False, True),
        ("scored", 0.5, None, True),
        ("error", None, False, False),
        ("error", 0.5, False, False),  # whatever stands there was not measured
        ("not_applicable", None, None, False),
    ],
)
def test_verdict_and_measurement_of_a_metric(status, score, passed, measured):
    result = metric(status, score)
    assert (result.passed, result.measured) == (passed, measured)


def test_a_call_without_arguments_has_an_empty_mapping_that_nobody_can_change():
    call = ToolInvocation("now")
    assert call.args == {}
    with pytest.raises(TypeError):
        call.args["a"] = 1
