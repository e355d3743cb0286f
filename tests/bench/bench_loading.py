"""How long a suite of 1,000 cases takes to load, beside PyYAML's C loader on the same text.

Run `python tests/bench/bench_loading.py [cases] [rounds]`.
"""

from __future__ import annotations

import gc
import statistics
import sys
import tempfile
import time
from pathlib import Path

import yaml

from holodeck_nb.loading.loader import load_suite

TURN = """\
      - input: "what was net cash from operating activities in {year}, case {case}?"
        ground_truth: "{truth}"
        expected_tools:
          - name: subtract
            args:
              a: {truth}
              b: {{fuzzy: "{other}"}}
"""


def suite_text(cases: int) -> str:
    parts = ["name: bench\nmodel: {provider: scripted, name: fake-1}\n"]
    parts.append("evaluations:\n  metrics:\n    - {type: numeric, absolute_tolerance: 0.01}\ntest_cases:\n")
    for case in range(cases):
        parts.append(f"  - name: case-{case}\n    turns:\n")
        parts += [
            TURN.format(year=2000 + turn, case=case, truth=206_588 + case, other=181_001 + turn)
            for turn in range(4)
        ]
    return "".join(parts)


def seconds(work, *, collecting=True) -> float:
    if not collecting:
        gc.disable()
    began = time.perf_counter()
    kept = work()
    took = time.perf_counter() - began
    gc.enable()
    del kept
    return took


def main(cases: int = 1000, rounds: int = 11) -> None:
    text = suite_text(cases)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "agent.yaml")
        file.write_text(text, encoding="utf-8")
        ways = {
            "yaml.load, CSafeLoader": lambda: seconds(lambda: yaml.load(text, yaml.CSafeLoader)),
            "the same, gc disabled": lambda: seconds(
                lambda: yaml.load(text, yaml.CSafeLoader), collecting=False
            ),
            "load_suite": lambda: seconds(lambda: load_suite(file)),
        }
        measured = {name: [] for name in ways}
        for _ in range(rounds):
            for name, measure in ways.items():
                measured[name].append(measure())
    print(f"{cases} cases of four turns, {len(text) / 1e6:.1f} MB, median of {rounds} interleaved rounds")
    ours = statistics.median(measured["load_suite"])
    for name, times in measured.items():
        median = statistics.median(times)
        print(f"{name:24}{median:8.3f} s   load_suite takes {ours / median:4.2f} of it")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
