"""Nothing is lost: processes killed and interrupted at random moments, two of them in one folder."""

import gc
import os
import random
import signal
import threading
import time
from textwrap import dedent

import killed_runs
import nbformat
import pytest
from kernels import notebook_client

import holodeck_nb as hd

KILLS, INTERRUPTS = 12, 5


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_process_has_lost_no_turn_that_it_had_reported(tmp_path, seed):
    """The full hundred: `python tests/bench/kill_runs.py`."""
    told = killed_runs.killing(tmp_path, seed)
    assert " 0 lost" in told or "nothing was played" in told


def test_two_processes_on_one_folder_do_not_mix(tmp_path):
    killed_runs.write_suite(tmp_path)
    children = [killed_runs.start(tmp_path) for _ in range(2)]
    said = [child.communicate(timeout=60)[0].splitlines() for child in children]
    frame = hd.runs(tmp_path)
    assert frame["state"].tolist() == ["complete", "complete"]
    assert len(set(frame["run"])) == 2
    reported = [killed_runs.Killed(lines, was_killed=False).turns() for lines in said]
    for path in frame["path"]:
        kept = {(c.name, t.turn, t.status) for c, t in hd.Run.load(path).result.turns()}
        assert kept in reported


def test_a_killed_process_next_to_a_living_one(tmp_path):
    killed_runs.write_suite(tmp_path)
    living, killed = killed_runs.start(tmp_path), killed_runs.start(tmp_path)
    assert killed.stdout.readline() == "ready\n"
    time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    living.communicate(timeout=60)
    states = hd.runs(tmp_path)["state"].tolist()
    assert states.count("complete") >= 1
    assert "going on" not in states
    assert "unreadable" not in states


@pytest.fixture
def collected():
    """The kernel's sockets are gone before another test meets them."""
    yield
    gc.collect()


# ipykernel and its channels close sockets when the garbage collector comes by.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("seed", range(INTERRUPTS))
def test_an_interrupted_cell_has_in_its_journal_what_the_last_run_has(tmp_path, seed):
    flag = tmp_path / "playing"
    after_s = random.Random(seed).uniform(0.0, 0.5)
    chosen = ("slow", "agent")[seed % 2]
    outputs = execute(
        tmp_path,
        flag,
        after_s,
        f"""
        import asyncio, time
        import holodeck_nb as hd
        hd.Suite(name="warm", test_cases=[dict(input="q")]).run(agent=str.upper, quiet=True).turns
        suite = hd.Suite(name="n", test_cases=[
            dict(name=f"n{{n}}", turns=[dict(input=f"{{n}}{{t}}", ground_truth=f"{{n}}{{t}}") for t in "abc"])
            for n in range(40)], evaluations=[dict(type="equality")])
        def agent(text):
            open({str(flag)!r}, "w").close()
            time.sleep(0.02)
            return text
        async def slow(text):
            open({str(flag)!r}, "w").close()
            await asyncio.sleep(0.02)
            return text
        """,
        f"suite.run(agent={chosen}, quiet=True, parallel_test_cases=2)",
        f"time.time() - float(open({str(flag) + '.sent'!r}).read()) < 2",
        "hd.Run.load(hd.last_run().journal).result == hd.last_run().result",
        "hd.last_run().result.stop_reason",
        f"""
        run = suite.run(agent={chosen}, quiet=True, parallel_test_cases=40, resume="latest")
        played = [text for text in run.warnings["text"] if "goes on with" in text]
        run.summary.turns_passed, len(played)
        """,
    )
    assert outputs[1][0].startswith("KeyboardInterrupt: ")
    assert outputs[2:] == [["True"], ["True"], ["'interrupted'"], ["(120, 1)"]]


def execute(folder, flag, after_s, *cells):
    """Run the cells in a fresh kernel that is interrupted so long after `flag` is there."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(dedent(cell)) for cell in cells])
    resources = {"metadata": {"path": str(folder)}}
    client = notebook_client(notebook, kernel_name="python3", allow_errors=True, resources=resources)

    def interrupt():
        while not flag.exists():
            time.sleep(0.01)
        time.sleep(after_s)
        flag.with_name(f"{flag.name}.sent").write_text(repr(time.time()))
        os.kill(client.km.provisioner.pid, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    environment = {**os.environ, "HOLODECK_JOURNAL": ""}
    client.execute(env=environment)
    return [[_text(output) for output in cell.outputs] for cell in notebook.cells]


def _text(output):
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    return output.text if output.output_type == "stream" else output.data["text/plain"]
