"""How the agent sees files: named blocks before the input, within a budget of characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Block", "message_text", "shares"]


@dataclass(frozen=True, slots=True)
class Block:
    """One file as it stands in the message.

    Attributes:
        name: The file's name.
        about: What it is and which part of it: "pdf, pages 2-3 of 12".
        text: Its content.
        cut: Where it was cut; None where it is whole.
        description: What the suite says of it; None where it says nothing.
    """

    name: str
    about: str
    text: str
    cut: str | None = None
    description: str | None = None


def message_text(blocks: Sequence[Block], question: str) -> str:
    r"""The files in their order, then the turn's input.

    >>> print(message_text([Block("r.csv", "csv", "year,cash\n2009,206588")], "net cash?"))
    [File 1 of 1: r.csv (csv)]
    year,cash
    2009,206588
    [End of file 1: r.csv]
    <BLANKLINE>
    net cash?
    """
    parts = []
    for number, block in enumerate(blocks, 1):
        told = f": {block.description}" if block.description else ""
        lines = [f"[File {number} of {len(blocks)}: {block.name} ({block.about}){told}]", block.text]
        if block.cut is not None:
            lines.append(f"[Cut {block.cut}: the rest of this file is not shown]")
        lines.append(f"[End of file {number}: {block.name}]")
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, question])


def shares(lengths: Sequence[int], budget: int) -> list[int]:
    """How many characters of each text fit: short ones stay whole, the long ones share what is left alike.

    >>> shares([10, 500, 900], 410)
    [10, 200, 200]
    """
    given = [0] * len(lengths)
    left, waiting = budget, sorted(range(len(lengths)), key=lengths.__getitem__)
    for place, number in enumerate(waiting):
        given[number] = min(lengths[number], left // (len(waiting) - place))
        left -= given[number]
    return given
