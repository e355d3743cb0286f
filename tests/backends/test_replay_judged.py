"""A recording of a judged run holds what the judges were asked, and answers them without a network."""

import json

import judges
import pytest
from servers import Wired

import holodeck_nb as hd

KEY = "sk-live-0123456789abcdef"
CLEAR = {"type": "geval", "name": "clarity", "criteria": "The reply is clear.", "threshold": 0.5}
SHORT = {"type": "relevance", "threshold": 3}
CASES = [{"name": f"c{n}", "turns": [{"input": f"first {n}"}, {"input": f"second {n}"}]} for n in range(4)]


def answer(body):
    """The agent's answers, and the judge's: steps, then a score that goes by the reply."""
    if "response_format" not in body:
        return judges.completion(f"re: {body['messages'][-1]['content']}")
    if judges.asked_for(body) == "steps":
        return judges.completion(judges.steps("read", "score"))
    reply = judges.shown(body, "actual_output")
    if reply.startswith("re: second 3"):
        return 400, {"error": {"message": f"no, {KEY} may not"}}, {}
    return judges.completion(judges.score(5 if "first" in reply else 1))


@pytest.fixture
def suite(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    evaluations = {"metrics": [CLEAR, SHORT]}
    model = {"provider": "openai", "name": "gpt-4o"}
    return hd.Suite(name="s", model=model, evaluations=evaluations, test_cases=CASES)


@pytest.fixture
def recorded(suite, tmp_path, monkeypatch):
    """A run with its recording; nothing answers any more when it is done."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("holodeck_nb.engine.scoring.BACK_OFF_S", 0.01)
    path = tmp_path / "tape.jsonl"
    with Wired(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        run = suite.run(record=path, quiet=True, parallel_test_cases=3, journal=False)
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    return run, path


def told(run):
    frame = run.metrics
    columns = ["case", "turn", "metric", "status", "score"]
    return [tuple(str(value) for value in row) for row in frame[columns].itertuples(index=False)]


def test_judges_say_the_same_without_key_and_network(suite, recorded):
    run, path = recorded
    assert set(run.metrics["status"]) == {"passed", "failed", "error"}
    for parallel in (1, 3):
        again = suite.run(replay=path, quiet=True, parallel_test_cases=parallel, journal=False)
        assert told(again) == told(run)
        assert again.summary.judging == run.summary.judging


def test_the_same_run_gives_the_same_recording(suite, recorded, tmp_path, monkeypatch):
    _, path = recorded
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Wired(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        suite.run(record=tmp_path / "again.jsonl", quiet=True, parallel_test_cases=1, journal=False)
    first, again = (file.read_text().splitlines()[1:] for file in (path, tmp_path / "again.jsonl"))
    assert first == again


def test_kept_answers_are_neither_used_nor_made(recorded, tmp_path):
    _, path = recorded
    assert [name for name in tmp_path.rglob("*") if "judges" in name.parts] == []
    asked = [json.loads(line) for line in path.read_text().splitlines() if '"asked"' in line]
    assert len({line["asked"] for line in asked}) == 1 + 2 * 8  # the steps, and two metrics on eight turns


def test_no_key_is_in_it(recorded):
    _, path = recorded
    assert KEY not in path.read_text()
    assert "may not" in path.read_text()  # where the provider had named it


def test_another_question_is_an_error_that_says_so(suite, recorded):
    _, path = recorded
    other = suite.with_metrics([{**CLEAR, "criteria": "The reply is short."}])
    result = other.run(replay=path, quiet=True, journal=False)
    assert set(result.metrics["status"]) == {"error"}
    assert "not in the recording: this question" in result.metrics["reason"][0]


class TestAnAgentThatIsNoModel:
    """Then the judges alone are recorded."""

    @pytest.fixture
    def own(self, suite):
        judged = {"metrics": [CLEAR, SHORT], "model": suite.config.model.model_dump()}
        return hd.Suite(name="s", evaluations=judged, test_cases=CASES)

    @pytest.fixture
    def kept(self, own, tmp_path, monkeypatch):
        """A run of a function with the recording of its judges, of a scoring, of a repetition."""
        monkeypatch.setattr("holodeck_nb.engine.scoring.BACK_OFF_S", 0.01)
        with Wired(answer) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            run = own.run(agent=lambda text: f"re: {text}", record=tmp_path / "run.jsonl", quiet=True)
            again = run.rescore([SHORT, {**CLEAR, "criteria": "other"}], record=tmp_path / "again.jsonl")
            asked = run.judge_repeatability("relevance", n=3, record=tmp_path / "asked.jsonl")
        monkeypatch.delenv("OPENAI_API_KEY")
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
        return run, again, asked

    def test_they_answer_again(self, own, kept, tmp_path):
        run, again, asked = kept
        replayed = own.run(agent=lambda text: f"re: {text}", replay=tmp_path / "run.jsonl", quiet=True)
        assert told(replayed) == told(run)
        assert "the judges' answers come from a recording" in replayed.warnings["text"].tolist()
        metrics = [SHORT, {**CLEAR, "criteria": "other"}]
        assert told(run.rescore(metrics, replay=tmp_path / "again.jsonl")) == told(again)
        assert run.judge_repeatability("relevance", n=3, replay=tmp_path / "asked.jsonl") == asked

    def test_a_recording_of_judges_is_none_of_an_agent(self, suite, kept, tmp_path):
        with pytest.raises(hd.ConfigError, match="the recording has judges in it and no agent"):
            suite.run(replay=tmp_path / "run.jsonl", quiet=True)

    def test_nobody_to_record(self, own, tmp_path):
        plain = own.with_metrics([{"type": "equality"}])
        run = plain.run(agent=str, quiet=True)
        with pytest.raises(hd.ConfigError) as caught:
            plain.run(agent=str, record=tmp_path / "x.jsonl", quiet=True)
        assert str(caught.value) == (
            "run(record=…): `record` goes with a model of a provider, and this run talks to another agent"
        )
        with pytest.raises(hd.ConfigError) as caught:
            run.rescore([{"type": "numeric"}], replay=tmp_path / "x.jsonl")
        assert "`replay` goes with a model of a provider, and no model judges here" in str(caught.value)
        assert "rescore(replay=…): cannot be read: No such file" in str(caught.value)

    def test_a_scoring_that_is_gone_on_with_goes_on_with_its_recording(self, own, tmp_path, monkeypatch):
        path, metrics = tmp_path / "again.jsonl", [{**CLEAR, "criteria": "other"}]
        plain = own.with_metrics([])
        run = plain.run(agent=lambda text: f"re: {text}", journal=tmp_path, quiet=True)
        with Wired(answer) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            whole = run.rescore(metrics, record=path, judge="openai:gpt-4o")
            again = run.rescore(metrics, record=path, judge="openai:gpt-4o", resume="latest")
        assert "goes on with run" in again.warnings["text"].iloc[0]
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
        assert told(run.rescore(metrics, replay=path, judge="openai:gpt-4o")) == told(whole)

    def test_a_recording_has_what_was_known_before(self, own, tmp_path, monkeypatch):
        run = own.with_metrics([]).run(agent=lambda text: f"re: {text}", quiet=True)
        path, judge = tmp_path / "same.jsonl", "openai:gpt-4o"
        with Wired(answer) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            known = run.rescore([CLEAR], judge=judge)
            recorded = known.rescore([CLEAR], judge=judge, record=path)
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
        assert told(run.rescore([CLEAR], judge=judge, replay=path)) == told(recorded) == told(known)

    def test_what_broke_is_not_replayed_in_place_of_what_was_answered(self, own, tmp_path, monkeypatch):
        path, down = tmp_path / "again.jsonl", [True]
        plain = own.with_metrics([])
        run = plain.run(agent=lambda text: f"re: {text}", journal=tmp_path, quiet=True)
        refusal = (400, {"error": {"message": "not now"}}, {})
        with Wired(lambda body: refusal if down else answer(body)) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            run.rescore([SHORT], record=path, judge="openai:gpt-4o")
            down.clear()
            again = run.rescore([SHORT], record=path, judge="openai:gpt-4o", resume="latest")
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
        assert told(run.rescore([SHORT], replay=path, judge="openai:gpt-4o")) == told(again)

    def test_judges_are_not_recorded_over_an_agent(self, suite, own, recorded):
        _, path = recorded
        before = path.read_text()
        with pytest.raises(hd.ConfigError, match="the file holds a recording of openai:gpt-4o at"):
            own.run(agent=str, record=path, quiet=True)
        assert path.read_text() == before
