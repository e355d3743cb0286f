"""Text that an agent wrote, made safe to look at: what cannot be seen is shown, what is too long is cut."""

from __future__ import annotations

import re

from .plain_data import clean

__all__ = ["one_line", "shortened", "visible"]

# Controls but tab and line feed; what turns the direction of writing; other line ends; invisible separators.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]"
)
_PICTURES = 0x2400  # U+2400 is a picture of NUL, and so on up to U+241F
_DELETE = 0x7F


def visible(text: str) -> str:
    r"""The text with its unseen characters shown: `␛` for escape, `⟨U+202E⟩` for a right-to-left override.

    A carriage return before a line feed goes; one alone becomes a line feed. Tabs and line feeds stay.

    Example:
        >>> visible("a\x1b[31m")
        'a␛[31m'
    """
    return _UNSEEN.sub(_shown, clean(text).replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    r"""The text on one line; every run of white space is one blank.

    Example:
        >>> one_line("cheap\n  and fast")
        'cheap and fast'
    """
    return " ".join(visible(text).split())


def shortened(text: str, limit: int) -> str:
    """At most about `limit` characters, the cut and what it cost in plain sight.

    Example:
        >>> shortened("x" * 12, 5)
        'xxxxx … (7 more characters)'
    """
    return text if len(text) <= limit else f"{text[:limit]} … ({len(text) - limit:,} more characters)"


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code == _DELETE:
        return "␡"
    return chr(_PICTURES + code) if code < ord(" ") else f"⟨U+{code:04X}⟩"
