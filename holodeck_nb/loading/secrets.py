"""Which values of a suite are secret, so that no message shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holodeck_nb.schema.values import SECRET_KEYS, Secret, Substituted

from .writer import data_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holodeck_nb.schema.suite import SuiteConfig

    from .findings import Location

__all__ = ["is_secret", "secrets_in", "secrets_of"]

# Masking every "1" or "gpt" would leave no message readable; a real secret is longer.
_SHORTEST = 6


def secrets_in(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Every secret value of the settings, the longest first: keys, passwords, `env`, `headers`, variables."""
    settings = {key: value for key, value in data.items() if key != "test_cases"}
    found = {value for value in _secrets(settings, hidden=False) if len(value) >= _SHORTEST}
    return tuple(sorted(found, key=len, reverse=True))


def is_secret(place: Location) -> bool:
    """Whether what stands at a place, or in a block above it, must not be shown."""
    return any(isinstance(step, str) and _hides(step) for step in place)


def _hides(key: str) -> bool:
    return key in {"env", "headers"} or bool(SECRET_KEYS.search(key))


def _secrets(value: Any, *, hidden: bool) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _secrets(item, hidden=hidden or _hides(key))
    elif isinstance(value, list):
        for item in value:
            yield from _secrets(item, hidden=hidden)
    elif isinstance(value, Secret):
        yield value.reveal()
    elif isinstance(value, str) and (hidden or isinstance(value, Substituted)):
        yield str(value)


def secrets_of(config: SuiteConfig) -> tuple[str, ...]:
    """The secrets in a suite's settings; the test cases hold none."""
    return secrets_in(
        {
            name: data_of(getattr(config, name), escaped=False, templates=False)
            for name in type(config).model_fields
            if name != "test_cases"
        }
    )
