"""Recording a run, and playing it again without a network."""

import json
import time

import pytest
from mounted import Mounted
from servers import Wired

import holodeck_nb as hd

KEY = "sk-live-0123456789abcdef"
CASES = [{"name": f"c{n}", "turns": [{"input": f"first {n}"}, {"input": f"second {n}"}]} for n in range(6)]


def add(a: float, b: float) -> float:
    """Add."""
    return a + b


def answer(body):
    """A call on the first turn of each conversation, then words that name what was asked."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        message = {"content": f"it is {last['content']}"}
    elif last["content"].startswith("first"):
        arguments = json.dumps({"a": int(last["content"].split()[1]), "b": 1})
        message = {"content": None, "tool_calls": [{"function": {"name": "add", "arguments": arguments}}]}
    elif last["content"] == "second 5":
        return 400, {"error": {"message": f"no, {KEY} may not"}}, {}
    else:
        message = {"content": f"{last['content']}: done {KEY}"}
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage, "model": "gpt-4o"}


@pytest.fixture
def suite(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = {"provider": "openai", "name": "gpt-4o"}
    return hd.Suite(name="s", model=model, test_cases=CASES).with_tools([add]).with_instructions("be brief")


@pytest.fixture
def recorded(suite, tmp_path, monkeypatch):
    """A run with its recording; nothing answers any more when it is done."""
    path = tmp_path / "tape.jsonl"
    with Wired(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        run = suite.run(record=path, quiet=True, parallel_test_cases=4)
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    return run, path


def told(run):
    frame = run.turns
    calls = frame["tools_called"].tolist()
    text = [None if value is None else str(value).replace(KEY, "***") for value in frame["response"]]
    return frame["case"].tolist(), text, calls, frame["reason"].tolist(), frame["prompt_tokens"].tolist()


def test_a_replay_is_the_same_run(suite, recorded):
    run, path = recorded
    again = suite.run(replay=path, quiet=True, parallel_test_cases=4)
    assert str(told(again)) == str(told(run))
    assert "openai answered 400: no, *** may not" in reasons(again)
    assert any(
        "the answers come from a recording of openai:gpt-4o" in text for text in again.warnings["text"]
    )


def test_no_secret_is_in_the_file(recorded):
    _, path = recorded
    text = path.read_text(encoding="utf-8")
    assert KEY not in text
    assert "done ***" in text


def test_the_file_does_not_depend_on_what_finished_first(suite, recorded, tmp_path, monkeypatch):
    _, path = recorded
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Wired(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        suite.run(record=tmp_path / "other.jsonl", quiet=True, parallel_test_cases=1)
    one, other = path.read_text().splitlines(), (tmp_path / "other.jsonl").read_text().splitlines()
    assert one[1:] == other[1:]


def reasons(run):
    return [turn.error for _, turn in run.result.turns() if turn.error]


def test_a_miss_says_which_message_differs(suite, recorded):
    _, path = recorded
    run = suite.with_instructions("be verbose").select(name="c1").run(replay=path, quiet=True)
    [miss] = reasons(run)
    assert miss == (
        "not in the recording: request 1 of 'c1' differs: message 1 (system) was "
        '{"role": "system", "content": "be brief"}, is {"role": "system", "content": "be verbose"}'
    )


def test_a_miss_by_another_setting_or_tool_result(suite, recorded):
    _, path = recorded
    cooler = suite.with_model({"provider": "openai", "name": "gpt-4o", "temperature": 0})
    assert "temperature was 0.3, is 0" in reasons(cooler.run(replay=path, quiet=True))[0]

    def add(a: float, b: float) -> float:
        """Add."""
        return a - b

    [miss] = reasons(suite.with_tools([add]).select(name="c1").run(replay=path, quiet=True))
    assert "message 4 (tool)" in miss


def test_a_request_too_many(suite, recorded, tmp_path):
    _, path = recorded
    lines = path.read_text(encoding="utf-8").splitlines()
    short = tmp_path / "short.jsonl"
    short.write_text("\n".join(line for line in lines if '"request": 2' not in line), encoding="utf-8")
    [miss] = reasons(suite.select(name="c1").run(replay=short, quiet=True))
    assert miss == "not in the recording: request 3 of 'c1'; it has 2"


def test_a_timeout_is_recorded_as_one(suite, tmp_path, monkeypatch):
    def slow(body):
        if body["messages"][-1]["content"] == "first 0":
            time.sleep(1)
        return answer(body)

    path = tmp_path / "tape.jsonl"
    one = suite.select(name="c0")
    with Wired(slow) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        run = one.run(record=path, quiet=True, llm_timeout=0.4)
    again = one.run(replay=path, quiet=True)
    assert run.turns["status"].tolist() == again.turns["status"].tolist() == ["error", "passed"]
    assert again.turns["reason"][0].startswith("timeout")


REFUSED = [
    ({"record": "a", "replay": "a"}, "`record` and `replay` do not go together"),
    ({"record": "no/such/folder/a"}, "there is no folder"),
    ({"replay": "missing.jsonl"}, "cannot be read"),
    ({"replay": "empty.jsonl"}, "is no recording"),
    ({"replay": "broken.jsonl"}, "line 2 is no entry of a recording"),
    ({"replay": "other.jsonl"}, "the recording is of ollama:qwen3:8b, the suite asks openai:gpt-4o"),
    ({"replay": "none.jsonl"}, "test case 'c5', run(replay=…): the recording has no such case"),
    ({"replay": "none.jsonl", "agent": str.upper}, "this run talks to another agent"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_cannot_be_taped(suite, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    head = '{"recording": 1, "provider": "%s", "model": "%s"}\n'
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "broken.jsonl").write_text(head % ("openai", "gpt-4o") + '{"case": "c0"}\n')
    (tmp_path / "other.jsonl").write_text(head % ("ollama", "qwen3:8b"))
    (tmp_path / "none.jsonl").write_text(head % ("openai", "gpt-4o"))
    with pytest.raises(hd.ConfigError) as caught:
        suite.run(quiet=True, **arguments)
    assert message in str(caught.value)


def test_a_full_disk_costs_the_recording_and_no_reply(suite, tmp_path, monkeypatch):
    with Mounted(tmp_path / "disk", "size=4k") as disk, Wired(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        path = disk / "tape.jsonl"
        run = suite.run(record=path, quiet=True, journal=False)
        assert run.turns["response"].notna().sum() == 11  # all but the one that the provider refuses
        told = [text for text in run.warnings["text"] if "recording" in text]
        assert told == [
            f"the recording {path} is not complete: it cannot be written (No space left on device)"
        ]


@pytest.mark.parametrize("said", ["one\u2028two", "one\x85two", "one\rtwo\r\n"])
def test_what_some_take_for_line_ends_is_part_of_a_reply(suite, tmp_path, monkeypatch, said):
    with Wired(lambda body: {"choices": [{"message": {"content": said}}]}) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        suite.run(record=tmp_path / "tape.jsonl", quiet=True, journal=False)
    again = suite.run(replay=tmp_path / "tape.jsonl", quiet=True, journal=False)
    assert set(again.turns["response"]) == {said}


def test_a_recording_may_end_without_a_line_feed(suite, recorded):
    run, path = recorded
    path.write_text(path.read_text().rstrip("\n"))
    assert told(suite.run(replay=path, quiet=True, journal=False)) == told(run)


class TestARecordingIsGoneOnWith:
    @pytest.fixture
    def broken(self, suite, tmp_path, monkeypatch):
        """A recorded run that was interrupted, with a server that answers still."""
        with Wired(answer) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            suite.run(record=tmp_path / "tape.jsonl", journal=tmp_path, quiet=True, only=["c0", "c1"])
            yield tmp_path / "tape.jsonl"

    def test_what_is_kept_of_the_run_stays_in_it(self, suite, broken, tmp_path, monkeypatch):
        run = suite.run(record=broken, journal=tmp_path, resume="latest", quiet=True)
        assert not [text for text in run.warnings["text"] if "recording" in text]
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
        assert told(suite.run(replay=broken, quiet=True, journal=False)) == told(run)

    def test_a_line_that_was_cut_off_by_a_crash_costs_only_itself(self, suite, broken, tmp_path):
        whole = broken.read_text()
        broken.write_text(whole[: whole.rindex('{"case": "c1"') + 30])
        run = suite.run(record=broken, journal=tmp_path, resume="latest", quiet=True)
        assert not [text for text in run.warnings["text"] if "recording" in text]
        assert broken.read_text().startswith(whole[: whole.index('{"case": "c1"')])

    def test_what_was_recorded_elsewhere_is_said_to_be_missing(self, suite, broken, tmp_path):
        run = suite.run(record=tmp_path / "new.jsonl", journal=tmp_path, resume="latest", quiet=True)
        [text] = [text for text in run.warnings["text"] if "recording" in text]
        assert text == (
            f"2 cases that are kept are not in the recording {tmp_path / 'new.jsonl'}: they were not recorded"
            " there"
        )

    @pytest.mark.parametrize("content", ["no recording", '{"recording": 1, "provider": "x", "model": "y"}\n'])
    def test_a_file_that_cannot_be_gone_on_with_is_left_alone(self, suite, broken, tmp_path, content):
        broken.write_text(content)
        with pytest.raises(hd.ConfigError) as caught:
            suite.run(record=broken, journal=tmp_path, resume="latest", quiet=True)
        assert "hint: record into another file, or move this one away" in str(caught.value)
        assert broken.read_text() == content

    def test_a_run_that_asks_nothing_leaves_it_as_it_is(self, suite, broken, tmp_path):
        suite.run(record=broken, journal=tmp_path, resume="latest", quiet=True, only=["c0", "c1"])
        before = broken.read_text()
        run = suite.run(record=broken, journal=tmp_path, resume="latest", quiet=True, only=["c0", "c1"])
        assert f"nothing was asked, and nothing is recorded in {broken}" in run.warnings["text"].tolist()
        assert broken.read_text() == before
