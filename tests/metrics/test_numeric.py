"""Numeric: tolerances in decimal arithmetic, every option, and details that show what was read."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from holodeck_nb.metrics.base import GraderContext, MetricError, NotApplicableError, build_metrics
from holodeck_nb.schema.metrics import MetricConfig

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "cases"
CONFIG = TypeAdapter(MetricConfig)


def shared(file, pick):
    if not (SHARED / file).exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{file} is not beside the project"))]
    return [
        pytest.param(case, id=case["id"]) for case in pick(json.loads((SHARED / file).read_text("utf-8")))
    ]


def measure(options, reply, truth):
    (metric,) = build_metrics((CONFIG.validate_python({"type": "numeric"} | options),), {})
    return asyncio.run(metric.measure(GraderContext("q", reply, ground_truth=truth)))


D = {}
CENT = {"absolute_tolerance": 0.01}
TENTH = {"relative_tolerance": 0.1}
ZERO = {"absolute_tolerance": 0}
POINTS = {"percent_as": "points"}
EITHER = {"percent_as": "either"}
IGNORE = {"scale_words": "ignore"}
BOTH = {"scale_words": "either"}
ROUND = {"rounding": "answer"}

PAIRS = [
    # options     reply                        truth          passes
    (D,           "25587",                     "25587",       True),
    (D,           "25,587",                    "25587",       True),
    (D,           "25587.0",                   "25587",       True),
    (D,           "25000",                     "25587",       False),
    (D,           "125587",                    "25587",       False),  # no suffix
    (D,           "711",                       "11",          False),
    (D,           "1.0000001",                 "1",           True),
    (D,           "1.000001",                  "1",           True),   # 1e-6 exactly: inclusive
    (D,           "1.0000011",                 "1",           False),
    (D,           "-25587",                    "25587",       False),
    (D,           "(25,587)",                  "-25587",      True),
    (D,           "The answer is 25,587.",     "25587",       True),
    (D,           "$25,587",                   "25587",       True),
    (D,           "It fell to 60.94 in 2007",  "60.94",       True),   # a bare year is set aside
    (D,           "",                          "42",          False),
    (D,           "n/a",                       "5",           False),
    (D,           "nan",                       "1",           False),
    (D,           "inf",                       "1",           False),
    (D,           "1e999",                     "1",           False),
    (D,           "9007199254740993",          "9007199254740992", False),
    (D,           "1" + "0" * 60,              "1" + "0" * 59 + "1", False),  # no digit is lost
    # inclusive, in decimal arithmetic
    (CENT,        "0.31",                      "0.30",        True),
    (CENT,        "0.29",                      "0.30",        True),
    (CENT,        "1.01",                      "1.0",         True),
    (CENT,        "-0.31",                     "-0.30",       True),
    (CENT,        "0.3101",                    "0.30",        False),
    (CENT,        "1.02",                      "1",           False),
    (CENT,        "1000000.01",                "1000000",     True),
    (ZERO,        "0.30",                      "0.3",         True),
    (ZERO,        "0.30000000000000004",       "0.3",         False),
    (TENTH,       "110",                       "100",         True),
    (TENTH,       "90",                        "100",         True),
    (TENTH,       "110.001",                   "100",         False),
    (TENTH,       "-110",                      "-100",        True),
    (TENTH,       "0.1",                       "0",           False),  # a tenth of nothing is nothing
    (CENT | TENTH, "0.009",                    "0",           True),   # either tolerance is enough
    ({"relative_tolerance": 0.3}, "1.3",       "1",           True),
    # percent
    (CENT,        "14.14%",                    "0.14136",     True),   # US4-2
    (D,           "50%",                       "0.5",         True),
    (D,           "14.14",                     "0.1414",      False),  # no hidden try at a hundredth
    (D,           "1.424",                     "142.4%",      True),
    (D,           "37.5",                      "37.5%",       False),
    (D,           "14.1 percent",              "14.1%",       True),
    ({"accept_percent": False}, "50%",         "0.5",         False),
    ({"accept_percent": False}, "50%",         "50",          False),  # unreadable, never 50
    ({"accept_percent": False}, "0.5",         "50%",         True),   # the flag is about replies
    (POINTS,      "14.1%",                     "14.1",        True),
    (POINTS,      "14.1%",                     "0.141",       False),
    (POINTS,      "14.1",                      "14.1%",       True),
    (POINTS,      "14.1%",                     "14.1%",       True),
    (EITHER,      "14.1%",                     "14.1",        True),
    (EITHER,      "14.1%",                     "0.141",       True),
    (EITHER,      "0.141",                     "14.1%",       True),
    (EITHER,      "14.1",                      "14.1%",       True),
    (EITHER,      "100%",                      "1%",          False),  # both sides are read the same way
    (EITHER,      "14.1",                      "0.141",       False),  # no sign, no choice
    # separators
    ({"accept_thousands_separators": False}, "25,587", "25587", False),
    ({"accept_thousands_separators": False}, "25587", "25,587", True),
    # which number
    ({"select": "last"},  "60.94 and 25.14",   "25.14",       True),
    ({"select": "first"}, "60.94 and 25.14",   "60.94",       True),
    ({"select": "only"},  "60.94 and 25.14",   "60.94",       False),
    (D,           "60.94 and 25.14",           "60.94",       False),
    # scale words
    (D,           "$25.587 million",           "25587000",    True),
    (D,           "$25.587 million",           "25.587",      False),
    (IGNORE,      "$25.587 million",           "25.587",      True),
    (IGNORE,      "$25.587 million",           "25587000",    False),
    (BOTH,        "$25.587 million",           "25.587",      True),
    (BOTH,        "$25.587 million",           "25587000",    True),
    (BOTH,        "25.587",                    "$25.587 million", True),
    (BOTH,        "25.587 thousand",           "25.587 million", True),  # ignored on both sides, on purpose
    (BOTH | EITHER, "14.1%",                   "14.1",        True),
    # rounding: the truth to the digits shown
    (ROUND,       "0.141",                     "0.14136",     True),
    (ROUND,       "0.1414",                    "0.14136",     True),
    (ROUND,       "0.1413",                    "0.14136",     False),
    (ROUND,       "0.142",                     "0.14136",     False),
    (ROUND,       "14.1%",                     "0.14136",     True),
    (ROUND,       "14.2%",                     "0.14136",     False),
    (ROUND | POINTS, "14.1%",                  "14.136",      True),
    (ROUND | POINTS, "14.1%",                  "14.16",       False),
    (ROUND,       "$3.4 million",              "3412345",     True),
    (ROUND,       "$3.5 million",              "3412345",     False),
    (ROUND | IGNORE, "3.4 million",            "3.412345",    True),
    (ROUND,       "0.12",                      "0.125",       True),   # half of the last digit goes
    (ROUND,       "0.13",                      "0.125",       True),   # either way
    (ROUND,       "0.14136",                   "0.141",       False),  # digits that the truth does not have
    (ROUND,       "25,587",                    "25587.4",     True),
    # a value out of a JSON reply
    ({"response_path": "result.value"}, '{"result": {"value": "31,903.6"}}', "31903.6", True),
    ({"response_path": "x"}, '{"x": 0.1}',     "0.1",         True),
    ({"response_path": "x"}, '{"y": 0.1}',     "0.1",         False),
]  # fmt: skip


@pytest.mark.parametrize(("options", "reply", "truth", "passes"), PAIRS)
def test_one_pair(options, reply, truth, passes):
    result = measure(options, reply, truth)
    assert result.passed is passes
    assert result.score == float(passes)
    assert (result.reason is None) is passes
    assert set(result.details) == {"actual", "expected", "difference", "span", "candidates"}
    assert json.loads(json.dumps(result.details, allow_nan=False)) == result.details


REASONS = [
    (D, "25000", "25587", "expected 25587, got 25000 (difference 587, tolerance 1e-06)"),
    (CENT, "0.3101", "0.30", "expected 0.3, got 0.3101 (difference 0.0101, tolerance 0.01)"),
    (TENTH, "111", "100",
        "expected 100, got 111 (difference 11, tolerance 1e-06, or 0.1 times the expected)"),
    (D, "14.136", "0.14136",
        "expected 0.14136, got 14.136 (difference 13.99464, tolerance 1e-06; 100 times too large)"),
    (D, "-5", "5", "expected 5, got -5 (difference 10, tolerance 1e-06; the sign is opposite)"),
    (ROUND, "0.142", "0.14136",
        "expected 0.14136, rounded 0.141, got 0.142 (difference 0.001, tolerance 1e-06)"),
    (D, "In 2007 it was 60.94 and in 2005 25.14, so the change is 35.80", "2005",
        ("expected 2005, got 35.8 (difference 1969.2, tolerance 1e-06; "
        "taken as the answer among 2007, 60.94, 2005, 25.14, 35.80)")),
    (D, "1e40", "5", "expected 5, got 1E+40 (difference 1E+40, tolerance 1e-06)"),
    (D, "abc", "5", "expected 5, but no number could be read: no number in the text"),
    (D, "", "5", "expected 5, but no number could be read: the text is empty"),
    (D, "60.94 and 25.14", "5",
        "expected 5, but no number could be read: 2 numbers and none is marked as the answer: 60.94, 25.14"),
    ({"response_path": "x"}, "5", "5",
        "expected 5, but no number could be read: response_path: expected dict at the top, got number"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "reply", "truth", "reason"), REASONS)
def test_a_failure_explains_itself(options, reply, truth, reason):
    assert measure(options, reply, truth).reason == reason


def test_details_show_what_was_read_and_where():
    reply = "It was 60.94, so the change is 35.80."
    result = measure(D, reply, "35.8")
    assert result.details == {
        "actual": 35.8,
        "expected": 35.8,
        "difference": 0,
        "span": [reply.index("35.80"), reply.index("35.80") + 5],
        "candidates": ["60.94", "35.80"],
    }


def test_details_of_an_unreadable_reply():
    assert measure(D, "60.94 and 25.14", "5").details == {
        "actual": None,
        "expected": 5,
        "difference": None,
        "span": None,
        "candidates": ["60.94", "25.14"],
    }


def test_a_truth_that_is_no_number_is_an_error_and_no_failure():
    with pytest.raises(MetricError, match="the ground truth 'cash' cannot be read as a number: no number"):
        measure(D, "5", "cash")


def test_without_ground_truth_there_is_nothing_to_compare():
    with pytest.raises(NotApplicableError):
        measure(D, "5", None)


@given(st.integers(-(10**12), 10**12), st.integers(0, 10**6))
def test_the_boundary_is_inclusive_at_every_size(truth, step):
    tolerance = {"absolute_tolerance": step}
    assert measure(tolerance, str(truth + step), str(truth)).passed
    assert not measure(tolerance, f"{truth + step + 1}", str(truth)).passed


CONTRACT_WINS = {
    "numeric-07": "percentages are accepted by default",
    "numeric-09": "separators are accepted by default",
    "numeric-18": "percentages are accepted by default",
}


@pytest.mark.parametrize(
    "case", shared("peer_conformance.json", lambda data: [c for c in data if c["area"] == "numeric"])
)
def test_peer_numeric(case):
    if case["id"] in CONTRACT_WINS:
        pytest.skip(f"the contract decides otherwise: {CONTRACT_WINS[case['id']]}")
    given_ = case["input"]
    result = measure(given_["config"], given_["response"], given_["ground_truth"])
    assert (result.passed, result.score) == (case["expected"]["passed"], case["expected"]["score"])


@pytest.mark.parametrize(
    "case", shared("public_cases.json", lambda data: [c for c in data if c["id"].startswith("NUM-")])
)
def test_public_cases(case):
    import yaml

    for written in yaml.safe_load(case["suite_yaml"])["test_cases"]:
        name = written["name"]
        for place, (turn, reply) in enumerate(
            zip(written["turns"], case["scripted_replies"][name], strict=True)
        ):
            options = turn.get("evaluations", written["evaluations"])[0]
            result = measure(options | {"type": "standard"}, reply["text"], turn["ground_truth"])
            assert result.passed is case["check"]["turn_passed"][name][place]
            for text in case["check"].get("turn_reason_mentions", {}).get(name, {}).get(str(place), ()):
                assert text in result.reason
