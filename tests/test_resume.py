"""Going on with an earlier run: what is kept, what is played again, what is said of it."""

import os
import shutil

import pandas as pd
import pytest

import holodeck_nb as hd

SUITE = """\
name: fin
evaluations: {metrics: [{type: equality}]}
test_cases:
  - {name: good, input: g, ground_truth: g}
  - {name: wrong, input: w, ground_truth: right}
  - name: broken
    turns: [{input: b1, ground_truth: b1}, {input: b2, ground_truth: b2}]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "agent.yaml"
    path.write_text(SUITE)
    return path


class Agent:
    """Echoes; raises on the inputs in `faulty`, and remembers what it was asked."""

    def __init__(self, *faulty, interrupting=None):
        self.faulty = set(faulty)
        self.interrupting = interrupting
        self.asked = []

    async def __call__(self, text):
        self.asked.append(text)
        if text == self.interrupting:
            raise KeyboardInterrupt
        if text in self.faulty:
            raise RuntimeError("the line is down")
        return text


def run(file, agent, *, journal=True, **arguments):
    return hd.Suite.from_yaml(file).run(agent=agent, quiet=True, journal=journal, **arguments)


def texts(run):
    return [text for text in run.warnings["text"] if "played again" in text or "run 20" in text]


def statuses(run):
    return dict(zip(run.cases["case"], run.cases["status"], strict=True))


def test_only_what_broke_is_played_again_and_a_failed_verdict_stands(file):
    first = run(file, Agent("b2"))
    assert statuses(first) == {"good": "passed", "wrong": "failed", "broken": "error"}
    second = Agent()
    resumed = run(file, second, resume="latest")
    assert second.asked == ["b1", "b2"]  # the whole case: its session is gone
    assert statuses(resumed) == {"good": "passed", "wrong": "failed", "broken": "passed"}
    assert texts(resumed) == [f"goes on with run {first.id}: 2 of 3 cases are kept, 1 are played"]
    assert resumed.result.cases[:2] == first.result.cases[:2]


def test_failed_cases_too_where_that_is_asked(file):
    run(file, Agent("b2"))
    second = Agent()
    run(file, second, resume="latest", resume_failed=True)
    assert second.asked == ["w", "b1", "b2"]


def test_its_own_journal_is_complete_in_itself(file):
    first = run(file, Agent("b1"))
    resumed = run(file, Agent(), resume=first.id)
    assert resumed.id != first.id
    shutil.rmtree(first.journal.parent)
    assert hd.Run.load(resumed.journal).result == resumed.result
    assert hd.runs(file)["resumed_from"].tolist() == [first.id]


def test_a_run_can_be_resumed_by_its_path_and_from_another_folder(file, tmp_path):
    first = run(file, Agent("b1"), journal=tmp_path / "elsewhere")
    for named in (first.journal, first.journal.parent, str(first.journal)):
        again = Agent()
        resumed = run(file, again, journal=None, resume=named)
        assert again.asked == ["b1", "b2"]
        assert resumed.journal.parent.parent == tmp_path / "elsewhere"  # with the one it goes on with


def test_nothing_is_played_where_nothing_is_missing(file):
    run(file, Agent())
    again = Agent()
    resumed = run(file, again, resume="latest")
    assert again.asked == []
    assert len(resumed.turns) == 4


def test_an_interrupted_run(file):
    with pytest.raises(KeyboardInterrupt):
        run(file, Agent(interrupting="w"))
    assert hd.Run.load(hd.last_run().journal).result == hd.last_run().result
    again = Agent()
    resumed = run(file, again, resume="latest")
    assert again.asked == ["w", "b1", "b2"]
    assert resumed.summary.turns_skipped == 0


CHANGES = [
    #  in the file            becomes                       said
    ("right", "w",                                                          "its turns have changed"),
    ("w, ",   "w2, ",                                                       "its turns have changed"),
    ("right", "right, evaluations: []",                                     "its metrics have changed"),
    ("right", "right, evaluations: [{type: equality, threshold: 1}]",       "its metrics have changed"),
    ("right", "r, evaluations: [{type: equality, strip_whitespace: true}]",
     "its turns have changed and its metrics have changed"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), CHANGES)
def test_a_changed_case_is_noticed_and_played_again(file, old, new, said):
    first = run(file, Agent())
    file.write_text(SUITE.replace(old, new))
    again = Agent()
    resumed = run(file, again, resume="latest")
    assert len(again.asked) == 1
    assert f"case 'wrong' is played again: {said} since run {first.id}" in texts(resumed)


UNCHANGED = [
    ("name: fin", "name: fin\ndescription: better"),
    ("metrics: [{type: equality}]", "metrics: [{type: equality, fail_on_error: true}]"),
    ("evaluations:", "execution: {llm_timeout: 5}\nevaluations:"),
    ("evaluations:", "model: {provider: ollama, name: m, api_key: a-new-key}\nevaluations:"),
]


@pytest.mark.parametrize(("old", "new"), UNCHANGED)
def test_what_changes_no_verdict_is_no_change(file, old, new):
    run(file, Agent())
    file.write_text(SUITE.replace(old, new))
    again = Agent()
    run(file, again, resume="latest")
    assert again.asked == []


def test_another_agent_plays_everything_again(file):
    first = run(file, Agent())
    file.write_text(SUITE.replace("name: fin", "name: fin\ninstructions: {inline: be brief}"))
    again = Agent()
    resumed = run(file, again, resume="latest")
    assert len(again.asked) == 4
    [said] = [text for text in texts(resumed) if "the agent" in text]
    assert said == (
        f"the agent is another one than in run {first.id} (its model, instructions, tools or name):"
        " every case is played again"
    )


def test_added_cases_are_played_and_removed_ones_left_out(file):
    first = run(file, Agent())
    lines = SUITE.splitlines(keepends=True)
    file.write_text("".join([*lines[:3], *lines[4:], "  - {input: new, ground_truth: new}\n"]))
    again = Agent()
    resumed = run(file, again, resume="latest")
    assert again.asked == ["new"]
    assert list(statuses(resumed)) == ["wrong", "broken", "case 3"]
    assert texts(resumed)[1:] == [
        f"new since run {first.id}: 'case 3'",
        f"left out, though run {first.id} has them: 'good'",
    ]
    assert resumed.result.cases[0].index == 0


def test_latest_is_the_latest_of_this_suite(file, tmp_path):
    run(file, Agent("b1"))
    other = tmp_path / "other.yaml"
    other.write_text(SUITE)
    run(other, Agent())
    again = Agent()
    run(file, again, resume="latest")
    assert again.asked == ["b1", "b2"]


REFUSED = [
    ({"resume": "latest"}, "there is no earlier run of suite 'fin' in "),
    ({"resume": "20260101-000000"}, "no run '20260101-000000': looked in "),
    ({"resume": 3}, 'expected "latest", a run\'s id or a path, got int'),
    ({"only": ["nobody"]}, "run(only=…): 'nobody' is no case of the suite"),
    ({"only": 3}, "run(only=…): expected rows of a frame like run.failures, or names of cases, got int"),
    ({"only": pd.DataFrame({"x": []})}, "run(only=…): a frame needs a column `case`"),
    ({"repeats": 0}, "run(repeats=…): expected a whole number of at least 1, got 0"),
    ({"repeats": True}, "run(repeats=…): expected a whole number of at least 1, got True"),
    ({"budget_usd": -1}, "run(budget_usd=…): expected a number above 0, got -1"),
    ({"budget_tokens": 1.5}, "run(budget_tokens=…): expected a whole number of at least 1, got 1.5"),
    ({"max_minutes": float("nan")}, "run(max_minutes=…): expected a number above 0, got nan"),
    ({"journal": 3}, "run(journal=…): expected a folder, True or False, got int"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_is_refused_before_any_call(file, arguments, message):
    agent = Agent()
    with pytest.raises(hd.ConfigError) as caught:
        run(file, agent, **arguments)
    assert message in str(caught.value)
    assert agent.asked == []


def test_a_run_that_still_goes_on_is_not_the_latest(file):
    suite = hd.Suite.from_yaml(file)
    told = []

    class Meanwhile(Agent):
        async def __call__(self, text):
            if not told:
                with pytest.raises(hd.ConfigError) as caught:
                    suite._prepared(Agent(), None, {"journal": True, "resume": "latest", "quiet": True})
                told.append(str(caught.value))
                told.append(hd.runs(file)["state"].tolist())
            return text

    run(file, Meanwhile())
    assert "of this suite is still going on, and there is no earlier one" in told[0]
    assert told[1] == ["going on"]


class TestOnly:
    def test_the_cases_behind_the_failures(self, file):
        failures = run(file, Agent("b2")).failures
        again = Agent()
        second = run(file, again, only=failures)
        assert again.asked == ["w", "b1", "b2"]
        assert second.cases["case"].tolist() == ["wrong", "broken"]

    def test_names(self, file):
        for only in ("good", ["good"], {"good"}, pd.Series(["good"])):
            again = Agent()
            run(file, again, only=only)
            assert again.asked == ["g"]

    def test_no_failures_nothing_to_play(self, file):
        file.write_text(SUITE.replace("right", "w"))
        first = run(file, Agent())
        second = run(file, Agent(), only=first.failures)
        assert second.warnings["text"].tolist() == ["`only` has no cases: nothing was run"]

    def test_only_the_repeats_behind_the_rows(self, file):
        class Moody(Agent):
            async def __call__(self, text):
                await super().__call__(text)
                return "no" if self.asked.count(text) == 2 else text

        first = run(file, Moody(), repeats=3, only="good")
        assert first.failures[["case", "repeat"]].to_numpy().tolist() == [["good", 1]]
        again = Agent()
        second = run(file, again, only=first.failures)
        assert again.asked == ["g"]
        assert second.cases[["case", "repeat"]].to_numpy().tolist() == [["good", 1]]
        third = Agent()
        run(file, third, only=first.failures, repeats=2)
        assert third.asked == ["g", "g"]


class TestWhereJournalsAre:
    def test_beside_the_suite_file_unless_told_otherwise(self, file, monkeypatch):
        monkeypatch.delenv("HOLODECK_JOURNAL")
        assert run(file, Agent(), journal=None).journal.parent.parent == file.parent / ".holodeck" / "runs"
        assert run(file, Agent(), journal=False).journal is None
        monkeypatch.setenv("HOLODECK_JOURNAL", "off")
        assert run(file, Agent(), journal=None).journal is None
        monkeypatch.setenv("HOLODECK_JOURNAL", "perhaps")
        with pytest.raises(hd.ConfigError, match="HOLODECK_JOURNAL: expected true or false, got 'perhaps'"):
            run(file, Agent(), journal=None)

    def test_a_suite_made_in_python_leaves_nothing_behind_unless_it_is_told_to(self, tmp_path, monkeypatch):
        monkeypatch.delenv("HOLODECK_JOURNAL")
        monkeypatch.chdir(tmp_path)
        suite = hd.Suite(name="s", test_cases=[{"input": "q"}])
        assert suite.run(agent=str.upper, quiet=True).journal is None
        assert list(tmp_path.iterdir()) == []
        kept = suite.run(agent=str.upper, quiet=True, journal=True)
        assert kept.journal.parent.parent == tmp_path / ".holodeck" / "runs"
        assert hd.Run.load(kept.id).result == kept.result
        assert (
            suite.run(agent=str.upper, quiet=True, journal=True, resume="latest").result.cases
            == kept.result.cases
        )

    def test_loading_by_id_path_and_folder(self, file):
        kept = run(file, Agent())
        for named in (kept.id, kept.journal, kept.journal.parent, os.fspath(kept.journal)):
            assert hd.Run.load(named).id == kept.id

    def test_a_run_that_is_not_there_names_those_that_are(self, file):
        kept = run(file, Agent())
        with pytest.raises(hd.ConfigError, match=f"hint: there are .*{kept.id}"):
            hd.Run.load("yesterday")


class TestRuns:
    def test_a_frame_of_runs_with_their_settings(self, file):
        first = run(file, Agent("b2"), parallel_test_cases=2)
        second = run(file, Agent(), llm_timeout=5, resume="latest")
        frame = hd.runs(file)
        assert frame["run"].tolist() == [first.id, second.id]
        assert frame["state"].tolist() == ["complete", "complete"]
        assert frame["cases_passed"].tolist() == [1, 2]
        assert frame["parallel_test_cases"].tolist() == [2, 1]
        assert frame["llm_timeout"].tolist() == [60.0, 5.0]
        assert {name.rpartition(":")[2] for name in frame["agent"]} == {"Agent"}
        assert frame["turns_played"].tolist() == [4, 4]

    def test_a_run_that_broke_off_and_one_that_cannot_be_read(self, file):
        first, second = run(file, Agent()), run(file, Agent())
        lines = first.journal.read_bytes().splitlines(keepends=True)
        first.journal.write_bytes(b"".join(lines[:-3]))
        second.journal.write_bytes(b"nonsense")
        frame = hd.runs(file.parent)
        assert frame["state"].tolist() == ["broken off", "unreadable"]
        assert frame["turns_played"].tolist()[0] == 3
        assert "this is no journal of a run" in frame["stop_reason"][1]
        assert hd.runs(first.journal.parent.parent)["run"].tolist() == [first.id, second.id]

    def test_where_this_process_has_kept_runs(self, file):
        kept = run(file, Agent())
        assert kept.id in hd.runs()["run"].tolist()


class TestSaving:
    def test_any_run_can_be_saved_and_loaded(self, file, tmp_path):
        kept = run(file, Agent("b1"), journal=False)
        assert hd.Run.load(kept.save(tmp_path / "saved")).result == kept.result

    def test_a_report_that_was_read(self, file, tmp_path):
        kept = hd.Run.from_json(run(file, Agent("b1"), repeats=2).to_json(tmp_path / "r.json"))
        assert hd.Run.load(kept.save(tmp_path / "saved")).result == kept.result

    def test_a_saved_run_can_be_resumed_as_the_one_it_was(self, file, tmp_path):
        saved = run(file, Agent("b1")).save(tmp_path / "saved")
        again = Agent()
        run(file, again, resume=saved)
        assert again.asked == ["b1", "b2"]

    def test_a_run_without_journal_does_not_tell_what_was_asked(self, file, tmp_path):
        saved = run(file, Agent(), journal=False).save(tmp_path / "saved")
        resumed = run(file, Agent(), resume=saved)
        assert sum("its definition is not in the journal" in text for text in texts(resumed)) == 3

    def test_a_folder_that_cannot_be_written(self, file, tmp_path):
        with pytest.raises(OSError, match="cannot write in"):
            run(file, Agent()).save(file)


def test_two_runs_at_once_do_not_mix(file):
    """In one process; test_kills has two processes."""
    import asyncio

    async def both():
        suite = hd.Suite.from_yaml(file)
        return await asyncio.gather(*(suite.arun(agent=Agent(), quiet=True, journal=True) for _ in range(5)))

    several = asyncio.run(both())
    assert len({one.id for one in several}) == 5
    for one in several:
        assert hd.Run.load(one.journal).result == one.result
