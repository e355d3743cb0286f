"""ConvFinQA's development split as a suite, and an analyst that runs each turn's program with tools."""

import json
import re
from pathlib import Path

from holodeck_nb.backends.base import Reply

TOOLS_FILE = Path(__file__).with_name("analyst_tools.py")
DATA_FILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "convfinqa_dataset.json"
OPERATIONS = ("add", "subtract", "multiply", "divide", "greater")

_STEP = re.compile(r"([a-z]+)\(([^,()]+), ([^,()]+)\)")


def dialogues():
    """The 421 dialogues, as the file holds them."""
    return json.loads(DATA_FILE.read_text(encoding="utf-8"))["dev"]


def steps(program):
    """A program as (operation, operand, operand) steps; none for a bare number."""
    return [match.groups() for match in _STEP.finditer(program)]


def operand(text, results):
    """The number behind an operand: a literal, a percentage, a constant, or `#N`, the result of step N."""
    if text.startswith("#"):
        return results[int(text[1:])]
    if text.startswith("const_"):
        return float(text.removeprefix("const_").replace("m", "-"))
    return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)


def asserted(program):
    """The tools that a program must call; operands that are results of earlier steps are not asserted."""
    return [
        {
            "name": operation,
            "args": {
                name: {"fuzzy": text if not text.startswith("const_") else f"{operand(text, []):g}"}
                for name, text in (("a", first), ("b", second))
                if not text.startswith("#")
            },
        }
        for operation, first, second in steps(program)
    ]


def cases(tolerance=1e-5):
    """One case a dialogue. Executed answers are rounded to five places; yes and no go by equality."""
    for dialogue in dialogues():
        told = dialogue["dialogue"]
        turns = []
        for question, program, answer in zip(
            told["conv_questions"], told["turn_program"], told["executed_answers"], strict=True
        ):
            turn = {"input": question, "ground_truth": str(answer)}
            if expected := asserted(program):
                turn["expected_tools"] = expected
            if isinstance(answer, str):
                turn["evaluations"] = [{"type": "equality"}]
            turns.append(turn)
        numeric = {"type": "numeric", "absolute_tolerance": tolerance}
        yield {"name": dialogue["id"], "evaluations": [numeric], "turns": turns}


def tools():
    """The operations as function tools of a suite."""
    return [
        {"name": name, "description": name, "type": "function", "file": str(TOOLS_FILE), "function": name}
        for name in OPERATIONS
    ]


def suite(tolerance=1e-5):
    """The whole split as the mapping that a suite file holds."""
    return {"name": "convfinqa-dev", "tools": tools(), "test_cases": list(cases(tolerance))}


class ProgramAnalyst:
    """An agent that answers each turn by running its program, step by step, through the suite's tools."""

    def __init__(self):
        self._programs = {dialogue["id"]: dialogue["dialogue"]["turn_program"] for dialogue in dialogues()}

    async def create_session(self, context):
        return _Session(self._programs[context.case], context.tools)


class _Session:
    def __init__(self, programs, tools):
        self._programs = iter(programs)
        self._tools = tools

    async def send(self, message):
        program = next(self._programs)
        calls = []
        for operation, first, second in steps(program):
            results = [call.result for call in calls]
            arguments = {"a": operand(first, results), "b": operand(second, results)}
            calls.append(await self._tools.run(operation, arguments))
        answer = calls[-1].result if calls else operand(program, [])
        return Reply(str(answer), tuple(calls))

    async def close(self):
        pass


class PrintedAnswers:
    """An agent that answers with what the data prints."""

    def __init__(self):
        self._answers = {dialogue["id"]: dialogue["dialogue"]["conv_answers"] for dialogue in dialogues()}

    def __call__(self, text, conversation):
        return self._answers[conversation.case][conversation.turn]
