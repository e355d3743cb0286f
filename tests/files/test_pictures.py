"""Images: as they are for models that see, as text for agents that do not."""

import io

import pytest
from documents import picture_of
from PIL import Image

from holodeck_nb.files import ocr, pictures
from holodeck_nb.files.extraction import FileError, ReadRequest
from holodeck_nb.files.readers import read


def read_image(folder, data, **part):
    path = folder / "i.img"
    path.write_bytes(data)
    return read(ReadRequest(str(path), "image", 1000, **part))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_what_models_take_goes_as_it_is(tmp_path, kind):
    data = picture_of("cash", kind=kind)
    extraction = read_image(tmp_path, data)
    assert extraction.images == (data,)
    assert extraction.facts == {"format": kind.lower(), "width": 900, "height": 120}
    assert extraction.text == "(an image of 900 x 120 pixels, attached)"


@pytest.mark.parametrize("kind", ["BMP", "TIFF"])
def test_other_kinds_go_as_png(tmp_path, kind):
    [sent] = read_image(tmp_path, picture_of("cash", kind=kind)).images
    with Image.open(io.BytesIO(sent)) as image:
        assert (image.format, image.size) == ("PNG", (900, 120))


def test_the_further_pictures_of_a_file_are_told(tmp_path):
    data = io.BytesIO()
    first, second = Image.new("RGB", (9, 9)), Image.new("RGB", (9, 9))
    first.save(data, "TIFF", save_all=True, append_images=[second])
    assert read_image(tmp_path, data.getvalue()).warnings == ("only the first of its 2 pictures is used",)


@pytest.mark.skipif(not ocr.is_available(), reason="pytesseract or tesseract is not installed")
def test_the_text_for_an_agent_that_does_not_see(tmp_path):
    extraction = read_image(tmp_path, picture_of("NET CASH 206588"), ocr=True)
    assert extraction.images == ()
    assert "NET CASH 206588" in extraction.text


@pytest.mark.skipif(not ocr.is_available(), reason="pytesseract or tesseract is not installed")
def test_no_text_in_it(tmp_path):
    with pytest.raises(FileError, match="no text could be read in this image"):
        read_image(tmp_path, picture_of(""), ocr=True)


def test_without_tesseract_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(ocr, "is_available", lambda: False)
    monkeypatch.setattr(pictures, "is_available", lambda: False)
    with pytest.raises(FileError, match=r"and this is an image; .*holodeck-nb\[ocr\]"):
        read_image(tmp_path, picture_of("x"), ocr=True)


def test_a_truncated_image(tmp_path):
    with pytest.raises(FileError, match="damaged or truncated"):
        read_image(tmp_path, picture_of("cash")[:-200])


def test_an_image_of_too_many_pixels(tmp_path):
    data = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(data, "PNG")
    with pytest.raises(FileError, match="too large"):
        read_image(tmp_path, data.getvalue())


def test_an_image_of_too_many_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "IMAGE_BYTES", 100)
    with pytest.raises(FileError, match="models take images up to 100 bytes"):
        read_image(tmp_path, picture_of("cash"))
