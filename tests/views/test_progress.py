"""How a run shows itself while it goes on."""

import io
from datetime import timedelta

import pytest

import holodeck_nb as hd
from holodeck_nb.results.events import CaseFinished, CaseStarted, RunFinished, RunStarted, TurnFinished
from holodeck_nb.results.records import TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.views.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def case(name, index=0, error=None):
    return CaseResult(name=name, index=index, turns=(TurnResult(0, "q", response="x", error=error),))


def play(progress, *events, paint=True):
    for event in events:
        progress(event)
        if paint:
            progress.paint()


PASSED, FAILED = case("cash"), case("debt", 1, error="timeout")
STORY = [
    RunStarted("fin", cases=2, turns=2),
    CaseStarted("cash", 0),
    TurnFinished("cash", 0, 0, PASSED.turns[0]),
    CaseFinished(PASSED),
    CaseStarted("debt", 1),
    TurnFinished("debt", 1, 0, FAILED.turns[0]),
    CaseFinished(FAILED),
    RunFinished(RunResult("fin", (PASSED, FAILED), duration_ms=1800)),
]


def test_a_log_has_one_line_a_case_and_a_summary_and_nothing_that_overwrites():
    stream = io.StringIO()
    play(Progress(stream=stream), *STORY)
    assert stream.getvalue() == (
        "✅ 1/2 cash: passed\n"
        "❌ 2/2 debt: error — turn 0: timeout\n"
        "2 tests · 1 passed · 1 failed · pass rate 50.0 % · 1.8 s\n"
    )


def test_verbose_adds_a_line_a_turn():
    stream = io.StringIO()
    play(Progress(stream=stream, verbose=True), *STORY)
    assert stream.getvalue().splitlines()[:4] == [
        "   ✅ cash, turn 0: passed",
        "✅ 1/2 cash: passed",
        "   ❌ debt, turn 0: timeout",
        "❌ 2/2 debt: error — turn 0: timeout",
    ]


def test_a_terminal_shows_which_test_is_running():
    stream = Terminal()
    play(Progress(stream=stream), *STORY)
    shown = stream.getvalue().split("\r\x1b[K")
    assert "Running test 1/2: cash" in shown
    assert "Running test 2/2: debt · 1 passed, 0 failed" in shown
    assert shown[-1] == "2 tests · 1 passed · 1 failed · pass rate 50.0 % · 1.8 s\n"


def test_a_terminal_line_never_wraps(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    stream = Terminal()
    play(Progress(stream=stream), RunStarted("fin", 1, 1), CaseStarted("n" * 200, 0))
    assert max(len(line) for line in stream.getvalue().split("\r\x1b[K")) <= 29


def test_beyond_five_seconds_the_time_is_shown(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("holodeck_nb.views.progress.time.monotonic", lambda: now[0])
    stream = Terminal()
    progress = Progress(stream=stream)
    play(progress, RunStarted("fin", 2, 2), CaseStarted("cash", 0))
    now[0] += timedelta(seconds=5).total_seconds()
    progress.paint()
    assert " s" not in stream.getvalue().split("\x1b[K")[-1]
    now[0] += 2
    progress.paint()
    assert stream.getvalue().endswith("Running test 1/2: cash · 7 s")
    progress(CaseFinished(PASSED))
    assert stream.getvalue().endswith("✅ 1/2 cash: passed (7 s)\n")


def test_several_cases_at_once_are_counted():
    stream = Terminal()
    play(Progress(stream=stream), RunStarted("fin", 3, 3), CaseStarted("a", 0), CaseStarted("b", 1))
    assert stream.getvalue().endswith("Running test 1/3: a · 1 more at once")


@pytest.mark.parametrize("name", ["two\nlines", "\x1b[31mred\x1b[0m", "\r\x1b[Kgone"])
def test_names_cannot_break_the_lines(name):
    stream = io.StringIO()
    play(Progress(stream=stream), RunStarted("fin", 1, 1), CaseFinished(case(name)))
    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()
    assert "\r" not in stream.getvalue()


def test_a_stream_that_cannot_write_marks_gets_escapes():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="cp1252")
    play(Progress(stream=stream), RunStarted("fin", 1, 1), CaseFinished(PASSED))
    assert raw.getvalue().decode("cp1252").replace("\r", "") == "\\u2705 1/1 cash: passed\n"


class Broken(io.StringIO):
    def write(self, text):
        raise BrokenPipeError("nobody reads this")


def test_a_display_that_breaks_does_not_cost_the_run(monkeypatch):
    monkeypatch.setattr("sys.stderr", Broken())
    run = hd.Suite(name="s", test_cases=[{"input": "q"}, {"input": "q"}]).run(agent=lambda text: "x")
    assert run.turns["response"].tolist() == ["x", "x"]


def test_an_interrupted_run_ends_its_display():
    stream = io.StringIO()
    stopped = RunResult("fin", (PASSED,), duration_ms=10, stop_reason="interrupted")
    play(Progress(stream=stream), STORY[0], RunFinished(stopped))
    assert (
        stream.getvalue()
        == "1 test · 1 passed · 0 failed · pass rate 100.0 % · 10 ms · ended early: interrupted\n"
    )
