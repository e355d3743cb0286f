"""How a process and its child that reads files talk: one JSON value a frame, its length before it."""

from __future__ import annotations

import json
from typing import IO, Any

__all__ = ["WireError", "receive", "send"]

# The text of a turn and one picture in base64 fit many times over.
_LONGEST = 128 * 1024 * 1024
_HEAD = 8


class WireError(Exception):
    """The other end is gone, or says what makes no sense."""


def send(stream: IO[bytes], value: Any) -> None:
    """Write one value.

    Raises:
        WireError: Nobody reads it.
    """
    body = json.dumps(value).encode("ascii")
    try:
        stream.write(len(body).to_bytes(_HEAD, "big") + body)
        stream.flush()
    except (OSError, ValueError) as error:  # a closed stream is a ValueError
        raise WireError(str(error)) from error


def receive(stream: IO[bytes]) -> Any:
    """Read one value.

    Raises:
        WireError: The other end is gone, or sent something else.
    """
    try:
        head = stream.read(_HEAD)
        length = int.from_bytes(head, "big")
        if len(head) < _HEAD or length > _LONGEST:
            raise WireError("the other end is gone")
        body = stream.read(length)
        if len(body) < length:
            raise WireError("the other end broke off")
        return json.loads(body)
    except (OSError, ValueError) as error:
        raise WireError(str(error)) from error
