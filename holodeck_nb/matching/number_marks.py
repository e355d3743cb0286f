"""Where a reply marks its answer: `=`, "answer:", boxed, "so … is", bold; and where its sentences end."""

import re
from typing import NamedTuple

_EVENTS = re.compile(
    r"""(?P<equals> =(?<![<>!]=)(?!>) )
      | (?P<answer> answer(?<![a-z]answer)(?![a-z])
            (?: [*_\# ]{0,5}\n
              | [^.!?:=\n]{0,60}?(?: : | [ ](?:is|was|would[ ]be|should[ ]be)(?![a-z]) ) ) )
      | (?P<boxed> \\f?box(?:ed)?(?![a-z]) | \#{4}(?=[ ]?[-+(]?[$]?[-+(]?\.?[0-9]) )
      | (?P<so> (?:so|therefore|thus|hence)(?![a-z])(?![ ](?:far|that|much|many)(?![a-z])) )
      | (?P<is> is(?<![a-z]is)(?![a-z]) )
      | (?P<weak> [\u2248\u2245\u2192] | equals(?<![a-z]equals)(?![a-z]) | result(?=[*_]{0,3}:) )
      | (?P<end> \n | [!?] | \.(?<!approx\.)(?=\s|\Z|\*) )""",
    re.VERBOSE,
)
_BOLD = re.compile(
    r"\*\*(?=[^\s*])[^*\n]{1,200}\*\*|__(?=[^\s_])[^_\n]{1,200}__|<(b|strong)>[^<\n]{1,200}</\1>"
)
_CONTINUES = re.compile(r"\.[ ]+[a-z]")
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class Marks(NamedTuple):
    """Places in a text, each list in order."""

    strong: list[int]
    """The first number behind is the answer."""
    weak: list[int]
    """The number behind is the answer if it is alone in its sentence."""
    ends: list[int]
    """Ends of sentences and lines."""


def marks(clean: str) -> Marks:
    """One pass over the text.

    >>> marks("It was 3 = 1 + 2. So the answer is 4.")
    Marks(strong=[10, 34], weak=[20], ends=[16, 36])
    """
    found = Marks([], [], [])
    concluding = False
    for event in _EVENTS.finditer(clean.lower() if clean.isascii() else clean.translate(_LOWER)):
        match event.lastgroup:
            case "equals" | "answer" | "boxed":
                found.strong.append(event.end())
                concluding = False
            case "so" if not clean[event.start() - 1 : event.start()].isalpha():
                found.weak.append(event.end())
                concluding = True
            case "is" if concluding:
                found.strong.append(event.end())
                concluding = False
            case "weak":
                found.weak.append(event.end())
            case "end" if not _CONTINUES.match(clean, event.start()):  # "the U.S. revenue"
                found.ends.append(event.start())
                concluding = False
            case _:
                pass
    return found


def bold_spans(clean: str) -> list[tuple[int, int]]:
    """The bold pieces of Markdown or HTML, in order."""
    return [span.span() for span in _BOLD.finditer(clean)]
