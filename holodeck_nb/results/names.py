"""What cases are called: their name, `case 3` without one, ` #2` where a name comes again."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["case_names"]


def case_names(given: Sequence[str | None]) -> list[str]:
    """One distinct name a case, in order.

    >>> case_names(["cash", None, "cash"])
    ['cash', 'case 2', 'cash #2']
    """
    taken = {name for name in given if name is not None}
    seen: set[str] = set()
    names = []
    for place, name in enumerate(given, start=1):
        wanted = f"case {place}" if name is None else name
        chosen, number = wanted, 1
        while chosen in seen or (chosen in taken and chosen != name):
            number += 1
            chosen = f"{wanted} #{number}"
        seen.add(chosen)
        names.append(chosen)
    return names
