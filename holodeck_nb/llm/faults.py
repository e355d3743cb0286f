"""What can go wrong with a provider, told apart by what it means for the request and for the run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from holodeck_nb.errors import HolodeckError, RunStoppedError, SessionLostError, TurnError

__all__ = ["Fault", "MalformedReplyError", "Place", "WireError", "error_of", "retry_after_s"]

RATE_LIMITED, OVERLOADED = 429, 529
_TRANSIENT = frozenset({RATE_LIMITED, 500, 502, 503, 504, OVERLOADED})
_FORBIDDEN = 403
_KEY_REFUSED = frozenset({401, _FORBIDDEN})
_NOT_FOUND, _TOO_LARGE = 404, 413
_LONGEST_TEXT = 600
# How providers and local servers word it; only OpenAI has a code for it.
_OVERFLOW = re.compile(
    r"(?i)context_length_exceeded|context[ _](?:length|window|size)|maximum (?:context|number of tokens)"
    r"|prompt is too long|input is too long|too many (?:input )?tokens|request_too_large"
)
_QUOTA = re.compile(r"(?i)insufficient_quota|billing_hard_limit|credit balance is too low")


@dataclass(frozen=True, slots=True)
class Place:
    """Whom we talk to, for messages.

    Attributes:
        provider: As the suite names it.
        model: As the suite names it.
        endpoint: Where it is reached.
        key_variable: The environment variable that holds the key; "" where none is needed.
        start_hint: What to start where nothing answers; "" where that is not the user's to do.
        unknown_model_hint: What to do where the model is unknown.
    """

    provider: str
    model: str
    endpoint: str
    key_variable: str = ""
    start_hint: str = ""
    unknown_model_hint: str = "check model.name"


@dataclass(frozen=True, slots=True)
class Fault:
    """One failed attempt.

    Attributes:
        kind: `status` (the provider answered with an error), `connection`, `refused` (nobody listens there),
            `timeout` or `malformed` (an answer that cannot be read).
        text: What the provider or the network says of it.
        status: The HTTP status; None where there is none.
        retry_after_s: How long the provider asks to wait; None where it does not.
    """

    kind: str
    text: str
    status: int | None = None
    retry_after_s: float | None = None

    @property
    def is_transient(self) -> bool:
        """Whether another attempt may succeed."""
        if self.kind != "status":
            return True
        return self.status in _TRANSIENT and not _QUOTA.search(self.text)

    @property
    def slows_down(self) -> bool:
        """Whether the provider asks for a slower pace."""
        return self.status in {RATE_LIMITED, OVERLOADED} and self.is_transient

    def masked(self, text: str) -> Fault:
        """The same with a text that holds no secret."""
        return replace(self, text=text)


class WireError(HolodeckError):
    """An attempt failed."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


class MalformedReplyError(HolodeckError):
    """A reply came whole and is not of the form that the protocol says."""


def error_of(
    fault: Fault, place: Place, *, attempts: int, note: str = "", key_is_good: bool = False
) -> TurnError:
    """A fault that is not tried again, as the error that says what it means.

    Args:
        fault: Its text must hold no secret any more.
        place: Whom we talked to.
        attempts: How many there were, this one included.
        note: Why there is no further attempt, where that needs a word.
        key_is_good: Whether the provider has answered with this key: a 403 is then about the request, as
            where a gateway's moderation flags it.
    """
    tried = f" after {attempts} attempts" if attempts > 1 else ""
    said = f"{place.provider} answered {fault.status}{tried}: {_shortened(fault.text)}"
    more = f" ({note})" if note else ""
    final = not fault.is_transient
    match fault.kind, fault.status:
        case "refused", _:
            hint = f": {place.start_hint}" if place.start_hint else f" ({_shortened(fault.text)})"
            return SessionLostError(f"nothing answers at {place.endpoint}{tried}{hint}")
        case "connection", _:
            reason = f"the connection to {place.endpoint} broke{tried}: {_shortened(fault.text)}"
            return TurnError(f"{place.provider}: {reason}{more}")
        case "timeout", _:
            return TurnError(f"timeout: {place.provider} did not answer in time{tried}{more}")
        case "malformed", _:
            return TurnError(
                f"{place.provider} sent a malformed reply{tried}: {_shortened(fault.text)}{more}"
            )
        case _, status if status in _KEY_REFUSED and not (key_is_good and status == _FORBIDDEN):
            return RunStoppedError(f"{said}; {_key_hint(place)}", final=final)
        case _, status if status == _NOT_FOUND:
            hint = f"is the model {place.model!r} there, at {place.endpoint}? {place.unknown_model_hint}"
            return RunStoppedError(f"{said}; {hint}", final=final)
        case _, status if status == _TOO_LARGE or (_OVERFLOW.search(fault.text) and status not in _TRANSIENT):
            reason = f"the conversation no longer fits into the model's context: {said}"
            return SessionLostError(reason, final=final)
    return TurnError(f"{said}{more}", final=final)


def _key_hint(place: Place) -> str:
    if not place.key_variable:
        return "is a key needed there? give it as model.api_key"
    return f"check the key in {place.key_variable}, or in model.api_key"


def _shortened(text: str) -> str:
    """One line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_TEXT else f"{line[:_LONGEST_TEXT]}…"


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long an answer asks to wait, from `retry-after-ms` or `retry-after` (seconds or a date)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / unit
        except ValueError:
            try:
                date = parsedate_to_datetime(value)
            except ValueError:
                continue
            seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
        if seconds == seconds:  # noqa: PLR0124 - not NaN
            return max(0.0, seconds)
    return None
