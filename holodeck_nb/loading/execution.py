"""How a run goes: argument of `run`, else the suite, else a `HOLODECK_…` variable, else the default."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from holodeck_nb.errors import ConfigError, Problem
from holodeck_nb.schema.suite import ExecutionConfig
from holodeck_nb.schema.values import Plain

from .problems import findings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Execution", "checked_setting", "resolve_execution"]

_PREFIX = "HOLODECK_"


@dataclass(frozen=True, slots=True)
class Execution:
    """The limits and manners of a run. Times in seconds.

    Attributes:
        llm_timeout: For one answer of the agent, all retries and tool rounds inside it.
        file_timeout: For reading one file.
        download_timeout: For fetching one file.
        grader_timeout: For one call of a grader.
        max_retries: How often a transient fault of a provider is tried again.
        cache_enabled: Whether fetched and read files are kept.
        cache_dir: Where they are kept; relative to the suite's folder.
        parallel_test_cases: How many cases are played at once.
        verbose: Whether to tell more; quiet: whether to tell nothing but the result.
    """

    llm_timeout: float = 60.0
    file_timeout: float = 30.0
    download_timeout: float = 30.0
    grader_timeout: float = 60.0
    max_retries: int = 2
    cache_enabled: bool = True
    cache_dir: str = ".holodeck/cache"
    parallel_test_cases: int = 1
    verbose: bool = False
    quiet: bool = False


def resolve_execution(
    config: ExecutionConfig | None,
    arguments: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
) -> Execution:
    """Settle every field: argument of `run` (unless None) > suite > environment variable > default.

    Args:
        config: The suite's `execution`.
        arguments: By field name; other names are refused.
        environment: Instead of the process's own.

    Raises:
        ConfigError: With every bad argument and every bad variable that would have counted.
    """
    environment = os.environ if environment is None else environment
    chosen: dict[str, Any] = {}
    problems = [
        Problem(f"run has no argument {name!r}", path=f"run({name}=…)")
        for name in arguments.keys() - {field.name for field in fields(Execution)}
    ]
    for field in fields(Execution):
        variable = _PREFIX + field.name.upper()
        given, written = arguments.get(field.name), getattr(config, field.name, None)
        if given is not None:
            chosen[field.name] = _checked(field.name, given, f"run({field.name}=…)", problems)
        elif written is not None:
            chosen[field.name] = written
        elif text := environment.get(variable, "").strip():
            chosen[field.name] = _checked(field.name, Plain(text), variable, problems)
    if problems:
        raise ConfigError(problems)
    return Execution(**chosen)


def checked_setting(name: str, value: Any, source: str = "") -> Any:
    """The value of one field.

    Raises:
        ConfigError: It is none.
    """
    problems: list[Problem] = []
    checked = _checked(name, value, source, problems)
    if problems:
        raise ConfigError(problems)
    return checked


def _checked(name: str, value: Any, source: str, problems: list[Problem]) -> Any:
    try:
        return getattr(ExecutionConfig.model_validate({name: value}), name)
    except ValidationError as error:
        problems += (Problem(f.message, path=source, hint=f.hint) for f in findings_of(error))
        return None
