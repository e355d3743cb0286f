"""The shipped conversations carry the figures of the data set, and none of its text."""

import json
import re

import pytest

# Where a figure of ours stands in the data: document, row -> the data's row; document, column -> the data's
# column, where it is another.
ROWS = {
    ("AON 2009", "revenue"): "segment revenue",
    ("AON 2009", "operating income"): "segment operating income",
    ("BDX 2018", "pension service cost"): "service cost",
    ("BDX 2018", "pension interest cost"): "interest cost",
    ("L 2015", "Loews"): "loews common stock",
    ("L 2015", "S&P 500"): "s&p 500 index",
    ("L 2015", "peers"): "loews peer group ( a )",
    ("MAS 2018", "adjusted operating margin"): "operating profit margins as adjusted",
    ("MAS 2018", "adjusted operating profit"): "operating profit as adjusted",
    ("MRO 2007", "option strike price"): "weighted average exercise price per share",
    ("MRO 2007", "assumed yearly dividend"): "expected annual dividends per share",
    ("PM 2015", "cumulative OCI loss"): "total accumulated other comprehensive losses",
    ("PM 2015", "of which currency"): "currency translation adjustments",
    ("PM 2015", "of which pensions"): "pension and other benefits",
    ("PNC 2013", "hedging derivatives"): "derivatives designated as hedging instruments under gaap",
    ("PNC 2013", "other derivatives"): "derivatives not designated as hedging instruments under gaap",
}
COLUMNS = {
    ("BDX 2018", "2018"): "pension plans 2018",
    ("BDX 2018", "2017"): "pension plans 2017",
    ("BDX 2018", "2016"): "pension plans 2016",
    ("PM 2015", "2015"): "( losses ) earnings 2015",
    ("PM 2015", "2014"): "( losses ) earnings 2014",
    ("PNC 2013", "face amount"): "december 31 2013 notional/contractamount (1)",
    ("PNC 2013", "asset value"): "december 31 2013 assetfairvalue ( a ) (1)",
    ("PNC 2013", "liability value"): "december 31 2013 liabilityfairvalue ( b )",
}
# Tables that are turned or broken in the data, cell by cell: (data's column, data's row), or the column whose
# name ends in the number.
CELLS = {
    ("AES 2002", "Q1 2002", "high"): "high $ 17.84",
    ("AES 2002", "Q1 2002", "low"): "low $ 4.11",
    ("AES 2002", "Q2 2002", "high"): ("high $ 17.84", "second quarter"),
    ("AES 2002", "Q2 2002", "low"): ("low $ 4.11", "second quarter"),
    ("AES 2002", "Q1 2001", "high"): "high $ 60.15",
    ("AES 2002", "Q1 2001", "low"): "low $ 41.30",
    ("AES 2002", "Q2 2001", "high"): ("high $ 60.15", "second quarter"),
    ("AES 2002", "Q2 2001", "low"): ("low $ 41.30", "second quarter"),
    **{
        ("BLL 2007", row, column): (theirs, period)
        for row, theirs in (
            ("shares bought back", "total number of shares purchased ( a )"),
            ("price paid", "average pricepaid per share"),
        )
        for column, period in (
            ("October", "october 1 to october 28 2007"),
            ("November", "october 29 to november 25 2007"),
        )
    },
    **{
        ("ETR 2003", "debt falling due", year): ("( in thousands )", year)
        for year in ("2004", "2005", "2006", "2007", "2008")
    },
}
LONGEST_RUN = 4


@pytest.fixture(scope="module")
def cases(sample):
    return json.loads((sample / "data" / "convfinqa_subset.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def figures(sample):
    return json.loads((sample / "data" / "figures.json").read_text(encoding="utf-8"))


def test_ten_conversations_of_two_to_six_turns(cases):
    assert len(cases) == 10
    assert sorted({len(case["turns"]) for case in cases}) == [2, 3, 4, 5, 6]


def test_the_conversations_are_varied(cases):
    turns = [turn for case in cases for turn in case["turns"]]
    programs = [turn["turn_config"]["turn_program"] for turn in turns]
    for wanted in ("add(", "subtract(", "multiply(", "divide(", "greater(#0, #1)", "const_", "%", "#1"):
        assert any(wanted in program for program in programs), wanted
    assert sum("(" not in program for program in programs) >= 10  # bare numbers
    assert any(turn["ground_truth"].startswith("-") for turn in turns)
    assert [turn["ground_truth"] for turn in turns if not re.search(r"\d", turn["ground_truth"])] == [
        "no",
        "no",
    ]


def test_every_turn_has_its_program_and_its_document(cases, figures):
    for case in cases:
        documents = {turn["turn_config"]["document"] for turn in case["turns"]}
        assert len(documents) == 1
        assert figures[documents.pop()]["source"] == case["name"]
        assert all(turn["turn_config"]["turn_program"] for turn in case["turns"])


def test_programs_and_executed_answers_are_those_of_the_data(cases, dialogues):
    for case in cases:
        told = dialogues[case["name"]]["dialogue"]
        assert [turn["turn_config"]["turn_program"] for turn in case["turns"]] == told["turn_program"]
        for turn, answer in zip(case["turns"], told["executed_answers"], strict=True):
            truth = turn["ground_truth"]
            assert (truth if isinstance(answer, str) else float(truth)) == answer


def test_every_step_that_leads_to_the_answer_is_an_expected_tool(cases):
    for case in cases:
        for turn in case["turns"]:
            steps = re.findall(r"(\w+)\(([^,]+), ([^)]+)\)", turn["turn_config"]["turn_program"])
            if case["name"].startswith("Single_AES") and len(steps) == 2:
                steps = steps[1:]  # the first one leads nowhere
            tools = [tool for tool in turn.get("expected_tools", []) if tool["name"] != "lookup"]
            assert [tool["name"] for tool in tools] == [operation for operation, _, _ in steps]
            for tool, (_, first, second) in zip(tools, steps, strict=True):
                asserted = {
                    name: {"fuzzy": operand.removeprefix("const_")}
                    for name, operand in (("a", first), ("b", second))
                    if not operand.startswith("#")
                }
                assert tool.get("args", {}) == asserted


def test_every_operand_is_a_figure_of_the_document_or_a_constant(cases, figures):
    """A turn can be answered with the tools: nothing has to be known from elsewhere."""
    for case in cases:
        for turn in case["turns"]:
            document = figures[turn["turn_config"]["document"]]
            known = {value for row in document["rows"].values() for value in row.values()}
            program = re.sub(r"const_\d+|#\d+", "", turn["turn_config"]["turn_program"])
            for text, percent in re.findall(r"(\d*\.?\d+)(%?)", program):
                assert (float(text) / 100 if percent else float(text)) in known


def test_every_figure_is_the_datas(figures, dialogues):
    for document, told in figures.items():
        table = dialogues[told["source"]]["doc"]["table"]
        for row, cells in told["rows"].items():
            for column, value in cells.items():
                theirs = _in_the_data(table, document, row, column)
                # The data reads brackets as a minus: a loss of (9,402), a margin of (15.1%).
                factor = 100 if row.endswith("margin") else 1
                assert value * factor == pytest.approx(abs(theirs), rel=1e-12), (document, row, column)


def _in_the_data(table, document, row, column):
    cell = CELLS.get((document, row, column))
    if cell is None:
        cell = (COLUMNS.get((document, column), column), ROWS[document, row])
    if isinstance(cell, str):
        assert cell in table
        return float(cell.rpartition(" ")[2])
    return table[cell[0]][cell[1]]


def _words(text):
    return re.findall(r"[a-z0-9]+", text.casefold())


def _runs(text):
    words = _words(text)
    return {tuple(words[at : at + LONGEST_RUN + 1]) for at in range(len(words) - LONGEST_RUN)}


@pytest.fixture(scope="module")
def runs_of_the_data(dialogues):
    """Every run of five words in the data, of all dialogues: pages, names of rows and columns, questions."""
    runs = set()
    for dialogue in dialogues.values():
        page = dialogue["doc"]
        names = [*page["table"], *(row for column in page["table"].values() for row in column)]
        for text in (page["pre_text"], page["post_text"], *names, *dialogue["dialogue"]["conv_questions"]):
            runs |= _runs(text)
    return runs


def test_no_question_repeats_five_words_of_the_data(cases, runs_of_the_data):
    questions = [turn["input"] for case in cases for turn in case["turns"]]
    copied = {question: _runs(question) & runs_of_the_data for question in questions}
    assert {question: runs for question, runs in copied.items() if runs} == {}


def test_no_name_of_a_figure_is_copied_at_length(figures, runs_of_the_data):
    names = [
        name for told in figures.values() for row, cells in told["rows"].items() for name in (row, *cells)
    ]
    assert all(len(_words(name)) <= LONGEST_RUN for name in names)
    assert not any(_runs(told["unit"]) & runs_of_the_data for told in figures.values())
