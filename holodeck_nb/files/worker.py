"""The child process that reads files: bounded in memory and time, started by the pool and by nothing else."""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import IO, Any

from .extraction import FileError, ReadRequest
from .limits import MEMORY_BYTES, size_text
from .readers import read
from .wire import WireError, receive, send

__all__ = ["IDLE_SECONDS", "main"]

# A child that nobody asks for so long ends by itself; so does one whose parent died while it was reading.
IDLE_SECONDS = 120.0
_GRACE_SECONDS = 5.0

# A child that has grown beyond it is not used again: what a library has taken once it seldom gives back.
_LARGEST_TO_KEEP = 400 * 1024


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    requests, answers = _private_streams()
    _limit_memory()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    # openpyxl and pytesseract would import them where they are installed, though nothing here needs them.
    for name in ("numpy", "pandas"):
        sys.modules[name] = None  # type: ignore[assignment]  # this is how an import is forbidden
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.suppress(WireError):
        faulthandler.dump_traceback_later(IDLE_SECONDS, exit=True, file=nowhere)
        send(answers, {"ready": True})
        while True:
            asked = receive(requests)
            faulthandler.dump_traceback_later(asked["seconds"] + _GRACE_SECONDS, exit=True, file=nowhere)
            answer = _answer(asked["request"])
            answer["again"] = answer.get("again", True) and _peak_kib() < _LARGEST_TO_KEEP
            send(answers, answer)
            if not answer["again"]:
                return
            faulthandler.dump_traceback_later(IDLE_SECONDS, exit=True, file=nowhere)


def _answer(plain: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"read": read(ReadRequest.from_plain(plain)).to_plain()}
    except FileError as error:
        return {"error": str(error)}
    except MemoryError:
        text = f"reading it takes more than {size_text(MEMORY_BYTES)} of memory: ask for a part of it"
        return {"error": text, "again": False}
    except OSError as error:
        return {"error": f"it cannot be opened or is damaged: {error.strerror or _short(error)}"}
    except RecursionError:
        return {"error": "it is damaged: its parts refer to each other without end"}
    except Exception as error:  # noqa: BLE001 - the border to the libraries, which raise what they like on a damaged file
        return {"error": f"it is damaged or cannot be read: {type(error).__name__}: {_short(error)}"}


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _private_streams() -> tuple[IO[bytes], IO[bytes]]:
    """The pipes, out of reach of whatever a library may print."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return requests, answers


def _limit_memory() -> None:
    """Where the system knows such limits (Windows does not, macOS ignores it); time is bounded everywhere."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _peak_kib() -> int:
    """The most memory this process has had; 0 where it cannot be known, or not without the parent's."""
    # Not getrusage: on Linux its peak begins with what the parent had when it started this process.
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0
