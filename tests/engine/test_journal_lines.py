"""One line of a journal: strict JSON with a checksum, and what becomes of damage."""

import json
import math
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holodeck_nb.engine.journal_lines import LineError, journal_line, read_line, read_lines

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
def test_what_is_written_is_read(value):
    line = journal_line({"kind": "turn", "value": json.loads(json.dumps(value))})
    assert read_line(line.removesuffix(b"\n")) == {"kind": "turn", "value": value}
    assert b"\n" not in line[:-1]


def test_anybody_can_read_it():
    line = journal_line({"kind": "turn", "response": "1 234 €"})
    assert json.loads(line) == {"crc32": json.loads(line)["crc32"], "kind": "turn", "response": "1 234 €"}
    assert "1 234 €" in line.decode()


CIRCLE = []
CIRCLE.append(CIRCLE)
DEEP = []
for _ in range(5000):
    DEEP = [DEEP]
ODD = [
    #  value                    as a report writes it
    (math.nan,                  None),
    ([math.inf],                [None]),
    (Decimal("0.30"),           "0.30"),
    (date(2009, 12, 31),        "2009-12-31"),
    ({1: "a", (2, 3): "b"},     {"1": "a", "[2, 3]": "b"}),
    ("half \ud800",             "half \ufffd"),
    ({1, 2},                    [1, 2]),
    (b"bytes",                  "bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "written"), ODD)
def test_what_json_cannot_hold_is_written_as_in_a_report(value, written):
    assert read_line(journal_line({"v": value}).removesuffix(b"\n")) == {"v": written}


@pytest.mark.parametrize("value", [CIRCLE, DEEP, {"a": DEEP}])
def test_what_has_no_bottom_is_cut_and_can_be_read_again(value):
    assert "nested too deeply" in str(read_line(journal_line({"v": value}).removesuffix(b"\n")))


def test_every_flipped_bit_of_a_line_is_noticed():
    line = journal_line({"kind": "turn", "turn": 0, "response": "206588"}).removesuffix(b"\n")
    for place in range(len(line)):
        for bit in range(8):
            damaged = bytearray(line)
            damaged[place] ^= 1 << bit
            with pytest.raises(LineError):
                read_line(bytes(damaged))


def test_a_line_feed_that_was_hit_costs_no_line():
    first, second = journal_line({"turn": 0}), journal_line({"turn": 1})
    merged = first[:-1] + b"\x0b" + second
    assert list(read_lines(merged)) == [(1, {"turn": 0}), (1, {"turn": 1})]


def test_a_whole_line_behind_a_damaged_one_is_found_and_the_damage_told():
    first, second = journal_line({"turn": 0}), journal_line({"turn": 1})
    [(number, error), (_, whole)] = list(read_lines(first[:-4] + second))
    assert (number, whole) == (1, {"turn": 1})
    assert isinstance(error, LineError)


def test_what_looks_like_a_line_inside_an_answer_is_none():
    data = {"args": {"crc32": "00000000", "x": 1}, "text": '{"crc32":"00000000",'}
    assert list(read_lines(journal_line(data))) == [(1, data)]
