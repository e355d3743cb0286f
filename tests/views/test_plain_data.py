"""Whatever tools and graders give back becomes strict JSON, without being bent more than it must."""

import dataclasses
import enum
import json
import subprocess
import sys
from collections import deque
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from holodeck_nb.views.plain_data import clean, plain, thawed


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Word(str):
    __slots__ = ()

    def __str__(self):
        return "changed"


class Record(BaseModel):
    a: int = 1


@dataclasses.dataclass
class Point:
    x: float = float("nan")


class Silent:
    def __str__(self):
        raise RuntimeError


ROWS = [
    (None,                                       None),
    (True,                                       True),
    (3,                                          3),
    (0.5,                                        0.5),
    (float("nan"),                               None),
    (float("-inf"),                              None),
    ("NaN",                                      "NaN"),
    ("\ud800",                                   "\ufffd"),
    (10**400,                                    10**400),
    (Decimal("0.30"),                            "0.30"),             # its digits are kept
    (Fraction(1, 3),                             "1/3"),
    (1 + 2j,                                     "(1+2j)"),
    (datetime(2026, 11, 30, tzinfo=UTC),         "2026-11-30T00:00:00+00:00"),
    (date(2026, 11, 30),                         "2026-11-30"),
    (time(1, 30),                                "01:30:00"),
    (timedelta(seconds=90),                      "0:01:30"),
    (PurePosixPath("a/b"),                       "a/b"),
    (b"caf\xc3\xa9",                             "café"),
    (bytearray(b"\xff"),                         "\\xff"),
    ((1, 2),                                     [1, 2]),
    (deque([1]),                                 [1]),
    ({3, 1, 2},                                  [1, 2, 3]),
    (frozenset({"b", "a"}),                      ["a", "b"]),
    (range(3),                                   "range(0, 3)"),      # a range may be endless
    (MappingProxyType({"a": (1,)}),              {"a": [1]}),
    ({1: "a", None: "b", 2.5: "d", False: "e"},  {"1": "a", "null": "b", "2.5": "d", "false": "e"}),
    ({(1, 2): "a", Colour.RED: "b"},             {"[1, 2]": "a", "red": "b"}),
    (Colour.RED,                                 "red"),
    (Level.LOW,                                  1),
    (Word("kept"),                               "kept"),
    (Record(),                                   {"a": 1}),
    (Point(),                                    {"x": None}),
    (Silent(),                                   "<Silent: cannot be written, RuntimeError>"),
    (np.bool_(True),                             True),
    (np.float32(0.5),                            0.5),
    (np.float64("nan"),                          None),
    (np.int64(7),                                7),
    (np.arange(3),                               [0, 1, 2]),
    (np.array(1.5),                              1.5),
    (np.array([[1.0, float("inf")]]),            [[1.0, None]]),
    (pd.Series([1, 2]),                          [1, 2]),
    (pd.Timestamp("2026-11-30", tz="UTC"),       "2026-11-30T00:00:00+00:00"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "wanted"), ROWS)
def test_a_value_as_json(value, wanted):
    written = plain(value)
    assert written == wanted
    assert type(written) is type(wanted)
    assert plain(written) == written
    json.dumps(written, allow_nan=False, ensure_ascii=False).encode()


def test_a_number_with_more_digits_than_python_writes_is_hexadecimal():
    assert (plain(1 << 20_000) == hex(1 << 20_000)) is True  # a failing comparison could not be printed


def test_what_holds_itself_is_cut():
    loop = []
    loop.append(loop)
    text = json.dumps(plain(loop))
    assert "<list: nested too deeply>" in text


def test_what_is_nested_deeply_is_cut_once():
    value = "x"
    for _ in range(500):
        value = {"a": value}
    written = plain(value)
    assert "nested too deeply" in json.dumps(written)
    assert plain(written) == written


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.decimals()
    | st.datetimes(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner, inner)
    ),
    max_leaves=10,
)


@given(VALUES)
def test_anything_becomes_strict_json_and_then_stays(value):
    written = plain(value)
    assert json.loads(json.dumps(written, allow_nan=False)) == written
    assert plain(written) == written


@given(st.text())
def test_text_is_kept(text):
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("a\ud800b", "a\ufffdb"), ("\udc00\ud800", "\ufffd\ufffd"), ("\ud83d\ude00", "\U0001f600")],
)
def test_halves_of_characters_are_joined_or_replaced(text, wanted):
    assert clean(text) == wanted


def test_a_thawed_copy_shares_nothing_that_can_change():
    inner = {"a": [1, (2,)]}
    copy = thawed(MappingProxyType({"x": inner, "d": Decimal(1)}))
    assert copy == {"x": {"a": [1, [2]]}, "d": Decimal(1)}
    copy["x"]["a"].append(3)
    assert inner == {"a": [1, (2,)]}


def test_numpy_is_told_without_being_imported():
    code = "import sys, holodeck_nb.views.plain_data; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
