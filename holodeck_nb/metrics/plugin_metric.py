"""Metrics by others: a grader that an installed package offers, or a function under `@hd.metric`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from holodeck_nb.errors import described
from holodeck_nb.plugins import METRIC_PLUGINS
from holodeck_nb.results.columns import CASE_COLUMNS, TURN_COLUMNS
from holodeck_nb.schema.metrics import KINDS, RAG_NAMES, STANDARD_NAMES

from .code import CodeGrader

if TYPE_CHECKING:
    from holodeck_nb.schema.metrics import MetricConfig, PluginMetric

    from .base import MetricSetup

__all__ = ["build_plugin", "metric", "settings_of", "unusable_plugin"]

F = TypeVar("F", bound=Callable[..., Any])

_TAKEN = frozenset((*KINDS, *STANDARD_NAMES, *RAG_NAMES, *TURN_COLUMNS, *CASE_COLUMNS))
# Where a decorated function keeps its own settings.
_SETTINGS = "__holodeck_metric__"


@overload
def metric(function: F, /) -> F: ...
@overload
def metric(*, name: str | None = None, threshold: float | None = None) -> Callable[[F], F]: ...
def metric(
    function: F | None = None, /, *, name: str | None = None, threshold: float | None = None
) -> F | Callable[[F], F]:
    """Make a function a metric: suites may then name it as a `type`, or be given the function itself.

    Args:
        function: A grader: from a GraderContext to a bool, a number from 0 to 1, or a GraderResult.
        name: What it is called; the function's name if left out.
        threshold: The least score that passes, where a suite sets none.

    Raises:
        ValueError: The name is that of a built-in metric or a column, or the threshold is not within 0 and 1.

    Example:
        >>> @metric(threshold=0.5)
        ... def brevity(context):
        ...     return 1 / max(1, len(context.agent_response.split()))
        >>> brevity.__name__ in METRIC_PLUGINS.names
        True
    """

    def decorated(function: F) -> F:
        called = str(name or getattr(function, "__name__", ""))
        if not called.strip() or called in _TAKEN:
            raise ValueError(f"a metric cannot be called {called!r}: give it another `name`")
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError(f"a threshold is from 0 to 1, got {threshold!r}")
        setattr(function, _SETTINGS, {"name": called, "threshold": threshold})
        METRIC_PLUGINS.give(called, function)
        return function

    return decorated if function is None else decorated(function)


def settings_of(function: object) -> Mapping[str, Any]:
    """What a decorated function says of itself, as keys of a suite file; empty for any other."""
    settings = getattr(function, _SETTINGS, None)
    if not isinstance(settings, Mapping):
        return {}
    return {key: value for key, value in settings.items() if value is not None}


def build_plugin(config: MetricConfig, setup: MetricSetup) -> CodeGrader:
    """From a `PluginMetric`: the grader of that name, with the suite's `options` as its keyword arguments.

    Raises:
        KeyError: There is none; a run refuses it before it begins.
    """
    assert config.type == "plugin"
    grader = METRIC_PLUGINS.find(config.metric)
    if grader is None:
        raise KeyError(config.metric)
    threshold = settings_of(grader).get("threshold") if config.threshold is None else config.threshold
    return CodeGrader(
        id=setup.id,
        name=config.metric,
        grader=partial(grader, **config.options) if config.options else grader,
        threshold=threshold,
        fail_on_error=config.fail_on_error,
        timeout_s=None if config.timeout_ms is None else config.timeout_ms / 1000,
    )


def unusable_plugin(config: PluginMetric) -> str | None:
    """Why the metric cannot be used; None where it can. Imports the package that offers it."""
    named = f"metric {config.metric!r}"
    try:
        grader = METRIC_PLUGINS.find(config.metric)
    except Exception as error:  # noqa: BLE001 - the border to the package, which may raise anything
        return f"{named}: the package that offers it cannot be imported: {described(error)}"
    if grader is None:
        return f"{named}: no installed package offers it"
    if not callable(grader):
        return f"{named}: what its package offers is no function, but {type(grader).__name__}"
    try:
        inspect.signature(grader).bind(None, **config.options)
    except TypeError as error:
        return f"{named}: its options do not fit: {error}"
    except ValueError:
        return None  # a function that cannot be looked into: it will say so itself
    return None
