"""Scoring again: new metrics and thresholds over recorded replies, old and new verdicts side by side."""

import json

import pandas as pd
import pytest

import holodeck_nb as hd
from holodeck_nb.engine.scoring import rejudged
from holodeck_nb.results.records import MetricResult

CASES = [
    {"name": "a", "turns": [{"input": "1", "ground_truth": "1"}, {"input": "2 is it", "ground_truth": "2"}]},
    {"name": "b", "input": "down", "ground_truth": "x"},
    {"name": "c", "input": "nothing asserted"},
]
calls = []


def agent(text):
    calls.append(text)
    if text == "down":
        raise RuntimeError("down")
    return text


def half(context):
    """A grader with a verdict of its own on the case c."""
    if context.test_case_name == "c":
        return hd.GraderResult(score=0.6, passed=False, reason="too long")
    return hd.GraderResult(score=0.5, reason="so so")


@pytest.fixture(params=["played", "journal", "json"])
def run(request, tmp_path):
    """The same run as it was played, from its journal, and from its report."""
    suite = hd.Suite(name="s", test_cases=CASES, evaluations=[{"type": "numeric"}])
    played = suite.run(agent=agent, quiet=True, journal=tmp_path)
    calls.clear()
    match request.param:
        case "journal":
            return hd.Run.load(played.journal)
        case "json":
            return hd.Run.from_json(played.to_json(tmp_path / "report.json"))
    return played


def verdicts(run):
    frame = run.metrics
    return [tuple(row) for row in frame[["case", "turn", "metric", "status"]].itertuples(index=False)]


def test_new_metrics_over_recorded_replies_call_no_agent(run):
    again = run.rescore([{"type": "equality"}, half])
    assert calls == []
    assert verdicts(again) == [
        ("a", 0, "equality", "passed"),
        ("a", 0, "half", "scored"),
        ("a", 1, "equality", "failed"),
        ("a", 1, "half", "scored"),
        ("c", 0, "equality", "not_applicable"),
        ("c", 0, "half", "failed"),
    ]
    assert again.turns["status"].tolist() == ["passed", "failed", "error", "failed"]
    assert run.turns["status"].tolist() == ["passed", "passed", "error", "passed"]  # a run never changes
    assert again.turns["response"].equals(run.turns["response"])


def test_the_changes_are_old_and_new_side_by_side(run):
    changes = run.rescore(["numeric", half]).changes
    turn = changes[changes["metric"].isna()]
    assert turn[["case", "turn", "status_before", "status_after", "reason_after"]].to_numpy().tolist() == [
        ["c", 0, "passed", "failed", "half: too long (score 0.60)"]
    ]
    metric = changes[changes["metric"] == "half"]
    assert metric["status_before"].isna().all()
    assert metric["score_after"].tolist() == [0.5, 0.5, 0.6]
    assert "numeric" not in set(changes["metric"].dropna())


def test_a_bare_id_keeps_what_was_recorded(run):
    again = run.rescore(["numeric"])
    assert again.changes.empty
    # A report tells nothing of metrics that did not apply.
    assert verdicts(again) == verdicts(run)


def test_a_run_that_was_not_scored_again_has_no_changes(run):
    assert run.changes.empty
    assert list(run.changes.columns) == list(run.compare(run).columns)


def test_compare_has_every_verdict_of_both(run):
    frame = run.compare(run.rescore([half]))
    assert frame["changed"].sum() == len(frame) - 3  # the turns a0, a1 and b are as they were
    assert set(frame["metric"].dropna()) == {"numeric", "half"}


def test_what_was_measured_in_the_same_way_is_not_measured_again(tmp_path, monkeypatch):
    from holodeck_nb.metrics.equality import Equality

    async def refusing(self, context):
        raise AssertionError("measured again")

    suite = hd.Suite(name="s", test_cases=CASES, evaluations=[{"type": "equality"}])
    for run in (
        played := suite.run(agent=agent, quiet=True, journal=tmp_path),
        hd.Run.load(played.journal),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(Equality, "measure", refusing)
            assert run.rescore([{"type": "equality", "threshold": 0.5}]).changes["metric"].notna().all()
            different = run.rescore([{"type": "equality", "case_insensitive": True}])
            assert set(different.metrics["status"]) == {"error", "not_applicable"}


def test_what_was_in_error_is_measured_again():
    moods = iter(["raise", "raise", "raise", 1.0, 1.0, 1.0])

    def moody(context):
        mood = next(moods)
        if mood == "raise":
            raise RuntimeError
        return mood

    run = hd.Suite(name="s", test_cases=CASES, evaluations=[moody]).run(agent=agent, quiet=True)
    assert set(run.metrics["status"]) == {"error"}
    assert set(run.rescore([moody]).metrics["status"]) == {"scored"}


def test_graders_of_the_suites_folder(tmp_path):
    (tmp_path / "graders.py").write_text("def always(context):\n    return 1.0\n")
    (tmp_path / "agent.yaml").write_text("name: s\ntest_cases: [{input: q}]\n")
    run = hd.Suite.from_yaml(tmp_path / "agent.yaml").run(agent=agent, quiet=True)
    again = run.rescore([{"grader": "graders:always", "threshold": 0.5}])
    assert again.metrics["passed"].tolist() == [True]
    with pytest.raises(hd.ConfigError, match="graders"):
        run.rescore([{"grader": "graders:always"}], folder=tmp_path / "elsewhere")


def test_in_parallel_and_in_order():
    async def slow(context):
        import asyncio

        await asyncio.sleep(0.01 if context.test_case_name == "a" else 0)
        return 1.0

    run = hd.Suite(name="s", test_cases=CASES).run(agent=agent, quiet=True)
    again = run.rescore([slow, {"type": "equality"}], parallel=3)
    assert again.metrics["metric"].tolist() == ["slow", "equality"] * 3


def test_an_interrupt_comes_through():
    def interrupting(context):
        raise KeyboardInterrupt

    run = hd.Suite(name="s", test_cases=CASES).run(agent=agent, quiet=True)
    with pytest.raises(KeyboardInterrupt):
        run.rescore([interrupting])


REFUSED = [
    ("numeric", "expected a list of metrics, got str"),
    (["rouge-1"], "'rouge-1' is a bare name"),
    ([{"type": "nonsense"}], "'nonsense' is not a kind of metric"),
    (["numeric", {"type": "numeric"}], "two metrics are called 'numeric'"),
]


@pytest.mark.parametrize(("metrics", "message"), REFUSED)
def test_what_is_refused_before_anything_is_measured(run, metrics, message):
    with pytest.raises(hd.ConfigError) as caught:
        run.rescore(metrics)
    assert message in str(caught.value)


def test_disabled_metrics_are_left_out(run):
    again = run.rescore([{"type": "equality", "enabled": False}, half, "numeric"])
    assert list(dict.fromkeys(again.metrics["metric"])) == ["half", "numeric"]


class TestThresholds:
    @pytest.fixture(params=["played", "json"])
    def run(self, request, tmp_path):
        suite = hd.Suite(
            name="s", test_cases=CASES, evaluations=[{"type": "code", "grader": half, "threshold": 0.55}]
        )
        played = suite.run(agent=agent, quiet=True)
        if request.param == "json":
            return hd.Run.from_json(played.to_json(tmp_path / "r.json"))
        return played

    def test_they_change_verdicts_and_reasons_and_nothing_else(self, run):
        assert run.metrics["reason"].tolist() == [
            "score 0.50 is below the threshold 0.55: so so",
            "score 0.50 is below the threshold 0.55: so so",
            "too long (score 0.60, threshold 0.55)",
        ]
        lower = run.with_thresholds({"half": 0.5})
        assert lower.metrics["passed"].tolist() == [True, True, False]  # c: its own verdict is no
        assert lower.metrics["threshold"].tolist() == [0.5, 0.5, 0.5]
        assert lower.metrics["reason"].tolist() == ["so so", "so so", "too long (score 0.60, threshold 0.50)"]
        assert lower.metrics["score"].tolist() == run.metrics["score"].tolist()
        assert lower.turns["status"].tolist() == ["passed", "passed", "error", "failed"]
        assert lower.changes["threshold_before"].dropna().tolist() == [0.55] * 3

    def test_and_back_again(self, run):
        back = run.with_thresholds({"half": 0.5}).with_thresholds({"half": 0.55})
        assert run.compare(back)["changed"].sum() == 0
        assert json.loads(back.to_json())["results"] == json.loads(run.to_json())["results"]

    def test_none_takes_the_threshold_away(self, run):
        assert run.with_thresholds({"half": None}).metrics["status"].tolist() == [
            "scored",
            "scored",
            "failed",
        ]

    def test_what_is_refused(self, run):
        with pytest.raises(hd.ConfigError) as caught:
            run.with_thresholds({"nobody": 0.5, "half": 3})
        assert str(caught.value) == (
            "2 problems\n"
            "with_thresholds(…): the run has no metric 'nobody'\n"
            "    hint: there are half\n"
            "with_thresholds('half': …): expected a threshold from 0 to 1, got 3"
        )

    def test_a_run_without_metrics(self):
        with pytest.raises(hd.ConfigError, match="no metric was recorded"):
            hd.Suite(name="s", test_cases=CASES).run(agent=agent, quiet=True).with_thresholds({"x": 1})


JUDGED = [
    #  status    score  old   verdict  new    becomes
    ("passed",   0.8,   0.5,  None,    0.9,   "failed"),
    ("passed",   0.8,   0.5,  None,    0.8,   "passed"),
    ("passed",   1.0,   None, None,    0.5,   "passed"),
    ("passed",   0.3,   None, None,    None,  "passed"),
    ("passed",   0.9,   0.5,  None,    None,  "scored"),
    ("passed",   0.9,   0.5,  True,    None,  "passed"),
    ("failed",   0.3,   0.5,  None,    0.2,   "passed"),
    ("failed",   0.3,   0.5,  False,   0.2,   "failed"),
    ("failed",   0.0,   0.5,  None,    0.0,   "failed"),   # a score of 0 never passes by a threshold alone
    ("failed",   0.6,   0.5,  None,    0.2,   "failed"),   # the threshold does not explain it: its own no
    ("scored",   0.6,   None, None,    0.5,   "passed"),
    ("error",    None,  0.5,  None,    0.1,   "error"),
    ("not_applicable", None, 0.5, None, 0.1,  "not_applicable"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "score", "old", "verdict", "new", "becomes"), JUDGED)
def test_one_measurement_under_another_threshold(status, score, old, verdict, new, becomes):
    metric = MetricResult("m", "code", status, score, old, verdict=verdict)
    assert rejudged(metric, new).status == becomes


def test_the_frames_of_changes_keep_their_types(run):
    frame = run.rescore([half]).changes
    assert str(frame["score_after"].dtype) == "Float64"
    assert frame["metric"].dtype == pd.StringDtype()
