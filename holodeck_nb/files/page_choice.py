"""Which pages or slides are meant: they count from 1."""

from __future__ import annotations

from .extraction import FileError

__all__ = ["chosen"]


def chosen(asked: tuple[int, ...] | None, count: int, word: str) -> list[int]:
    """The numbers to read, in the order asked for, each once; all of them where None is asked.

    >>> chosen((3, 1, 3), 4, "page")
    [3, 1]

    Raises:
        FileError: The file has no such page, or none at all.
    """
    if not count:
        raise FileError(f"it has no {word}s")
    if asked is None:
        return list(range(1, count + 1))
    missing = [number for number in dict.fromkeys(asked) if not 1 <= number <= count]
    if missing:
        has = f"it has 1 {word}" if count == 1 else f"it has {word}s 1 to {count}"
        raise FileError(f"there is no {word} {', '.join(map(str, missing))}: {has}")
    return list(dict.fromkeys(asked))
