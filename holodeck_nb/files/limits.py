"""How much a file may cost: characters, bytes, memory, entries of an archive."""

from __future__ import annotations

__all__ = [
    "ARCHIVE_BYTES",
    "ARCHIVE_ENTRIES",
    "ARCHIVE_RATIO",
    "DOWNLOAD_BYTES",
    "IMAGE_BYTES",
    "LARGE_BYTES",
    "MEMORY_BYTES",
    "REDIRECTS",
    "TURN_CHARACTERS",
    "size_text",
]

MIB = 1024 * 1024

# What all files of a turn together may add to its text: some 50,000 tokens.
TURN_CHARACTERS = 200_000

# Above it, reading a file may take long: a warning, then an attempt.
LARGE_BYTES = 100 * MIB

# What a download may weigh: it goes to the disk, never into memory.
DOWNLOAD_BYTES = 1024 * MIB

# What providers take as one picture.
IMAGE_BYTES = 20 * MIB

# What a child process that reads files may use.
MEMORY_BYTES = 1024 * MIB

# Office files are archives. Real ones unpack to 10 times their size, a spreadsheet full of the same number to
# 100 times; a bomb to 1,000 times.
ARCHIVE_BYTES = 1024 * MIB
ARCHIVE_RATIO = 200
ARCHIVE_ENTRIES = 20_000

REDIRECTS = 5


def size_text(size: float) -> str:
    """Bytes the way people say them.

    >>> size_text(104_857_600), size_text(2048), size_text(12)
    ('100 MB', '2 KB', '12 bytes')
    """
    if size >= MIB:
        return f"{size / MIB:,.0f} MB"
    return f"{size / 1024:,.0f} KB" if size >= 1024 else f"{size:.0f} bytes"  # noqa: PLR2004 - a KB
