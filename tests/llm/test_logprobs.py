"""Token probabilities as servers tell them, and as they should not."""

import math

import pytest

from holodeck_nb.llm.chat_model import ChatRequest, TokenLogprobs, UserMessage
from holodeck_nb.llm.logprobs import read_logprobs
from holodeck_nb.llm.openai_chat import ChatCompletions


def told(token="7", logprob=-0.1, raw=None, top=()):
    return {"token": token, "logprob": logprob, "bytes": raw, "top_logprobs": list(top)}


def test_tokens_with_their_alternatives():
    eight = {"token": "8", "logprob": -2.5, "bytes": [56]}
    assert read_logprobs({"content": [told(top=[told(), eight]), told("}", 0)]}) == (
        TokenLogprobs(b"7", -0.1, {b"7": -0.1, b"8": -2.5}),
        TokenLogprobs(b"}", 0.0, {}),
    )


ONE = [
    #  what is told                                  text        logprob
    (told(raw=[55]),                                 b"7",       -0.1),
    (told("\\xe2\\x82", raw=[226, 130]),             b"\xe2\x82", -0.1),   # a part of a character
    (told("é"),                                      "é".encode(), -0.1),
    (told("<end>", raw=[]),                          b"<end>",   -0.1),
    (told(raw=300),                                  b"7",       -0.1),     # no list: the text it is
    (told(logprob=-9999.0),                          b"7",       -9999.0),
    (told(logprob=-math.inf),                        b"7",       -math.inf),
    (told(logprob=0),                                b"7",       0.0),
    (told(logprob=1e-7),                             b"7",       0.0),      # rounded by a server
    ({"token": "7", "logprob": -1, "unknown": [1]},  b"7",       -1.0),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "text", "logprob"), ONE)
def test_one_token(entry, text, logprob):
    assert read_logprobs({"content": [entry]}) == (TokenLogprobs(text, logprob, {}),)


UNREAD = [
    told(logprob=None), told(logprob="-1"), told(logprob=math.nan), told(logprob=True), told(logprob=0.9),
    told(logprob=-(10**400)), told(token=None), told(token=7), told(token="\ud800"), told(raw=[300]),
    told(raw=["7"]), told(top=[None]), told(top=[told(logprob=None)]), told() | {"top_logprobs": 5},
    told() | {"top_logprobs": {"7": -1}}, {"token": "7"}, {"logprob": -1}, {}, None, "7", [], 7,
]  # fmt: skip


@pytest.mark.parametrize("entry", UNREAD, ids=range(len(UNREAD)))
def test_one_that_cannot_be_read_makes_all_unknown(entry):
    assert read_logprobs({"content": [told(), entry]}) is None


@pytest.mark.parametrize("content", [None, {}, "7", 7, []])
def test_none_are_unknown(content):
    assert read_logprobs({"content": content}) is None
    assert read_logprobs(content) is None


def test_of_a_text_that_is_told_twice_the_likelier_counts():
    (token,) = read_logprobs({"content": [told(top=[told(logprob=-0.1), told(logprob=-7)])]})
    assert token.alternatives == {b"7": -0.1}


@pytest.mark.parametrize(("asked", "known"), [(20, True), (0, False)])
def test_what_nobody_asked_for_is_not_read(asked, known):
    request = ChatRequest((UserMessage("q"),), top_logprobs=asked)
    choice = {"message": {"content": "7"}, "logprobs": {"content": [told()]}}
    completion = ChatCompletions({}).completion({"choices": [choice]}, request)
    assert (completion.logprobs is not None) is known


def test_a_reply_without_them_is_a_reply():
    request = ChatRequest((UserMessage("q"),), top_logprobs=20)
    for said in ({}, {"logprobs": None}, {"logprobs": {"content": None}}, {"logprobs": 3}):
        reply = {"choices": [{"message": {"content": "7"}, **said}]}
        completion = ChatCompletions({}).completion(reply, request)
        assert (completion.text, completion.logprobs) == ("7", None)
