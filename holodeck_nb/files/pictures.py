"""Images: checked, and handed to models that see; as text to agents that do not."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from .extraction import FileError
from .limits import IMAGE_BYTES, size_text
from .ocr import hint, is_available, text_in_picture

if TYPE_CHECKING:
    from PIL import Image

    from .extraction import ReadRequest
    from .transcript import Transcript

__all__ = ["read_image"]

# What providers take; others are sent as PNG.
_TAKEN = frozenset({"GIF", "JPEG", "PNG", "WEBP"})


def read_image(request: ReadRequest, out: Transcript) -> None:
    """The picture as it is, or the text in it where `request.ocr` is set (the agent takes no pictures).

    Raises:
        FileError: It is damaged or too large, or there is no way to read it for an agent without eyes.
    """
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - only for images

    file = Path(request.path)
    if file.stat().st_size > IMAGE_BYTES:
        raise FileError(
            f"it has {size_text(file.stat().st_size)}; models take images up to {size_text(IMAGE_BYTES)}"
        )
    raw = file.read_bytes()
    try:
        with Image.open(io.BytesIO(raw)) as image:
            image.load()
            kind, size = image.format or "", image.size
            frames = getattr(image, "n_frames", 1)
            sent = raw if kind in _TAKEN else _as_png(image)
    except Image.DecompressionBombError as error:
        raise FileError(f"it is too large: {error}") from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise FileError(f"it is damaged or truncated: {error}") from error
    out.facts |= {"format": kind.lower(), "width": size[0], "height": size[1]}
    if frames > 1 and kind not in _TAKEN:
        out.warnings.append(f"only the first of its {frames} pictures is used")
    if not request.ocr:
        out.images.append(sent)
        out.add(f"(an image of {size[0]} x {size[1]} pixels, attached)")
        return
    if not is_available():
        raise FileError(f"this agent takes text alone, and this is an image{hint()}")
    text = text_in_picture(sent)
    if not text:
        raise FileError("this agent takes text alone, and no text could be read in this image")
    out.facts["read_by_ocr"] = True
    out.add(f"(the text in the image, read by a program)\n\n{text}", place="in the text of the image")


def _as_png(image: Image.Image) -> bytes:
    png = io.BytesIO()
    (image if image.mode in {"1", "L", "LA", "P", "RGB", "RGBA"} else image.convert("RGB")).save(png, "PNG")
    return png.getvalue()
