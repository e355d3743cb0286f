"""What the explorer lists and filters by: one light entry a case, computed once."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from holodeck_nb.results.records import Status

from .failing_reasons import reasons_of
from .plain_data import plain
from .visible_text import one_line, shortened
from .wording import MARKS

if TYPE_CHECKING:
    from holodeck_nb.results.records import TurnResult
    from holodeck_nb.results.rollup import CaseResult, RunResult

__all__ = ["NOT_PASSED", "Entry", "Index", "Matches", "Step", "Wanted"]

NOT_PASSED = "not passed"
_MOST_REASONS = 60  # in the list to choose from; the text filter finds the others
_NAME, _REASON = 200, 160
_SEARCHED = 20_000  # characters of one text that the text filter looks at


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter; "" lets everything through.

    Attributes:
        status: A status of cases, or `not passed`.
        text: Stands in the name, an input, a reply, a ground truth, a call or a reason; upper and lower case
            are the same.
        metric: The id of a metric that failed or broke on some turn.
        reason: A group of reasons, see `reasons_of`.
    """

    status: str = ""
    text: str = ""
    metric: str = ""
    reason: str = ""

    @classmethod
    def of(cls, told: Any) -> Self:
        """From what a front end sent, whatever that is."""
        data = told if isinstance(told, Mapping) else {}
        return cls(*(str(data.get(name) or "") for name in cls.__slots__))


@dataclass(frozen=True, slots=True)
class Entry:
    """One case of the list; `failing` are its turns that are not passed, from 0."""

    name: str
    status: Status
    turns: int
    passed: int
    failing: tuple[int, ...]
    metrics: frozenset[str]
    reasons: frozenset[str]
    reason: str


class Step(NamedTuple):
    """A turn, and where it stands: `line` in the list, `number` among the failures; -1 and 0: not in it."""

    place: int
    turn: int | None
    line: int
    number: int


@dataclass(frozen=True)
class Matches:
    """The cases that a filter lets through, by their places in the run, in order."""

    places: tuple[int, ...]
    failures: list[tuple[int, int]] = field(repr=False)

    def line_of(self, place: int) -> int:
        """Which line of the list a case is on; -1 where it is not listed."""
        line = bisect_left(self.places, place)
        return line if line < len(self.places) and self.places[line] == place else -1

    def step(self, place: int, turn: int | None, by: int) -> Step | None:
        """The next (1), previous (-1) failure, or where this turn stands (0); None where there is none."""
        here = (place, -1 if turn is None else turn)
        number = bisect_left(self.failures, here)
        if by == 0:
            known = number < len(self.failures) and self.failures[number] == here
            return Step(place, turn, self.line_of(place), number + 1 if known else 0)
        number = bisect_right(self.failures, here) if by > 0 else number - 1
        if not 0 <= number < len(self.failures):
            return None
        place, turn = self.failures[number]
        return Step(place, turn, self.line_of(place), number + 1)


class Index:
    """The cases of a run as the explorer lists them."""

    def __init__(self, run: RunResult) -> None:
        self._run = run
        self.entries = [_entry(case) for case in run.cases]
        self._latest: tuple[Wanted, Matches] | None = None

    def matches(self, wanted: Wanted) -> Matches:
        """The cases that the filter lets through; the latest answer is kept."""
        if self._latest is None or self._latest[0] != wanted:
            places = tuple(place for place in range(len(self.entries)) if self._fits(place, wanted))
            failures = [(place, turn) for place in places for turn in self.entries[place].failing]
            self._latest = wanted, Matches(places, failures)
        return self._latest[1]

    def row(self, place: int) -> dict[str, Any]:
        """What one line of the list shows, as JSON data."""
        entry = self.entries[place]
        return {
            "place": place,
            "name": entry.name,
            "status": entry.status,
            "mark": MARKS[entry.status],
            "turns": entry.turns,
            "passed": entry.passed,
            "reason": entry.reason,
        }

    @cached_property
    def choices(self) -> dict[str, list[tuple[str, int]]]:
        """What there is to choose from, with the number of cases: statuses, metrics, reasons."""
        statuses: Counter[str] = Counter(entry.status for entry in self.entries)
        metrics = Counter(metric for entry in self.entries for metric in entry.metrics)
        reasons = Counter(reason for entry in self.entries for reason in entry.reasons)
        not_passed = len(self.entries) - statuses["passed"]
        every: dict[str, int] = {NOT_PASSED: not_passed}
        every.update((status, statuses[status]) for status in MARKS)
        return {
            "status": [(status, count) for status, count in every.items() if count],
            "metric": _most(metrics),
            "reason": _most(reasons)[:_MOST_REASONS],
        }

    @cached_property
    def texts(self) -> list[str]:
        """What the text filter looks at, a case each, in lower case; made with the first search."""
        return [_text(case) for case in self._run.cases]

    @property
    def first(self) -> Step | None:
        """Where to begin: the first failing turn, else the first case; None for a run without cases."""
        every = self.matches(Wanted())
        if not every.places:
            return None
        return every.step(-1, None, 1) or Step(0, None, 0, 0)

    def _fits(self, place: int, wanted: Wanted) -> bool:
        entry = self.entries[place]
        if wanted.status == NOT_PASSED:
            if entry.status == "passed":
                return False
        elif wanted.status and entry.status != wanted.status:
            return False
        if wanted.metric and wanted.metric not in entry.metrics:
            return False
        if wanted.reason and wanted.reason not in entry.reasons:
            return False
        return not wanted.text.strip() or wanted.text.strip().casefold() in self.texts[place]


def _entry(case: CaseResult) -> Entry:
    failing = [] if case.passed else [turn for turn in case.turns if not turn.passed]
    repeat = f" (repeat {case.repeat})" if case.repeat else ""
    return Entry(
        name=f"{_name(case.name)}{repeat}",
        status=case.status,
        turns=len(case.turns),
        passed=len(case.turns) - len(failing),
        failing=tuple(turn.turn for turn in failing),
        metrics=frozenset(
            _name(metric.id) for turn in failing for metric in turn.metrics if metric.passed is False
        ),
        reasons=frozenset(reason for turn in failing for reason in reasons_of(turn)),
        reason=shortened(one_line((failing[0].reason or "")[: 2 * _REASON]), _REASON) if failing else "",
    )


def _name(text: str) -> str:
    return shortened(one_line(text[: 2 * _NAME]), _NAME)


def _text(case: CaseResult) -> str:
    parts = [case.name]
    for turn in case.turns:
        parts += _texts(turn)
    return "\n".join(part[:_SEARCHED] for part in parts).casefold()


def _texts(turn: TurnResult) -> list[str]:
    calls = [f"{call.name} {_arguments(call.args)} {call.error or ''}" for call in turn.tool_calls]
    return [turn.input, turn.response or "", turn.ground_truth or "", turn.reason or "", *calls]


def _arguments(args: Mapping[str, Any] | None) -> str:
    return json.dumps(plain(args), ensure_ascii=False) if args else ""


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent first, equals by name: no order of a set shows through."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
