"""What `suite_yaml` writes reads back the same, whatever the texts look like."""

import tempfile
from pathlib import Path

import pytest
import random_suites as suites
from hypothesis import HealthCheck, given, settings

from holodeck_nb.errors import ConfigError
from holodeck_nb.loading.loader import load_mapping, load_suite
from holodeck_nb.loading.variables import escape
from holodeck_nb.loading.writer import suite_yaml


def escaped(value):
    """Let no text outside the test cases be taken for a variable."""
    if isinstance(value, dict):
        return {key: item if key in UNREAD else escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [escaped(item) for item in value]
    return escape(value) if isinstance(value, str) else value


UNREAD = {"test_cases", "deployment", "observability", "optimizer"}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(suites.SUITE)
def test_what_is_written_reads_back_the_same(data):
    config = load_mapping(escaped(data)).config
    text = suite_yaml(config)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "agent.yaml")
        file.write_text(text, encoding="utf-8", newline="")
        again = load_suite(file).config
    assert again == config
    assert suite_yaml(again) == text


def test_a_suite_is_written_as_an_author_would(load):
    text = suite_yaml(
        load("""\
            name: probe
            model: "openai:gpt-4o"
            evaluations: {metrics: [{type: numeric, absolute_tolerance: 0.01}]}
            test_cases:
              - name: cash
                turns:
                  - input: "net cash?"
                    ground_truth: no
                    expected_tools: [a, {name: b, args: {x: 1e3, y: "1e3"}}]
                  - {input: "two\\nlines", evaluations: [numeric], turn_config: {n: ~}}
            """).config
    )
    assert (
        text
        == """\
name: probe
model:
  provider: openai
  name: gpt-4o
evaluations:
  metrics:
    - type: standard
      metric: numeric
      absolute_tolerance: 0.01
test_cases:
  - name: cash
    turns:
      - input: net cash?
        ground_truth: 'no'
        expected_tools:
          - a
          - name: b
            args:
              x: 1000.0
              y: '1e3'
      - input: |-
          two
          lines
        evaluations:
          - numeric
        turn_config:
          n: null
"""
    )


def grade(context):
    return True


def test_a_function_is_written_by_its_name(tmp_path):
    import statistics

    def hidden(context):
        return True

    def written(function):
        suite = {"name": "n", "evaluations": {"metrics": [{"type": "code", "grader": function}]}}
        return suite_yaml(load_mapping(suite).config)

    assert "grader: statistics:mean" in written(statistics.mean)
    with pytest.raises(ConfigError) as refused:
        written(hidden)
    assert str(refused.value).endswith(
        "is a function that no file can name\n    hint: put it into a module and write `module:function`"
    )
