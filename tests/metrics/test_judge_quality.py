"""Groundedness, relevance, coherence, fluency: 1 to 5 by a judge, 0 to 1 in the result."""

import judges
import pytest
from judges import Judge, only, score

NAMES = ["groundedness", "relevance", "coherence", "fluency"]
TURN = {"retrieval_context": ["cash: 206588"]}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("number", "wanted"), [(1, 0.0), (3, 0.5), (4, 0.75), (5, 1.0)])
def test_x_less_one_by_four(name, number, wanted):
    with Judge(score(number)) as judge:
        result = only(judge.run({"type": name}, turn=TURN))
    assert (result.id, result.kind, result.score) == (name, "standard", wanted)
    assert (result.details["score"], result.details["scale"]) == (number, [1, 5])


@pytest.mark.parametrize("number", [0, 6])
def test_what_is_not_on_the_scale_is_no_score(number):
    with Judge(score(number)) as judge:
        assert only(judge.run({"type": "fluency"})).status == "error"


THRESHOLDS = [
    # threshold  score  verdict
    (4,          4,     "passed"),  # above 1: on the judge's scale
    (4,          3,     "failed"),
    (0.75,       4,     "passed"),
    (0.75,       3,     "failed"),
    (1,          4,     "failed"),  # 1 is the best there is
    (1,          5,     "passed"),
    (5,          5,     "passed"),
    (None,       1,     "scored"),
]  # fmt: skip


@pytest.mark.parametrize(("threshold", "number", "verdict"), THRESHOLDS)
def test_a_threshold_above_one_is_read_on_the_judges_scale(threshold, number, verdict):
    with Judge(score(number)) as judge:
        result = only(judge.run({"type": "relevance", "threshold": threshold}))
    assert result.status == verdict


def test_another_scale():
    with Judge(score(7)) as judge:
        result = only(judge.run({"type": "relevance", "scale": 10, "threshold": 5}))
    assert (result.status, result.score) == ("passed", 6 / 9)
    assert result.details["scale"] == [1, 10]


def test_groundedness_is_shown_the_passages_and_not_applicable_without():
    with Judge(score(5)) as judge:
        assert only(judge.run({"type": "groundedness"})).reason == "no retrieval context on this turn"
        only(judge.run({"type": "groundedness"}, turn=TURN))
    (body,) = judge.requests
    assert judges.shown(body, "passage 1") == "cash: 206588"


@pytest.mark.parametrize("name", NAMES)
def test_a_blank_reply_is_0_without_a_question(name):
    with Judge(score(5)) as judge:
        result = only(judge.run({"type": name, "threshold": 0.5}, reply=" \n", turn=TURN))
    assert (result.status, result.score) == ("failed", 0.0)
    assert result.reason == "score 0.00 is below the threshold 0.50: the reply is empty"
    assert judge.requests == []


def test_response_path_chooses_what_is_judged():
    with Judge(score(5)) as judge:
        only(judge.run({"type": "fluency", "response_path": "a.b"}, reply='{"a": {"b": "Good."}}'))
        missing = only(judge.run({"type": "fluency", "response_path": "a.c"}, reply='{"a": {"b": "Good."}}'))
    assert judges.shown(judge.requests[0], "actual_output") == "Good."
    assert (missing.status, missing.score) == ("failed", 0.0)
    assert missing.reason.startswith("response_path:")


def test_a_custom_prompt_keeps_the_scale():
    with Judge(score(5)) as judge:
        only(judge.run({"type": "fluency", "custom_prompt": "Is it English?"}))
    assert judges.prompt(judge.requests[0]).startswith(
        "Is it English?\n\nThe score is a whole number from 1 ("
    )
