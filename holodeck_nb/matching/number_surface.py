"""Text as the number reader sees it: one kind of digit, blank, dash and quote, no TeX, nothing invisible."""

import re
from typing import NamedTuple
from unicodedata import category, decimal

_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_DASHES = "\u2010\u2011\u2012\u2013\u2212\ufe58\ufe63"  # not the em dash: nobody writes a minus with it
_INVISIBLE = "\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"


class _OneToOne(dict[int, int]):
    """Each character becomes one character, so that places in the text stay what they are."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        if char.isdecimal():
            return ord("0") + decimal(char)
        return ord("$") if category(char) == "Sc" else code


_PLAIN = _OneToOne(
    {code: code for code in range(128)}
    | {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # full-width forms
    | dict.fromkeys(map(ord, _SPACES), ord(" "))
    | dict.fromkeys(map(ord, _DASHES), ord("-"))
    | dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u2032"), ord("'"))
    | dict.fromkeys(map(ord, "\u066a\ufe6a"), ord("%"))
    | dict.fromkeys(map(ord, "\u2044\u2215"), ord("/"))
    | dict.fromkeys(map(ord, "\u00b7\u22c5\u2219\u2715\u2716\u2a2f"), 0xD7)
    | {0x066B: ord("."), 0x066C: ord(",")}
)

# What TeX adds around a number: "\boxed{25{,}587}", "14.1\%", "\text{ million}", "\frac{1}{2}".
_EDITS = re.compile(
    rf"""(?P<gone> [{_INVISIBLE}]+ | \\(?=[$%&\#_]) | \\(?:left|right)(?![a-z])
                 | \\(?:text|mathrm|mathbf|textbf|mbox)[ ]?\{{ )
       | \{{(?P<mark>[,.])\}}
       | \\[dt]?frac\{{(?P<over>-?[0-9.,]{{1,40}})\}}\{{(?P<under>[0-9.,]{{1,40}})\}}
       | (?P<blank> \\[,;:!\ ()\[\]] )
       | \\(?P<sign>times|cdot|approx|div)(?![a-z])""",
    re.VERBOSE,
)
_SIGNS = {"times": "\u00d7", "cdot": "\u00d7", "approx": "\u2248", "div": "/"}
_MAY_NEED_EDITS = re.compile(rf"[\\{{{_INVISIBLE}]")


class Surface(NamedTuple):
    """The cleaned text, and where each of its characters stands in the original (None: at the same place)."""

    original: str
    clean: str
    origin: list[int] | None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of `clean[start:end]`, which is not empty."""
        if self.origin is None:
            return start, end
        return self.origin[start], self.origin[end - 1] + 1


def surface(text: str) -> Surface:
    r"""Clean `text` in linear time.

    >>> surface("\\boxed{25{,}587}").clean
    '\\boxed{25,587}'
    >>> surface("\uff12\uff15\uff0c\uff15\uff18\uff17\u2009\uff05").clean
    '25,587 %'
    """
    clean = text if text.isascii() else text.translate(_PLAIN)
    if not _MAY_NEED_EDITS.search(clean):
        return Surface(text, clean, None)
    parts: list[str] = []
    origin: list[int] = []
    done = 0
    for edit in _EDITS.finditer(clean):
        parts.append(clean[done : edit.start()])
        origin.extend(range(done, edit.start()))
        done = edit.end()
        for replacement, places in _replacements(edit):
            parts.append(replacement)
            origin.extend(places)
    parts.append(clean[done:])
    origin.extend(range(done, len(clean)))
    return Surface(text, "".join(parts), origin)


def _replacements(edit: re.Match[str]) -> list[tuple[str, range]]:
    """What stands in the place of an edit, each with the places it comes from."""
    at = edit.start()
    match edit.lastgroup:
        case "mark":
            return [(edit["mark"], range(at + 1, at + 2))]
        case "under":
            cut = edit.end("over")
            over, under = (range(*edit.span(name)) for name in ("over", "under"))
            return [(edit["over"], over), ("/", range(cut, cut + 1)), (edit["under"], under)]
        case "blank":
            return [(" ", range(at, at + 1))]
        case "sign":
            return [(_SIGNS[edit["sign"]], range(at, at + 1))]
        case _:
            return []
