"""A judge's reply is read by its form alone: no number in a sentence is a score."""

import pytest

from holodeck_nb.metrics.judge_forms import (
    Misfit,
    Scored,
    numbered_verdicts,
    read_reply,
    score_form,
    texts,
    verdicts,
)

TEN = score_form(0, 10)

READ = [
    ('{"reason": "ok", "score": 9}',                          Scored(9, "ok")),
    ('{"score": 9, "reason": " ok "}',                        Scored(9, "ok")),
    ('```json\n{"reason": "ok", "score": 9}\n```',            Scored(9, "ok")),
    ('Sure! {"reason": "ok", "score": 9} Anything else?',     Scored(9, "ok")),
    ('{"reason": "ok", "score": 9.0}',                        Scored(9, "ok")),
    ('{"reason": "ok", "score": 9, "confidence": 1}',         Scored(9, "ok")),
    ('{"a": {"score": 1}} {"reason": "ok", "score": 9}',      Scored(9, "ok")),  # the first has other keys
    ('{"reason": "a } { b", "score": 0}',                     Scored(0, "a } { b")),
    ('{"reason": "", "score": 10} {"reason": "", "score": 10}', Scored(10, "")),  # twice the same
    ('{ oops {"reason": "ok", "score": 3}',                   Scored(3, "ok")),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "answer"), READ, ids=range(len(READ)))
def test_a_score_is_read_from_its_field(reply, answer):
    assert read_reply(reply, TEN) == answer


NONE = "there is no JSON object with `reason` and `score` in it"
WHOLE = "`score` must be a whole number from 0 to 10, not "
UNREAD = [
    ("There are 5 reasons why this is a 9",        NONE),
    ("This is not excellent",                      NONE),
    ("",                                           NONE),
    ("9",                                          NONE),
    ('{"score": 9}',                               NONE),
    ('{"reason": "x", "score": 11}',               WHOLE + "11"),
    ('{"reason": "x", "score": -1}',               WHOLE + "-1"),
    ('{"reason": "x", "score": 7.5}',              WHOLE + "7.5"),
    ('{"reason": "x", "score": "9"}',              WHOLE + '"9"'),
    ('{"reason": "x", "score": true}',             WHOLE + "true"),
    ('{"reason": "x", "score": null}',             WHOLE + "null"),
    ('{"reason": "x", "score": NaN}',              WHOLE + "NaN"),
    ('{"reason": "x", "score": [9]}',              WHOLE + "[9]"),
    ('{"reason": 3, "score": 9}',                  "`reason` must be a text, not 3"),
    ('{"reason": "x", "score": 9} {"reason": "x", "score": 2}', "it holds several answers that differ"),
    ("{" * 100_000,                                NONE),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "problem"), UNREAD, ids=range(len(UNREAD)))
def test_whatever_else_is_no_score(reply, problem):
    with pytest.raises(Misfit) as misfit:
        read_reply(reply, TEN)
    assert str(misfit.value) == problem


def numbered(*pairs):
    rows = [f'{{"number": {number}, "reason": "", "verdict": {verdict}}}' for number, verdict in pairs]
    return f'{{"verdicts": [{", ".join(rows)}]}}'


def test_numbered_verdicts_come_in_the_order_of_their_numbers():
    found = read_reply(numbered((2, '"no"'), (1, '"Yes "')), numbered_verdicts("claim", 2))
    assert [verdict.yes for verdict in found] == [True, False]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (numbered((1, '"yes"')), "claim 2 has no verdict"),
        (numbered((1, '"yes"'), (1, '"no"')), "claim 1 has two verdicts"),
        (numbered((1, '"yes"'), (3, '"no"')), "there is no claim 3: `number` is from 1 to 2"),
        (numbered((1, '"idk"'), (2, '"no"')), '`verdict` must be yes or no, not "idk"'),
        (numbered((1, '["yes"]'), (2, '"no"')), '`verdict` must be yes or no, not ["yes"]'),
        (numbered(('"1"', '"yes"')), 'there is no claim "1": `number` is from 1 to 2'),
        ('{"verdicts": {"1": "yes"}}', '`verdicts` must be a list of objects, not {"1": "yes"}'),
    ],
)
def test_verdicts_that_do_not_fit(reply, problem):
    with pytest.raises(Misfit) as misfit:
        read_reply(reply, numbered_verdicts("claim", 2))
    assert str(misfit.value) == problem


def test_texts_leave_blanks_out_and_take_nothing_but_text():
    assert read_reply('{"claims": [" a ", "", "b"]}', texts("claims", "one claim")) == ("a", "b")
    with pytest.raises(Misfit, match="must be a list of texts"):
        read_reply('{"claims": [1]}', texts("claims", "one claim"))


def test_a_passage_that_is_not_there_does_not_fit():
    reply = '{"verdicts": [{"passage": 3, "statement": "a", "reason": "", "verdict": "yes"}]}'
    with pytest.raises(Misfit, match="there is no passage 3"):
        read_reply(reply, verdicts("statement", passages=2))
    with pytest.raises(Misfit, match="`verdicts` is empty"):
        read_reply('{"verdicts": []}', verdicts("statement", passages=2))


@pytest.mark.parametrize(
    "form", [TEN, texts("steps", "one step"), numbered_verdicts("claim", 2), verdicts("sentence")]
)
def test_every_form_can_be_enforced_strictly(form):
    def objects(schema):
        if isinstance(schema, dict):
            if schema.get("type") == "object":
                yield schema
            for value in schema.values():
                yield from objects(value)

    for each in objects(form.schema):
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
