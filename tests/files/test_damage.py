"""Files with bytes flipped, lost or cut off: each is read or refused with one clear error, in time."""

import asyncio
import random

import documents
import pytest

from holodeck_nb.files.extraction import FileError, ReadRequest
from holodeck_nb.files.pool import read_in_child

MUTANTS = 12


def excel(path):
    return documents.workbook(path, lambda book: book.add_worksheet().write_row(0, 0, [1, "a", 2.5]))


def image(path):
    path.write_bytes(documents.picture_of("x"))
    return path


MAKERS = {
    "pdf": lambda path: documents.pdf(path, [documents.lines("x", "y")] * 3),
    "excel": excel,
    "word": lambda path: documents.word(path, lambda document: document.add_paragraph("x")),
    "powerpoint": lambda path: documents.slides(path, lambda slide: documents.box(slide, "x")),
    "image": image,
}


def damaged(data, chance):
    """The same with a few bytes changed or lost, or its end cut off."""
    copy = bytearray(data)
    how = chance.choice(["flip", "lose", "cut"])
    for _ in range(chance.randint(1, 12)):
        place = chance.randrange(len(copy))
        if how == "flip":
            copy[place] ^= 1 << chance.randrange(8)
        elif how == "lose":
            del copy[place : place + chance.randint(1, 30)]
    if how == "cut":
        del copy[chance.randrange(len(copy)) :]
    return bytes(copy)


@pytest.mark.parametrize("type_", MAKERS)
def test_a_damaged_file_is_read_or_refused(tmp_path, type_):
    whole = MAKERS[type_](tmp_path / "whole").read_bytes()
    chance = random.Random(206588)

    async def main():
        told = []
        for number in range(MUTANTS):
            path = tmp_path / str(number)
            path.write_bytes(damaged(whole, chance))
            try:
                await read_in_child(ReadRequest(str(path), type_, 1000), 20.0)
            except FileError as error:
                told.append(str(error))
        return told

    told = asyncio.run(main())
    assert told
    assert all(said.startswith(("it ", "its ", "page ", "there ")) for said in told)
    assert not any("more than 20 s" in said for said in told)
