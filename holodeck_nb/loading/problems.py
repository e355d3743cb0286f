"""What the schema refuses, in the words of the suite's author: what was found, what is wanted, what to do."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic_core.core_schema import ErrorType

from holodeck_nb.schema.suite import SuiteConfig
from holodeck_nb.schema.values import Substituted, kind_of

from .findings import Finding, Location
from .keys import keys_at
from .secrets import is_secret

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

__all__ = ["findings_of", "nearest"]

# What pydantic says -> what we say; `{found}` is what stood there, the rest comes from the rule itself.
_MESSAGES: Final = {
    "missing": "required, but missing",
    "string_type": "expected text, got {found}",
    "string_unicode": "expected text, got characters that no file can hold",
    "string_pattern_mismatch": "cannot be blank",
    "tuple_type": "expected a list, got {found}",
    "list_type": "expected a list, got {found}",
    "dict_type": "expected a mapping, got {found}",
    "model_type": "expected a mapping, got {found}",
    "greater_than": "expected more than {gt:g}, got {number}",
    "greater_than_equal": "expected at least {ge:g}, got {number}",
    "less_than": "expected less than {lt:g}, got {number}",
    "less_than_equal": "expected at most {le:g}, got {number}",
    "too_long": "expected at most {max_length} items, got {actual_length}",
}
# What else pydantic may say, in words that are not ours; other kinds are our own errors.
_FOREIGN: Final = frozenset(get_args(ErrorType))
_NEAR_ENOUGH = 0.6
_SHORT = 40
_DID_YOU_MEAN = "did you mean"


def findings_of(error: ValidationError, root: Any = SuiteConfig) -> list[Finding]:
    """Say each error of the schema in our words, one a mistake; `root` is what the file as a whole is."""
    found: list[Finding] = []
    missing: list[Finding] = []
    misspelled: set[Location] = set()
    for details in error.errors(include_url=False):
        finding = _finding(details, root)
        (missing if details["type"] == "missing" else found).append(finding)
        if details["type"] == "extra_forbidden" and finding.hint and finding.hint.startswith(_DID_YOU_MEAN):
            misspelled.add((*finding.place[:-1], finding.hint.split("'")[1]))
    return found + [finding for finding in missing if finding.place not in misspelled]


def _finding(details: ErrorDetails, root: Any) -> Finding:
    # Tags of unions begin with NUL: they are no part of the file.
    place = tuple(step for step in details["loc"] if not (isinstance(step, str) and step.startswith("\0")))
    context: Mapping[str, Any] = details.get("ctx", {})
    match details["type"]:
        case "suite":
            if context["at"]:
                place = (*place, context["at"])
            hint = context["hint"] or nearest(context["found"], context["allowed"])
            return Finding(place, context["said"], hint)
        case "extra_forbidden":
            key = str(place[-1])
            return Finding(place, "not a known field", nearest(key, keys_at(details["loc"][:-1], root)))
        case "literal_error":
            allowed = re.findall(r"'([^']*)'", str(context["expected"]))
            message = f"expected one of {', '.join(allowed)}; got {kind_of(details['input'])}"
            return Finding(place, message, nearest(details["input"], allowed, listed=True))
        case "string_type" if isinstance(details["input"], bool):
            word = str(details["input"]).lower()
            return Finding(place, f"expected text, got {word}", f"write it as text: {word!r}")
        case kind:
            hint = _shape_hint(kind, place, details["input"])
            return Finding(place, _message(kind, details, context), hint)


def _message(kind: str, details: ErrorDetails, context: Mapping[str, Any]) -> str:
    if kind not in _MESSAGES and kind not in _FOREIGN:
        return details["msg"]
    value = details["input"]
    found = "text" if isinstance(value, str) and is_secret(details["loc"]) else kind_of(value)
    number = f"{value:g}" if isinstance(value, float) else str(value)
    return _MESSAGES.get(kind, "cannot be {found}").format(found=found, number=number, **context)


def _shape_hint(kind: str, place: Location, found: Any) -> str | None:
    """How the author writes the shape that is due there."""
    if place == ("evaluations",) and isinstance(found, list):
        return "write the list under `metrics:`"
    if not isinstance(found, str) or isinstance(found, Substituted) or len(found) > _SHORT or "\n" in found:
        return None
    if place == ("instructions",):
        return "write the text under `inline:`, or a path under `file:`"
    if place[-2:-1] == ("files",) and kind == "model_type":
        return f"write `{{path: {found}, type: …}}`"
    if kind != "tuple_type":
        return None
    item = f"{{path: {found}, type: …}}" if place[-1] == "files" else found
    return f"write `{place[-1]}: [{item}]`"


def nearest(found: Any, allowed: Sequence[str], *, listed: bool = False) -> str | None:
    """Offer the nearest of the allowed words, or else all of them.

    Args:
        found: What stood there.
        allowed: What may stand there; nothing is offered where that is unknown.
        listed: Whether the message lists the allowed words already.
    """
    if not allowed:
        return None
    word = str(found) if isinstance(found, str) else ""
    close = difflib.get_close_matches(word.lower(), allowed, n=1, cutoff=_NEAR_ENOUGH)
    if close:
        return f"{_DID_YOU_MEAN} {close[0]!r}?"
    return None if listed else f"it is one of {', '.join(allowed)}"
