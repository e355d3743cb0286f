import pytest
from hypothesis import given
from hypothesis import strategies as st

from holodeck_nb.llm.masking import Mask

KEY = "sk-proj-Ab3dEf6hIj9kLm"
TEXTS = [
    (f"key {KEY} is wrong", "key *** is wrong"),
    (f"{KEY}{KEY}", "***"),
    ("?key=sk%2Dproj%2DAb3dEf6hIj9kLm&x=1", "?key=***&x=1"),
    (f"upper {KEY.upper()}", "upper ***"),
    ("a part proj-Ab3dEf6h of it", "a part *** of it"),
    ("sk-proj********9kLm.", "***"),
    ("provided: sk-pr...kLm", "provided: ***"),
    (r"{\"key\": \"sk\u002dproj\u002dAb3dEf6hIj9kLm\"}", r"{\"key\": \"***\"}"),
    ("50% of 100%20", "50% of 100%20"),
    ("wait... for it", "wait... for it"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "masked"), TEXTS, ids=[text[:24] for text, _ in TEXTS])
def test_known_secrets(text, masked):
    assert Mask([KEY])(text) == masked


def test_short_secrets_are_no_secrets():
    assert Mask(["1", ""])("1 is 1...") == "1 is 1..."


def test_data_of_json():
    data = {"a": [f"x {KEY}", 1, None], KEY: True}
    assert Mask([KEY]).data(data) == {"a": ["x ***", 1, None], "***": True}
    assert Mask([]).data(data) is data


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_secret_never_survives_and_other_text_does(before, after):
    assert KEY not in Mask([KEY])(before + KEY + after)
    assert Mask(["0000000000000000"])(before) == before or "0000" in before
