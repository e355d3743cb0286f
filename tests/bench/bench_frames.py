"""How long the frames of a large run take: `python tests/bench/bench_frames.py [turns]`."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from holodeck_nb.results.records import (
    ArgumentCheck,
    MetricResult,
    TokenUsage,
    ToolCheck,
    ToolInvocation,
    TurnResult,
)
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.views import frames

MAKERS = (
    frames.turns_frame,
    frames.metrics_frame,
    frames.tool_calls_frame,
    frames.tool_checks_frame,
    frames.cases_frame,
    frames.failures_frame,
    frames.warnings_frame,
)


def large_run(turns=25_000, turns_a_case=5):
    """A run with tools, checks, metrics and tokens on every turn; every seventh turn fails."""
    start = datetime(2026, 11, 30, tzinfo=UTC)
    cases = [
        CaseResult(
            name=f"case {place}",
            index=place,
            turns=tuple(
                _turn(turn, place * turns_a_case + turn, start + timedelta(seconds=place))
                for turn in range(turns_a_case)
            ),
        )
        for place in range(turns // turns_a_case)
    ]
    return RunResult("large", tuple(cases), started_at=start, duration_ms=1000.0)


def _turn(turn, number, started_at):
    good = bool(number % 7)
    check = ToolCheck(
        "subtract",
        1,
        {"a": number, "b": {"fuzzy": "2"}},
        matched=good,
        matched_calls=(0,) if good else (),
        arguments=(
            ArgumentCheck("a", "exact", number, number, missing=False, matched=True),
            ArgumentCheck("b", "fuzzy", "2", 2, missing=False, matched=good, reason=None if good else "no"),
        ),
        reason=None if good else "subtract: closest call #1: b expected 2, got 3",
    )
    return TurnResult(
        turn,
        f"what is the change in year {number}?",
        ground_truth=str(number),
        expected_tools=({"name": "subtract", "args": {"a": number, "b": {"fuzzy": "2"}}},),
        response=f"the answer is {number}",
        tool_calls=(ToolInvocation("Math-subtract", {"a": number, "b": 2}, number - 2, duration_ms=1.5),),
        tool_checks=(check,),
        metrics=(
            MetricResult("numeric", "standard", "passed", 1.0, details={"actual": number}),
            MetricResult("equality", "standard", "scored", 0.5),
        ),
        usage=TokenUsage(180, 12),
        finish_reason="stop",
        started_at=started_at,
        duration_ms=12.5,
    )


@pytest.mark.bench
def test_the_frames_of_a_large_run():
    run = large_run(1_000)
    assert [len(make(run)) for make in MAKERS[:2]] == [1_000, 2_000]


def main():
    run = large_run(int(sys.argv[1]) if len(sys.argv) > 1 else 25_000)
    frames.warnings_frame(run)  # loads pandas
    print(f"{'frame':<20}{'rows':>8}{'CPU s, best of 5':>18}")
    for make in MAKERS:
        times = []
        for _ in range(5):
            begun = time.process_time()
            made = make(run)
            times.append(time.process_time() - begun)
        print(f"{make.__name__:<20}{len(made):>8}{min(times):>18.3f}")


if __name__ == "__main__":
    main()
