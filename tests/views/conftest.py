"""Runs made by hand: the one that the whole-report tests show, and one full of hostile text."""

from datetime import UTC, datetime

import pytest

from holodeck_nb.results.records import (
    ArgumentCheck,
    FileRecord,
    MetricResult,
    RunWarning,
    TokenUsage,
    ToolCheck,
    ToolInvocation,
    TurnResult,
)
from holodeck_nb.results.rollup import CaseResult, RunResult

START = datetime(2026, 11, 30, 18, 47, 13, tzinfo=UTC)
HOSTILE = (
    "cheap | fast\n| new | row |\npath C:\\|end",
    '<img src=x onerror=alert(1)> </td></table>" onmouseover="y',
    "```\n# heading\n````\n<script>alert(1)</script>",
    "a\x1b[31mb\x00c\u202edtxt\u2066e\u2028f\r\ng",
    "\\",
    "*bold* _it_ `code` [l](javascript:x) ~~s~~ $1$ &lt; #",
    "lone \ud800 surrogate",
    "",
)


def failing_turn():
    subtract = {"name": "subtract", "args": {"a": {"fuzzy": "206588"}, "b": 181001}}
    return TurnResult(
        1,
        "what is the difference?",
        ground_truth="25587",
        expected_tools=("lookup", subtract),
        response="26,588",
        tool_calls=(
            ToolInvocation("Math-subtract", {"a": "206,588", "b": 180000}, 26588, duration_ms=12.4),
            ToolInvocation("Math-lookup", None, error="no such row", raw_args='{"row": '),
        ),
        tool_checks=(
            ToolCheck("lookup", 1, None, matched=False, reason="lookup: arguments could not be read"),
            ToolCheck(
                "subtract",
                1,
                subtract["args"],
                matched=False,
                arguments=(
                    ArgumentCheck("a", "fuzzy", "206588", "206,588", missing=False, matched=True),
                    ArgumentCheck(
                        "b", "exact", 181001, 180000, missing=False, matched=False, reason="expected 181001"
                    ),
                ),
                closest_call=0,
                reason="subtract: closest call #1: b expected 181001, got 180000",
            ),
        ),
        metrics=(
            MetricResult(
                "numeric",
                "standard",
                "failed",
                0.0,
                reason="26588 is not 25587",
                details={"actual": 26588, "expected": 25587},
                duration_ms=7.6,
            ),
            MetricResult("judge", "geval", "error", reason="502", model="gpt", retries=3, duration_ms=20),
            MetricResult("bleu", "standard", "not_applicable", reason="no ground truth"),
        ),
        usage=TokenUsage(180, 12),
        cost_usd=0.25,
        finish_reason="stop",
        started_at=START,
        duration_ms=9.5,
    )


def passing_turn():
    return TurnResult(
        0,
        "what is net cash in 2009?",
        ground_truth="206588",
        expected_tools=({"name": "lookup", "args": {"row": "cash"}},),
        response="206588",
        tool_calls=(ToolInvocation("lookup", {"row": "cash", "table": 1}, {"value": 206588}, duration_ms=3),),
        tool_checks=(
            ToolCheck(
                "lookup",
                1,
                {"row": "cash"},
                matched=True,
                matched_calls=(0,),
                matched_names=("lookup",),
                arguments=(ArgumentCheck("row", "exact", "cash", "cash", missing=False, matched=True),),
                closest_call=0,
            ),
        ),
        metrics=(
            MetricResult("numeric", "standard", "passed", 1.0, details={"actual": 206588}, duration_ms=0.4),
            MetricResult("judge", "geval", "scored", 0.75, model="gpt", retries=1, duration_ms=30),
        ),
        usage=TokenUsage(180, 12, cache_read_tokens=100),
        cost_usd=0.5,
        finish_reason="stop",
        files=(FileRecord(path="report.pdf", type="pdf", details={"pages": (1, 2), "size": 10}),),
        started_at=START,
        duration_ms=100.2,
    )


@pytest.fixture
def small_run():
    """A case of three turns (passed, failed, error), a skipped one, an unnamed single-turn case."""
    conversation = CaseResult(
        "net cash",
        0,
        (passing_turn(), failing_turn(), TurnResult(2, "and?", error="timeout after 60 s", duration_ms=60e3)),
        given_name="net cash",
        finished_at=START,
    )
    lost = CaseResult(
        "lost",
        1,
        (TurnResult(0, "hello?", skip_reason="connection lost", expected_tools=("lookup",)),),
        given_name="lost",
    )
    single = CaseResult(
        "case 3",
        2,
        (TurnResult(0, "hello", response="", ground_truth="hi", duration_ms=4, started_at=START),),
        multi_turn=False,
        finished_at=START,
    )
    return RunResult(
        "fin",
        (conversation, lost, single),
        suite_path="agent.yaml",
        started_at=START,
        duration_ms=1800.4,
        settings={"llm_timeout": 60, "verbose": False},
        environment={"python_version": "3.11.7", "os": "Linux"},
        warnings=(RunWarning("1 turn asserts nothing"), RunWarning("odd", case="net cash", turn=1)),
    )


@pytest.fixture
def hostile_run():
    """The same hostile text wherever text can stand, one case a text."""
    return RunResult(
        HOSTILE[0],
        tuple(CaseResult(text, place, (_hostile_turn(text),)) for place, text in enumerate(HOSTILE)),
        suite_path=HOSTILE[1],
        warnings=tuple(RunWarning(text, case=text, place=text) for text in HOSTILE),
        environment={HOSTILE[1]: HOSTILE[2]},
        stop_reason=HOSTILE[1],
    )


@pytest.fixture
def hostile_texts():
    return HOSTILE


def _hostile_turn(text):
    return TurnResult(
        0,
        text,
        ground_truth=text,
        expected_tools=({"name": text, "args": {text: text}},),
        response=text,
        tool_calls=(ToolInvocation(text, {text: [text]}, {text: text}, error=text),),
        tool_checks=(
            ToolCheck(
                text,
                1,
                {text: text},
                matched=False,
                arguments=(
                    ArgumentCheck(text, "exact", text, text, missing=False, matched=False, reason=text),
                ),
                reason=text,
            ),
        ),
        metrics=(
            MetricResult(text or "m", "code", "failed", 0.0, reason=text, model=text, details={text: text}),
        ),
        files=(FileRecord(path=text, type=text, details={text: text}),),
        model=text,
        finish_reason=text,
    )
