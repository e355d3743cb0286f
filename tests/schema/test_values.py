"""What a value means: by the rules of YAML 1.2 where no type is due, and as a number where one is."""

import math

import pytest

from holodeck_nb.schema.scalars import Count, Flag, Number, Secret, Text
from holodeck_nb.schema.values import Plain, Substituted, guarded, kind_of, read_number, untyped

MEANT = [
    # unquoted   meant
    ("no",         "no"),
    ("Yes",        "Yes"),
    ("true",       True),
    ("True",       True),
    ("FALSE",      False),
    ("tRUE",       "tRUE"),
    ("0123",       123),
    ("-7",         -7),
    ("+7",         7),
    ("1_000",      "1_000"),
    ("1,000",      "1,000"),
    ("1:30",       "1:30"),
    ("2009-12-31", "2009-12-31"),
    ("1e3",        1000.0),
    ("1e-6",       1e-6),
    ("1.",         1.0),
    (".5",         0.5),
    ("-.5E+2",     -50.0),
    ("0o17",       15),
    ("0x1F",       31),
    ("0b1",        "0b1"),
    (".inf",       math.inf),
    ("-.INF",      -math.inf),
    ("inf",        "inf"),
    ("٣",          "٣"),
    ("9" * 30,     int("9" * 30)),
    ("9" * 5000,   "9" * 5000),
    ("n/a",        "n/a"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "meant"), MEANT, ids=lambda value: str(value)[:20])
def test_an_unquoted_value_without_a_type(text, meant):
    read = untyped(Plain(text))
    assert (read, type(read)) == (meant, type(meant))
    assert untyped(text) == text  # quoted is always text
    assert type(untyped(Plain("no"))) is str


def test_not_a_number_is_read_where_anything_may_stand():
    assert math.isnan(untyped(Plain(".nan")))


def test_mappings_and_lists_are_read_through():
    assert untyped({"a": [Plain("1"), {"b": Plain("x")}], 5: None}) == {"a": [1, {"b": "x"}], "5": None}


NUMBERS = [
    ("1e-6", 1e-6), ("1e3", 1000.0), ("1.0e10", 1e10), ("7", 7), ("0123", 123), ("-0", 0),
    ("1_000", None), (".nan", None), ("nan", None), (".inf", None), ("0x1F", None),
    ("1 000", None), ("", None), (" 7", None), ("7%", None), ("9" * 5000, None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "number"), NUMBERS, ids=lambda value: str(value)[:20])
def test_a_number_where_one_is_due(text, number):
    assert read_number(text) == number


FIELDS = [
    # the field, what stands there, and what is read (None: refused)
    (Text, Plain("25587"), "25587"),
    (Text, 25587, "25587"),
    (Text, 0.5, "0.5"),
    (Text, True, None),
    (Text, None, None),
    (Number, Plain("1e3"), 1000.0),
    (Number, "1e3", 1000.0),
    (Number, Plain("1e999"), None),
    (Number, math.nan, None),
    (Number, math.inf, None),
    (Number, 10**400, None),
    (Number, True, None),
    (Count, Plain("1e3"), 1000),
    (Count, 2.0, 2),
    (Count, 2.5, None),
    (Count, 0, None),
    (Flag, Plain("yes"), True),
    (Flag, "Off", False),
    (Flag, False, False),
    (Flag, 1, None),
    (Flag, Plain("1"), None),
]


@pytest.mark.parametrize(("field", "value", "read"), FIELDS)
def test_one_field(field, value, read):
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(field)
    if read is None:
        with pytest.raises(ValidationError):
            adapter.validate_python(value)
    else:
        got = adapter.validate_python(value)
        assert (got, type(got)) == (read, type(read))


FOUND = [
    (None, "nothing"), (True, "true"), ("a", "'a'"), (Plain("a"), "'a'"), (5, "the number 5"),
    ({}, "a mapping"), ([], "a list"), ((), "a list"), (object(), "a Python object"),
    (10**70, "the number with more than 60 digits"),
    (Substituted("secret", "${KEY}"), "the value of ${KEY}"), ("x" * 80, repr("x" * 57) + "…"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "words"), FOUND)
def test_what_was_found_in_words(value, words):
    assert kind_of(value) == words


def test_a_secret_shows_stars():
    secret = Secret("key-1", "${KEY}")
    assert secret.reveal() == "key-1"
    assert "key-1" not in f"{secret} {secret!r} {[secret]}"
    assert secret == Secret("key-1")
    assert hash(secret) == hash(Secret("key-1"))
    assert secret != "key-1"


def test_secrets_in_free_blocks_are_guarded():
    block = guarded({
        "url": Substituted("u", "${URL}"),
        "api_key": "k",
        "Password": {"inner": ["p", Plain("5")]},
        "max_tokens": Plain("5"),
    })  # fmt: skip
    assert repr(block["url"]) == repr(block["api_key"]) == "Secret('**********')"
    assert block["Password"]["inner"] == [Secret("p"), Secret("5")]
    assert block["max_tokens"] == 5
