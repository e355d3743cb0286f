"""Where journals are: one folder a run in `.holodeck/runs`, named by time and chance."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from holodeck_nb.errors import ConfigError, Problem

__all__ = ["JOURNAL", "find_journal", "journals_in", "known_folders", "new_run_folder", "runs_folder"]

JOURNAL = "journal.jsonl"
_RUNS = Path(".holodeck", "runs")
_TRIES = 100

# Where this process has kept runs: a notebook need not stand beside the suite that it runs.
_used: dict[Path, None] = {}


def runs_folder(folder: Path | None) -> Path:
    """The folder of the runs of a suite in `folder`; of the working directory for a suite without one."""
    return (folder or Path.cwd()) / _RUNS


def new_run_folder(runs: Path) -> Path:
    """Make the folder of a new run; its name is the run's id, sorts by time and is like no other.

    A `.holodeck` that is made here keeps itself out of version control.

    Raises:
        OSError: It cannot be made.
    """
    home = runs.parent if runs.name == _RUNS.name else None
    fresh = home is not None and home.name == _RUNS.parts[0] and not home.exists()
    runs.mkdir(parents=True, exist_ok=True)
    if fresh and home is not None:
        with contextlib.suppress(OSError):
            (home / ".gitignore").write_text("*\n", encoding="utf-8")
    _used[runs] = None
    for _ in range(_TRIES):
        moment = datetime.now(UTC)
        name = f"{moment:%Y%m%d-%H%M%S}-{moment.microsecond // 1000:03}-{secrets.token_hex(3)}"
        try:
            (runs / name).mkdir()
        except FileExistsError:
            continue
        return runs / name
    raise FileExistsError(f"no free name for a run in {runs}")


def known_folders() -> list[Path]:
    """The working directory's folder of runs, and those in which this process has kept some."""
    return list(dict.fromkeys([runs_folder(None), *_used]))


def journals_in(place: str | os.PathLike[str]) -> list[Path]:
    """The journals of a folder, the oldest first.

    Args:
        place: A folder of runs, a folder that has a `.holodeck/runs`, or a suite file beside one.
    """
    return sorted(_journals(Path(place)), key=lambda journal: journal.parent.name)


def find_journal(named: str | os.PathLike[str], folders: list[Path] | None = None) -> Path:
    """The journal that a path (of the file, or of its run's folder) or a run's id names.

    Raises:
        ConfigError: There is none; the message says where it was looked for, and which there are.
    """
    given = Path(named)
    folders = known_folders() if folders is None else folders
    for place in (given, *(folder / given for folder in folders)):
        if place.is_file():
            return place
        if (place / JOURNAL).is_file():
            return place / JOURNAL
    looked = ", ".join(str(folder) for folder in folders)
    there = [journal.parent.name for folder in folders for journal in journals_in(folder)]
    hint = f"there are {', '.join(there[-3:])}" if there else "hd.runs(folder) lists the runs of a folder"
    raise ConfigError([Problem(f"no run {os.fspath(named)!r}: looked in {looked}", hint=hint)])


def _journals(place: Path) -> Iterator[Path]:
    if place.is_file():
        place = place.parent
    for folder in (place, place / _RUNS):
        with contextlib.suppress(OSError):
            yield from (run / JOURNAL for run in folder.iterdir() if (run / JOURNAL).is_file())
