"""The one tree of errors: what is wrong with a file, with a turn, with a session, with the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ConfigError",
    "HolodeckError",
    "MissingDependencyError",
    "Problem",
    "RunStoppedError",
    "SessionLostError",
    "TurnError",
    "described",
]


class HolodeckError(Exception):
    """Whatever this package raises on purpose."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a suite: where it stands, what it is, what to do.

    Attributes:
        message: The cause in a sentence, with what was found and what was wanted.
        path: From the root of the file: `test_cases[0].turns[1].input`; empty for the whole file.
        file: The file as the user named it; None for a suite made in Python.
        line: From 1; None where no line is known.
        case: The case's name, or `case 3` for an unnamed one; None outside the cases.
        hint: The next step; None where the message says it all.

    Example:
        >>> print(Problem("not a known field", path="modle", file="a.yaml", line=3, hint="use 'model'"))
        a.yaml:3: modle: not a known field
            hint: use 'model'
    """

    message: str
    path: str = ""
    file: str | None = None
    line: int | None = None
    case: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        """The problem as a user reads it: one line, and the hint below it."""
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        case = f"test case {self.case!r}" if self.case is not None else ""
        subject = ", ".join(part for part in (case, self.path) if part)
        text = ": ".join(part for part in (place, subject, self.message) if part)
        whole = f"{text}\n    hint: {self.hint}" if self.hint else text
        # A half of a surrogate pair, which only Python can hold, is spelled out: no terminal prints it.
        return whole.encode("utf-8", "backslashreplace").decode()


class ConfigError(HolodeckError):
    """The suite cannot be run as it is written; carries every problem at once, before any agent call.

    Attributes:
        problems: All problems, in the order of the file.

    Example:
        >>> try:
        ...     raise ConfigError([Problem("cannot be blank", path="name")])
        ... except ConfigError as error:
        ...     print(error)
        name: cannot be blank
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        """Every problem on a line of its own, after a count where there are several."""
        lines = "\n".join(str(problem) for problem in self.problems)
        return lines if len(self.problems) == 1 else f"{len(self.problems)} problems\n{lines}"


class TurnError(HolodeckError):
    """This turn went wrong; the conversation goes on with the next one.

    Raise it from a backend or an agent for a fault whose message the user should read as it is.

    Attributes:
        final: Whether the same question would fail again; a judge is not asked it again then.

    Example:
        >>> raise TurnError("the price service answered 502")
        Traceback (most recent call last):
        ...
        holodeck_nb.errors.TurnError: the price service answered 502
    """

    def __init__(self, *args: object, final: bool = False) -> None:
        super().__init__(*args)
        self.final = final


class SessionLostError(TurnError):
    """The session is gone for good: this turn is an error, the later ones are skipped with this reason.

    Example:
        >>> raise SessionLostError("connection closed by the server")
        Traceback (most recent call last):
        ...
        holodeck_nb.errors.SessionLostError: connection closed by the server
    """


class RunStoppedError(SessionLostError):
    """Nothing can succeed any more (a key is refused, a model is unknown): the whole run ends early.

    Turns in flight end, every unplayed turn of the suite is skipped with this reason.
    """


class MissingDependencyError(HolodeckError):
    """A part of the product needs a package that is not installed; the message names what to install."""


def described(error: BaseException) -> str:
    """An error in one line: the message alone of one of ours, type and message of any other.

    Also of an exception whose message cannot be had, because its `__str__` raises.

    >>> described(ValueError("no row 'cash'"))
    "ValueError: no row 'cash'"
    """
    kind = type(error).__name__
    try:
        message = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - the user's own __str__ is broken, and the type says enough
        message = "(its message cannot be read)"
    if isinstance(error, HolodeckError) and message:
        return message
    return f"{kind}: {message}" if message else kind
