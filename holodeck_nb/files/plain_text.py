"""Text files: the right encoding found, the text as it is."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TYPE_CHECKING

from .extraction import FileError

if TYPE_CHECKING:
    from .extraction import ReadRequest
    from .transcript import Transcript

__all__ = ["decoded", "read_text"]

# The marks that a file may begin with; the longer ones first, as UTF-32's begins like UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WESTERN = "cp1252"
_LATIN = ["cp1252", "cp1250", "cp1254", "cp1257"]
_RARE = ["mac_cyrillic", "mac_greek", "mac_iceland", "mac_latin2", "mac_roman", "mac_turkish"]
_LAST_ASCII = 0x7F
_MARKED_SHARE = 0.5
_CLEARLY = 0.2
_SAMPLE_BYTES = 256 * 1024
_MOST_BYTES_A_CHARACTER = 4


def read_text(request: ReadRequest, out: Transcript) -> None:
    """The whole text, its line ends all the same."""
    text, more = decoded(request.path, request.limit, out)
    if not text.strip():
        raise FileError("it holds no text")
    out.add(text.replace("\r\n", "\n").replace("\r", "\n"), place=f"after {request.limit:,} characters")
    if more and not out.full:
        out.cut_at(f"after {len(text):,} characters")


def decoded(path: str, limit: int, out: Transcript) -> tuple[str, bool]:
    """The beginning of a file as text, a little more than `limit` characters, and whether there is more.

    Raises:
        FileError: It is in no encoding that could be told.
    """
    # One character more than may be shown, so that a cut is noticed.
    wanted = (limit + 1) * _MOST_BYTES_A_CHARACTER
    with Path(path).open("rb") as stream:
        raw = stream.read(wanted)
        more = bool(stream.read(1))
    encoding = _encoding(raw, out)
    out.facts["encoding"] = "utf-8" if encoding == "utf-8-sig" else encoding
    # The last character may have been cut in two, by us or by whoever truncated the file.
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(raw, final=not more)
    if not more and text.endswith("\ufffd") and encoding.startswith("utf"):
        out.warnings.append("its last character is incomplete: it may be truncated")
    return text, more


def _encoding(raw: bytes, out: Transcript) -> str:
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return encoding
    if b"\0" in raw[:_SAMPLE_BYTES]:
        return "utf-16-le" if raw[1::2].count(0) > raw[0::2].count(0) else "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw)
    except UnicodeDecodeError:
        guess = _guessed(raw[:_SAMPLE_BYTES])
        out.warnings.append(f"it is not UTF-8; it was read as {guess}, which is a guess")
        return guess
    return "utf-8"


def _guessed(sample: bytes) -> str:
    """The likeliest encoding that is not Unicode.

    A few letters among many that are ASCII are the marked ones of a Latin alphabet; which one, a short text
    does not tell, and the Western one is the commonest by far.
    """
    from charset_normalizer import from_bytes  # noqa: PLC0415 - only for text that is not UTF-8

    letters = sum(byte > _LAST_ASCII or chr(byte).isalpha() for byte in sample)
    is_latin = sum(byte > _LAST_ASCII for byte in sample) < _MARKED_SHARE * letters
    if not is_latin:
        best = from_bytes(sample, cp_exclusion=_RARE).best()
        return _WESTERN if best is None else best.encoding
    matches = list(from_bytes(sample, cp_isolation=_LATIN))
    western = next((match for match in matches if match.encoding == _WESTERN), None)
    best = max(matches, key=lambda match: match.coherence, default=None)
    if best is None or (western is not None and best.coherence - western.coherence < _CLEARLY):
        return _WESTERN
    if str(best) == sample.decode(_WESTERN, "replace"):
        return _WESTERN
    return best.encoding
