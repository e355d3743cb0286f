"""A recording: every request and reply of a run, in a file of JSON lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holodeck_nb.errors import ConfigError, Problem

__all__ = ["Conversation", "Entry", "Label", "Tape", "TapeHead", "asked_of", "read_tape", "written_body"]

_VERSION = 1
_MESSAGES = "messages"
_ONE_NAME = {"max_completion_tokens": "max_tokens"}
Conversation = tuple[str, int]


@dataclass(frozen=True)
class TapeHead:
    """The first line: who was talked to, where, and a note by hand, so that a recording says what it is.

    All three are "" where the agent was no model, and only its judges were recorded.
    """

    provider: str
    model: str
    endpoint: str
    note: str = ""

    def line(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "recording": _VERSION,
            "provider": self.provider,
            "model": self.model,
            "endpoint": self.endpoint,
            **({"note": self.note} if self.note else {}),
        }

    def __str__(self) -> str:
        """In a sentence."""
        note = f" ({self.note})" if self.note else ""
        of = f" of {self.provider}:{self.model} at {self.endpoint}" if self.provider else ""
        return f"a recording{of}{note}"


@dataclass(frozen=True)
class Entry:
    """One request and what came of it.

    Attributes:
        settings: The body without its messages.
        messages: The conversation as it was sent.
        outcome: `{"reply": …}`, `{"fault": [kind, text]}` (with a third `true` where asking again would not
            help), or `{"cut_off": true}` where the turn ended first.
    """

    settings: Mapping[str, Any]
    messages: tuple[Any, ...]
    outcome: Mapping[str, Any]

    def line(self, before: Entry | None) -> dict[str, Any]:
        """As JSON: what is the same as in the request before is not written again."""
        told: dict[str, Any] = {}
        kept = 0
        if before is not None:
            for mine, theirs in zip(self.messages, before.messages, strict=False):
                if mine != theirs:
                    break
                kept += 1
            told["kept"] = kept
        if before is None or before.settings != self.settings:
            told["settings"] = self.settings
        return {**told, _MESSAGES: self.messages[kept:], **self.outcome}

    @classmethod
    def of_line(cls, told: Mapping[str, Any], before: Entry | None) -> Entry:
        """Read what `line` wrote."""
        kept = () if before is None else before.messages[: told.get("kept", 0)]
        settings = told["settings"] if before is None else told.get("settings", before.settings)
        outcome = {name: told[name] for name in ("reply", "fault", "cut_off") if name in told}
        if len(outcome) != 1:
            raise KeyError("reply")
        return cls(settings, (*kept, *told[_MESSAGES]), outcome)


Label = Conversation | str
"""Where an entry is found: by its conversation, or by what was asked (see `asked_of`)."""


@dataclass
class Tape:
    """What has been recorded, in the order of the requests.

    Attributes:
        head: Who was talked to.
        entries: The agent's requests, by conversation (case and repeat).
        asked: The judges' requests, by what was asked: which turn asks first is chance.
    """

    head: TapeHead
    entries: dict[Conversation, list[Entry]] = field(default_factory=dict)
    asked: dict[str, list[Entry]] = field(default_factory=dict)

    def under(self, label: Label) -> list[Entry]:
        """The entries under a label, to be added to."""
        return (
            self.asked.setdefault(label, []) if isinstance(label, str) else self.entries.setdefault(label, [])
        )

    def add(self, label: Label, entry: Entry) -> str:
        """Put an entry behind the others under its label; returns its line."""
        before = self.under(label)
        line = _line(label, len(before), entry.line(before[-1] if before else None))
        before.append(entry)
        return line

    def lines(self) -> Iterator[str]:
        """The whole file in the order of the labels: the same run gives the same file."""
        yield json.dumps(self.head.line(), ensure_ascii=False)
        labels: list[Label] = [*sorted(self.entries), *sorted(self.asked)]
        for label in labels:
            before: Entry | None = None
            for number, entry in enumerate(self.under(label)):
                yield _line(label, number, entry.line(before))
                before = entry


def asked_of(provider: str, settings: Mapping[str, Any], messages: tuple[Any, ...]) -> str:
    """A hash of all that a request says, and to whom."""
    asked = json.dumps([provider, settings, messages], sort_keys=True)
    return hashlib.sha256(asked.encode("ascii")).hexdigest()[:32]


def _line(label: Label, number: int, told: Mapping[str, Any]) -> str:
    if isinstance(label, str):
        place: dict[str, Any] = {"asked": label}
    else:
        case, repeat = label
        place = {"case": case, **({"repeat": repeat} if repeat else {})}
    return json.dumps({**place, "request": number, **told}, ensure_ascii=False)


def written_body(body: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """A request's settings and messages as they stand in a recording.

    Images are there by their fingerprint alone, and the limit of tokens has one name, which differs from
    endpoint to endpoint.
    """
    settings = {_ONE_NAME.get(name, name): value for name, value in body.items() if name != _MESSAGES}
    return settings, tuple(_without_images(message) for message in body[_MESSAGES])


def _without_images(value: Any) -> Any:
    match value:
        case str() if value.startswith("data:image/"):
            return f"{value.partition(',')[0]},{_fingerprint(value)}"
        case {"type": "base64", "data": str() as data}:
            return {**value, "data": _fingerprint(data)}
        case Mapping():
            return {key: _without_images(item) for key, item in value.items()}
        case list() | tuple():
            return [_without_images(item) for item in value]
        case _:
            return value


def _fingerprint(data: str) -> str:
    return f"sha256-{hashlib.sha256(data.encode()).hexdigest()[:32]}"


def read_tape(path: Path) -> Tape:
    """Read a recording; a last line that was cut off while it was written is left out.

    Raises:
        ConfigError: It cannot be read, or is none; says at which line.
    """
    try:
        *lines, cut = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _no_recording(path, 0, f"cannot be read: {reason}") from error
    if _is_json(cut):  # a file by hand, without a line feed at its end
        lines.append(cut)
    number = 1  # of the line that is being read, for the message
    try:
        head = json.loads(lines[0]) if lines else {}
        if head.get("recording") != _VERSION:
            raise _no_recording(path, 1, "is no recording of this version")
        tape = Tape(TapeHead(head["provider"], head["model"], head.get("endpoint", ""), head.get("note", "")))
        for line in lines[1:]:
            number += 1
            told = json.loads(line)
            known = tape.under(told["asked"] if "asked" in told else (told["case"], told.get("repeat", 0)))
            known.append(Entry.of_line(told, known[-1] if known else None))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _no_recording(path, number, f"is no entry of a recording: {error}") from error
    return tape


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _no_recording(path: Path, line: int, message: str) -> ConfigError:
    place = f"line {line} " if line > 1 else ""
    return ConfigError([Problem(f"{place}{message}", path="run(replay=…)", file=str(path))])
