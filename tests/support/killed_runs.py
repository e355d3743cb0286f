"""Runs in processes of their own that are killed: the child that plays, and what its journal must hold."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

CASES, TURNS = 12, 4

# The child says of every turn that it has ended, as the events tell it, and of every case that it begins.
CHILD = """
import sys
from pathlib import Path
import holodeck_nb as hd
from holodeck_nb.results.events import TurnFinished
import holodeck_nb.launch as launch

folder, resume = Path(sys.argv[1]), sys.argv[2] == "resume"

class Reporting:
    def __init__(self, **options):
        pass
    def __call__(self, event):
        pass
    def paint(self):
        pass

launch.Progress = Reporting
play = launch.run_suite

async def reporting(record, backend, emit):
    def report(event):
        if isinstance(event, TurnFinished):
            print("turn", event.name, event.result.turn, event.result.status, flush=True)
        emit(event)
    return await play(record, backend, report)

launch.run_suite = reporting
suite = hd.Suite.from_yaml(folder / "agent.yaml")

async def agent(text):
    import asyncio
    print("asked", text, flush=True)
    await asyncio.sleep(0.003)
    return text

print("ready", flush=True)
run = suite.run(agent=agent, parallel_test_cases=3, journal=True, resume="latest" if resume else None)
print("done", flush=True)
"""


@dataclass
class Killed:
    """What a child said before it was killed, or came to its end."""

    lines: list[str]
    was_killed: bool

    def turns(self):
        """(case, turn, status) of every turn that was reported whole."""
        told = [line.split(" ") for line in self.lines if line.startswith("turn ")]
        return {(case, int(turn), status) for _, case, turn, status in told}

    def asked(self):
        return [line.removeprefix("asked ") for line in self.lines if line.startswith("asked ")]


def write_suite(folder):
    """Cases of four turns; every input is its case and turn, and every third case has a wrong answer."""
    lines = ["name: killed", "evaluations: {metrics: [{type: equality}]}", "test_cases:"]
    for case in range(CASES):
        lines += [f"  - name: c{case}", "    turns:"]
        for turn in range(TURNS):
            truth = "no" if case % 3 == 2 and turn == 1 else f"c{case}t{turn}"
            lines.append(f"      - {{input: c{case}t{turn}, ground_truth: '{truth}'}}")
    (folder / "agent.yaml").write_text("\n".join(lines), encoding="utf-8")


def start(folder, *, resume=False):
    arguments = [sys.executable, "-c", CHILD, str(folder), "resume" if resume else "play"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment)


def play(folder, *, kill_after_s=None, when="ready", resume=False):
    """Play, and kill the child so long after it has said `ready` or first `asked`; None lets it end."""
    child = start(folder, resume=resume)
    first = [child.stdout.readline()]
    assert first == ["ready\n"], first
    if when == "asked":
        first.append(child.stdout.readline())
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        child.send_signal(signal.SIGKILL)
    with child.stdout as said:  # not `communicate`: it would pass over what is already in the buffer
        whole, _, _ = said.read().rpartition("\n")
    child.wait(timeout=60)
    return Killed(
        [*"".join(first).splitlines(), *whole.splitlines()], was_killed=child.returncode == -signal.SIGKILL
    )


def killing(folder, seed, longest_s=0.08):
    """One kill at a random moment and the resumption after it; returns what happened as a line of a log.

    Raises:
        AssertionError: A reported turn is not in the journal, or the resumed run is not complete, or a case
            that had ended was played again.
    """
    import holodeck_nb as hd

    write_suite(folder)
    kill_after_s = random.Random(seed).uniform(0.0, longest_s)
    when = "asked" if seed % 5 else "ready"  # every fifth one may be hit before the first turn
    begun = f"{seed:>4} {kill_after_s * 1000:>9.1f} ms after {when}"
    killed = play(folder, kill_after_s=kill_after_s, when=when)
    journals = [row.run for row in hd.runs(folder).itertuples() if row.state != "unreadable"]
    if not journals:  # the kill came before the first line was whole
        assert not killed.asked()
        return f"{begun}  killed before the journal: nothing was played"
    before = hd.Run.load(folder / ".holodeck" / "runs" / journals[-1])
    there = {
        (case.name, turn.turn, turn.status)
        for case, turn in before.result.turns()
        if turn.status != "skipped"
    }
    lost = killed.turns() - there
    assert not lost, f"lost {lost}"
    ended = {
        case.name for case in before.result.cases if case.status in {"passed", "failed"} and _whole(case)
    }
    after = play(folder, resume=True)
    assert "done" in after.lines, after.lines
    played = sorted(after.asked())
    expected = sorted(
        f"c{case}t{turn}" for case in range(CASES) for turn in range(TURNS) if f"c{case}" not in ended
    )
    assert played == expected, f"played {played}, expected {expected}"
    resumed = hd.Run.load(folder / ".holodeck" / "runs" / hd.runs(folder)["run"].tolist()[-1])
    statuses = [turn.status for _, turn in resumed.result.turns()]
    assert (statuses.count("passed"), statuses.count("failed")) == (CASES * TURNS - 4, 4)
    end = "killed" if killed.was_killed else "had ended"
    return (
        f"{begun}  {end}: {len(killed.turns()):>3} turns reported,"
        f" {len(there):>3} in the journal, {len(lost)} lost; {len(ended):>2} cases kept,"
        f" {len(played):>3} turns played on resuming"
    )


def _whole(case):
    return all(turn.status in {"passed", "failed"} for turn in case.turns)
