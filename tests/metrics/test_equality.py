"""Equality: strict by default, each flag lets one thing differ, and a failure says what."""

import asyncio
import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from holodeck_nb.metrics.base import GraderContext, NotApplicableError, build_metrics
from holodeck_nb.schema.metrics import MetricConfig

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "cases"
CONFIG = TypeAdapter(MetricConfig)


def shared(area):
    file = SHARED / "peer_conformance.json"
    if not file.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{file.name} is not beside the project"))]
    return [pytest.param(c, id=c["id"]) for c in json.loads(file.read_text("utf-8")) if c["area"] == area]


def measure(options, reply, truth):
    (metric,) = build_metrics((CONFIG.validate_python({"type": "equality", **options}),), {})
    return asyncio.run(metric.measure(GraderContext("q", reply, ground_truth=truth)))


STRICT = {}
CASE = {"case_insensitive": True}
KEPT = {"case_insensitive": True, "strip_punctuation": False}
SPACE = {"strip_whitespace": True}
MARKS = {"strip_punctuation": True}
ALL = CASE | SPACE | MARKS

PAIRS = [
    # flags   reply                   truth                equal
    (STRICT, "Yes",                   "Yes",               True),
    (STRICT, "Yes",                   "yes",               False),
    (STRICT, "yes.",                  "yes",               False),
    (STRICT, "yes ",                  "yes",               False),
    (STRICT, "",                      "yes",               False),
    (STRICT, "25587.0",               "25587",             False),  # text, not numbers
    (STRICT, "caf\u00e9",             "cafe\u0301",        False),  # strict is strict
    (CASE,   "yes",                   "Yes",               True),
    (CASE,   "yes.",                  "Yes",               True),   # US4-1
    (CASE,   "Yes",                   "yes.",              True),
    (CASE,   "yes!",                  "Yes?",              True),
    (CASE,   "yes..",                 "Yes",               False),  # one mark, not two
    (CASE,   "yes,",                  "Yes",               False),
    (CASE,   "yes",                   "no",                False),
    (CASE,   " yes",                  "yes",               False),
    (CASE,   "STRASSE",               "stra\u00dfe",       True),
    (CASE,   "CAF\u00c9",             "cafe\u0301",        True),
    (KEPT,   "yes.",                  "Yes",               False),  # an explicit false keeps the full stop
    (KEPT,   "yes.",                  "Yes.",              True),
    (SPACE,  " hello  world ",        "hello world",       True),
    (SPACE,  "hello\n\tworld",        "hello world",       True),
    (SPACE,  "hello\u00a0world",      "hello world",       True),
    (SPACE,  "helloworld",            "hello world",       False),
    (SPACE,  "Hello world",           "hello world",       False),
    (MARKS,  "yes.",                  "yes",               True),
    (MARKS,  "hello, world!",         "hello world",       True),
    (MARKS,  "\u201cyes\u201d",       "yes",               True),
    (MARKS,  "it's",                  "its",               True),
    (MARKS,  "**yes**",               "yes",               True),
    (MARKS,  "net-cash",              "netcash",           True),
    (MARKS,  "a_b",                   "ab",                True),
    (MARKS,  "1,234",                 "1234",              True),
    (MARKS,  "1.5",                   "15",                False),  # a decimal point is no punctuation
    (MARKS,  "1,5",                   "15",                False),
    (MARKS,  "-5",                    "5",                 False),  # nor is a minus
    (MARKS,  "5.",                    "5",                 True),
    (MARKS,  "\u20ac5",               "5",                 False),  # a currency sign is no punctuation either
    (MARKS,  "Yes.",                  "yes",               False),
    (ALL,    " The answer is: YES! ", "the answer is yes", True),
    (ALL,    "yes \u2013 really",     "Yes, really",       True),
    (ALL,    "no",                    "yes",               False),
]  # fmt: skip


@pytest.mark.parametrize(("flags", "reply", "truth", "equal"), PAIRS)
def test_equal_texts(flags, reply, truth, equal):
    result = measure(flags, reply, truth)
    assert result.passed is equal
    assert result.score == float(equal)
    assert (result.reason is None) is equal


REASONS = [
    (STRICT, "25000", "25587", "expected '25587', got '25000'"),
    (STRICT, "Yes", "yes", "expected 'yes', got 'Yes' (they differ in case only)"),
    (STRICT, "a  b", "a b", "expected 'a b', got 'a  b' (they differ in white space only)"),
    (STRICT, "yes.", "yes", "expected 'yes', got 'yes.' (they differ in punctuation only)"),
    (STRICT, "", "yes", "expected 'yes', got '' (the reply is empty)"),
    (
        STRICT,
        "x" * 100 + "abc",
        "x" * 100 + "abd",
        f"expected …'{'x' * 18}abd', got …'{'x' * 18}abc' at character 103",
    ),
    ({"response_path": "answer"}, "yes", "yes", "response_path: the reply is not JSON"),
]


@pytest.mark.parametrize(("flags", "reply", "truth", "reason"), REASONS)
def test_a_failure_says_what_differs(flags, reply, truth, reason):
    assert measure(flags, reply, truth).reason == reason


def test_the_response_path_is_followed_first():
    assert measure({"response_path": "answer"}, '```json\n{"answer": "yes"}\n```', "yes").passed


def test_without_ground_truth_there_is_nothing_to_compare():
    with pytest.raises(NotApplicableError):
        measure(STRICT, "yes", None)


CONTRACT_WINS = {"equality-03": "one sentence-final mark is ignored with case_insensitive (US4-1)"}


@pytest.mark.parametrize("case", shared("equality"))
def test_peer_equality(case):
    if case["id"] in CONTRACT_WINS:
        pytest.skip(f"the contract decides otherwise: {CONTRACT_WINS[case['id']]}")
    given = case["input"]
    result = measure(given["config"], given["response"], given["ground_truth"])
    assert (result.passed, result.score) == (case["expected"]["passed"], case["expected"]["score"])
