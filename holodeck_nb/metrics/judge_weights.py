"""Which numbers a judge might have said in place of its score, and how likely each of them was."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from .judge_forms import answer_place

if TYPE_CHECKING:
    from holodeck_nb.llm.chat_model import Completion, TokenLogprobs

    from .judge_forms import Form

__all__ = ["TOP_LOGPROBS", "Weights", "told", "weighted_mean", "weights_of"]

Weights = Mapping[int, float]
"""The numbers of a scale with their probabilities, the likeliest first; together they are 1."""

TOP_LOGPROBS = 20
"""How many alternatives are asked for: the most that OpenAI tells, and more than a scale has numbers."""

_MOST_UNCLEAR = 0.01  # the share of a "1" that may be a 10, which is let pass
_LEAST = 0.001  # a share below it cannot be seen in the details, and must not decide at a threshold
_BLANKS = re.compile(r"[ \t\n\r]*")


def weights_of(completion: Completion, form: Form[Any]) -> Weights | None:
    """The probability of each number of the scale in place of the stated score; None where it is not told.

    What is no number of the scale, or very unlikely, is left out; the rest is normalised. A token may begin
    before the number (` 7`, `:7`) and end behind it (`7}`), and a number may have several: what a stated "1"
    weighs is divided between 1 and 10 by what may follow it. Of a "1" that was not stated nothing tells what
    would have followed: it is left out where it hardly weighs. Where it does, or the stated score has no
    weight, there is None.

    Source: Liu et al. 2023, "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment", section 2,
    scoring function: the sum of p(s) * s over the scores s.
    """
    text, tokens = completion.text, completion.logprobs
    if tokens is None or (place := answer_place(text, form)) is None:
        return None
    begin, end = _value_span(text, place, "score")
    numbers = [str(number) for number in form.schema["properties"]["score"]["enum"]]
    raw, whole = b"".join(token.text for token in tokens), _bytes(text)
    offset = raw.find(whole)  # thoughts and an end mark may stand around it
    if text[begin:end] not in numbers or offset < 0 or raw.find(whole, offset + 1) >= 0:
        return None
    start = offset + len(_bytes(text[:begin]))
    ends = list(accumulate(len(token.text) for token in tokens))
    first = bisect_right(ends, start)
    before = raw[ends[first] - len(tokens[first].text) : start]
    shares = _shares(tokens[first:], numbers, before=before.decode(errors="replace"))
    if shares is None or shares.get(text[begin:end], 0.0) < _LEAST:
        return None
    likely = {int(number): share for number, share in shares.items() if share >= _LEAST}
    total = math.fsum(likely.values())
    return {number: share / total for number, share in sorted(likely.items(), key=lambda each: -each[1])}


def weighted_mean(weights: Weights) -> float:
    """The mean of the numbers by their probabilities, on their scale, to three decimals.

    >>> weighted_mean({7: 0.75, 8: 0.25})
    7.25
    """
    mean = math.fsum(number * share for number, share in weights.items())
    return round(mean, 3)


def told(weights: Weights | None) -> dict[str, Any]:
    """As a metric's details show it; empty without weights.

    >>> told({7: 0.75, 8: 0.25})
    {'weighted': 7.25, 'probabilities': {'7': 0.75, '8': 0.25}}
    """
    if weights is None:
        return {}
    shown = {str(number): round(share, 3) for number, share in weights.items()}
    return {"weighted": weighted_mean(weights), "probabilities": shown}


def _value_span(text: str, place: int, key: str) -> tuple[int, int]:
    """Where the value of a key stands in the JSON object at `place`; of a key that comes twice, the last."""
    decoder, span = json.JSONDecoder(), (place, place)
    place = _skipped(text, place + 1)
    while text[place] != "}":
        name, place = decoder.raw_decode(text, place)
        begin = _skipped(text, _skipped(text, place) + 1)
        _, end = decoder.raw_decode(text, begin)
        if name == key:
            span = begin, end
        place = _skipped(text, end)
        if text[place] == ",":
            place = _skipped(text, place + 1)
    return span


def _skipped(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    assert blanks is not None
    return blanks.end()


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


class _Choice(NamedTuple):
    """What might stand at a place: the digits so far, whether more may follow, whether the judge said it."""

    number: str
    is_open: bool
    is_said: bool


def _shares(
    tokens: Sequence[TokenLogprobs], numbers: Collection[str], *, before: str | None = None, written: str = ""
) -> dict[str, float] | None:
    """The share of 1 of each number, by what might stand from the first token on; None where it is not told.

    Args:
        tokens: From the one in which the number begins, or goes on.
        numbers: Those of the scale.
        before: What stands before the number in the first token; None where the number goes on there.
        written: The digits before the first token.
    """
    if not tokens or not tokens[0].alternatives:
        return None
    choices = _choices(tokens[0], before, written)
    seen = {choice.number for choice in choices}
    masses, unclear = dict.fromkeys(numbers, 0.0), 0.0
    for choice, mass in choices.items():
        longer = {
            number for number in numbers if number != choice.number and number.startswith(choice.number)
        }
        if choice.is_said and choice.is_open and longer:
            inner = _shares(tokens[1:], numbers, written=choice.number)
            if inner is None:
                return None
            for number, share in inner.items():
                masses[number] += mass * share
        elif choice.is_open and longer and longer.isdisjoint(seen):
            unclear += mass  # a "1" where no "10" shows that it would have been one token
        elif choice.number in masses:
            masses[choice.number] += mass
    total = math.fsum(masses.values())
    if not total or unclear > _MOST_UNCLEAR * total:
        return None
    return {number: mass / total for number, mass in masses.items()}


def _choices(token: TokenLogprobs, before: str | None, written: str) -> dict[_Choice, float]:
    """What might stand in place of a token, with its probability; without what makes no whole number."""
    found: dict[_Choice, float] = {}
    said = _after(before, token.text)
    for text, logprob in {token.text: token.logprob, **token.alternatives}.items():
        rest = _after(before, text)
        if rest is None:
            continue
        behind = rest.lstrip("0123456789")
        number = written + rest.removesuffix(behind)
        if number and not behind.startswith((".", "e", "E")):
            choice = _Choice(number, is_open=not behind, is_said=rest == said)
            found[choice] = found.get(choice, 0.0) + math.exp(logprob)
    return found


def _after(before: str | None, token: bytes) -> str | None:
    """What follows in a token after what stands before the number, blanks aside; None without that."""
    text = token.decode(errors="replace")
    if before is None:
        return text
    text, before = text.lstrip(), before.strip()
    return text[len(before) :].lstrip() if text.startswith(before) else None
