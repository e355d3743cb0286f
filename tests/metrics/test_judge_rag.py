"""The five retrieval metrics against examples worked by hand from their published formulas."""

import judges
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judges import Judge, claims, only, statements, verdicts

from holodeck_nb.metrics.judge_rag import average_precision

CONTEXT = ["Einstein was born in 1879 in Ulm.", "He moved to Berlin in 1914.", "Bread is baked."]
TURN = {"retrieval_context": CONTEXT, "ground_truth": "He was born in Ulm. He died in Princeton."}


def test_faithfulness_is_supported_claims_by_claims():
    """Es et al. 2023 (RAGAS), section 3: F = |V| / |S|; here 2 of 3 claims are supported: 2/3."""
    said = ("Einstein was born in Ulm.", "Einstein was born in 1879.", "Einstein liked Ulm.")
    with Judge(claims=claims(*said), verdicts=verdicts("yes", "yes", "no")) as judge:
        result = only(judge.run({"type": "faithfulness"}, turn=TURN))
    assert (result.status, result.score, result.threshold) == ("passed", 2 / 3, 0.5)
    assert result.reason == "2 of 3 claims supported; not supported: Einstein liked Ulm.: r3"
    first, second = judge.requests
    assert judges.shown(first, "actual_output") == "It was 206588."
    assert [judges.shown(second, f"claim {place}") for place in (1, 2, 3)] == list(said)
    assert [judges.shown(second, f"passage {place}") for place in (1, 2, 3)] == CONTEXT
    assert judges.shown(second, "actual_output") == ""  # the claims stand for it
    assert result.details["judging"]["requests"] == 2


def test_answer_relevancy_is_relevant_statements_by_statements():
    """DeepEval, "Answer Relevancy": relevant statements / statements; here 1 of 4: 0.25."""
    said = ("Hello!", "It was 206588.", "Do you like bread?", "Bye.")
    with Judge(statements=statements(*said), verdicts=verdicts("no", "yes", "no", "no")) as judge:
        result = only(judge.run({"type": "answer_relevancy"}))
    assert (result.status, result.score) == ("failed", 0.25)
    assert judges.shown(judge.requests[1], "input") == "net cash in 2009?"


PRECISIONS = [
    # Average precision by hand: the mean of the precision at each relevant rank (Manning et al. 2008, 8.4).
    ("yes yes yes", 1.0),
    ("yes no no",   1.0),                  # 1/1
    ("no yes no",   1 / 2),                # 1/2
    ("no no yes",   1 / 3),                # 1/3
    ("yes no yes",  (1 + 2 / 3) / 2),      # (1/1 + 2/3) / 2 = 0.8333
    ("no yes yes",  (1 / 2 + 2 / 3) / 2),  # (1/2 + 2/3) / 2 = 0.5833
    ("no no no",    0.0),
]  # fmt: skip


@pytest.mark.parametrize(("words", "wanted"), PRECISIONS)
def test_contextual_precision_is_average_precision(words, wanted):
    with Judge(verdicts(*words.split())) as judge:
        result = only(judge.run({"type": "contextual_precision"}, turn=TURN))
    assert result.score == pytest.approx(wanted)
    (body,) = judge.requests
    assert judges.shown(body, "expected_output") == TURN["ground_truth"]
    assert "206588" not in judges.prompt(body)  # the reply has no part in it


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_average_precision_against_its_definition(relevant):
    ranks = [rank for rank, yes in enumerate(relevant, 1) if yes]
    at = [sum(relevant[:rank]) / rank for rank in ranks]
    assert average_precision(relevant) == pytest.approx(sum(at) / len(at) if at else 0)
    assert 0 <= average_precision(relevant) <= 1
    assert average_precision(sorted(relevant, reverse=True)) in {0.0, 1.0}


def test_contextual_recall_is_attributed_sentences_by_sentences_of_the_expected_output():
    """DeepEval, "Contextual Recall": attributable / all sentences of the expected output; here 1 of 2."""
    sentences = ["He was born in Ulm.", "He died in Princeton."]
    with Judge(verdicts("yes", "no", sentence=sentences)) as judge:
        result = only(judge.run({"type": "contextual_recall"}, turn=TURN))
    assert (result.status, result.score) == ("passed", 0.5)
    assert result.reason == "1 of 2 sentences attributed; not attributed: He died in Princeton."


def test_contextual_relevancy_is_relevant_statements_by_statements_in_the_context():
    """DeepEval, "Contextual Relevancy": relevant / all statements in the context; here 3 of 4."""
    found = ["born in 1879", "born in Ulm", "moved in 1914", "bread is baked"]
    answer = verdicts("yes", "yes", "yes", "no", statement=found, passage=[1, 1, 2, 3])
    with Judge(answer) as judge:
        result = only(judge.run({"type": "contextual_relevancy"}, turn=TURN))
    assert (result.status, result.score) == ("passed", 0.75)
    assert result.details["verdicts"][3] == {
        "statement": "passage 3: bread is baked", "relevant": False, "reason": "",
    }  # fmt: skip


MISSING = [
    ("faithfulness",         {},                             "no retrieval context on this turn"),
    ("faithfulness",         {"retrieval_context": []},      "no retrieval context on this turn"),
    ("contextual_precision", {},                             "no retrieval context on this turn"),
    ("contextual_precision", {"retrieval_context": CONTEXT}, "no ground truth on this turn"),
    ("contextual_recall",    {"ground_truth": "x"},          "no retrieval context on this turn"),
    ("contextual_recall",    {"retrieval_context": CONTEXT}, "no ground truth on this turn"),
    ("contextual_relevancy", {"ground_truth": "x"},          "no retrieval context on this turn"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "turn", "reason"), MISSING)
def test_what_is_missing_makes_it_not_applicable_and_asks_nobody(name, turn, reason):
    with Judge("never") as judge:
        run = judge.run({"type": name}, turn=turn)
    result = only(run)
    assert (result.status, result.reason) == ("not_applicable", reason)
    assert judge.requests == []
    assert run.passed


@pytest.mark.parametrize("name", ["faithfulness", "answer_relevancy"])
def test_a_blank_reply_is_0_without_a_question(name):
    with Judge("never") as judge:
        result = only(judge.run({"type": name}, reply="", turn=TURN))
    assert (result.status, result.score) == ("failed", 0.0)
    assert judge.requests == []


def test_a_reply_that_claims_nothing_is_not_applicable_and_its_question_is_counted():
    with Judge(claims=claims()) as judge:
        run = judge.run({"type": "faithfulness"}, reply="I do not know.", turn=TURN)
    assert only(run).reason == "the reply makes no claim that could be checked"
    assert only(run).status == "not_applicable"
    assert run.summary.judge_usage.total_tokens == 110


def test_no_statement_in_a_reply_that_says_something_is_an_error():
    with Judge(statements=statements()) as judge:
        assert only(judge.run({"type": "answer_relevancy"})).status == "error"


def test_a_verdict_that_is_missing_is_asked_for_again_and_counts_for_nothing():
    with Judge(claims=claims("a", "b"), verdicts=verdicts("yes")) as judge:
        result = only(judge.run({"type": "faithfulness"}, turn=TURN))
    assert (result.status, result.score) == ("error", None)
    assert "claim 2 has no verdict" in result.reason
    assert len(judge.requests) == 3


def test_without_reasons_the_sentence_is_short():
    with Judge(verdicts("yes", "no", "no")) as judge:
        result = only(judge.run({"type": "contextual_precision", "include_reason": False}, turn=TURN))
    assert result.reason == "1 of 3 passages relevant"


def test_a_custom_prompt_replaces_the_question_that_decides():
    with Judge(claims=claims("a"), verdicts=verdicts("yes")) as judge:
        only(judge.run({"type": "faithfulness", "custom_prompt": "Is each claim in the text?"}, turn=TURN))
    assert not judges.prompt(judge.requests[0]).startswith("Is each")
    assert judges.prompt(judge.requests[1]).startswith("Is each claim in the text?\n\nThe texts follow")


def test_a_custom_prompt_may_name_texts_that_ours_does_without():
    own = {"type": "faithfulness", "custom_prompt": "Does {retrieval_context} support {actual_output}?"}
    with Judge(claims=claims("a"), verdicts=verdicts("yes")) as judge:
        only(judge.run(own, turn=TURN))
    assert judges.shown(judge.requests[1], "actual_output") == "It was 206588."
    assert judges.prompt(judge.requests[1]).startswith("Does the numbered passages support the text")
