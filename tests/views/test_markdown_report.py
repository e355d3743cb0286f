"""The Markdown report: whole as text, and unbroken whatever an agent writes."""

import html
import re
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from holodeck_nb.results.records import ToolCheck, ToolInvocation, TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.views.markdown_report import markdown
from holodeck_nb.views.markdown_text import fenced, inline, table

OWN_HEADINGS = re.compile(r"# Test report: |## (Summary|Metrics|Cases|Warnings)$|##? ?\d+\. |### \d+\. ")


def outside_fences(text):
    """The lines that are Markdown, as a CommonMark reader tells them from code."""
    fence = None
    for line in text.split("\n"):
        opening = re.match(r"(`{3,})", line)
        if fence is None and opening and "`" not in line[len(opening[1]) :]:
            fence = opening[1]
        elif fence is not None and re.fullmatch(rf"`{{{len(fence)},}}\s*", line):
            fence = None
        elif fence is None:
            yield line
    assert fence is None, "a fence was left open"


def cells(line):
    """The cells of a row as GitHub reads them: a pipe after a backslash belongs to the cell."""
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [plain_text(cell) for cell in re.split(r"(?<!\\)\|", inner)]


def plain_text(markdown_text):
    unescaped = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown_text.strip().replace("\\|", "|"))
    return html.unescape(unescaped)


def tables(text):
    """Every table of a report: a list of rows, the header first."""
    found, rows = [], []
    for line in [*outside_fences(text), ""]:
        if line.startswith("|"):
            rows.append(cells(line))
        elif rows:
            found.append(rows)
            rows = []
    return found


def shown(text):
    """How a text looks on one line."""
    return " ".join(text.replace("\x1b", "␛").replace("\x00", "␀").replace("\ud800", "\ufffd").split())


def test_hostile_text_breaks_no_table_fence_or_heading(hostile_run):
    text = markdown(hostile_run)
    text.encode()
    found = tables(text)
    assert len(found) >= 4 * len(hostile_run.cases)
    for rows in found:
        assert {len(row) for row in rows} == {len(rows[0])}
    lines = list(outside_fences(text))
    assert all(OWN_HEADINGS.match(line) for line in lines if line.startswith("#"))
    assert not [line for line in lines if re.search(r"(?<!\\)<", line)], "HTML outside of code"
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_a_commonmark_reader_sees_our_headings_and_tables_and_no_html(hostile_run, small_run):
    reader = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    for run in (hostile_run, small_run):
        text = markdown(run)
        blocks = reader.parse(text)
        parts = [*blocks, *(child for block in blocks for child in block.children or ())]
        assert not {part.type for part in parts} & {"html_block", "html_inline", "link_open", "image"}
        headings = [
            blocks[place + 1].content for place, block in enumerate(blocks) if block.type == "heading_open"
        ]
        wanted = re.compile(r"Test report: |(Summary|Metrics|Cases|Warnings)$|\d+\\?\. ")
        assert [content for content in headings if not wanted.match(content)] == []
        assert sum(block.type == "table_open" for block in blocks) == len(tables(text))


def test_hostile_text_comes_back_from_the_cells(hostile_run, hostile_texts):
    (cases,) = [
        rows for rows in tables(markdown(hostile_run)) if rows[0][1] == "Case" and "Verdict" in rows[0]
    ]
    for text, row in zip(hostile_texts, cases[2:], strict=True):
        name = shown(
            text.replace("\u202e", "⟨U+202E⟩").replace("\u2066", "⟨U+2066⟩").replace("\u2028", "⟨U+2028⟩")
        )
        assert row[1] == name


def test_pipes_line_breaks_and_backslashes():
    turn = TurnResult(
        0,
        "x | y\nz",
        ground_truth="p",
        response="cheap | fast\n| new | row |\npath C:\\|end",
        tool_calls=(ToolInvocation("t|u", {"a": "C:\\|"}, "| new |\npath C:\\", error="a\\|b"),),
    )
    run = RunResult("a|b", (CaseResult("a|b", 0, (turn,), given_name="a|b"),))
    text = markdown(run)
    assert "cheap | fast\n| new | row |\npath C:\\|end" in text  # in its fence as it is
    (calls,) = [rows for rows in tables(text) if "Arguments" in rows[0]]
    assert calls[2][1:5] == ["t|u", '{"a": "C:\\\\|"}', '"| new |\\npath C:\\\\"', "a\\|b"]


@given(st.text(max_size=30) | st.text("|\\`*_<>&#[]~$ \n\r\t", max_size=30))
def test_any_text_is_one_cell_that_gives_it_back(text):
    block = table(("A", "B"), [(text, "end")])
    assert len(block.split("\n")) == 3
    row = cells(block.split("\n")[2])
    assert len(row) == 2
    if not re.search(
        r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]|&", text
    ):
        assert row[0] == " ".join(text.split())


@given(st.text("`~a\n ", max_size=30))
def test_any_text_stays_in_its_fence(text):
    block = fenced(text)
    assert list(outside_fences(block)) == []
    assert block.split("\n", 1)[1].rsplit("\n", 1)[0] == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("program_equivalence", "program_equivalence"),  # reads better without a backslash
        ("_it_ **b** `c`", r"\_it\_ \*\*b\*\* \`c\`"),
        ("[a](b) ![c](d)", r"\[a\](b) !\[c\](d)"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("$1 ~~x~~ # y", r"\$1 \~\~x\~\~ \# y"),
        ("a\r\nb\u202ec\x7fd", "a b⟨U+202E⟩c␡d"),
        ("12345678", "123 … (5 more characters)"),
    ],
)
def test_text_in_a_line(text, written):
    assert inline(text, 3 if text == "12345678" else 100) == written


def test_a_long_reply_is_cut_and_says_so():
    reply = "x" * 10_000_000
    turn = TurnResult(0, "in", response=reply, tool_calls=(ToolInvocation("t", {"a": reply}, reply),))
    begun = time.perf_counter()
    text = markdown(RunResult("fin", (CaseResult("c", 0, (turn,)),)))
    assert len(text) < 30_000
    assert "… (9,980,000 more characters)" in text
    assert text.count("more characters") == 3
    assert time.perf_counter() - begun < 30


def test_a_failing_single_turn_case_with_a_tool_and_its_arguments_is_written():
    tool = {"name": "subtract", "args": {"a": 1}}
    turn = TurnResult(
        0,
        "in",
        response="x",
        expected_tools=(tool,),
        tool_calls=(ToolInvocation("subtract", {"a": 2}, 3),),
        tool_checks=(ToolCheck("subtract", 1, {"a": 1}, matched=False, reason="a expected 1, got 2"),),
    )
    text = markdown(RunResult("fin", (CaseResult("c", 0, (turn,), multi_turn=False),)))
    assert (
        "| 0 | subtract | ✗ not matched | a | exact 1 | not known | unknown | a expected 1, got 2 |" in text
    )
    assert "turn 0\n" not in text  # it has no turns to speak of


def test_an_empty_run_is_a_report():
    text = markdown(RunResult("empty", ()))
    assert "| Pass rate | n/a |" in text
    assert "## Cases" not in text


def test_what_was_expected_of_a_turn_that_was_not_checked():
    turn = TurnResult(0, "in", error="timeout", expected_tools=("lookup", {"name": "sub", "args": {"a": 1}}))
    text = markdown(RunResult("fin", (CaseResult("c", 0, (turn,)),)))
    assert '**Expected tools** (not checked): lookup, {"name": "sub", "args": {"a": 1}}' in text
    assert "**Response:** *no reply*" in text


def test_a_cut_off_reply_says_so():
    turn = TurnResult(0, "in", response="x", truncated=True, refused=True)
    assert "**Response (refused, cut off)**" in markdown(RunResult("fin", (CaseResult("c", 0, (turn,)),)))


def test_a_run_that_was_stopped_says_why(small_run):
    assert "| Stopped early | the key was refused |" in markdown(
        replace(small_run, stop_reason="the key was refused")
    )


def test_a_whole_report(small_run):
    assert markdown(small_run) == snapshot("""\
# Test report: fin

## Summary

| Figure | Value |
| --- | --- |
| Cases | 3 |
| Passed | 1 |
| Failed | 2 (1 error, 1 skipped) |
| Pass rate | 33.3 % |
| Turns | 2 of 5 passed (40.0 %) |
| Duration | 1.8 s |
| Tokens | at least 384 |
| Cost | unknown |
| Started | 2026-11-30T18:47:13+00:00 |
| Suite file | agent.yaml |
| Environment | python_version 3.11.7, os Linux |
| Settings | llm_timeout 60, verbose False |

## Metrics

| Metric | Mean | n | Passed | Failed | Errors | Threshold | Verdict |
| --- | --- | --- | --- | --- | --- | --- | --- |
| numeric | 0.5 | 2 | 1 | 1 | 0 |  | ✗ failed |
| judge | 0.75 | 1 | 0 | 0 | 1 |  | ✗ failed |

## Cases

| # | Case | Verdict | Turns passed | Metrics | Time | Reason |
| --- | --- | --- | --- | --- | --- | --- |
| 1 | net cash | ! error | 1 of 3 | numeric 0.5, judge 0.75 | 1 min 00 s | turn 1: lookup: arguments could not be read; subtract: closest call \\#1: b expected 181001, got 180000; numeric: 26588 is not 25587; judge: 502 |
| 2 | lost | ○ skipped | 0 of 1 |  |  | turn 0: connection lost |
| 3 | case 3 | ✓ passed | 1 of 1 |  | 4 ms |  |

## Warnings

| Case | Turn | Place | Warning |
| --- | --- | --- | --- |
|  |  |  | 1 turn asserts nothing |
| net cash | 1 |  | odd |

## 1. net cash

**Case:** ! error · **Turns:** 1 of 3 passed · **Time:** 1 min 00 s · **Tokens:** 384 · **Finished:** 2026-11-30T18:47:13+00:00

**First failure:** turn 1: lookup: arguments could not be read; subtract: closest call \\#1: b expected 181001, got 180000; numeric: 26588 is not 25587; judge: 502

**Metrics over the turns**

| Metric | Mean | n | Passed | Failed | Errors | Threshold | Verdict |
| --- | --- | --- | --- | --- | --- | --- | --- |
| numeric | 0.5 | 2 | 1 | 1 | 0 |  | ✗ failed |
| judge | 0.75 | 1 | 0 | 0 | 1 |  | ✗ failed |

### 1. net cash: turn 0

**Verdict:** ✓ passed · **Time:** 100 ms · **Started:** 2026-11-30T18:47:13+00:00 · **Tokens:** 192 · **Finish reason:** stop

**Input**

```text
what is net cash in 2009?
```

**Ground truth**

```text
206588
```

**Response**

```text
206588
```

**Tool calls**

| # | Tool | Arguments | Result | Error | Time |
| --- | --- | --- | --- | --- | --- |
| 0 | lookup | {"row": "cash", "table": 1} | {"value": 206588} |  | 3 ms |

**Expected tools**

| # | Tool | Verdict | Argument | Expected | Actual | Argument's verdict | Reason |
| --- | --- | --- | --- | --- | --- | --- | --- |
| 0 | lookup | ✓ matched | row | exact "cash" | "cash" | fits |  |

**Metrics**

| Metric | Score | Threshold | Verdict | Reason | Model | Retries |
| --- | --- | --- | --- | --- | --- | --- |
| numeric | 1 |  | ✓ passed |  |  | 0 |
| judge | 0.75 |  | no verdict |  | gpt | 1 |

**Files**

| File | Type | Details |
| --- | --- | --- |
| report.pdf | pdf | {"pages": \\[1, 2\\], "size": 10} |

### 1. net cash: turn 1

**Verdict:** ✗ failed · **Time:** 10 ms · **Started:** 2026-11-30T18:47:13+00:00 · **Tokens:** 192 · **Finish reason:** stop

**Reason:** lookup: arguments could not be read; subtract: closest call \\#1: b expected 181001, got 180000; numeric: 26588 is not 25587; judge: 502

**Input**

```text
what is the difference?
```

**Ground truth**

```text
25587
```

**Response**

```text
26,588
```

**Tool calls**

| # | Tool | Arguments | Result | Error | Time |
| --- | --- | --- | --- | --- | --- |
| 0 | Math-subtract | {"a": "206,588", "b": 180000} | 26588 |  | 12 ms |
| 1 | Math-lookup | unreadable: {"row": |  | no such row |  |

**Expected tools**

| # | Tool | Verdict | Argument | Expected | Actual | Argument's verdict | Reason |
| --- | --- | --- | --- | --- | --- | --- | --- |
| 0 | lookup | ✗ not matched |  |  |  |  | lookup: arguments could not be read |
| 1 | subtract | ✗ not matched | a | fuzzy "206588" | "206,588" | fits |  |
| 1 | subtract | ✗ not matched | b | exact 181001 | 180000 | does not fit | expected 181001 |

**Metrics**

| Metric | Score | Threshold | Verdict | Reason | Model | Retries |
| --- | --- | --- | --- | --- | --- | --- |
| numeric | 0 |  | ✗ failed | 26588 is not 25587 |  | 0 |
| judge | n/a |  | ! error | 502 | gpt | 3 |
| bleu | n/a |  | not applicable | no ground truth |  | 0 |

### 1. net cash: turn 2

**Verdict:** ! error · **Time:** 1 min 00 s

**Reason:** timeout after 60 s

**Input**

```text
and?
```

**Response:** *no reply*

## 2. lost

**Case:** ○ skipped · **Turns:** 0 of 1 passed

**First failure:** turn 0: connection lost

### 2. lost: turn 0

**Verdict:** ○ skipped

**Reason:** connection lost

**Input**

```text
hello?
```

**Response:** *no reply*

**Expected tools** (not checked): lookup

## 3. case 3

**Case:** ✓ passed · **Turns:** 1 of 1 passed · **Time:** 4 ms · **Finished:** 2026-11-30T18:47:13+00:00

**Verdict:** ✓ passed · **Time:** 4 ms · **Started:** 2026-11-30T18:47:13+00:00

**Input**

```text
hello
```

**Ground truth**

```text
hi
```

**Response:** *an empty reply*
""")  # noqa: E501 - the lines of a report are as long as they are
