"""Exchanges that are recorded, and exchanges with a recording in place of the provider."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from holodeck_nb.errors import RunStoppedError, SessionLostError, TurnError, described
from holodeck_nb.whole_files import write_whole

from .chat_model import Occasion
from .exchange import Exchange
from .masking import Mask
from .tape import Conversation, Entry, Tape, TapeHead, written_body

__all__ = ["RecordedExchange", "ReplayedExchange"]

_FAULTS: tuple[type[TurnError], ...] = (RunStoppedError, SessionLostError, TurnError)
_LONGEST_SHOWN = 160


class RecordedExchange:
    """Writes down what goes through it, line by line, so that a run that breaks keeps what it has.

    Args:
        inner: The exchange that is recorded.
        head: Whom it talks to.
        path: The file; what it held is replaced.
        mask: Takes the secrets out.
    """

    def __init__(self, inner: Exchange, head: TapeHead, path: Path, mask: Mask) -> None:
        self._inner = inner
        self._path = path
        self._mask = mask
        self._tape = Tape(head)
        self._file: IO[str] | None = None

    async def send(self, body: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
        """One request; see Exchange."""
        try:
            reply = await self._inner.send(body, occasion)
        except asyncio.CancelledError:
            self._write(body, occasion, {"cut_off": True})
            raise
        except TurnError as error:
            kind = next(kind for kind in _FAULTS if isinstance(error, kind))
            self._write(body, occasion, {"fault": [kind.__name__, described(error)]})
            raise
        self._write(body, occasion, {"reply": reply})
        return reply

    async def close(self) -> tuple[str, ...]:
        """Close, and write the whole file again with the conversations in order."""
        notices = await self._inner.close()
        if self._file is not None:
            self._file.close()
            self._file = None
        # What was appended while playing stays until the ordered whole is there.
        write_whole(self._path, "".join(f"{line}\n" for line in self._tape.lines()))
        return notices

    def _write(self, body: Mapping[str, Any], occasion: Occasion, outcome: Mapping[str, Any]) -> None:
        settings, messages = _as_json(written_body(body))
        entry = Entry(self._mask.data(settings), tuple(self._mask.data(messages)), self._mask.data(outcome))
        line = self._tape.add(occasion.conversation, entry)
        if self._file is None:
            self._file = self._path.open("w", encoding="utf-8")
            self._file.write(next(self._tape.lines()) + "\n")
        self._file.write(f"{line}\n")
        self._file.flush()


class ReplayedExchange:
    """Answers from a recording; no network, no waiting.

    Args:
        tape: The recording.
        mask: Takes the secrets out of what is compared, as they were taken out when it was recorded.
    """

    def __init__(self, tape: Tape, mask: Mask) -> None:
        self._tape = tape
        self._mask = mask
        self._next: dict[Conversation, int] = {}

    async def send(self, body: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
        """The recorded reply to this very request.

        Raises:
            SessionLostError: The request is not the recorded one; says what differs.
            TurnError: The recorded fault.
        """
        number = self._next.get(occasion.conversation, 0)
        self._next[occasion.conversation] = number + 1
        known = self._tape.entries.get(occasion.conversation, [])
        case, repeat = occasion.conversation
        if number >= len(known):
            again = f" (repeat {repeat})" if repeat else ""
            raise SessionLostError(
                f"not in the recording: request {number + 1} of {case!r}{again}; it has {len(known)}"
            )
        entry = known[number]
        settings, messages = _as_json(written_body(body))
        now = Entry(self._mask.data(settings), tuple(self._mask.data(messages)), {})
        if now.settings != entry.settings or now.messages != entry.messages:
            difference = next(_differences(entry, now))
            raise SessionLostError(
                f"not in the recording: request {number + 1} of {case!r} differs: {difference}"
            )
        return _outcome(entry.outcome)

    async def close(self) -> tuple[str, ...]:
        """Nothing to give back; tells that no model has answered."""
        return (f"the answers come from {self._tape.head}",)


def _outcome(outcome: Mapping[str, Any]) -> Mapping[str, Any]:
    match outcome:
        case {"reply": dict() as reply}:
            return reply
        case {"fault": [str() as kind, str() as text]}:
            raise next((fault for fault in _FAULTS if fault.__name__ == kind), TurnError)(text)
        case _:
            raise TurnError("timeout: the turn ended before this reply came, when it was recorded")


def _differences(recorded: Entry, now: Entry) -> Iterator[str]:
    """What differs, the first difference first."""
    for number, (then, here) in enumerate(zip(recorded.messages, now.messages, strict=False), start=1):
        if then != here:
            yield f"message {number} ({_role(here)}) was {_shown(then, here)}, is {_shown(here, then)}"
    if len(recorded.messages) != len(now.messages):
        longer, words = (
            (recorded.messages, "had also")
            if len(recorded.messages) > len(now.messages)
            else (now.messages, "has in addition")
        )
        extra = longer[min(len(recorded.messages), len(now.messages))]
        yield f"it {words} the message {_shown(extra, None)}"
    for name in sorted(recorded.settings.keys() | now.settings.keys()):
        then, here = recorded.settings.get(name), now.settings.get(name)
        if then != here:
            yield f"{name} was {_shown(then, here)}, is {_shown(here, then)}"


def _role(message: Any) -> str:
    return str(message.get("role", "?")) if isinstance(message, dict) else "?"


def _shown(value: Any, other: Any) -> str:
    """A value as JSON, from a little before the place where it parts from the other one."""
    text, against = (json.dumps(each, ensure_ascii=False) for each in (value, other))
    if len(text) <= _LONGEST_SHOWN:
        return text
    same = next((place for place, (a, b) in enumerate(zip(text, against, strict=False)) if a != b), 0)
    begin = max(0, same - 40)
    piece = text[begin : begin + _LONGEST_SHOWN]
    return f"{'…' if begin else ''}{piece}{'…' if begin + _LONGEST_SHOWN < len(text) else ''}"


def _as_json(value: Any) -> Any:
    """As it reads when it comes back from a file: tuples are lists, keys are text."""
    return json.loads(json.dumps(value, ensure_ascii=False, default=str))
