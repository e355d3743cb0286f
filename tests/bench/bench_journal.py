"""What the journal costs: CPU a turn with and without it, loading, bytes and memory. Run it as a script."""

import asyncio
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench_engine import four_turn_suite
from bench_frames import large_run
from measure import row

from holodeck_nb.backends.scripted import ScriptedBackend
from holodeck_nb.engine.cases import run_suite
from holodeck_nb.engine.journal_lines import journal_line
from holodeck_nb.engine.journal_reader import read_journal
from holodeck_nb.engine.journal_run import RunFacts, result_lines
from holodeck_nb.engine.plan import RunPlan, plan_cases
from holodeck_nb.engine.record import RunRecord

MANY = 100_000


def engine(folder):
    """CPU a turn of real dialogues, the two ways in turn, so that a busy machine hits both."""
    suite, recorded, _ = four_turn_suite()
    parts = suite._parts
    turns = sum(len(case.conversation) for case in suite.cases)
    cpu = {False: [], True: []}
    for number in range(16):
        for kept, times in cpu.items():
            cases = plan_cases(parts.loaded.config, parts.cases, parts.loaded.graders)
            record = RunRecord(RunPlan("bench", cases, journal=folder / "runs" if kept else None))
            begun = time.process_time()
            asyncio.run(run_suite(record, ScriptedBackend(recorded), lambda event: None))
            if number:
                times.append(time.process_time() - begun)
    row("engine without journal, CPU a turn", cpu[False], per=turns)
    row("engine with journal, CPU a turn", cpu[True], per=turns, goal=0.3)
    extra = [kept - bare for kept, bare in zip(cpu[True], cpu[False], strict=True)]
    row("the journal alone, CPU a turn", extra, per=turns)
    size = record.journal.stat().st_size
    print(f"{'bytes a turn of these dialogues (plan included)':<58} {size / turns:9,.0f} B")


def loading(folder):
    """A run of many turns with a tool call, a check of two arguments and two metrics on each."""
    result = large_run(MANY)
    path = folder / "journal.jsonl"
    begun = time.process_time()
    with path.open("wb") as file:
        for line in result_lines(result, RunFacts("bench", "large", started_at=result.started_at)):
            file.write(journal_line(line))
    row(f"writing {MANY:,} turns as a journal, CPU", [time.process_time() - begun], unit="s")
    print(f"{'bytes a turn of these (plan included)':<58} {path.stat().st_size / MANY:9,.0f} B")
    times = []
    for _ in range(3):
        begun = time.process_time()
        read = read_journal(path)
        times.append(time.process_time() - begun)
        assert read.result == result
    row(f"loading {MANY:,} turns, CPU", times, unit="s", goal=10)


def memory(folder):
    """What a loaded turn holds in memory, and the most that loading takes."""
    result = large_run(10_000)
    path = folder / "small.jsonl"
    with path.open("wb") as file:
        for line in result_lines(result, RunFacts("bench", "small", started_at=result.started_at)):
            file.write(journal_line(line))
    del result
    tracemalloc.start()
    read = read_journal(path)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    turns = sum(1 for _ in read.result.turns())
    print(f"{'memory a loaded turn':<58} {held / turns / 1024:9.1f} KiB")
    print(f"{'most memory while loading, a turn':<58} {peak / turns / 1024:9.1f} KiB")


def main():
    with tempfile.TemporaryDirectory() as folder:
        engine(Path(folder))
        loading(Path(folder))
        memory(Path(folder))


if __name__ == "__main__":
    main()
