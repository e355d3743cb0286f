"""Whatever agents, tools, graders and authors write, every report stays whole and keeps its secrets."""

import json
import logging
import math
import re
from collections import deque
from datetime import date
from decimal import Decimal

import cases_interpreter as cases
import numpy as np
import pytest

import holodeck_nb as hd
from holodeck_nb.__main__ import main

HOSTILE = {
    "nan": "NaN Infinity -Infinity BaNaNa",
    "surrogate": "lone \ud800 and \udfff here",
    "pair": "\ud83d\ude00",
    "controls": "a\x00b\x07c\x08d\x1b[31me\x7f\x85\x9b",
    "lines": "a\r\nb\rc\u2028d\u2029e\x0bf\x0cg",
    "right to left": "\u202eevil\u202c \u2066x\u2069 שלום العربية \u200f",
    "invisible": "\u200b\ufeff\u2060\u00ad",
    "table": "cheap | fast\n| new | row |\n|---|---|\npath C:\\|end\\",
    "fences": "```\n````\n~~~\n```python\n# heading\n```",
    "headings": "# one\n## two\nthree\n===\n---\n> quote\n- item\n1. item",
    "html": '<script>alert(1)</script><img src=x onerror=alert(1)></td></table>" onmouseover="y <!-- &lt;',
    "style": "</style><style>*{display:none}</style>{{x}} ${HOME} %s {0}",
    "links": "[l](javascript:x) ![i](http://127.0.0.1/p.png) <http://a> $x$ `c` *b* _i_ ~~s~~",
    "json": '{"a": 1}\\u0000\\ud800 \\"',
    "empty": "",
    "blanks": " \t\n ",
}


class Rude:
    """Its repr, its text and its equality raise."""

    def __repr__(self):
        raise ValueError("no repr")

    __str__ = __eq__ = __repr__
    __hash__ = None


def endless():
    holds_itself = [1]
    holds_itself.append(holds_itself)
    return holds_itself


def deep():
    value = "bottom"
    for _ in range(5_000):
        value = [value]
    return value


VALUES = {
    "nan": float("nan"),
    "infinity": -math.inf,
    "huge": 10**400,
    "huger": 10**5_000,
    "decimal": Decimal("sNaN"),
    "set": {3, 1, 2},
    "bytes": b"\xff\x00",
    "date": date(2009, 12, 31),
    "numpy": np.array([1.5, np.nan]),
    "numpy scalar": np.float32(0.1),
    "endless": endless(),
    "deep": deep(),
    "keys": {1: "a", None: "b", (1, 2): "c", "\ud800": "d", False: "e"},
    "rude": Rude(),
    "generator": (n for n in range(3)),
    "queue": deque([1]),
    "function": len,
}


def a_run(text, value=None, **more):
    """A run in which `text` stands wherever an agent, a tool or a grader may write, and `value` beside it."""

    def agent(asked):
        call = hd.ToolInvocation(
            text or "t",
            {"a": text, "v": value, text: text},
            result=value if value is not None else text,
            error=text or None,
            raw_args=text,
            id=text,
        )
        unread = hd.ToolInvocation("t", None, raw_args=text, error=text)
        if asked == "break":
            raise RuntimeError(text)
        return hd.Reply(text, (call, unread), model=text, finish_reason=text)

    def grade(context):
        return hd.GraderResult(score=0.5, passed=False, reason=text, details={"text": text, text: [text]})

    def broken(context):
        raise ValueError(text)

    tool = {"name": "t", "args": {"a": "never", "v": {"regex": "never"}, "w": {"fuzzy": "never"}}}
    suite = hd.Suite(
        name="hostile",
        test_cases=[
            {"name": "one", "input": "ask", "ground_truth": "5", "expected_tools": [tool]},
            {
                "name": "two",
                "turns": [{"input": "ask", "ground_truth": "5"}, {"input": "break"}, {"input": "ask"}],
            },
        ],
        evaluations=[grade, broken, {"type": "numeric"}, {"type": "equality"}],
    )
    return suite.run(agent=agent, quiet=True, **more)


def fit_for_a_file(text):
    """Tells where it is not by places: a failing test must be able to say so."""
    return [found.start() for found in re.finditer("[\ud800-\udfff]", text)] == []


def everything(run):
    """Every way in which a run shows itself, as text."""
    frames = (run.turns, run.cases, run.failures, run.metrics, run.tool_calls, run.tool_checks, run.warnings)
    shown = {
        "json": run.to_json(),
        "markdown": run.to_markdown(),
        "card": run._repr_html_(),
        "line": repr(run),
        "summary": repr(run.summary),
        "summary card": run.summary._repr_html_(),
    }
    for place, frame in enumerate(frames):
        shown[f"frame {place}"] = frame._repr_html_()
        shown[f"frame {place} text"] = repr(frame)
    return shown


def stays_whole(run, tmp_path):
    plain = shape(a_run("plain"))
    assert shape(run) == plain
    data = cases.strict_json(run.to_json())
    assert json.loads(run.to_json(tmp_path / "r.json").read_bytes()) == data
    assert hd.Run.from_json(tmp_path / "r.json").to_json() == run.to_json()
    markdown = run.to_markdown(tmp_path / "r.md").read_text(encoding="utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]", markdown)
    for name, text in everything(run).items():
        assert fit_for_a_file(text), name
        if "frame" not in name:
            page = cases.Page(text)
            assert not page.tags & {"script", "img", "iframe", "svg"} or name in {"json", "markdown"}
    assert "\n" not in repr(run)


def shape(run):
    """What a reader sees of the Markdown and of the HTML apart from the text itself."""
    markdown, fence, headings = run.to_markdown(), None, []
    for line in markdown.split("\n"):
        ticks = re.match(r"`{3,}", line)
        if ticks and (fence is None or line.strip() == fence):
            fence = ticks[0] if fence is None else None
        elif fence is None and (line.startswith("#") or re.fullmatch(r"\s*(=+|-{3,})\s*", line)):
            headings.append(line.split()[0])
    assert fence is None
    widths = [set(table) for table in cases.markdown_tables(markdown)]
    assert all(len(width) == 1 for width in widths)
    page = cases.Page(run._repr_html_())
    return headings, page.tags, {name for name in page.attributes if name.startswith("on")}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_breaks_no_report(text, tmp_path):
    run = a_run(text)
    stays_whole(run, tmp_path)
    response = cases.strict_json(run.to_json())["results"][0]["agent_response"]
    if text.isprintable() or not re.search("[\ud800-\udfff]", text):
        assert response == text


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_hostile_values_break_no_report(value, tmp_path):
    stays_whole(a_run("plain", value), tmp_path)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_an_author_may_write_it_too_or_is_told(text, tmp_path):
    """In names, questions, truths, tools, arguments and settings of the suite itself."""
    tool = {"name": text, "args": {text: text, "f": {"fuzzy": text}, "x": {"exact": {text: text}}}}
    turn = {"input": text, "ground_truth": text, "expected_tools": [tool], "turn_config": {text: text}}
    fields = {
        "name": text,
        "description": text,
        "test_cases": [{"name": text, "turns": [turn, turn]}, {"name": text, "input": text}],
        "evaluations": [{"type": "equality", "name": text}, {"type": "numeric"}],
    }
    if not text.strip() or re.search("[\ud800-\udfff]", text):
        with pytest.raises(hd.ConfigError) as refused:
            hd.Suite(**fields)
        assert fit_for_a_file(str(refused.value))
        problems = refused.value.problems  # one mistake, one message
        assert len({problem.path for problem in problems}) == len(problems)
        return
    suite = hd.Suite(**fields)
    run = suite.run(agent=lambda asked: text, quiet=True)
    assert cases.strict_json(run.to_json())["results"][0]["test_name"] == text
    for shown in everything(run).values():
        assert fit_for_a_file(shown)
    assert not cases.Page(run._repr_html_() + suite._repr_html_()).tags & {"script", "img"}
    assert all(len(set(table)) == 1 for table in cases.markdown_tables(run.to_markdown()))
    assert hd.Suite.from_yaml(suite.to_yaml(tmp_path / "again.yaml")).config == suite.config
    assert "\n" not in repr(suite) + repr(run)


def test_a_reply_and_a_tool_result_of_ten_megabytes():
    text = "| `x` <b> \u202e 12,345 \n" * 420_000
    tool = {"name": "t", "args": {"a": {"fuzzy": "never"}}}
    suite = hd.Suite(
        name="long",
        test_cases=[{"input": "q", "ground_truth": "5", "expected_tools": [tool]}],
        evaluations=[{"type": "numeric"}, {"type": "equality"}],
    )
    reply = hd.Reply(text, (hd.ToolInvocation("t", {"a": text}, result=text),))
    run = suite.run(agent=lambda asked: reply, quiet=True)
    assert cases.strict_json(run.to_json())["results"][0]["agent_response"] == text
    assert len(run.to_markdown()) < 1_000_000
    assert len(run._repr_html_()) < 1_000_000
    assert len(run.result.cases[0].reason) < 5_000
    assert run.turns["response"][0] == text


SECRET = "KEY-7f3a/SECRET+value"
TOKEN = "tok-98765-EXAMPLE"


@pytest.fixture
def secret_suite(tmp_path, monkeypatch):
    """A suite whose settings hold secrets in every way that a file allows."""
    monkeypatch.setenv("PROBE_KEY", SECRET)
    (tmp_path / ".env").write_text(f"PROBE_TOKEN='{TOKEN}'\n")
    file = tmp_path / "agent.yaml"
    file.write_text(
        """
name: secrets
model: {provider: openai, name: m, api_key: "${PROBE_KEY}", endpoint: "https://host/${PROBE_TOKEN}"}
evaluations:
  model: {provider: openai, name: judge, api_key: "${PROBE_KEY}"}
  metrics: [{type: equality}]
tools:
  - {name: t, type: mcp, description: d, command: npx, env: {TOKEN: "${PROBE_TOKEN}", KEY: "${PROBE_KEY}"}}
test_cases:
  - {name: one, input: a, ground_truth: x}
""",
        encoding="utf-8",
    )
    return hd.Suite.from_yaml(file)


def holds_none(text, place):
    for secret in (SECRET, TOKEN, SECRET.replace("/", "%2F").replace("+", "%2B")):
        assert secret not in text, place


def test_secrets_are_shown_nowhere(secret_suite, tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    run = secret_suite.run(agent=lambda text: "x", verbose=True)
    config = secret_suite.config
    for value in (secret_suite, config, config.model, config.evaluations, config.tools, run, run.result):
        for shown in (repr(value), str(value), f"{value}", "%r" % (value,)):  # noqa: UP031 - another way to the repr
            holds_none(shown, type(value).__name__)
    for name, shown in everything(run).items():
        holds_none(shown, name)
    holds_none(secret_suite._repr_html_(), "card of the suite")
    holds_none(repr(config.model_dump()), "model_dump")
    written = secret_suite.to_yaml(tmp_path / "again.yaml").read_text(encoding="utf-8")
    holds_none(written, "to_yaml")
    assert written.count("${PROBE_KEY}") == 3
    again = hd.Suite.from_yaml(tmp_path / "again.yaml")
    assert again.config.model.api_key.reveal() == SECRET
    main(["test", str(tmp_path / "agent.yaml"), "--verbose"])
    main(["validate", str(tmp_path / "agent.yaml")])
    said = capfd.readouterr()
    holds_none(said.out + said.err + caplog.text, "terminal and logs")


WRONG = [
    # a mistake beside, in, or around a secret
    ("temperature: hot", "model.temperature"),
    ("api_kye: ${PROBE_KEY}", "model.api_kye"),
    ("max_tokens: ${PROBE_KEY}", "model.max_tokens"),
    ("top_p: ['${PROBE_KEY}']", "model.top_p"),
    ("provider: ${PROBE_KEY}", "model.provider"),
    ("api_key: {a: '${PROBE_KEY}'}", "model.api_key"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "place"), WRONG)
def test_secrets_are_in_no_error(mistake, place, tmp_path, monkeypatch):
    monkeypatch.setenv("PROBE_KEY", SECRET)
    model = {"provider": "openai", "name": "m", "api_key": "${PROBE_KEY}"}
    key = mistake.partition(":")[0]
    lines = [f"  {name}: {value}" for name, value in model.items() if name != key]
    file = tmp_path / "agent.yaml"
    file.write_text("\n".join(["name: s", "model:", *lines, f"  {mistake}", "test_cases: [{input: q}]", ""]))
    with pytest.raises(hd.ConfigError) as refused:
        hd.Suite.from_yaml(file)
    assert place in str(refused.value)
    error = refused.value
    while error is not None:
        holds_none(str(error), "str")
        holds_none(repr(error), "repr")
        error = error.__cause__ or error.__context__


def test_a_key_written_in_clear_is_masked_everywhere_but_in_the_file_that_to_yaml_writes(tmp_path):
    model = {"provider": "openai", "name": "m", "api_key": SECRET}
    suite = hd.Suite(name="s", model=model, test_cases=[{"input": "q"}])
    run = suite.run(agent=lambda text: "x", quiet=True)
    for value in (suite, suite.config, run, run.result):
        holds_none(repr(value), "repr")
    for name, shown in everything(run).items():
        holds_none(shown, name)
    # What `to_yaml` writes reads back the same: a key that came from no variable is written as it is.
    assert hd.Suite.from_yaml(suite.to_yaml(tmp_path / "s.yaml")).config.model.api_key.reveal() == SECRET
