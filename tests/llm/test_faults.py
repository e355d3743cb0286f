from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from holodeck_nb.llm.faults import Fault, Place, error_of, retry_after_s

HEADERS = [
    ({"retry-after": "2"}, 2.0),
    ({"retry-after": "0.5"}, 0.5),
    ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ({"retry-after": "-3"}, 0.0),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "nan"}, None),
    ({}, None),
]


@pytest.mark.parametrize(("headers", "seconds"), HEADERS)
def test_retry_after(headers, seconds):
    assert retry_after_s(headers) == seconds


def test_retry_after_as_a_date():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < retry_after_s({"retry-after": date}) <= 30


def test_long_texts_are_shortened():
    text = str(error_of(Fault("status", "x\n" * 5000, status=400), Place("p", "m", "e"), attempts=1))
    assert len(text) < 700
    assert "\n" not in text


def test_what_to_start():
    place = Place("ollama", "m", "http://localhost:11434/v1", start_hint="start Ollama")
    error = error_of(Fault("refused", "x"), place, attempts=1)
    assert str(error) == "nothing answers at http://localhost:11434/v1: start Ollama"


FINAL = [
    # the fault                                            would fail again
    (Fault("status", "bad schema", status=400),            True),
    (Fault("status", "no", status=401),                    True),
    (Fault("status", "no such model", status=404),         True),
    (Fault("status", "context_length_exceeded", status=400), True),
    (Fault("status", "insufficient_quota", status=429),    True),
    (Fault("status", "slow down", status=429),             False),
    (Fault("status", "down", status=503),                  False),
    (Fault("connection", "reset"),                         False),
    (Fault("refused", "nobody"),                           False),
    (Fault("timeout", ""),                                 False),
    (Fault("malformed", "half"),                           False),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "final"), FINAL)
def test_whether_the_same_question_would_fail_again(fault, final):
    assert error_of(fault, Place("p", "m", "e"), attempts=1).final is final
