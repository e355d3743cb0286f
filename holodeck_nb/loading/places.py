"""From a place in the data to file, line, case name and path: where an author looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from yaml.nodes import Node

from holodeck_nb.errors import ConfigError, Problem
from holodeck_nb.results.names import case_names

from .findings import Finding, Location, path_text
from .nodes import find

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Places", "Source", "case_of", "named_cases"]

_MASK = "********"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that gave a part of the data.

    Attributes:
        name: As the user named it; None for data made in Python.
        root: Its tree of nodes; None for data made in Python.
        mount: The place in the suite's data where the file's own root stands.
    """

    name: str | None = None
    root: Node | None = None
    mount: Location = ()

    def own(self, place: Location) -> Location:
        """The place seen from the root of this file."""
        return place[len(self.mount) :]


@dataclass(frozen=True, slots=True)
class Places:
    """Where each part of a suite's data was written.

    Attributes:
        data: The suite's data, the cases of a `test_cases_file` included.
        suite: The suite's own file.
        cases: The `test_cases_file`; None where the cases are the suite's own.
        secrets: Values that no message may show.
    """

    data: Mapping[str, Any]
    suite: Source
    cases: Source | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def problems(self, findings: Iterable[Finding]) -> list[Problem]:
        """Every mistake with its place, in the order of the files."""
        names = named_cases(self.data)
        located = [self._located(finding, names) for finding in _one_each(findings)]
        told: dict[tuple[Any, ...], Problem] = {}
        for order, problem in sorted(located, key=lambda pair: pair[0]):
            # What stands below an anchor is one mistake, however many aliases lead to it.
            spot = order[:3] if problem.line is not None else order
            told.setdefault((*spot, problem.path.rpartition(".")[2], problem.message), problem)
        return list(told.values())

    def error(self, findings: Iterable[Finding]) -> ConfigError:
        """The mistakes as one error."""
        return ConfigError(self.problems(findings))

    def _located(self, finding: Finding, names: Sequence[str]) -> tuple[tuple[Any, ...], Problem]:
        source = self.suite
        if self.cases is not None and finding.place[:1] == ("test_cases",):
            source = self.cases
        place = source.own(finding.place)
        line, column = (None, 0) if source.root is None else find(source.root, place)
        if finding.line is not None:
            line, column = finding.line, 0
        problem = Problem(
            self._masked(finding.message),
            path=path_text(place),
            file=source.name,
            line=line,
            case=case_of(finding.place, names),
            hint=finding.hint and self._masked(finding.hint),
        )
        order = (source is not self.suite, line or 0, column, _rank(self.data, finding.place))
        return order, problem

    def _masked(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, _MASK)
        return text


def _one_each(findings: Iterable[Finding]) -> list[Finding]:
    """One mistake, one message: the first word about a place holds."""
    first: dict[Location, Finding] = {}
    for finding in findings:
        first.setdefault(finding.place, finding)
    return list(first.values())


def _rank(data: Any, place: Location) -> tuple[int, ...]:
    """The order of a place among the data: the position of each step."""
    ranks: list[int] = []
    for step in place:
        if isinstance(data, dict):
            ranks.append(list(data).index(step) if step in data else len(data))
            data = data.get(step)
        elif isinstance(step, int):
            ranks.append(step)
            data = data[step] if isinstance(data, list) and step < len(data) else None
    return tuple(ranks)


def case_of(place: Location, names: Sequence[str]) -> str | None:
    """The name of the case that a place lies in."""
    if len(place) > 1 and place[0] == "test_cases" and isinstance(place[1], int) and place[1] < len(names):
        return names[place[1]]
    return None


def named_cases(data: Mapping[str, Any]) -> list[str]:
    """What the cases are called in messages and results, however broken they are."""
    cases = data.get("test_cases")
    return case_names([_given_name(case) for case in cases] if isinstance(cases, list) else [])


def _given_name(case: Any) -> str | None:
    given = case.get("name") if isinstance(case, dict) else None
    return str(given) if isinstance(given, str | int | float) and str(given).strip() else None
