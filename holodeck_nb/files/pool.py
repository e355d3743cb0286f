"""A few warm child processes that read files, so that a bomb hits one of them and not the notebook."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from holodeck_nb.sync import TimeLimitError, bounded, in_thread

from .extraction import Extraction, FileError, ReadRequest
from .limits import MEMORY_BYTES, size_text
from .wire import WireError, receive, send
from .worker import IDLE_SECONDS

__all__ = ["read_in_child"]

# The child finds what this process finds, and nothing in the folder it happens to stand in (-P).
_START = (
    "import json, sys; more = json.loads(sys.argv.pop()); "
    "sys.path += [path for path in more if path not in sys.path]; "
    "from holodeck_nb.files.worker import main; main()"
)
# A child needs no keys: it opens files of unknown origin.
_VARIABLES = (
    "DYLD_LIBRARY_PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME",
    "SYSTEMROOT", "TEMP", "TESSDATA_PREFIX", "TMP", "TMPDIR", "USERPROFILE",
)  # fmt: skip
_MOST_IDLE = 4


async def read_in_child(request: ReadRequest, seconds: float) -> Extraction:
    """Read a file in a child process, within `seconds` and bounded memory; its start is not counted.

    Raises:
        FileError: It cannot be read as asked, or not within the bounds.
    """
    worker: _Worker = await in_thread(_ready_worker)
    try:
        answer = await bounded(in_thread(worker.ask, request, seconds), seconds)
    except TimeLimitError:
        worker.kill()
        raise FileError(f"reading it took more than {seconds:g} s (execution.file_timeout)") from None
    except WireError as error:
        raise FileError(worker.last_words()) from error
    except BaseException:
        worker.kill()
        raise
    if answer["again"]:
        worker.idle_since = time.monotonic()
        _idle.append(worker)
    else:
        worker.kill()
    if "error" in answer:
        raise FileError(answer["error"])
    return Extraction.from_plain(answer["read"])


class _Worker:
    """One child process; one request at a time."""

    def __init__(self) -> None:
        self.idle_since = time.monotonic()
        self.busy = False
        paths = [path for path in sys.path if path and Path(path).is_absolute()]
        root = str(Path(__file__).resolve().parents[2])
        environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
        self.process = subprocess.Popen(  # noqa: S603 - this very Python, with fixed arguments
            [sys.executable, "-P", "-X", "utf8", "-c", _START, json.dumps([*paths, root])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            # A group of its own: Ctrl-C is not for it, and what it starts (tesseract) ends with it.
            start_new_session=True,
        )
        _live.add(self)

    def ask(self, request: ReadRequest, seconds: float) -> Any:
        """Send a request and wait for the answer; to be called in a thread.

        Raises:
            WireError: The child has died, or was killed.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.busy = True
        try:
            send(self.process.stdin, {"request": request.to_plain(), "seconds": seconds})
            return receive(self.process.stdout)
        except WireError:
            self.kill()
            self.process.wait()
            raise
        finally:
            self.busy = False

    def greet(self) -> None:
        """Wait until it is ready.

        Raises:
            WireError: It could not start.
        """
        assert self.process.stdout is not None
        receive(self.process.stdout)

    @property
    def is_alive(self) -> bool:
        """Whether it runs and is not about to end for want of work."""
        return self.process.poll() is None and time.monotonic() - self.idle_since < IDLE_SECONDS / 2

    def last_words(self) -> str:
        """What its end tells of the file."""
        return (
            f"the process that read it broke off ({_how(self.process.returncode)}): the file is damaged, "
            f"or reading it takes more than {size_text(MEMORY_BYTES)} of memory"
        )

    def kill(self) -> None:
        """End it and what it started; whoever waits for its answer is told by the pipe."""
        with contextlib.suppress(OSError):
            if self.process.poll() is None:
                if sys.platform == "win32":
                    self.process.kill()
                else:
                    os.killpg(self.process.pid, signal.SIGKILL)

    def bury(self) -> None:
        """Give back what a dead one holds."""
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # what it never read cannot be flushed
                    stream.close()
        _live.discard(self)


# Shared by all runs of this process. A list's append and pop are atomic, and so are a set's add and discard.
_idle: list[_Worker] = []
_live: set[_Worker] = set()


def _ready_worker() -> _Worker:
    """A warm child, or a new one that has greeted; to be called in a thread.

    Raises:
        FileError: None can be started.
    """
    for worker in tuple(_live):
        if worker.process.poll() is not None and not worker.busy and worker not in _idle:
            worker.bury()
    while len(_idle) > _MOST_IDLE:
        _idle.pop(0).kill()
    while _idle:
        worker = _idle.pop()
        if worker.is_alive:
            return worker
        worker.kill()
        worker.bury()
    try:
        worker = _Worker()
        worker.greet()
    except (OSError, WireError) as error:
        raise FileError(f"no process to read files in could be started: {error}") from error
    return worker


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


@atexit.register
def _end_all() -> None:
    for worker in tuple(_live):
        worker.kill()
        worker.bury()


def _forget_all() -> None:
    """In a fork the children are somebody else's."""
    _idle.clear()
    _live.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
