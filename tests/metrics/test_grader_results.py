"""What a grader may return, what it becomes, and what is refused in words."""

import math
from collections import namedtuple
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePosixPath
from types import MappingProxyType
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from holodeck_nb.metrics.base import GraderResult
from holodeck_nb.metrics.grader_results import read_result
from holodeck_nb.metrics.json_values import json_value

ACCEPTED = [
    # returned                                         score   passed
    (True,                                              1.0,    True),
    (False,                                             0.0,    False),
    (np.bool_(True),                                    1.0,    True),
    (np.bool_(False),                                   0.0,    False),
    (np.array(True),                                    1.0,    True),   # 0-d
    (1,                                                 1.0,    None),   # a number is a score, no verdict
    (0,                                                 0.0,    None),
    (0.75,                                              0.75,   None),
    (1.0,                                               1.0,    None),
    (np.int64(1),                                       1.0,    None),
    (np.float64(0.5),                                   0.5,    None),
    (np.float32(0.7),                                   0.7,    None),   # as it prints
    (np.float16(0.1),                                   0.1,    None),
    (np.longdouble(0.5),                                0.5,    None),
    (np.array(0.5),                                     0.5,    None),
    (pd.Series([0.25]).iloc[0],                         0.25,   None),
    (pd.Series([True]).all(),                           1.0,    True),
    (Decimal("0.7"),                                    0.7,    None),
    (Fraction(1, 4),                                    0.25,   None),
    ({"score": 0.5},                                    0.5,    None),
    ({"score": 1},                                      1.0,    None),
    ({"score": True},                                   1.0,    True),   # a bool is a verdict
    ({"score": False},                                  0.0,    False),
    ({"score": True, "passed": False},                  1.0,    False),
    ({"passed": True},                                  1.0,    True),
    ({"passed": False},                                 0.0,    False),
    ({"score": None, "passed": True},                   1.0,    True),
    ({"score": 0.9, "passed": None},                    0.9,    None),
    ({"score": np.float32(0.5), "passed": np.bool_(False)}, 0.5, False),
    ({"score": Decimal(1), "passed": True},             1.0,    True),
    (MappingProxyType({"score": 0.5}),                  0.5,    None),
    (GraderResult(score=0.5),                           0.5,    None),
    (GraderResult(passed=True),                         1.0,    True),
    (GraderResult(score=np.float64(0.5), passed=np.bool_(True)), 0.5, True),
    (GraderResult(score=False),                         0.0,    False),
]  # fmt: skip


@pytest.mark.parametrize(("returned", "score", "passed"), ACCEPTED, ids=range(len(ACCEPTED)))
def test_accepted(returned, score, passed):
    result = read_result(returned)
    assert (result.score, result.passed) == (score, passed)
    assert type(result.score) is float
    assert result.passed is None or type(result.passed) is bool


REFUSED = [
    (None,                            "that is no result"),
    ("yes",                           "that is no result"),
    ((1, "r"),                        "that is no result"),
    ([1],                             "that is no result"),
    (namedtuple("R", "score")(1),     "that is no result"),  # noqa: PYI024
    ((n for n in ()),                 "that is no result"),
    (1j,                              "that is no result"),
    (np.array([0.5]),                 "that is no result"),
    (np.array([True, False]),         "that is no result"),
    (pd.NA,                           "that is no result"),
    (object,                          "that is no result"),
    (1.7,                             "the score 1.7 is not within 0 and 1"),
    (-1,                              "the score -1 is not within 0 and 1"),
    (7.5,                             "the score 7.5 is not within 0 and 1"),
    (1.0000000000000002,              "the score 1.0000000000000002 is not within 0 and 1"),
    (math.nan,                        "the score nan is not within 0 and 1"),
    (math.inf,                        "the score inf is not within 0 and 1"),
    (np.float32("nan"),               "the score nan is not within 0 and 1"),
    (Decimal("sNaN"),                 "the score Decimal('sNaN') is not within 0 and 1"),
    (10**400,                         "the score a whole number of 401 digits is not within 0 and 1"),
    ({},                              "it has neither `score` nor `passed`"),
    ({"reason": "x"},                 "it has neither `score` nor `passed`"),
    (GraderResult(),                  "it has neither `score` nor `passed`"),
    ({"score": 1, "pased": True},     "the key 'pased' means nothing here"),
    ({"score": "1"},                  "`score` is '1', not a number"),
    ({"score": 2},                    "the score 2 is not within 0 and 1"),
    ({"score": 1, "passed": 1},       "`passed` is 1, not a bool"),
    ({"score": 1, "passed": "yes"},   "`passed` is 'yes', not a bool"),
    ({"score": 1, "reason": 5},       "`reason` is 5, not text"),
    ({"score": 1, "details": [1]},    "`details` is [1], not a mapping"),
    ({"score": 1, "details": {"x": object}}, "details['x'] is not JSON-serializable: <class 'object'>"),
]  # fmt: skip


@pytest.mark.parametrize(("returned", "why"), REFUSED, ids=range(len(REFUSED)))
def test_refused(returned, why):
    with pytest.raises(TypeError) as error:
        read_result(returned)
    assert str(error.value) == why


def test_reason_and_details_are_kept():
    result = read_result({"score": 1, "reason": "fine", "details": {"v": np.arange(3), 1: (1, 2)}})
    assert (result.reason, result.details) == ("fine", {"v": [0, 1, 2], "1": [1, 2]})


class Colour(Enum):
    RED = "red"


JSON = [
    ({"a": [1, 2.5, "x", None, True]},       {"a": [1, 2.5, "x", None, True]}),
    (2.0,                                     2.0),
    (10**400,                                 10**400),
    (math.nan,                                None),
    (-math.inf,                               None),
    (Decimal("0.1"),                          0.1),
    (Decimal("NaN"),                          None),
    (Fraction(1, 2),                          0.5),
    (np.int64(5),                             5),
    (np.float32(0.1),                         0.1),
    (np.longdouble(0.5),                      0.5),
    (np.bool_(True),                          True),
    (np.array([[1, 2], [3, 4]]),              [[1, 2], [3, 4]]),
    (np.array([math.nan]),                    [None]),
    (pd.Series([1, 2]),                       [1, 2]),
    ({3, 1, 2},                               [1, 2, 3]),
    (date(2009, 12, 31),                      "2009-12-31"),
    (datetime(2009, 12, 31, tzinfo=UTC),      "2009-12-31T00:00:00+00:00"),
    (pd.Timestamp("2009-12-31"),              "2009-12-31T00:00:00"),
    (PurePosixPath("a/b"),                    "a/b"),
    (UUID(int=1),                             "00000000-0000-0000-0000-000000000001"),
    (Colour.RED,                              "red"),
    ({1: "a", None: "b", False: "c", 2.5: "d"}, {"1": "a", "null": "b", "false": "c", "2.5": "d"}),
    ({np.int64(7): 1, Colour.RED: 2},         {"7": 1, "red": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("value", "plain"), JSON, ids=range(len(JSON)))
def test_details_become_json(value, plain):
    assert json_value(value) == plain
    assert type(json_value(value)) is type(plain)


NOT_JSON = [object(), b"x", 1j, {(1, 2): 3}, pd.DataFrame({"a": [1]}), 10**5000, len]


@pytest.mark.parametrize("value", NOT_JSON, ids=range(len(NOT_JSON)))
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(TypeError, match="not JSON-serializable"):
        json_value([value])


def test_what_contains_itself_is_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(TypeError, match="nested too deeply, which is not JSON-serializable"):
        json_value(endless)
