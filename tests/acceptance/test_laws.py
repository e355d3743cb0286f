"""Laws of whole runs: what may not change a verdict does not, whatever the suite is."""

import tempfile
from pathlib import Path

import pandas as pd
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import holodeck_nb as hd

RUNS = settings(max_examples=40, deadline=None)
NUMBERS = st.sampled_from(["1", "1.4", "2", "25,587", "25587", "14%", "0.14", "n/a", "", "no", "1 or 2"])
TRUTHS = st.none() | st.sampled_from(["1", "2", "25587", "0.14", "no", "n/a"])
METRICS = st.sampled_from([
    {"type": "numeric"},
    {"type": "numeric", "absolute_tolerance": 0.5},
    {"type": "numeric", "relative_tolerance": 0.5, "name": "rough"},
    {"type": "numeric", "accept_percent": False},
    {"type": "numeric", "enabled": False},
    {"type": "equality"},
    {"type": "equality", "case_insensitive": True, "strip_punctuation": True},
])  # fmt: skip
LISTS = st.none() | st.lists(METRICS, max_size=3)
TOOLS = st.sampled_from([
    "add",
    "subtract",
    {"name": "add", "args": {"a": 1}},
    {"name": "add", "args": {"a": {"fuzzy": "1"}}, "count": 2},
    {"name": "subtract", "args": {"a": {"regex": "[12]"}}},
])  # fmt: skip
CALLS = st.fixed_dictionaries({
    "name": st.sampled_from(["add", "address", "subtract"]),
    "args": st.sampled_from([{}, {"a": 1}, {"a": "1.0"}, {"a": 2}, {"b": 1}]),
    "result": st.none(),
})  # fmt: skip


@st.composite
def turns(draw):
    """A turn and what the agent says to it."""
    turn = {
        "input": draw(st.sampled_from(["q", "and?"])),
        "ground_truth": draw(TRUTHS),
        "expected_tools": draw(st.none() | st.lists(TOOLS, max_size=2)),
        "evaluations": draw(LISTS),
    }
    reply = {"text": draw(NUMBERS), "tool_calls": draw(st.lists(CALLS, max_size=3))}
    return {key: value for key, value in turn.items() if value is not None}, reply


CONVERSATIONS = st.lists(st.lists(turns(), min_size=1, max_size=4), min_size=1, max_size=4)


def verdicts(conversations, metrics, **arguments):
    """By case: every turn's status, reason, checks and metrics."""
    suite = hd.Suite(
        name="law",
        test_cases=[
            {"name": f"c{place}", "turns": [turn for turn, _ in case]}
            for place, case in enumerate(conversations)
        ],
        evaluations=metrics,
    )
    backend = hd.ScriptedBackend(
        {f"c{place}": [reply for _, reply in case] for place, case in enumerate(conversations)}
    )
    return [
        list(map(facts, case.turns))
        for case in suite.run(backend=backend, quiet=True, **arguments).result.cases
    ]


def facts(turn):
    metrics = [(m.id, m.status, m.score, m.threshold, m.reason, m.details) for m in turn.metrics]
    return turn.status, turn.reason, turn.tool_checks, metrics


@RUNS
@given(CONVERSATIONS, st.lists(METRICS, max_size=2))
def test_two_runs_of_the_same_are_equal_however_many_at_once(conversations, metrics):
    first = verdicts(conversations, metrics)
    assert verdicts(conversations, metrics) == first
    assert verdicts(conversations, metrics, parallel_test_cases=4) == first


@RUNS
@given(CONVERSATIONS, st.lists(METRICS, max_size=2), st.randoms(use_true_random=False))
def test_the_order_of_the_cases_changes_no_verdict(conversations, metrics, random):
    order = list(range(len(conversations)))
    random.shuffle(order)
    first = verdicts(conversations, metrics)
    assert verdicts([conversations[place] for place in order], metrics) == [first[place] for place in order]


@RUNS
@given(st.lists(turns(), min_size=2, max_size=5), st.lists(METRICS, max_size=2))
def test_a_turn_is_judged_as_if_it_were_alone(conversation, metrics):
    """No tolerance, no tool call and no ground truth leaks from one turn into another."""
    [together] = verdicts([conversation], metrics)
    alone = [case[0] for case in verdicts([[turn] for turn in conversation], metrics)]
    assert together == alone


@RUNS
@given(turns(), st.randoms(use_true_random=False))
def test_the_order_of_entries_and_calls_changes_no_verdict(pair, random):
    turn, reply = pair
    tools, calls = list(turn.get("expected_tools", [])), list(reply["tool_calls"])
    random.shuffle(tools)
    random.shuffle(calls)
    shuffled = ({**turn, "expected_tools": tools}, {**reply, "tool_calls": calls})
    if "expected_tools" not in turn:
        shuffled[0].pop("expected_tools")
    [[before]] = verdicts([[pair]], [])
    [[after]] = verdicts([[shuffled]], [])
    assert before[0] == after[0]
    assert before[3] == after[3]


@RUNS
@given(
    st.decimals(-(10**12), 10**12, places=2, allow_nan=False),
    st.sampled_from([",", "_", "'", " ", "\u00a0", "\u202f", "\u2009", "’"]),
    st.sampled_from(["{}", "It was {}.", "**{}**", "The answer is {}, as said.", "= {}", "{}!"]),
)
def test_any_grouping_passes_numeric_and_fuzzy_alike(number, separator, prose):
    grouped = f"{number:,f}".replace(",", separator)
    tool = {"name": "set", "args": {"a": {"fuzzy": f"{number:f}"}}}
    turn = {"input": "q", "ground_truth": f"{number:f}", "expected_tools": [tool]}
    reply = {
        "text": prose.format(grouped),
        "tool_calls": [{"name": "set", "args": {"a": grouped}, "result": 1}],
    }
    [[judged]] = verdicts([[(turn, reply)]], [{"type": "numeric"}])
    assert judged[0] == "passed", judged
    [[off]] = verdicts([[({**turn, "ground_truth": f"{number + 1:f}"}, reply)]], [{"type": "numeric"}])
    assert off[0] == "failed"


@settings(max_examples=25, deadline=None)
@given(CONVERSATIONS, st.lists(METRICS, max_size=2))
def test_a_dict_a_file_and_a_frame_are_the_same_suite(conversations, metrics):
    data = {
        "name": "law",
        "evaluations": {"metrics": metrics},
        "test_cases": [
            {"name": f"c{place}", "turns": [turn for turn, _ in case]}
            for place, case in enumerate(conversations)
        ],
    }
    rows = [{"case": case["name"], **turn} for case in data["test_cases"] for turn in case["turns"]]
    from_dict = hd.Suite.from_dict(data)
    from_frame = hd.Suite.from_frame(pd.DataFrame(rows), name="law", evaluations=metrics)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "agent.yaml")
        file.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), encoding="utf-8")
        from_file = hd.Suite.from_yaml(file)
        again = hd.Suite.from_yaml(from_dict.to_yaml(Path(folder, "again.yaml")))
    assert from_dict.config == from_file.config == from_frame.config == again.config
    replies = {f"c{place}": [reply for _, reply in case] for place, case in enumerate(conversations)}
    runs = [
        suite.run(backend=hd.ScriptedBackend(replies), quiet=True)
        for suite in (from_dict, from_file, from_frame, again)
    ]
    told = [[facts(turn) for _, turn in run.result.turns()] for run in runs]
    assert told[0] == told[1] == told[2] == told[3]


@settings(max_examples=25, deadline=None)
@given(CONVERSATIONS, st.lists(METRICS, max_size=2))
def test_a_report_read_back_is_the_same_report(conversations, metrics):
    suite = hd.Suite(
        name="law",
        test_cases=[{"name": f"c{n}", "turns": [t for t, _ in case]} for n, case in enumerate(conversations)],
        evaluations=metrics,
    )
    backend = hd.ScriptedBackend({f"c{n}": [r for _, r in case] for n, case in enumerate(conversations)})
    run = suite.run(backend=backend, quiet=True)
    with tempfile.TemporaryDirectory() as folder:
        again = hd.Run.from_json(run.to_json(Path(folder, "report.json")))
    assert again.to_json() == run.to_json()
    assert again.passed is run.passed
    assert again.turns["status"].tolist() == run.turns["status"].tolist()
