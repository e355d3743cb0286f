"""The two forms in which text is compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holodeck_nb.matching.text import exact_text, fuzzy_text

EXACT = [
    ("  AAL \n",        "AAL"),
    ("Cafe\u0301",      "Café"),
    ("a  b",            "a  b"),     # inner blanks count
    ("Yes",             "Yes"),      # case counts
    ("ﬁn",              "ﬁn"),       # a ligature is not taken apart
    ("",                ""),
]  # fmt: skip

FUZZY = [
    (" YES ",               "yes"),
    ("net\u00a0\t\nincome", "net income"),
    ("STRASSE",             "strasse"),
    ("Straße",              "strasse"),
    ("ＡＡＬ　２０",         "aal 20"),
    ("ﬁn",                  "fin"),
    ("Cafe\u0301",          "café"),
    ("a-b",                 "a-b"),      # punctuation counts
    (" \u2003 ",            ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "form"), EXACT)
def test_exact(text, form):
    assert exact_text(text) == form


@pytest.mark.parametrize(("text", "form"), FUZZY)
def test_fuzzy(text, form):
    assert fuzzy_text(text) == form


@given(st.text())
def test_both_forms_are_stable(text):
    assert exact_text(exact_text(text)) == exact_text(text)
    assert fuzzy_text(fuzzy_text(text)) == fuzzy_text(text)


@given(st.text())
def test_what_is_exactly_equal_is_fuzzily_equal(text):
    assert fuzzy_text(exact_text(text)) == fuzzy_text(text)
