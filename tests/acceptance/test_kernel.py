"""In a real kernel: any cell, twice in a row, awaited, interrupted (contract 10)."""

import gc
import os
import signal
import threading
import time
from textwrap import dedent

import nbformat
import pytest
from kernels import notebook_client

LOAD = """
    import asyncio, time
    import holodeck_nb as hd
    suite = hd.Suite(name="n", evaluations=[{"type": "equality"}], test_cases=[
        {"name": "n1", "turns": [{"input": "a", "ground_truth": "x"}, {"input": "b", "ground_truth": "x"}]},
        {"name": "n2", "input": "a", "ground_truth": "x"}])
    slow = {"text": "x", "delay_s": 0.1}
    backend = hd.ScriptedBackend({"n1": [slow, "x"], "n2": [slow]})
"""


# ipykernel and its channels close sockets when the garbage collector comes by.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def execute(*cells, interrupt_when=None):
    """Run the cells in a fresh kernel; what each printed or showed as text, errors as name and value."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(dedent(cell)) for cell in cells])
    client = notebook_client(notebook, kernel_name="python3", allow_errors=True)
    if interrupt_when is not None:
        threading.Thread(target=_interrupt, args=(client, interrupt_when), daemon=True).start()
    client.execute()
    del client
    gc.collect()  # its channels are closed here, and not in another test
    return [[_text(output) for output in cell.outputs] for cell in notebook.cells], notebook


def _interrupt(client, flag):
    while not flag.exists():
        time.sleep(0.02)
    os.kill(client.km.provisioner.pid, signal.SIGINT)


def _text(output):
    if output.output_type == "stream":
        return f"{output.name}: {output.text}"
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    return output.data["text/plain"]


def test_plain_cells_awaited_cells_and_again():
    outputs, _ = execute(
        LOAD,
        "suite.run(backend=backend, parallel_test_cases=2, quiet=True).summary.pass_rate",
        "(await suite.arun(backend=backend, quiet=True)).summary.pass_rate",
        """
        def failing(text):
            raise RuntimeError("down")
        suite.run(agent=failing, quiet=True).summary.cases_error
        """,
        "suite.run(backend=backend, quiet=True).summary.pass_rate",
        "(await suite.arun(backend=backend, quiet=True)).summary.pass_rate",
    )
    assert outputs == [[], ["1.0"], ["1.0"], ["2"], ["1.0"], ["1.0"]]


def test_progress_is_one_display_and_the_run_shows_itself():
    outputs, notebook = execute(LOAD, "run = suite.run(backend=backend)", "run")
    [progress] = outputs[1]
    assert "2 tests · 2 passed · 0 failed · pass rate 100.0 %" in progress
    [card] = notebook.cells[2].outputs
    assert card.data["text/plain"].startswith("<Run 'n': 2 of 2 cases passed")
    assert "100.0 %" in card.data["text/html"]


def test_other_tasks_of_the_notebook_live_on_while_a_run_is_awaited():
    outputs, _ = execute(
        LOAD,
        """
        beats = 0
        async def heart():
            global beats
            while True:
                beats += 1
                await asyncio.sleep(0.01)
        beating = asyncio.create_task(heart())
        run = await suite.arun(backend=backend, quiet=True)
        beating.cancel()
        beats > 5
        """,
    )
    assert outputs[1] == ["True"]


@pytest.mark.parametrize("verb", ["suite.run(", "await suite.arun("])
def test_an_interrupt_gives_control_back_and_keeps_the_turns(tmp_path, verb):
    flag = tmp_path / "playing"
    outputs, _ = execute(
        LOAD,
        f"""
        def agent(text):
            if text == "b":
                open({str(flag)!r}, "w").close()
                time.sleep(30)
            return "x"
        began = time.monotonic()
        {verb}agent=agent, quiet=True)
        """,
        "time.monotonic() - began < 8",
        "hd.last_run().turns['status'].tolist()",
        "suite.run(backend=backend, quiet=True).summary.pass_rate",
        interrupt_when=flag,
    )
    assert outputs[1][0].startswith(("KeyboardInterrupt", "CancelledError"))
    assert outputs[2:] == [["True"], ["['passed', 'skipped', 'skipped']"], ["1.0"]]


def test_the_notebooks_own_loop():
    outputs, _ = execute(
        LOAD,
        """
        here = asyncio.get_running_loop()
        async def agent(text):
            return "x" if asyncio.get_running_loop() is here else "elsewhere"
        suite.run(agent=agent, loop="notebook", quiet=True).summary.pass_rate
        """,
        "suite.run(agent=agent, loop='notebook', quiet=True).summary.pass_rate",
    )
    assert outputs[1:] == [["1.0"], ["1.0"]]
