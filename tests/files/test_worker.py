"""What a child answers, whatever a library raises; and how parent and child talk."""

import io
import zipfile

import pytest

from holodeck_nb.files import worker
from holodeck_nb.files.extraction import Extraction, FileError, ReadRequest
from holodeck_nb.files.wire import WireError, receive, send

REQUEST = ReadRequest("t.txt", "text", 10, pages=(1, 2))

FAULTS = [
    (FileError("there is no page 9"), "there is no page 9"),
    (MemoryError(), "reading it takes more than 1,024 MB of memory: ask for a part of it"),
    (RecursionError(), "it is damaged: its parts refer to each other without end"),
    (FileNotFoundError(2, "No such file"), "it cannot be opened or is damaged: No such file"),
    (OSError("cannot identify image"), "it cannot be opened or is damaged: cannot identify image"),
    (
        zipfile.BadZipFile("Bad CRC-32\nfor file 'xl/workbook.xml'"),
        "it is damaged or cannot be read: BadZipFile: Bad CRC-32 for file 'xl/workbook.xml'",
    ),
    (KeyError("x" * 1000), f"it is damaged or cannot be read: KeyError: '{'x' * 199}"),
]


@pytest.mark.parametrize(("fault", "said"), FAULTS)
def test_every_fault_is_an_answer(monkeypatch, fault, said):
    def read(request):
        assert request == REQUEST
        raise fault

    monkeypatch.setattr(worker, "read", read)
    answer = worker._answer(REQUEST.to_plain())
    assert answer["error"] == said
    # What ran out of memory is not used again.
    assert answer.get("again", True) is not isinstance(fault, MemoryError)


def test_what_was_read_comes_through_the_pipe():
    extraction = Extraction("net cash \u20ac", "on page 3", ("scan",), {"page_count": 9}, (b"\x89PNG",))
    pipe = io.BytesIO()
    send(pipe, extraction.to_plain())
    send(pipe, REQUEST.to_plain())
    pipe.seek(0)
    assert Extraction.from_plain(receive(pipe)) == extraction
    assert ReadRequest.from_plain(receive(pipe)) == REQUEST
    with pytest.raises(WireError):
        receive(pipe)


@pytest.mark.parametrize(
    "data", [b"", b"\0\0", (10).to_bytes(8, "big") + b"{}", (2).to_bytes(8, "big") + b"{]", b"\xff" * 8]
)
def test_half_a_frame(data):
    with pytest.raises(WireError):
        receive(io.BytesIO(data))


def test_a_pipe_that_nobody_reads():
    pipe = io.BytesIO()
    pipe.close()
    with pytest.raises(WireError):
        send(pipe, {})


def test_the_peak_is_this_processs_own():
    assert worker._peak_kib() >= 0
