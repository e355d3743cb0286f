"""Whether what is said to providers is recorded, or comes from a recording."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .backends.base import AgentBackend
from .backends.chat import ChatBackend
from .errors import ConfigError, Problem
from .llm.recording import Recorder
from .llm.tape import Tape, read_tape

__all__ = ["NO_TAPING", "Taping"]

Paths = str | os.PathLike[str]


@dataclass(frozen=True)
class Taping:
    """What the arguments `record` and `replay` of a run ask for; agent and judges share it."""

    record: Paths | None = None
    replay: Paths | None = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> tuple[Taping, dict[str, Any]]:
        """The taping that the arguments of `run` ask for, and the other arguments."""
        others = dict(arguments)
        return cls(others.pop("record", None), others.pop("replay", None)), others

    @property
    def argument(self) -> str | None:
        """The argument of `run` that was given; None for neither."""
        return "record" if self.record is not None else "replay" if self.replay is not None else None

    @cached_property
    def recorder(self) -> Recorder | None:
        """What writes the recording; None where nothing is recorded."""
        return None if self.record is None else Recorder(Path(self.record).absolute())

    @property
    def tape(self) -> Tape | None:
        """The recording that answers; None where none does, and where `problems` says why it cannot."""
        return self._read if isinstance(self._read, Tape) else None

    @cached_property
    def _read(self) -> Tape | ConfigError | None:
        if self.replay is None or self.record is not None:
            return None
        try:
            return read_tape(Path(self.replay))
        except ConfigError as error:
            return error

    def unfit_for(self, backend: AgentBackend | None) -> Iterator[Problem]:
        """Whether somebody is to be taped who has no conversation with a provider."""
        if self.argument is not None and backend is not None and not isinstance(backend, ChatBackend):
            message = (
                f"`{self.argument}` goes with a model of a provider, and this run talks to another agent"
            )
            yield Problem(message, path=f"run({self.argument}=…)")

    def problems(self) -> Iterator[Problem]:
        """What is wrong with the arguments themselves."""
        if self.record is not None and self.replay is not None:
            yield Problem("`record` and `replay` do not go together: give one of them", path="run(…)")
        elif self.record is not None and not Path(self.record).absolute().parent.is_dir():
            folder = Path(self.record).absolute().parent
            yield Problem(f"there is no folder {str(folder)!r} to record into", path="run(record=…)")
        elif isinstance(self._read, ConfigError):
            yield from self._read.problems


NO_TAPING = Taping()
"""Nothing is recorded, and no recording answers."""
