"""A judge over real HTTP: a server that speaks OpenAI's wire and keeps what it is sent."""

import json
import math
import re

from servers import Wired

import holodeck_nb as hd

KEY = "sk-judge-4f1c90aa"


def completion(content, *, finish_reason="stop", refusal=None, usage=(100, 10)):
    message = {"role": "assistant", "content": content} | ({"refusal": refusal} if refusal else {})
    return {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "judge-1-2026",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)},
    }


def probable(*places, **reply):
    """A completion, token by token: each its text, or `{text: probability}` with what it says first."""
    places = [place if isinstance(place, dict) else {place: 1.0} for place in places]
    told = [
        {**_token(place, next(iter(place))), "top_logprobs": [_token(place, text) for text in place]}
        for place in places
    ]
    given = completion("".join(next(iter(place)) for place in places), **reply)
    given["choices"][0]["logprobs"] = {"content": told}
    return given


def _token(place, text):
    logprob = math.log(place[text]) if place[text] else -9999.0
    return {"token": text, "bytes": list(text.encode()), "logprob": logprob}


def score(number, reason="because"):
    return json.dumps({"reason": reason, "score": number})


def steps(*texts):
    return json.dumps({"steps": list(texts)})


def claims(*texts):
    return json.dumps({"claims": list(texts)})


def statements(*texts):
    return json.dumps({"statements": list(texts)})


def verdicts(*words, **about):
    """Numbered verdicts; with `sentence=[…]` or the like, verdicts about these texts."""
    if not about:
        rows = [
            {"number": place, "reason": f"r{place}", "verdict": word} for place, word in enumerate(words, 1)
        ]
        return json.dumps({"verdicts": rows})
    rows = [
        {key: texts[place] for key, texts in about.items()} | {"reason": "", "verdict": word}
        for place, word in enumerate(words)
    ]
    return json.dumps({"verdicts": rows})


def asked_for(body):
    """The form that a request asks for: score, steps, claims, statements, verdicts."""
    return body["response_format"]["json_schema"]["name"]


def prompt(body):
    return next(message["content"] for message in body["messages"] if message["role"] == "user")


def code(body):
    """The code that the judge is told its markers carry."""
    return re.search(r"carry the code (\w+)", body["messages"][0]["content"].replace("\n", " "))[1]


def shown(body, name):
    """What stands between the markers of a text."""
    secret, text = code(body), prompt(body)
    return text.partition(f"<<<{name} {secret}>>>\n")[2].partition(f"\n<<<end of {name} {secret}>>>")[0]


class Judge:
    """Answers one after the other, the last one again and again; in one row, or in one for each form."""

    def __init__(self, *answers, **by_form):
        self._answers = list(answers)
        self._by_form = {
            name: list(given) if isinstance(given, list) else [given] for name, given in by_form.items()
        }
        self.server = Wired(self._answer)

    def _answer(self, body):
        queue = self._answers or self._by_form[asked_for(body)]
        given = queue.pop(0) if len(queue) > 1 else queue[0]
        given = given(body) if callable(given) else given
        return completion(given) if isinstance(given, str) else given

    @property
    def requests(self):
        return self.server.requests

    @property
    def model(self):
        return {"provider": "openai", "name": "judge-1", "endpoint": self.server.url, "api_key": KEY}

    def suite(self, *metrics, cases=None, **turn):
        return hd.Suite(
            name="judged",
            evaluations={"model": self.model, "metrics": list(metrics)},
            test_cases=cases or [{"input": "net cash in 2009?", **turn}],
        )

    def run(self, *metrics, reply="It was 206588.", cases=None, turn=None, **arguments):
        """Play a suite of these metrics against an agent that always says the same."""
        suite = self.suite(*metrics, cases=cases, **(turn or {}))
        agent = reply if callable(reply) else lambda text: reply
        return suite.run(agent=agent, quiet=True, **{"cache_enabled": False, **arguments})

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *error):
        self.server.__exit__(*error)


def only(run):
    """The one metric result of a run with one turn."""
    (result,) = [metric for _, turn in run.result.turns() for metric in turn.metrics]
    return result
