"""Text files: the right encoding, and the text as it is."""

import pytest

from holodeck_nb.files.extraction import FileError, ReadRequest
from holodeck_nb.files.readers import read

GERMAN = (
    "Die Größe der Kasse betrug fünf Millionen Euro; über Jahre änderte sich das für die Gesellschaft nicht."
)
POLISH = (
    "Środki pieniężne spółki na koniec roku wyniosły dwieście sześć milionów złotych, więcej niż wcześniej."
    * 3
)
CHINESE = "公司年末现金及现金等价物余额为二亿六百万元,比上年增加。根据公司年度报告,管理层认为财务状况良好。"
RUSSIAN = "Денежные средства компании на конец года составили двести шесть миллионов рублей по отчету."
JAPANESE = (
    "現金及び現金同等物の期末残高は二億六百万円であった。前年度と比べて増加している。会社の報告書による。"
)

ENCODINGS = [
    ("utf-8", GERMAN, "utf-8"),
    ("utf-8-sig", GERMAN, "utf-8"),
    ("utf-16", RUSSIAN, "utf-16"),
    ("utf-32", RUSSIAN, "utf-32"),
    ("utf-16-le", "plain letters", "utf-16-le"),
    ("utf-16-be", "plain letters", "utf-16-be"),
    ("cp1252", GERMAN, "cp1252"),
    ("cp1252", "Größe", "cp1252"),
    ("cp1252", "Résumé de l'année: bénéfice net à la clôture, déjà communiqué aux actionnaires.", "cp1252"),
    ("cp1250", POLISH, "cp1250"),
    ("cp1251", RUSSIAN, "cp1251"),
    ("gb18030", CHINESE, None),
    ("shift_jis", JAPANESE, None),  # any of its family
]


def read_text(folder, data, limit=100_000):
    path = folder / "t.txt"
    path.write_bytes(data)
    return read(ReadRequest(str(path), "text", limit))


@pytest.mark.parametrize(("encoding", "text", "called"), ENCODINGS)
def test_the_encoding_is_found(tmp_path, encoding, text, called):
    extraction = read_text(tmp_path, text.encode(encoding))
    assert extraction.text == text
    assert called in {None, extraction.facts["encoding"]}
    assert any("guess" in warning for warning in extraction.warnings) is not encoding.startswith("utf")


def test_line_ends_are_all_the_same(tmp_path):
    assert read_text(tmp_path, b"a\r\nb\rc\nd").text == "a\nb\nc\nd"


def test_a_long_text_is_cut(tmp_path):
    extraction = read_text(tmp_path, "ö".encode() * 5_000, limit=1_000)
    assert (len(extraction.text), extraction.cut) == (1_000, "after 1,000 characters")
    assert extraction.warnings == ()  # the character that the buffer cuts in two is nobody's fault


def test_a_text_that_was_cut_within_a_character(tmp_path):
    assert "may be truncated" in read_text(tmp_path, "Größe".encode()[:3]).warnings[0]


def test_right_to_left_text_stays_as_it_is(tmp_path):
    assert read_text(tmp_path, "שלום \u202bעולם\u202c".encode()).text == "שלום \u202bעולם\u202c"


@pytest.mark.parametrize("data", [b" \n\t", b"\xef\xbb\xbf"])
def test_no_text(tmp_path, data):
    with pytest.raises(FileError, match="it holds no text"):
        read_text(tmp_path, data)
