"""A mistake at a place in the data, before it is known which file and line that is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Finding", "Location", "path_text"]

Location = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, and where in the data.

    Attributes:
        place: From the root of the suite's data: keys and places in lists.
        message: The cause, with what was found and what was wanted.
        hint: The next step; None where the message says it all.
        line: Where it is known already (a repeated key stands on a line of its own).
    """

    place: Location
    message: str
    hint: str | None = None
    line: int | None = None


def path_text(place: Location) -> str:
    """Write a place as authors do: `test_cases[0].turns[1].expected_tools[0].args.a.regex`.

    Example:
        >>> path_text(("args", "net cash", 0))
        'args["net cash"][0]'
    """
    parts: list[str] = []
    for step in place:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif step and step.replace("-", "_").isidentifier():
            parts.append(f".{step}" if parts else step)
        else:
            escaped = step.replace("\\", "\\\\").replace('"', '\\"')
            parts.append(f'["{escaped}"]')
    return "".join(parts)
