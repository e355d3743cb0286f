"""A run in the user's hands: fresh frames, whole files, cards."""

import json

import pytest

import holodeck_nb as hd


@pytest.fixture
def run():
    cases = [
        {"name": "a|b", "input": "q", "ground_truth": "1"},
        {"name": "<b>", "input": "q", "ground_truth": "2"},
    ]
    suite = hd.Suite(name="fin", test_cases=cases, evaluations=[{"type": "numeric"}])
    return suite.run(agent=lambda text: "1", quiet=True)


def test_it_is_the_last_run(run):
    assert hd.last_run() is run


def test_frames_are_fresh_copies(run):
    frame = run.turns
    frame["extra"] = 1
    frame.loc[0, "response"] = "changed"
    assert "extra" not in run.turns
    assert run.turns["response"].tolist() == ["1", "1"]


FRAMES = ["turns", "failures", "metrics", "tool_calls", "tool_checks", "cases", "warnings"]


@pytest.mark.parametrize("name", FRAMES)
def test_every_table_is_a_frame(run, name):
    assert len(getattr(run, name).columns) >= 4


def test_only_what_is_not_passed_is_a_failure(run):
    assert run.failures["case"].tolist() == ["<b>"]
    assert not run.passed


def test_it_shows_itself_in_one_line_and_as_a_card(run):
    assert repr(run).startswith("<Run 'fin': 1 of 2 cases passed (50.0 %), 1 of 2 turns")
    assert "&lt;b&gt;" in run._repr_html_()
    assert "<b>" not in run._repr_html_().replace("<b>fin</b>", "")


def test_the_summary_shows_itself_too(run):
    assert repr(run.summary).startswith("<Summary: 1 of 2 cases passed (50.0 %)")
    assert "50.0 %" in run.summary._repr_html_()
    assert (run.summary.metrics["numeric"].mean, run.summary.metrics["numeric"].n) == (0.5, 2)


def test_without_a_path_the_report_comes_back_as_text(run):
    assert json.loads(run.to_json())["agent_name"] == "fin"
    assert run.to_markdown().startswith("#")


def test_with_a_path_it_is_written_and_nothing_else(run, tmp_path):
    assert run.to_json(tmp_path / "r.json") == tmp_path / "r.json"
    assert run.to_markdown(tmp_path / "r.md").read_text(encoding="utf-8") == run.to_markdown()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "r.md"]


def test_a_report_that_cannot_be_written_leaves_the_old_one(run, tmp_path, monkeypatch):
    (tmp_path / "r.json").write_text("the old one")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="No space left on device"):
        run.to_json(tmp_path / "r.json")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["the old one"]


def test_a_report_has_the_usual_permissions(run, tmp_path):
    (tmp_path / "plain").write_text("x")
    assert run.to_json(tmp_path / "r.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_it_reads_back(run, tmp_path):
    again = hd.Run.from_json(run.to_json(tmp_path / "r.json"))
    assert again.turns["reason"].tolist() == run.turns["reason"].tolist()
    assert again.to_json() == run.to_json()


WRONG = [
    (None, "cannot read the report: No such file or directory"),
    ("", "this is no JSON"),
    ("{", "this is no JSON"),
    ("[" * 100_000, "this is no JSON"),
    ("[]", "a report is a mapping"),
    ("{}", "agent_name"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[message[:12] for _, message in WRONG])
def test_what_is_no_report_is_refused_with_the_file(tmp_path, text, message):
    path = tmp_path / "r.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(hd.ConfigError) as caught:
        hd.Run.from_json(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
