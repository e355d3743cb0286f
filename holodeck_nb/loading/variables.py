"""`${NAME}` and `${NAME:-default}` in the settings of a suite, from the environment and a `.env` file."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from holodeck_nb.schema.values import Plain, Substituted

from .findings import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["Variables", "escape", "read_env_file"]

_REFERENCE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_ENV_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*?)\s*")
_QUOTED = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?""")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_TOP_LEVEL_UNREAD = frozenset({"test_cases", "deployment", "observability", "embedding_provider"})


def escape(text: str) -> str:
    """Write text so that reading it back replaces nothing in it."""
    return text.replace("${", "$${")


def read_env_file(path: Path) -> dict[str, str]:
    """Read `KEY=VALUE` lines; comments, `export` and quotes are understood, and other lines are passed over.

    A missing or unreadable file is an empty one.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except (OSError, ValueError):
        return {}
    return {match[1]: _unquoted(match[2]) for line in lines if (match := _ENV_LINE.fullmatch(line))}


def _unquoted(value: str) -> str:
    if quoted := _QUOTED.fullmatch(value):
        if quoted[2] is not None:
            return quoted[2]
        return re.sub(r"\\(.)", lambda escaped: _ESCAPES.get(escaped[1], escaped[1]), quoted[1])
    return re.split(r"(?:^|\s)#", value, maxsplit=1)[0].rstrip()


class Variables:
    """Replaces references in data, and notes the variables that have no value.

    Attributes:
        findings: One for each reference to a variable that is not set and has no default.
    """

    def __init__(self, folder: Path | None, environment: Mapping[str, str] | None = None) -> None:
        self.findings: list[Finding] = []
        self._folder = folder
        self._environment = os.environ if environment is None else environment
        self._from_file: dict[str, str] | None = None

    def replace_in_suite(self, data: dict[str, Any]) -> None:
        """Replace in the values of a suite, in place; not in its test cases nor in the unchecked blocks."""
        self._replace_items(data, data.items(), (), _TOP_LEVEL_UNREAD)

    def _replace_items(
        self, into: Any, items: Iterable[tuple[Any, Any]], place: Location, passed_over: frozenset[str]
    ) -> None:
        for step, value in list(items):
            if step in passed_over:
                continue
            here = (*place, step)
            if isinstance(value, dict):
                unread = frozenset({"optimizer"}) if here == ("evaluations",) else frozenset[str]()
                self._replace_items(value, value.items(), here, unread)
            elif isinstance(value, list):
                self._replace_items(value, enumerate(value), here, frozenset())
            elif isinstance(value, str) and "${" in value and not isinstance(value, Substituted):
                into[step] = self._replaced(value, here)

    def _replaced(self, text: str, place: Location) -> str:
        replaced: list[str] = []

        def value_of(reference: re.Match[str]) -> str:
            name, default = reference.group(1, 2)
            if name is None:
                return "${"
            replaced.append(name)
            value = self._lookup(name)
            if default is not None:
                return value or default
            if value is None:
                message = f"the environment variable {name} is not set"
                hint = f"set it, put it into a .env file beside the suite, or write ${{{name}:-default}}"
                self.findings.append(Finding(place, message, hint))
                return ""
            return value

        value = _REFERENCE.sub(value_of, text)
        plain = isinstance(text, Plain)
        if replaced:
            return Substituted(value, str(text), plain=plain)
        return Plain(value) if plain else value

    def _lookup(self, name: str) -> str | None:
        value = self._environment.get(name)
        if value is not None or self._folder is None:
            return value
        if self._from_file is None:
            self._from_file = read_env_file(self._folder / ".env")
        return self._from_file.get(name)
