"""A suite that was changed anywhere loads, or is refused with located problems; nothing else happens."""

import copy
import re
import tempfile
from pathlib import Path

import pytest
import random_suites as suites
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holodeck_nb.errors import ConfigError
from holodeck_nb.loading.loader import load_mapping, load_suite

EVERY_KEY = yaml.safe_load(Path(__file__).with_name("every_key.yaml").read_text(encoding="utf-8"))
TEXT = Path(__file__).with_name("every_key.yaml").read_text(encoding="utf-8")
JARGON = re.compile(
    r"pydantic|Traceback|validat|NoneType|Error\b|union|discriminat|Input should|https?://errors"
)
VALUES = suites.ANYTHING | st.sampled_from([[], {}, [None], [[]], {"type": []}, "${X", "*", -1, 0])


def spots(value, place=()):
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield from spots(item, (*place, step))


SPOTS = [place for place in spots(EVERY_KEY) if place]


@st.composite
def mutated(draw):
    data = copy.deepcopy(EVERY_KEY)
    for _ in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from(SPOTS))
        target = data
        try:
            for step in above:
                target = target[step]
            match draw(st.sampled_from(["delete", "replace", "insert"])):
                case "delete":
                    del target[last]
                case "replace":
                    target[last] = draw(VALUES)
                case "insert" if isinstance(target, list):
                    target.insert(last, draw(VALUES))
                case _:
                    target[draw(suites.TEXT)] = draw(VALUES)
        except (KeyError, IndexError, TypeError, AttributeError):
            continue  # an earlier change took the place away
    return data


def problems_of(load):
    try:
        load()
    except ConfigError as error:
        return error.problems or [None]  # an error without a problem is one too
    return ()


def refused_well(load, *, lines):
    for problem in problems_of(load):
        assert problem.message
        assert problem.path or problem.line
        assert (problem.line is not None) is lines
        assert not JARGON.search(problem.message + (problem.hint or "")), problem


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(mutated())
def test_changed_data_loads_or_is_refused_with_places(data):
    with tempfile.TemporaryDirectory() as folder:
        refused_well(lambda: load_mapping(data, folder=Path(folder)), lines=False)
        file = Path(folder, "agent.yaml")
        file.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
        refused_well(lambda: load_suite(file), lines=True)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_changed_text_loads_or_is_refused_with_lines(data):
    start = data.draw(st.integers(0, len(TEXT)))
    end = data.draw(st.integers(start, min(len(TEXT), start + 40)))
    inserted = data.draw(
        suites.TEXT | st.sampled_from(["\n", "  ", "{", "[", "'", '"', "&a ", "*a", "!x ", "? ", "<<: "])
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "agent.yaml")
        file.write_text(TEXT[:start] + inserted + TEXT[end:], encoding="utf-8", newline="")
        refused_well(lambda: load_suite(file), lines=True)


@pytest.mark.parametrize("value", [None, [None], {"a": {"b": []}}, "no", float("nan")], ids=repr)
def test_any_value_anywhere_is_read_or_refused(value, tmp_path):
    for place in SPOTS:
        data = copy.deepcopy(EVERY_KEY)
        target = data
        for step in place[:-1]:
            target = target[step]
        target[place[-1]] = value
        refused_well(lambda data=data: load_mapping(data, folder=tmp_path), lines=False)
