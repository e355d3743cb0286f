"""What a suite may not say though each part of it is well formed: references, names, providers."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from holodeck_nb.results.columns import CASE_COLUMNS, TURN_COLUMNS
from holodeck_nb.schema.metrics import RAG_NAMES, STANDARD_NAMES
from holodeck_nb.schema.values import kind_of

from .findings import Finding, Location
from .problems import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["check", "each_case", "each_metric", "each_turn"]

PROVIDERS = ("openai", "azure_openai", "ollama", "anthropic", "scripted")
_COLUMNS = frozenset((*TURN_COLUMNS, *CASE_COLUMNS))
_AGENT_METRICS: Location = ("evaluations", "metrics")


def check(data: Mapping[str, Any]) -> Iterator[Finding]:
    """Find what is wrong with well-formed parts; parts that the schema refuses are passed over.

    Works on the data, not on the models: one broken part hides nothing about the others.
    """
    yield from _tool_names(data)
    for place, model in _models(data):
        yield from _provider(place, model)
    known = _agent_names(data)
    for place, metric in each_metric(data):
        if isinstance(metric, dict):
            yield from _metric_name(place, metric)
            yield from _provider((*place, "model"), metric.get("model"))
        elif isinstance(metric, str) and metric.strip() and place[0] == "test_cases" and metric not in known:
            yield _dangling(place, metric, known)


def each_case(data: Mapping[str, Any]) -> Iterator[tuple[Location, dict[str, Any]]]:
    """The cases that are mappings, with their places."""
    cases = data.get("test_cases")
    for number, case in enumerate(cases if isinstance(cases, list) else ()):
        if isinstance(case, dict):
            yield ("test_cases", number), case


def each_turn(place: Location, case: dict[str, Any]) -> Iterator[tuple[Location, dict[str, Any]]]:
    """What has files and metrics in a case: the case itself, then its turns."""
    yield place, case
    turns = case.get("turns")
    if isinstance(turns, list):
        for number, turn in enumerate(turns):
            if isinstance(turn, dict):
                yield (*place, "turns", number), turn


def each_metric(data: Mapping[str, Any]) -> Iterator[tuple[Location, Any]]:
    """Every item of every list of metrics: of the agent, of cases, of turns."""
    block = data.get("evaluations")
    metrics = block.get("metrics") if isinstance(block, dict) else None
    for number, metric in enumerate(metrics if isinstance(metrics, list) else ()):
        yield (*_AGENT_METRICS, number), metric
    for case_place, case in each_case(data):
        for place, level in each_turn(case_place, case):
            metrics = level.get("evaluations")
            if isinstance(metrics, list):
                for number, metric in enumerate(metrics):
                    yield (*place, "evaluations", number), metric


def _agent_names(data: Mapping[str, Any]) -> dict[str, None]:
    """What bare names may refer to; a name that comes again is also numbered (`numeric_2`)."""
    names: dict[str, None] = {}
    for place, metric in each_metric(data):
        if place[:2] != _AGENT_METRICS:
            break
        wanted = _name_of(metric)[1] if isinstance(metric, dict) else None
        name, number = wanted, 1
        while name in names:
            number += 1
            name = f"{wanted}_{number}"
        if name is not None:
            names[name] = None
    return names


def _dangling(place: Location, metric: str, known: dict[str, None]) -> Finding:
    message = f"the agent's metrics have none called {metric!r}"
    if metric in STANDARD_NAMES or metric in RAG_NAMES:
        return Finding(place, message, f"write `- type: {metric}` to define it here")
    if known:
        return Finding(place, message, nearest(metric, list(known)))
    return Finding(place, message, "the agent has no metrics: define them under `evaluations: metrics:`")


def _name_of(metric: dict[str, Any]) -> tuple[str, str | None]:
    """The key that gives a metric its id, and that id."""
    for key in ("name", "metric", "metric_type"):
        if isinstance(metric.get(key), str | int | float):  # a number is text where text is due
            return key, str(metric[key])
    grader, module, kind = metric.get("grader"), metric.get("module"), metric.get("type")
    if isinstance(grader, str):
        return "grader", grader.rpartition(":")[2]
    if callable(grader):
        return "grader", str(getattr(grader, "__name__", type(grader).__name__))
    if isinstance(module, str):
        return "module", module.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return "type", str(kind) if isinstance(kind, str) else None


def _metric_name(place: Location, metric: dict[str, Any]) -> Iterator[Finding]:
    key, name = _name_of(metric)
    if name in _COLUMNS:
        hint = "give the metric another `name`"
        yield Finding((*place, key), f"{name!r} is a column of the results already", hint)


def _tool_names(data: Mapping[str, Any]) -> Iterator[Finding]:
    tools = data.get("tools")
    first: dict[str, int] = {}
    for number, tool in enumerate(tools if isinstance(tools, list) else ()):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str):
            continue
        if name in first:
            message = f"two tools are called {str(name)!r}, the first is tools[{first[name]}]"
            yield Finding(("tools", number, "name"), message)
        first.setdefault(name, number)


def _models(data: Mapping[str, Any]) -> Iterator[tuple[Location, Any]]:
    yield ("model",), data.get("model")
    block = data.get("evaluations")
    if isinstance(block, dict):
        yield ("evaluations", "model"), block.get("model")


def _provider(place: Location, model: Any) -> Iterator[Finding]:
    if isinstance(model, dict):
        provider, place = model.get("provider"), (*place, "provider")
    else:
        provider = model.partition(":")[0] if isinstance(model, str) and ":" in model else None
    if not isinstance(provider, str) or provider in PROVIDERS or not provider.strip():
        return
    known = (*PROVIDERS, *(entry.name for entry in entry_points(group="holodeck_nb.models")))
    if provider not in known:
        yield Finding(place, f"{kind_of(provider)} is not a known provider", nearest(provider, known))
