"""What HoloDeck's own tests hold, held against whole runs; the contract's sentence where it differs."""

import asyncio
import builtins
import importlib.util
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import NamedTuple

import cases_interpreter as cases
import pytest

import holodeck_nb as hd
from holodeck_nb.results.records import MetricResult, TurnResult
from holodeck_nb.results.rollup import CaseResult, RunResult
from holodeck_nb.views.json_report import report

TESTS = Path(__file__).resolve().parents[1]


class Decision(NamedTuple):
    """What the contract wants: its sentence, and what of the expectation changes (None: nothing to run)."""

    sentence: str
    expected: dict | None = None


PERCENT = "`accept_percent` **true**, `accept_thousands_separators` **true**"
UNREADABLE = "An unreadable reply is `failed` with score 0."
LOST = (
    "`SessionLostError` (connection gone for good, tool-round limit exhausted, context overflow) "
    "marks the rest `skipped` with the true reason"
)
PASSES = {"passed": True, "score": 1.0, "has_error": False}
DECIDED = {
    "equality-03": Decision(
        "one sentence-final `.`/`!`/`?` on either side is ignored (US4-1)", {"passed": True, "score": 1.0}
    ),
    "numeric-07": Decision(PERCENT, PASSES),
    "numeric-09": Decision(PERCENT, PASSES),
    "numeric-18": Decision(PERCENT, PASSES),
    "numeric-11": Decision(UNREADABLE, {"has_error": False}),
    "numeric-20": Decision(UNREADABLE, {"has_error": False}),
    "arg_fuzzy-08": Decision("None never matches; a bool matches as its word", {"match": False}),
    "code_grader-06": Decision("`scored` when there is no threshold and no verdict", {"passed": None}),
    "code_grader-07": Decision(
        "returns bool, number in [0, 1], a mapping with `score` or `passed`, or `GraderResult`",
        {"score": 1.0, "passed": None, "has_error": False},
    ),
    "session-04": Decision(LOST, {"skipped": [False, False, True, True], "last_turn_error_contains": "lost"}),
    "session-05": Decision(
        LOST, {"turn_passed": [True, False, False, False], "skipped": [False, False, True, True]}
    ),
    "session-07": Decision(
        "Inside, a single-turn case is a conversation of one turn: one engine, one path.",
        {"sessions_created": 1, "single_turn_calls": 0},
    ),
    **{f"results_slug-{n:02}": Decision("no slugs") for n in range(1, 14)},
}
WAITING = {
    **{f"call_pairing-{n:02}": "a provider's adapter, which pairs calls with results" for n in range(1, 7)},
    "session-10": "a file reader",
}
# Areas that are settled before a run, or in a report alone: where their rows are tests.
ELSEWHERE = {
    "loading/test_shared_cases.py": (
        "response_path_grammar", "config_metric", "config_code_metric", "config_matcher",
        "config_expected_tool", "config_turn", "config_file_input", "config_test_case", "config_round_trip",
        "execution_config", "test_cases_file",
    ),
    "views/test_json_report.py": ("case_rollup", "summary"),
    "results/test_records.py": ("token_usage",),
}  # fmt: skip


def run_case(case, replies=None, *, metrics=(), backend=None, **arguments):
    """The result of one case, played through the front door, and the JSON report's entry."""
    suite = hd.Suite(name="probe", test_cases=[{"name": "c", **case}], evaluations=list(metrics))
    backend = backend or hd.ScriptedBackend({"c": replies})
    run = suite.run(backend=backend, quiet=True, **arguments)
    [entry] = cases.strict_json(run.to_json())["results"]
    return run.result.cases[0], entry


def call(name, args=None):
    return {"name": name, "args": args or {}, "result": None}


def names(*tools):
    return {"text": "x", "tool_calls": [call(tool) for tool in tools]}


def one_argument(given, wanted):
    tool = {"name": "t", "args": {"a": given["matcher"]}}
    reply = {"text": "x", "tool_calls": [call("t", {"a": given["actual"]})]}
    case, _ = run_case({"input": "q", "expected_tools": [tool]}, [reply])
    assert case.passed is wanted["match"]
    _reasons(case.turns[0].reason, wanted)
    [check] = case.turns[0].tool_checks[0].arguments
    assert check.matched is wanted["match"]


def _reasons(reason, wanted):
    if "reason" in wanted:
        assert reason is wanted["reason"]
    assert [text for text in wanted.get("reason_contains", ()) if text not in reason] == []


def expected_tools(given, wanted):
    calls = [call(each["name"], each["args"]) for each in given["calls"]]
    case, entry = run_case(
        {"turns": [{"input": "q", "expected_tools": given["expected_tools"]}]},
        [{"text": "x", "tool_calls": calls}],
    )
    [turn] = case.turns
    assert (turn.tools_matched, turn.passed) == (
        wanted["tools_matched"],
        wanted.get("turn_passed", wanted["tools_matched"]),
    )
    if "matched_call_index" in wanted:
        assert [*turn.tool_checks[0].matched_calls, -1][0] == wanted["matched_call_index"]
        assert entry["turns"][0]["arg_match_details"][0]["matched_call_index"] == wanted["matched_call_index"]
    _reasons(turn.reason, wanted)
    if "details_len" in wanted:
        assert len(entry["turns"][0]["arg_match_details"]) == wanted["details_len"]


def tool_names(given, wanted):
    case, entry = run_case(
        {"input": "q", "expected_tools": given["expected_tools"]}, [names(*given["called"])]
    )
    assert case.turns[0].tools_matched is wanted["tools_matched"]
    assert entry["tools_matched"] is wanted["tools_matched"]
    assert case.passed is (wanted["tools_matched"] is not False)


def tool_names_per_turn(given, wanted):
    turns = [
        {"input": "q", **({} if tools is None else {"expected_tools": tools})}
        for tools in given["turns_expected_tools"]
    ]
    case, entry = run_case({"turns": turns}, [names(*called) for called in given["turns_called"]])
    assert [turn.tools_matched for turn in case.turns] == wanted["turn_tools_matched"]
    if "turn_passed" in wanted:
        assert [turn.passed for turn in case.turns] == wanted["turn_passed"]
    for turn, texts in zip(entry["turns"], wanted.get("turn_error_contains", ()), strict=False):
        assert all(text in " ".join(turn["errors"]) for text in texts)
    if "case_tools_matched" in wanted:
        assert entry["tools_matched"] is wanted["case_tools_matched"]


def tools_rollup(given, wanted):
    expected = [None if matched is None else ["a"] for matched in given["turn_tools_matched"]]
    called = [["a"] if matched else ["other"] for matched in given["turn_tools_matched"]]
    tool_names_per_turn(
        {"turns_expected_tools": expected, "turns_called": called},
        {"turn_tools_matched": given["turn_tools_matched"], **wanted},
    )


def metric(kind):
    def measured(given, wanted):
        case, entry = run_case(
            {"input": "q", "ground_truth": given["ground_truth"]},
            [given["response"]],
            metrics=[{"type": kind, **given["config"]}],
        )
        [result] = case.turns[0].metrics
        [written] = entry["metric_results"]
        assert (result.passed, result.score) == (wanted["passed"], wanted["score"])
        assert (written["passed"], written["score"]) == (wanted["passed"], wanted["score"])
        assert case.passed is wanted["passed"]
        if "has_error" in wanted:
            assert (written["error"] is not None) is wanted["has_error"]
        assert result.passed or result.reason

    return measured


def response_path_extract(given, wanted):
    case, _ = run_case(
        {"input": "q", "ground_truth": wanted["value"] or "x"},
        [given["response"]],
        metrics=[{"type": "equality", "response_path": given["path"]}],
    )
    [result] = case.turns[0].metrics
    assert result.passed is (wanted["value"] is not None)
    assert wanted.get("error_contains", "") in (result.reason or "")
    assert result.score == float(wanted["value"] is not None)


class Opaque:
    """Nothing that JSON knows."""


def grader_of(told):
    def grade(context):
        match told:
            case {"raises": name}:
                raise {"ValueError": ValueError}[name]("grader broke")
            case {"GraderResult": parts}:
                details = parts.get("details")
                if details and "bad" in details:
                    details = {"bad": Opaque()}
                return hd.GraderResult(**{**parts, "details": details})
            case {"dict": mapping}:
                return mapping
            case value:
                return value

    return grade


def code_grader(given, wanted):
    code = {"type": "code", "grader": grader_of(given["grader_returns"]), "threshold": given["threshold"]}
    case, entry = run_case({"turns": [{"input": "q"}]}, ["x"], metrics=[code])
    [result], [written] = case.turns[0].metrics, entry["turns"][0]["metric_results"]
    wanted = dict(wanted)
    assert [text for text in wanted.pop("error_contains", ()) if text not in written["error"]] == []
    if wanted.pop("has_error", None) is not None:
        assert written["error"] is None
    if "details" in wanted:
        assert wanted.pop("details") == result.details == entry["turns"][0]["grader_details"][result.id]
    assert {key: written[key] for key in wanted} == wanted


def code_grader_context(given, wanted):
    seen = []

    def grade(context):
        for name in ("agent_response", "turn_index"):
            with pytest.raises(FrozenInstanceError):
                setattr(context, name, "changed")
        seen.append(context)
        return True

    last = given["turn_index"]
    turn = {key: given[key] for key in ("ground_truth", "retrieval_context", "turn_config")}
    turns = [
        *({"input": "before", "evaluations": []} for _ in range(last)),
        {"input": given["turn_input"], **turn},
    ]
    case, _ = run_case(
        {"name": given["test_case_name"], "turns": turns},
        backend=hd.ScriptedBackend({given["test_case_name"]: [*["x"] * last, given["agent_response"]]}),
        metrics=[{"type": "code", "grader": grade}],
    )
    assert case.passed
    [context] = seen
    for key, value in given.items():
        got = getattr(context, key)
        assert (list(got) if isinstance(got, tuple) else got) == value
    assert type(context.retrieval_context) is type(context.tool_invocations) is tuple
    assert wanted["attribute_assignment"] == "raises"


def code_grader_run(given, wanted):
    def grade(context):
        raise ValueError("grader broke")

    if "case_a" not in given:
        code = {"type": "code", "grader": grade, "fail_on_error": given["fail_on_error"]}
        case, entry = run_case({"turns": [{"input": "q"}] * given["turns"]}, ["x"] * 2, metrics=[code])
        assert len(case.turns) == wanted["turns_len"]
        assert [turn["skipped"] for turn in entry["turns"]] == wanted["skipped"]
        metrics = [turn["metric_results"][0] for turn in entry["turns"]]
        assert [each["passed"] for each in metrics] == wanted["turn_metric_passed"]
        texts = zip(metrics, wanted["turn_metric_error_contains"], strict=True)
        assert all(text in each["error"] for each, text in texts)
        return
    code = {"type": "code", "grader": grade, "fail_on_error": given["case_a"]["fail_on_error"]}
    suite = hd.Suite(
        name="s",
        test_cases=[
            {"name": "a", "turns": [{"input": "q"}] * given["case_a"]["turns"], "evaluations": [code]},
            {"name": "b", "turns": [{"input": "q"}] * given["case_b"]["turns"]},
        ],
    )
    backend = hd.ScriptedBackend({"a": ["x"] * 3, "b": ["x"]})
    run = suite.run(backend=backend, quiet=True)
    for name, case in zip("ab", run.result.cases, strict=True):
        assert [turn.status == "skipped" for turn in case.turns] == wanted[f"case_{name}_skipped"]
        assert len(backend.sent[name]) == wanted[f"case_{name}_sends"]


def metric_resolution(given, wanted):
    """Which metrics a turn has does not depend on which they are: exact ones stand in for them."""

    def written(texts):
        return [{"type": "equality", "name": text.partition("@")[0], "threshold": 0.5} for text in texts]

    def level(texts):
        return {} if texts is None else {"evaluations": written(texts)}

    turns = [
        {"input": "q", **{k: v for k, v in turn.items() if k != "metrics"}, **level(turn.get("metrics"))}
        for turn in given["turns"]
    ]
    case, entry = run_case(
        {"turns": turns, **level(given["case_metrics"])},
        [turn.get("ground_truth", "x") for turn in turns],
        metrics=written(given["agent_metrics"]),
    )
    got = [[each["metric_name"] for each in turn["metric_results"]] for turn in entry["turns"]]
    assert got == wanted["turn_metric_names"]
    assert case.turns[0].passed


def metric_rollup(given, wanted):
    def measured(score):
        if score is None:
            return MetricResult(given["metric"], "standard", "not_applicable", threshold=given["threshold"])
        status = "passed" if score >= given["threshold"] else "failed"
        return MetricResult(given["metric"], "standard", status, score, threshold=given["threshold"])

    turns = tuple(
        TurnResult(place, "q", response="x", metrics=(measured(score),))
        for place, score in enumerate(given["turn_scores"])
    )
    case = CaseResult("c", 0, turns)
    written = report(RunResult("s", (case,)))["results"][0]["metric_results"]
    assert bool(written) is wanted.get("metric_present", True)
    if written:
        assert (
            written[0]["score"] == case.metrics[given["metric"]].mean == pytest.approx(wanted["case_score"])
        )
        assert written[0]["passed"] is wanted.get("case_passed", written[0]["passed"])


class Watched:
    """A backend that behaves turn by turn as it is told, and counts what is done to it."""

    def __init__(self, outcomes, calls=()):
        self.outcomes = outcomes
        self.calls = calls
        self.sessions = self.sends = self.closed = 0
        self.events = []

    async def create_session(self, context):
        self.sessions += 1
        self.turn = 0
        return self

    async def send(self, message):
        turn = self.turn
        self.turn += 1
        self.sends += 1
        self.events.append(f"start-{message.text}")
        match self.outcomes[turn]:
            case "RuntimeError":
                raise RuntimeError("boom")
            case "timeout":
                await asyncio.sleep(60)
            case "session_error":
                raise hd.SessionLostError("connection gone")
        await asyncio.sleep(0)
        self.events.append(f"end-{message.text}")
        return hd.Reply(
            "x", tuple(hd.ToolInvocation(name) for name in dict(enumerate(self.calls)).get(turn, ()))
        )

    async def close(self):
        self.closed += 1


def session(given, wanted):
    inputs = given.get("turns") or ["q"] * len(given.get("turn_outcomes", given.get("turn_calls", ["ok"])))
    backend = Watched(given.get("turn_outcomes", ["ok"] * len(inputs)), given.get("turn_calls", ()))
    single = given.get("single_turn_case")
    case = {"input": "q"} if single else {"turns": [{"input": text} for text in inputs]}
    result, entry = run_case(case, backend=backend, llm_timeout=0.1 if "timeout" in backend.outcomes else 30)
    turns = entry["turns"] or []
    facts = {
        "sessions_created": backend.sessions,
        "single_turn_calls": 0,  # there is one path
        "sends": backend.sends,
        "session_closed": backend.closed,
        "total_tests": 1,
        "case_passed": result.passed,
        "summary_failed": int(not entry["passed"]),
        "turn_passed": [turn["passed"] for turn in turns],
        "skipped": [turn["skipped"] for turn in turns],
        "turns": entry["turns"],
        "event_order": backend.events,
        "turn_invocation_names": [[c["name"] for c in turn["tool_invocations"]] for turn in turns],
        "turn_errors": [
            ["timeout"] if "timeout" in " ".join(turn["errors"]) else turn["errors"] for turn in turns
        ],
    }
    wanted = dict(wanted)
    assert wanted.pop("last_turn_error_contains", "") in " ".join(turns[-1]["errors"] if turns else ())
    assert {key: facts[key] for key in wanted} == wanted


PLAYED = {
    "arg_literal": one_argument,
    "arg_fuzzy": one_argument,
    "arg_regex": one_argument,
    "arg_reason": one_argument,
    "expected_tools": expected_tools,
    "tool_names": tool_names,
    "tool_names_per_turn": tool_names_per_turn,
    "tools_rollup": tools_rollup,
    "equality": metric("equality"),
    "numeric": metric("numeric"),
    "response_path_extract": response_path_extract,
    "code_grader": code_grader,
    "code_grader_context": code_grader_context,
    "code_grader_run": code_grader_run,
    "metric_resolution": metric_resolution,
    "metric_rollup": metric_rollup,
    "session": session,
}


def played(data):
    return [row for row in data if row["area"] in PLAYED or row["id"] in WAITING]


@pytest.mark.parametrize("row", cases.rows("peer_conformance.json", played))
def test_one_row(row):
    if row["id"] in WAITING:
        pytest.skip(f"waiting for {WAITING[row['id']]}")
    decision = DECIDED.get(row["id"])
    PLAYED[row["area"]](row["input"], row["expected"] | (decision.expected if decision else {}))


def test_every_row_is_run_or_decided_or_waits():
    data = cases.read("peer_conformance.json")
    assert len(data) == len({row["id"] for row in data}) == 276
    elsewhere = {area for areas in ELSEWHERE.values() for area in areas}
    run = {row["id"] for row in data if row["area"] in PLAYED.keys() | elsewhere}
    told = {key for key, decision in DECIDED.items() if decision.expected is None} | WAITING.keys()
    assert run | told == {row["id"] for row in data}
    assert not elsewhere & PLAYED.keys()


@pytest.mark.parametrize("file", ELSEWHERE)
def test_what_is_run_elsewhere_is_run_there(file):
    wanted = {row["id"] for row in cases.read("peer_conformance.json") if row["area"] in ELSEWHERE[file]}
    assert wanted <= parameters_of(TESTS / file)


def parameters_of(path):
    """The ids of all parameters of all tests of a file."""
    spec = importlib.util.spec_from_file_location(f"looked_at_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    marks = [
        mark
        for name, value in vars(module).items()
        if name.startswith("test_")
        for mark in getattr(value, "pytestmark", ())
        if mark.name == "parametrize"
    ]
    return {getattr(value, "id", None) for mark in marks for value in mark.args[1]}


def test_every_decision_quotes_the_contract():
    assert cases.missing_from_contract(decision.sentence for decision in DECIDED.values()) == []


def test_a_grader_is_imported_once_however_many_metrics_name_it(tmp_path):
    """config_code_metric-08, the part that loading alone does not show."""
    (tmp_path / "counted.py").write_text(
        "import builtins\nbuiltins.imports += 1\ndef grade(ctx):\n    return True\n"
    )
    builtins.imports = 0
    code = {"type": "code", "grader": "counted:grade"}
    suite = hd.Suite.from_dict(
        {"name": "s", "evaluations": [code, code], "test_cases": [{"input": "q", "evaluations": [code]}] * 3},
        folder=tmp_path,
    )
    assert suite.run(agent=lambda text: "x", quiet=True).passed
    assert builtins.imports == 1
    del builtins.imports
    metric_ = suite.config.agent_metrics[0]
    assert (metric_.enabled, metric_.fail_on_error, metric_.threshold) == (True, False, None)
