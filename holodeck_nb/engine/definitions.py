"""Fingerprints: whether a metric, a case, an agent is still the one of an earlier run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holodeck_nb.schema.agent import ModelConfig
    from holodeck_nb.schema.metrics import MetricConfig

__all__ = ["fingerprint", "metric_definition"]

# What changes a verdict, a name or a manner, and not what is measured.
_APART = frozenset({"name", "enabled", "threshold", "fail_on_error", "retry_on_failure", "timeout_ms"})


def fingerprint(*parts: object) -> str:
    """Sixteen digits that are the same for the same texts in the same order."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else str(part).encode("utf-8", "backslashreplace"))
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def metric_definition(config: MetricConfig, judge: ModelConfig | None) -> str:
    """Tells one way to measure from another; thresholds are aside, and secrets and functions' code unseen.

    Args:
        config: The metric.
        judge: The model that judges where the metric names none.
    """
    fields = {name: getattr(config, name) for name in sorted(type(config).model_fields) if name not in _APART}
    judged = config.type in {"geval", "rag"} or (config.type == "standard" and config.judged)
    if judged and fields["model"] is None:
        fields["model"] = judge
    return fingerprint(*_shown(fields.items()))


def _shown(items: Iterable[tuple[str, Any]]) -> Iterable[str]:
    for name, value in items:
        if callable(value):
            value = f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', type(value))}"  # noqa: PLW2901 - an address would tell nothing
        yield f"{name}={value!r}"
