"""The journals of a folder at a glance: what each run was, how it stands, what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from holodeck_nb.errors import ConfigError

from .journal import is_open
from .journal_lines import LineError, read_line
from .journal_reader import journal_facts, read_journal
from .journal_run import RunFacts, end_line

__all__ = ["run_rows"]

_LAST_BYTES = 65_536


def run_rows(journals: list[Path]) -> Iterator[dict[str, Any]]:
    """One mapping a journal, its settings under `settings`.

    `state` is `complete`, `stopped` (it ended early, `stop_reason` says why), `going on` (a living process
    writes it), `broken off` (its process died) or `unreadable`. Of a run that has ended only the first and
    the last lines are read.
    """
    for journal in journals:
        row: dict[str, Any] = {"run": journal.parent.name, "path": str(journal)}
        facts, end = journal_facts(journal), _end(journal)
        if facts is not None and end is not None:
            yield (
                row
                | _facts(facts)
                | _counts(end, facts)
                | {"state": "stopped" if end["stop_reason"] else "complete"}
            )
            continue
        try:
            read = read_journal(journal)
        except ConfigError as error:
            yield row | {"state": "unreadable", "stop_reason": str(error)}
            continue
        state = "going on" if is_open(journal) else "broken off"
        yield row | _facts(read.facts) | _counts(end_line(read.result), read.facts) | {"state": state}


def _end(journal: Path) -> Mapping[str, Any] | None:
    """The last line, if it is a run's end."""
    try:
        with journal.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _LAST_BYTES))
            line = read_line(file.read().rstrip(b"\n").rpartition(b"\n")[2])
    except (OSError, LineError):
        return None
    return line if line.get("kind") == "end" else None


def _facts(facts: RunFacts) -> dict[str, Any]:
    return {
        "suite": facts.suite_name,
        "suite_path": facts.suite_path,
        "started_at": facts.started_at,
        "agent": facts.agent,
        "resumed_from": facts.resumed_from,
        "made_by": facts.made_by,
        "rescored_from": facts.rescored_from or None,
        "settings": facts.settings,
    }


def _counts(end: Mapping[str, Any], facts: RunFacts) -> dict[str, Any]:
    summary = end["summary"]
    names = ["cases", "cases_passed", "turns", "turns_passed"]
    if facts.rescored_from is None:  # else no agent was called, and what it had taken counts for its own run
        names += ["total_tokens", "cost_usd"]
    return {
        **{name: summary[name] for name in names},
        "turns_played": summary["turns"] - summary["turns_skipped"],
        "stop_reason": end["stop_reason"],
        "duration_ms": end["duration_ms"],
    }
