"""A run that is in memory, written as a journal."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

from holodeck_nb.errors import ConfigError
from holodeck_nb.results.rollup import RunResult

from .journal import Journal
from .journal_folder import runs_folder
from .journal_reader import read_journal
from .journal_run import RunFacts, result_lines

__all__ = ["save_run"]


def save_run(result: RunResult, runs: Path | None, *, like: Path | None) -> Path:
    """Write every line of a run into a new folder of `runs`.

    Args:
        result: The run.
        runs: The folder of runs; None for that of the working directory.
        like: The journal that the run was kept in: what it knows of the agent and the cases is taken along.

    Raises:
        OSError: It cannot be written; nothing is left that could be taken for the run.
    """
    journal = Journal(runs_folder(None) if runs is None else runs.absolute())
    if not journal.begin() or journal.path is None:
        raise OSError(journal.trouble)
    known = _facts(like)
    facts = RunFacts(
        run_id=journal.path.parent.name,
        suite_name=result.suite_name,
        suite_path=result.suite_path,
        started_at=result.started_at,
        settings=result.settings,
        environment=result.environment,
    )
    if known is not None:
        facts = replace(
            facts,
            agent=known.agent,
            agent_fingerprint=known.agent_fingerprint,
            resumed_from=known.resumed_from,
            made_by=known.made_by,
            rescored_from=known.rescored_from,
            fingerprints=known.fingerprints,
        )
    journal.write(result_lines(result, facts))
    journal.close(secure=True)
    if journal.trouble is not None:
        journal.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            journal.path.parent.rmdir()
        raise OSError(journal.trouble)
    return journal.path


def _facts(journal: Path | None) -> RunFacts | None:
    if journal is None:
        return None
    try:
        return read_journal(journal).facts
    except ConfigError:  # it is gone: the run itself is in memory
        return None
