"""The child processes: started once, bounded, and none takes the parent along."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import documents
import pytest
from file_servers import wait_until

from holodeck_nb.files import pool
from holodeck_nb.files.extraction import FileError, ReadRequest
from holodeck_nb.files.pool import read_in_child


@pytest.fixture(autouse=True)
def fresh_pool():
    """No child of another test; none is left behind."""
    pool._end_all()
    pool._idle.clear()
    yield
    pool._end_all()
    pool._idle.clear()


@pytest.fixture
def text_file(tmp_path):
    (tmp_path / "t.txt").write_text("net cash 206588")
    return ReadRequest(str(tmp_path / "t.txt"), "text", 1000)


def outcome(request, seconds=20.0):
    """What comes of it: the text, or the error's message."""
    try:
        return asyncio.run(read_in_child(request, seconds)).text
    except FileError as error:
        return str(error)


async def begun():
    """Wait until a child is reading."""
    while not any(worker.busy for worker in pool._live):  # noqa: ASYNC110 - it begins in a thread
        await asyncio.sleep(0.01)


def test_the_child_stays_for_the_next_file(text_file):
    assert outcome(text_file) == "net cash 206588"
    [first] = pool._live
    assert outcome(text_file) == "net cash 206588"
    assert set(pool._live) == {first}


def test_several_at_once(text_file):
    async def main():
        return await asyncio.gather(*(read_in_child(text_file, 20.0) for _ in range(3)))

    assert [extraction.text for extraction in asyncio.run(main())] == ["net cash 206588"] * 3
    assert len(pool._live) == 3


def test_an_error_costs_no_child(text_file, tmp_path):
    assert "No such file" in outcome(ReadRequest(str(tmp_path / "none.txt"), "text", 100))
    assert outcome(text_file) == "net cash 206588"
    assert len(pool._live) == 1


def test_a_child_that_takes_too_long_is_killed(tmp_path, text_file):
    outcome(text_file)
    os.mkfifo(tmp_path / "p")  # opening it waits for a writer that never comes
    clock = time.perf_counter()
    said = outcome(ReadRequest(str(tmp_path / "p"), "text", 100), seconds=0.2)
    assert said == "reading it took more than 0.2 s (execution.file_timeout)"
    assert time.perf_counter() - clock < 2
    assert wait_until(lambda: all(worker.process.poll() is not None for worker in pool._live))
    assert outcome(text_file) == "net cash 206588"


def test_a_cancelled_reading_kills_its_child(tmp_path):
    os.mkfifo(tmp_path / "p")

    async def main():
        task = asyncio.create_task(read_in_child(ReadRequest(str(tmp_path / "p"), "text", 100), 60.0))
        await begun()
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(main())
    assert wait_until(lambda: all(worker.process.poll() is not None for worker in pool._live))


def test_a_child_that_dies_says_so(tmp_path):
    os.mkfifo(tmp_path / "p")

    async def main():
        task = asyncio.create_task(read_in_child(ReadRequest(str(tmp_path / "p"), "text", 100), 60.0))
        await begun()
        [worker] = pool._live
        os.kill(worker.process.pid, signal.SIGSEGV)
        with pytest.raises(FileError, match=r"the process that read it broke off \(signal SIGSEGV\)"):
            await task

    asyncio.run(main())


def test_an_idle_child_that_died_is_replaced(text_file):
    outcome(text_file)
    [worker] = pool._live
    worker.process.kill()
    worker.process.wait()
    assert outcome(text_file) == "net cash 206588"
    assert worker not in pool._live


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
def test_memory_is_bounded(tmp_path):
    script = textwrap.dedent("""
        import resource
        from holodeck_nb.files import worker
        worker._limit_memory()
        try:
            hoard = bytearray(2 * 1024**3)
        except MemoryError:
            print("bounded")
    """)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "bounded"


def test_the_child_does_not_run_the_parents_script(tmp_path, text_file):
    """A notebook or a script without `if __name__ == "__main__"` must not be run a second time."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import asyncio
        from holodeck_nb.files.extraction import ReadRequest
        from holodeck_nb.files.pool import read_in_child
        print("once")
        print(asyncio.run(read_in_child(ReadRequest({text_file.path!r}, "text", 100), 20)).text)
        """)
    )
    (tmp_path / "zipfile.py").write_text("raise SystemExit('the wrong module')")
    run = subprocess.run(
        [sys.executable, "-P", script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (run.stdout, run.stderr) == ("once\nnet cash 206588\n", "")


def test_no_key_goes_to_the_child(text_file, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    outcome(text_file)
    [worker] = pool._live
    assert b"sk-secret" not in Path(f"/proc/{worker.process.pid}/environ").read_bytes()


def test_the_child_ends_with_the_parent(tmp_path, text_file):
    script = textwrap.dedent(f"""
        import asyncio, os
        from holodeck_nb.files import pool
        from holodeck_nb.files.extraction import ReadRequest
        asyncio.run(pool.read_in_child(ReadRequest({text_file.path!r}, "text", 100), 20))
        [worker] = pool._live
        print(worker.process.pid, flush=True)
        os._exit(1)  # no clean end
    """)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    pid = int(run.stdout)

    def is_gone():
        try:
            return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
        except FileNotFoundError:
            return True

    assert wait_until(is_gone)


class TestBombs:
    def test_a_pdf_that_unpacks_to_gigabytes(self, tmp_path, text_file):
        path = documents.pdf_bomb(tmp_path / "bomb.pdf")
        said = outcome(ReadRequest(str(path), "pdf", 1000))
        assert said == "page 1 unpacks to more than is safe to read: this looks like a bomb"
        assert outcome(text_file) == "net cash 206588"

    def test_a_workbook_that_unpacks_to_gigabytes(self, tmp_path):
        path = documents.zip_bomb(tmp_path / "bomb.xlsx", size=96 * 1024**2)
        assert "zip bomb" in outcome(ReadRequest(str(path), "excel", 1000))

    def test_entities_that_multiply(self, tmp_path):
        import zipfile

        document = documents.word(tmp_path / "w.docx", lambda document: document.add_paragraph("x"))
        entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
        laughs = f'<!DOCTYPE x [<!ENTITY e0 "ha">{entities}]>'
        with zipfile.ZipFile(document) as good, zipfile.ZipFile(tmp_path / "b.docx", "w") as bad:
            for name in good.namelist():
                body = good.read(name).decode() if name.endswith(".xml") else good.read(name)
                if name == "word/document.xml":
                    head, _, rest = body.partition("?>")
                    body = head + "?>" + laughs + rest.replace("<w:t>x</w:t>", "<w:t>&e11;</w:t>")
                bad.writestr(name, body)
        said = outcome(ReadRequest(str(tmp_path / "b.docx"), "word", 1000))
        assert len(said) < 1000
        assert "haha" not in said
