"""Parts that are found by name: shipped with the package, or brought along by an installed one."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

__all__ = ["BACKENDS", "METRIC_PLUGINS", "Registry"]


class Registry:
    """Names and what stands for them, imported only when asked for.

    Args:
        group: The entry-point group in which installed packages offer more; a shipped name is never theirs.
        shipped: Name to `module:attribute`.

    Example:
        >>> Registry("holodeck_nb.examples", {"root": "math:sqrt"}).find("root")(9)
        3.0
    """

    def __init__(self, group: str, shipped: Mapping[str, str]) -> None:
        self._group = group
        self._shipped = shipped
        self._given: dict[str, Any] = {}

    def give(self, name: str, value: Any) -> None:
        """Let a name stand for an object of this process; the latest counts, before any installed one."""
        self._given[name] = value

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, the shipped ones first."""
        installed = {entry.name for entry in entry_points(group=self._group)} - self._shipped.keys()
        return (*self._shipped, *sorted(installed | (self._given.keys() - self._shipped.keys())))

    def find(self, name: str) -> Any:
        """What stands for the name; None where nothing does.

        Raises:
            ImportError: An installed package offers it and cannot be imported.
        """
        reference = self._shipped.get(name)
        if reference is not None:
            module, _, attribute = reference.partition(":")
            return getattr(import_module(module), attribute)
        if name in self._given:
            return self._given[name]
        for entry in entry_points(group=self._group, name=name):
            return entry.load()
        return None


# Name -> what makes the backend for a suite: `(SuiteConfig) -> AgentBackend`. Packages add to the group.
BACKENDS = Registry("holodeck_nb.backends", {})

# Name -> a grader: `(GraderContext, **options) -> score`. Packages add more under the group, `hd.metric` too.
METRIC_PLUGINS = Registry("holodeck_nb.metrics", {})
