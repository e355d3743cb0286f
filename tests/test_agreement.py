"""How good a judge is: against itself, and against labels by people."""

import itertools
from statistics import NormalDist

import judges
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judges import Judge, score

import holodeck_nb as hd
from holodeck_nb.results.agreement import Share, cohens_kappa, wilson
from holodeck_nb.views.progress import Progress

GEVAL = {
    "type": "geval",
    "name": "clarity",
    "criteria": "clear",
    "evaluation_steps": ["read"],
    "threshold": 0.5,
}
CASES = [{"name": name, "input": name} for name in ("steady", "flips")]


def pairs(both, first, second, neither):
    return (
        [(True, True)] * both
        + [(True, False)] * first
        + [(False, True)] * second
        + [(False, False)] * neither
    )


KAPPAS = [
    # By hand: observed p, expected e, kappa (p - e) / (1 - e).
    (pairs(20, 5, 10, 15),  0.4),                # p 0.7, e 0.5 (a much used example)
    (pairs(10, 0, 0, 10),   1.0),
    (pairs(0, 10, 10, 0),   -1.0),
    (pairs(5, 5, 5, 5),     0.0),
    (pairs(45, 15, 25, 15), 0.13043478260869565),  # p 0.6, e 0.54
    (pairs(9, 1, 0, 0),     0.0),                # one side never says no
    (pairs(10, 0, 0, 0),    None),               # chance would agree as well
    ([],                    None),
]  # fmt: skip


@pytest.mark.parametrize(("said", "kappa"), KAPPAS)
def test_kappa_against_hand_worked_tables(said, kappa):
    assert cohens_kappa(said) == (None if kappa is None else pytest.approx(kappa))


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    # Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3 (Wilson).
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_against_published_intervals(hits, n, low, high):
    assert wilson(hits, n) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_end_of_an_interval_is_a_share_that_the_count_just_does_not_reject(counts):
    """What Wilson's formula solves: |hits / n - end| is z standard errors of a share that is the end."""
    hits, n = counts
    z = NormalDist().inv_cdf(0.975)
    for end in wilson(hits, n):
        if 1e-9 < end < 1 - 1e-9:
            assert abs(hits / n - end) == pytest.approx(z * (end * (1 - end) / n) ** 0.5)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_share(counts):
    low, high = wilson(*counts)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1


def test_a_share_of_nothing_is_nothing():
    assert (Share(0, 0).value, Share(0, 0).interval, str(Share(0, 0))) == (None, None, "none")
    assert str(Share(9, 10)) == "0.90 (0.60 to 0.98, 9 of 10)"


@pytest.fixture
def run():
    """Scores 0.9, 0.8, 0.2, 0.6, an error; threshold 0.5."""
    scores = {"a": 0.9, "b": 0.8, "c": 0.2, "d": 0.6, "e": 7}
    suite = hd.Suite(
        name="s",
        evaluations=[{"grader": lambda ctx: scores[ctx.turn_input], "name": "kind", "threshold": 0.5}],
        test_cases=[{"name": name, "input": name} for name in scores],
    )
    return suite.run(agent=str, quiet=True)


def test_a_metric_against_labels(run):
    found = run.agreement("kind", [True, False, True, False, True])
    assert (found.n, found.unlabelled, found.unmeasured) == (4, 0, 1)
    assert (str(found.sensitivity), str(found.specificity)) == (
        "0.50 (0.09 to 0.91, 1 of 2)", "0.00 (0.00 to 0.66, 0 of 2)",
    )  # fmt: skip
    assert found.kappa == -0.5  # p 1/4, e (2*3 + 2*1)/16 = 1/2
    worst = found.disagreements
    assert worst["case"].tolist() == ["b", "c", "d"]  # 0.8 from no, 0.8 from yes, 0.6 from no
    assert worst["distance"].round(3).tolist() == [0.8, 0.8, 0.6]
    assert worst["label"].tolist() == [False, True, False]
    assert repr(found) == (
        "<Agreement of 'kind' with labels: cohen's kappa -0.50, sensitivity 0.50 (0.09 to 0.91, 1 of 2), "
        "specificity 0.00 (0.00 to 0.66, 0 of 2), agreed 0.25 (0.05 to 0.70, 1 of 4), n 4>"
    )
    assert "1 without a verdict" in found._repr_html_()


def test_labels_as_a_frame_with_empty_cells(run):
    frame = run.turns[["case", "turn"]].assign(human=["yes", "No", 1, pd.NA, None])
    found = run.agreement("kind", frame, column="human")
    assert (found.n, found.unlabelled, found.unmeasured) == (3, 1, 0)
    assert [turn.label for turn in found.turns] == [True, False, True]
    series = pd.Series([True, False, True, None, None])
    assert run.agreement("kind", series).turns == found.turns


def test_another_threshold(run):
    found = run.agreement("kind", [True, False, False, False, None], threshold=0.85)
    assert found.kappa == 1.0
    assert found.disagreements.empty


BAD = [
    (("kind", [True]),                       "1 labels for 5 turns"),
    (("kind", ["maybe", 1, 1, 1, 1]),        "case 'a', turn 0: 'maybe' is no label"),
    (("kind", pd.DataFrame({"case": ["a"]})), "the labels have no column 'label'"),
    (("kind", pd.DataFrame({"case": ["z"], "label": [1]})), "case 'z', turn 0: the run has no such turn"),
    (("kind", pd.DataFrame({"case": ["a", "a"], "label": [1, 0]})), "it is labelled true and false"),
    (("kidn", [1, 1, 1, 1, 1]),              "the run has no metric 'kidn'"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), BAD, ids=range(len(BAD)))
def test_labels_that_do_not_go_with_the_run(run, given, said):
    with pytest.raises(hd.ConfigError) as refused:
        run.agreement(*given)
    assert said in str(refused.value)


def test_a_metric_without_verdicts_needs_a_threshold():
    suite = hd.Suite(
        name="s", evaluations=[{"grader": lambda ctx: 0.7, "name": "k"}], test_cases=[{"input": "?"}]
    )
    run = suite.run(agent=str, quiet=True)
    with pytest.raises(hd.ConfigError, match="gives scores and no verdicts"):
        run.agreement("k", [True])
    assert run.agreement("k", [True], threshold=0.5).agreed.value == 1


def flipping():
    """Steady on one case; on the other one 3 and 8 in turn."""
    numbers = itertools.cycle([3, 8])

    def answer(body):
        return score(9 if judges.shown(body, "actual_output") == "steady" else next(numbers))

    return answer


def test_a_judge_that_flips_its_verdict_is_reported(tmp_path):
    with Judge(flipping()) as judge:
        run = judge.run(
            GEVAL, cases=CASES, reply=lambda text: text, cache_enabled=True, cache_dir=str(tmp_path)
        )
        asked = len(judge.requests)
        found = run.judge_repeatability("clarity", n=4)
        assert len(judge.requests) - asked == 8  # no answer that is kept is used
    frame = found.frame
    assert frame["case"].tolist() == ["steady", "flips"]
    assert frame["flipped"].tolist() == [False, True]
    assert frame["mean"].tolist() == [pytest.approx(0.9), pytest.approx(0.55)]
    assert frame["spread"].tolist() == [0.0, 0.5]
    assert frame["agreement"].tolist() == [1.0, pytest.approx(2 / 6)]  # 2 of the 6 pairs say the same
    assert [turn.case for turn in found.flipped] == ["flips"]
    assert (found.unanimous.hits, found.unanimous.n, found.agreement) == (1, 2, pytest.approx(2 / 3))
    assert (found.judging.requests, found.judging.usage.total_tokens) == (8, 880)
    assert found.noise == pytest.approx((0.25 / 3 / 2) ** 0.5)  # variances 0 and 4 * 0.25**2 / 3
    assert repr(found) == (
        "<Repeatability of 'clarity': same verdict 0.50 (0.09 to 0.91, 1 of 2), pairs that agree 0.67, "
        "noise of a score 0.204, asked 2 turns 4 times, judge openai:judge-1>"
    )
    assert "the judge flipped its verdict on 1 of 2 turns" in found._repr_html_()


def test_a_judgement_that_fails_is_counted_and_in_no_mean():
    answers = iter([score(8), score(8), "no", "no", score(8)])
    with Judge(lambda body: next(answers)) as judge:
        run = judge.run(GEVAL)
        found = run.judge_repeatability("clarity", n=3)
    assert found.turns[0].scores == (0.8, None, 0.8)
    assert (found.unmeasured, found.unanimous.hits) == (1, 1)
    assert found.frame["judged"].tolist() == [2]


def test_weighted_scores_agree_where_the_stated_ones_do():
    weights = iter([{"7": 0.60, "8": 0.4}, {"7": 0.61, "8": 0.39}, {"7": 0.62, "8": 0.38}])
    with Judge(lambda body: judges.probable('{"reason": "", "score": ', next(weights), "}")) as judge:
        run = hd.Suite(name="s", test_cases=CASES[:1]).run(agent=str, quiet=True)
        found = run.judge_repeatability({**GEVAL, "threshold": None}, n=3, judge=judge.model)
    assert found.turns[0].agreement == 1.0
    assert found.noise > 0


def test_a_threshold_makes_no_pass_of_a_metrics_own_no():
    def no(context):
        return hd.GraderResult(score=0.8, passed=False)

    run = hd.Suite(name="s", evaluations=[no], test_cases=CASES[:1]).run(agent=str, quiet=True)
    assert run.agreement("no", [True], threshold=0.5).agreed.value == 0


class TestARepetitionIsKept:
    @pytest.fixture
    def judged(self, tmp_path):
        """A judge of two turns, and what it was asked of each one so far."""
        with Judge(flipping()) as judge:
            run = judge.run(GEVAL, cases=CASES, reply=lambda text: text, journal=tmp_path)
            judge.server.requests.clear()
            yield judge, run

    def test_its_answers_are_repeats_of_a_scoring(self, judged, tmp_path):
        _, run = judged
        found = run.judge_repeatability("clarity", n=3)
        kept = hd.Run.load(hd.runs(tmp_path)["run"].iloc[-1])
        assert kept.metrics["score"].tolist() == [score for turn in found.turns for score in turn.scores]
        assert kept.turns["repeat"].tolist() == [0, 1, 2, 0, 1, 2]
        assert hd.last_run() is run

    def test_it_is_gone_on_with_where_it_broke_off(self, judged, tmp_path):
        judge, run = judged
        first = run.judge_repeatability("clarity", n=3)
        journal = hd.Run.load(hd.runs(tmp_path)["run"].iloc[-1]).journal
        lines = journal.read_bytes().splitlines(keepends=True)
        turns = [place for place, line in enumerate(lines) if b'"kind":"turn"' in line]
        journal.write_bytes(b"".join(lines[: turns[4]]))
        judge.server.requests.clear()
        again = run.judge_repeatability("clarity", n=3, resume="latest")
        assert len(judge.requests) == 2
        assert [turn.scores[:2] for turn in again.turns] == [turn.scores[:2] for turn in first.turns]

    def test_more_of_it_asks_only_for_more(self, judged):
        judge, run = judged
        run.judge_repeatability("clarity", n=2)
        judge.server.requests.clear()
        more = run.judge_repeatability("clarity", n=4, resume="latest")
        assert [len(turn.scores) for turn in more.turns] == [4, 4]
        assert len(judge.requests) == 4

    def test_another_metric_is_asked_from_the_beginning(self, judged):
        judge, run = judged
        run.judge_repeatability("clarity", n=2)
        judge.server.requests.clear()
        run.judge_repeatability(
            {**GEVAL, "evaluation_steps": ["other"]}, n=2, judge=judge.model, resume="latest"
        )
        assert len(judge.requests) == 4

    def test_it_is_no_scoring_to_go_on_with(self, judged):
        _, run = judged
        run.judge_repeatability("clarity", n=2)
        with pytest.raises(hd.ConfigError, match="there is no earlier scoring"):
            run.rescore([GEVAL], resume="latest")
        with pytest.raises(hd.ConfigError, match="judge_repeatability has no argument 'only'"):
            run.judge_repeatability("clarity", n=2, only="a")

    def test_repeats_of_the_run_are_judged_apart(self):
        replies = iter(["first", "second"])
        by_reply = {"first": score(9), "second": score(2)}
        with Judge(lambda body: by_reply[judges.shown(body, "actual_output")]) as judge:
            run = judge.run(GEVAL, reply=lambda text: next(replies), repeats=2)
            found = run.judge_repeatability("clarity", n=3)
        assert [(turn.repeat, turn.scores) for turn in found.turns] == [(0, (0.9,) * 3), (1, (0.2,) * 3)]

    def test_repeats_that_ended_apart_are_read_as_they_were(self, tmp_path):
        replies = iter(["first", "second", "third", RuntimeError("down")])

        def moody(text):
            reply = next(replies)
            if isinstance(reply, Exception):
                raise reply
            return reply

        cases = [{"name": "m", "turns": [{"input": "a"}, {"input": "b"}]}]
        with Judge(score(9)) as judge:
            run = judge.run(GEVAL, cases=cases, reply=moody, repeats=2, journal=tmp_path)
            run.judge_repeatability("clarity", n=2)
            kept = hd.Run.load(hd.runs(tmp_path)["run"].iloc[-1])
            assert kept.turns["response"].tolist() == ["first", "second"] * 2 + ["third"] * 2
            judge.server.requests.clear()
            run.judge_repeatability("clarity", n=2, resume="latest")
            assert judge.requests == []

    def test_an_interrupt_keeps_what_was_judged(self, judged, monkeypatch):
        judge, run = judged
        answered, pressed = judge.server.requests, []

        def interrupted(self):
            if len(answered) > 2 and not pressed:
                pressed.append(True)
                raise KeyboardInterrupt
            return paint(self)

        paint = Progress.paint
        monkeypatch.setattr(Progress, "paint", interrupted)
        monkeypatch.setattr("holodeck_nb.sync._TICK_S", 0.001)
        with pytest.raises(KeyboardInterrupt, match="turns are kept"):
            run.judge_repeatability("clarity", n=50, quiet=False)
        kept = hd.last_run().metrics
        assert 0 < len(kept) < 100
        answered.clear()
        monkeypatch.setattr(Progress, "paint", paint)
        run.judge_repeatability("clarity", n=50, resume="latest")
        assert len(answered) <= 100 - len(kept)


def test_a_metric_of_its_own_is_asked_on_every_turn_that_was_played():
    suite = hd.Suite(name="s", test_cases=CASES)
    run = suite.run(agent=str, quiet=True)
    with Judge(flipping()) as judge:
        found = run.judge_repeatability({**GEVAL, "threshold": None}, n=2, judge=judge.model)
    assert [turn.flipped for turn in found.turns] == [None, None]  # scores and no verdicts
    assert [turn.agreement for turn in found.turns] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("clarity", 1), "expected `n` of at least 2, got 1"),
        (("clarity", "3"), "expected `n` of at least 2, got '3'"),
        (({**GEVAL, "enabled": False}, 2), "the metric is disabled"),
        (("clarit", 2), "'clarit' is no metric of the suite that a model judges"),
        (("equality", 2), "'equality' is no metric of the suite that a model judges"),
        (({"type": "equality"}, 2), "'equality' is judged by no model"),
    ],
)
def test_what_cannot_be_asked_again(given, said):
    with Judge(score(5)) as judge:
        run = judge.run(GEVAL, {"type": "equality"})
        with pytest.raises(hd.ConfigError) as refused:
            run.judge_repeatability(*given)
    assert said in str(refused.value)


def test_a_run_that_was_read_needs_the_metric_itself(run, tmp_path):
    read = hd.Run.from_json(run.to_json(tmp_path / "report.json"))
    with pytest.raises(hd.ConfigError, match="this run was read, and does not know its suite"):
        read.judge_repeatability("kind", 2)
