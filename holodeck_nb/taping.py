"""Whether what is said to providers is recorded, or comes from a recording."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

from .backends.base import AgentBackend
from .backends.chat import ChatBackend
from .engine.plan import RunPlan
from .errors import ConfigError, Problem
from .llm.recording import Recorder
from .llm.tape import Tape, read_tape
from .metrics.judge_models import Judges
from .results.records import RunWarning

__all__ = ["NO_TAPING", "Taping", "TapingArguments"]

Paths = str | os.PathLike[str]


class TapingArguments(TypedDict, total=False):
    """A file in which what is said to models is recorded, or one that answers in their place."""

    record: Paths | None
    replay: Paths | None


@dataclass(frozen=True)
class Taping:
    """What the arguments `record` and `replay` of a call ask for; agent and judges share it."""

    record: Paths | None = None
    replay: Paths | None = None
    call: str = "run"

    @classmethod
    def of(cls, arguments: Mapping[str, Any], *, call: str = "run") -> tuple[Taping, dict[str, Any]]:
        """The taping that the arguments ask for, and the other arguments."""
        others = dict(arguments)
        return cls(others.pop("record", None), others.pop("replay", None), call), others

    @property
    def argument(self) -> str | None:
        """The argument that was given; None for neither."""
        return "record" if self.record is not None else "replay" if self.replay is not None else None

    @cached_property
    def recorder(self) -> Recorder | None:
        """What writes the recording; None where nothing is recorded."""
        return Recorder(Path(self.record).absolute()) if isinstance(self.record, str | os.PathLike) else None

    @property
    def tape(self) -> Tape | None:
        """The recording that answers; None where none does, and where `problems` says why it cannot."""
        return self._read if isinstance(self._read, Tape) else None

    @cached_property
    def _read(self) -> Tape | ConfigError | None:
        if not isinstance(self.replay, str | os.PathLike) or self.record is not None:
            return None
        try:
            return read_tape(Path(self.replay))
        except ConfigError as error:
            return error

    def unfit_for(self, backend: AgentBackend | None, judges: Judges | None) -> Iterator[Problem]:
        """Whether nobody is to be taped who talks to a provider: neither the agent nor a judge."""
        if self.argument is None or judges is not None or isinstance(backend, ChatBackend):
            return
        who = "no model judges here" if backend is None else "this run talks to another agent"
        message = f"`{self.argument}` goes with a model of a provider, and {who}"
        yield Problem(message, path=f"{self.call}({self.argument}=…)")

    def going_on(self, plan: RunPlan) -> RunPlan:
        """The plan; where it goes on with an earlier run, so does the recording."""
        if self.recorder is None or plan.resumed_from is None:
            return plan
        missing = self.recorder.keep({(case.name, case.repeat) for case in plan.kept.values()})
        return plan if missing is None else replace(plan, warnings=(*plan.warnings, RunWarning(missing)))

    def overwrites(self, backend: AgentBackend | None) -> Iterator[Problem]:
        """Whether judges alone would be recorded over the conversations of an agent."""
        if self.record is None or isinstance(backend, ChatBackend) or not Path(self.record).is_file():
            return
        with contextlib.suppress(ConfigError):  # no recording: nothing that anybody could miss
            head = read_tape(Path(self.record)).head
            if head.provider:
                message = f"the file holds {head}, and only judges would be in it: record into another one"
                yield Problem(message, path=f"{self.call}(record=…)", file=os.fspath(self.record))

    def problems(self) -> Iterator[Problem]:
        """What is wrong with the arguments themselves."""
        for name in ("record", "replay"):
            given = getattr(self, name)
            if given is not None and not (
                isinstance(given, os.PathLike) or (isinstance(given, str) and given)
            ):
                yield Problem(f"expected a file, got {given!r}", path=f"{self.call}({name}=…)")
                return
        if self.record is not None and self.replay is not None:
            yield Problem(
                "`record` and `replay` do not go together: give one of them", path=f"{self.call}(…)"
            )
        elif self.record is not None and not Path(self.record).absolute().parent.is_dir():
            folder = Path(self.record).absolute().parent
            yield Problem(f"there is no folder {str(folder)!r} to record into", path=f"{self.call}(record=…)")
        elif isinstance(self._read, ConfigError):
            place = f"{self.call}(replay=…)"
            yield from (replace(problem, path=place) for problem in self._read.problems)


NO_TAPING = Taping()
"""Nothing is recorded, and no recording answers."""
