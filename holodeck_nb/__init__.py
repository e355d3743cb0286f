"""Test LLM agents from a notebook: suites of conversations in, DataFrames of verdicts out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .backends.base import AgentBackend, AgentSession, Message, Reply, SessionContext
    from .backends.callables import Conversation
    from .backends.scripted import ScriptedBackend
    from .errors import ConfigError, Problem, SessionLostError, TurnError
    from .kept_runs import runs
    from .metrics.base import GraderContext, GraderResult
    from .metrics.plugin_metric import metric
    from .results.records import TokenUsage, ToolInvocation
    from .run import Run, last_run
    from .suite import Suite

__all__ = [
    "AgentBackend",
    "AgentSession",
    "ConfigError",
    "Conversation",
    "GraderContext",
    "GraderResult",
    "Message",
    "Problem",
    "Reply",
    "Run",
    "ScriptedBackend",
    "SessionContext",
    "SessionLostError",
    "Suite",
    "TokenUsage",
    "ToolInvocation",
    "TurnError",
    "__version__",
    "last_run",
    "metric",
    "runs",
]

# Each name is fetched from its module on first use: an import that nobody uses costs a millisecond.
_HOMES = {
    "AgentBackend": "backends.base",
    "AgentSession": "backends.base",
    "ConfigError": "errors",
    "Conversation": "backends.callables",
    "GraderContext": "metrics.base",
    "GraderResult": "metrics.base",
    "Message": "backends.base",
    "Problem": "errors",
    "Reply": "backends.base",
    "Run": "run",
    "ScriptedBackend": "backends.scripted",
    "SessionContext": "backends.base",
    "SessionLostError": "errors",
    "Suite": "suite",
    "TokenUsage": "results.records",
    "ToolInvocation": "results.records",
    "TurnError": "errors",
    "last_run": "run",
    "metric": "metrics.plugin_metric",
    "runs": "kept_runs",
}


def __getattr__(name: str) -> Any:
    """Fetch a public name on its first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """What completion offers."""
    return sorted({*globals(), *__all__})
