"""The calls of a turn against the tools it must call: verdict, closest call, words."""

import json
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from holodeck_nb.matching.expected_tools import check_tools, name_warnings
from holodeck_nb.results.records import ToolInvocation
from holodeck_nb.schema.tools import ExpectedTools

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "cases"
ENTRIES = TypeAdapter(ExpectedTools)


def shared(file, pick):
    if not (SHARED / file).exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{file} is not beside the project"))]
    return [
        pytest.param(case, id=case["id"]) for case in pick(json.loads((SHARED / file).read_text("utf-8")))
    ]


def call(_name, /, **args):
    return ToolInvocation(_name, args)


def check(expected, *calls):
    (found,) = check_tools(ENTRIES.validate_python([expected]), calls)
    return found


UNREADABLE = ToolInvocation("subtract", None, raw_args='{"a": 2065')
A, B = 206588, 181001
EXACT = {"name": "subtract", "args": {"a": A, "b": B}}
MIXED = {"name": "subtract", "args": {"a": {"fuzzy": "206588"}, "b": {"regex": r"^181001(\.0+)?$"}}}
TWICE = {"name": "search", "args": {"q": "cash"}, "count": 2}

# The acceptance matrix of SC-006 and more.
MATRIX = [
    #  expected       calls                                                  matched
    (EXACT,           [call("subtract", a=A, b=B)],                           True),
    (EXACT,           [call("subtract", a=206588.0, b=B)],                    True),   # US3-1
    (EXACT,           [call("subtract", a=A, b=180000)],                      False),
    (EXACT,           [call("subtract", a="206,588", b=B)],                   False),  # A7
    (EXACT,           [call("subtract", a=B, b=A)],                           False),  # by name, not by place
    (EXACT,           [call("subtract", b=B, a=A)],                           True),
    (EXACT,           [call("subtract", a=A)],                                False),  # US3-5
    (EXACT,           [call("subtract", a=A, b=B, rounding_mode="half-up")],  True),   # US3-4
    (EXACT,           [call("subtract", a=A, b=9), call("subtract", a=9, b=B)], False),  # one call for all
    (EXACT,           [call("subtract", a=1, b=2), call("subtract", a=A, b=B)], True),   # US3-6
    (EXACT,           [call("divide", a=A, b=B)],                             False),
    (EXACT,           [],                                                     False),
    (EXACT,           [UNREADABLE],                                           False),
    (EXACT,           [UNREADABLE, call("subtract", a=A, b=B)],               True),
    (MIXED,           [call("subtract", a=206588.0, b=B)],                    True),   # US3, independent test
    (MIXED,           [call("subtract", a=A, b=180000)],                      False),
    (MIXED,           [call("subtract", a="206,588", b="181001.00")],         True),
    (MIXED,           [call("subtract", a=" 206 588 ", b=181001.0)],          True),
    (MIXED,           [call("subtract", a=1, b=B), call("subtract", a="206,588", b=B)], True),
    (MIXED,           [call("subtract", a=None, b=B)],                        False),
    ({"name": "lookup", "args": {"cell": {"regex": "^2009.*cash.*$"}}},
                      [call("lookup", cell="2009 net cash from operating activities")], True),  # US3-2
    ({"name": "lookup", "args": {"cell": {"fuzzy": "net cash"}}}, [call("lookup", cell="NET  Cash")], True),
    ({"name": "lookup", "args": {"cell": None}}, [call("lookup", cell=None)],  True),
    ({"name": "lookup", "args": {"cell": None}}, [call("lookup")],            False),  # null asserts presence
    ({"name": "s", "args": {"adj": True}}, [call("s", adj=1)],                False),
    ({"name": "s", "args": {"n": 0}}, [call("s", n=False)],                   False),
    # names: a case-sensitive substring of the called name
    ("subtract",      [call("subtract")],                                     True),
    ("subtract",      [call("Math-subtract", a=1)],                           True),
    ("subtract",      [call("functions.subtract")],                           True),
    ("subtract",      [call("Subtract")],                                     False),
    ("subtract",      [call("sub")],                                          False),
    ("add",           [call("address_lookup")],                               True),   # FR-011, and warned
    ("subtract",      [UNREADABLE],                                           False),  # not even by name
    ({"name": "subtract", "match": "exact"}, [call("subtract")],              True),
    ({"name": "subtract", "match": "exact"}, [call("Math-subtract")],         False),
    ({"name": "add", "args": {"a": 1}}, [call("address_lookup", q="x"), call("math_add", a=1)], True),
    ({"name": "add", "args": {"a": 1}}, [call("address_lookup", a=2), call("math_add", a=3)], False),
    ({"name": "subtract", "args": {}}, [call("subtract", a=5)],               True),   # the name only
    # count: at least so many calls, each of them a call of its own
    (TWICE,           [call("search", q="cash"), call("search", q="cash")],   True),
    (TWICE,           [call("search", q="cash")],                             False),
    (TWICE,           [call("search", q="cash"), call("search", q="debt")],   False),
    (TWICE,           [call("search", q="cash")] * 3,                         True),   # a lower bound
    ({"name": "search", "count": 2}, [call("search"), call("web_search")],    True),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "calls", "matched"), MATRIX)
def test_one_entry(expected, calls, matched):
    assert check(expected, *calls).matched is matched


REASONS = [
    (EXACT, [call("lookup"), call("subtract", a=A, b=180000)],
        "subtract: closest call #2: b expected 181001, got 180000; a fits"),
    (EXACT, [call("subtract", a=1, b=2), call("subtract", a=A, b=180000), call("subtract", a=3, b=4)],
        "subtract: closest call #2: b expected 181001, got 180000; a fits"),
    (EXACT, [call("Math-subtract", a=A, b=-B)],
        ("subtract: closest call #1 (Math-subtract): b expected 181001, got -181001 (the sign is opposite); "
        "a fits")),
    (EXACT, [call("subtract", a=A, b=181.001)],
        "subtract: closest call #1: b expected 181001, got 181.001 (1000 times too small); a fits"),
    (EXACT, [call("subtract", a=B, b=A)],
        ("subtract: closest call #1: a and b are swapped; a expected 206588, got 181001; "
        "b expected 181001, got 206588")),
    (EXACT, [call("subtract", a=A)],
        "subtract: closest call #1: b is missing; a fits"),
    (EXACT, [call("subtract", x=A, y=B), call("subtract", a=1, b=2)],
        "subtract: closest call #2: a expected 206588, got 1; b expected 181001, got 2"),
    (MIXED, [call("subtract", a="206,588", b=180000)],
        r"subtract: closest call #1: b expected /^181001(\.0+)?$/, got 180000; a fits"),
    ({"name": "s", "args": {"a": 1, "b": 2, "c": [1, 2]}}, [call("s", a=1, b=2, c=[1, 3])],
        "s: closest call #1: c[1] expected 2, got 3; a, b fit"),
    (EXACT, [UNREADABLE],
        "subtract: closest call #1: its arguments could not be read: '{\"a\": 2065'"),
    ("subtract", [ToolInvocation("subtract", None)],
        "subtract: closest call #1: its arguments could not be read"),
    (EXACT, [UNREADABLE, call("subtract")],
        "subtract: closest call #2: a is missing; b is missing"),
    ("divide", [], "divide: never called (no tool was called)"),
    ("divide", [call("subtract"), call("lookup"), call("subtract")],
        "divide: never called (called: subtract, lookup)"),
    ("divide", [call("Divide")],
        "divide: never called (called: Divide; names are case-sensitive)"),
    ({"name": "divide", "match": "exact"}, [call("Math-divide")],
        "divide: never called (called: Math-divide; `match: exact` wants the whole name)"),
    ("x", [call(f"tool{n}") for n in range(10)],
        "x: never called (called: tool0, tool1, tool2, tool3, tool4, tool5, tool6, tool7, and 2 more)"),
    (TWICE, [call("search", q="cash")],
        "search: 1 of 2 wanted calls fit"),
    (TWICE, [call("search", q="cash"), call("search", q="debt")],
        "search: 1 of 2 wanted calls fit; closest call #2: q expected 'cash', got 'debt'"),
    (TWICE, [call("search", q="debt")],
        "search: 0 of 2 wanted calls fit; closest call #1: q expected 'cash', got 'debt'"),
    (TWICE, [], "search: never called (no tool was called)"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "calls", "reason"), REASONS)
def test_a_miss_explains_itself(expected, calls, reason):
    assert check(expected, *calls).reason == reason


def test_a_match_tells_which_calls_and_names_fit():
    found = check("subtract", call("lookup"), call("Math-subtract"), call("subtract"), call("subtract"))
    assert found.reason is None
    assert found.matched_calls == (1, 2, 3)
    assert found.matched_names == ("Math-subtract", "subtract")
    assert found.closest_call == 1
    assert found.args is None


def test_arguments_speak_of_the_first_fitting_call():
    found = check(MIXED, call("subtract", a=1, b=2), call("subtract", a="206,588", b=B, c=1))
    assert found.closest_call == 1
    assert found.args == MIXED["args"]
    assert [
        (a.arg, a.matcher, a.expected, a.actual, a.missing, a.matched, a.reason) for a in found.arguments
    ] == [
        ("a", "fuzzy", "206588", "206,588", False, True, None),
        ("b", "regex", r"^181001(\.0+)?$", B, False, True, None),
    ]


def test_arguments_speak_of_the_closest_call_where_none_fits():
    found = check(EXACT, call("subtract", a=1, b=2), call("subtract", a=A))
    assert found.closest_call == 1
    assert [
        (a.arg, a.matcher, a.expected, a.actual, a.missing, a.matched, a.reason) for a in found.arguments
    ] == [
        ("a", "exact", A, A, False, True, None),
        ("b", "exact", B, None, True, False, "is missing"),
    ]


@pytest.mark.parametrize("calls", [[], [UNREADABLE], [ToolInvocation("subtract", [A, B])]])
def test_without_a_readable_call_every_argument_is_missing(calls):
    found = check(EXACT, *calls)
    assert [(a.missing, a.matched) for a in found.arguments] == [(True, False)] * 2
    assert found.closest_call == (0 if calls else None)


def test_entries_are_independent_and_keep_their_order():
    entries = ENTRIES.validate_python(
        [{"name": "s", "args": {"a": {"regex": ".*"}}}, {"name": "s", "args": {"a": 5}}, "t"]
    )
    found = check_tools(entries, (call("s", a=5),))
    assert [c.matched for c in found] == [True, True, False]  # one call serves both


def test_nothing_expected_is_nothing_to_check():
    assert check_tools((), (call("subtract"),)) == ()


VALUES = st.sampled_from([A, 206588.0, "206,588", "206588", B, None, True, "net cash"])
CALLS = st.lists(
    st.one_of(
        st.just(UNREADABLE),
        st.builds(
            ToolInvocation,
            st.sampled_from(["subtract", "Math-subtract", "lookup"]),
            st.dictionaries(st.sampled_from("ab"), VALUES),
        ),
    ),
    max_size=4,
)


@given(CALLS, st.lists(st.sampled_from([EXACT, MIXED, TWICE, "subtract"]), max_size=3))
def test_the_verdict_knows_no_order(calls, entries):
    expected = ENTRIES.validate_python(entries)
    verdict = [c.matched for c in check_tools(expected, tuple(calls))]
    for order in permutations(calls):
        assert [c.matched for c in check_tools(expected, order)] == verdict
    backwards = check_tools(expected[::-1], tuple(calls))
    assert [c.matched for c in backwards[::-1]] == verdict


@given(CALLS)
def test_a_reason_stands_exactly_where_there_is_no_match(calls):
    for found in check_tools(ENTRIES.validate_python([EXACT, MIXED, TWICE]), tuple(calls)):
        assert (found.reason is None) is found.matched
        assert found.matched is (len(found.matched_calls) >= found.count)


NAMES = [
    #  expected       called                     warned
    ("subtract",      "subtract",                False),
    ("subtract",      "Math-subtract",           False),
    ("subtract",      "functions.subtract",      False),
    ("subtract",      "math_subtract_v2",        False),
    ("subtract",      "mcp__math__subtract",     False),
    ("add",           "address_lookup",          True),
    ("add",           "load",                    None),   # not in it at all
    ("add",           "madden",                  True),
    ("Add",           "mathAdd",                 False),  # camelCase
    ("add",           "addNumbers",              False),
    ("Add",           "mathAddress",             True),
    ("HTTP",          "HTTPServer",              False),
    ("Server",        "HTTPServer",              False),
    ("TP",            "HTTPServer",              True),
    ("search",        "search2",                 True),   # a digit parts no words
    ("get_price",     "Stock-get_price",         False),
    ("get_price",     "widget_price",            True),
    ("add",           "address_add",             False),  # the second place is a word
    ("\u00fcber",     "\u00fcbertrag",           True),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "called", "warned"), NAMES)
def test_a_name_inside_a_word_is_warned_of(expected, called, warned):
    found = check(expected, call(called))
    if warned is None:
        assert not found.matched
    assert bool(name_warnings((found,))) is bool(warned)


def test_the_warning_names_both_and_comes_once():
    found = check_tools(ENTRIES.validate_python(["add", "add"]), (call("address_lookup"), call("math_add")))
    assert name_warnings(found) == (
        (
            "expected tool 'add' fits 'address_lookup' only inside a word: a longer name, or `match: exact`, "
            "tells them apart"
        ),
    )


def test_an_exact_name_is_never_warned_of():
    assert name_warnings((check({"name": "add", "match": "exact"}, call("add")),)) == ()


@pytest.mark.parametrize("case", shared("argument_matching.json", lambda data: data["call_cases"]))
def test_shared_calls(case):
    calls = [ToolInvocation(c["name"], c["args"]) for c in case["calls"]]
    if case["verdict"] == "config_error":
        with pytest.raises(ValidationError):
            check(case["expected"], *calls)
    else:
        assert check(case["expected"], *calls).matched is (case["verdict"] == "pass")


def missing(data):
    return [case for case in data["arg_cases"] if case["missing"]]


@pytest.mark.parametrize("case", shared("argument_matching.json", missing))
def test_shared_missing_arguments(case):
    found = check({"name": "s", "args": {"a": {case["matcher"]: case["expected"]}}}, call("s"))
    assert found.reason == "s: closest call #1: a is missing"


@pytest.mark.parametrize(
    "case", shared("peer_conformance.json", lambda data: [c for c in data if c["area"] == "expected_tools"])
)
def test_peer_expected_tools(case):
    calls = [ToolInvocation(c["name"], c["args"]) for c in case["input"]["calls"]]
    found = check(case["input"]["expected_tools"][0], *calls)
    wanted = case["expected"]
    assert found.matched is wanted["tools_matched"]
    if wanted.get("matched_call_index", -1) >= 0:
        assert found.matched_calls == (wanted["matched_call_index"],)
    assert all(text in found.reason for text in wanted.get("reason_contains", ()))


@pytest.mark.parametrize(
    "case", shared("peer_conformance.json", lambda data: [c for c in data if c["area"] == "tool_names"])
)
def test_peer_tool_names(case):
    if case["input"]["expected_tools"] is None:
        pytest.skip("null is no assertion: the engine does not ask")
    expected = ENTRIES.validate_python(case["input"]["expected_tools"])
    found = check_tools(expected, tuple(call(name) for name in case["input"]["called"]))
    assert all(c.matched for c in found) is case["expected"]["tools_matched"]


@pytest.mark.parametrize(
    "case",
    shared("peer_conformance.json", lambda data: [c for c in data if c["area"] == "tool_names_per_turn"]),
)
def test_peer_tool_names_per_turn(case):
    turns = zip(
        case["input"]["turns_expected_tools"],
        case["input"]["turns_called"],
        case["expected"].get("turn_tools_matched", [None] * 9),
        strict=False,
    )
    for names, called, wanted in turns:
        if names is not None:
            found = check_tools(ENTRIES.validate_python(names), tuple(call(name) for name in called))
            assert all(c.matched for c in found) is wanted
            assert all(c.matched or c.tool in c.reason for c in found)


def scripted_tools(data):
    return [case for case in data if case["id"].startswith("ARG-")]


@pytest.mark.parametrize("case", shared("public_cases.json", scripted_tools))
def test_public_cases(case):
    import yaml

    for written in yaml.safe_load(case["suite_yaml"])["test_cases"]:
        name = written["name"]
        for place, (turn, reply) in enumerate(
            zip(written["turns"], case["scripted_replies"][name], strict=True)
        ):
            calls = tuple(ToolInvocation(c["name"], c["args"]) for c in reply["tool_calls"])
            found = check_tools(ENTRIES.validate_python(turn["expected_tools"]), calls)
            assert all(c.matched for c in found) is case["check"]["turn_passed"][name][place]
            for text in case["check"].get("turn_reason_mentions", {}).get(name, {}).get(str(place), ()):
                assert any(text in (c.reason or "") for c in found)
