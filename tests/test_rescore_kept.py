"""Scoring again goes like a run: shown, kept turn by turn, interrupted, gone on with."""

import json

import pytest

import holodeck_nb as hd
from holodeck_nb.loading.execution import Execution
from holodeck_nb.scoring_again import execution_of

CASES = [
    {"name": "a", "turns": [{"input": "1"}, {"input": "2"}]},
    {"name": "b", "input": "down"},
    {"name": "c", "input": "3"},
]


def agent(text):
    if text == "down":
        raise RuntimeError("down")
    return text


class Grader:
    """Counts what it is asked, and does on one of its calls what it is told to."""

    def __init__(self, on=None, deed=None):
        self.asked = []
        self.on, self.deed = on, deed
        self.__name__ = "grader"

    def __call__(self, context):
        self.asked.append((context.test_case_name, context.turn_index))
        if len(self.asked) == self.on:
            raise self.deed
        return 0.5


@pytest.fixture
def suite():
    return hd.Suite(name="s", test_cases=CASES)


@pytest.fixture
def run(suite, tmp_path):
    return suite.run(agent=agent, quiet=True, journal=tmp_path / "runs")


def scores(run):
    frame = run.metrics
    return [tuple(row) for row in frame[["case", "turn", "score"]].itertuples(index=False)]


ALL = [("a", 0, 0.5), ("a", 1, 0.5), ("c", 0, 0.5)]


def test_it_is_kept_beside_the_run_and_loads_with_its_changes(run):
    again = run.rescore([Grader()])
    assert again.journal.parent.parent == run.journal.parent.parent
    loaded = hd.Run.load(again.id)
    assert scores(loaded) == scores(again) == ALL
    assert loaded.changes.equals(again.changes)
    assert loaded.turns.equals(again.turns)
    assert hd.last_run() is again


def test_a_list_of_runs_says_what_has_scored_what(run, tmp_path):
    again = run.rescore([Grader()])
    listed = hd.runs(tmp_path / "runs").set_index("run")
    assert listed.loc[again.id, "rescored_from"] == run.id
    assert listed["rescored_from"].isna().tolist() == [True, False]
    assert listed["state"].tolist() == ["complete", "complete"]


def test_it_is_dated_as_it_was_played(run):
    again = run.rescore([Grader()])
    assert again.result.started_at == run.result.started_at
    assert again.result.duration_ms == run.result.duration_ms
    assert again.result.cases[0].finished_at == run.result.cases[0].finished_at


def test_a_warning_that_nothing_is_asserted_goes_with_the_first_verdict(run):
    assert "nothing is asserted" in run.warnings["text"].iloc[-1]
    assert run.rescore([{"type": "code", "grader": Grader(), "threshold": 0.5}]).warnings.empty


def test_a_run_without_a_journal_is_scored_without_one(suite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = suite.run(agent=agent, quiet=True, journal=False)
    assert run.rescore([Grader()]).journal is None
    assert run.rescore([Grader()], journal=True).journal.is_relative_to(tmp_path / ".holodeck" / "runs")
    assert run.rescore([Grader()], journal=tmp_path / "e").journal.is_relative_to(tmp_path / "e")


def test_a_journal_can_be_declined(run, tmp_path):
    assert run.rescore([Grader()], journal=False).journal is None
    assert len(hd.runs(tmp_path / "runs")) == 1


def test_a_report_is_scored_and_its_scoring_kept(run, tmp_path):
    read = hd.Run.from_json(run.to_json(tmp_path / "report.json"))
    again = read.rescore([Grader()], journal=tmp_path / "kept")
    assert scores(hd.Run.load(again.journal)) == ALL
    on = Grader()
    assert scores(read.rescore([on], journal=tmp_path / "kept", resume="latest")) == ALL
    assert on.asked == []


def test_an_interrupt_keeps_what_was_scored(run):
    with pytest.raises(KeyboardInterrupt, match="3 turns are kept"):
        run.rescore([Grader(3, KeyboardInterrupt())])
    kept = hd.last_run()
    assert scores(kept) == ALL[:2]
    assert kept.turns["status"].tolist() == ["passed", "passed", "error", "skipped"]
    assert kept.failures["reason"].tolist()[-1] == "interrupted"
    assert scores(hd.Run.load(kept.id)) == ALL[:2]


def test_it_goes_on_where_it_was_interrupted(run):
    with pytest.raises(KeyboardInterrupt):
        run.rescore([Grader(3, KeyboardInterrupt())])
    broken = hd.last_run()
    on = Grader()
    again = run.rescore([on], resume="latest")
    assert on.asked == [("c", 0)]
    assert scores(again) == ALL
    assert again.turns["status"].tolist() == ["passed", "passed", "error", "passed"]
    assert again.warnings["text"].iloc[0] == (
        f"goes on with run {broken.id}: 2 of 3 cases are kept, 1 are scored"
    )
    assert hd.runs(run.journal.parent.parent)["resumed_from"].tolist()[-1] == broken.id


def test_it_goes_on_where_its_process_died(run):
    again = run.rescore([Grader()])
    lines = again.journal.read_bytes().splitlines(keepends=True)
    last = max(place for place, line in enumerate(lines) if b'"kind":"turn"' in line)
    again.journal.write_bytes(b"".join(lines[:last]) + lines[last][:40])
    on = Grader()
    assert scores(run.rescore([on], resume=again.id)) == ALL
    assert on.asked == [("c", 0)]


def test_what_broke_is_measured_again(run):
    again = run.rescore([Grader(1, RuntimeError("no"))])
    assert again.metrics["status"].tolist() == ["error", "scored", "scored"]
    on = Grader()
    assert scores(run.rescore([on], resume="latest")) == ALL
    assert on.asked == [("a", 0), ("a", 1)]


def test_other_metrics_are_no_continuation(run):
    first = run.rescore([Grader()])
    on = Grader()
    again = run.rescore([{"type": "code", "grader": on, "threshold": 0.9}], resume="latest")
    assert len(on.asked) == 3
    assert again.warnings["text"].tolist()[:2] == [
        f"goes on with run {first.id}: 0 of 3 cases are kept, 3 are scored",
        f"case 'a' is scored again: its metrics have changed since run {first.id}",
    ]


def test_other_replies_are_no_continuation(suite, run, tmp_path):
    first = run.rescore([Grader()])
    other = suite.run(agent=str.title, quiet=True, journal=tmp_path / "runs")
    with pytest.raises(hd.ConfigError, match="there is no earlier scoring of suite 's'"):
        other.rescore([Grader()], resume="latest")
    on = Grader()
    again = other.rescore([on], resume=first.id)
    assert len(on.asked) == 4
    assert "its turns have changed" in again.warnings["text"].iloc[1]


def test_each_repeat_is_known_by_its_own_replies(suite, tmp_path):
    replies = iter("abcdefgh")
    run = suite.run(agent=lambda text: next(replies), quiet=True, journal=tmp_path, repeats=2)
    again = run.rescore([Grader()])
    assert hd.Run.load(again.id).turns["response"].tolist() == run.turns["response"].tolist()
    on = Grader()
    run.rescore([on], resume="latest")
    assert on.asked == []


def test_playing_and_scoring_are_not_mixed_up(suite, run, tmp_path):
    again = run.rescore([Grader()])
    with pytest.raises(hd.ConfigError) as caught:
        suite.run(agent=agent, quiet=True, journal=tmp_path / "runs", resume=again.id)
    assert str(caught.value) == (
        f"run(resume=…): run {again.id} is none of this kind\n"
        "    hint: it has scored replies again: run.rescore(resume=…) goes on with it"
    )
    with pytest.raises(hd.ConfigError, match="an agent has played it"):
        run.rescore([Grader()], resume=run.id)
    resumed = suite.run(agent=agent, quiet=True, journal=tmp_path / "runs", resume="latest")
    assert f"goes on with run {run.id}" in resumed.warnings["text"].iloc[0]


def test_a_scoring_can_be_scored_again(run):
    twice = run.rescore([Grader()]).rescore([{"type": "code", "grader": Grader(), "name": "other"}])
    assert twice.metrics["metric"].unique().tolist() == ["other"]
    assert twice.turns["response"].equals(run.turns["response"])


def test_it_is_saved_as_what_it_is(run, tmp_path):
    saved = run.rescore([Grader()]).save(tmp_path / "saved")
    assert hd.runs(tmp_path / "saved")["rescored_from"].tolist() == [run.id]
    assert scores(hd.Run.load(saved)) == ALL


def test_it_shows_how_far_it_is(suite, tmp_path, capsys):
    run = suite.run(agent=agent, journal=tmp_path)
    capsys.readouterr()
    run.rescore([Grader()])
    told = capsys.readouterr().err
    assert "✅ 1/3 a: passed" in told
    assert told.splitlines()[-1].startswith("3 tests · 2 passed · 1 failed")
    run.rescore([Grader()], quiet=True)
    assert capsys.readouterr().err == ""


def test_it_is_as_quiet_as_the_run_was(run, capsys):
    run.rescore([Grader()])
    assert capsys.readouterr().err == ""
    run.rescore([Grader()], quiet=False)
    assert "1/3 a" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ({"resume": 3}, "rescore(resume=…): expected"),
        ({"journal": 3}, "rescore(journal=…): expected a folder, True or False, got int"),
        ({"resume": "nowhere"}, "no run 'nowhere'"),
        ({"budget_usd": 1}, "rescore(budget_usd=…): rescore has no argument 'budget_usd'"),
        ({"resume": "latest"}, "rescore(resume=…): there is no earlier scoring of suite 's'"),
    ],
)
def test_what_is_refused_before_anything_is_measured(run, kept, message):
    grader = Grader()
    with pytest.raises(hd.ConfigError) as caught:
        run.rescore([grader], **kept)
    assert message in str(caught.value)
    assert grader.asked == []


def foreign(tmp_path, **changes):
    """A report of two turns that both say that they are the first."""
    suite = hd.Suite(name="s", test_cases=[{"name": "m", "turns": [{"input": "a"}, {"input": "b"}]}])
    run = suite.with_metrics([{"type": "equality"}]).run(agent=str, quiet=True)
    report = json.loads(run.to_json())
    for turn in report["results"][0]["turns"]:
        turn["turn_index"] = 0
    report |= changes
    (tmp_path / "foreign.json").write_text(json.dumps(report))
    return hd.Run.from_json(tmp_path / "foreign.json")


def test_turns_of_the_same_number_are_told_apart(tmp_path):
    again = foreign(tmp_path).rescore([Grader()], journal=tmp_path / "runs")
    assert again.turns["turn"].tolist() == [0, 1]
    assert hd.Run.load(again.journal).turns["input"].tolist() == ["a", "b"]


def test_a_report_decides_on_no_folder_here(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    read = foreign(tmp_path, agent_config_path=str(tmp_path / "elsewhere" / "agent.yaml"))
    again = read.rescore([Grader()], journal=True)
    assert again.journal.is_relative_to(tmp_path / "here")
    assert not (tmp_path / "elsewhere").exists()
    settings = {"cache_dir": "/somewhere", "parallel_test_cases": -3, "grader_timeout": 5, "llm_timeout": "x"}
    found = execution_of(settings, are_ours=False)
    assert found == Execution(grader_timeout=5)


def test_a_bare_id_is_kept_of_the_run_that_is_scored(run, tmp_path):
    first = run.rescore([{"type": "code", "grader": Grader(), "threshold": 0.4}])
    stricter = first.with_thresholds({"grader": 0.9})
    scored = first.rescore(["grader"])
    again = stricter.rescore(["grader"], journal=tmp_path / "runs", resume=scored.id)
    assert again.metrics["threshold"].tolist() == [0.9] * 3


def test_where_it_was_kept_is_where_it_is_gone_on_with(suite, tmp_path):
    run = suite.run(agent=agent, quiet=True, journal=False)
    with pytest.raises(KeyboardInterrupt):
        run.rescore([Grader(2, KeyboardInterrupt())], journal=tmp_path / "kept")
    again = run.rescore([Grader()], resume=hd.last_run().journal)
    assert again.journal.parent.parent == tmp_path / "kept"


def test_changes_are_found_wherever_it_was_kept(run, tmp_path):
    again = run.rescore([Grader()], journal=tmp_path / "other")
    assert len(hd.Run.load(again.journal).changes) == len(again.changes) > 0


def test_what_the_agent_took_counts_for_the_run_alone(suite, tmp_path):
    def counting(text):
        return hd.Reply(text, usage=hd.TokenUsage(10, 5))

    run = suite.run(agent=counting, quiet=True, journal=tmp_path)
    run.rescore([Grader()])
    listed = hd.runs(tmp_path)
    assert listed["made_by"].tolist() == ["run", "rescore"]
    assert listed["total_tokens"].isna().tolist() == [False, True]


def test_what_was_only_saved_is_not_the_latest(suite, run, tmp_path):
    run.rescore([Grader()]).with_thresholds({"grader": 0.1}).save(tmp_path / "runs")
    on = suite.run(agent=agent, quiet=True, journal=tmp_path / "runs", resume="latest")
    assert f"goes on with run {run.id}" in on.warnings["text"].iloc[0]


@pytest.mark.parametrize("parallel", [0, -1, 2.5, "two"])
def test_how_many_at_once_is_checked(run, parallel):
    with pytest.raises(hd.ConfigError, match=r"rescore\(parallel=…\): expected"):
        run.rescore([Grader()], parallel=parallel)


def test_one_id_twice_is_refused(run):
    with pytest.raises(hd.ConfigError, match="metric 'grader' is named twice"):
        run.rescore([Grader()]).rescore(["grader", "grader"])
