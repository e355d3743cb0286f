"""The explorer without a browser: what it lists, how it filters and answers, what stays in a notebook."""

from html.parser import HTMLParser

import pandas as pd
import pytest
import runs_to_show

import holodeck_nb as hd
from holodeck_nb.results.records import MetricResult, ToolCheck, ToolInvocation, TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.views.explorer_index import Index, Wanted
from holodeck_nb.views.failing_reasons import reasons_of

WIDGET = "application/vnd.jupyter.widget-view+json"


class Front:
    """Asks as the front end does."""

    def __init__(self, explorer):
        self.explorer, self.sent = explorer, []
        explorer.send = lambda message, buffers=None: self.sent.append(message)

    def ask(self, ask, **told):
        self.explorer._handle_custom_msg({"ask": ask, "id": len(self.sent), **told}, [])
        assert self.sent[-1]["id"] == len(self.sent) - 1
        return self.sent[-1]["answer"]

    def rows(self, first=0, most=100, **wanted):
        return self.ask("rows", wanted=wanted, **{"from": first, "most": most})

    def names(self, **wanted):
        return [row["name"] for row in self.rows(**wanted)["rows"]]

    def step(self, place, turn, by, **wanted):
        return self.ask("step", wanted=wanted, place=place, turn=turn, by=by)


@pytest.fixture
def front(small_run):
    return Front(hd.Run(small_run).explore())


class Tags(HTMLParser):
    def __init__(self, source):
        super().__init__()
        self.found, self.open, self.texts = set(), [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.found.update(name for name, _ in attrs)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_it_opens_at_the_first_failing_turn(front):
    start = front.explorer._start
    assert start["at"] == {"place": 0, "turn": 1, "line": 0, "number": 1}
    assert [row["name"] for row in start["rows"]["rows"]] == ["net cash", "lost", "case 3"]
    assert start["rows"]["failures"] == 3
    assert "closest call #1: b expected 181001, got 180000" in start["html"]


def test_a_line_counts_the_turns(front):
    assert front.rows()["rows"][0] == {
        "place": 0, "name": "net cash", "status": "error", "mark": "!", "turns": 3, "passed": 1,
        "reason": "lookup: arguments could not be read; subtract: closest call #1: b expected 181001, "
        "got 180000; numeric: 26588 is not 25587; judge: 502",
    }  # fmt: skip


FILTERS = [
    ({}, ["net cash", "lost", "case 3"]),
    ({"status": "not passed"}, ["net cash", "lost"]),
    ({"status": "passed"}, ["case 3"]),
    ({"status": "error"}, ["net cash"]),
    ({"status": "skipped"}, ["lost"]),
    ({"metric": "numeric"}, ["net cash"]),
    ({"metric": "judge"}, ["net cash"]),  # in error
    ({"metric": "bleu"}, []),  # not applicable: it failed nowhere
    ({"reason": "subtract: b does not fit"}, ["net cash"]),
    ({"reason": "skipped: connection lost"}, ["lost"]),
    ({"text": "HELLO"}, ["lost", "case 3"]),
    ({"text": " 206,588 "}, ["net cash"]),  # an argument of a call
    ({"text": "hello", "status": "passed"}, ["case 3"]),
    ({"text": "nowhere"}, []),
    ({"text": None, "status": 7, "other": {}}, []),  # whatever a front end sends
]


@pytest.mark.parametrize(("wanted", "names"), FILTERS)
def test_filters(front, wanted, names):
    assert front.names(**wanted) == names
    listed = front.explorer.listed
    assert listed["case"].drop_duplicates().tolist() == names
    pd.testing.assert_frame_equal(listed, hd.Run(front.explorer._run).turns.loc[listed.index])


def test_choices_are_counted_in_cases(front):
    assert front.explorer._start["choices"] == {
        "status": [("not passed", 2), ("passed", 1), ("error", 1), ("skipped", 1)],
        "metric": [("judge", 1), ("numeric", 1)],
        "reason": [
            ("error: timeout after 60 s", 1), ("judge: error: 502", 1), ("lookup: no call fits", 1),
            ("numeric: … is not …", 1), ("skipped: connection lost", 1), ("subtract: b does not fit", 1),
        ],
    }  # fmt: skip


STEPS = [
    #  place turn  by  wanted                  where
    (0, 1, 1, {}, (0, 2, 0, 2)),
    (0, 2, 1, {}, (1, 0, 1, 3)),
    (1, 0, 1, {}, None),  # the last one
    (2, None, -1, {}, (1, 0, 1, 3)),
    (0, 1, -1, {}, None),  # the first one
    (0, None, 1, {}, (0, 1, 0, 1)),
    (0, 0, 0, {}, (0, 0, 0, 0)),  # a turn that passed is no failure
    (1, 0, 0, {"status": "error"}, (1, 0, -1, 0)),  # what is open need not be listed
    (0, 2, 1, {"status": "error"}, None),
]


@pytest.mark.parametrize(("place", "turn", "by", "wanted", "where"), STEPS)
def test_from_failure_to_failure(front, place, turn, by, wanted, where):
    answer = front.step(place, turn, by, **wanted)
    assert answer == (where and dict(zip(("place", "turn", "line", "number"), where, strict=True)))


ODD = [
    {"ask": "conversation", "place": 99}, {"ask": "conversation", "place": -1},
    {"ask": "conversation", "place": "0"}, {"ask": "step", "place": 0}, {"ask": "rows", "from": "x"},
    {"ask": "other"}, {},
]  # fmt: skip


@pytest.mark.parametrize("told", ODD)
def test_odd_questions_get_an_empty_answer(front, told):
    front.explorer._handle_custom_msg({"id": 1, **told}, [])
    assert front.sent == [{"id": 1, "answer": None}]


@pytest.mark.parametrize("told", [None, [], "x", {"ask": "rows"}])
def test_what_is_no_question_gets_no_answer(front, told):
    front.explorer._handle_custom_msg(told, [])
    assert front.sent == []


def test_the_selection_is_rows_of_the_turns(front):
    turns = hd.Run(front.explorer._run).turns
    assert front.explorer.selection.index.tolist() == [1]
    front.explorer._chosen = {"place": 0, "turn": None}  # as the front end writes it: a case of the list
    pd.testing.assert_frame_equal(front.explorer.selection, turns.iloc[:3])
    front.explorer._chosen = {"place": 2, "turn": 0}
    pd.testing.assert_frame_equal(front.explorer.selection, turns.iloc[4:5])
    for nonsense in ({}, {"place": -1}, {"place": "0"}, {"place": 99, "turn": 1}):
        front.explorer._chosen = nonsense
        assert front.explorer.selection.empty
        assert list(front.explorer.selection.columns) == list(turns.columns)
    front.explorer._chosen = {"place": 1, "turn": 55}
    assert front.explorer.selection["case"].tolist() == ["lost"]
    selection = front.explorer.selection
    selection["case"] = "changed"
    assert front.explorer.selection["case"].tolist() == ["lost"]


def test_it_opens_where_it_is_told(small_run):
    run = hd.Run(small_run)
    explorer = run.explore(case="case 3")
    assert explorer._start["at"] == {"place": 2, "turn": None, "line": 2, "number": 0}
    assert explorer.selection["case"].tolist() == ["case 3"]
    assert run.explore(case="net cash", turn=2).selection["turn"].tolist() == [2]
    explorer.go_to("net cash", 0)
    assert explorer._chosen == {"place": 0, "turn": 0}
    assert repr(explorer) == (
        "<Explorer 'fin': 1 of 3 cases passed (33.3 %), 2 of 5 turns, 1.8 s, open: 'net cash' turn 0>"
    )


WRONG = [
    ({"case": "net csh"}, "no case 'net csh' in this run; did you mean 'net cash'?"),
    ({"case": "?"}, "no case '?' in this run"),
    ({"case": "net cash", "turn": 7}, "case 'net cash' has the turns 0, 1, 2; got 7"),
    ({"turn": 1}, "turn needs the case it is in: explore(case=…, turn=…)"),
]


@pytest.mark.parametrize(("place", "message"), WRONG)
def test_a_place_that_is_not_there(small_run, place, message):
    with pytest.raises(ValueError, match=r"case") as caught:
        hd.Run(small_run).explore(**place)
    assert str(caught.value) == message


def test_a_run_without_cases():
    explorer = hd.Run(RunResult("none", ())).explore()
    assert explorer._start["at"] is None
    assert explorer.selection.empty
    assert explorer.listed.empty
    assert "no cases" in explorer._repr_mimebundle_()["text/plain"]


def test_a_run_in_which_all_passed_opens_its_first_case():
    explorer = runs_to_show.many(1).explore(case="case-00000")
    good = hd.Run(
        RunResult("good", explorer._run.cases[:0] + runs_to_show.many(2).result.cases[1:])
    ).explore()
    assert good._start["at"] == {"place": 0, "turn": None, "line": 0, "number": 0}
    assert len(good.selection) == 4


def test_a_conversation_has_everything_that_was_checked(front):
    html = front.ask("conversation", place=0)
    text = "".join(Tags(html).texts).replace("\xa0", " ")
    for part in (
        "✓ passed turn 0", "what is net cash in 2009?", "100 ms · 192 tokens", "Read from cache 100",
        '"cash"', '{"value": 206588}', "report.pdf", "Cost $0.5000", "Started 2026-11-30 18:47:13+00:00",
        "#1Math-subtract", 'a "206,588"', "b 180000", "26588", "12 ms", 'unreadable:{"row":', "! no such row",
        "✗ subtractnot matched, closest call #1", 'afuzzy "206588"', '"206,588"✓ fits',
        "b181001180000✗ does not fit", "✗ failednumeric0", "26588 is not 25587",
        "! errorjudgegpt, 3 retriesn/a", "not applicablebleu", "no reply", "timeout after 60 s",
    ):  # fmt: skip
        assert part in text, part
    assert '<details class="turn passed" data-turn="0">' in html  # folded: something else failed
    assert '<details class="turn failed" data-turn="1" open>' in html
    assert '<details class="turn passed" data-turn="0" open>' in front.ask("conversation", place=2)
    assert "an empty reply" in front.ask("conversation", place=2)
    assert "Expected tools, not checked" in front.ask("conversation", place=1)


def test_long_texts_fold_and_are_cut_in_plain_sight():
    result = {"rows": ["x" * 100] * 1000}
    turn = TurnResult(
        0, "line\n" * 40, response="r" * 3_000_000, tool_calls=(ToolInvocation("read", {"n": 1}, result),)
    )
    many_calls = TurnResult(1, "in", response="", tool_calls=(ToolInvocation("t"),) * 500, error="x")
    case = CaseResult("c", 0, (turn, many_calls, *(TurnResult(n, "in") for n in range(2, 400))))
    html = Front(hd.Run(RunResult("long", (case,))).explore()).ask("conversation", place=0)
    assert len(html) < 400_000
    for part in (
        '<summary><span class="gist text" dir="auto">line line', "3,000,000 characters",
        "(2,980,000 more characters)", "400 more calls in the frames of the run",
        "100 more turns in the frames of the run",
    ):  # fmt: skip
        assert part in html, part


def test_hostile_text_stays_text(hostile_run, hostile_texts):
    own = Tags(Front(runs_to_show.many(1).explore()).ask("conversation", place=0)).found | {
        "ul",
        "li",
        "role",
    }
    for run in (hostile_run, runs_to_show.hostile().result):
        explorer = hd.Run(run).explore()
        front = Front(explorer)
        for place in range(len(run.cases)):
            html = front.ask("conversation", place=place)
            assert Tags(html).found <= own | {"aria-label", "open", "strong", "article", "header", "summary"}
            html.encode()
            assert "\u202e" not in html
            assert "\x1b" not in html
        static = explorer._repr_mimebundle_()["text/html"]
        assert Tags(static).found <= own | {"style", "strong", "data-of", "aria-label", "open"}
        assert len(static) < 250_000
        assert "&lt;img src=x onerror=alert(1)&gt;" in static or "&lt;img src=https" in static


def test_beside_the_widget_stands_what_needs_no_kernel():
    suite = hd.Suite(
        name="n", evaluations=[{"type": "equality"}],
        test_cases=[{"name": name, "input": "a", "ground_truth": "x"} for name in ("n1", "n2")],
    )  # fmt: skip
    bundle = suite.run(agent=lambda text: "x", quiet=True).explore()._repr_mimebundle_()
    assert set(bundle) == {WIDGET, "text/html", "text/plain"}
    for kind in ("text/html", "text/plain"):
        assert all(part in bundle[kind] for part in ("n1", "n2", "x"))
    for word in ("<script", "http:", "https:", "url(", "@import", "src=", "href="):
        assert word not in bundle["text/html"]


def test_the_page_has_the_failures_first_and_counts_the_rest():
    explorer = runs_to_show.many(2_000).explore()
    bundle = explorer._repr_mimebundle_()
    page = bundle["text/html"]
    assert "Cases that did not pass: the first 20 of 400" in page
    assert page.count('<article class="conversation">') == 5
    assert "1,995 more conversations" in page
    assert "b expected 206588, got 206587" in page
    assert len(page) < 90_000
    assert bundle["text/plain"].splitlines()[1] == "✗ failed: case-00000, turn 3"
    assert "and 7,988 more turns: run.turns" in bundle["text/plain"]


@pytest.mark.parametrize("cases", [10, 10_000])
def test_the_start_does_not_grow_with_the_cases(cases):
    front = Front(runs_to_show.many(cases).explore())
    assert len(str(front.explorer._start)) < 45_000
    assert len(str(front.rows(5_000, 100))) < 30_000
    assert front.rows()["total"] == cases
    assert front.step(0, None, 1)["number"] == 1


REASONS = [
    (TurnResult(0, "q", error="call 12345: no reply in 2 s"), ("error: call …: no reply in 2 s",)),
    (TurnResult(0, "q", skip_reason="lost"), ("skipped: lost",)),
    (TurnResult(0, "q"), ()),
    (TurnResult(0, "q", tool_checks=(ToolCheck("add", 1, None, matched=False),)), ("add: never called",)),
    (TurnResult(0, "q", tool_calls=(ToolInvocation("add"),), tool_checks=(
        ToolCheck("add", 2, None, matched=False, matched_calls=(0,)),)), ("add: called too seldom",)),
    (TurnResult(0, "q", metrics=(
        MetricResult("numeric", "standard", "failed", 0.0,
                     reason="expected 1,234.5, got -14% (difference 1, tolerance 1e-6; 100 times too large)"),
        MetricResult("judge", "geval", "failed", 0.2, reason="The 2nd sentence is vague."),
        MetricResult("grader", "code", "error", reason="KeyError: 'x' at 0x7f00aa"))),
     ("numeric: expected …, got … (100 times too large)", "judge: failed",
      "grader: error: KeyError: 'x' at …")),
    (TurnResult(0, "q", metrics=(
        MetricResult("m", "standard", "failed", reason="none is marked: 36,197, 1,189"),
        MetricResult("m", "standard", "failed", reason="none is marked: 36,197"))),
     ("m: none is marked: …",)),
]  # fmt: skip


@pytest.mark.parametrize(("turn", "reasons"), REASONS)
def test_the_same_mistake_with_other_numbers_is_one_reason(turn, reasons):
    assert reasons_of(turn) == reasons


def test_repeats_are_told_apart():
    again = [CaseResult("c", 0, (TurnResult(0, "q", response=str(n)),), repeat=n) for n in range(2)]
    index = Index(RunResult("r", tuple(again)))
    assert [index.row(place)["name"] for place in index.matches(Wanted()).places] == ["c", "c (repeat 1)"]
