"""G-Eval: criteria, steps, what the judge is shown, strict mode."""

import judges
import pytest
from judges import Judge, only, score, steps

import holodeck_nb as hd

GEVAL = {"type": "geval", "name": "clarity", "criteria": "The reply is clear."}
GIVEN = {**GEVAL, "evaluation_steps": ["read it", "score it"]}


@pytest.mark.parametrize(("number", "wanted"), [(0, 0.0), (1, 0.1), (7, 0.7), (10, 1.0)])
def test_ten_is_one(number, wanted):
    with Judge(score(number)) as judge:
        result = only(judge.run(GIVEN))
    assert (result.status, result.score) == ("scored", wanted)
    assert result.details["scale"] == [0, 10]


def test_given_steps_are_asked_with_as_they_are():
    with Judge(score(5)) as judge:
        judge.run(GIVEN)
    (body,) = judge.requests
    assert "Criteria:\nThe reply is clear.\n\nSteps:\n1. read it\n2. score it\n" in judges.prompt(body)


def test_steps_are_written_once_for_all_turns_also_at_once():
    cases = [{"name": str(number), "input": "?"} for number in range(6)]
    with Judge(steps=steps("look", "decide"), score=score(5)) as judge:
        run = judge.run(GEVAL, cases=cases, parallel_test_cases=6)
    assert [judges.asked_for(body) for body in judge.requests] == ["steps"] + ["score"] * 6
    assert "The reply is clear." in judges.prompt(judge.requests[0])
    assert all("1. look\n2. decide" in judges.prompt(body) for body in judge.requests[1:])
    assert run.result.cases[0].turns[0].metrics[0].details["steps"] == ["look", "decide"]
    assert run.summary.judging.requests == 7


def test_steps_that_cannot_be_had_are_asked_for_again_on_the_next_turn():
    cases = [{"name": "a", "input": "?"}, {"name": "b", "input": "?"}]
    with Judge(steps=["no", "no", steps("look")], score=score(5)) as judge:
        run = judge.run(GEVAL, cases=cases)
    assert run.metrics["status"].tolist() == ["error", "scored"]


def test_no_steps_at_all_are_an_error():
    with Judge(steps=steps(), score=score(5)) as judge:
        result = only(judge.run(GEVAL))
    assert result.reason == "the judge wrote no steps for these criteria"


TURN = {"ground_truth": "206588", "retrieval_context": ["cash: 206588", "debt: 0"]}


def test_the_judge_is_shown_what_the_suite_says_in_its_order():
    params = ["expected_output", "actual_output", "retrieval_context", "context", "input", "tools_called"]
    with Judge(score(5)) as judge:
        judge.run({**GIVEN, "evaluation_params": params}, turn=TURN)
    (body,) = judge.requests
    order = "expected_output, actual_output, passage 1, passage 2, input, tools_called."
    assert f"The texts follow in this order: {order}" in judges.prompt(body)
    assert judges.shown(body, "passage 2") == "debt: 0"
    assert judges.shown(body, "tools_called") == "none"
    assert judges.shown(body, "expected_output") == "206588"


def test_by_default_it_is_shown_the_reply_alone():
    with Judge(score(5)) as judge:
        judge.run(GIVEN, turn=TURN)
    assert "in this order: actual_output." in judges.prompt(judge.requests[0])


def test_tool_calls_are_shown_with_arguments_and_results():
    call = hd.ToolInvocation("subtract", {"a": 3, "b": 1}, result=2)
    failed = hd.ToolInvocation("find", None, error="no row", raw_args="{oops")
    with Judge(score(5)) as judge:
        suite = judge.suite({**GIVEN, "evaluation_params": ["tools_called"]})
        suite.run(agent=lambda text: hd.Reply("2", (call, failed)), quiet=True, cache_enabled=False)
    body = judge.requests[0]
    assert judges.shown(body, "tool call 1") == "subtract({'a': 3, 'b': 1}) -> 2"
    assert judges.shown(body, "tool call 2") == "find({oops) -> error: no row"


@pytest.mark.parametrize(
    ("param", "reason"),
    [
        ("expected_output", "no ground truth on this turn"),
        ("retrieval_context", "no retrieval context on this turn"),
        ("context", "no retrieval context on this turn"),
    ],
)
def test_what_is_not_there_makes_it_not_applicable(param, reason):
    with Judge(score(5)) as judge:
        result = only(judge.run({**GIVEN, "evaluation_params": [param]}))
    assert (result.status, result.reason) == ("not_applicable", reason)
    assert judge.requests == []


def test_an_unknown_param_is_refused_at_load_with_the_list():
    with pytest.raises(hd.ConfigError) as refused:
        hd.Suite(name="s", evaluations=[{**GIVEN, "evaluation_params": ["actual_outptu"]}], test_cases=[])
    said = str(refused.value)
    assert (
        "'actual_outptu' is nothing that a judge can be shown: input, actual_output, expected_output" in said
    )
    assert "evaluation_params[0]" in said
    with pytest.raises(hd.ConfigError):
        hd.Suite(name="s", evaluations=[{**GIVEN, "evaluation_params": []}], test_cases=[])


def test_an_empty_reply_is_judged():
    with Judge(score(10)) as judge:
        result = only(judge.run({**GIVEN, "criteria": "The assistant says nothing."}, reply=""))
    assert result.score == 1.0
    assert judges.shown(judge.requests[0], "actual_output") == ""


@pytest.mark.parametrize(("number", "status"), [(1, "passed"), (0, "failed")])
def test_strict_mode_knows_all_or_nothing(number, status):
    with Judge(score(number)) as judge:
        result = only(judge.run({**GIVEN, "strict_mode": True}))
    assert (result.status, result.score) == (status, float(number))
    assert result.details["scale"] == [0, 1]
    assert "The score is 1 only if every part" in judges.prompt(judge.requests[0])


def test_strict_mode_takes_no_seven():
    with Judge(score(7)) as judge:
        result = only(judge.run({**GIVEN, "strict_mode": True}))
    assert "`score` must be a whole number from 0 to 1, not 7" in result.reason


def test_rescoring_asks_the_judge_of_the_suite_and_no_agent():
    replies = iter(["It was 206588."])
    with Judge(score(5), score(6), score(7)) as judge:
        run = judge.run(GIVEN, reply=lambda text: next(replies))
        same = run.rescore([GIVEN])
        other = run.rescore([{**GIVEN, "criteria": "short"}])
        with_model = run.rescore([{**GIVEN, "name": "other"}], judge={**judge.model, "name": "judge-2"})
    assert (only(same).score, only(other).score, only(with_model).score) == (0.5, 0.6, 0.7)
    assert len(judge.requests) == 3
    assert only(with_model).model == "openai:judge-2"


def test_rescoring_a_run_that_was_read_needs_a_model(tmp_path):
    with Judge(score(5), score(6)) as judge:
        judge.run(GIVEN).to_json(tmp_path / "report.json")
        read = hd.Run.from_json(tmp_path / "report.json")
        with pytest.raises(hd.ConfigError, match="metric 'short' needs a model to judge, and there is none"):
            read.rescore([{**GIVEN, "name": "short"}])
        again = read.rescore([{**GIVEN, "name": "short"}], judge=judge.model, folder=tmp_path)
    assert only(again).score == 0.6
