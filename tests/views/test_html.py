"""Cards and lines: what they say, that nothing of an agent's text becomes markup, that lines are one line."""

from html.parser import HTMLParser

import pytest

from holodeck_nb.results.records import MetricResult, RunWarning, TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.views.html import run_html, run_line, suite_html, suite_line, summary_html, summary_line

OWN_TAGS = {"div", "style", "strong", "span", "table", "caption", "thead", "tbody", "tr", "th", "td"}
OWN_ATTRIBUTES = {"class", "scope"}


class Reader(HTMLParser):
    """Tags, attributes and visible text of a card; fails on tags that are closed in the wrong order."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = set(), set(), [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(self.texts).replace("\xa0", " ")


def turn(number=0, **parts):
    return TurnResult(**{"turn": number, "input": "in", "response": "x", **parts})


def failing(count):
    return RunResult("fin", (CaseResult("c", 0, tuple(turn(n, error=f"no {n}") for n in range(count))),))


def test_a_card_says_what_happened(small_run):
    text = Reader(run_html(small_run)).text
    for part in (
        "Run  fin",
        "✗ failed",
        "1 of 3 passed (33.3 %); 1 error, 1 skipped",
        "2 of 5 passed (40.0 %); 1 failed, 1 error, 1 skipped",
        "1.8 s",
        "at least 384",
        "numeric 0.5 2 1 1 0 ✗ failed",
        "judge 0.75 1 0 0 1 ✗ failed",
        "Pass rate by turn Turn Rate Passed 0 66.7 % ━━━━━━━ ─── 2 of 3 1 0.0 % ────────── 0 of 1",
        "Failing reasons Reason Turns Cases lookup: no call fits 1 1 subtract: b does not fit 1 1",
        "error: timeout after 60 s 1 1 skipped: connection lost 1 1",
        "Worst cases Case Status Turns passed First reason net cash ! error 1 of 3 turn 1: lookup: arguments",
        "lost ○ skipped 0 of 1 turn 0: connection lost",
        "2 warnings: see run.warnings",
    ):
        assert part in text


def test_a_card_shows_the_worst_cases_and_says_how_many_there_are():
    cases = tuple(
        CaseResult(f"c{place}", place, tuple(turn(n, error="no" if n < place else None) for n in range(10)))
        for place in range(9)
    )
    text = Reader(run_html(RunResult("fin", cases))).text
    assert "Worst cases: 5 of 8 that did not pass; run.explore() opens them all" in text
    assert [name in text for name in ("c8 ! error 2 of 10", "c4 ! error 6 of 10", "c3")] == [
        True,
        True,
        False,
    ]


def test_cases_that_were_never_played_are_not_the_worst():
    skipped = CaseResult("lost", 0, (turn(skip_reason="lost"),))
    failed = CaseResult("bad", 1, (turn(), turn(1, error="no")))
    text = Reader(run_html(RunResult("fin", (skipped, failed)))).text
    assert text.index("bad ! error 1 of 2") < text.index("lost ○ skipped 0 of 1")


def test_the_most_frequent_reasons_stand_first_and_the_rest_is_counted():
    reasons = [f"fault {chr(97 + n)}" for n in range(12)]
    cases = tuple(
        CaseResult(f"c{place}", place, tuple(turn(n, error=reason) for n in range(12 - place)))
        for place, reason in enumerate(reasons)
    )
    text = Reader(run_html(RunResult("fin", cases))).text
    assert (
        "Failing reasons: the first 8 of 12 Reason Turns Cases error: fault a 12 1 error: fault b 11 1"
        in text
    )


def test_pass_rates_by_turn():
    text = Reader(run_html(failing(34))).text
    assert "7 0.0 % ────────── 0 of 1 8 and later 0.0 % ────────── 0 of 26" in text
    single = RunResult("fin", (CaseResult("c", 0, (turn(),)),))
    assert "by turn" not in Reader(run_html(single)).text


def test_a_passed_run_lists_no_turns():
    text = Reader(run_html(RunResult("fin", (CaseResult("c", 0, (turn(),)),)))).text
    assert "✓ passed" in text
    assert "did not pass" not in text
    assert "warning" not in text


def test_an_empty_run_has_a_card():
    assert "0 of 0 passed" in Reader(run_html(RunResult("fin", ()))).text


def test_many_metrics_are_cut_visibly():
    metrics = tuple(MetricResult(f"m{n}", "code", "scored", 0.5) for n in range(40))
    text = Reader(run_html(RunResult("fin", (CaseResult("c", 0, (turn(metrics=metrics),)),)))).text
    assert "Metrics: the first 30 of 40" in text
    assert "m30" not in text


def test_no_tag_and_no_attribute_of_an_agents_text_survives(hostile_run):
    cards = [
        run_html(hostile_run),
        summary_html(hostile_run.summary),
        *(
            suite_html(
                name=text,
                cases=1,
                turns=1,
                metrics=[text],
                model=text,
                description=text,
                tools=[text],
                path=text,
            )
            for text in (case.name for case in hostile_run.cases)
        ),
    ]
    for card in cards:
        read = Reader(card)
        assert read.tags <= OWN_TAGS
        assert read.attributes <= OWN_ATTRIBUTES
        card.encode()
        assert "\u202e" not in card
    assert "<img src=x onerror=alert(1)>" in Reader(cards[0]).text
    assert '" onmouseover="y' in Reader(cards[0]).text


def test_long_text_is_cut_visibly():
    run = RunResult("n" * 500, (CaseResult("c" * 500, 0, (turn(error="e" * 10_000_000),)),))
    card = run_html(run)
    assert len(card) < 10_000
    assert "… (9,999,768 more characters)" in card
    assert len(run_line(run)) < 200


def test_a_card_fetches_nothing_and_runs_nothing(small_run):
    card = run_html(small_run).lower()
    for word in ("<script", "http:", "https:", "url(", "@import", "src=", "href="):
        assert word not in card


def test_every_rule_of_the_style_is_within_the_card(small_run):
    style = run_html(small_run).split("<style>")[1].split("</style>")[0]
    selectors = [
        rule.split("{")[0] for rule in style.replace("@media (prefers-color-scheme:dark){", "").split("\n")
    ]
    for selector in filter(None, selectors):
        assert all(part.startswith(".holodeck-nb") for part in selector.split(",")), selector
    assert style.count("{") == style.count("}")
    assert "var(--jp-ui-font-color1," in style
    assert "prefers-color-scheme:dark" in style


RUNS = [
    (RunResult("fin", ()), "<Run 'fin': no cases>"),
    (RunResult("fin", (CaseResult("c", 0, (turn(),)),), duration_ms=340.2),
     "<Run 'fin': 1 of 1 case passed (100.0 %), 1 of 1 turn, 340 ms>"),
    (RunResult("a\nb\u202e", (CaseResult("c", 0, (turn(), turn(1, error="x"))),), duration_ms=125_000.0),
     "<Run 'a\\nb\\u202e': 0 of 1 case passed (0.0 %), 1 of 2 turns, 2 min 05 s>"),
    (RunResult("fin", (), stop_reason="the key\nwas refused"),
     "<Run 'fin': no cases, stopped early: the key was refused>"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "line"), RUNS)
def test_a_run_in_one_line(run, line):
    assert run_line(run) == line


def test_a_summary_in_one_line(small_run):
    assert summary_line(small_run.summary) == ("<Summary: 1 of 3 cases passed (33.3 %), 2 of 5 turns, 1.8 s>")
    assert "1 of 3 passed" in Reader(summary_html(small_run.summary)).text


def test_a_suite():
    facts = {
        "name": "fin",
        "cases": 10,
        "turns": 1,
        "metrics": ["numeric", "bleu"],
        "model": "ollama:qwen3:8b",
    }
    assert (
        suite_line(**facts)
        == "<Suite 'fin': 10 cases, 1 turn, metrics: numeric, bleu, model: ollama:qwen3:8b>"
    )
    assert suite_line(name="fin", cases=0, turns=0) == "<Suite 'fin': 0 cases, 0 turns, no metrics>"
    text = Reader(suite_html(**facts, description="Asks for cash.", tools=["lookup"], path="agent.yaml")).text
    assert "Asks for cash." in text
    assert "Cases 10 Turns 1 Metrics numeric, bleu Model ollama:qwen3:8b Tools lookup File agent.yaml" in text
    assert "Model none: give run an agent or a backend" in Reader(suite_html(name="f", cases=0, turns=0)).text


def test_lines_are_one_line_whatever_they_hold(hostile_run):
    lines = [run_line(hostile_run), summary_line(hostile_run.summary)]
    lines += [
        suite_line(name=case.name, cases=1, turns=1, metrics=[case.name], model=case.name)
        for case in hostile_run.cases
    ]
    for line in lines:
        assert len(line.splitlines()) == 1
        assert "\x1b" not in line
        assert "\u202e" not in line
        line.encode()


def test_the_cost_is_shown_where_it_is_known():
    run = RunResult("fin", (CaseResult("c", 0, (turn(cost_usd=0.25),)),), warnings=(RunWarning("w"),))
    assert "Cost $0.2500" in Reader(run_html(run)).text
    assert "1 warning: see run.warnings" in Reader(run_html(run)).text
