"""The probabilities of scores: found at the score's own token, or not told at all."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from judges import probable

from holodeck_nb.llm.chat_model import AssistantMessage, ChatRequest, Completion, TokenLogprobs
from holodeck_nb.llm.openai_chat import ChatCompletions
from holodeck_nb.metrics.judge_forms import score_form
from holodeck_nb.metrics.judge_weights import told, weighted_mean, weights_of

TEN = score_form(0, 10)
HEAD = '{"reason": "ok", "score": '
BARE = '{"reason": "ok", "score":'


def weights(*places):
    reply = probable(*places)
    return weights_of(ChatCompletions({}).completion(reply, ChatRequest((), top_logprobs=20)), TEN)


WEIGHED = [
    # a reply's tokens, with what might have stood in their places           the probabilities
    ([HEAD, {"7": 0.6, "8": 0.4}, "}"],                                      {7: 0.6, 8: 0.4}),
    ([HEAD, {"7": 0.3, "8": 0.1}, "}"],                                      {7: 0.75, 8: 0.25}),
    ([HEAD, {"7": 0.4, "8": 0.6}, "}"],                                      {8: 0.6, 7: 0.4}),
    ([BARE, {" 7": 0.5, " 8": 0.3, "8": 0.2}, "}"],                          {7: 0.5, 8: 0.5}),
    ([HEAD, {"7}": 0.5, "8}": 0.3, "8": 0.2}],                               {7: 0.5, 8: 0.5}),
    ([HEAD, {"7\n": 0.5, "8,": 0.5}, "}"],                                   {7: 0.5, 8: 0.5}),
    ([BARE[:-1], {": 7": 0.5, ":8": 0.3, "7": 0.2}, "}"],                    {7: 0.625, 8: 0.375}),
    ([BARE[:-2], {'": 7}': 0.5, '":8': 0.5}],                                {7: 0.5, 8: 0.5}),
    # No whole number of the scale.
    ([HEAD, {"7": 0.5, "7.5": 0.1, "11": 0.1, "-": 0.1, '"8': 0.1, "": 0.1}, "}"], {7: 1.0}),
    ([HEAD, {"7": 0.5, " ": 0.1, "eight": 0.1, "07": 0.1, "7e1": 0.1, "٧": 0.1}, "}"], {7: 1.0}),
    # 10 is one token.
    ([HEAD, {"10": 0.5, "1": 0.25, "9": 0.25}, "}"],                         {10: 0.5, 1: 0.25, 9: 0.25}),
    ([HEAD, {"9": 0.5, "1": 0.25, "10": 0.25}, "}"],                         {9: 0.5, 1: 0.25, 10: 0.25}),
    # 10 is two tokens: what "1" weighs is divided by what may follow it.
    ([HEAD, {"1": 0.8, "9": 0.2}, {"0": 0.75, "}": 0.25}, "}"],              {10: 0.6, 9: 0.2, 1: 0.2}),
    ([HEAD, {"1": 0.8, "9": 0.2}, {"}": 0.25, "0": 0.75}],                   {10: 0.6, 9: 0.2, 1: 0.2}),
    ([HEAD, {"1": 0.8, "9": 0.2}, {"0}": 0.3, "0": 0.3, "}": 0.2}],          {10: 0.6, 9: 0.2, 1: 0.2}),
    ([HEAD, {"1": 0.5, "9": 0.5}, {" }": 0.5, " 0": 0.5}],                   {1: 0.5, 9: 0.5}),
    ([HEAD, {"1": 0.5, "9": 0.5}, {"}": 0.2, "5": 0.4, ".": 0.4}],           {1: 0.5, 9: 0.5}),
    ([HEAD, {"1": 0.5, "10": 0.5}, {"}": 0.8, "0": 0.2}],                    {10: 0.6, 1: 0.4}),
    ([HEAD, {"9": 0.995, "1": 0.005}, "}"],                                  {9: 1.0}),  # too little
    # The value that is read, and no other that looks like it.
    (['{"reason": "no \\"score\\": ', {"3": 0.5, "4": 0.5}, '", "score": ', {"7": 1}, "}"], {7: 1.0}),
    (['{"a": {"score": ', {"3": 0.5, "4": 0.5}, '}, "reason": "", "score": ', {"7": 1}, "}"], {7: 1.0}),
    (['{"score": ', {"3": 0.5, "4": 0.5}, ', "reason": "", "score": ', {"7": 1}, "}"], {7: 1.0}),
    (['{"score": ', {"3": 0.5, "4": 0.5}, "} ", HEAD, {"7": 1}, "}"],        {7: 1.0}),
    (['{"score": ', {"7": 0.5, "8": 0.5}, ', "reason": "say 3"}'],           {7: 0.5, 8: 0.5}),
    ([f"Well, 3:\n```json\n{HEAD}", {"7": 0.5, "8": 0.5}, "}\n```\n3"],      {7: 0.5, 8: 0.5}),
    ([HEAD, {"7": 0.5, "8": 0.5}, "}", f" {HEAD}", {"7": 0.9, "9": 0.1}, "}"], {7: 0.5, 8: 0.5}),  # twice
]  # fmt: skip


@pytest.mark.parametrize(("places", "wanted"), WEIGHED, ids=range(len(WEIGHED)))
def test_the_probabilities_at_the_score(places, wanted):
    found = weights(*places)
    assert found == pytest.approx(wanted)
    assert list(found.values()) == sorted(found.values(), reverse=True)


NOT_CLEAR = [
    [HEAD, {"9": 0.6, "1": 0.4}, "}"],                 # "1" is 1, or the beginning of 10
    [HEAD, {"7": 0, "8": 1}, "}"],                     # what it says has no probability
    [HEAD, {"7": 0, "8": 0}, "}"],
    [HEAD, {"8": 1}, ".0}"],
    [HEAD, {"-": 1}, "0}"],
    [HEAD, "1", {"e0": 1}, "}"],
    ["nothing to read"],
    [HEAD, {"11": 1}, "}"],
]  # fmt: skip


@pytest.mark.parametrize("places", NOT_CLEAR, ids=range(len(NOT_CLEAR)))
def test_what_is_not_clear_is_no_guess(places):
    assert weights(*places) is None


def completion(text, *tokens):
    told = tuple(TokenLogprobs(token, math.log(0.5), alternatives) for token, alternatives in tokens)
    return Completion(AssistantMessage({}), text, logprobs=told)


SEVEN = (b"7", {b"7": math.log(0.5), b"8": math.log(0.5)})
TEXT = HEAD + "7}"
AROUND = [
    # the text and its tokens                                              told
    (TEXT, [(HEAD.encode(), {}), SEVEN, (b"}", {})],                       True),
    (TEXT, [(b"<think>3</think>", {}), (HEAD.encode(), {}), SEVEN, (b"}", {}), (b"<end>", {})], True),
    (TEXT, [(HEAD.encode(), {}), (b"", {}), SEVEN, (b"}", {})],            True),
    (TEXT, [(HEAD.encode(), {}), SEVEN],                                   False),  # no whole text
    (TEXT, [(b"other", {})],                                               False),
    (TEXT, [(TEXT.encode(), {}), (HEAD.encode(), {}), SEVEN, (b"}", {})],  False),  # which of both?
    (TEXT, [(HEAD.encode(), {}), (b"7", {}), (b"}", {})],                  False),  # no alternatives
    (HEAD + "10}", [(HEAD.encode(), {}), (b"1", SEVEN[1]), (b"0", {}), (b"}", {})], False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "tokens", "known"), AROUND, ids=range(len(AROUND)))
def test_the_text_is_found_among_the_tokens(text, tokens, known):
    assert weights_of(completion(text, *tokens), TEN) == (pytest.approx({7: 0.5, 8: 0.5}) if known else None)


def test_a_character_may_be_cut_and_half_of_one_is_in_no_token():
    parts = [(bytes([byte]), {}) for byte in '{"reason": "naïve 🙂", "score": '.encode()]
    found = weights_of(completion('{"reason": "naïve 🙂", "score": 7}', *parts, SEVEN, (b"}", {})), TEN)
    assert found == pytest.approx({7: 0.5, 8: 0.5})
    assert weights_of(completion('{"reason": "\ud800", "score": 7}', SEVEN), TEN) is None


@pytest.mark.parametrize(("said", "other"), [("7", "6"), ("10", "9")])
def test_what_is_too_unlikely_to_be_seen_decides_at_no_threshold(said, other):
    found = weights(HEAD, {said: 0.9995, other: 0.0005}, "}")
    assert found == {int(said): 1.0}
    assert told(found)["weighted"] == int(said)


def test_nothing_told_nothing_weighed():
    assert weights_of(Completion(AssistantMessage({}), TEXT), TEN) is None


SHARES = st.dictionaries(st.integers(0, 10), st.floats(0.05, 1), min_size=1)


@given(SHARES, st.data())
def test_the_weights_are_those_of_the_tokens_normalised(shares, data):
    said = data.draw(st.sampled_from(sorted(shares)))
    assume(10 in shares or 1 not in shares or said == 1)  # else "1" is not clear
    place = {str(number): shares[number] / 11 for number in (said, *shares)}
    found = weights(HEAD, place, "}")
    total = sum(shares.values())
    assert found == pytest.approx({number: share / total for number, share in shares.items()})
    assert math.fsum(found.values()) == pytest.approx(1)
    assert min(shares) <= weighted_mean(found) <= max(shares)


@given(SHARES, st.sampled_from(["}", " }", "\n}\n", ', "a": 1}']), st.data())
def test_how_the_text_is_cut_around_the_number_does_not_matter(shares, behind, data):
    shares = {10: 0.5} | shares  # a token of its own
    said = data.draw(st.sampled_from(sorted(shares)))
    place = {str(number): shares[number] / 11 for number in (said, *shares)}
    before = '{"reason": "ok", "score" : '
    begin, end = data.draw(st.integers(0, len(before))), data.draw(st.integers(0, len(behind)))
    cut = {f"{before[begin:]}{number}{behind[:end]}": share for number, share in place.items()}
    plain = weights(before, place, behind)
    assert weights(*before[:begin], cut, *behind[end:]) == pytest.approx(plain)


@given(SHARES, st.sampled_from([1, 10]))
def test_a_ten_of_two_tokens_weighs_what_one_of_one_token_does(shares, said):
    shares = {1: 0.5, 10: 0.25} | shares
    whole = {str(number): shares[number] / 11 for number in (said, *shares)}
    first = shares[1] + shares[10]
    digits = {"1": first / 11} | {
        str(number): share / 11 for number, share in shares.items() if number not in (1, 10)
    }
    second = {"0": shares[10] / first, "}": shares[1] / first}
    second = second if said == 10 else dict(reversed(second.items()))
    rest = ["}"] if said == 10 else []
    assert weights(HEAD, digits, second, *rest) == pytest.approx(weights(HEAD, whole, "}"))


@given(st.integers(0, 10), st.dictionaries(st.text(max_size=3), st.just(0.0)))
def test_a_certain_score_is_the_stated_one(said, others):
    found = weights(HEAD, {str(said): 1.0} | {text: 0.0 for text in others if text != str(said)}, "}")
    assert found == {said: 1.0}
    assert weighted_mean(found) == said


@given(
    st.lists(st.dictionaries(st.text('01789 .:}"e-', max_size=3), st.floats(0, 1), min_size=1), max_size=3)
)
def test_whatever_is_told_the_mean_is_within_the_scale(places):
    found = weights(HEAD, *places, "}")
    assert found is None or 0 <= weighted_mean(found) <= 10
