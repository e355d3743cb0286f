"""A journal on a disk that is full, read-only, slow or hung: the run goes on, and says so."""

import os
import threading
import time

import numpy as np
import pytest
from mounted import Mounted

import holodeck_nb as hd
from holodeck_nb.engine import journal as journal_module
from holodeck_nb.engine.journal_reader import read_journal
from holodeck_nb.engine.plan import CasePlan, RunPlan
from holodeck_nb.engine.record import RunRecord
from holodeck_nb.results.records import TurnResult

CASES = [
    {"name": "a", "turns": [{"input": "one"}, {"input": "two"}]},
    {"input": "three"},
    {"name": "b", "turns": [{"input": "u"}, {"input": "v"}]},
]
REPLIES = {"a": ["1", "2"], "#1": ["3"], "b": ["u", "v"]}


@pytest.fixture
def runs(tmp_path):
    return tmp_path / ".holodeck" / "runs"


SAYING = {f"c{n}": ["a" * 500] for n in range(40)}


class TestADiskThatSaysNo:
    def test_a_folder_that_cannot_be_made(self, play, tmp_path):
        (tmp_path / "file").write_text("")
        played = play(CASES, REPLIES, journal=tmp_path / "file" / "runs")
        assert [case.status for case in played.cases] == ["passed", "passed", "passed"]
        [text] = [warning.text for warning in played.result.warnings if "journal" in warning.text]
        assert text == (
            f"there is no journal, this run is in memory alone: cannot write in {tmp_path / 'file' / 'runs'}"
            " (Not a directory). Keep it with run.save(folder), or name a folder that can be written:"
            " run(journal=…)"
        )
        assert played.record.journal is None

    def test_a_read_only_folder(self, play, tmp_path):
        mount = Mounted(tmp_path / "disk", "ro")
        with mount as disk:
            played = play(CASES, REPLIES, journal=disk)
        assert [case.status for case in played.cases] == ["passed", "passed", "passed"]
        assert "Read-only file system" in "".join(warning.text for warning in played.result.warnings)

    def test_a_disk_that_fills_up_keeps_what_it_had_and_the_run_goes_on(self, play, tmp_path):
        with Mounted(tmp_path / "disk", "size=64k") as disk:
            cases = [{"name": f"c{n}", "input": "q" * 2000} for n in range(40)]
            played = play(cases, SAYING, journal=disk)
            assert {case.status for case in played.cases} == {"passed"}
            [text] = [
                warning.text for warning in played.result.warnings if "cannot be written" in warning.text
            ]
            assert "(No space left on device): the run goes on in memory. Make room, and" in text
            content = played.record.journal.read_bytes()
            assert content == b"" or content.endswith(b"\n")

    def test_a_run_that_does_not_fit_is_not_saved_in_part(self, play, tmp_path):
        run = hd.Run(play([{"name": f"c{n}", "input": "q" * 2000} for n in range(40)], SAYING).result)
        with Mounted(tmp_path / "disk", "size=64k") as disk:
            with pytest.raises(OSError, match="No space left on device"):
                run.save(disk)
            assert list(disk.glob("*/*")) == []

    def test_what_was_missing_is_written_when_there_is_room_again(self, play, tmp_path):
        with Mounted(tmp_path / "disk", "size=64k") as disk:
            ballast = disk / "ballast"
            ballast.write_bytes(b"x" * 4096 * 11)

            class Agent:
                async def create_session(self, context):
                    if context.index == 30:
                        ballast.unlink()
                    return self

                async def send(self, message):
                    return hd.Reply("a" * 300)

                async def close(self):
                    pass

            played = play([{"name": f"c{n}", "input": "q"} for n in range(40)], Agent(), journal=disk)
            assert any("cannot be written" in warning.text for warning in played.result.warnings)
            assert read_journal(played.record.journal).result == played.result

    def test_an_answer_that_cannot_be_written_costs_its_line_alone(self, play, runs):
        class Wicked(dict):
            def items(self):
                raise RuntimeError("no")

            def __iter__(self):
                raise RuntimeError("no")

        class Agent:
            async def create_session(self, context):
                return self

            async def send(self, message):
                calls = (
                    (hd.ToolInvocation("f", {"n": np.int64(3)}, Wicked(a=1)),)
                    if message.text == "one"
                    else ()
                )
                return hd.Reply("1", tool_calls=calls)

            async def close(self):
                pass

        played = play(CASES[:1], Agent(), journal=runs)
        read = read_journal(played.record.journal)
        assert [turn.status for _, turn in read.result.turns()][1] == "passed"
        assert any("a line of the journal could not be written" in w.text for w in played.result.warnings)


def test_a_disk_that_hangs_does_not_keep_an_interrupted_cell_waiting(runs, monkeypatch):
    hanging, released = threading.Event(), threading.Event()

    def hangs(file, block):
        hanging.set()
        released.wait(10)

    plan = RunPlan("s", (CasePlan("a", 0, "a", multi_turn=True, turns=()),), journal=runs)
    record = RunRecord(plan)
    record.begin()
    monkeypatch.setattr(journal_module, "_write_all", hangs)
    thread = threading.Thread(target=record.add, args=(0, TurnResult(0, "q", response="x")))
    thread.start()
    hanging.wait(10)
    begun = time.monotonic()
    result = record.conclude()
    assert time.monotonic() - begun < 2
    assert [turn.status for _, turn in result.turns()] == ["passed"]
    released.set()
    thread.join()


class TestTheDiskIsWaitedFor:
    """Written is safe from the death of the process; secured from that of the machine too."""

    @pytest.fixture
    def synced(self, monkeypatch):
        calls = []
        monkeypatch.setattr(os, "fsync", calls.append)
        return calls

    def test_at_the_end_of_the_run_and_not_at_each_turn(self, play, runs, synced):
        play(CASES, REPLIES, journal=runs)
        assert len(synced) == 1

    def test_at_the_end_of_cases_now_and_then(self, play, runs, synced, monkeypatch):
        monkeypatch.setattr(journal_module, "_SYNC_EVERY_S", 0.0)
        play(CASES, REPLIES, journal=runs)
        assert len(synced) == len(CASES) + 1

    def test_a_disk_that_cannot_be_waited_for(self, play, runs, monkeypatch):
        def failing(descriptor):
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(journal_module, "_SYNC_EVERY_S", 0.0)
        monkeypatch.setattr(os, "fsync", failing)
        played = play(CASES, REPLIES, journal=runs)
        told = [warning.text for warning in played.result.warnings if "Input/output" in warning.text]
        assert len(told) == 1
        assert "may not be on disk (Input/output error)" in told[0]
        assert read_journal(played.record.journal).result.cases == played.result.cases
