"""Instructions as a file holds them: the front matter of other tools is no part of the prompt."""

from __future__ import annotations

import re

__all__ = ["without_front_matter"]

_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:.*\r?\n)*?---[ \t]*(?:\r?\n|\Z)")


def without_front_matter(text: str) -> str:
    """The text below a block between two lines of `---` at its very beginning; all of it where there is none.

    >>> without_front_matter(chr(10).join(["---", "model: any", "---", "You are an analyst."]))
    'You are an analyst.'
    """
    block = _FRONT_MATTER.match(text)
    return text if block is None else text[block.end() :].lstrip("\r\n")
