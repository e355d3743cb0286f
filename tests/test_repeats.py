"""Cases played several times: the repeat in every key, pass@k and pass^k, variance within and between."""

import itertools
import json
import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holodeck_nb as hd
from holodeck_nb.results.repeats import pass_all_k, pass_at_k, pass_estimates, spreads
from holodeck_nb.results.rollup import CaseResult

CASES = [
    {"name": "always", "turns": [{"input": "x", "ground_truth": "x"}, {"input": "y", "ground_truth": "y"}]},
    {"name": "half", "input": "h", "ground_truth": "h"},
    {"name": "never", "input": "n", "ground_truth": "0"},
]


class Moody:
    """Answers `h` right every second time."""

    def __init__(self):
        self.asked = []

    async def __call__(self, text):
        self.asked.append(text)
        return "no" if text == "h" and self.asked.count("h") % 2 else text


@pytest.fixture
def suite():
    return hd.Suite(name="s", test_cases=CASES, evaluations=[{"type": "equality"}])


@pytest.fixture
def run(suite):
    return suite.run(agent=Moody(), quiet=True, repeats=4)


def test_the_repeat_is_part_of_every_key(run):
    expected = [(name, repeat) for name in ("always", "half", "never") for repeat in range(4)]
    assert [tuple(row) for row in run.cases[["case", "repeat"]].itertuples(index=False)] == expected
    for frame in (run.turns, run.metrics):
        keys = frame[["case", "turn", "repeat"]]
        assert len(keys.drop_duplicates()) == len(keys) == 16


def test_every_case_is_played_once_before_any_is_repeated(suite):
    agent = Moody()
    suite.run(agent=agent, quiet=True, repeats=2)
    assert agent.asked == ["x", "y", "h", "n"] * 2


def test_sessions_know_their_repeat():
    seen = []

    class Backend:
        async def create_session(self, context):
            seen.append((context.case, context.repeat))
            return self

        async def send(self, message):
            return hd.Reply("x")

        async def close(self):
            pass

    hd.Suite(name="s", test_cases=[{"name": "a", "input": "q"}]).run(backend=Backend(), quiet=True, repeats=3)
    assert seen == [("a", 0), ("a", 1), ("a", 2)]


def test_in_the_report_each_is_a_result_of_its_own(run, tmp_path):
    report = json.loads(run.to_json())
    assert [result["test_name"] for result in report["results"]] == ["always"] * 4 + ["half"] * 4 + [
        "never"
    ] * 4
    assert report["summary"]["total_tests"] == 12
    again = hd.Run.from_json(run.to_json(tmp_path / "r.json"))
    assert again.cases["case"].tolist()[:2] == ["always", "always #2"]


def test_a_script_is_said_again_for_each_repeat():
    suite = hd.Suite(name="s", test_cases=CASES[:1])
    backend = hd.ScriptedBackend({"always": ["1", "2"]})
    run = suite.run(backend=backend, quiet=True, repeats=3)
    assert run.turns["response"].tolist() == ["1", "2"] * 3
    assert backend.sent == {"always": ["x", "y"]}  # of the latest session


def test_the_journal_keeps_repeats_apart(suite, tmp_path):
    run = suite.run(agent=Moody(), quiet=True, repeats=3, journal=tmp_path)
    assert hd.Run.load(run.journal).result == run.result


def test_more_repeats_are_added_on_resuming_and_the_others_kept(suite, tmp_path):
    suite.run(agent=Moody(), quiet=True, repeats=2, journal=tmp_path)
    again = Moody()
    run = suite.run(agent=again, quiet=True, repeats=3, journal=tmp_path, resume="latest")
    assert again.asked == ["x", "y", "h", "n"]
    assert run.cases["repeat"].tolist() == [0, 1, 2] * 3
    fewer = suite.run(agent=again, quiet=True, journal=tmp_path, resume="latest")
    assert (len(again.asked), fewer.cases["repeat"].tolist()) == (4, [0, 0, 0])


def test_pass_at_k_and_pass_all_k_in_the_summary(run):
    by_k = {estimate.k: estimate for estimate in run.summary.pass_at}
    assert list(by_k) == [1, 2, 3, 4]
    # half: 2 of 4. At least one of two: 1 - C(2,2)/C(4,2) = 5/6; both of two: C(2,2)/C(4,2) = 1/6.
    assert by_k[2].at_least_one == pytest.approx((1 + 5 / 6 + 0) / 3)
    assert by_k[2].all == pytest.approx((1 + 1 / 6 + 0) / 3)
    assert (by_k[1].at_least_one, by_k[1].all) == (pytest.approx(0.5), pytest.approx(0.5))
    assert (by_k[4].at_least_one, by_k[4].all, by_k[4].n) == (pytest.approx(2 / 3), pytest.approx(1 / 3), 3)


def test_the_card_tells_them(run):
    assert "pass@4 66.7 %, pass^4 33.3 % over 3 cases" in run._repr_html_()


def test_variance_within_and_between(run):
    spread = run.summary.spread["passed"]
    within = statistics.mean([0, statistics.variance([0, 1, 0, 1]), 0])
    between = statistics.variance([1, 0.5, 0]) - within / 4
    assert spread.mean == pytest.approx(0.5)
    assert spread.within == pytest.approx(within)
    assert spread.between == pytest.approx(between)
    assert spread.n == 3
    assert set(run.summary.spread) == {"passed", "equality"}


def test_one_row_a_case_in_run_repeats(run):
    frame = run.repeats
    assert list(frame.columns) == [
        "case", "repeats", "repeats_passed", "pass_rate", "pass@1", "pass^1", "pass@2", "pass^2", "pass@4",
        "pass^4", "equality", "equality_sd",
    ]  # fmt: skip
    half = frame.set_index("case").loc["half"]
    assert half[["repeats", "repeats_passed", "pass_rate", "pass@4", "pass^4", "equality"]].tolist() == [
        4, 2, 0.5, 1.0, 0.0, 0.5,
    ]  # fmt: skip
    assert half["pass@2"] == pytest.approx(5 / 6)
    assert half["equality_sd"] == pytest.approx(statistics.stdev([0, 1, 0, 1]))


def test_without_repeats_there_is_nothing_to_estimate(suite):
    run = suite.run(agent=Moody(), quiet=True)
    assert (run.summary.pass_at, dict(run.summary.spread)) == ((), {})
    assert run.repeats["repeats"].tolist() == [1, 1, 1]
    assert run.repeats["equality_sd"].isna().all()


def test_repeats_that_were_skipped_count_nowhere(suite):
    class Costly(Moody):
        async def __call__(self, text):
            return hd.Reply(await super().__call__(text), usage=hd.TokenUsage(5, 5))

    # 4 turns a round: the budget ends the run behind the first case of the second round.
    run = suite.run(agent=Costly(), quiet=True, repeats=3, budget_tokens=60)
    assert run.repeats["repeats"].tolist() == [2, 1, 1]
    assert run.repeats["pass@2"].isna().tolist() == [False, True, True]
    assert [(e.k, e.n) for e in run.summary.pass_at] == [(1, 3), (2, 1)]
    assert run.summary.spread["passed"].n == 1
    assert run.summary.spread["passed"].between is None


def test_an_empty_run_has_an_empty_frame():
    assert len(hd.Suite(name="s", test_cases=[]).run(agent=str.upper, quiet=True).repeats) == 0


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_the_estimates_are_what_drawing_k_of_the_playings_gives(drawn):
    """Unbiased by construction: the share of all subsets of k in which at least one (all) passed."""
    played, passed, k = drawn
    outcomes = [True] * passed + [False] * (played - passed)
    subsets = list(itertools.combinations(outcomes, k))
    assert pass_at_k(played, passed, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))
    assert pass_all_k(played, passed, k) == pytest.approx(sum(map(all, subsets)) / len(subsets))


def test_large_numbers_stay_exact():
    assert pass_at_k(1000, 1, 500) == pytest.approx(0.5)
    assert pass_all_k(1000, 999, 500) == pytest.approx(0.5)
    assert math.isfinite(pass_at_k(10_000, 5_000, 5_000))


def test_no_cases_no_estimates():
    assert pass_estimates([]) == ()
    assert dict(spreads([CaseResult("a", 0, ())])) == {}
