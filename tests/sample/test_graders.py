"""`turn_program_equivalence`: which calls carry out a program, and how it says where they do not."""

import doctest
import sys

import convfinqa
import pytest

import holodeck_nb as hd
from holodeck_nb.user_code import load_grader


@pytest.fixture(scope="module")
def grade(sample):
    return load_grader("graders:turn_program_equivalence", sample)


@pytest.fixture(scope="module")
def read_program(sample):
    return load_grader("graders:read_program", sample)


@pytest.fixture(scope="module")
def number(sample):
    return load_grader("graders:number", sample)


def call(name, a, b, result=None, error=None):
    return hd.ToolInvocation(name, {"a": a, "b": b}, result=result, error=error)


def context(program, *calls):
    return hd.GraderContext("?", "!", tool_invocations=calls, turn_config={"turn_program": program})


GROWTH = "subtract(206588, 181001), divide(#0, 181001)"
DIFFERENCE = call("subtract", 206588, 181001, 25587)
LOOKUP = hd.ToolInvocation("lookup", {"document": "d", "row": "r", "column": "2009"}, result=206588)
SUM = "add(90, 61), add(#0, 72), divide(#1, const_3)"

RIGHT = [
    # program, calls
    (GROWTH, [DIFFERENCE, call("divide", 25587, 181001, 0.14136)]),
    (GROWTH, [LOOKUP, DIFFERENCE, LOOKUP, call("divide", 25587, 181001)]),  # lookups are free
    (GROWTH, [call("divide", 25587, 181001), DIFFERENCE]),  # the order of parallel calls says nothing
    (GROWTH, [call("subtract", "206,588", "$181,001.00", "25587"), call("divide", 25587.0, "181001")]),
    (GROWTH, [call("subtract", 206588, 180000, 26588), DIFFERENCE,
        call("divide", 25587, 181001)]),  # corrected
    (GROWTH, [DIFFERENCE, call("divide", 25587, 181001), call("multiply", 0.14136, 100)]),  # one step further
    (GROWTH, [call("divide", 25587, 0, error="division by zero"), DIFFERENCE, call("divide", 25587, 181001)]),
    (GROWTH, [call("math-subtract", 206588, 181001, 25587), call("mcp__calc__divide", 25587, 181001)]),
    ("subtract(206588, 181001)", [hd.ToolInvocation("subtract", {"minuend": 206588, "subtrahend": 181001})]),
    ("subtract(206588, 181001)", [hd.ToolInvocation("subtract", {"b": 181001, "note": "rise", "a": 206588})]),
    ("subtract(5, 3)", [call("subtract_numbers", 5, 3)]),  # a word of the tool's name
    ("add(90, 61)", [call("add", 61, 90, 151)]),  # either order
    (SUM, [call("add", 61, 90, 151), call("add", 72, 151, 223), call("divide", 223, 3, 74.33)]),
    ("multiply(53.53, const_1000)", [call("multiply", 1000, 53.53)]),
    ("multiply(30584, const_m1), divide(#0, 531822)",
        [call("multiply", -1, 30584, -30584), call("divide", -30584, 531822)]),
    ("divide(932, 13.4%)", [call("divide", 932, 0.134)]),
    ("divide(932, 13.4%)", [call("divide", 932, "13.4%")]),
    ("divide(932, 33.2%)", [call("divide", 932, 33.2 / 100)]),  # float noise
    ("subtract(0.3, 0.1), subtract(#0, 0.2)",
        [call("subtract", 0.3, 0.1, 0.3 - 0.1), call("subtract", 0.2, 0.2, 0.0)]),  # 0.19999999999999998
    ("divide(2, 3), multiply(#0, const_100)",
        [call("divide", 2, 3, 2 / 3), call("multiply", 0.6666667, 100)]),  # an agent rounds a result
    ("subtract(17.84, 4.11), subtract(60.15, 41.30), greater(#0, #1)",
        [call("subtract", 60.15, 41.3, 18.85), call("subtract", 17.84, 4.11, 13.73),
         call("greater", 13.73, 18.85, "no")]),
    ("subtract(17.84, 4.11), subtract(60.15, 41.30)",
        [call("subtract", 60.15, 41.3)]),  # step 1 leads nowhere
    ("subtract(5, 3), subtract(5, 3), add(#0, #1)",
        [call("subtract", 5, 3, 2), call("add", 2, 2)]),  # once will do
    ("exp(1.05, const_3)", [call("exp", 1.05, 3)]),
    ("subtract(.455, .450)", [call("subtract", 0.455, 0.45)]),
    ("add(18.9, -0.3)", [call("add", 18.9, -0.3)]),
    ("add(18.9, -0.3)", [call("add", 18.9, "\N{MINUS SIGN}0.3")]),
    ("206588", []),
    ("13.4%", [LOOKUP]),
    ("206588", [DIFFERENCE]),  # nothing is due, and nothing forbidden
    (206588, []),  # a number in the suite file
]  # fmt: skip


@pytest.mark.parametrize(("program", "calls"), RIGHT)
def test_calls_that_carry_out_the_program(grade, program, calls):
    result = grade(context(program, *calls))
    assert (result.score, result.passed) == (1.0, True), result.reason


WRONG = [
    # program, calls, score, reason
    (GROWTH, [], 0, "step 1, subtract(206588, 181001), is missing: called was no tool at all"),
    (GROWTH, [LOOKUP, LOOKUP], 0, "step 1, subtract(206588, 181001), is missing: called was lookup"),
    (GROWTH, [DIFFERENCE], 1 / 2, "step 2, divide(#0, 181001), is missing: called was subtract"),
    (GROWTH, [DIFFERENCE, call("divide", 25587, 180000)], 1 / 2,
        "step 2 divides by 180000, the program by 181001"),
    (GROWTH, [DIFFERENCE, call("divide", 25000, 181001)], 1 / 2,
        "step 2 divides 25000, the program 25587, the result of step 1"),
    (GROWTH, [DIFFERENCE, call("divide", 181001, 25587)], 1 / 2,
        "step 2 swaps its operands: divide(181001, 25587), the program divide(#0, 181001)"),
    (GROWTH, [call("divide", 25587, 181001)], 0,  # 25587 from nowhere
        "step 1, subtract(206588, 181001), is missing: called was divide"),
    (GROWTH, [call("subtract", 206588, 181010, 25578), call("divide", 25578, 181001)], 0,
        "step 1 subtracts 181010, the program 181001"),
    (GROWTH, [call("subtract", 181001, 206588, -25587), call("divide", -25587, 181001)], 0,
        "step 1 swaps its operands: subtract(181001, 206588), the program subtract(206588, 181001)"),
    (GROWTH, [DIFFERENCE, call("divide", -25587, 181001)], 1 / 2,
        "step 2 divides -25587, the program 25587, the result of step 1 (the sign is opposite)"),
    (GROWTH, [DIFFERENCE, call("divide", 25587, 181001, error="boom")], 1 / 2,
        "step 2 calls divide, which failed: boom"),
    (GROWTH, [DIFFERENCE, hd.ToolInvocation("divide", None, raw_args="{")], 1 / 2,
        "step 2 calls divide with 0 operands, the program with 2"),
    (GROWTH, [call("subtract", 206588, 181001, "about 25 thousand"), call("divide", 25587, 181001)], 1 / 2,
        "step 2, divide(#0, 181001): the result of step 1 is no number"),
    (GROWTH, [DIFFERENCE, call("divide", "the rise", 181001)], 1 / 2,
        "step 2 divides 'the rise', the program 25587, the result of step 1"),
    ("divide(5, const_1)", [call("divide", 5, True)], 0, "step 1 divides by True, the program by 1"),
    ("subtract(5, 3)", [call("subtract", 8, 9)], 0, "step 1 is subtract(8, 9), the program's subtract(5, 3)"),
    ("subtract(5, 3)", [call("subtract", 5, 2), call("subtract", 7, 7)], 0,  # the closest call explains
        "step 1 subtracts 2, the program 3"),
    ("subtract(5, 3)", [call("subtract", 4, 3)], 0, "step 1 subtracts from 4, the program from 5"),
    ("add(750, 700)", [call("add", 700, 75)], 0, "step 1 adds 75, the program 750"),
    ("multiply(45, const_4)", [call("multiply", 5, 45)], 0, "step 1 multiplies by 5, the program by 4"),
    ("divide(932, 13.4%)", [call("divide", 932, 13.4)], 0,
        "step 1 divides by 13.4, the program by 13.4% (100 times too large)"),
    ("subtract(15.7%, 15.1%)", [call("subtract", 15.7, 15.1)], 0,
        "step 1 is subtract(15.7, 15.1), the program's subtract(15.7%, 15.1%) (100 times too large)"),
    ("divide(60, 243), multiply(#0, const_100)",
        [call("divide", 60, 243, 60 / 243), call("multiply", 0.25, 100)], 1 / 2,
        "step 2 multiplies by 0.25, the program by 0.246913580247, the result of step 1"),
    ("exp(1.05, const_3)", [call("exp", 1.05, 2)], 0, "step 1 raises to the power 2, the program to 3"),
    ("exp(2, const_3)", [call("exp", 3, 2)], 0,
        "step 1 swaps its operands: exp(3, 2), the program exp(2, const_3)"),
    ("greater(36197, 345059)", [call("greater", 36197, 3604)], 0,
        "step 1 compares with 3604, the program with 345059"),
    ("greater(36197, 345059)", [call("greater", 345059, 36197)], 0,
        "step 1 swaps its operands: greater(345059, 36197), the program greater(36197, 345059)"),
    (SUM, [call("add", 90, 61, 151), call("add", 151, 27, 178), call("divide", 178, 3)], 1 / 3,
        "step 2 adds 27, the program 72"),
    (SUM, [call("add", 90, 16, 106), call("add", 106, 72, 178), call("divide", 178, 3)], 0,
        "step 1 adds 16, the program 61"),
    ("multiply(431170, 48.11)", [call("multiply", 10**400, 48.11)], 0,
        "step 1 multiplies by a number of very many digits, the program by 431170"),
    ("add(1, 2)", [call("add", float("nan"), 2)], 0, "step 1 adds nan, the program 1"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "calls", "score", "reason"), WRONG)
def test_calls_that_differ(grade, program, calls, score, reason):
    result = grade(context(program, *calls))
    assert result.score == pytest.approx(score)
    assert result.passed is False
    assert result.reason == reason


def test_a_step_that_builds_on_one_that_differs_says_so(grade):
    wrong = call("subtract", 206588, 180000, 26588)
    result = grade(context(GROWTH, wrong, call("divide", 26588, 181001)))
    assert result.details["steps"] == [
        {
            "step": 1,
            "program": "subtract(206588, 181001)",
            "agrees": False,
            "reason": "step 1 subtracts 180000, the program 181001",
        },
        {
            "step": 2,
            "program": "divide(#0, 181001)",
            "agrees": False,
            "reason": "step 2, divide(#0, 181001), builds on step 1, which differs",
        },
    ]


def test_details_tell_the_program_and_what_else_was_called(grade):
    result = grade(context(GROWTH, LOOKUP, DIFFERENCE, call("divide", 25587, 181001), call("add", 1, 1)))
    assert result.details["program"] == GROWTH
    assert result.details["extra_calls"] == ["lookup", "add"]
    assert result.reason == f"the calls carry out {GROWTH}"


FAULTS = [
    # turn_config, the error
    (None, "this turn has no `turn_program`"),
    ({}, "this turn has no `turn_program`"),
    ({"turn_program": None}, "this turn has no `turn_program`"),
    ({"turn_program": True}, "this turn has no `turn_program`"),
    ({"turn_program": ["add(1, 2)"]}, "this turn has no `turn_program`"),
    ({"turn_program": ""}, "cannot be read: expected steps like"),
    ({"turn_program": "add(1, 2"}, "cannot be read: expected steps like"),
    ({"turn_program": "add(1, 2), and more"}, "cannot be read: expected steps like"),
    ({"turn_program": "add(1, 2),"}, "cannot be read: expected steps like"),
    ({"turn_program": "table_max(net sales, none)"}, "step 1: 'table_max' is none of add, subtract"),
    ({"turn_program": "add(1, two)"}, "step 1: 'two' is no operand"),
    ({"turn_program": "add(1, const_x)"}, "step 1: 'const_x' is no operand"),
    ({"turn_program": "add(1, 2), divide(#1, 2)"}, "step 2: #1 is no earlier step"),
]


@pytest.mark.parametrize(("config", "told"), FAULTS)
def test_a_program_that_cannot_be_read_is_the_suites_fault(grade, config, told):
    turn = hd.GraderContext("?", "!", turn_config=config)
    with pytest.raises(ValueError) as error:
        grade(turn)
    assert told in str(error.value)


def test_in_a_run_such_a_fault_is_an_error_of_the_metric_on_that_turn(sample):
    suite = hd.Suite.from_dict(
        {
            "name": "s",
            "test_cases": [{"input": "?"}],
            "evaluations": {"metrics": [{"type": "code", "grader": "graders:turn_program_equivalence"}]},
        },
        folder=sample,
    )
    run = suite.run(agent=lambda text: "!", quiet=True)
    (metric,) = run.metrics.itertuples()
    assert metric.status == "error"
    assert "grader graders:turn_program_equivalence raised ValueError: this turn has no" in metric.reason


NUMBERS = [
    (206588, "206588"), (206588.0, "206588.0"), ("206,588", "206588"), (" $5 ", "5"), ("33.2%", "0.332"),
    ("-.5", "-0.5"), ("1e3", "1E+3"), (1e-7, "1E-7"), ("5.", "5"), ("\N{MINUS SIGN}3", "-3"),
    (True, None), (None, None), ("", None), ("%", None), ("e5", None), ("20,08", None), ("two", None),
    (float("inf"), None), (float("nan"), None), ([1], None), ("9" * 400, None), ("1e9999", None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "read"), NUMBERS)
def test_one_number(number, value, read):
    found = number(value)
    assert (None if found is None else str(found)) == read


def test_a_number_that_python_refuses_to_write_is_told_all_the_same(grade, number):
    assert number(10**5000) is None
    result = grade(context("add(1, 2)", call("add", 10**5000, 2)))
    assert result.reason == "step 1 adds a number of very many digits, the program 1"


def test_the_examples_in_its_docstrings_hold(grade):
    assert doctest.testmod(sys.modules[grade.__module__]) == (0, 2)


def test_every_program_of_the_data_can_be_read_and_is_carried_out_by_its_own_execution(
    grade, read_program, dialogues
):
    """A step's calls, with float arithmetic, carry out each of the 1,490 programs."""
    graded = 0
    for dialogue in dialogues.values():
        for program in dialogue["dialogue"]["turn_program"]:
            assert len(read_program(program)) == len(convfinqa.steps(program))
            result = grade(context(program, *_executed(program)))
            assert result.passed, result.reason
            graded += 1
    assert graded == 1490


def _executed(program):
    calls = []
    for operation, first, second in convfinqa.steps(program):
        results = [call.result for call in calls]
        a, b = (convfinqa.operand(text, results) for text in (first, second))
        result = {
            "add": lambda a, b: a + b,
            "subtract": lambda a, b: a - b,
            "multiply": lambda a, b: a * b,
            "divide": lambda a, b: a / b,
            "greater": lambda a, b: "yes" if a > b else "no",
        }[operation](a, b)
        calls.append(call(operation, a, b, result))
    return calls
