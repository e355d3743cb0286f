"""Exchanges that are recorded, and exchanges with a recording in place of the provider."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from holodeck_nb.errors import ConfigError, Problem, RunStoppedError, SessionLostError, TurnError, described
from holodeck_nb.whole_files import write_whole

from .chat_model import Occasion
from .exchange import Exchange
from .masking import Mask
from .tape import Conversation, Entry, Label, Tape, TapeHead, asked_of, read_tape, written_body

__all__ = ["Filing", "RecordedExchange", "Recorder", "ReplayedExchange"]

_FAULTS: tuple[type[TurnError], ...] = (RunStoppedError, SessionLostError, TurnError)
_LONGEST_SHOWN = 160


class Recorder:
    """The file of a recording: written line by line, so that a run that breaks keeps what it has.

    A disk that says no costs the recording and no reply: `finish` tries again, and tells.

    Attributes:
        path: The file; what it held is replaced with the first request, unless `keep` was asked to go on.
        head: Who is talked to; said by whoever talks to the agent's model, before the first line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = TapeHead("", "", "")
        self._tape: Tape | None = None
        self._file: IO[str] | None = None
        self._is_begun = False
        self._is_stuck = False

    def keep(self, conversations: Collection[Conversation]) -> str | None:
        """Go on with the recording that is there: these conversations stay in it, and what judges answered.

        Returns:
            What is missing in it; None where nothing is.

        Raises:
            ConfigError: The file cannot be read, or is the recording of another model.
        """
        known = self._known()
        entries = {} if known is None else known.entries
        found = {name: entries[name] for name in conversations if name in entries}
        # What broke then is asked again, and its answer must not stand behind the fault.
        answers = {} if known is None else known.asked.items()
        asked = {
            label: [entry for entry in each if "reply" in entry.outcome]
            for label, each in dict(answers).items()
        }
        self._tape = Tape(self.head, found, {label: each for label, each in asked.items() if each})
        missing = len(conversations) - len(found)
        if not missing or (not self.head.provider and known is not None):
            return None
        cases = "1 case that is kept is" if missing == 1 else f"{missing} cases that are kept are"
        return f"{cases} not in the recording {self.path}: they were not recorded there"

    def _known(self) -> Tape | None:
        """The recording that is there; None where there is none."""
        if not self.path.exists():
            return None
        try:
            known = read_tape(self.path)
        except ConfigError as error:
            reason = "; ".join(problem.message for problem in error.problems)
            raise self._unfit(f"it cannot be gone on with: {reason}") from error
        if (known.head.provider, known.head.model) != (self.head.provider, self.head.model):
            raise self._unfit(f"it is {known.head}, which cannot be gone on with here")
        return known

    def _unfit(self, reason: str) -> ConfigError:
        hint = "record into another file, or move this one away"
        return ConfigError([Problem(reason, path="run(record=…)", file=str(self.path), hint=hint)])

    def add(self, label: Label, entry: Entry) -> None:
        """Write down one request and what came of it."""
        tape = self._tape = self._tape or Tape(self.head)
        is_first, self._is_begun = not self._is_begun, True
        before = list(tape.lines()) if is_first else []
        line = tape.add(label, entry)
        if self._is_stuck:
            return
        try:
            if self._file is None:
                self._file = self.path.open("w" if is_first else "a", encoding="utf-8")
            self._file.write("".join(f"{each}\n" for each in (*before, line)))
            self._file.flush()
        except OSError:
            self._is_stuck = True

    def finish(self) -> tuple[str, ...]:
        """Write the whole file again, labels in order; what was appended stays until that is there.

        Returns:
            A notice where it cannot be written, or where there was nothing to write: a file stays as it was.
        """
        if self._tape is None or not self._is_begun:
            return (f"nothing was asked, and nothing is recorded in {self.path}",)
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
        try:
            write_whole(self.path, "".join(f"{line}\n" for line in self._tape.lines()))
        except OSError as error:
            reason = error.strerror or str(error)
            return (f"the recording {self.path} is not complete: it cannot be written ({reason})",)
        self._is_stuck = False
        return ()


@dataclass(frozen=True)
class Filing:
    """How entries are made and found again.

    Attributes:
        provider: Whom the requests go to.
        mask: Takes the secrets out, before anything is written or compared.
        by_what_is_asked: Whether an entry is found by its request alone, and not by whose turn it is.
    """

    provider: str
    mask: Mask
    by_what_is_asked: bool = False

    def entry(self, body: Mapping[str, Any], outcome: Mapping[str, Any]) -> Entry:
        """The entry of a request."""
        settings, messages = _as_json(written_body(body))
        return Entry(self.mask.data(settings), tuple(self.mask.data(messages)), self.mask.data(outcome))

    def label(self, entry: Entry, occasion: Occasion) -> Label:
        """Where the entry belongs."""
        if self.by_what_is_asked:
            return asked_of(self.provider, entry.settings, entry.messages)
        return occasion.conversation


class RecordedExchange:
    """Writes down what goes through it.

    Args:
        inner: The exchange that is recorded.
        recorder: Where it is written down.
        filing: How.
    """

    def __init__(self, inner: Exchange, recorder: Recorder, filing: Filing) -> None:
        self._inner = inner
        self._recorder = recorder
        self._filing = filing

    async def send(self, body: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
        """One request; see Exchange."""
        try:
            reply = await self._inner.send(body, occasion)
        except asyncio.CancelledError:
            self._write(body, occasion, {"cut_off": True})
            raise
        except TurnError as error:
            kind = next(kind for kind in _FAULTS if isinstance(error, kind))
            fault = [kind.__name__, described(error), *([True] if error.final else [])]
            self._write(body, occasion, {"fault": fault})
            raise
        self._write(body, occasion, {"reply": reply})
        return reply

    async def close(self) -> tuple[str, ...]:
        """Close, and put the recording in order."""
        return (*await self._inner.close(), *self._recorder.finish())

    def _write(self, body: Mapping[str, Any], occasion: Occasion, outcome: Mapping[str, Any]) -> None:
        entry = self._filing.entry(body, outcome)
        self._recorder.add(self._filing.label(entry, occasion), entry)


class ReplayedExchange:
    """Answers from a recording; no network, no waiting.

    Args:
        tape: The recording.
        filing: How it was recorded.
    """

    def __init__(self, tape: Tape, filing: Filing) -> None:
        self._tape = tape
        self._filing = filing
        self._next: dict[Label, int] = {}

    async def send(self, body: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
        """The recorded reply to this very request.

        Raises:
            SessionLostError: The request is not the recorded one; says what differs.
            TurnError: The recorded fault.
        """
        now = self._filing.entry(body, {})
        label = self._filing.label(now, occasion)
        number = self._next.get(label, 0)
        self._next[label] = number + 1
        if isinstance(label, str):
            return _outcome(self._answer(label, number).outcome)
        known = self._tape.entries.get(label, [])
        case, repeat = label
        if number >= len(known):
            again = f" (repeat {repeat})" if repeat else ""
            raise SessionLostError(
                f"not in the recording: request {number + 1} of {case!r}{again}; it has {len(known)}"
            )
        entry = known[number]
        if now.settings != entry.settings or now.messages != entry.messages:
            difference = next(_differences(entry, now))
            raise SessionLostError(
                f"not in the recording: request {number + 1} of {case!r} differs: {difference}"
            )
        return _outcome(entry.outcome)

    async def close(self) -> tuple[str, ...]:
        """Nothing to give back; tells that no model has answered."""
        whose = "the judges' answers" if self._filing.by_what_is_asked else "the answers"
        return (f"{whose} come from {self._tape.head}",)

    def _answer(self, asked: str, number: int) -> Entry:
        """What was answered to a question; the last answer stands for more of them."""
        known = self._tape.asked.get(asked)
        if known is None:
            raise SessionLostError(
                "not in the recording: this question; the turn, the metric or its model is another one, or"
                " nothing was judged when it was recorded",
                final=True,
            )
        return known[min(number, len(known) - 1)]


def _outcome(outcome: Mapping[str, Any]) -> Mapping[str, Any]:
    match outcome:
        case {"reply": dict() as reply}:
            return reply
        case {"fault": [str() as kind, str() as text, *final]}:
            error = next((fault for fault in _FAULTS if fault.__name__ == kind), TurnError)
            raise error(text, final=final == [True])
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
