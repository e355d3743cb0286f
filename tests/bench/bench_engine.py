"""What the engine costs: CPU a turn, cases at once, the whole ConvFinQA split. Run it as a script."""

import asyncio
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import convfinqa
from measure import cpu_and_wall, row

import holodeck_nb as hd

CASES_OF_FOUR = 100


def a_call(program):
    """One tool call of a turn: the program's first step, or a sum that gives a bare number."""
    operation, first, second = (convfinqa.steps(program) or [("add", program, "0")])[0]
    return operation, convfinqa.operand(first, [0.0]), convfinqa.operand(second, [0.0])


def four_turn_suite():
    """100 real dialogues of four turns: numeric and one expected tool with two arguments on every turn."""
    cases, recorded, real = [], {}, {}
    for dialogue in convfinqa.dialogues():
        told = dialogue["dialogue"]
        if len(told["turn_program"]) != 4 or len(cases) == CASES_OF_FOUR:
            continue
        turns, replies = [], []
        for question, program, answer in zip(
            told["conv_questions"], told["turn_program"], told["executed_answers"], strict=True
        ):
            name, a, b = a_call(program)
            expected = {"name": name, "args": {"a": {"fuzzy": str(a)}, "b": b}}
            turns.append({"input": question, "ground_truth": str(answer), "expected_tools": [expected]})
            replies.append({"text": str(answer), "tool_calls": [{"name": name, "args": {"a": a, "b": b}}]})
        cases.append({"name": dialogue["id"], "turns": turns})
        real[dialogue["id"]] = replies
        recorded[dialogue["id"]] = [
            {**reply, "tool_calls": [{**reply["tool_calls"][0], "result": 1.0}]} for reply in replies
        ]
    numeric = [{"type": "numeric", "absolute_tolerance": 1e-5}]
    suite = hd.Suite.from_dict(
        {
            "name": "bench",
            "tools": convfinqa.tools(),
            "test_cases": cases,
            "evaluations": {"metrics": numeric},
        }
    )
    return suite, recorded, real


def cpu_a_turn():
    suite, recorded, real = four_turn_suite()
    turns = 4 * len(suite)
    for what, replies, goal in (("recorded tool calls", recorded, 0.15), ("one real tool call", real, 0.3)):
        backend = hd.ScriptedBackend(replies)
        cpu, _ = cpu_and_wall(
            lambda backend=backend: suite.run(backend=backend, quiet=True), runs=15, warmup=3
        )
        row(f"CPU a turn, {len(suite)} dialogues of 4 turns, {what}", cpu, per=turns, goal=goal)


async def sleeping_async(text):
    await asyncio.sleep(0.05)
    return text


def sleeping(text):
    time.sleep(0.05)
    return text


def cases_at_once():
    suite = hd.Suite.from_dict(
        {"name": "bench", "test_cases": [{"turns": [{"input": "u"}] * 4} for _ in range(64)]}
    )
    ideal = 64 / 16 * 4 * 0.05
    for what, agent in (("async", sleeping_async), ("sync", sleeping)):
        _, wall = cpu_and_wall(
            lambda agent=agent: suite.run(agent=agent, parallel_test_cases=16, quiet=True), runs=5
        )
        row(f"64 cases of 4 turns, 16 at once, 50 ms a turn, {what} agent", wall, unit="s", goal=ideal * 1.05)


def whole_split():
    _, load = cpu_and_wall(lambda: hd.Suite.from_dict(convfinqa.suite()), runs=3)
    row("ConvFinQA: making the suite of 421 dialogues", load, unit="s")
    suite = hd.Suite.from_dict(convfinqa.suite())
    runs = []
    _, wall = cpu_and_wall(
        lambda: runs.append(suite.run(backend=convfinqa.ProgramAnalyst(), quiet=True)), runs=5
    )
    summary = runs[-1].summary
    row(f"ConvFinQA: {summary.cases} dialogues, {summary.turns} turns, real tools", wall, unit="s")
    print(f"{'  pass rate':<58} {summary.pass_rate:9.1%}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'  peak memory of the process':<58} {peak:9.0f} MiB")


if __name__ == "__main__":
    if convfinqa.DATA_FILE.exists():
        whole_split()
        cpu_a_turn()
    else:
        print(f"no ConvFinQA data at {convfinqa.DATA_FILE}: its rows are left out")
    cases_at_once()
