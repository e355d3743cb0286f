"""The files that a suite is written in: its own, and the one with its test cases."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holodeck_nb.errors import ConfigError, Problem
from holodeck_nb.schema.values import kind_of

from .checks import each_case, each_turn
from .findings import Finding
from .nodes import NodeReader, TooLargeError, path_to
from .places import Source
from .yaml_source import compose, read_text

__all__ = ["SuiteFile", "add_cases_file", "read_file"]


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """One file as data, and what was wrong with it as YAML."""

    source: Source
    data: dict[str, Any]
    findings: list[Finding] = field(default_factory=list)


def read_file(file: Path, name: str) -> SuiteFile:
    """Read the suite's own file.

    Raises:
        ConfigError: It is not there, no YAML, or holds no mapping.
    """
    source, data, findings = _read(file, name)
    if not isinstance(data, dict):
        found = "an empty file" if data is None else kind_of(data)
        message = f"expected a mapping with `name` and `test_cases`, got {found}"
        raise ConfigError([Problem(message, file=name, line=_line(source))])
    return SuiteFile(source, data, findings)


def _line(source: Source) -> int | None:
    return None if source.root is None else int(source.root.start_mark.line) + 1


def _read(file: Path, name: str) -> tuple[Source, Any, list[Finding]]:
    root = compose(read_text(file, name), name)
    if root is None:
        return Source(name), None, []
    reader = NodeReader()
    try:
        data = reader.read(root)
    except TooLargeError as error:
        raise ConfigError([Problem(str(error), file=name, line=error.line)]) from None
    findings = [
        Finding(path_to(root, fault.node), fault.message, fault.hint, fault.line) for fault in reader.faults
    ]
    return Source(name, root), data, findings


def add_cases_file(
    data: dict[str, Any], folder: Path | None, suite: str, findings: list[Finding]
) -> tuple[Source | None, tuple[Problem, ...]]:
    """Put the cases of `test_cases_file` into the suite's data; from then on they are its own.

    What is wrong with the entry, or with single parts of the file, is added to `findings`.

    Returns:
        The file, None where there is none or none that can be used; and what makes it unusable.
    """
    named = data.get("test_cases_file")
    if not isinstance(named, str) or not named.strip():
        return None, ()
    place = ("test_cases_file",)
    if data.get("test_cases") is not None:
        message = "does not go with `test_cases`: the cases stand in the one or in the other"
        findings.append(Finding(place, message))
        return None, ()
    if folder is None and not Path(named).is_absolute():
        hint = "give an absolute path, or say in which folder the suite lies"
        findings.append(Finding(place, f"no folder for the relative path {named!r}", hint))
        return None, ()
    shown = str(Path(suite).parent / named) if suite else str(named)
    try:
        source, cases, faults = _read(Path(named) if folder is None else folder / named, shown)
        source, cases = _unwrapped(source, cases)
    except ConfigError as error:
        if any(problem.line is not None for problem in error.problems):
            return None, error.problems
        findings += (Finding(place, f"file {named!r}: {p.message}", p.hint) for p in error.problems)
        return None, ()
    findings += (Finding((*source.mount, *f.place), f.message, f.hint, f.line) for f in faults)
    data["test_cases"] = cases
    data["test_cases_file"] = None
    _rebase_files(data, Path(named).parent)
    return source, ()


def _unwrapped(source: Source, cases: Any) -> tuple[Source, list[Any]]:
    """The list of cases, and the file with the place at which it stands in the suite."""
    if isinstance(cases, list):
        return replace(source, mount=("test_cases",)), cases
    if isinstance(cases, dict) and set(cases) == {"test_cases"} and isinstance(cases["test_cases"], list):
        return source, cases["test_cases"]
    wanted = "expected a list of test cases, or a mapping with `test_cases` alone"
    found = f"the keys {', '.join(cases)}" if isinstance(cases, dict) else kind_of(cases)
    raise ConfigError([Problem(f"{wanted}, got {found}", file=source.name, line=_line(source))])


def _rebase_files(data: dict[str, Any], parent: Path) -> None:
    """Let paths that are relative to the file with the cases be relative to the suite."""
    if parent == Path():
        return
    for case_place, case in each_case(data):
        for _, level in each_turn(case_place, case):
            files = level.get("files")
            for file in files if isinstance(files, list) else ():
                path = file.get("path") if isinstance(file, dict) else None
                if isinstance(path, str) and path.strip():
                    file["path"] = str(parent / path)
