"""The forms a judge answers in: a JSON schema for the provider, and a reading that trusts nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

__all__ = [
    "Form",
    "Misfit",
    "Scored",
    "Verdict",
    "answer_place",
    "numbered_verdicts",
    "read_reply",
    "score_form",
    "texts",
    "verdicts",
]

T = TypeVar("T")

_MOST_TRIES = 200  # braces that a reply may have before its answer


class Misfit(ValueError):  # noqa: N818 - what does not fit is no error yet: it is asked for again
    """A reply that is not of the form; the message says what is wrong with it."""


@dataclass(frozen=True)
class Form(Generic[T]):
    """One form of answer.

    Attributes:
        schema: Its JSON schema; every property is required, so that providers can enforce it strictly.
        shown: It as a prompt shows it.
        read: From an object with the right keys to the answer; Misfit where a value is wrong.
    """

    schema: Mapping[str, Any]
    shown: str
    read: Callable[[Mapping[str, Any]], T]


class Scored(NamedTuple):
    """A whole-number score and the judge's reason."""

    score: int
    reason: str


class Verdict(NamedTuple):
    """Yes or no to one thing, and why; `about` repeats the thing where the judge chose it."""

    yes: bool
    reason: str
    about: str = ""


def score_form(lowest: int, highest: int) -> Form[Scored]:
    """A whole number within both ends, the reason first."""
    # As a list of values: not every provider that enforces a schema knows a minimum and a maximum.
    numbers = {"type": "integer", "enum": list(range(lowest, highest + 1))}

    def read(answer: Mapping[str, Any]) -> Scored:
        score = answer["score"]
        # 8.0 is in it; 7.5 and "8" are not.
        if isinstance(score, bool) or score not in range(lowest, highest + 1):
            raise Misfit(f"`score` must be a whole number from {lowest} to {highest}, not {_shown(score)}")
        return Scored(int(score), _text(answer, "reason"))

    return Form(
        _object("score", reason={"type": "string"}, score=numbers),
        f'{{"reason": "<one or two sentences>", "score": <whole number from {lowest} to {highest}>}}',
        read,
    )


def texts(key: str, what: str) -> Form[tuple[str, ...]]:
    """A list of texts under `key`; blank ones are left out."""

    def read(answer: Mapping[str, Any]) -> tuple[str, ...]:
        items = answer[key]
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise Misfit(f"`{key}` must be a list of texts, not {_shown(items)}")
        return tuple(item.strip() for item in items if item.strip())

    schema = _object(key, **{key: {"type": "array", "items": {"type": "string"}}})
    return Form(schema, f'{{"{key}": ["<{what}>", …]}}', read)


def numbered_verdicts(what: str, count: int) -> Form[tuple[Verdict, ...]]:
    """A verdict for each of `count` numbered things, in their order; none may be missing or come twice."""

    def read(answer: Mapping[str, Any]) -> tuple[Verdict, ...]:
        found: dict[int, Verdict] = {}
        numbers = range(1, count + 1)
        for item in _items(answer):
            number = item.get("number")
            if not isinstance(number, int | float) or number not in numbers:
                raise Misfit(f"there is no {what} {_shown(number)}: `number` is from 1 to {count}")
            if number in found:
                raise Misfit(f"{what} {number} has two verdicts")
            found[int(number)] = Verdict(_yes(item), _text(item, "reason"))
        missing = [str(number) for number in numbers if number not in found]
        if missing:
            raise Misfit(f"{what} {', '.join(missing)} has no verdict")
        return tuple(found[number] for number in numbers)

    shown = _shown_list(f'"number": <of the {what}>')
    return Form(_verdict_list(number={"type": "integer"}), f"{shown}\nwith one entry for each {what}", read)


def verdicts(what: str, passages: int | None = None) -> Form[tuple[Verdict, ...]]:
    """A verdict for each thing that the judge finds itself, with the passage it is in where there are any."""
    where = {} if passages is None else {"passage": {"type": "integer"}}

    def read(answer: Mapping[str, Any]) -> tuple[Verdict, ...]:
        found = []
        for item in _items(answer):
            about = _text(item, what)
            if passages is not None:
                number = item.get("passage")
                if not isinstance(number, int | float) or number not in range(1, passages + 1):
                    raise Misfit(f"there is no passage {_shown(number)}: `passage` is from 1 to {passages}")
                about = f"passage {int(number)}: {about}"
            found.append(Verdict(_yes(item), _text(item, "reason"), about))
        if not found:
            raise Misfit(f"`verdicts` is empty: there is at least one {what}")
        return tuple(found)

    place = "" if passages is None else '"passage": <number>, '
    shown = _shown_list(f'{place}"{what}": "<as it stands>"')
    return Form(_verdict_list(**where, **{what: {"type": "string"}}), shown, read)


def read_reply(text: str, form: Form[T]) -> T:
    """The answer in a reply: the one JSON object in it of that form; fences and prose around it are borne.

    Nothing else counts: no number in a sentence is a score.

    Raises:
        Misfit: There is none, or there are several that say different things.
    """
    keys = " and ".join(f"`{key}`" for key in form.schema["properties"])
    answers: list[T] = []
    problem = f"there is no JSON object with {keys} in it"
    for _, answer in _answers(text, form):
        if isinstance(answer, Misfit):
            problem = str(answer)
        elif answer not in answers:
            answers.append(answer)
    if len(answers) > 1:
        raise Misfit("it holds several answers that differ")
    if not answers:
        raise Misfit(problem)
    return answers[0]


def answer_place(text: str, form: Form[T]) -> int | None:
    """Where the object begins that `read_reply` reads, the first if there are more; None for none."""
    places = (place for place, answer in _answers(text, form) if not isinstance(answer, Misfit))
    return next(places, None)


def _answers(text: str, form: Form[T]) -> Iterator[tuple[int, T | Misfit]]:
    """What the objects with the form's keys say, in order, and where each begins."""
    for place, found in _objects(text):
        if all(key in found for key in form.schema["properties"]):
            try:
                yield place, form.read(found)
            except Misfit as misfit:
                yield place, misfit


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The outermost JSON objects of a text, in order, and where each begins."""
    decoder = json.JSONDecoder()
    place = text.find("{")
    for _ in range(_MOST_TRIES):
        if place < 0:
            return
        try:
            found, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place = text.find("{", place + 1)
            continue
        if isinstance(found, dict):
            yield place, found
        place = text.find("{", end)


def _items(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = answer["verdicts"]
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise Misfit(f"`verdicts` must be a list of objects, not {_shown(items)}")
    return items


def _yes(item: Mapping[str, Any]) -> bool:
    verdict = item.get("verdict")
    word = verdict.strip().casefold() if isinstance(verdict, str) else verdict
    if word not in ("yes", "no"):  # no set: it may be a list, too
        raise Misfit(f"`verdict` must be yes or no, not {_shown(verdict)}")
    return bool(word == "yes")


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    if not isinstance(value, str):
        raise Misfit(f"`{key}` must be a text, not {_shown(value)}")
    return value.strip()


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:60]}…"  # noqa: PLR2004 - a message, not a document


def _shown_list(about: str) -> str:
    return f'{{"verdicts": [{{{about}, "reason": "<short>", "verdict": "yes" or "no"}}, …]}}'


def _object(title: str, **properties: Any) -> dict[str, Any]:
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _verdict_list(**properties: Any) -> dict[str, Any]:
    verdict = {"type": "string", "enum": ["yes", "no"]}
    item = _object("verdict", **properties, reason={"type": "string"}, verdict=verdict)
    del item["title"]
    return _object("verdicts", verdicts={"type": "array", "items": item})
