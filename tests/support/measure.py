"""Small honest measuring: several runs, the median, and the spread beside it."""

import statistics
import time


def cpu_and_wall(function, runs=7, warmup=1):
    """Seconds of CPU and of wall time of each run, as two lists."""
    cpu, wall = [], []
    for number in range(warmup + runs):
        cpu_before, wall_before = time.process_time(), time.perf_counter()
        function()
        if number >= warmup:
            cpu.append(time.process_time() - cpu_before)
            wall.append(time.perf_counter() - wall_before)
    return cpu, wall


def row(what, seconds, *, per=1, unit="ms", goal=None):
    """One line of a table: median, least and most, each divided by `per`."""
    scale = {"s": 1, "ms": 1e3, "us": 1e6}[unit] / per
    low, middle, high = min(seconds) * scale, statistics.median(seconds) * scale, max(seconds) * scale
    target = "" if goal is None else f"   goal {goal:g}"
    print(f"{what:<58} {middle:9.3f} {unit}   ({low:.3f} to {high:.3f}){target}")
