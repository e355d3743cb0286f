"""Files and functions that a suite names: they must be there before anything runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holodeck_nb.user_code import UserCodeError, load_grader

from .checks import each_case, each_metric, each_turn
from .findings import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["check_files", "import_graders"]


def check_files(data: Mapping[str, Any], folder: Path | None) -> Iterator[Finding]:
    """Find the files that are missing; relative paths are looked up in the suite's folder."""
    known: dict[str, Finding | None] = {}
    for place, path in _named_files(data):
        if not isinstance(path, str) or not path.strip():
            continue
        if path not in known:
            known[path] = _missing(place, path, folder)
        if (finding := known[path]) is not None:
            yield replace(finding, place=place)


def _missing(place: Location, path: str, folder: Path | None) -> Finding | None:
    target = Path(path)
    if folder is None and not target.is_absolute():
        hint = "give an absolute path, or say in which folder the suite lies"
        return Finding(place, f"a suite made in Python has no folder for the relative path {path!r}", hint)
    full = target if folder is None else folder / target
    try:
        if full.is_file():
            return None
        found = "is a folder, not a file" if full.is_dir() else "not found"
    except (OSError, ValueError):
        found = "is not a path"
    hint = "a relative path starts in the folder of the file that names it"
    return Finding(place, f"file {path!r} {found}", None if target.is_absolute() else hint)


def _named_files(data: Mapping[str, Any]) -> Iterator[tuple[Location, Any]]:
    instructions, model = data.get("instructions"), data.get("model")
    if isinstance(instructions, dict):
        yield ("instructions", "file"), instructions.get("file")
    if isinstance(model, dict) and model.get("provider") == "scripted":
        yield ("model", "script"), model.get("script")
    response_format = data.get("response_format")
    if isinstance(response_format, str) and response_format.endswith((".json", ".yaml", ".yml")):
        yield ("response_format",), response_format
    tools = data.get("tools")
    for number, tool in enumerate(tools if isinstance(tools, list) else ()):
        if isinstance(tool, dict) and tool.get("type", "function") == "function":
            yield ("tools", number, "file"), tool.get("file")
    for case_place, case in each_case(data):
        for place, level in each_turn(case_place, case):
            files = level.get("files")
            for number, file in enumerate(files if isinstance(files, list) else ()):
                if isinstance(file, dict):
                    yield (*place, "files", number, "path"), file.get("path")


def import_graders(
    data: Mapping[str, Any], folder: Path | None
) -> tuple[dict[str, Callable[..., Any]], list[Finding]]:
    """Import every grader once; a reference that is broken is told once, at the first place that uses it."""
    graders: dict[str, Callable[..., Any]] = {}
    findings: dict[str, Finding] = {}
    for place, metric in each_metric(data):
        named = metric.get("grader") if isinstance(metric, dict) else None
        if not isinstance(named, str) or metric.get("type", "code") != "code":
            continue
        reference = str(named)
        if reference in graders or reference in findings:
            continue
        try:
            graders[reference] = load_grader(reference, folder)
        except UserCodeError as error:
            findings[reference] = Finding((*place, "grader"), str(error))
    return graders, list(findings.values())
