"""Public cases as tests: play a case's suite, then hold what came of it against the words of its `check`."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import holodeck_nb as hd

SHARED = Path(__file__).resolve().parents[3] / "shared"
CASES = SHARED / "cases"


def rows(file: str, pick=lambda data: data, name=lambda row: row["id"]):
    """The rows of a shared file as parameters; a visible skip where the file is not there."""
    if not (CASES / file).exists():
        reason = f"../shared/cases/{file} is not beside the project"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(row, id=name(row)) for row in pick(read(file))]


def read(file: str) -> Any:
    """A shared file; skips visibly where it is not there."""
    if not (CASES / file).exists():
        pytest.skip(f"../shared/cases/{file} is not beside the project")
    return json.loads((CASES / file).read_text(encoding="utf-8"))


def missing_from_contract(sentences) -> list[str]:
    """Which of the sentences stand neither in the contract nor in the cases' README, blanks aside."""
    pages = [SHARED / "CONTRACT.md", CASES / "README.md"]
    if not all(page.exists() for page in pages):
        pytest.skip("the contract is not beside the project")
    text = " ".join(" ".join(page.read_text(encoding="utf-8").split()) for page in pages)
    return [sentence for sentence in sentences if " ".join(sentence.split()) not in text]


@dataclass
class Outcome:
    """What came of a case: a refusal, or a run; and what only the one who played it can tell."""

    error: hd.ConfigError | None = None
    run: hd.Run | None = None
    backend: Any = None
    seconds: float = 0.0
    told: dict[str, Any] = field(default_factory=dict)

    def turns(self, case):
        return self.case(case).turns

    def case(self, name):
        assert self.run is not None, f"the suite was refused: {self.error}"
        return next(case for case in self.run.result.cases if case.name == name)


def play(case: dict[str, Any], folder: Path, **arguments: Any) -> Outcome:
    """Load the case's suite from a file in `folder` and run it with its scripted replies."""
    file = folder / "agent.yaml"
    file.write_text(case["suite_yaml"], encoding="utf-8")
    outcome = Outcome()
    began = time.monotonic()
    try:
        suite = hd.Suite.from_yaml(file)
        if "agent" not in arguments:
            outcome.backend = arguments.pop("backend", None) or hd.ScriptedBackend(
                case.get("scripted_replies", {})
            )
            arguments["backend"] = outcome.backend
        outcome.run = suite.run(quiet=True, **arguments)
    except hd.ConfigError as error:
        outcome.error = error
    outcome.seconds = time.monotonic() - began
    return outcome


def complaints(check: dict[str, Any], outcome: Outcome) -> list[str]:
    """What in the outcome is not as `check` wants it; a key without a meaning is an error of the test."""
    found: list[str] = []
    for key, wanted in check.items():
        if key == "any_of":
            ways = [complaints(way, outcome) for way in wanted]
            if all(ways):
                found.append(f"none of the ways: {ways}")
        elif key == "never":
            found += [
                f"never {what} {text!r}"
                for what, texts in wanted.items()
                for text in texts
                if outcome.error is None and not complaints({what: [text]}, outcome)
            ]
        elif key in {"first", "second", "second_run_without_env"}:
            found += [f"{key}: {text}" for text in complaints(wanted, outcome.told[key])]
        else:
            found += [f"{key}: {text}" for text in MEANING[key](outcome, wanted)]
    if outcome.error is not None and not {"load", "any_of", "first"} & check.keys():
        found.append(f"the suite was refused: {outcome.error}")
    return found


def _differs(what: str, got: Any, wanted: Any) -> Iterator[str]:
    if got != wanted:
        yield f"{what}: wanted {wanted!r}, got {got!r}"


def _load(outcome, wanted):
    got = "ok" if outcome.error is None else "error"
    yield from _differs("load", got, wanted)
    if got != wanted and outcome.error is not None:
        yield str(outcome.error)


def _mentions_all(outcome, texts):
    return (f"{text!r} is not in {str(outcome.error)!r}" for text in texts if text not in str(outcome.error))


def _mentions_none(outcome, texts):
    return (f"{text!r} is in {str(outcome.error)!r}" for text in texts if text in str(outcome.error))


def _problem_count(outcome, wanted):
    return _differs("problems", len(outcome.error.problems), wanted)


def _agent_calls(outcome, wanted):
    sent = getattr(outcome.backend, "sent", {})
    return _differs("sends", sum(map(len, sent.values())), wanted)


def _turn_passed(outcome, wanted):
    for name, verdicts in wanted.items():
        turns = outcome.turns(name)
        got = [turn.passed for turn in turns]
        if got != verdicts:
            yield f"{name}: wanted {verdicts}, got {got}: {[turn.reason for turn in turns]}"


def _case_passed(outcome, wanted):
    for name, verdict in wanted.items():
        yield from _differs(name, outcome.case(name).passed, verdict)


def _turn_status(outcome, wanted):
    for name, statuses in wanted.items():
        got = [turn.status for turn in outcome.turns(name)]
        same = len(got) == len(statuses) and all(
            mine == theirs or (mine, theirs) == ("error", "failed")
            for mine, theirs in zip(got, statuses, strict=True)
        )
        if not same:
            yield f"{name}: wanted {statuses}, got {got}"


def _turn_reason_mentions(outcome, wanted):
    for name, turns in wanted.items():
        for place, texts in turns.items():
            reason = outcome.turns(name)[int(place)].reason or ""
            yield from (
                f"{name}[{place}]: {text!r} is not in {reason!r}" for text in texts if text not in reason
            )


def _turn_metric(outcome, wanted):
    for name, turns in wanted.items():
        for place, scores in turns.items():
            got = {metric.id: metric.score for metric in outcome.turns(name)[int(place)].metrics}
            for metric, score in scores.items():
                if got.get(metric) != pytest.approx(score):
                    yield f"{name}[{place}].{metric}: wanted {score}, got {got}"


def _turn_metric_status(outcome, wanted):
    for name, statuses in wanted.items():
        for turn, status in zip(outcome.turns(name), statuses, strict=True):
            got = ["ok" if metric.measured else metric.status for metric in turn.metrics]
            if not got or set(got) != {status}:
                yield f"{name}[{turn.turn}]: wanted {status}, got {got}: {turn.reason}"


def _turn_metric_passed(outcome, wanted):
    for name, turns in wanted.items():
        for place, verdicts in turns.items():
            got = {metric.id: metric.passed for metric in outcome.turns(name)[int(place)].metrics}
            yield from _differs(f"{name}[{place}]", {key: got.get(key) for key in verdicts}, verdicts)


def _turn_metric_passed_list(outcome, wanted):
    for name, turns in wanted.items():
        for place, verdicts in turns.items():
            metrics = outcome.turns(name)[int(place)].metrics
            yield from _differs(f"{name}[{place}]", [metric.passed for metric in metrics], verdicts)
            yield from _differs("distinct ids", len({metric.id for metric in metrics}), len(verdicts))


def _rollup(outcome, wanted):
    for name, metrics in wanted.items():
        for metric, facts in metrics.items():
            got = outcome.case(name).metrics[metric]
            known = {
                "score": got.mean,
                "score_approx": got.mean,
                "n_scored": got.n,
                "n_total": got.n + got.n_error,
                "passed": got.passed,
            }
            for fact, value in facts.items():
                if known[fact] != pytest.approx(value):
                    yield f"{name}.{metric}.{fact}: wanted {value}, got {known[fact]}"


def _rollup_rows(outcome, wanted):
    report = json.loads(outcome.run.to_json())["results"]
    for (name, count), entry in zip(wanted.items(), report, strict=True):
        ids = list(outcome.case(name).metrics)
        yield from _differs(name, len(ids), count)
        yield from _differs("in the report", [part["metric_name"] for part in entry["metric_results"]], ids)
        yield from _differs("in the frame", [c for c in outcome.run.cases.columns if c in ids], ids)


def _summary_metric(outcome, wanted):
    for metric, facts in wanted.items():
        got = outcome.run.summary.metrics[metric]
        known = {"mean": got.mean, "n_scored": got.n, "n_error": got.n_error}
        yield from _differs(metric, {fact: known[fact] for fact in facts}, facts)


def _all_scores(outcome, wanted):
    scores = [metric.score for _, turn in outcome.run.result.turns() for metric in turn.metrics]
    if not scores or set(scores) != {wanted}:
        yield f"wanted {wanted} everywhere, got {scores}"


def _history_at_turn(outcome, wanted):
    for name, turns in wanted.items():
        for place, messages in turns.items():
            yield from _differs(f"{name}[{place}]", outcome.backend.history[name][int(place)], messages)


def _history_never_contains(outcome, texts):
    everything = repr(outcome.backend.history)
    return (f"{text!r} was sent" for text in texts if text in everything)


def _max_seconds(outcome, seconds):
    if outcome.seconds > seconds:
        yield f"it took {outcome.seconds:.1f} s"


def _case_seconds_lt(outcome, wanted):
    # A loaded machine may be slow: what counts is that a case did not wait for the one that blocks.
    first, *later = sorted(outcome.run.result.cases, key=lambda case: case.finished_at)
    for name, seconds in wanted.items():
        took = outcome.case(name).duration_ms / 1000
        if took > seconds and first.name != name:
            yield f"{name} took {took:.2f} s, and {first.name} ended before it; after it {later}"


def _turn_input_equals(outcome, wanted):
    for name, inputs in wanted.items():
        yield from _differs(name, [turn.input for turn in outcome.turns(name)], inputs)
        yield from _differs("sent", outcome.backend.sent[name], inputs)


def _order(outcome, names):
    run = outcome.run
    yield from _differs("records", [case.name for case in run.result.cases], names)
    yield from _differs("run.cases", run.cases["case"].tolist(), names)
    yield from _differs("run.turns", run.turns["case"].tolist(), names)
    yield from _differs(
        "report", [entry["test_name"] for entry in json.loads(run.to_json())["results"]], names
    )


def _case_passed_by_index(outcome, verdicts):
    yield from _differs("cases", [case.passed for case in outcome.run.result.cases], verdicts)


def _rows(outcome, count):
    yield from _differs("rows", len(outcome.run.cases), count)
    yield from _differs("distinct names", outcome.run.cases["case"].nunique(), count)


def _details(outcome, wanted):
    seen = [metric.details for _, turn in outcome.run.result.turns() for metric in turn.metrics]
    if wanted not in seen:
        yield f"wanted {wanted}, got {seen}"


def _report_contains(outcome, texts):
    whole = outcome.run.to_json() + outcome.run.to_markdown() + outcome.run._repr_html_()
    return (f"{text!r} is not in the reports" for text in texts if text not in whole)


def strict_json(text: str) -> Any:
    """What the text holds; raises on NaN and Infinity."""

    def refuse(word):
        raise ValueError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


_JSON_TYPES = {"number": (int, float), "boolean": bool}


def _values_under(key: str, data: Any) -> Iterator[Any]:
    if isinstance(data, dict):
        for name, value in data.items():
            if name == key:
                yield value
            yield from _values_under(key, value)
    elif isinstance(data, list):
        for item in data:
            yield from _values_under(key, item)


def _report_json(outcome, wanted):
    text = outcome.run.to_json()
    data = strict_json(text)
    yield from (f"{part!r} is not in it" for part in wanted.get("contains", ()) if part not in text)
    yield from (f"{part!r} is in it" for part in wanted.get("lacks", ()) if part in text)
    for key, kind in wanted.get("types", {}).items():
        bad = [value for value in _values_under(key, data["results"]) if not _is(value, _JSON_TYPES[kind])]
        yield from _differs(f"{key} that are no {kind}", bad, [])


def _is(value, kinds):
    return isinstance(value, kinds) and (kinds is bool or not isinstance(value, bool))


_CELL_BORDER = re.compile(r"(?<!\\)(?:\\\\)*\|")


def markdown_tables(text: str) -> Iterator[list[int]]:
    """For each table outside code blocks, how many cells each of its rows has."""
    fence, table = None, []
    for line in [*text.split("\n"), ""]:
        ticks = re.match(r"`{3,}", line)
        if ticks and (fence is None or (len(ticks[0]) >= len(fence) and not line[len(ticks[0]) :].strip())):
            fence = ticks[0] if fence is None else None
        if fence is None and line.startswith("|"):
            table.append(len(_CELL_BORDER.findall(line)) - 1)
        elif table:
            yield table
            table = []


def _report_md(outcome, wanted):
    text = outcome.run.to_markdown()
    tables = list(markdown_tables(text))
    if not tables or any(len(set(widths)) != 1 for widths in tables):
        yield f"tables whose rows are not alike: {tables}"
    yield from (f"{part!r} is gone" for part in wanted["text_kept"] if part not in text)


class Page(HTMLParser):
    """The tags and the visible text of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self._style = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self._style = tag == "style"

    def handle_endtag(self, tag):
        self._style = False

    def handle_data(self, data):
        if not self._style:
            self.text += data


def _html(outcome, wanted):
    run = outcome.run
    shown = {
        "run": run,
        "summary": run.summary,
        "turns": run.turns,
        "failures": run.failures,
        "tool_calls": run.tool_calls,
        "cases": run.cases,
    }
    pages = {name: Page(value._repr_html_()) for name, value in shown.items()}
    for name, page in pages.items():
        yield from _differs(f"tags in {name}", page.tags & set(wanted["no_tag_from_text"]), set())
        yield from _differs(f"handlers in {name}", {a for a in page.attributes if a.startswith("on")}, set())
    whole = "".join(page.text for page in pages.values()) + Page(run.turns.to_html()).text
    yield from (
        f"{text!r} is not to be seen" for text in wanted["visible_text_contains"] if text not in whole
    )


def _nowhere(outcome, secrets):
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        yield from (f"{secret} in {place}" for place, text in outcome.told["shown"].items() if secret in text)


def _told(fact):
    def as_told(outcome, wanted):
        return _differs(fact, outcome.told[fact], wanted)

    return as_told


MEANING = {
    "load": _load,
    "mentions_all": _mentions_all,
    "mentions_none": _mentions_none,
    "problem_count": _problem_count,
    "agent_calls": _agent_calls,
    "with_env": lambda outcome, wanted: (),  # set before the case is played
    "turn_passed": _turn_passed,
    "case_passed": _case_passed,
    "turn_status": _turn_status,
    "turn_reason_mentions": _turn_reason_mentions,
    "turn_input_equals": _turn_input_equals,
    "turn_metric": _turn_metric,
    "turn_metric_status": _turn_metric_status,
    "turn_metric_passed": _turn_metric_passed,
    "turn_metric_passed_list": _turn_metric_passed_list,
    "rollup": _rollup,
    "rollup_rows": _rollup_rows,
    "summary_metric": _summary_metric,
    "all_scores": _all_scores,
    "history_at_turn": _history_at_turn,
    "history_never_contains": _history_never_contains,
    "max_seconds": _max_seconds,
    "case_seconds_lt": _case_seconds_lt,
    "order": _order,
    "case_passed_by_index": _case_passed_by_index,
    "rows": _rows,
    "details": _details,
    "report_contains": _report_contains,
    "report_json": _report_json,
    "report_md": _report_md,
    "html": _html,
    "nowhere": _nowhere,
    "max_seconds_each": lambda outcome, wanted: (
        f"{seconds:.1f} s" for seconds in outcome.told["seconds_each"] if seconds > wanted
    ),
    **{
        fact: _told(fact)
        for fact in (
            "cells_ok", "metric_results_per_case", "inputs_unchanged", "overlap_within_case", "process_alive",
            "no_carriage_return_in_pipe", "progress_outputs_per_run",
        )
    },
    "piped_lines_lte": lambda outcome, wanted: (
        [f"{outcome.told['piped_lines']} lines"] if outcome.told["piped_lines"] > wanted else []
    ),
}  # fmt: skip
