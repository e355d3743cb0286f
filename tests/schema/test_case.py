"""A case is a conversation, whichever way it was written; expected tools keep the form they had."""

import pytest
from pydantic import ValidationError

from holodeck_nb.schema.case import Case, Turn
from holodeck_nb.schema.tools import Exact, ExpectedTool, Fuzzy, Regex

WRITTEN = [
    "lookup",
    {"name": "t", "args": {}},
    {"name": "t", "args": {"a": 1, "b": [1, {"c": None}], "d": {"mode": "fast"}}},
    {"name": "t", "args": {"a": {"fuzzy": "5"}, "b": {"fuzzy": "5", "min_ratio": 90.0}, "c": {"regex": "x"}}},
    {"name": "t", "args": {"a": {"exact": {"fuzzy": "a key here"}}}},
    {"name": "t", "count": 2},
    {"name": "t", "match": "exact"},
]


@pytest.mark.parametrize("written", WRITTEN)
def test_an_expected_tool_is_written_as_it_was_given(written):
    case = Case(input="a", expected_tools=(written,))
    assert case.expected_tools[0].written == written


def test_matchers_by_their_shape():
    args = {
        "a": 5,
        "b": {"fuzzy": "x"},
        "c": {"regex": "x"},
        "d": {"exact": 5},
        "e": Fuzzy(fuzzy="x"),
        "f": {},
    }
    kinds = [type(matcher) for matcher in ExpectedTool(name="t", args=args).args.values()]
    assert kinds == [Exact, Fuzzy, Regex, Exact, Fuzzy, Exact]


def test_one_turn_and_many_are_the_same_path():
    single = Case(input="a", ground_truth="b", expected_tools=("t",), evaluations=())
    many = Case(turns=({"input": "a", "ground_truth": "b", "expected_tools": ["t"]},))
    assert not single.multi_turn
    assert many.multi_turn
    assert single.conversation == many.conversation
    assert single.conversation[0].evaluations is None  # those of the case are the case's


def test_models_are_frozen_and_copies_start_afresh():
    case = Case(input="a")
    assert case.conversation[0].input == "a"
    with pytest.raises(ValidationError):
        case.input = "b"
    assert case.model_copy(update={"input": "b"}).conversation == (Turn(input="b"),)
