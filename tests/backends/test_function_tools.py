"""The suite's own functions as tools: their schema, their arguments, their faults."""

import asyncio
import functools
import time
from decimal import Decimal

import pytest

from holodeck_nb.backends.function_tools import BoundTool, FunctionTools
from holodeck_nb.sync import UserCodeExit


def subtract(a: float, b: float) -> float:
    """Subtract b from a.

    The second paragraph is for people.
    """
    return a - b


def lookup(row, column="2009", *, unit: str | None = None):
    return f"{row}/{column}/{unit}"


async def slow_divide(a: float, b: float) -> float:
    await asyncio.sleep(0)
    return a / b


class Counter:
    """Counts."""

    def __init__(self):
        self.calls = 0

    def step(self, by: int = 1) -> int:
        self.calls += by
        return self.calls

    def __call__(self, by):
        return self.step(by)


def run(function, args):
    return asyncio.run(BoundTool("tool", "", function).run(args))


def test_a_function_describes_itself():
    tool = BoundTool.of(subtract)
    assert (tool.name, tool.description) == ("subtract", "Subtract b from a.")


# fmt: off
SCHEMAS = [
    (subtract, {"a": {"title": "A", "type": "number"}, "b": {"title": "B", "type": "number"}}, ["a", "b"]),
    (slow_divide, {"a": {"title": "A", "type": "number"}, "b": {"title": "B", "type": "number"}}, ["a", "b"]),
    (Counter().step, {"by": {"default": 1, "title": "By", "type": "integer"}}, None),
]
# fmt: on


@pytest.mark.parametrize(("function", "properties", "required"), SCHEMAS)
def test_the_schema_comes_from_the_signature(function, properties, required):
    schema = BoundTool("tool", "", function).json_schema
    assert schema["type"] == "object"
    assert schema["properties"] == properties
    assert schema.get("required") == required


def test_the_suite_may_state_the_parameters():
    stated = {"a": {"type": "number", "description": "minuend", "required": True}, "b": {"type": "number"}}
    schema = BoundTool("tool", "", subtract, stated).json_schema
    assert schema == {
        "type": "object",
        "properties": {"a": {"type": "number", "description": "minuend"}, "b": {"type": "number"}},
        "required": ["a"],
    }
    assert stated["a"]["required"] is True


RESULTS = [
    # function             args                                 result
    (subtract,             {"a": 206588, "b": 181001},          25587.0),
    (subtract,             {"a": "206588", "b": 181001},        25587.0),  # read by the signature's types
    (slow_divide,          {"a": 1, "b": 4},                    0.25),
    (lookup,               {"row": "cash"},                     "cash/2009/None"),
    (lookup,               {"row": "cash", "unit": "USD"},      "cash/2009/USD"),
    (functools.partial(lookup, column="2008"), {"row": "cash"}, "cash/2008/None"),
    (Counter(),            {"by": 2},                           2),
    (lambda **values: sorted(values), {"b": 1, "a": 2},         ["a", "b"]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "result"), RESULTS)
def test_a_call_is_recorded_with_its_result(function, args, result):
    call = run(function, args)
    assert (call.result, call.error, call.args) == (result, None, args)
    assert call.duration_ms >= 0


def broken():
    raise RuntimeError("no such table")


def exiting():
    raise SystemExit(3)


class UnprintableError(Exception):
    def __str__(self):
        raise ValueError("not even this")


def unprintable():
    raise UnprintableError


def opaque(table: "NoSuchType"):  # noqa: F821 - its types cannot be read, and it can be called all the same
    return len(table)


FAULTS = [
    (subtract, {"a": 1}, "tool cannot take these arguments: b: Missing required argument"),
    (subtract, {"a": 1, "b": 2, "c": 3}, "tool cannot take these arguments: c: Unexpected keyword argument"),
    (
        subtract,
        {"a": "one", "b": 2},
        (
            "tool cannot take these arguments: "
            "a: Input should be a valid number, unable to parse string as a number"
        ),
    ),
    (broken, {}, "RuntimeError: no such table"),
    (slow_divide, {"a": 1, "b": 0}, "ZeroDivisionError: float division by zero"),
    (exiting, {}, "SystemExit: 3"),
    (unprintable, {}, "UnprintableError: (its message cannot be read)"),
]


@pytest.mark.parametrize(("function", "args", "error"), FAULTS)
def test_whatever_goes_wrong_is_in_the_record(function, args, error):
    call = run(function, args)
    assert (call.result, call.error) == (None, error)


def test_types_that_cannot_be_read_do_not_hinder_a_call():
    assert run(opaque, {"table": [1, 2]}).result == 2
    assert BoundTool("tool", "", opaque).json_schema == {"type": "object", "properties": {}}


def test_a_result_of_any_type_is_kept_as_it_is():
    assert run(lambda: Decimal("1.10"), {}).result == Decimal("1.10")


def test_keyboard_interrupt_is_the_users_wish_to_stop():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(UserCodeExit):
        run(interrupted, {})


def test_a_blocking_tool_does_not_stall_the_loop():
    async def main():
        beats = 0
        running = asyncio.ensure_future(BoundTool.of(functools.partial(time.sleep, 0.1), name="wait").run({}))
        while not running.done():
            beats += 1
            await asyncio.sleep(0.01)
        return beats

    assert asyncio.run(main()) >= 3


def test_an_unknown_tool_is_an_error_that_names_the_known_ones():
    tools = FunctionTools.of([subtract, slow_divide])
    call = asyncio.run(tools.run("add", {"a": 1}))
    assert call.error == "there is no tool 'add'; the suite's tools: subtract, slow_divide"
    assert (call.name, call.args) == ("add", {"a": 1})
    assert [tool.name for tool in tools] == ["subtract", "slow_divide"]
    assert len(tools) == 2
