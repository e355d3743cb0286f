"""Texts by others in a judge's prompt: between markers that nobody who writes them can know."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["Evidence", "code_of", "fenced", "listed", "sendable"]

_CODE_LENGTH = 16


class Evidence(NamedTuple):
    """One text: what the prompt calls it, and the text as it is."""

    name: str
    text: str


def code_of(evidence: Sequence[Evidence]) -> str:
    """The code of the markers: a hash of all the texts.

    A text would have to hold the hash of itself to forge one, which nobody can write; and the same texts give
    the same prompt, so that an answer can be found again.

    >>> code_of([Evidence("input", "net cash?")]) == code_of([Evidence("input", "net cash?")])
    True
    """
    digest = hashlib.sha256()
    for name, text in evidence:
        for part in (name, text):
            digest.update(part.encode())
            digest.update(b"\0")
    code = digest.hexdigest()[:_CODE_LENGTH]
    while any(code in text for _, text in evidence):
        code = hashlib.sha256(code.encode()).hexdigest()[:_CODE_LENGTH]
    return code


def sendable(text: str) -> str:
    """The text with a replacement mark for each half of a character, which no request can hold.

    >>> sendable("a" + chr(0xD800) + "b") == "a" + chr(0xFFFD) + "b"
    True
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def fenced(evidence: Iterable[Evidence], code: str) -> str:
    """The texts, each between its markers."""
    return "\n\n".join(f"<<<{name} {code}>>>\n{text}\n<<<end of {name} {code}>>>" for name, text in evidence)


def listed(name: str, texts: Iterable[str]) -> list[Evidence]:
    """Numbered texts of one kind, from 1.

    >>> listed("passage", ["a", "b"])[1].name
    'passage 2'
    """
    return [Evidence(f"{name} {number}", text) for number, text in enumerate(texts, 1)]
