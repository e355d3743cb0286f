"""The runs that were kept, at a glance."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .engine.journal_folder import journals_in, known_folders
from .engine.journal_list import run_rows
from .views import run_frames

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["runs"]


def runs(folder: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """The runs that were kept, the oldest first: state, counts, tokens, cost, then every setting.

    `state` is `complete`, `stopped`, `going on`, `broken off` (its process died) or `unreadable`.

    Args:
        folder: A folder of runs, a folder with a `.holodeck/runs`, or a suite file. If left out: the working
            directory, and wherever this process has kept runs.

    Example:
        >>> runs("no/such/folder")["run"].tolist()
        []
    """
    places = known_folders() if folder is None else [folder]
    journals = [journal for place in places for journal in journals_in(place)]
    return run_frames.runs_frame(list(run_rows(sorted(journals, key=lambda path: path.parent.name))))
