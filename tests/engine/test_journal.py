"""A run and its journal: the same, however the run ended and whatever became of the file."""

import json
import stat
from datetime import UTC, datetime

import pytest

import holodeck_nb as hd
from holodeck_nb.engine.journal_lines import journal_line, read_line
from holodeck_nb.engine.journal_reader import BROKE_OFF, read_journal
from holodeck_nb.engine.journal_records import turn_data, turn_of
from holodeck_nb.engine.plan import CasePlan, RunPlan
from holodeck_nb.engine.record import RunRecord
from holodeck_nb.errors import ConfigError
from holodeck_nb.results.records import (
    ArgumentCheck,
    FileRecord,
    MetricResult,
    TokenUsage,
    ToolCheck,
    ToolInvocation,
    TurnResult,
)
from holodeck_nb.views.json_report import report

CASES = [
    {
        "name": "a",
        "turns": [
            {
                "input": "one",
                "ground_truth": "1",
                "expected_tools": [{"name": "f", "args": {"x": {"fuzzy": "2"}}}],
            },
            {"input": "two", "ground_truth": "2", "turn_config": {"deep": [1, {"b": None}]}},
        ],
    },
    {"input": "three", "ground_truth": "3", "retrieval_context": ["passage"]},
    {"name": "lost", "turns": [{"input": "u"}, {"input": "v"}]},
]
REPLIES = {
    "a": [
        {"text": "1", "tool_calls": [{"name": "f", "args": {"x": 3}, "result": {"rows": [1, 2.5]}}]},
        {"text": "", "usage": {"prompt_tokens": 5}, "finish_reason": "length", "truncated": True},
    ],
    "#1": [
        {"text": "3", "refused": True, "model": "m", "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    ],
    "lost": [{"raise_": "gone", "fatal": True}],
}
NUMERIC = [{"type": "numeric"}]


@pytest.fixture
def runs(tmp_path):
    return tmp_path / ".holodeck" / "runs"


@pytest.fixture
def played(play, runs):
    return play(CASES, REPLIES, metrics=NUMERIC, journal=runs)


def lines(path):
    return path.read_bytes().splitlines(keepends=True)


def of_kind(path, kind):
    return [line for line in map(json.loads, lines(path)) if line["kind"] == kind]


FULL = TurnResult(
    3,
    "asked",
    ground_truth="25587",
    expected_tools=("lookup", {"name": "subtract", "args": {"b": {"fuzzy": "2"}}}),
    retrieval_context=("p", ""),
    turn_config={"a": [1, None]},
    files=(FileRecord("a.pdf", "https://h/x", "pdf", {"pages": [1]}), FileRecord()),
    response="",
    tool_calls=(
        ToolInvocation("f", {"x": 2**70, "y": [1, {"z": None}]}, [1, "é"], duration_ms=1.25, id="call_1"),
        ToolInvocation("g", None, error="bad", raw_args="{"),
        ToolInvocation("h"),
    ),
    tool_checks=(
        ToolCheck("lookup", 2, None, matched=False, reason="no"),
        ToolCheck(
            "subtract",
            1,
            {"b": {"fuzzy": "2"}},
            matched=True,
            matched_calls=(0, 2),
            matched_names=("f",),
            arguments=(
                ArgumentCheck("b", "fuzzy", "2", None, missing=True, matched=False, reason="r"),
                ArgumentCheck("c", "exact", None, 0, missing=False, matched=True),
            ),
            closest_call=0,
        ),
    ),
    metrics=(
        MetricResult(
            "n", "standard", "failed", 0.0, 0.5, "why", {"actual": 1}, duration_ms=0.0, verdict=False
        ),
        MetricResult("g", "geval", "error", reason="502", model="judge", retries=3, definition="abc"),
        MetricResult("b", "standard", "not_applicable"),
    ),
    usage=TokenUsage(180, 12, cache_read_tokens=0, complete=False),
    cost_usd=0.0,
    model="m",
    finish_reason="stop",
    refused=True,
    truncated=True,
    started_at=datetime(2026, 11, 30, 18, 47, 13, 7, tzinfo=UTC),
    duration_ms=9.5,
)
TURNS = [
    FULL,
    TurnResult(0, "q", error="down", tool_calls=FULL.tool_calls, usage=TokenUsage()),
    TurnResult(1, "q", skip_reason="later"),
    TurnResult(1, "q", response="x", tool_checks=()),
]


@pytest.mark.parametrize("turn", TURNS)
def test_a_turn_comes_back_whole(turn):
    back = turn_of(read_line(journal_line(turn_data(turn)).removesuffix(b"\n")))
    assert back == turn
    assert [(m.verdict, m.definition) for m in back.metrics] == [
        (m.verdict, m.definition) for m in turn.metrics
    ]


def test_a_run_comes_back_whole(played, runs):
    read = read_journal(played.record.journal)
    assert read.result == played.result
    assert report(read.result) == report(played.result)
    assert (read.is_whole, read.is_open) == (True, False)
    assert read.path.parent.parent == runs


def test_each_finished_turn_is_on_disk_before_the_next_one_begins(play, runs):
    seen = []

    class Agent:
        async def create_session(self, context):
            return self

        async def send(self, message):
            [journal] = runs.glob("*/journal.jsonl")
            seen.append([(line["case"], line["turn"]) for line in of_kind(journal, "turn")])
            return hd.Reply("1")

        async def close(self):
            pass

    play(CASES[:2], Agent(), journal=runs)
    assert seen == [[], [("a", 0)], [("a", 0), ("a", 1)]]


def test_it_is_kept_out_of_version_control(played, runs):
    assert (runs.parent / ".gitignore").read_text() == "*\n"


def test_after_a_kill_the_turns_that_are_missing_are_skipped(played):
    path = played.record.journal
    until = next(place for place, line in enumerate(lines(path)) if json.loads(line)["kind"] == "case_ended")
    path.write_bytes(b"".join(lines(path)[:until]))
    read = read_journal(path)
    assert not read.is_whole
    assert read.result.stop_reason == BROKE_OFF
    statuses = [[turn.status for turn in case.turns] for case in read.result.cases]
    assert statuses == [["failed", "failed"], ["skipped"], ["skipped", "skipped"]]
    assert [turn.input for _, turn in read.result.turns()] == ["one", "two", "three", "u", "v"]
    assert [case.name for case in read.result.cases] == ["a", "case 2", "lost"]
    assert [case.given_name for case in read.result.cases] == ["a", None, "lost"]


def test_a_last_line_that_was_cut_is_left_out_wherever_it_was_cut(played):
    path = played.record.journal
    whole = lines(path)
    for place, line in enumerate(whole):
        if place < 1 or json.loads(line)["kind"] == "run":
            continue
        for length in (1, len(line) // 2, len(line) - 2):
            path.write_bytes(b"".join(whole[:place]) + line[:length])
            result = read_journal(path).result
            cut = f"journal.jsonl:{place + 1}: this line was cut off while it was written, and is left out"
            assert cut in [warning.text for warning in result.warnings]
    path.write_bytes(b"".join(whole)[:-1])  # the line feed alone: nothing is missing
    assert read_journal(path).result == played.result


def test_a_bit_flipped_in_any_line_is_told_and_nothing_else_is_lost(played):
    path = played.record.journal
    whole = lines(path)
    good = [read_line(line[:-1]) for line in whole]
    for place, line in enumerate(whole):
        damaged = bytearray(line)
        damaged[len(line) // 2] ^= 4
        path.write_bytes(b"".join([*whole[:place], bytes(damaged), *whole[place + 1 :]]))
        result = read_journal(path).result
        told = [warning.text for warning in result.warnings if f"journal.jsonl:{place + 1}: " in warning.text]
        assert len(told) == 1
        kept = {(case.name, turn.turn) for case, turn in result.turns() if turn.status != "skipped"}
        written = {
            (line["case"], line["turn"])
            for number, line in enumerate(good)
            if number != place and line["kind"] == "turn" and line["status"] != "skipped"
        }
        assert kept == written


@pytest.mark.parametrize("place", [0, 4])
def test_one_of_the_two_lines_of_the_run_is_enough(played, place):
    path = played.record.journal
    whole = lines(path)
    assert json.loads(whole[place])["kind"] == "run"
    path.write_bytes(b"".join([*whole[:place], b"x\n", *whole[place + 1 :]]))
    result = read_journal(path).result
    assert (result.suite_name, result.started_at) == (played.result.suite_name, played.result.started_at)


def test_without_the_line_of_a_case_its_turns_are_there(played):
    path = played.record.journal
    whole = lines(path)
    path.write_bytes(b"".join([whole[0], *whole[2:]]))
    result = read_journal(path).result
    assert [case.name for case in result.cases] == ["a", "case 2", "lost"]
    assert result.cases[0].turns == played.result.cases[0].turns


REFUSED = [
    #  content                                     message
    (b"",                                          "the journal is empty: nothing was played"),
    (b"name: agent\n",                             "this is no journal of a run"),
    (b"\xff\xfe\x00",                              "this is no journal of a run"),
    (journal_line({"kind": "turn", "case": "a"}),  "this is no journal of a run"),
    (journal_line({"kind": "run", "format": "holodeck_nb journal", "version": 2, "written_by": "h 9"}),
     "the journal is of version 2, by h 9; this one reads version 1"),
    (journal_line({"kind": "run", "format": "a log", "version": 1}),
     "the journal is of version 1, by another tool"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), REFUSED)
def test_what_is_refused(tmp_path, content, message):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read_journal(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="cannot read the journal: No such file"):
        read_journal(tmp_path / "journal.jsonl")


def test_unknown_lines_and_unknown_fields(played):
    """A line of a kind that is not known is passed over; one of odd fields is told."""
    path = played.record.journal
    with path.open("ab") as file:
        file.write(journal_line({"kind": "note", "text": "x"}))
        file.write(journal_line({"kind": "turn", "case": "a", "index": 0, "repeat": 0, "turn": 0}))
    result = read_journal(path).result
    assert result.cases == played.result.cases
    [told] = result.warnings[len(played.result.warnings) :]
    assert (
        told.text
        == "journal.jsonl:16: this line is left out: it is not as this version writes it (KeyError('input'))"
    )


def test_what_comes_after_the_end_is_dropped_in_memory_and_on_disk(runs):
    record = RunRecord(RunPlan("s", (CasePlan("a", 0, "a", multi_turn=True, turns=()),), journal=runs))
    record.begin()
    record.add(0, TURNS[3])
    result = record.conclude()
    record.add(0, TURNS[1])
    record.finish(0)
    assert record.conclude() is result
    assert [line["status"] for line in of_kind(record.journal, "turn")] == ["passed"]
    assert of_kind(record.journal, "case_ended") == []


class TestSecrets:
    def test_a_key_that_a_fault_quotes_is_starred_everywhere(self, play, runs):
        class Agent:
            async def create_session(self, context):
                return self

            async def send(self, message):
                raise RuntimeError("the key sk-secret-1 is not valid")

            async def close(self):
                raise RuntimeError("sk-secret-1")

        played = play(CASES[1:2], Agent(), journal=runs, secrets=("sk-secret-1",))
        assert b"sk-secret-1" not in played.record.journal.read_bytes()
        assert "sk-secret-1" not in repr(played.result) + repr(played.events)
        assert played.cases[0].turns[0].error == "RuntimeError: the key ********** is not valid"


def test_the_file_is_for_its_owner_and_readers_as_any_other(played):
    assert stat.S_IMODE(played.record.journal.stat().st_mode) & 0o600 == 0o600
