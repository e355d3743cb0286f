"""One value out of a JSON reply: the grammar of the path, and how far it leads."""

import json
from pathlib import Path

import pytest

from holodeck_nb.metrics.response_path import ResponsePathError, extract, read_path

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "cases"


def shared(area):
    file = SHARED / "peer_conformance.json"
    if not file.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{file.name} is not beside the project"))]
    return [pytest.param(c, id=c["id"]) for c in json.loads(file.read_text("utf-8")) if c["area"] == area]


PATHS = [
    ("answer",           ("answer",)),
    ("result.value",     ("result", "value")),
    ("data.items[0].x",  ("data", "items", 0, "x")),
    ("rows[1][2]",       ("rows", 1, 2)),
    ("kebab-case_key",   ("kebab-case_key",)),
    ("b\u00e9n\u00e9fice", ("b\u00e9n\u00e9fice",)),
    ("a.b0",             ("a", "b0")),
]  # fmt: skip


@pytest.mark.parametrize(("path", "steps"), PATHS)
def test_a_path_has_steps(path, steps):
    assert read_path(path) == steps


@pytest.mark.parametrize(
    "path", ["", " ", ".", ".a", "a.", "1a", "a..b", "a[", "a[]", "a[b]", "a[-1]", "a b", "$.a", "[0]", "a\n"]
)
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ValueError, match="is no path; write keys and list places like"):
        read_path(path)


VALUES = [
    ('{"answer": 0.5}',                            "answer",    "0.5"),
    ('{"x": 3.140}',                               "x",         "3.140"),   # digits as written
    ('{"x": 9007199254740993}',                    "x",         "9007199254740993"),
    ('{"x": 1e5}',                                 "x",         "1e5"),
    ('{"x": -0}',                                  "x",         "-0"),
    ('{"x": "25,587"}',                            "x",         "25,587"),
    ('{"x": true}',                                "x",         "True"),
    ('{"x": null}',                                "x",         "None"),
    ('{"x": NaN}',                                 "x",         "NaN"),
    ('  \ufeff{"x": 1}\n'.strip(),                 "x",         "1"),
    ('```json\n{"x": 1}\n```',                     "x",         "1"),
    ('```\n{"x": 1}\n```',                         "x",         "1"),
    ('Here it is:\n\n```json\n{"x": 1}\n```\nDone.', "x",       "1"),
    ('~~~\n{"x": 1}\n~~~',                         "x",         "1"),
    ('```python\nprint(1)\n```\n```json\n{"x": 1}\n```', "x",   "1"),       # the other block is no JSON
    ('{"items": [{"s": 0.9}, {"s": 0.1}]}',        "items[1].s", "0.1"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "path", "value"), VALUES)
def test_the_value_at_a_path(reply, path, value):
    assert extract(reply, read_path(path)) == value


MISSES = [
    ("approximately 31903.6",    "x",      "the reply is not JSON"),
    ("",                         "x",      "the reply is not JSON"),
    ("[" * 100_000,              "x",      "the reply is not JSON"),
    ("5",                        "x",      "expected dict at the top, got number"),
    ('"text"',                   "x",      "expected dict at the top, got text"),
    ("[1]",                      "x",      "expected dict at the top, got list"),
    ("null",                     "x",      "expected dict at the top, got null"),
    ('{"y": 1}',                 "x",      "x not found in the reply"),
    ('{"a": {"b": 1}}',          "a.c",    "a.c not found in the reply"),
    ('{"a": true}',              "a.b",    "expected dict at a, got bool"),
    ('{"a": 1}',                 "a[0]",   "expected list at a, got number"),
    ('{"a": [1, 2]}',            "a[5]",   "a[5] is out of range: the list has 2 items"),
    ('{"a": {"b": 1}}',          "a",      "one value is wanted at a, but the leaf is dict"),
    ('{"a": [1]}',               "a",      "one value is wanted at a, but the leaf is list"),
    ('```\n{"x": 1}\n```\n```\n{"x": 2}\n```', "x",
        "the reply holds 2 code blocks of JSON, and only one can be meant"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "path", "reason"), MISSES, ids=range(len(MISSES)))
def test_a_path_that_finds_nothing_says_how_far_it_leads(reply, path, reason):
    with pytest.raises(ResponsePathError) as error:
        extract(reply, read_path(path))
    assert str(error.value) == reason


@pytest.mark.parametrize("case", shared("response_path_grammar"))
def test_peer_grammar(case):
    try:
        read_path(case["input"]["path"])
    except ValueError:
        valid = False
    else:
        valid = True
    assert valid is case["expected"]["valid"]


@pytest.mark.parametrize("case", shared("response_path_extract"))
def test_peer_extraction(case):
    path = read_path(case["input"]["path"])
    if case["expected"]["value"] is not None:
        assert extract(case["input"]["response"], path) == case["expected"]["value"]
        return
    with pytest.raises(ResponsePathError) as error:
        extract(case["input"]["response"], path)
    assert case["expected"]["error_contains"] in str(error.value)
