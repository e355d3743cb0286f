"""One line of a journal: a JSON object that carries its own checksum."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any
from zlib import crc32

from holodeck_nb.views.plain_data import plain

__all__ = ["LineError", "journal_line", "read_line", "read_lines"]

# `{"crc32":"1a2b3c4d",` and then the object's own members; the sum is over the object without that member.
_OPENING, _CLOSING = b'{"crc32":"', b'",'
_SUM_ENDS = len(_OPENING) + 8
_BODY_BEGINS = _SUM_ENDS + len(_CLOSING)
# More brackets than that may be nested more deeply than a JSON reader follows; `plain` cuts such data.
_MOST_BRACKETS = 500


class LineError(ValueError):
    """A line is not what was written; the message says how."""


def journal_line(data: Mapping[str, Any]) -> bytes:
    r"""The line, with its line feed: strict JSON in UTF-8, whatever tools and graders gave back.

    What JSON cannot hold is written as a report writes it (see `plain`).

    >>> journal_line({"kind": "turn", "turn": 0})
    b'{"crc32":"f7c6a4b5","kind":"turn","turn":0}\n'
    """
    try:
        body = _encode(data).encode()
    except (TypeError, ValueError, RecursionError):  # NaN, odd keys, half a surrogate pair, a loop
        body = _encode(plain(data)).encode()
    else:
        if body.count(b"[") + body.count(b"{") > _MOST_BRACKETS:
            body = _encode(plain(data)).encode()
    return b"%s%08x%s%s\n" % (_OPENING, crc32(body), _CLOSING, body[1:])


def read_line(line: bytes) -> dict[str, Any]:
    """The object that was written.

    Raises:
        LineError: The line is damaged, or is no line of a journal.
    """
    if line[: len(_OPENING)] != _OPENING or line[_SUM_ENDS:_BODY_BEGINS] != _CLOSING:
        raise LineError("it does not begin as a line of a journal does")
    body = b"{" + line[_BODY_BEGINS:]
    if line[len(_OPENING) : _SUM_ENDS] != b"%08x" % crc32(body):
        raise LineError("its checksum does not fit")
    try:
        data: dict[str, Any] = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise LineError(f"it cannot be read: {error}") from error
    return data


def read_lines(content: bytes) -> Iterator[tuple[int, dict[str, Any] | LineError]]:
    """Every line with its number, from 1; in place of a damaged one the error, never a part of it.

    Where a damaged line holds whole ones (the line feed between them was hit), these are given.
    """
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line:
            continue
        try:
            yield number, read_line(line)
        except LineError as error:
            whole = list(_whole_lines_in(line))
            if len(whole) < line.count(_OPENING) or not whole:
                yield number, error
            yield from ((number, data) for data in whole)


def _whole_lines_in(line: bytes) -> Iterator[dict[str, Any]]:
    """The lines that stand in one, each but the last followed by one byte that was a line feed."""
    begins = line.find(_OPENING)
    while begins >= 0:
        follows = line.find(_OPENING, begins + 1)
        part = line[begins:] if follows < 0 else line[begins : follows - 1]
        with contextlib.suppress(LineError):
            yield read_line(part)
        begins = follows


def _default(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else plain(value)


_encode = json.JSONEncoder(
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,  # what has no bottom is a RecursionError, and cut by `plain`
    separators=(",", ":"),
    default=_default,
).encode
