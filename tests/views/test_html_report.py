"""The HTML report as a file: whole, closed off, the same conversations as in the notebook."""

import base64
import hashlib
import json
import re
import zlib

import pytest
import runs_to_show

import holodeck_nb as hd
from holodeck_nb.results.rollup import RunResult
from holodeck_nb.views.conversation import conversation_html
from holodeck_nb.views.html_report import html_report


def data(page):
    """What is packed into a page, by name."""
    found = dict(re.findall(r'<script type="application/json" id="hn-(\w+)">(.*?)</script>', page, re.DOTALL))
    return {name: json.loads(text if name == "index" else unpacked(text)) for name, text in found.items()}


def unpacked(text):
    return zlib.decompress(base64.b64decode(text))


def test_every_conversation_is_in_it(small_run):
    page = html_report(small_run)
    assert data(page)["0"] == [conversation_html(case) for case in small_run.cases]
    assert [case["name"] for case in data(page)["index"]["cases"]] == ["net cash", "lost", "case 3"]
    assert "206588" in data(page)["texts"][0]


def test_they_are_packed_in_parts():
    run = runs_to_show.many(120).result
    packed = data(html_report(run))
    assert [len(packed[name]) for name in ("0", "1", "2")] == [50, 50, 20]
    assert packed["2"][19] == conversation_html(run.cases[119])


def test_the_policy_lets_its_own_script_run_and_no_other(small_run):
    page = html_report(small_run)
    [script] = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    for word in ("http:", "https:", "url(", "@import", " src=", " href="):
        assert word not in page


def test_no_text_ends_the_element_it_is_in(hostile_run):
    for run in (hostile_run, runs_to_show.hostile().result):
        page = html_report(run)
        assert len(page) < 600_000
        assert page.count("<script") == page.count("</script>") == 4
        assert page.count("<style") == page.count("</style>") == 2  # the page's and the card's
        for tag in ("<img", "<h1", "<iframe", "<svg", "<!--"):
            assert tag not in page
        page.encode()
        assert [len(case["name"]) > 0 for case in data(page)["index"]["cases"]].count(False) <= 1


def test_a_run_without_cases():
    page = html_report(RunResult("none", ()))
    assert data(page)["index"]["at"] is None
    assert "no cases" in page


def test_it_is_written_whole_or_not_at_all(tmp_path, small_run):
    run = hd.Run(small_run)
    path = run.to_html(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == run.to_html() == html_report(small_run)
    with pytest.raises(OSError, match="nowhere"):
        run.to_html(tmp_path / "nowhere" / "report.html")
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]
