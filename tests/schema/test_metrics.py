"""Metrics by their short and long forms, what they are called, and which ones judge a turn."""

import pytest

from holodeck_nb.loading.loader import load_mapping
from holodeck_nb.schema.metrics import StandardMetric

FORMS = [
    # written                                               kind        called
    ({"type": "standard", "metric": "numeric"},             "standard", "numeric"),
    ({"type": "numeric"},                                   "standard", "numeric"),
    ({"type": "numeric", "metric": "numeric"},              "standard", "numeric"),
    ({"metric": "bleu"},                                    "standard", "bleu"),
    ({"type": "faithfulness"},                              "rag",      "faithfulness"),
    ({"metric_type": "faithfulness"},                       "rag",      "faithfulness"),
    ({"type": "rag", "metric_type": "answer_relevancy"},    "rag",      "answer_relevancy"),
    ({"grader": "os.path:join"},                            "code",     "join"),
    ({"type": "geval", "name": "g", "criteria": "c"},       "geval",    "g"),
    ({"name": "g", "criteria": "c"},                        "geval",    "g"),
    ({"module": "exact_match"},                             "evaluate", "exact_match"),
    ({"module": "./metrics/mine/"},                         "evaluate", "mine"),
]  # fmt: skip


def suite(metrics, **rest):
    return load_mapping({"name": "p", "evaluations": {"metrics": metrics}, **rest}).config


@pytest.mark.parametrize(("written", "kind", "called"), FORMS)
def test_one_form(written, kind, called):
    (metric,) = suite([written]).agent_metrics
    assert (metric.type, metric.default_id) == (kind, called)


def test_the_defaults_that_differ_from_the_public_format():
    metric = StandardMetric(metric="numeric")
    assert metric.accept_percent
    assert metric.accept_thousands_separators
    assert (metric.absolute_tolerance, metric.relative_tolerance) == (1e-6, 0)


def turn(evaluations=None):
    return {"input": "a", "evaluations": evaluations}


def judged_by(config, case, turn):
    return [metric.name or metric.default_id for metric in config.metrics_for(case, turn)]


def test_the_narrowest_list_wins_whole():
    config = suite(
        [{"type": "numeric"}, {"type": "bleu", "enabled": False}, {"type": "rouge", "name": "overlap"}],
        test_cases=[
            {"turns": [turn(), turn([]), turn(["overlap"])]},
            {"evaluations": [{"type": "ter"}, "bleu"], "turns": [turn(), turn(["numeric"])]},
            {"input": "a", "evaluations": [{"type": "chrf"}]},
            {"input": "a"},
        ],
    )  # fmt: skip
    assert [[judged_by(config, case, turn) for turn in case.conversation] for case in config.cases] == [
        [["numeric", "overlap"], [], ["overlap"]],
        [["ter"], ["numeric"]],
        [["chrf"]],
        [["numeric", "overlap"]],
    ]


def test_a_name_that_comes_again_is_numbered():
    config = suite(
        [
            {"type": "numeric"},
            {"type": "numeric", "absolute_tolerance": 1},
            {"type": "bleu", "name": "numeric"},
        ],
        test_cases=[{"input": "a", "evaluations": ["numeric_3", "numeric", "numeric_2"]}],
    )
    case = config.cases[0]
    first, second, third = config.metrics_for(case, case.conversation[0])
    assert (first.metric, second.absolute_tolerance, third.absolute_tolerance) == ("bleu", 1e-6, 1)


def test_a_copy_with_other_metrics_forgets_the_old_ones():
    config = suite([{"type": "numeric"}], test_cases=[{"input": "a"}])
    case = config.cases[0]
    assert judged_by(config, case, case.conversation[0]) == ["numeric"]
    other = config.model_copy(update={"evaluations": suite([{"type": "bleu"}]).evaluations})
    assert judged_by(other, case, case.conversation[0]) == ["bleu"]
    assert config.model_copy() == config
