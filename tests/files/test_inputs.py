"""The files of a turn: what the agent sees of them, what is remembered, what is told."""

import asyncio
import os

import pytest
from documents import lines, pdf, picture_of, workbook
from hypothesis import given
from hypothesis import strategies as st

from holodeck_nb.files import cache, inputs
from holodeck_nb.files.blocks import Block, message_text, shares
from holodeck_nb.files.inputs import FileDesk, FileSettings
from holodeck_nb.schema.files import FileInput


def read_all(folder, *files, sees=True, desk=None, **settings):
    async def main():
        chosen = desk or FileDesk(FileSettings(folder, **settings))
        return await chosen.read_all([FileInput(**file) for file in files], "net cash?", sees=sees)

    return asyncio.run(main())


@pytest.fixture
def folder(tmp_path):
    pdf(tmp_path / "r.pdf", [lines("PAGE-1"), lines("PAGE-2")])
    (tmp_path / "c.csv").write_text("year,cash\n2009,206588\n")
    return tmp_path


def test_blocks_stand_in_order_before_the_input(folder):
    turn = read_all(
        folder,
        {"path": "r.pdf", "type": "pdf", "pages": [2]},
        {"path": "c.csv", "type": "csv", "description": "cash by year"},
    )
    assert turn.error is None
    assert turn.text == (
        "[File 1 of 2: r.pdf (pdf, pages 2 of 2)]\n## Page 2\n\nPAGE-2\n[End of file 1: r.pdf]\n\n"
        "[File 2 of 2: c.csv (csv): cash by year]\nyear,cash\n2009,206588\n[End of file 2: c.csv]\n\n"
        "net cash?"
    )
    record = turn.records[0]
    assert (record.path, record.url, record.type) == ("r.pdf", None, "pdf")
    told = dict(record.details)
    assert told.pop("processing_time_ms") > 0
    assert told == {
        "pages": (2,),
        "markdown_content": "## Page 2\n\nPAGE-2",
        "error": None,
        "size_bytes": (folder / "r.pdf").stat().st_size,
        "page_count": 2,
        "pages_read": "2",
        "characters": 17,
        "cut": None,
    }


def test_one_bad_file_and_the_agent_is_not_asked(folder):
    turn = read_all(
        folder, {"path": "r.pdf", "type": "pdf", "pages": [9]}, {"path": "c.csv", "type": "excel"},
        {"path": "c.csv", "type": "csv"},
    )  # fmt: skip
    assert turn.error == (
        "r.pdf: there is no page 9: it has pages 1 to 2; c.csv: it should be an Excel workbook "
        "(`type: excel`), but its content is text: set `type: text`"
    )
    assert [record.details["error"] is None for record in turn.records] == [False, False, True]
    assert [record.details["markdown_content"] for record in turn.records] == [""] * 3


def test_a_file_that_went_away_and_a_device(folder):
    turn = read_all(folder, {"path": "gone.pdf", "type": "pdf"}, {"path": "/dev/zero", "type": "text"})
    assert turn.error == (
        "gone.pdf: it cannot be opened: No such file or directory; /dev/zero: it is no ordinary file"
    )


def test_what_says_nothing_about_a_file_is_told(folder):
    turn = read_all(folder, {"path": "c.csv", "type": "csv", "sheet": "P", "pages": [1]})
    assert turn.warnings == (
        "c.csv: `pages` says nothing about a file of type csv",
        "c.csv: `sheet` says nothing about a file of type csv",
    )
    assert turn.records[0].details["warnings"] == tuple(text[7:] for text in turn.warnings)


def test_a_large_file_is_tried_with_a_warning(folder):
    with (folder / "large.txt").open("wb") as file:
        file.write(b"net cash 206588\n" * 20_000)
        file.truncate(101 * 1024**2)  # sparse: it takes no room on the disk
    turn = read_all(folder, {"path": "large.txt", "type": "text"})
    assert "large.txt: it has 101 MB: reading it may take long" in turn.warnings
    assert turn.records[0].details["cut"] == "after 200,000 characters"


class TestBudget:
    @pytest.fixture(autouse=True)
    def small_budget(self, monkeypatch):
        from holodeck_nb.files import readings

        monkeypatch.setattr(inputs, "TURN_CHARACTERS", 1000)
        monkeypatch.setattr(readings, "TURN_CHARACTERS", 1000)

    def test_a_cut_is_visible_to_the_agent_and_told(self, folder):
        (folder / "t.txt").write_text("0123456789" * 500)
        turn = read_all(folder, {"path": "t.txt", "type": "text"})
        assert "\n[Cut after 1,000 characters: the rest of this file is not shown]\n[End of file" in turn.text
        assert turn.warnings[-1].startswith("t.txt: only a part was passed to the agent: it was cut after")
        assert turn.records[0].details["cut"] == "after 1,000 characters"

    def test_a_short_file_stays_whole_beside_long_ones(self, folder):
        (folder / "t.txt").write_text("0123456789" * 90)
        (folder / "u.txt").write_text("9876543210" * 90)
        files = [
            {"path": name, "type": "csv" if name == "c.csv" else "text"}
            for name in ("t.txt", "c.csv", "u.txt")
        ]
        turn = read_all(folder, *files)
        first, table, last = (record.details for record in turn.records)
        assert (table["cut"], table["characters"]) == (None, 21)
        assert first["cut"] == "after 489 of 900 characters"
        assert last["characters"] == 490

    @given(st.lists(st.integers(0, 500), max_size=10), st.integers(0, 2000))
    def test_shares(self, lengths, budget):
        given_out = shares(lengths, budget)
        assert sum(given_out) <= budget
        assert all(share <= length for share, length in zip(given_out, lengths, strict=True))
        if sum(lengths) <= budget:
            assert given_out == lengths
        cut = [share for share, length in zip(given_out, lengths, strict=True) if share < length]
        assert not cut or max(cut) - min(cut) <= len(cut)


def test_a_question_without_files_is_itself():
    assert message_text([], "net cash?") == "net cash?"
    assert message_text([Block("a", "text", "x")], "q").endswith("\n\nq")


class TestImages:
    @pytest.fixture
    def image(self, folder):
        data = picture_of("NET CASH 206588")
        (folder / "i.png").write_bytes(data)
        return data

    def test_a_model_that_sees_gets_the_picture(self, folder, image):
        turn = read_all(folder, {"path": "i.png", "type": "image"})
        assert turn.images == (image,)
        assert "[File 1 of 1: i.png (image)]\n(an image of 900 x 120 pixels, attached)" in turn.text

    def test_an_agent_that_does_not_gets_its_text_or_is_not_asked(self, folder, image):
        from holodeck_nb.files import ocr

        turn = read_all(folder, {"path": "i.png", "type": "image"}, sees=False)
        assert turn.images == ()
        if ocr.is_available():
            assert "NET CASH 206588" in turn.text
        else:
            assert 'pip install "holodeck-nb[ocr]"' in turn.error


class TestMemory:
    @pytest.fixture
    def read(self, monkeypatch):
        """How often a child was asked."""
        calls = []

        async def counted(request, seconds, real=inputs.read_in_child):
            calls.append(request)
            return await real(request, seconds)

        monkeypatch.setattr(inputs, "read_in_child", counted)
        return calls

    def test_the_same_file_is_read_once_a_run(self, folder, read):
        async def main():
            desk = FileDesk(FileSettings(folder))
            for _ in range(3):
                await desk.read_all([FileInput(path="c.csv", type="csv")], "q", sees=True)

        asyncio.run(main())
        assert len(read) == 1

    def test_a_reading_is_kept_by_content_and_part(self, folder, read):
        first = {"path": "r.pdf", "type": "pdf", "pages": [1]}
        kept = {"cache_dir": folder / ".cache"}
        one = read_all(folder, first, **kept)
        assert read_all(folder, first, **kept).text == one.text
        assert len(read) == 1
        assert "PAGE-2" in read_all(folder, {**first, "pages": [2]}, **kept).text
        assert len(read) == 2
        os.utime(folder / "r.pdf", (1, 1))  # the content counts, not the time
        assert read_all(folder, first, **kept).text == one.text
        assert len(read) == 2
        pdf(folder / "r.pdf", [lines("CHANGED")])
        assert "CHANGED" in read_all(folder, first, **kept).text

    def test_a_new_reader_reads_again(self, folder, read, monkeypatch):
        kept = {"cache_dir": folder / ".cache"}
        read_all(folder, {"path": "r.pdf", "type": "pdf"}, **kept)
        monkeypatch.setattr(cache, "_versions", lambda: ("pypdf 99",))
        read_all(folder, {"path": "r.pdf", "type": "pdf"}, **kept)
        assert len(read) == 2

    def test_cache_false_keeps_nothing(self, folder, read):
        for _ in range(2):
            read_all(folder, {"path": "r.pdf", "type": "pdf", "cache": False}, cache_dir=folder / ".cache")
        assert len(read) == 2
        assert not (folder / ".cache").exists()

    def test_a_damaged_reading_is_made_again(self, folder, read):
        kept = {"cache_dir": folder / ".cache"}
        one = read_all(folder, {"path": "r.pdf", "type": "pdf"}, **kept)
        [entry] = (folder / ".cache" / "readings").iterdir()
        for damage in ("", "{}", '{"text": 1'):
            entry.write_text(damage)
            assert read_all(folder, {"path": "r.pdf", "type": "pdf"}, **kept).text == one.text

    def test_a_folder_that_cannot_be_written(self, folder):
        turn = read_all(folder, {"path": "r.pdf", "type": "pdf"}, cache_dir=folder / "c.csv" / "cache")
        assert turn.error is None


def test_two_sheets_of_one_workbook(folder):
    def fill(book):
        for name in ("P", "Q"):
            book.add_worksheet(name).write("A1", f"on {name}")

    workbook(folder / "f.xlsx", fill)
    files = [{"path": "f.xlsx", "type": "excel", "sheet": name} for name in ("P", "Q")]
    turn = read_all(folder, *files, cache_dir=folder / ".cache")
    assert [record.details["cells"] for record in turn.records] == ["sheet 'P' A1", "sheet 'Q' A1"]
    assert "on P" in turn.text
    assert "on Q" in turn.text
