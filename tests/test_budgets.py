"""What a run may cost: it stops between two turns, and what is not known never counts as nothing silently."""

import time

import pytest

import holodeck_nb as hd
from holodeck_nb.engine.budget import Budget, Spending
from holodeck_nb.results.records import TurnResult

CASES = [{"name": f"c{n}", "turns": [{"input": "a"}, {"input": "b"}, {"input": "c"}]} for n in range(3)]


@pytest.fixture
def suite():
    return hd.Suite(name="s", test_cases=CASES)


def costing(usd=0.25, tokens=100):
    usage = None if tokens is None else hd.TokenUsage(tokens - 1, 1)
    return lambda text: hd.Reply("x", usage=usage, cost_usd=usd)


def texts(run):
    return [text for text in run.warnings["text"] if "budget" in text]


STOPS = [
    #  arguments              turns played  reason
    ({"budget_usd": 1},         4, "budget_usd of $1 is reached after 4 turns: cost so far $1.0000"),
    ({"budget_usd": 0.9},       4, "budget_usd of $0.9 is reached after 4 turns: cost so far $1.0000"),
    ({"budget_usd": 0.01},      1, "budget_usd of $0.01 is reached after 1 turn: cost so far $0.2500"),
    ({"budget_tokens": 450},    5,
     "budget_tokens of 450 is reached after 5 turns: 500 tokens, cost so far $1.2500"),
    ({"budget_tokens": 450, "budget_usd": 0.5}, 2,
     "budget_usd of $0.5 is reached after 2 turns: cost so far $0.5000"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "played", "reason"), STOPS)
def test_it_stops_between_turns_and_says_why_and_what_it_has_cost(suite, arguments, played, reason):
    run = suite.run(agent=costing(), quiet=True, **arguments)
    assert run.summary.turns - run.summary.turns_skipped == played
    skipped = run.turns[run.turns["status"] == "skipped"]
    assert set(skipped["reason"]) == {reason}
    assert run.result.stop_reason == reason
    assert texts(run) == []


@pytest.mark.parametrize("arguments", [{"budget_usd": 2.25}, {"budget_tokens": 900}, {"max_minutes": 5}, {}])
def test_a_budget_that_is_just_enough_stops_nothing(suite, arguments):
    run = suite.run(agent=costing(), quiet=True, **arguments)
    assert (run.summary.turns_skipped, run.result.stop_reason) == (0, None)


def test_minutes(suite):
    def slow(text):
        time.sleep(0.03)
        return "x"

    run = suite.run(agent=slow, quiet=True, max_minutes=0.05 / 60)
    played = run.summary.turns - run.summary.turns_skipped
    assert 1 <= played <= 3
    turns = "1 turn" if played == 1 else f"{played} turns"
    assert run.result.stop_reason.startswith(
        f"max_minutes of 0.000833333 is reached after {turns}: cost so far unknown"
    )


def test_turns_in_flight_end(suite):
    run = suite.run(agent=costing(), quiet=True, budget_usd=0.25, parallel_test_cases=3)
    played = run.summary.turns - run.summary.turns_skipped
    assert 1 <= played <= 3
    assert run.summary.turns_error == 0


def test_unknown_cost_is_told_and_not_counted_as_nothing(suite):
    answers = iter([0.25, None, 0.25, None, None, 0.25, 0.25, 0.25, 0.25])
    run = suite.run(agent=lambda text: hd.Reply("x", cost_usd=next(answers)), quiet=True, budget_usd=1)
    assert texts(run) == [
        (
            "budget_usd cannot be kept for turns of unknown cost: they are not in the sum."
            " budget_tokens or max_minutes may hold instead"
        )
    ]
    assert run.warnings[["case", "turn"]].values.tolist()[0] == ["c0", 1]
    assert run.result.stop_reason == (
        "budget_usd of $1 is reached after 7 turns: cost so far at least $1.0000 (unknown for 3 of 7 turns)"
    )


USAGES = [None, hd.TokenUsage(5), hd.TokenUsage(5, 5, complete=False)]


@pytest.mark.parametrize("usage", USAGES)
def test_unknown_usage_is_told_too(suite, usage):
    run = suite.run(agent=lambda text: hd.Reply("x", usage=usage), quiet=True, budget_tokens=1000)
    assert texts(run) == [
        (
            "budget_tokens cannot be kept for turns of unknown usage: only what is known is in the sum."
            " max_minutes may hold instead"
        )
    ]


def test_a_turn_that_broke_off_has_cost_something_unknown(suite):
    def agent(text):
        raise RuntimeError

    assert len(texts(suite.run(agent=agent, quiet=True, budget_usd=1))) == 1


def test_a_run_that_stopped_can_be_resumed_with_a_new_budget(suite, tmp_path):
    agent = costing()
    first = suite.run(agent=agent, quiet=True, budget_usd=1, journal=tmp_path)
    second = suite.run(agent=agent, quiet=True, budget_usd=1, journal=tmp_path, resume="latest")
    third = suite.run(agent=agent, quiet=True, budget_usd=1, journal=tmp_path, resume="latest")
    skipped = [run.summary.turns_skipped for run in (first, second, third)]
    assert skipped == [5, 2, 0]  # c0 is kept, then c1: what was kept costs nothing again
    assert third.summary.cost_usd == pytest.approx(9 * 0.25)


def test_what_is_known_in_part():
    spending = Spending(Budget(tokens=5))
    spending.add(TurnResult(0, "q", response="x", usage=hd.TokenUsage(3, 3)))
    spending.add(TurnResult(1, "q", response="x"))
    assert (
        spending.reached()
        == "budget_tokens of 5 is reached after 2 turns: at least 6 tokens, cost so far unknown"
    )
