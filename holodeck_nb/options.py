"""What a run is asked beside the limits of `execution`: journal, resume, part, repeats, budget."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from .engine.budget import Budget
from .engine.journal_folder import runs_folder
from .engine.plan import CasePlan, NamedCase, repeated
from .errors import ConfigError, Problem
from .views.progress_displays import in_a_kernel

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KeepingArguments", "RunArguments", "RunOptions", "journal_folder", "run_options"]

_WORDS = {
    **dict.fromkeys(("false", "no", "off", "0"), False),
    **dict.fromkeys(("true", "yes", "on", "1"), True),
}
_VARIABLE = "HOLODECK_JOURNAL"
_NAMES_SHOWN = 10


class KeepingArguments(TypedDict, total=False):
    """Where a run is kept, and what it goes on with; see `Suite.run`."""

    journal: bool | str | os.PathLike[str] | None
    resume: str | os.PathLike[str] | None


class RunArguments(KeepingArguments, total=False):
    """Arguments of `run`; see there."""

    resume_failed: bool
    only: pd.DataFrame | str | Iterable[str] | None
    repeats: int | None
    budget_usd: float | None
    budget_tokens: int | None
    max_minutes: float | None


@dataclass(frozen=True)
class RunOptions:
    """The same, checked.

    Attributes:
        journal: True, False, a folder of runs, or None for the default.
        resume: `"latest"`, a run's id or a path; None begins anew.
        resume_failed: Whether failed cases are played again too.
        only: By case, the repeats to play; None plays every case. An empty tuple of repeats: all of them.
        repeats: How often each case is played.
        budget: What the run may cost.
    """

    journal: bool | Path | None = None
    resume: str | os.PathLike[str] | None = None
    resume_failed: bool = False
    only: Mapping[str, tuple[int, ...]] | None = None
    repeats: int = 1
    budget: Budget = field(default_factory=Budget)

    def chosen(self, cases: Sequence[NamedCase]) -> list[NamedCase]:
        """The cases to play, in the suite's order.

        Raises:
            ConfigError: `only` names a case that is not among them.
        """
        if self.only is None:
            return list(cases)
        unknown = [name for name in self.only if name not in {named.name for named in cases}]
        if unknown:
            names = ", ".join(repr(named.name) for named in cases[:_NAMES_SHOWN])
            hint = f"its cases: {names}{', …' if len(cases) > _NAMES_SHOWN else ''}"
            raise ConfigError(
                Problem(f"{name!r} is no case of the suite", path="run(only=…)", hint=hint)
                for name in unknown
            )
        return [named for named in cases if named.name in self.only]

    def repeated(self, cases: Sequence[CasePlan]) -> tuple[CasePlan, ...]:
        """Each case as often as it is to be played, its repeats together."""
        only = self.only or {}
        most = max([self.repeats, *(repeat + 1 for wanted in only.values() for repeat in wanted)])
        return tuple(
            case
            for case in repeated(cases, most)
            if (case.repeat in only[case.name] if only.get(case.name) else case.repeat < self.repeats)
        )


def run_options(arguments: Mapping[str, Any], *, call: str = "run") -> tuple[RunOptions, dict[str, Any]]:
    """The options among the arguments of `run` (or another `call`), and the other arguments.

    Raises:
        ConfigError: Every option that is wrong.
    """
    given = {name: arguments[name] for name in RunArguments.__annotations__ if name in arguments}
    others = {name: value for name, value in arguments.items() if name not in given}
    problems: list[Problem] = []

    def number(name: str, kind: type[int | float]) -> Any:
        value = given.get(name)
        right = isinstance(value, int | kind) and not isinstance(value, bool) and 0 < value < float("inf")
        if value is None or right:
            return value
        wanted = "a whole number of at least 1" if kind is int else "a number above 0"
        problems.append(Problem(f"expected {wanted}, got {value!r}", path=f"{call}({name}=…)"))
        return None

    repeats = number("repeats", int)
    budget = Budget(number("budget_usd", float), number("budget_tokens", int), number("max_minutes", float))
    only = _only(given.get("only"), problems)
    if only is not None and repeats is not None:
        only = dict.fromkeys(only, ())
    journal = given.get("journal")
    if not isinstance(journal, bool | str | os.PathLike | None):
        message = f"expected a folder, True or False, got {type(journal).__name__}"
        problems.append(Problem(message, path=f"{call}(journal=…)"))
    resume = given.get("resume")
    if not isinstance(resume, str | os.PathLike | None):
        message = f'expected "latest", a run\'s id or a path, got {type(resume).__name__}'
        problems.append(Problem(message, path=f"{call}(resume=…)"))
    if problems:
        raise ConfigError(problems)
    options = RunOptions(
        journal=Path(journal) if isinstance(journal, str | os.PathLike) else journal,
        resume=resume,
        resume_failed=bool(given.get("resume_failed")),
        only=only,
        repeats=repeats or 1,
        budget=budget,
    )
    return options, others


def journal_folder(option: bool | Path | None, suite_folder: Path | None) -> Path | None:
    """The folder of runs in which a run keeps its journal; None where it keeps none.

    By default a suite that has a folder keeps one there, and every suite keeps one in a notebook, since
    kernels die; a suite made in Python by a script leaves nothing behind unless it is told to.
    `HOLODECK_JOURNAL` (true or false) is another default.

    Raises:
        ConfigError: The variable says neither.
    """
    if isinstance(option, Path):
        return option.absolute()
    if option is None:
        option = _from_environment()
    if option is None:
        option = suite_folder is not None or in_a_kernel()
    return runs_folder(suite_folder) if option else None


def _from_environment() -> bool | None:
    text = os.environ.get(_VARIABLE, "").strip().lower()
    if not text:
        return None
    if text not in _WORDS:
        raise ConfigError([Problem(f"expected true or false, got {text!r}", path=_VARIABLE)])
    return _WORDS[text]


def _only(given: Any, problems: list[Problem]) -> dict[str, tuple[int, ...]] | None:
    """By case, which repeats; from the rows of a frame, a list of names, or one name."""
    if given is None:
        return None
    if isinstance(given, str):
        return {given: ()}
    columns = getattr(given, "columns", None)
    if columns is not None:
        return _of_frame(given, list(columns), problems)
    try:
        names = list(given)
    except TypeError:
        names = [None]
    if all(isinstance(name, str) for name in names):
        return dict.fromkeys(names, ())
    message = "expected rows of a frame like run.failures, or names of cases"
    problems.append(Problem(f"{message}, got {type(given).__name__}", path="run(only=…)"))
    return None


def _of_frame(frame: Any, columns: list[Any], problems: list[Problem]) -> dict[str, tuple[int, ...]] | None:
    if "case" not in columns:
        hint = "run.failures has one"
        problems.append(Problem("a frame needs a column `case`", path="run(only=…)", hint=hint))
        return None
    cases = [str(name) for name in frame["case"]]
    repeats = [int(repeat) for repeat in frame["repeat"]] if "repeat" in columns else None
    if repeats is None:
        return dict.fromkeys(cases, ())
    wanted: dict[str, dict[int, None]] = {}
    for case, repeat in zip(cases, repeats, strict=True):
        wanted.setdefault(case, {})[repeat] = None
    return {case: tuple(sorted(numbers)) for case, numbers in wanted.items()}
