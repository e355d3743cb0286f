"""Python functions as the tools of a suite file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from holodeck_nb.errors import ConfigError, Problem
from holodeck_nb.schema.agent_tools import AgentTool, FunctionTool

from .problems import findings_of

__all__ = ["nameable", "tools_of"]


def tools_of(functions: Iterable[Callable[..., Any]]) -> tuple[FunctionTool, ...]:
    """Functions as function tools, each under its own name; their file is where they were defined.

    Raises:
        ConfigError: With everything that cannot be a tool.
    """
    tools: list[FunctionTool] = []
    problems: list[Problem] = []
    for place, function in enumerate(functions):
        path = f"tools[{place}]"
        name = getattr(function, "__name__", "")
        if not name:
            hint = "give it a name: def my_tool(…)"
            problems.append(
                Problem(f"expected a function, got {type(function).__name__}", path=path, hint=hint)
            )
        elif name in {tool.name for tool in tools}:
            problems.append(Problem(f"there is another tool {name!r} already", path=path))
        else:
            try:
                tools.append(_tool(name, function))
            except ValidationError as error:
                problems += (
                    Problem(found.message, path=path, hint=found.hint) for found in findings_of(error)
                )
    if problems:
        raise ConfigError(problems)
    return tuple(tools)


def nameable(functions: Mapping[str, Callable[..., Any]], tools: Iterable[AgentTool]) -> None:
    """See that a file can name the functions behind these tools.

    Raises:
        ConfigError: With those that were made in a notebook or inside another function.
    """
    problems = [
        Problem(
            f"the tool {tool.name!r} is a function that no file can name",
            path=f"tools[{place}]",
            hint="define it at the top of a module",
        )
        for place, tool in enumerate(tools)
        if isinstance(tool, FunctionTool)
        and (function := functions.get(tool.name)) is not None
        and ("." in getattr(function, "__qualname__", "") or not Path(tool.file).is_file())
    ]
    if problems:
        raise ConfigError(problems)


def _tool(name: str, function: Callable[..., Any]) -> FunctionTool:
    description = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
    code = getattr(inspect.unwrap(function), "__code__", None)
    file = "<python>" if code is None else code.co_filename
    return FunctionTool(name=name, description=description, file=file, function=name)
