"""Faults of providers that people reported in public trackers, played over real HTTP: none happens here."""

import threading
import time

import cases_interpreter as cases
import pytest
import yaml
from servers import Wired

import holodeck_nb as hd

IDS = [
    "SES-01", "SDK-01", "SDK-03", "SDK-04", "SDK-06", "SDK-07", "SDK-10", "SDK-11", "SDK-12", "SDK-13",
    "CON-05", "SEC-03",
]  # fmt: skip
KEY = "KEY-7f3a-SECRET"

# Every request is one attempt of ours, and the waits between them are the servers' own.
pytestmark = pytest.mark.timeout(60)


class Lookup:
    """The suite's one tool, and what it was called with; slow where a case asks for it."""

    def __init__(self, seconds=0.0):
        self.calls = []
        self._seconds = seconds

    def tools(self):
        def lookup(cell: str = "r1") -> str:
            """Read a cell."""
            self.calls.append({"cell": cell})
            time.sleep(self._seconds)
            return cell.replace("r", "v")

        return [lookup]


def openai_chat(part):
    """A reply of the chat completions protocol, from the message that a case tells."""
    if isinstance(part, str):
        return _failure(part)
    message = {key: value for key, value in part.items() if key not in {"finish_reason", "usage"}}
    reply = {"choices": [{"message": {"role": "assistant", **message}}], "model": "gpt-4o"}
    if "finish_reason" in part:
        reply["choices"][0]["finish_reason"] = part["finish_reason"]
    return {**reply, **({"usage": part["usage"]} if "usage" in part else {})}


def _failure(told):
    """`401 body: …`, `429 retry-after=…`, or the text of a reply."""
    status, _, rest = told.partition(" ")
    if not status.isdigit():
        return openai_chat({"content": told, "finish_reason": "stop"})
    wait = rest.partition("retry-after=")[2]
    message = {"error": {"message": rest.removeprefix("body: ")}}
    return int(status), message, {"retry-after": wait} if wait else {}


def anthropic(part):
    return {"type": "message", "role": "assistant", "model": "claude-sonnet-5", **part}


def tool_use(name="lookup", **arguments):
    return anthropic(
        {
            "content": [
                {"type": "tool_use", "id": f"t-{time.monotonic_ns()}", "name": name, "input": arguments}
            ],
            "stop_reason": "tool_use",
        }
    )


def in_order(replies):
    waiting = iter(replies)
    return lambda body: next(waiting)


def by_case(wire):
    """Each case's own replies; its input is its name."""
    waiting = {case: iter(parts) for case, parts in wire.items()}

    def answer(body):
        part = next(waiting[body["messages"][-1]["content"]])
        return openai_chat(f"{part} x" if isinstance(part, int) else part)

    return answer


def strict_messages(replies):
    """Refuses a tool call that is not followed by its result."""
    waiting = iter(replies)

    def answer(body):
        messages = body["messages"]
        for place, message in enumerate(messages):
            calls = {b["id"] for b in message["content"] if b["type"] == "tool_use"}
            following = messages[place + 1]["content"] if place + 1 < len(messages) else []
            if calls - {b.get("tool_use_id") for b in following}:
                return 400, {"error": {"message": "tool_use without tool_result"}}, {}
        return next(waiting)

    return answer


def two_a_second():
    admitted, lock = [], threading.Lock()

    def answer(body):
        with lock:
            now = time.monotonic()
            if sum(now - moment < 1 for moment in admitted) >= 2:
                return 429, {"error": {"message": "slow down"}}, {"retry-after": "1"}
            admitted.append(now)
        return openai_chat({"content": "x", "finish_reason": "stop"})

    return answer


def server_of(case):
    """The provider's name, and what its server answers."""
    match case["wire"]:
        case {"openai_chat": parts}:
            return "openai", in_order(map(openai_chat, parts))
        case {"ollama_chat": parts}:
            return "ollama", in_order(map(openai_chat, parts))
        case {"anthropic": parts}:
            return "anthropic", in_order(map(anthropic, parts))
        case {"bad": _}:
            return "openai", by_case(case["wire"])
    if case["id"] == "SES-01":
        said = [{"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"} for text in "23"]
        return "anthropic", strict_messages([tool_use(cell="r1"), *map(anthropic, said)])
    if case["id"] == "CON-05":
        return "openai", two_a_second()
    pytest.skip("for adapters that stream; ours do not")


@pytest.fixture
def lookup(request):
    return Lookup(seconds=5.0 if "SES-01" in request.node.name else 0.0)


@pytest.mark.parametrize(
    "case",
    cases.rows("public_cases.json", lambda rows: [row for row in rows if row["id"] in IDS]),
)
def test_a_public_fault_does_not_happen_here(case, tmp_path, lookup):
    provider, answer = server_of(case)
    data = yaml.safe_load(case["suite_yaml"])
    for told in data["test_cases"]:
        if "bad" in case["wire"]:
            told["input"] = told["name"]
    with Wired(answer) as server:
        data["model"] = {"provider": provider, "name": "gpt-4o", "endpoint": server.url, "api_key": KEY}
        suite = hd.Suite.from_dict(data).with_tools(lookup.tools())
        began = time.monotonic()
        run = suite.run(quiet=True)
        outcome = cases.Outcome(run=run, seconds=time.monotonic() - began, told={"shown": shown(run)})
    check = dict(case["check"])
    mine = {key: check.pop(key) for key in list(check) if key in SEEN}
    assert cases.complaints(check, outcome) == []
    for key, wanted in mine.items():
        assert SEEN[key](run, server, lookup, wanted) == wanted, key


def shown(run):
    """All that a user gets to see of a run."""
    frames = (run.turns, run.cases, run.warnings, run.failures)
    texts = [run.to_json(), run.to_markdown(), repr(run), run._repr_html_(), repr(run.result)]
    return dict(enumerate([*texts, *(frame.to_csv() for frame in frames)]))


def by_case_and_turn(read):
    """What `read` tells of each turn that the check names."""

    def seen(run, server, lookup, wanted):
        turns = {case.name: case.turns for case in run.result.cases}
        return {
            case: {place: read(turns[case][int(place)], value) for place, value in of_case.items()}
            for case, of_case in wanted.items()
        }

    return seen


def tokens(turn, _):
    return turn.usage and {"in": turn.usage.prompt_tokens, "out": turn.usage.completion_tokens}


def requests_by_case(run, server, lookup, wanted):
    inputs = [body["messages"][-1]["content"] for body in server.requests]
    return {case: inputs.count(case) for case in wanted}


def results_by_cell(run, server, lookup, wanted):
    calls = [call for _, turn in run.result.turns() for call in turn.tool_calls]
    assert len({call.id for call in calls}) == len(calls)
    told = [
        (message["tool_call_id"], message["content"])
        for message in server.requests[-1]["messages"]
        if message["role"] == "tool"
    ]
    assert told == [(call.id, call.result) for call in calls]
    return {call.args["cell"]: call.result for call in calls}


def refusals(run, server, lookup, wanted):
    return sum("tool_result" not in str(body) for body in server.requests[1:])


SEEN = {
    "tool_executions": lambda run, server, lookup, wanted: {"lookup": lookup.calls},
    "turn_tool_calls": by_case_and_turn(lambda turn, _: len(turn.tool_calls)),
    "turn_text": by_case_and_turn(lambda turn, _: turn.response),
    "turn_field": by_case_and_turn(lambda turn, names: {name: getattr(turn, name) for name in names}),
    "turn_usage": by_case_and_turn(tokens),
    "case_usage_incomplete": lambda run, server, lookup, wanted: {
        case.name: not case.usage.complete for case in run.result.cases
    },
    "tool_results_by_arg": results_by_cell,
    "request_count": requests_by_case,
    "request_count_lte": lambda run, server, lookup, wanted: len(server.requests),
    "server_400_count": refusals,
}


def test_every_case_that_is_named_here_is_there():
    assert {row["id"] for row in cases.read("public_cases.json")} >= set(IDS)
