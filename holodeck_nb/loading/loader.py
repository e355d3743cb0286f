"""A suite file -> its frozen models, or one error that names every mistake and its line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from holodeck_nb.collection import paused
from holodeck_nb.errors import ConfigError
from holodeck_nb.results.records import RunWarning
from holodeck_nb.schema.suite import SuiteConfig

from .checks import check
from .findings import Finding
from .local_files import check_files, import_graders
from .notices import notices
from .places import Places, Source
from .problems import findings_of
from .python_data import python_data
from .secrets import secrets_in
from .suite_file import SuiteFile, add_cases_file, read_file
from .variables import Variables

__all__ = ["LoadedSuite", "load_mapping", "load_suite"]


@dataclass(frozen=True)
class LoadedSuite:
    """A suite that can be run.

    Attributes:
        config: What it says; the cases of a `test_cases_file` are in it.
        folder: The suite file's folder, absolute; None for a suite made in Python without a folder.
        path: The file as the user named it; "" for a suite made in Python.
        graders: Reference `module:function` -> the imported function.
        warnings: What changes no verdict, but should be known.
        functions: Function tools that were given as Python functions, by the tool's name.
    """

    config: SuiteConfig
    folder: Path | None
    path: str
    graders: Mapping[str, Callable[..., Any]]
    warnings: tuple[RunWarning, ...]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


def load_suite(path: str | os.PathLike[str]) -> LoadedSuite:
    """Read a suite file.

    Raises:
        ConfigError: With every mistake in it, and in its `test_cases_file`.
    """
    name = os.fspath(path)
    file = Path(name).absolute()
    with paused():
        read = read_file(file, name)
        return _load(read, file.parent, name)


def load_mapping(data: Mapping[str, Any], *, folder: Path | None = None) -> LoadedSuite:
    """Read a suite from Python data: the keys of a suite file, native values, models where blocks stand.

    Args:
        data: What a suite file would hold. Text that is due may be given as a number, never as a bool.
        folder: Where relative paths and graders are looked up.

    Raises:
        ConfigError: With every mistake in it.
    """
    folder = None if folder is None else folder.absolute()
    with paused():
        values, findings = python_data(data)
        return _load(SuiteFile(Source(), values, findings), folder, "")


def _load(read: SuiteFile, folder: Path | None, path: str) -> LoadedSuite:
    data, findings = read.data, list(read.findings)
    variables = Variables(folder)
    variables.replace_in_suite(data)
    findings += variables.findings
    cases, unusable = add_cases_file(data, folder, path, findings)
    config, wrong = _validated(data)
    findings += wrong
    findings += check(data)
    findings += check_files(data, folder)
    graders, broken = import_graders(data, folder)
    findings += broken
    if config is None or findings or unusable:
        located = Places(data, read.source, cases, secrets_in(data)).problems(findings)
        raise ConfigError((*located, *unusable))
    return LoadedSuite(config, folder, path, graders, tuple(notices(config)))


def _validated(data: Mapping[str, Any]) -> tuple[SuiteConfig | None, list[Finding]]:
    try:
        return SuiteConfig.model_validate(data), []
    except ValidationError as error:
        return None, findings_of(error)
