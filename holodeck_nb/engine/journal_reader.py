"""A journal read back as the run it tells of, however it ended; what is damaged is said and left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from holodeck_nb.collection import paused
from holodeck_nb.errors import ConfigError, Problem
from holodeck_nb.results.records import RunWarning, TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult, warnings_of

from .journal import FORMAT, VERSION, is_open
from .journal_lines import LineError, read_lines
from .journal_records import asked_of, moment, turn_of, warning_of
from .journal_run import RunFacts

__all__ = ["ReadJournal", "journal_facts", "read_journal"]

BROKE_OFF = "the run broke off: its process ended before it did"
GOES_ON = "the run is still going on in another process"

_FIRST_BYTES = 65_536

_Key = tuple[str, int]


@dataclass(frozen=True)
class ReadJournal:
    """A run from its journal.

    Attributes:
        path: The file.
        facts: What the run was.
        result: What happened; turns of which the journal has nothing are skipped.
        is_open: Whether a living process still writes it.
        is_whole: Whether the run came to its end, if only an early one.
    """

    path: Path
    facts: RunFacts
    result: RunResult
    is_open: bool
    is_whole: bool


def read_journal(path: Path) -> ReadJournal:
    """Read a journal.

    A last line that was cut off is left out, and so is a damaged one; a warning of the result names each.

    Raises:
        ConfigError: The file cannot be read, is no journal, or was written by a later version.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        message = f"cannot read the journal: {error.strerror or error}"
        raise ConfigError([Problem(message, file=str(path))]) from error
    alive = is_open(path)
    with paused():
        reading = _Reading(path)
        reading.read(content)
        facts = reading.facts()
        result = reading.result(facts, alive=alive)
    return ReadJournal(path, facts, result, is_open=alive, is_whole=reading.end is not None)


def journal_facts(path: Path) -> RunFacts | None:
    """What the first lines alone tell of a run; None where they do not tell it, or not to this version."""
    reading = _Reading(path)
    try:
        with path.open("rb") as file:
            reading.read(file.read(_FIRST_BYTES).rpartition(b"\n")[0])
    except (OSError, ConfigError):
        return None
    return reading.facts()


@dataclass
class _Case:
    """What the journal says of one case: how it was planned, and of each repeat what was played."""

    name: str
    index: int
    given_name: str | None = None
    multi_turn: bool = True
    asked: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    fingerprints: dict[int, Mapping[str, str]] = field(default_factory=dict)


class _Reading:
    """Lines into a run, one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run: dict[str, Any] | None = None
        self.end: dict[str, Any] | None = None
        self.warnings: list[RunWarning] = []
        self.faults: list[RunWarning] = []
        self._cases: dict[str, _Case] = {}
        self._turns: dict[_Key, dict[int, TurnResult]] = {}
        self._ended: dict[_Key, datetime] = {}

    def read(self, content: bytes) -> None:
        cut = bool(content) and not content.endswith(b"\n")
        last = content.count(b"\n") + 1
        for number, line in read_lines(content):
            if isinstance(line, LineError):
                if cut and number == last:
                    self._fault(number, "was cut off while it was written, and is left out")
                else:
                    self._fault(number, f"is damaged and left out: {line}")
                continue
            try:
                self._take(line)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                self._fault(number, f"is left out: it is not as this version writes it ({error!r})")
        if self.run is None:
            raise ConfigError([self._no_journal(content)])

    def _take(self, line: dict[str, Any]) -> None:
        match line["kind"]:
            case "turn":
                turn = turn_of(line)
                case = self._case(line["case"], line["index"])
                self._turns.setdefault((case.name, line["repeat"]), {})[turn.turn] = turn
            case "run":
                self._check_version(line)
                self.run = self.run or line
            case "case":
                asked = [
                    {"turn": asked.get("turn", place), **asked_of(asked)}
                    for place, asked in enumerate(line["turns"])
                ]
                case = self._case(line["case"], line["index"])
                case.given_name, case.multi_turn = line["given_name"], line["multi_turn"]
                case.asked |= dict.fromkeys(line["repeats"], asked)
                case.fingerprints |= dict.fromkeys(line["repeats"], line["fingerprints"])
            case "case_ended":
                self._ended[line["case"], line["repeat"]] = moment(line["finished_at"])
            case "warning":
                self.warnings.append(warning_of(line))
            case "end":
                self.end = line

    def _case(self, name: str, index: int) -> _Case:
        if name not in self._cases:
            self._cases[name] = _Case(name, index)
        return self._cases[name]

    def _check_version(self, line: Mapping[str, Any]) -> None:
        if line["format"] == FORMAT and line["version"] <= VERSION:
            return
        message = (
            f"the journal is of version {line['version']}, by {line.get('written_by', 'another tool')};"
            f" this one reads version {VERSION}"
        )
        hint = "pip install --upgrade holodeck-nb"
        raise ConfigError([Problem(message, file=str(self.path), hint=hint)])

    def _no_journal(self, content: bytes) -> Problem:
        found = "this is no journal of a run" if content else "the journal is empty: nothing was played"
        told = "; ".join(fault.text for fault in self.faults[:3])
        return Problem(f"{found}{f' ({told})' if told else ''}", file=str(self.path))

    def _fault(self, number: int, text: str) -> None:
        self.faults.append(RunWarning(f"{self.path.name}:{number}: this line {text}"))

    def facts(self) -> RunFacts:
        run = self.run or {}
        started_at = run["started_at"]
        return RunFacts(
            run_id=run["run"],
            suite_name=run["suite"],
            suite_path=run["suite_path"],
            started_at=None if started_at is None else moment(started_at),
            settings=run["settings"],
            environment=run["environment"],
            agent=run["agent"],
            agent_fingerprint=run["agent_fingerprint"],
            resumed_from=run["resumed_from"],
            made_by=run.get("made_by", "run"),
            rescored_from=run.get("rescored_from"),
            fingerprints={
                (case.name, repeat): marks
                for case in self._cases.values()
                for repeat, marks in case.fingerprints.items()
            },
        )

    def result(self, facts: RunFacts, *, alive: bool) -> RunResult:
        end = self.end or {"stop_reason": GOES_ON if alive else BROKE_OFF, "duration_ms": None}
        cases = tuple(self._results(end["stop_reason"] or "not played"))
        planned = 0 if self.run is None else self.run["cases"]
        if len(cases) < planned:
            self.faults.append(
                RunWarning(f"{planned - len(cases)} of {planned} cases are not in the journal")
            )
        return RunResult(
            suite_name=facts.suite_name,
            cases=cases,
            suite_path=facts.suite_path,
            started_at=facts.started_at,
            duration_ms=end["duration_ms"],
            settings=facts.settings,
            environment=facts.environment,
            warnings=(*self.warnings, *([] if self.end else warnings_of(cases)), *self.faults),
            stop_reason=end["stop_reason"],
        )

    def _results(self, reason: str) -> Iterator[CaseResult]:
        for case in sorted(self._cases.values(), key=lambda case: case.index):
            repeats = case.asked or sorted(repeat for name, repeat in self._turns if name == case.name)
            for repeat in repeats:
                played = self._turns.get((case.name, repeat), {})
                asked = case.asked.get(repeat) or [{"turn": turn} for turn in sorted(played)]
                yield CaseResult(
                    name=case.name,
                    index=case.index,
                    turns=tuple(
                        [played.get(turn["turn"]) or TurnResult(**turn, skip_reason=reason) for turn in asked]
                    ),
                    given_name=case.given_name,
                    multi_turn=case.multi_turn,
                    repeat=repeat,
                    finished_at=self._ended.get((case.name, repeat)),
                )
