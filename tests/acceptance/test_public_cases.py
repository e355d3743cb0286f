"""75 faults that people reported in public trackers: none of them is ours, or it says what it waits for."""

import copy
import gc
import json
import logging
import subprocess
import sys
import threading
import time
from textwrap import dedent

import cases_interpreter as cases
import nbformat
import pytest
from judges import Judge, shown, steps
from kernels import notebook_client

import holodeck_nb as hd
from holodeck_nb.__main__ import main
from holodeck_nb.metrics.base import unavailable

PROVIDER = "its test over HTTP: test_public_wire_cases.py plays it"
READER = "its test with real files: test_files.py plays it"
WAITING = {
    **dict.fromkeys(
        ("SDK-01", "SDK-03", "SDK-04", "SDK-06", "SDK-07", "SDK-10", "SDK-11", "SDK-12", "SDK-13"), PROVIDER
    ),
    **dict.fromkeys(("FIL-01", "FIL-03", "FIL-04", "FIL-05", "FIL-06", "FIL-08", "FIL-09"), READER),
    "NB-03": "its test with the explorer: test_explorer_exported.py plays it",
    "CON-02": "nobody: there is no cache of replies",
    "CON-03": "nobody: there is no cache of replies, so repeats are samples of their own",
    "CON-05": PROVIDER,
    "SEC-03": PROVIDER,
    "SEC-04": READER,
}

GRADERS = {
    "MET-06": """
        def flaky(ctx):
            if ctx.turn_index == 1:
                raise ValueError("no row")
            return 1.0
        """,
    "MET-07": """
        def only_first(ctx):
            if ctx.test_case_name != "k1":
                raise ValueError(ctx.test_case_name)
            return 1.0
        """,
    "MET-12": """
        def seven(ctx):
            return 0.7
        """,
    "REP-01": """
        def nanny(ctx):
            return {"score": float("nan"), "details": {"x": float("inf")}}
        """,
    "GRD-03": """
        import numpy as np
        def npy(ctx):
            if ctx.turn_index == 0:
                return np.bool_(True)
            return {"score": np.float32(0.5), "passed": np.bool_(False), "details": {"v": np.arange(3)}}
        """,
    "GRD-04": """
        def odd(ctx):
            return [True, 1.7, -1, None, "yes", {}, (1, "r"), float("nan")][ctx.turn_index]
        """,
    "GRD-06": """
        import sys
        def endless(n):
            return endless(n + 1)
        def bad(ctx):
            if ctx.turn_index == 0:
                raise ValueError("boom")
            if ctx.turn_index == 1:
                sys.exit(3)
            if ctx.turn_index == 2:
                endless(0)
            return True
        """,
    "GRD-08": """
        import time
        async def aw(ctx):
            return False
        def slow(ctx):
            time.sleep(30)
        """,
}


def grader_file(folder, source, name="probe_graders"):
    (folder / f"{name}.py").write_text(dedent(source))


def ordinary(case, folder, monkeypatch):
    """Load, run with the scripted replies."""
    if case["id"] in GRADERS:
        grader_file(folder, GRADERS[case["id"]])
    for name, value in case["check"].get("with_env", {}).items():
        monkeypatch.setenv(name, value)
    return cases.play(case, folder)


def with_and_without_the_variable(case, folder, monkeypatch):
    outcome = ordinary(case, folder, monkeypatch)
    monkeypatch.delenv("K")
    outcome.told["second_run_without_env"] = cases.play(case, folder)
    return outcome


def with_a_stubborn_session(case, folder, monkeypatch):
    import asyncio

    monkeypatch.setattr("holodeck_nb.engine.casework.CLOSE_TIMEOUT_S", 0.2)

    class Stubborn(hd.ScriptedBackend):
        async def create_session(self, context):
            session = await super().create_session(context)

            async def close():
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    await asyncio.sleep(3600)

            session.close = close
            return session

    outcome = cases.play(case, folder, backend=Stubborn(case["scripted_replies"]))
    assert [text for text in outcome.run.warnings["text"] if "did not close within" in text]
    assert "c1" in outcome.run.warnings["case"].tolist()
    return outcome


def twice_after_an_abandoned_thread(case, folder, monkeypatch):
    first = cases.play(case, folder)
    again = {
        "suite_yaml": case["suite_yaml"],
        "scripted_replies": {**case["scripted_replies"], "block": ["x"]},
    }
    second = cases.play(again, folder)
    assert second.run.passed
    assert second.seconds < first.seconds
    return first


def a_timeout_inside_a_tool(case, folder, monkeypatch):
    """The engine's part of it; whether the provider takes the repaired history, a provider must tell."""
    gate = threading.Event()
    (folder / "slow_tools.py").write_text("def lookup():\n    gate.wait(5)\n")
    tool = "tools: [{name: lookup, type: function, description: d, file: slow_tools.py, function: lookup}]\n"
    played = {
        "suite_yaml": tool + case["suite_yaml"].replace("llm_timeout: 1", "llm_timeout: 0.2"),
        "scripted_replies": {"orphan": [{"tool_calls": [{"name": "lookup", "args": {}}]}, "2", "3"]},
    }
    monkeypatch.setattr("builtins.gate", gate, raising=False)
    outcome = cases.play(played, folder)
    gate.set()
    check = {key: wanted for key, wanted in case["check"].items() if key != "server_400_count"}
    assert cases.complaints(check, outcome) == []
    pytest.skip(f"waiting for {PROVIDER}, to see its history taken; the engine's part holds")


def with_an_agent_that_counts_itself(case, folder, monkeypatch):
    inside, overlaps = set(), []

    def agent(text, conversation):
        if conversation.case in inside:
            overlaps.append(conversation.case)
        inside.add(conversation.case)
        time.sleep(0.01)
        said = "ok"
        if conversation.history:
            codes = [word for m in conversation.history for word in m["content"].split() if word[0] == "C"]
            said = codes[-1]
        inside.discard(conversation.case)
        return said

    outcome = cases.play(case, folder, agent=agent)
    alone = cases.play(case, folder, agent=agent, parallel_test_cases=1)
    assert verdicts(alone.run) == verdicts(outcome.run)
    outcome.told["overlap_within_case"] = len(overlaps)
    return outcome


def verdicts(run):
    return [(turn.response, turn.status, turn.reason) for _, turn in run.result.turns()]


def three_times_with_the_same_objects(case, folder, monkeypatch):
    import yaml

    data = yaml.safe_load(case["suite_yaml"])
    metrics = [{"type": "standard", "metric": "equality"}]
    before = copy.deepcopy((data, metrics))
    suite = hd.Suite.from_dict(data).with_metrics(metrics)
    config = suite.config.model_copy(deep=True)
    backend = hd.ScriptedBackend({name: ["x"] for name in ("n1", "n2")})
    outcome = cases.Outcome(backend=backend)
    counts = []
    for _ in range(3):
        outcome.run = suite.run(backend=backend, quiet=True)
        counts.append({len(turn.metrics) for _, turn in outcome.run.result.turns()})
    assert all(len(one_run) == 1 for one_run in counts)
    outcome.told["metric_results_per_case"] = [count for one_run in counts for count in one_run]
    outcome.told["inputs_unchanged"] = (data, metrics) == before and suite.config == config
    return outcome


def with_a_judge(case, folder, monkeypatch):
    """The judge answers each turn as the case says, and the same again when it is asked again."""
    said = case["wire"]["judge"]
    answers = {"steps": steps("read"), "score": lambda body: said[shown(body, "actual_output")[-1]]}
    with Judge(**answers) as judge:
        suite = case["suite_yaml"].replace(
            "evaluations: [{type: geval,", f"evaluations: [{{type: geval, model: {json.dumps(judge.model)},"
        )
        replies = {"jd": [f"x {turn}" for turn in said]}
        outcome = cases.play({"suite_yaml": suite, "scripted_replies": replies}, folder, cache_enabled=False)
    kept = [turn.metrics[0].details.get("reply") for turn in outcome.turns("jd")]
    assert kept == [said["0"], said["1"], None]
    return outcome


def with_a_secret(case, folder, monkeypatch):
    secret = case["check"]["nowhere"]
    monkeypatch.setenv("PROBE_KEY", secret)
    shown = {}
    records = logging.Handler()
    records.emit = lambda record: shown.setdefault(f"log {len(shown)}", record.getMessage())
    logging.getLogger().addHandler(records)
    level = logging.getLogger().level
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        refused = cases.play(case, folder)
        shown |= everything_said_of(refused.error)
        case = {**case, "suite_yaml": case["suite_yaml"].replace("temperature: hot", "temperature: 0.5")}
        outcome = cases.play(case, folder, agent=lambda text: "x", verbose=True)
        suite = hd.Suite.from_yaml(folder / "agent.yaml")
        with pytest.raises(hd.ConfigError) as cannot_talk:
            suite.run(verbose=True, backend="nobody")
    finally:
        logging.getLogger().removeHandler(records)
        logging.getLogger().setLevel(level)
    shown |= everything_said_of(cannot_talk.value)
    for value in (
        suite,
        suite.config,
        suite.config.model,
        outcome.run,
        outcome.run.summary,
        outcome.run.result,
    ):
        shown[f"repr {type(value).__name__}"] = repr(value)
        shown[f"str {type(value).__name__}"] = str(value)
        shown[f"html {type(value).__name__}"] = getattr(value, "_repr_html_", str)()
    shown["dump"] = repr(suite.config.model_dump())
    shown["report.json"], shown["report.md"] = outcome.run.to_json(), outcome.run.to_markdown()
    shown["to_yaml"] = suite.to_yaml(folder / "again.yaml").read_text(encoding="utf-8")
    assert "${PROBE_KEY}" in shown["to_yaml"]
    with monkeypatch.context() as patch:
        for name in ("stdout", "stderr"):
            stream = (folder / name).open("w+")
            patch.setattr(sys, name, stream)
        patch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        main(["test", str(folder / "agent.yaml"), "--verbose"])
        sys.stdout.close()
        sys.stderr.close()
    shown["stdout"], shown["stderr"] = ((folder / name).read_text() for name in ("stdout", "stderr"))
    assert "nothing answers at http://127.0.0.1:9/v1" in shown["stderr"]
    return cases.Outcome(run=outcome.run, told={"shown": shown})


def everything_said_of(error):
    chain, place = {}, 0
    while error is not None:
        chain |= {f"str error {place}": str(error), f"repr error {place}": repr(error)}
        error, place = error.__cause__ or error.__context__, place + 1
    return chain


def after_an_edit(case, folder, monkeypatch):
    first = "from probe_helper import right\ndef grade(ctx):\n    return right(ctx)\n"
    grader_file(folder, first)
    grader_file(folder, "def right(ctx):\n    return False\n", "probe_helper")
    told = {"first": cases.play(case, folder)}
    grader_file(
        folder, "def right(ctx):\n    return ctx.agent_response == ctx.ground_truth\n", "probe_helper"
    )
    told["second"] = cases.play(case, folder)
    grader_file(folder, "def grade(ctx):\n    return False\n")
    assert not cases.play(case, folder).run.passed
    return cases.Outcome(told=told)


def with_a_grader_that_never_ends(case, folder, monkeypatch):
    grader_file(folder, GRADERS[case["id"]])
    outcome = cases.play(case, folder, grader_timeout=0.3)
    aw, slow = outcome.turns("g")[0].metrics
    assert (aw.status, slow.status) == ("failed", "error")
    assert "timeout: no result within 0.3 s (execution.grader_timeout)" in slow.reason
    return outcome


def alive_after_bad_graders(case, folder, monkeypatch):
    outcome = ordinary(case, folder, monkeypatch)
    outcome.told["process_alive"] = cases.play(case, folder).run is not None
    return outcome


def run_cells(*cells):
    """Run the cells in a fresh kernel; the notebook as it is then saved."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(dedent(cell)) for cell in cells])
    client = notebook_client(notebook, kernel_name="python3", allow_errors=True)
    client.execute()
    del client
    gc.collect()  # here, where its unclosed channels are nobody's fault, and not in another test
    return notebook


def results(notebook):
    """What each cell ended with; the name of its error, if it had one."""
    return [
        next(
            (
                output.get("ename") or output["data"]["text/plain"]
                for output in cell.outputs
                if output.output_type in {"error", "execute_result"}
            ),
            None,
        )
        for cell in notebook.cells
    ]


SCRIPT = """
    import holodeck_nb as hd
    suite = hd.Suite.from_yaml({file!r})
    backend = hd.ScriptedBackend({replies!r})
    def verdict(run):
        return {{case.name: case.passed for case in run.result.cases}}
"""


def script(case, folder):
    file = folder / "agent.yaml"
    file.write_text(case["suite_yaml"], encoding="utf-8")
    return dedent(SCRIPT).format(file=str(file), replies=case["scripted_replies"])


def as_python(code):
    return subprocess.run(
        [sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=True, timeout=60
    )


def in_a_kernel_and_in_a_script(case, folder, monkeypatch):
    begin = script(case, folder)
    ran = "verdict(suite.run(backend=backend, quiet=True))"
    awaited = "verdict(await suite.arun(backend=backend, quiet=True))"
    said = results(run_cells(begin, ran, awaited, "import sys; 'nest_asyncio' in sys.modules"))
    wanted = str(case["check"]["case_passed"])
    alone = as_python(begin + f"print({ran})").stdout.strip()
    ok = said == [None, wanted, wanted, "False"] and alone == wanted
    outcome = cases.play(case, folder)
    outcome.told["cells_ok"] = ok or (said, alone)
    return outcome


def five_cells(case, folder, monkeypatch):
    begin = script(case, folder) + dedent("""
        import time
        async def timed(work):
            began = time.monotonic()
            run = await work
            return verdict(run), time.monotonic() - began
        def now(**more):
            began = time.monotonic()
            run = suite.run(backend=backend, quiet=True, **more)
            return verdict(run), time.monotonic() - began
        def interrupting(context):
            raise KeyboardInterrupt
    """)
    plain, awaited = "now()", "await timed(suite.arun(backend=backend, quiet=True))"
    broken = """
        cases = [{"name": name, "input": "a"} for name in ("n1", "n2")]
        hd.Suite(name="s", test_cases=cases, evaluations=[interrupting]).run(backend=backend, quiet=True)
    """
    said = results(run_cells(begin, plain, awaited, broken, plain, awaited))
    assert said[3] == "KeyboardInterrupt"
    outcomes = [eval(said[place]) for place in (1, 2, 4, 5)]
    wanted = {"n1": True, "n2": True}
    told = {
        "cells_ok": all(verdict == wanted for verdict, _ in outcomes),
        "seconds_each": [s for _, s in outcomes],
    }
    return cases.Outcome(run=cases.play(case, folder).run, told=told)


def shown_while_it_runs(case, folder, monkeypatch):
    begin = script(case, folder)
    notebook = run_cells(begin, "run = suite.run(backend=backend)", "run = suite.run(backend=backend)")
    [count] = {len(cell.outputs) for cell in notebook.cells[1:]}
    piped = as_python(begin + "suite.run(backend=backend)")
    written = piped.stdout + piped.stderr
    assert piped.stdout == ""
    assert "n1" in written
    told = {
        "progress_outputs_per_run": count,
        "piped_lines": written.count("\n"),
        "no_carriage_return_in_pipe": "\r" not in written,
    }
    return cases.Outcome(run=cases.play(case, folder).run, told=told)


SCENARIOS = {
    "CFG-09": with_and_without_the_variable,
    "SES-01": a_timeout_inside_a_tool,
    "SES-04": with_a_stubborn_session,
    "SES-08": twice_after_an_abandoned_thread,
    "CON-01": with_an_agent_that_counts_itself,
    "NB-01": in_a_kernel_and_in_a_script,
    "NB-02": five_cells,
    "NB-05": shown_while_it_runs,
    "NB-08": three_times_with_the_same_objects,
    "SEC-01": with_a_secret,
    "MET-09": with_a_judge,
    "GRD-01": after_an_edit,
    "GRD-06": alive_after_bad_graders,
    "GRD-08": with_a_grader_that_never_ends,
}
KERNEL = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def metrics_to_come(case):
    """The metrics of the case's suite that this version does not have yet."""
    import yaml

    suite = hd.Suite.from_dict(yaml.safe_load(case["suite_yaml"]))
    asked = [m for c in suite.cases for t in c.conversation for m in suite.config.metrics_for(c, t)]
    return sorted({metric.default_id for metric in asked if unavailable(metric) is not None})


@KERNEL
@pytest.mark.parametrize("case", cases.rows("public_cases.json"))
def test_the_fault_is_not_ours(case, tmp_path, monkeypatch):
    if case["id"] in WAITING:
        pytest.skip(f"left to {WAITING[case['id']]}")
    if case["id"].startswith("MET-") and not case.get("files") and (missing := metrics_to_come(case)):
        pytest.skip(f"waiting for the metrics {', '.join(missing)}")
    outcome = SCENARIOS.get(case["id"], ordinary)(case, tmp_path, monkeypatch)
    assert cases.complaints(case["check"], outcome) == []


def test_every_case_waits_or_is_played():
    every = {case["id"] for case in cases.read("public_cases.json")}
    assert len(every) == 75
    assert (WAITING.keys() | GRADERS.keys() | SCENARIOS.keys()) <= every


def test_a_check_that_does_not_hold_is_told(tmp_path):
    """The interpreter itself: turned round, the checks of a passing case must complain."""
    case = next(case for case in cases.read("public_cases.json") if case["id"] == "ARG-03")
    outcome = cases.play(case, tmp_path)
    for check in (
        {"turn_passed": {"why": [True, False]}},
        {"turn_status": {"why": ["passed", "failed"]}},
        {"case_passed": {"why": True}},
        {"turn_reason_mentions": {"why": {"0": ["elephant"]}}},
        {"load": "error"},
        {"any_of": [{"load": "error"}, {"case_passed": {"why": True}}]},
        {"never": {"report_contains": ["181001"]}},
        {"order": ["what"]},
        {"rows": 2},
        {"max_seconds": -1},
        {"report_json": {"strict": True, "contains": ["elephant"]}},
        {"report_json": {"types": {"test_name": "number"}}},
        {"report_md": {"table_columns_constant": True, "text_kept": ["elephant"]}},
        {"html": {"no_tag_from_text": ["table"], "visible_text_contains": []}},
        {"agent_calls": 0},
    ):
        assert cases.complaints(check, outcome), check
    with pytest.raises(KeyError):
        cases.complaints({"never_heard_of": 1}, outcome)
    assert json.dumps(case["check"])
