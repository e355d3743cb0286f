"""The sample's tools: what an agent can look up and compute, and what it is told when it errs."""

import inspect
import json

import pytest

from holodeck_nb.backends.function_tools import BoundTool
from holodeck_nb.user_code import load_tool

OPERATIONS = ["add", "subtract", "multiply", "divide", "exp", "greater"]


@pytest.fixture(scope="module")
def lookup(sample):
    return load_tool(sample / "tools" / "lookup.py", "lookup", sample)


@pytest.fixture(scope="module")
def operation(sample):
    return lambda name: load_tool(sample / "tools" / "arithmetic.py", name, sample)


FOUND = [
    ("MRO 2007", "option strike price", "2007", 60.94),
    ("mro  2007", " Option Strike PRICE ", " 2007 ", 60.94),  # case and blanks
    ("MRO 2007", "option-strike-price", 2007, 60.94),  # a model writes the year as a number
    ("MRO", "strike price", "2005", 25.14),  # part of a name where only one fits
    ("L 2015", "s&p 500", "2012", 118.45),
    ("MAS 2018", "operating margin", "2017", 0.157),
    ("PM 2015", "cumulative OCI loss", "2013", 4190.0),
    ("PNC 2013", "hedging derivatives", "face amount", 36197.0),
    ("PNC 2013", "hedging derivatives", "Face", 36197.0),
]


@pytest.mark.parametrize(("document", "row", "column", "figure"), FOUND)
def test_a_figure_is_found(lookup, document, row, column, figure):
    found = lookup(document, row, column)
    assert found == figure
    assert isinstance(found, float)


DOCUMENTS = [
    "AES 2002", "AON 2009", "BDX 2018", "BLL 2007", "ETR 2003", "L 2015", "MAS 2018", "MRO 2007", "PM 2015",
    "PNC 2013",
]  # fmt: skip
NOT_FOUND = [
    # document, row, column, fault, names to choose from
    ("XYZ 1999", "revenue", "1999", "document: there is no 'XYZ 1999'", DOCUMENTS),
    ("AON 2009", "turnover", "2009", "row of 'AON 2009': there is no 'turnover'",
        ["revenue", "operating income"]),
    ("AON 2009", "revenue", "2010", "column of row 'revenue': there is no '2010'", ["2009", "2008", "2007"]),
    ("MAS 2018", "operating", "2017", "row of 'MAS 2018': 'operating' fits several names",
        ["adjusted operating margin", "adjusted operating profit"]),
    ("AON 2009", "", "2009", "row of 'AON 2009': there is no ''", ["revenue", "operating income"]),
]  # fmt: skip


@pytest.mark.parametrize(("document", "row", "column", "fault", "names"), NOT_FOUND)
def test_a_wrong_name_is_told_the_right_ones(lookup, document, row, column, fault, names):
    with pytest.raises(ValueError) as error:
        lookup(document, row, column)
    listed = ", ".join(f'"{name}"' for name in names)
    assert str(error.value) == f"{fault}; choose one of {listed}"


RESULTS = [
    ("add", 2, 3, 5), ("subtract", 2, 3, -1), ("multiply", 2, 3, 6), ("divide", 3, 2, 1.5), ("exp", 2, 3, 8),
    ("greater", 3, 2, "yes"), ("greater", 2, 3, "no"), ("greater", 2, 2, "no"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "a", "b", "result"), RESULTS)
def test_one_operation(operation, name, a, b, result):
    assert operation(name)(a, b) == result


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_model_is_told_two_numbers_and_what_happens_to_them(operation, name):
    tool = BoundTool.of(operation(name))
    assert tool.json_schema["required"] == ["a", "b"]
    assert {told["type"] for told in tool.json_schema["properties"].values()} == {"number"}
    assert tool.description


def test_a_model_is_told_what_lookup_takes(lookup):
    tool = BoundTool.of(lookup)
    assert tool.json_schema["required"] == ["document", "row", "column"]
    assert tool.description == "Read one figure from the table of an annual report."


def test_the_suite_describes_each_tool_as_its_docstring_does(suite, operation):
    for tool in suite.config.tools[1:]:
        assert tool.description == inspect.getdoc(operation(tool.function))


def test_the_instructions_name_every_document_and_tool(sample, suite):
    text = (sample / "instructions" / "analyst.md").read_text(encoding="utf-8")
    figures = json.loads((sample / "data" / "figures.json").read_text(encoding="utf-8"))
    for name in (*figures, *(tool.name for tool in suite.config.tools)):
        assert f"`{name}`" in text
