"""Attempts, waits and the common pace, with a wire that answers from a list."""

import asyncio
import math
import time

import pytest

from holodeck_nb.errors import RunStoppedError, SessionLostError, TurnError
from holodeck_nb.llm import exchange
from holodeck_nb.llm.chat_model import Occasion
from holodeck_nb.llm.exchange import LiveExchange, Patience
from holodeck_nb.llm.faults import Fault, MalformedReplyError, Place, WireError
from holodeck_nb.llm.masking import Mask

PLACE = Place("openai", "gpt-4o", "http://127.0.0.1:1/v1", key_variable="OPENAI_API_KEY")
GOOD = {"ok": True}


class ListWire:
    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.bodies = []

    async def send(self, body):
        self.bodies.append(dict(body))
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Fault):
            raise WireError(outcome)
        return outcome

    async def close(self):
        self.bodies.append("closed")


def status(code, text="no", wait=None):
    return Fault("status", text, status=code, retry_after_s=wait)


def check(reply):
    if not reply.get("ok"):
        raise MalformedReplyError("not ok")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(exchange, "_BACK_OFF_S", 0.002)


def send(wire, retries=2, body=(("temperature", 0.3),), seconds=60.0, unasked=("temperature",)):
    async def one():
        patience = Patience(retries, math.inf, frozenset(unasked))
        live = LiveExchange(PLACE, wire, check, patience, Mask(["SECRET-KEY-1"]))
        now = time.monotonic()
        try:
            return await live.send(dict(body), Occasion(("c", 0), now, now + seconds, seconds))
        finally:
            notices.extend(await live.close())

    notices = []
    return asyncio.run(one())


@pytest.mark.parametrize(
    "fault",
    [
        *map(status, (429, 500, 502, 503, 504, 529)),
        Fault("connection", "reset"),
        Fault("refused", "no"),
        Fault("malformed", "x"),
        {"not": "ok"},
    ],
    ids=str,
)
def test_what_is_tried_again(fault):
    wire = ListWire(fault, fault, GOOD)
    if isinstance(fault, Fault) and fault.status in {429, 529}:
        wire.outcomes[:2] = [status(fault.status, wait=0.01)] * 2
    assert send(wire) == GOOD
    assert len(wire.bodies) == 4  # closed at last


STOPPED, LOST = RunStoppedError, SessionLostError
FINAL = [
    #  fault                                               error      says
    (status(400, "bad"),                                   TurnError, "openai answered 400: bad"),
    (status(422, "bad"),                                   TurnError, "openai answered 422: bad"),
    (status(401, "no SECRET-KEY-1"),                       STOPPED,   "no ***; check the key in OPENAI_A"),
    (status(403),                                          STOPPED,   "OPENAI_API_KEY"),
    (status(404),                                          STOPPED,   "is the model 'gpt-4o' there, at"),
    (status(400, "too long (context_length_exceeded)"),    LOST,      "fits into the model's context"),
    (status(400, "prompt is too long: 9 > 8 maximum"),     LOST,      "no longer fits"),
    (status(413, "request_too_large"),                     LOST,      "no longer fits"),
    (status(429, "You exceeded … (insufficient_quota)"),   TurnError, "insufficient_quota"),
    (status(429, "daily quota", wait=86400),               TurnError, "it asks to wait 86400 s, and a turn"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "kind", "says"), FINAL, ids=[f"{row[0].status}-{row[2][:12]}" for row in FINAL]
)
def test_what_is_never_tried_again(fault, kind, says):
    wire = ListWire(fault, GOOD)
    with pytest.raises(TurnError) as caught:
        send(wire)
    assert type(caught.value) is kind
    assert says in str(caught.value)
    assert len(wire.bodies) == 2


def test_retries_zero_means_none_also_for_a_rate_limit():
    for fault in (status(500), status(429, wait=0.01)):
        wire = ListWire(fault, GOOD)
        with pytest.raises(TurnError):
            send(wire, retries=0)
        assert len(wire.bodies) == 2


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        (status(500, "boom"), TurnError, "openai answered 500 after 3 attempts: boom"),
        (Fault("connection", "reset"), TurnError, "broke after 3 attempts: reset"),
        (Fault("malformed", "half"), TurnError, "openai sent a malformed reply after 3 attempts: half"),
        (Fault("timeout", ""), TurnError, "timeout: openai did not answer in time after 3 attempts"),
        (
            Fault("refused", "x"),
            SessionLostError,
            "nothing answers at http://127.0.0.1:1/v1 after 3 attempts",
        ),
    ],
)
def test_patience_ends(fault, kind, says):
    wire = ListWire(fault, fault, fault, GOOD)
    with pytest.raises(TurnError) as caught:
        send(wire)
    assert type(caught.value) is kind
    assert says in str(caught.value)
    assert len(wire.bodies) == 4


def test_a_setting_that_nobody_asked_for_is_given_up():
    refused = status(400, "Unsupported value: 'temperature' does not support 0.3 with this model.")
    wire = ListWire(refused, GOOD)
    assert send(wire, body={"temperature": 0.3, "x": 1}.items()) == GOOD
    assert wire.bodies[:2] == [{"temperature": 0.3, "x": 1}, {"x": 1}]


def test_a_setting_that_was_asked_for_is_not():
    with pytest.raises(TurnError, match="temperature"):
        send(ListWire(status(400, "Unsupported value: 'temperature'"), GOOD), unasked=())


def test_the_limit_of_tokens_has_two_names():
    wanted = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    wire = ListWire(status(400, wanted), GOOD)
    send(wire, body={"max_tokens": 9}.items())
    assert wire.bodies[1] == {"max_completion_tokens": 9}
    wire = ListWire(status(422, "max_completion_tokens: extra fields not permitted"), GOOD)
    send(wire, body={"max_completion_tokens": 9}.items())
    assert wire.bodies[1] == {"max_tokens": 9}


ASKED_FOR_PROBABILITIES = {"x": 1, "logprobs": True, "top_logprobs": 20}
REFUSALS = [
    (403, "You are not allowed to request logprobs from this model (invalid_request_error)"),
    (400, "Logprobs is not enabled for models/gemini-2.5-pro"),
    (422, '{"detail":[{"type":"extra_forbidden","loc":["body","top_logprobs"]}]}'),
    (400, "log probabilities cannot be had here"),
]


@pytest.mark.parametrize(("code", "text"), REFUSALS)
def test_probabilities_are_given_up_both_together_and_for_good(code, text):
    async def twice():
        live = LiveExchange(PLACE, wire, check, Patience(0, math.inf), Mask([]))
        for _ in range(2):
            await live.send(ASKED_FOR_PROBABILITIES, Occasion())
        await live.close()

    wire = ListWire(status(code, text), GOOD, GOOD)
    asyncio.run(twice())
    assert wire.bodies == [ASKED_FOR_PROBABILITIES, {"x": 1}, {"x": 1}, "closed"]


LIMITS = [
    "Requested sample logprobs of 20, which is greater than max allowed: 5",
    "top_logprobs must be between 0 and 5",
    "ensure that top_logprobs is at most 5",
    "top_logprobs: Input should be less than or equal to 5",
]


@pytest.mark.parametrize("text", LIMITS)
def test_fewer_probabilities_are_asked_for_where_a_server_names_its_limit(text):
    async def twice():
        live = LiveExchange(PLACE, wire, check, Patience(0, math.inf), Mask([]))
        for _ in range(2):
            await live.send(ASKED_FOR_PROBABILITIES, Occasion())

    fewer = {**ASKED_FOR_PROBABILITIES, "top_logprobs": 5}
    wire = ListWire(status(400, text), GOOD, status(400, "no logprobs after all"), GOOD)
    asyncio.run(twice())
    assert wire.bodies == [ASKED_FOR_PROBABILITIES, fewer, fewer, {"x": 1}]


@pytest.mark.parametrize("body", [ASKED_FOR_PROBABILITIES, {"x": 1}])
@pytest.mark.parametrize("text", ["Incorrect API key provided", "the project has no access to this model"])
def test_a_refused_key_still_stops_where_probabilities_were_asked_for(body, text):
    wire = ListWire(status(403, text))
    with pytest.raises(RunStoppedError):
        send(wire, body=body.items())


def test_probabilities_are_refused_once_and_the_key_after_that():
    wire = ListWire(*[status(403, "You are not allowed to request logprobs from this model")] * 2)
    with pytest.raises(RunStoppedError):
        send(wire, body=ASKED_FOR_PROBABILITIES.items())
    assert wire.bodies == [ASKED_FOR_PROBABILITIES, {"x": 1}, "closed"]


def test_concessions_end():
    refused = status(400, "temperature max_completion_tokens is refused in any form")
    with pytest.raises(TurnError, match="400"):
        send(ListWire(*[refused] * 9), body={"temperature": 1, "max_tokens": 9}.items())


class LimitedWire:
    """Lets two requests through in any stretch of `window` seconds."""

    def __init__(self, window):
        self.window = window
        self.admitted = []
        self.refused = 0

    async def send(self, body):
        await asyncio.sleep(0.001)
        now = time.monotonic()
        recent = [moment for moment in self.admitted if now - moment < self.window]
        if len(recent) >= 2:
            self.refused += 1
            raise WireError(status(429, wait=self.window))
        self.admitted.append(now)
        return GOOD

    async def close(self):
        pass


def test_a_rate_limit_costs_time_and_not_turns():
    wire = LimitedWire(0.1)

    async def many():
        live = LiveExchange(PLACE, wire, check, Patience(1, math.inf), Mask([]))
        now = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for number in range(24):
                group.create_task(live.send({}, Occasion((str(number), 0), now + number, now + 60, 60)))
        return await live.close()

    [notice] = asyncio.run(many())
    assert len(wire.admitted) == 24
    assert notice.startswith("openai asked ")
    assert "requests waited" in notice
    assert wire.refused < 24 * 1.6  # the first burst is refused once, hardly anything after it
