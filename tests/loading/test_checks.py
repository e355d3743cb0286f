"""References, names and providers: well-formed parts that do not fit together, and what is fine."""

import importlib.metadata

import pytest

from holodeck_nb.loading import checks
from holodeck_nb.results.columns import CASE_COLUMNS, TURN_COLUMNS

TWICE = "evaluations: {metrics: [{type: numeric}, {type: numeric}]}\n"
FINE = [
    # two agent-level metrics that would share an id are numbered
    "evaluations: {metrics: [{type: numeric}, {type: numeric, absolute_tolerance: 1}]}",
    "evaluations: {metrics: [{type: numeric}, {type: bleu, name: numeric}]}",
    TWICE + "test_cases: [{input: a, evaluations: [numeric, numeric_2]}]",
    TWICE.replace("}", ", enabled: false}", 1) + "test_cases: [{input: a, evaluations: [numeric]}]",
    "evaluations: {metrics: [{type: fluency, threshold: 4}, {type: fluency, threshold: 0.5}]}",
    "evaluations: {metrics: [{type: bleu, threshold: 0}, {type: bleu, threshold: 1}]}",
    "evaluations: {metrics: []}\ntest_cases: [{input: a, evaluations: []}]",
    "evaluations:\ntest_cases:\ntools:\nexecution:\nmodel:",
    "model: {provider: scripted}",
    "model: {provider: scripted, name: fake-1}",
    "model: scripted",
    "test_cases: [{input: a, expected_tools: []}, {input: b, expected_tools: ~, ground_truth: null}]",
    "test_cases: [{input: a, files: [" + ", ".join(["{url: u, type: pdf}"] * 10) + "]}]",
    "test_cases: [{input: " + "x" * 100_000 + "}]",
    "execution: {max_retries: 0, cache_enabled: NO, verbose: 'on'}",
]


@pytest.mark.parametrize("text", FINE, ids=lambda text: text[:60])
def test_what_is_fine_loads(text, load):
    assert load(f"name: probe\n{text}").warnings == ()


@pytest.mark.parametrize("column", sorted({*TURN_COLUMNS, *CASE_COLUMNS}))
def test_no_metric_is_called_like_a_column(column, refusal, write):
    write("graders.py", f"def {column}(context): ...\n")
    hint = "\n    hint: give the metric another `name`"
    said = f"{column!r} is a column of the results already"
    place = "agent.yaml:2: evaluations.metrics[0]"
    assert (
        refusal(f"name: p\nevaluations: {{metrics: [{{type: bleu, name: {column}}}]}}")
        == f"{place}.name: {said}{hint}"
    )
    assert (
        refusal(f"name: p\nevaluations: {{metrics: [{{grader: 'graders:{column}'}}]}}")
        == f"{place}.grader: {said}{hint}"
    )


def test_an_installed_provider_is_known(load, refusal, monkeypatch):
    text = "name: probe\nmodel: {provider: acme, name: m}"
    assert "'acme' is not a known provider" in refusal(text)
    entry = importlib.metadata.EntryPoint("acme", "acme:model", "holodeck_nb.models")
    monkeypatch.setattr(checks, "entry_points", lambda group: [entry])
    assert load(text).config.model.provider == "acme"


UNREADABLE = """\
    name: probe
    evaluations: {metrics: [{type: numeric}]}
    test_cases:
      - name: mixed
        turns:
          - {input: a, ground_truth: "25587"}
          - {input: b, ground_truth: yes}
          - {input: c, ground_truth: yes, evaluations: [{type: equality}]}
          - {input: d}
          - {input: e, ground_truth: n/a, evaluations: [numeric]}
      - {input: f, ground_truth: 14.1%}
      - {input: g, ground_truth: none of them}
      - {name: mixed, input: h, ground_truth: unknown}
      - {name: quiet, input: h, ground_truth: unknown, evaluations: []}
    """


def test_a_ground_truth_that_numeric_cannot_read_is_a_warning(load):
    warnings = load(UNREADABLE).warnings
    assert [(warning.case, warning.turn, warning.place) for warning in warnings] == [
        ("mixed", 1, "test_cases[0].turns[1].ground_truth"),
        ("mixed", 4, "test_cases[0].turns[4].ground_truth"),
        ("case 3", 0, "test_cases[2].ground_truth"),
        ("mixed #2", 0, "test_cases[3].ground_truth"),
    ]
    assert warnings[0].text.startswith("the ground truth 'yes' is no number, and numeric cannot measure it")
