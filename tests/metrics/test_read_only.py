"""What a grader sees: like the real thing, and deaf to every attempt to change it."""

import copy
import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import FrozenInstanceError
from types import MappingProxyType

import numpy as np
import pytest

from holodeck_nb.metrics.base import GraderContext
from holodeck_nb.metrics.read_only import read_only, read_only_context
from holodeck_nb.results.records import ToolInvocation

CONFIG = {"steps": [{"op": "subtract", "args": [206588, 181001]}], "tags": ("a", ["b"]), "n": 1}

ATTEMPTS = [
    lambda c: c.__setitem__("n", 2),
    lambda c: c.__delitem__("n"),
    lambda c: c.update(n=2),
    lambda c: c.pop("n"),
    lambda c: c.popitem(),
    lambda c: c.clear(),
    lambda c: c.setdefault("m", 2),
    lambda c: c.__ior__({"n": 2}),
    lambda c: c["steps"].append(1),
    lambda c: c["steps"].extend([1]),
    lambda c: c["steps"].insert(0, 1),
    lambda c: c["steps"].pop(),
    lambda c: c["steps"].remove(c["steps"][0]),
    lambda c: c["steps"].clear(),
    lambda c: c["steps"].reverse(),
    lambda c: c["steps"].sort(),
    lambda c: c["steps"].__iadd__([1]),
    lambda c: c["steps"].__imul__(2),
    lambda c: c["steps"].__setitem__(0, 1),
    lambda c: c["steps"].__delitem__(0),
    lambda c: c["steps"][0].__setitem__("op", "add"),
    lambda c: c["steps"][0]["args"].append(1),
    lambda c: c["tags"][1].append("c"),
]


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=range(len(ATTEMPTS)))
def test_no_change_gets_through(attempt):
    config = read_only(CONFIG)
    with pytest.raises(
        TypeError, match=r"a grader's context is read-only: this (dict|list) cannot be changed"
    ):
        attempt(config)
    assert config == CONFIG


def test_it_behaves_like_the_real_thing():
    config = read_only(CONFIG)
    assert isinstance(config, dict)
    assert isinstance(config, Mapping)
    assert isinstance(config["steps"], Sequence)
    assert json.loads(json.dumps(config))["steps"] == CONFIG["steps"]
    assert repr(config) == repr(CONFIG)
    assert config | {"n": 2} == CONFIG | {"n": 2}
    assert config["steps"] + [1] == [*CONFIG["steps"], 1]
    assert sorted(config["steps"][0]["args"]) == [181001, 206588]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_deep_copy_is_an_ordinary_one(copied):
    config = copied(read_only(CONFIG))
    config["steps"][0]["args"].append(3)
    assert type(config) is dict
    assert CONFIG["steps"][0]["args"] == [206588, 181001]


@pytest.mark.parametrize("copied", [copy.copy, lambda value: value.copy()])
def test_a_shallow_copy_is_ordinary_at_the_top(copied):
    assert type(copied(read_only({"a": 1}))) is dict
    assert type(copied(read_only([1]))) is list


def test_even_force_reaches_only_the_copy():
    original = {"a": [1]}
    config = read_only(original)
    dict.__setitem__(config, "a", 2)
    assert original == {"a": [1]}


def test_sets_arrays_and_proxies():
    array = np.array([1, 2])
    frozen = read_only({"set": {1, 2}, "array": array, "proxy": MappingProxyType({"x": [1]})})
    frozen["array"][0] = 9
    assert frozen["set"] == frozenset({1, 2})
    assert array[0] == 1
    assert frozen["proxy"] == {"x": [1]}


def test_what_contains_itself_is_copied_as_such():
    endless = {"list": []}
    endless["list"].append(endless)
    frozen = read_only(endless)
    assert frozen["list"][0] is frozen


def test_values_made_on_the_way_are_not_mixed_up():
    class Fresh(Mapping):
        def __iter__(self):
            return iter(range(50))

        def __len__(self):
            return 50

        def __getitem__(self, key):
            return [key]  # a new list each time, perhaps in the place of the last one

    assert read_only(Fresh()) == {key: [key] for key in range(50)}


def test_what_cannot_be_copied_is_handed_over_as_text():
    generator = (n for n in range(3))
    assert read_only({"g": generator}) == {"g": repr(generator)}


def test_the_whole_context_is_copied():
    calls = (ToolInvocation("subtract", {"a": [1]}, result={"rows": [1]}), ToolInvocation("lookup", None))
    context = GraderContext(
        "q", "5", tool_invocations=calls, retrieval_context=("p",), turn_config={"x": [1]}
    )
    seen = read_only_context(context)
    assert seen == context
    for change in (
        lambda: seen.tool_invocations[0].args["a"].append(2),
        seen.tool_invocations[0].result.clear,
        lambda: seen.turn_config["x"].append(2),
    ):
        with pytest.raises(TypeError):
            change()
    with pytest.raises(FrozenInstanceError):
        seen.agent_response = "6"
    object.__setattr__(seen.tool_invocations[0], "name", "add")
    object.__setattr__(seen, "agent_response", "6")
    assert (context.agent_response, calls[0].name, calls[0].args) == ("5", "subtract", {"a": [1]})
    assert isinstance(seen.tool_invocations, tuple)
    assert isinstance(seen.retrieval_context, tuple)


def test_without_config_there_is_none():
    assert read_only_context(GraderContext("q", "a")).turn_config is None
