"""PowerPoint presentations: the slide that is asked for, and all that is on it."""

import pytest
from documents import box, slides

from holodeck_nb.files.extraction import FileError, ReadRequest
from holodeck_nb.files.readers import read


def read_deck(path, limit=100_000, **part):
    return read(ReadRequest(str(path), "powerpoint", limit, **part))


def full(slide):
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    box(slide, "FIRST BOX")
    box(slide, "SECOND BOX")
    table = slide.shapes.add_table(2, 2, 0, 0, Inches(3), Inches(1)).table
    table.cell(0, 0).text = "merged"
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(1, 1).text = "CELL B"
    box(slide.shapes.add_group_shape().shapes.add_group_shape(), "DEEP")
    data = CategoryChartData()
    data.categories = ["2008", "2009"]
    data.add_series("Cash", (181001, None))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(3), data)
    slide.notes_slide.notes_text_frame.text = "said aloud"


@pytest.fixture
def deck(tmp_path):
    def hidden(slide):
        box(slide, "HIDDEN")
        slide._element.set("show", "0")

    return slides(tmp_path / "p.pptx", lambda slide: box(slide, "S1"), full, hidden, lambda slide: None)


def test_all_that_is_on_a_slide(deck):
    extraction = read_deck(deck, pages=(2,))
    assert extraction.text == (
        "## Slide 2\n\nFIRST BOX\n\nSECOND BOX\n\n| merged |  |\n| --- | --- |\n|  | CELL B |\n\nDEEP\n\n"
        "|  | Cash |\n| --- | --- |\n| 2008 | 181001 |\n| 2009 |  |\n\nNotes: said aloud"
    )
    assert extraction.facts == {"slide_count": 4, "slides_read": "2"}
    assert extraction.warnings == ()


def test_slides_count_from_1_and_keep_the_order_asked_for(deck):
    text = read_deck(deck, pages=(2, 1)).text
    assert text.index("## Slide 2") < text.index("## Slide 1\n\nS1")


def test_hidden_and_blank_slides_are_told(deck):
    extraction = read_deck(deck)
    assert "HIDDEN" not in extraction.text
    assert extraction.facts["slides_read"] == "1-2, 4"
    assert extraction.warnings == (
        "hidden slides were left out: 3; ask for them with `slides`",
        "slide 4 has no text (a picture?)",
    )
    assert "HIDDEN" in read_deck(deck, pages=(3,)).text


def test_a_slide_that_is_not_there(deck):
    with pytest.raises(FileError, match="there is no slide 5: it has slides 1 to 4"):
        read_deck(deck, pages=(5,))


def test_no_text_on_any_slide(deck):
    with pytest.raises(FileError, match="no text on it"):
        read_deck(deck, pages=(4,))


def test_reading_stops_at_the_limit(deck):
    extraction = read_deck(deck, pages=(2, 1), limit=60)
    assert extraction.cut == "on slide 2 of 4"
    assert len(extraction.text) <= 60


def test_no_slides(tmp_path):
    with pytest.raises(FileError, match="it has no slides"):
        read_deck(slides(tmp_path / "e.pptx"))
