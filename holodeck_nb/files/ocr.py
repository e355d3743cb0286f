"""Text in pictures, read by Tesseract where it is installed."""

from __future__ import annotations

import importlib.util
import io
import shutil
from functools import cache

__all__ = ["hint", "is_available", "text_in_picture"]

# A page at 600 dots an inch; larger ones are made smaller.
_MOST_PIXELS = 35_000_000


@cache
def is_available() -> bool:
    """Whether the package and the program are there."""
    return importlib.util.find_spec("pytesseract") is not None and shutil.which("tesseract") is not None


def hint() -> str:
    """What to install, as the end of a message; "" where it is there."""
    if is_available():
        return ""
    return '; to read pictures as text: pip install "holodeck-nb[ocr]", and the program tesseract'


def text_in_picture(picture: bytes) -> str:
    """The text, rows of a table kept together; "" where there is none, or no program that could read it.

    Raises:
        OSError: It is no picture that could be opened.
    """
    if not is_available():
        return ""
    import pytesseract  # noqa: PLC0415 - an extra
    from PIL import Image  # noqa: PLC0415 - only where pictures are read

    with Image.open(io.BytesIO(picture)) as image:
        shades = image.convert("L")
        if shades.width * shades.height > _MOST_PIXELS:
            shades.thumbnail((6000, 6000))
        # 6: one block of text, which leaves the rows of a table whole.
        text: str = pytesseract.image_to_string(shades, config="--psm 6")
    return text.strip()
