"""G-Eval: criteria, steps, what the judge is shown, what its score weighs, strict mode."""

import itertools
import json

import judges
import pytest
from judges import Judge, only, probable, score, steps

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


def test_turns_that_wait_for_steps_share_what_becomes_of_them():
    cases = [{"name": str(number), "input": "?"} for number in range(6)]
    with Judge(steps=["no", "no", steps("look")], score=score(5)) as judge:
        run = judge.run(GEVAL, cases=cases, parallel_test_cases=6)
    assert set(run.metrics["status"]) == {"error"}
    assert len(judge.requests) == 2


def test_an_empty_list_of_steps_is_none():
    with Judge(steps=steps("look"), score=score(5)) as judge:
        judge.run({**GEVAL, "evaluation_steps": []})
    assert "1. look" in judges.prompt(judge.requests[1])


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


SEVEN_OR_EIGHT = probable('{"reason": "say 3", "score": ', {"7": 0.6, "8": 0.3, "9": 0.1, "0": 0.0}, "}")


def test_the_score_is_weighted_by_the_probabilities_of_its_token():
    with Judge(SEVEN_OR_EIGHT) as judge:
        result = only(judge.run({**GIVEN, "threshold": 0.8}))
    assert (judge.requests[0]["logprobs"], judge.requests[0]["top_logprobs"]) == (True, 20)
    assert result.score == pytest.approx(0.75)
    assert result.reason == "score 0.75 is below the threshold 0.80: say 3"
    assert result.details["score"] == 7  # what it states
    assert result.details["weighted"] == 7.5
    assert result.details["probabilities"] == {"7": 0.6, "8": 0.3, "9": 0.1}
    assert list(result.details)[:4] == ["score", "scale", "weighted", "probabilities"]


def test_a_ten_that_is_two_tokens():
    places = ['{"reason": "", "score": ', {"1": 0.9, "9": 0.1}, {"0": 1, "}": 0}, "}"]
    with Judge(probable(*places)) as judge:
        result = only(judge.run(GIVEN))
    assert (result.score, result.details["score"]) == (pytest.approx(0.99), 10)
    assert result.details["probabilities"] == {"10": 0.9, "9": 0.1}


UNTOLD = [None, {}, {"content": None}, {"content": []}, {"content": [{"token": "7"}]}, "yes"]


@pytest.mark.parametrize("told", UNTOLD)
def test_where_nothing_is_told_the_stated_score_counts(told):
    reply = judges.completion(score(7))
    reply["choices"][0]["logprobs"] = told
    with Judge(reply) as judge:
        result = only(judge.run(GIVEN))
    assert result.score == 0.7
    assert not {"weighted", "probabilities"} & result.details.keys()


def test_where_the_tokens_do_not_tell_which_number_it_was_the_stated_score_counts():
    with Judge(probable('{"reason": "", "score": ', {"9": 0.6, "1": 0.4}, "}")) as judge:
        result = only(judge.run(GIVEN))
    assert result.score == 0.9
    assert "weighted" not in result.details


REFUSED = [
    (403, "You are not allowed to request logprobs from this model"),
    (400, "this server tells no log probabilities"),
]


@pytest.mark.parametrize(("status", "message"), REFUSED)
def test_a_model_that_refuses_probabilities_judges_without_and_is_asked_for_them_once(status, message):
    refusal = (status, {"error": {"message": message, "type": "invalid_request_error"}}, {})
    cases = [{"name": "a", "input": "?"}, {"name": "b", "input": "?"}]
    with Judge(lambda body: refusal if "logprobs" in body else score(7)) as judge:
        run = judge.run(GIVEN, cases=cases)
    assert run.metrics["score"].tolist() == [0.7, 0.7]
    assert run.metrics["retries"].tolist() == [0, 0]
    assert ["logprobs" in body for body in judge.requests] == [True, False, False]
    assert not any("top_logprobs" in body for body in judge.requests[1:])
    assert run.summary.judging.requests == 2


def test_scores_that_are_weighted_only_now_and_then_are_told_apart():
    told = itertools.cycle([probable('{"reason": "", "score": ', {"7": 0.6, "8": 0.4}, "}"), score(7)])
    cases = [{"name": str(number), "input": "?"} for number in range(4)]
    with Judge(lambda body: next(told)) as judge:
        mixed = judge.run({**GIVEN, "threshold": 0.5}, cases=cases)
        again = mixed.rescore([{**GIVEN, "evaluation_steps": ["same"], "threshold": 0.5}], judge=judge.model)
    [text] = mixed.warnings["text"]
    assert text == (
        "2 of 4 scores of 'clarity' are weighted by the probabilities of the judge's tokens, which its"
        " provider did not tell with the others: compare them with care"
    )
    assert len(again.warnings) == 1


def test_a_server_without_schemas_judges_by_what_the_prompt_says():
    refusal = (400, {"error": {"message": "This response_format type is unavailable now"}}, {})
    with Judge(lambda body: refusal if "response_format" in body else score(7)) as judge:
        run = judge.run(GIVEN, cases=[{"name": "a", "input": "?"}, {"name": "b", "input": "?"}])
    assert run.metrics["score"].tolist() == [0.7, 0.7]
    assert ["response_format" in body for body in judge.requests] == [True, False, False]


def test_one_turn_that_a_gateway_forbids_costs_that_turn_alone():
    flagged = (403, {"error": {"message": "your input was flagged"}}, {})
    cases = [{"name": name, "input": name} for name in ("good", "bad", "fine")]
    with Judge(lambda body: flagged if judges.shown(body, "actual_output") == "bad" else score(7)) as judge:
        run = judge.run(GIVEN, cases=cases, reply=lambda text: text)
    assert run.metrics["status"].tolist() == ["scored", "error", "scored"]
    assert run.metrics["reason"][1] == (
        "the judge could not be asked: openai answered 403: your input was flagged"
    )


def test_a_refused_key_is_no_refusal_of_probabilities():
    cases = [{"name": "a", "input": "?"}, {"name": "b", "input": "?"}]
    with Judge((403, {"error": {"message": "this key may not use this model"}}, {})) as judge:
        run = judge.run(GIVEN, cases=cases)
    assert len(judge.requests) == 1
    assert run.metrics["status"].tolist() == ["error", "error"]


def test_probabilities_are_asked_for_where_they_weigh_and_nowhere_else():
    kinds = [{**GIVEN, "strict_mode": True}, {"type": "fluency"}, {"type": "answer_relevancy"}]
    with Judge(
        steps=steps("look"),
        score=score(1),
        statements=judges.statements("a"),
        verdicts=judges.verdicts("yes"),
    ) as judge:
        judge.run(GEVAL, *kinds)
    asked = [(judges.asked_for(body), "logprobs" in body) for body in judge.requests]
    assert asked == [
        ("steps", False), ("score", True), ("score", False), ("score", False),
        ("statements", False), ("verdicts", False),
    ]  # fmt: skip


def test_an_answer_asked_for_again_is_weighted_too():
    with Judge(probable({"nine": 1.0}), SEVEN_OR_EIGHT) as judge:
        assert only(judge.run(GIVEN)).details["weighted"] == 7.5
    assert judge.requests[1]["top_logprobs"] == 20


def test_a_kept_answer_keeps_its_weights_to_the_last_digit(tmp_path):
    cache = {"cache_enabled": True, "cache_dir": str(tmp_path)}
    with Judge(probable('{"reason": "", "score": ', {"7": 0.61, "8": 0.3, "6": 0.07}, "}")) as judge:
        first, second = (only(judge.run(GIVEN, **cache)) for _ in range(2))
        assert len(judge.requests) == 1
        assert second.score == first.score == pytest.approx((7 * 0.61 + 8 * 0.3 + 6 * 0.07) / 9.8, abs=1e-4)
        assert second.details["probabilities"] == first.details["probabilities"]
        (file,) = (tmp_path / "judges").glob("*.json")
        kept = json.loads(file.read_text())
        assert list(kept["weights"]) == ["7", "8", "6"]
        file.write_text(
            json.dumps({name: kept[name] for name in ("text", "model", "by")})
        )  # by an older version
        old = only(judge.run(GIVEN, **cache))
        assert (len(judge.requests), old.score, "weighted" in old.details) == (1, 0.7, False)
        damages = [[], {}, "7", {"7": "1"}, {"7": float("nan")}, {"7": -1.0}, {"seven": 1.0}]
        for number, damage in enumerate(damages, 2):
            file.write_text(json.dumps({**kept, "weights": damage}))
            assert only(judge.run(GIVEN, **cache)).score == first.score
            assert len(judge.requests) == number


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
