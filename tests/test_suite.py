"""The suite in the user's hands: made, selected from, changed, written, run."""

import asyncio
import functools
import signal
import threading
import time
from textwrap import dedent

import pandas as pd
import pytest

import holodeck_nb as hd

CASES = [
    {
        "name": "AAL/2015",
        "turns": [{"input": "q1", "ground_truth": "1"}, {"input": "q2", "ground_truth": "2"}],
    },
    {"input": "q", "ground_truth": "3"},
    {"name": "AAL/2016", "input": "q", "ground_truth": "4"},
    {"name": "AAL/2015", "input": "again", "ground_truth": "5"},
]
NUMERIC = [{"type": "numeric"}]


@pytest.fixture
def suite():
    return hd.Suite(name="fin", test_cases=CASES, evaluations=NUMERIC)


def run(suite, agent=lambda text: "1", **arguments):
    return suite.run(agent=agent, quiet=True, **arguments)


class TestMaking:
    def test_from_a_file(self, tmp_path):
        (tmp_path / "agent.yaml").write_text("name: s\ntest_cases: [{input: q, ground_truth: no}]\n")
        suite = hd.Suite.from_yaml(tmp_path / "agent.yaml")
        assert (suite.name, len(suite), suite.cases[0].ground_truth) == ("s", 1, "no")

    def test_from_a_dict_as_from_keywords(self):
        fields = {"name": "fin", "test_cases": CASES, "evaluations": {"metrics": NUMERIC}}
        assert hd.Suite.from_dict(fields).config == hd.Suite(**fields).config

    def test_a_function_is_a_grader(self):
        def short(context):
            return len(context.agent_response) < 5

        suite = hd.Suite(name="s", test_cases=[{"input": "q"}], evaluations=[short])
        assert run(suite).metrics["metric"].tolist() == ["short"]

    def test_from_a_frame_one_row_a_turn(self):
        frame = pd.DataFrame(
            {
                "case": ["a", "b", "a", None],
                "input": ["a1", "b1", "a2", "alone"],
                "ground_truth": [1, 2.5, None, "no"],
                "expected_tools": [["lookup"], None, [], None],
            }
        )
        suite = hd.Suite.from_frame(frame, name="frame")
        assert suite.case_names == ("a", "b", "case 3")
        asked = [[(turn.input, turn.ground_truth) for turn in case.conversation] for case in suite.cases]
        assert asked == [[("a1", "1"), ("a2", None)], [("b1", "2.5")], [("alone", "no")]]
        assert suite.cases[0].conversation[0].expected_tools[0].name == "lookup"
        assert suite.cases[0].conversation[1].expected_tools == ()

    def test_a_frame_with_other_columns_is_refused(self):
        with pytest.raises(hd.ConfigError) as caught:
            hd.Suite.from_frame(pd.DataFrame({"question": ["q"], "case": ["a"]}))
        columns = "case, input, ground_truth, expected_tools, retrieval_context, turn_config, evaluations"
        assert str(caught.value) == (
            f"2 problems\nquestion: not a known column\n    hint: the columns are {columns}\n"
            f"the frame has no column `input`\n    hint: the columns are {columns}"
        )

    def test_every_mistake_at_once(self):
        with pytest.raises(hd.ConfigError) as caught:
            hd.Suite(nam="s", test_cases=[{"input": " "}, {"inputs": "q"}])
        assert len(caught.value.problems) >= 3


SELECTIONS = [
    # arguments                                                       names
    ({"name": "AAL/2016"},                                            ("AAL/2016",)),
    ({"name": ["case 2", "AAL/2016"]},                                ("case 2", "AAL/2016")),
    ({"name": "aal*"},                                                ()),  # case counts
    ({"where": lambda case: case.multi_turn},                         ("AAL/2015",)),
    ({"name": "AAL*", "where": lambda case: not case.multi_turn},     ("AAL/2016", "AAL/2015 #2")),
    ({"name": "*"},                                       ("AAL/2015", "case 2", "AAL/2016", "AAL/2015 #2")),
]  # fmt: skip


class TestSelecting:
    def test_names_stay_when_cases_are_selected(self, suite):
        assert suite.case_names == ("AAL/2015", "case 2", "AAL/2016", "AAL/2015 #2")
        assert suite.select(name="*2015*").case_names == ("AAL/2015", "AAL/2015 #2")
        assert suite.select(name="case 2").case_names == ("case 2",)

    @pytest.mark.parametrize(("arguments", "names"), SELECTIONS)
    def test_select(self, suite, arguments, names):
        assert suite.select(**arguments).case_names == names

    def test_sample_is_repeatable_and_keeps_the_order(self, suite):
        drawn = suite.sample(2, seed=7).case_names
        assert drawn == suite.sample(2, seed=7).case_names
        assert sorted(drawn, key=suite.case_names.index) == list(drawn)
        assert suite.sample(99).case_names == suite.case_names

    def test_a_suite_never_changes(self, suite):
        before = suite.config
        suite.select(name="x")
        suite.with_execution(llm_timeout=1)
        suite.with_model("ollama:q")
        suite.with_metrics([])
        assert suite.config is before
        assert len(suite) == 4


class TestChanging:
    def test_with_model(self, suite):
        assert suite.with_model("ollama:qwen3:8b").config.model.name == "qwen3:8b"
        with pytest.raises(hd.ConfigError, match="did you mean 'ollama'"):
            suite.with_model("olama:qwen3:8b")

    def test_with_metrics(self, suite):
        assert run(suite.with_metrics([{"type": "equality"}])).metrics["metric"].unique().tolist() == [
            "equality"
        ]

    def test_what_a_run_has_worked_out_does_not_stick(self, suite):
        run(suite)
        assert run(suite.with_metrics([])).metrics.empty

    def test_metrics_that_a_case_refers_to_cannot_go(self):
        suite = hd.Suite(
            name="s", test_cases=[{"input": "q", "evaluations": ["numeric"]}], evaluations=NUMERIC
        )
        with pytest.raises(hd.ConfigError, match="numeric"):
            suite.with_metrics([{"type": "equality"}])

    def test_with_execution_keeps_the_other_fields(self, suite):
        changed = suite.with_execution(llm_timeout=5).with_execution(parallel_test_cases=3)
        assert (changed.config.execution.llm_timeout, changed.config.execution.parallel_test_cases) == (5, 3)
        with pytest.raises(hd.ConfigError, match="parallel_test_cases"):
            suite.with_execution(parallel_test_cases=0)


class TestWriting:
    def test_what_is_written_loads_the_same(self, suite, tmp_path):
        again = hd.Suite.from_yaml(suite.to_yaml(tmp_path / "again.yaml"))
        assert again.config == suite.config

    def test_only_the_selected_cases_are_written(self, suite, tmp_path):
        again = hd.Suite.from_yaml(suite.select(name="*2016").to_yaml(tmp_path / "again.yaml"))
        assert again.case_names == ("AAL/2016",)


class TestShowing:
    def test_in_a_terminal_one_line(self, suite):
        assert repr(suite) == "<Suite 'fin': 4 cases, 5 turns, metrics: numeric>"

    def test_in_a_notebook_html_with_nothing_of_the_text_alive(self):
        suite = hd.Suite(name="<script>n</script>", description="<img src=x>", test_cases=[{"input": "q"}])
        assert "<script>" not in suite._repr_html_()
        assert "<img" not in suite._repr_html_()


def replies(tmp_path, text='"#0": ["1"]\n'):
    (tmp_path / "replies.yaml").write_text(text)
    (tmp_path / "agent.yaml").write_text(
        "name: s\nmodel: {provider: scripted, script: replies.yaml}\ntest_cases: [{input: q}]\n"
    )
    return hd.Suite.from_yaml(tmp_path / "agent.yaml")


class TestRunning:
    def test_with_a_function(self, suite):
        assert run(suite.select(name="case 2"), agent=lambda text: "It is 3.").passed

    def test_with_a_backend(self, suite):
        backend = hd.ScriptedBackend({"case 2": ["3"]})
        assert suite.select(name="case 2").run(backend=backend, quiet=True).passed
        assert backend.sent == {"case 2": ["q"]}

    def test_with_the_script_of_the_file(self, tmp_path):
        assert replies(tmp_path).run(quiet=True).turns["response"].tolist() == ["1"]

    def test_with_a_name(self, tmp_path):
        assert replies(tmp_path).run(backend="scripted", quiet=True).passed

    def test_a_script_may_know_cases_that_are_not_selected(self, suite):
        backend = hd.ScriptedBackend({"AAL/2016": ["4"], "case 2": ["3"]})
        assert suite.select(name="AAL/2016").run(backend=backend, quiet=True).passed

    def test_twice_with_the_same_objects(self, suite):
        backend = hd.ScriptedBackend({"case 2": ["3"]})
        selected = suite.select(name="case 2")
        first, second = (selected.run(backend=backend, quiet=True) for _ in range(2))
        assert first.metrics["score"].tolist() == second.metrics["score"].tolist() == [1.0]

    def test_awaited(self, suite):
        assert asyncio.run(suite.select(name="case 2").arun(agent=lambda text: "3", quiet=True)).passed

    def test_inside_a_running_loop(self, suite):
        async def cell():
            return run(suite.select(name="case 2"), agent=lambda text: "3")

        assert asyncio.run(cell()).passed

    def test_an_argument_wins_over_the_file(self, suite):
        settings = run(suite.with_execution(llm_timeout=5, max_retries=0), llm_timeout=7).result.settings
        assert (settings["llm_timeout"], settings["max_retries"], settings["grader_timeout"]) == (7, 0, 60)

    def test_the_environment_comes_last(self, suite, monkeypatch):
        monkeypatch.setenv("HOLODECK_PARALLEL_TEST_CASES", "7")
        assert run(suite).result.settings["parallel_test_cases"] == 7

    def test_a_suite_without_cases_is_an_empty_run_with_a_warning(self):
        empty = run(hd.Suite(name="s"))
        assert len(empty.turns) == 0
        assert empty.warnings["text"].tolist() == ["the suite has no test cases: nothing was run"]

    def test_nothing_goes_to_standard_output(self, suite, capsys):
        suite.run(agent=lambda text: "1")
        assert capsys.readouterr().out == ""


def no_agent(text):
    raise AssertionError("no agent may be called")


MODEL = {"provider": "scripted", "script": "replies.yaml"}


WRONG = [
    ({"agent": "gpt-5"},      "run(agent=…): expected a function of the text, got str"),
    ({"backend": no_agent},   "run(backend=…): expected a name or an object with `create_session`"),
    ({"backend": "openai"},   "run(backend=…): there is no backend 'openai'"),
    ({"backend": "scripted"}, "model.script: a scripted agent needs its replies"),
    ({"agent": no_agent, "llm_timeout": 0}, "llm_timeout"),
    ({"agent": no_agent, "parallel_test_cases": "many"}, "parallel_test_cases"),
]  # fmt: skip


class TestRefusing:
    """Nothing begins that cannot end well: every reason at once, before any call."""

    def test_nobody_to_talk_to(self, suite):
        with pytest.raises(hd.ConfigError, match="there is nobody to talk to: the suite has no `model`"):
            suite.run()

    def test_agent_and_backend_together(self, suite):
        with pytest.raises(hd.ConfigError, match="`agent` and `backend` do not go together"):
            suite.run(agent=no_agent, backend="scripted")

    @pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[message[:30] for _, message in WRONG])
    def test_wrong_arguments(self, suite, arguments, message):
        with pytest.raises(hd.ConfigError) as caught:
            suite.run(**arguments)
        assert message in str(caught.value)

    def test_a_metric_that_this_version_does_not_have(self, suite):
        judged = suite.with_metrics([{"type": "geval", "name": "clear", "criteria": "clear"}])
        with pytest.raises(hd.ConfigError, match="'clear'"):
            judged.run(agent=no_agent)

    def test_a_file_that_nothing_can_fetch(self):
        turn = {"input": "q", "files": [{"url": "ftp://example.org/r.txt", "type": "text"}]}
        suite = hd.Suite(name="s", test_cases=[{"name": "f", "turns": [turn]}])
        with pytest.raises(hd.ConfigError, match=r"'f', turn 0\.files\[0\]\.url: an address begins"):
            suite.run(agent=no_agent)

    def test_a_broken_script_with_its_place(self, tmp_path):
        suite = replies(tmp_path, '"#0":\n  - {txt: one}\n')
        with pytest.raises(hd.ConfigError) as caught:
            suite.run()
        [problem] = caught.value.problems
        assert (problem.file, problem.line) == ("replies.yaml", 2)
        assert "did you mean 'text'?" in str(caught.value)

    def test_a_script_for_a_case_that_is_not_there(self, tmp_path):
        with pytest.raises(hd.ConfigError, match="the script has replies for 'cahs'"):
            replies(tmp_path, 'cahs: ["1"]\n').run()

    def test_a_broken_tool(self, tmp_path):
        (tmp_path / "tools.py").write_text("def subtract(a, b):\n    return a - b\n")
        tool = {
            "name": "subtract",
            "description": "d",
            "type": "function",
            "file": "tools.py",
            "function": "substract",
        }
        data = {"name": "s", "tools": [tool], "test_cases": [{"input": "q"}]}
        suite = hd.Suite.from_dict(data, folder=tmp_path)
        with pytest.raises(hd.ConfigError, match=r"tools\[0\].*did you mean 'subtract'"):
            suite.run(backend=hd.ScriptedBackend({"#0": ["1"]}))
        assert run(suite).passed  # a callable does not need the tools

    def test_missing_instructions(self, tmp_path):
        (tmp_path / "i.md").write_text("Be brief.")
        data = {"name": "s", "instructions": {"file": "i.md"}, "test_cases": [{"input": "q"}]}
        suite = hd.Suite.from_dict(data, folder=tmp_path)
        (tmp_path / "i.md").unlink()
        with pytest.raises(hd.ConfigError, match=r"instructions\.file: cannot read 'i\.md'"):
            suite.run(agent=no_agent)


class TestInterrupting:
    """Nothing that was played is lost."""

    def test_an_interrupt_keeps_the_finished_turns(self, suite):
        reached = threading.Event()

        def agent(text):
            if text == "q2":
                reached.set()
                time.sleep(20)
            return "1"

        def interrupt():
            reached.wait(10)
            signal.raise_signal(signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt, match=r"1 turns are kept: hd\.last_run\(\) has them"):
            run(suite, agent=agent)
        assert time.monotonic() - started < 12
        kept = hd.last_run()
        assert kept.turns["status"].tolist() == ["passed", *["skipped"] * 4]
        assert kept.failures["reason"].unique().tolist() == ["interrupted"]

    def test_a_grader_that_interrupts(self):
        def grade(context):
            raise KeyboardInterrupt

        suite = hd.Suite(name="s", test_cases=[{"input": "q"}], evaluations=[grade])
        with pytest.raises(KeyboardInterrupt, match="0 turns are kept"):
            run(suite)

    def test_a_cancelled_arun_keeps_the_finished_turns(self, suite):
        async def agent(text):
            await asyncio.sleep(0 if text == "q1" else 20)
            return "1"

        async def cell():
            running = asyncio.ensure_future(suite.arun(agent=agent, quiet=True))
            await asyncio.sleep(0.3)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

        asyncio.run(cell())
        assert hd.last_run().turns["status"].tolist() == ["passed", *["skipped"] * 4]

    def test_after_an_interrupt_the_next_run_works(self, suite):
        assert run(suite).turns["status"].tolist().count("passed") == 1
        assert hd.last_run().turns["response"].tolist() == ["1"] * 5


class TestOnTheNotebooksLoop:
    def test_it_runs_where_the_clients_were_made(self):
        import subprocess
        import sys

        code = dedent("""
            import asyncio
            import holodeck_nb as hd

            async def cell():
                here = asyncio.get_running_loop()

                async def agent(text):
                    return "3" if asyncio.get_running_loop() is here else "elsewhere"

                suite = hd.Suite(name="s", test_cases=[{"input": "q"}])
                print(suite.run(agent=agent, loop="notebook", quiet=True).turns["response"][0])
                print(suite.run(agent=agent, quiet=True).turns["response"][0])

            asyncio.run(cell())
        """)
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
        )
        assert done.stdout.split() == ["3", "elsewhere"]

    def test_without_a_running_loop_it_says_so(self, suite):
        with pytest.raises(hd.ConfigError, match="no event loop is running here"):
            run(suite, loop="notebook")


def test_partial_functions_and_objects_are_agents(suite):
    assert run(suite.select(name="case 2"), agent=functools.partial(lambda value, text: value, "3")).passed
