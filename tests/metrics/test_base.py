"""A list of metrics becomes metrics: ids, what this version has, and what an import costs."""

import subprocess
import sys

import pytest
from pydantic import TypeAdapter

from holodeck_nb.metrics.base import METRICS, build_metrics, metric_ids, unavailable
from holodeck_nb.metrics.code import CodeGrader
from holodeck_nb.metrics.equality import Equality
from holodeck_nb.metrics.numeric import Numeric
from holodeck_nb.schema.metrics import RAG_NAMES, STANDARD_NAMES, MetricConfig

CONFIGS = TypeAdapter(tuple[MetricConfig, ...])


def grade(ctx):
    return True


def configs(*written):
    return CONFIGS.validate_python(written)


N, E = {"type": "numeric"}, {"type": "equality"}

IDS = [
    ([N],                                                  ["numeric"]),
    ([N, E],                                               ["numeric", "equality"]),
    ([N, N, N],                                            ["numeric", "numeric_2", "numeric_3"]),
    ([N | {"name": "close"}, N],                           ["close", "numeric"]),
    ([N | {"name": "x"}, E | {"name": "x"}],               ["x", "x_2"]),
    ([N, N | {"name": "numeric_2"}, N],                    ["numeric", "numeric_2", "numeric_3"]),
    ([N, N | {"name": "numeric"}],                         ["numeric_2", "numeric"]),  # a given name is kept
    ([E, N | {"name": "equality"}, E],                     ["equality_2", "equality", "equality_3"]),
    ([{"type": "faithfulness"}, {"type": "rag", "metric_type": "faithfulness"}],
                                                           ["faithfulness", "faithfulness_2"]),
    ([{"grader": "my.graders:grade"}, {"grader": "other:grade"}], ["grade", "grade_2"]),
    ([{"grader": grade}],                                  ["grade"]),
    ([{"name": "tone", "criteria": "polite"}],             ["tone"]),
    ([{"module": "hub/exact_match"}],                      ["exact_match"]),
    ([],                                                   []),
]  # fmt: skip


@pytest.mark.parametrize(("written", "ids"), IDS, ids=range(len(IDS)))
def test_ids_are_unique_and_given_names_are_kept(written, ids):
    assert list(metric_ids(configs(*written))) == ids


def test_metrics_are_built_in_order_and_disabled_ones_left_out():
    built = build_metrics(
        configs(N, E | {"enabled": False}, E | {"threshold": 1}, {"grader": "g:grade"}, {"grader": grade}),
        {"g:grade": grade},
    )
    assert [type(metric) for metric in built] == [Numeric, Equality, CodeGrader, CodeGrader]
    assert [metric.id for metric in built] == ["numeric", "equality", "grade", "grade_2"]
    assert [metric.threshold for metric in built] == [None, 1, None, None]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (N, None),
        (E, None),
        ({"grader": "g:grade"}, None),
        ({"type": "bleu"}, None),
        ({"type": "groundedness"}, None),
        ({"type": "faithfulness"}, None),
        ({"name": "tone", "criteria": "polite"}, None),
    ],
)
def test_what_cannot_be_run_here_is_named(written, reason):
    assert unavailable(*configs(written)) == reason


def test_every_metric_of_a_suite_can_be_built_or_is_named():
    every = [{"type": name} for name in (*STANDARD_NAMES, *RAG_NAMES)]
    for config in configs(*every, {"grader": grade}, {"module": "m"}, {"name": "n", "criteria": "c"}):
        assert unavailable(config) is not None or build_metrics((config,), {})


def test_a_grader_that_is_not_there_is_a_key_error():
    with pytest.raises(KeyError, match="g:grade"):
        build_metrics(configs({"grader": "g:grade"}), {})


def test_the_protocol_loads_no_metric():
    code = "import sys, holodeck_nb.metrics.base; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {*loaded} & {target.partition(":")[0] for target in METRICS.values()}
    assert not {*loaded} & {"rapidfuzz", "regex", "nltk", "numpy", "pandas", "rouge_score", "sacrebleu"}


def test_what_only_computes_is_never_tried_again():
    metrics = build_metrics(configs(N, E, {"grader": grade}), {})
    assert [metric.max_retries for metric in metrics] == [0, 0, 0]


def test_a_judged_metric_without_a_judge_is_an_error_of_its_own():
    import asyncio

    from holodeck_nb.metrics.base import GraderContext, MetricError

    (metric,) = build_metrics(configs({"type": "fluency"}), {})
    with pytest.raises(MetricError, match="there is no model to judge with"):
        asyncio.run(metric.measure(GraderContext("?", "x")))
