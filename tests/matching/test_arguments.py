"""One argument: exact, fuzzy and regex, each by its rules, and in words where it does not fit."""

import json
import math
import time
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from holodeck_nb.matching.arguments import mismatch
from holodeck_nb.matching.explanations import cut, how_they_differ, shown
from holodeck_nb.matching.patterns import matches_whole
from holodeck_nb.schema.tools import Exact, Fuzzy, Matcher, Regex

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "cases"
MATCHER = TypeAdapter(Matcher)


def shared(file, pick):
    if not (SHARED / file).exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{file} is not beside the project"))]
    return [
        pytest.param(case, id=case["id"]) for case in pick(json.loads((SHARED / file).read_text("utf-8")))
    ]


def exact(value):
    return Exact(exact=value)


def fuzzy(text, ratio=None):
    return Fuzzy(fuzzy=text, min_ratio=ratio)


def regex(pattern):
    return Regex(regex=pattern)


class Odd:
    """A value of the user's own that breaks whatever is asked of it."""

    def __eq__(self, other):
        raise RuntimeError("no comparing")

    __hash__ = None

    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


@dataclass
class Point:
    x: int


PAIRS = [
    #  matcher                          actual                     fits
    # numbers by value
    (exact(206588),                     206588,                    True),
    (exact(206588),                     206588.0,                  True),   # int and float are one number
    (exact(206588.0),                   206588,                    True),
    (exact(206588),                     206588.5,                  False),
    (exact(181001),                     180000,                    False),
    (exact(0.1),                        0.1,                       True),
    (exact(0.1),                        Decimal("0.1"),            True),   # the float as it prints
    (exact(0.3),                        0.30000000000000004,       False),  # drift is fuzzy's business
    (exact(0),                          -0.0,                      True),
    (exact(2**53 + 1),                  2**53 + 1,                 True),
    (exact(2**53 + 1),                  2**53,                     False),
    (exact(2**53 + 1),                  float(2**53 + 1),          False),  # that float is 2**53
    (exact(float(2**53)),               2**53,                     True),
    (exact(10**23),                     1e23,                      True),   # 1e23 is what the author wrote
    (exact(10**400),                    1.0,                       False),
    (exact(1.0),                        10**400,                   False),  # no float holds it
    (exact(10**400),                    10**400,                   True),
    (exact(1),                          10**5000,                  False),  # Python would not even print it
    (exact(math.inf),                   math.inf,                  True),
    (exact(math.inf),                   -math.inf,                 False),
    (exact(math.nan),                   math.nan,                  True),   # the author asked for it
    (exact(1),                          math.nan,                  False),
    (exact(1),                          Decimal("sNaN"),           False),
    (exact(0.5),                        Fraction(1, 2),            True),
    (exact(1),                          Fraction(10**400),         False),
    (exact(5),                          np.int64(5),               True),
    (exact(0.5),                        np.float32(0.5),           True),
    (exact(5),                          np.float64(6),             False),
    (exact(206588),                     "206588",                  False),  # text is no number
    (exact(206588),                     "206,588",                 False),  # separators are fuzzy's business
    (exact("206588"),                   206588,                    False),
    # bool and None are themselves only
    (exact(True),                       True,                      True),
    (exact(True),                       1,                         False),
    (exact(1),                          True,                      False),
    (exact(False),                      0,                         False),
    (exact(0),                          False,                     False),
    (exact(0),                          0.0,                       True),
    (exact(False),                      False,                     True),
    (exact(True),                       np.bool_(True),            True),
    (exact(True),                       np.bool_(False),           False),
    (exact(True),                       "True",                    False),
    (exact(None),                       None,                      True),
    (exact(None),                       0,                         False),
    (exact(None),                       "",                        False),
    (exact(0),                          None,                      False),
    (exact(""),                         None,                      False),
    # text after NFC and trimmed ends
    (exact("cash"),                     "cash",                    True),
    (exact("cash "),                    " cash\n",                 True),
    (exact("cash"),                     "Cash",                    False),  # case counts
    (exact("net cash"),                 "net  cash",               False),  # inner blanks count
    (exact("caf\u00e9"),                "cafe\u0301",              True),
    (exact("\ufb01nance"),              "finance",                 False),  # NFC, not NFKC
    (exact(""),                         "",                        True),
    (exact(""),                         "  ",                      True),
    (exact("2009-12-31"),               "2009-12-31",              True),
    # lists and mappings, element by element
    (exact([1, 2]),                     [1.0, 2],                  True),
    (exact([1, 2]),                     (1, 2),                    True),
    (exact([1, 2]),                     [2, 1],                    False),
    (exact([1, 2]),                     [1, 2, 3],                 False),
    (exact([]),                         [],                        True),
    (exact([]),                         {},                        False),
    (exact([]),                         None,                      False),
    (exact([1, 2]),                     np.array([1, 2]),          True),
    (exact([1]),                        1,                         False),
    (exact(["a"]),                      "a",                       False),
    (exact("ab"),                       ["a", "b"],                False),
    (exact([True]),                     [1],                       False),  # also inside
    (exact({"a": 1}),                   {"a": 1.0},                True),
    (exact({"a": 1, "b": 2}),           {"b": 2, "a": 1},          True),
    (exact({"a": 1}),                   {"a": 1, "b": 2},          False),  # a literal is all of it
    (exact({"a": 1, "b": 2}),           {"a": 1},                  False),
    (exact({"a": {"b": [1, {"c": 2}]}}), {"a": {"b": [1, {"c": 2.0}]}}, True),
    (exact({"a": {"b": [1, {"c": 2}]}}), {"a": {"b": [1, {"c": 3}]}}, False),
    (exact({"2009": 1}),                {2009: 1},                 True),   # the suite's keys are text
    (exact({"fuzzy": "x"}),             {"fuzzy": "x"},            True),   # under `exact:` it is a literal
    # what only Python can hold
    (exact(date(2009, 12, 31)),         date(2009, 12, 31),        True),
    (exact(Point(1)),                   Point(1),                  True),
    (exact(Point(1)),                   Point(2),                  False),
    (exact("x"),                        Odd(),                     False),
    (exact(1),                          Odd(),                     False),
    (exact(Point(1)),                   Odd(),                     False),
    # fuzzy: the same number however it is written
    (fuzzy("206588"),                   206588,                    True),
    (fuzzy("206588"),                   206588.0,                  True),
    (fuzzy("206588"),                   "206,588",                 True),
    (fuzzy("206588"),                   "206 588",                 True),
    (fuzzy("206588"),                   "206_588",                 True),
    (fuzzy("206588"),                   "206\u202f588",            True),
    (fuzzy("206588"),                   " 206588.00 ",             True),
    (fuzzy("206588"),                   "$206,588",                True),
    (fuzzy("206588"),                   "2.06588e5",               True),
    (fuzzy("206,588"),                  206588,                    True),
    (fuzzy("206588"),                   np.int64(206588),          True),
    (fuzzy("206588"),                   Decimal(206588),           True),
    (fuzzy("14.14%"),                   0.1414,                    True),
    (fuzzy("0.3"),                      0.30000000000000004,       True),   # within a relative 1e-9
    (fuzzy("0.3"),                      0.3001,                    False),
    (fuzzy("(1,234)"),                  -1234,                     True),
    (fuzzy("\u22125"),                  -5,                        True),
    (fuzzy("007"),                      7,                         True),
    (fuzzy("206588"),                   206589,                    False),
    (fuzzy("206588"),                   1206588,                   False),  # no substring
    (fuzzy("20"),                       2008,                      False),
    (fuzzy("20"),                       "2008",                    False),
    (fuzzy("5"),                        25,                        False),
    (fuzzy("12"),                       "1,2",                     False),
    (fuzzy("9007199254740993"),         9007199254740992,          False),  # whole numbers exactly
    (fuzzy("9007199254740993"),         "9,007,199,254,740,993",   True),
    (fuzzy("206588"),                   "206588 dollars and 3",    False),  # the whole text must be it
    (fuzzy("inf"),                      "Infinity",                False),
    (fuzzy("1"),                        True,                      False),  # a bool is its word
    (fuzzy("true"),                     True,                      True),
    (fuzzy("FALSE"),                    False,                     True),
    (fuzzy("yes"),                      True,                      False),
    (fuzzy("none"),                     None,                      False),
    (fuzzy("none"),                     "None",                    True),
    # fuzzy: the same text whatever its case, width and white space
    (fuzzy("YES"),                      " yes ",                   True),
    (fuzzy("net cash"),                 "NET  Cash",               True),
    (fuzzy("net cash"),                 "net\u00a0cash",           True),
    (fuzzy("net cash"),                 "net\ncash",               True),
    (fuzzy("net cash"),                 "netcash",                 False),
    (fuzzy("cash"),                     "net cash",                False),  # no substring
    (fuzzy("stra\u00dfe"),              "STRASSE",                 True),
    (fuzzy("AAL"),                      "\uff21\uff21\uff2c",      True),   # full width
    (fuzzy("a_b"),                      "ab",                      False),
    (fuzzy("net cash"),                 5,                         False),
    (fuzzy("abcd", 75),                 "abce",                    True),   # at least 75 % alike
    (fuzzy("abcd", 75.1),               "abce",                    False),
    (fuzzy("[1, 2]"),                   [1, 2],                    True),   # its text, as for a regex
    (fuzzy("x"),                        Odd(),                     False),
    (fuzzy("1"),                        10**5000,                  False),
    # fuzzy with min_ratio: similar text, never similar numbers
    (fuzzy("net cash provided", 80),    "net cash, provided",      True),
    (fuzzy("net cash provided", 95),    "net debt provided",       False),
    (fuzzy("206588", 80),               206589,                    False),
    (fuzzy("206588", 0),                "206589",                  False),
    (fuzzy("206588", 50),               "x206588",                 False),  # a number on one side is enough
    (fuzzy("net cash 2009", 90),        "net cash 2008",           False),  # nor within a text
    (fuzzy("net cash 2009", 80),        "2009 net cash",           False),
    (fuzzy("net cash in 2009", 80),     "net cash 2009",           True),
    # regex: the whole of str(value)
    (regex(r"^181001(\.0+)?$"),         181001,                    True),
    (regex(r"^181001(\.0+)?$"),         181001.0,                  True),
    (regex(r"^181001(\.0+)?$"),         "181001.5",                False),
    (regex("^2009.*cash.*$"),           "2009 net cash from operating activities", True),
    (regex("cash"),                     "net cash",                False),
    (regex(".*cash"),                   "net\ncash",               False),  # a dot is no line break
    (regex("(?s).*cash"),               "net\ncash",               True),
    (regex("cash"),                     "CASH",                    False),
    (regex("(?i)cash"),                 "CASH",                    True),
    (regex("^181001$"),                 "181001\n",                False),
    (regex("True"),                     True,                      True),
    (regex("true"),                     True,                      False),
    (regex("None"),                     None,                      True),
    (regex(""),                         "",                        True),
    (regex(r"\[1, 2\]"),                [1, 2],                    True),
    (regex(".*"),                       Odd(),                     False),
    (regex(".*"),                       10**5000,                  False),
    (regex("foo{e<=1}"),                "fop",                     False),  # fuzzy braces are regex's alone
    (regex("foo{e<=1}"),                "foo{e<=1}",               True),
    (regex("[{e}]+"),                   "{e}",                     True),
    (regex("a{2}"),                     "aa",                      True),
    (regex(r"\{a}"),                    "{a}",                     True),
    (regex(r"[]x[:]+"),                 "x]:[",                    True),
    (regex(r"\N{LATIN SMALL LETTER A}{2}"), "aa",                  True),
]  # fmt: skip


@pytest.mark.parametrize(("matcher", "actual", "fits"), PAIRS, ids=range(len(PAIRS)))
def test_one_argument(matcher, actual, fits):
    assert (mismatch(matcher, actual) is None) is fits


REASONS = [
    (exact(181001),                     180000,           "expected 181001, got 180000"),
    (exact(25587),                      -25587,
        "expected 25587, got -25587 (the sign is opposite)"),
    (exact(0.14),                       14,               "expected 0.14, got 14 (100 times too large)"),
    (exact(25587000),                   25587,
        "expected 25587000, got 25587 (1000 times too small)"),
    (exact(1),                          True,             "expected 1, got True"),
    (exact(206588),                     "206,588",
        "expected 206588, got '206,588' (text; use fuzzy to compare it as a number)"),
    (exact(206588),                     "net cash",       "expected 206588, got 'net cash'"),
    (exact(None),                       0,                "expected None, got 0"),
    (exact("x" * 200),                  "y",              f"expected '{'x' * 59}…{'x' * 20}', got 'y'"),
    (exact(1),                          10**400,          "expected 1, got a whole number of 401 digits"),
    (exact([1, [2, 3]]),                [1, [2, 4]],      "[1][1] expected 3, got 4"),
    (exact([1, 2]),                     [1],              "expected 2 items, got 1 item: [1]"),
    (exact({"a": {"b": 1}}),            {"a": {"b": 2}},  "['a']['b'] expected 1, got 2"),
    (exact({"a": 1, "b": 2}),           {"a": 1},         "['b'] is missing"),
    (exact({"a": 1}),                   {"a": 1, "c": 3}, "['c'] is not expected, got 3"),
    (exact([1]),                        {"a": 1},         "expected [1], got {'a': 1}"),
    (fuzzy("206588"),                   205000,           "expected 206588, got 205000"),
    (fuzzy("206588"),                   "$-206,588",
        "expected 206588, got '$-206,588' (the sign is opposite)"),
    (fuzzy("14%"),                      14,               "expected 14%, got 14 (100 times too large)"),
    (fuzzy("206588"),                   "net cash",       "expected 206588, got 'net cash'"),
    (fuzzy("net cash"),                 "net debt",       "expected 'net cash' (fuzzy), got 'net debt'"),
    (fuzzy("none"),                     None,             "expected 'none' (fuzzy), got None"),
    (fuzzy("net cash", 80),             "net debt",
        "expected 'net cash' (fuzzy, at least 80 % alike), got 'net debt' (50 % alike)"),
    (fuzzy("cash 2009", 80),            "cash 2008",
        "expected 'cash 2009' (fuzzy, at least 80 % alike), got 'cash 2008' (with other numbers in it)"),
    (regex(r"181001(\.0+)?"),           180000,           r"expected /181001(\.0+)?/, got 180000"),
    (regex("(?x) a  # an a\n b"),       "c",              "expected /(?x) a # an a b/, got 'c'"),
    (fuzzy(" 206 588\n"),               5,                "expected 206 588, got 5"),
    (regex("x"),                        10**5000,
        "expected /x/, got a whole number of about 5000 digits, which has no text"),
]  # fmt: skip


@pytest.mark.parametrize(("matcher", "actual", "reason"), REASONS, ids=range(len(REASONS)))
def test_a_mismatch_says_what_was_expected_and_then_what_came(matcher, actual, reason):
    assert mismatch(matcher, actual) == reason


def test_a_value_without_text_is_named_by_its_type():
    assert "Odd" in mismatch(exact("x"), Odd())
    assert "which has no text" in mismatch(fuzzy("x"), Odd())


def test_a_pattern_that_runs_wild_fails_within_its_second():
    begin = time.monotonic()
    reason = mismatch(regex("(a|aa)+$"), "a" * 60 + "b")
    assert time.monotonic() - begin < 60  # without the limit it would take longer than anybody waits
    assert reason.startswith("expected /(a|aa)+$/, but the pattern took longer than 1 s on 'aaaa")


def test_patterns_are_pythons():
    assert not matches_whole("[[:alpha:]]", "b")
    assert matches_whole("[[:alpha:]]", ":]")


def shared_arguments(data):
    return [case for case in data["arg_cases"] if case["verdict"] != "config_error" and not case["missing"]]


@pytest.mark.parametrize("case", shared("argument_matching.json", shared_arguments))
def test_shared_arguments(case):
    matcher = MATCHER.validate_python({case["matcher"]: case["expected"]})
    assert (mismatch(matcher, case["actual"]) is None) is (case["verdict"] == "pass")


def shared_bad_matchers(data):
    return [case for case in data["arg_cases"] if case["verdict"] == "config_error"]


@pytest.mark.parametrize("case", shared("argument_matching.json", shared_bad_matchers))
def test_shared_matchers_that_no_suite_may_hold(case):
    with pytest.raises(ValidationError):
        MATCHER.validate_python({case["matcher"]: case["expected"]})


CONTRACT_WINS = {"arg_fuzzy-08": "None never matches fuzzy"}


def peers(data):
    return [case for case in data if case["area"].startswith("arg_")]


@pytest.mark.parametrize("case", shared("peer_conformance.json", peers))
def test_peer_arguments(case):
    if case["id"] in CONTRACT_WINS:
        pytest.skip(f"the contract decides otherwise: {CONTRACT_WINS[case['id']]}")
    reason = mismatch(MATCHER.validate_python(case["input"]["matcher"]), case["input"]["actual"])
    assert (reason is None) is case["expected"]["match"]
    assert all(text in reason for text in case["expected"].get("reason_contains", ()))


SHOWN = [
    (5,                     "5"),
    (0.1,                   "0.1"),
    (None,                  "None"),
    ("net cash",            "'net cash'"),
    ("a\nb",                r"'a\nb'"),
    (10**40,                "a whole number of 41 digits"),
    (-(10**38),             "-1" + "0" * 38),
    (list(range(50)),       "[0, 1, 2, 3, 4, ...]"),
    ([[[[1]]]],             "[[[[...]]]]"),
    ({"a": 10**5000},       "{'a': a whole number of about 5000 digits}"),
    (np.array([1, 2]),      "array([1, 2])"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), SHOWN)
def test_values_are_shown_short(value, text):
    assert shown(value) == text


def test_a_list_that_holds_itself_is_shown():
    endless = []
    endless.append(endless)
    assert shown(endless).startswith("[[")


def test_long_text_keeps_both_ends():
    assert cut("abcdefghij", 8) == "abcde…ij"


@pytest.mark.parametrize(
    ("expected", "actual", "words"),
    [
        ("5", "-5", "the sign is opposite"),
        ("0.14136", "14.136", "100 times too large"),
        ("14.136", "0.14136", "100 times too small"),
        ("2", "2000", "1000 times too large"),
        ("2000", "2", "1000 times too small"),
        ("5", "5.1", None),
        ("0", "0", None),
        ("5", "0", None),
        ("5", "-500", None),  # two steps are no longer the whole difference
        ("1e300", "1e-300", None),
        ("5", "NaN", None),
    ],
)
def test_what_lies_between_two_numbers(expected, actual, words):
    assert how_they_differ(Decimal(expected), Decimal(actual)) == words


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_exact_is_reflexive(value):
    assert mismatch(exact(value), value) is None


@given(JSON, JSON)
def test_exact_is_symmetric(one, other):
    assert (mismatch(exact(one), other) is None) is (mismatch(exact(other), one) is None)


@given(JSON, JSON)
def test_a_mismatch_is_one_line_of_text(one, other):
    reason = mismatch(exact(one), other)
    assert reason is None or (reason and "\n" not in reason and len(reason) < 2000)


@given(st.integers(-(10**15), 10**15), st.sampled_from([",", "_", "\u00a0", "\u202f", "\u2009", "'"]))
def test_fuzzy_reads_a_number_however_it_is_grouped(number, separator):
    grouped = f"{number:,}".replace(",", separator)
    assert mismatch(fuzzy(str(number)), grouped) is None
    assert mismatch(fuzzy(grouped), number) is None
    assert mismatch(fuzzy(grouped), number + 1) is not None


@given(st.text(st.characters(max_codepoint=126), max_size=30), st.sampled_from(["upper", "lower", "title"]))
def test_fuzzy_does_not_see_case_and_blanks_around(text, change):
    assert mismatch(fuzzy(text), f"  {getattr(text, change)()}\n") is None
