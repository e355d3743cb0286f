"""`type: evaluate`: modules by path and by name, their results as scores, and what is said where they fail.

Everything runs twice: against the package itself where it is installed (300 MB), and against a stand-in of
the few calls that we make, so that the rules hold everywhere.
"""

import importlib.util
import sys
import types
from textwrap import dedent

import pytest
from judges import only

import holodeck_nb as hd

MODULE = """
import datasets
import evaluate

class Overlap(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(
            description="d", citation="", inputs_description="",
            features=datasets.Features({FEATURES}),
        )

    def _compute(self, predictions{REFERENCES}):
        return {RESULT}
"""
BOTH = '{"predictions": datasets.Value("string"), "references": datasets.Value("string")}'
SAME = '{"same": float(predictions == references)}'


class Value:
    def __init__(self, dtype):
        self.dtype = dtype


class StandInMetric:
    def __init__(self):
        self.features = self._info()["features"]

    def compute(self, **given):
        assert given.keys() == self.features.keys()
        return self._compute(**given)


def stand_in():
    def load(path, experiment_id):
        assert experiment_id
        if not path.endswith(".py"):
            raise FileNotFoundError(f"Couldn't find a module script at {path}, nor on the Hub.")
        spec = importlib.util.spec_from_file_location("stand_in_module", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Overlap()

    evaluate = types.ModuleType("evaluate")
    evaluate.__spec__ = importlib.util.spec_from_loader("evaluate", None)
    evaluate.load, evaluate.Metric, evaluate.MetricInfo = load, StandInMetric, dict
    datasets = types.ModuleType("datasets")
    datasets.Features, datasets.Value = dict, Value
    return {"evaluate": evaluate, "datasets": datasets}


@pytest.fixture(params=["installed", "stand-in"])
def module(request, tmp_path, monkeypatch):
    """Write a module and get its path."""
    if request.param == "stand-in":
        for name, each in stand_in().items():
            monkeypatch.setitem(sys.modules, name, each)
    elif importlib.util.find_spec("evaluate") is None:
        pytest.skip("the package evaluate is not installed: pip install evaluate")
    else:
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        monkeypatch.setenv("HF_EVALUATE_OFFLINE", "1")

    def write(result=SAME, features=BOTH, name="overlap"):
        references = ", references" if "references" in features else ""
        text = MODULE.replace("{FEATURES}", features).replace("{REFERENCES}", references)
        (tmp_path / f"{name}.py").write_text(dedent(text.replace("{RESULT}", result)))
        return f"./{name}.py"

    return write


def run(tmp_path, metric, reply="yes", truth="yes", cases=None, **arguments):
    turn = {"input": "?"} | ({} if truth is None else {"ground_truth": truth})
    data = {"name": "s", "test_cases": cases or [turn], "evaluations": [{"type": "evaluate", **metric}]}
    return hd.Suite.from_dict(data, folder=tmp_path).run(agent=lambda text: reply, quiet=True, **arguments)


@pytest.mark.parametrize(("reply", "score", "status"), [("yes", 1.0, "passed"), ("no", 0.0, "failed")])
def test_a_module_beside_the_suite(module, tmp_path, reply, score, status):
    result = only(run(tmp_path, {"module": module(), "threshold": 0.5}, reply=reply))
    assert (result.id, result.kind, result.score, result.status) == ("overlap.py", "evaluate", score, status)
    assert result.details == {"same": score}


def test_one_of_several_results_and_another_scale(module, tmp_path):
    path = module('{"score": 42.0, "counts": [1, 2]}')
    result = only(run(tmp_path, {"module": path, "result_key": "score", "scale": 100, "threshold": 40}))
    assert (result.score, result.threshold, result.status) == (0.42, 0.4, "passed")
    assert result.details == {"score": 42.0, "counts": [1, 2]}


WRONG = [
    ({},           '{"a": 1.0, "b": 0.5}',     "gives a, b: say under `result_key` which one counts"),
    ({"result_key": "c"}, '{"a": 1.0}',   "gives no 'c'; it gives a"),
    ({},           '{"a": 42.0}',  "a 42 is not within 0 and 1; `scale: 100` if its best"),
    ({},           '{"a": float("nan")}', "'a' of module"),
    ({},           '{"a": "high"}', "is no number: 'high'"),
    ({},           '{"a": 1 / 0}', "broke: ZeroDivisionError: division by zero"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "result", "reason"), WRONG, ids=range(len(WRONG)))
def test_what_gives_no_score_is_an_error_with_its_reason(module, tmp_path, settings, result, reason):
    found = only(run(tmp_path, {"module": module(result), **settings}))
    assert (found.status, found.score) == ("error", None)
    assert reason in found.reason


def test_one_score_for_each_prediction_is_the_score(module, tmp_path):
    assert only(run(tmp_path, {"module": module('{"a": [0.25]}')})).score == 0.25


def test_a_module_that_compares_needs_ground_truth_and_another_does_not(module, tmp_path):
    assert only(run(tmp_path, {"module": module()}, truth=None)).status == "not_applicable"
    alone = module(
        '{"length": len(predictions[0]) / 10}', '{"predictions": datasets.Value("string")}', "alone"
    )
    assert only(run(tmp_path, {"module": alone}, truth=None)).score == 0.3
    assert only(run(tmp_path, {"module": alone}, truth="yes")).score == 0.3


def test_a_module_that_compares_numbers_reads_them(module, tmp_path):
    features = '{"predictions": datasets.Value("float32"), "references": datasets.Value("float32")}'
    path = module('{"near": float(abs(predictions[0] - references[0]) < 1)}', features)
    assert only(run(tmp_path, {"module": path}, reply="$206,588", truth="206588")).score == 1.0
    unread = only(run(tmp_path, {"module": path}, reply="I do not know", truth="206588"))
    assert (unread.status, unread.score) == ("failed", 0.0)
    assert "the reply is no number" in unread.reason
    assert only(run(tmp_path, {"module": path}, reply="1", truth="cash")).status == "error"


def test_response_path_chooses_what_is_compared(module, tmp_path):
    metric = {"module": module(), "response_path": "a"}
    assert only(run(tmp_path, metric, reply='{"a": "yes"}')).score == 1.0
    assert only(run(tmp_path, metric, reply="{}")).reason.startswith("response_path:")


def test_no_object_is_used_by_two_threads_at_once(module, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("builtins.seen", seen, raising=False)
    waiting = 'seen.append((id(self), 1)), __import__("time").sleep(0.02), seen.append((id(self), -1))'
    path = module(f'{{"a": ({waiting}, 1.0)[-1]}}')
    cases = [{"input": "?", "ground_truth": "yes"} for _ in range(12)]
    played = run(tmp_path, {"module": path}, cases=cases, parallel_test_cases=4)
    assert played.metrics["score"].tolist() == [1.0] * 12
    busy = {}
    for identity, change in seen:
        busy[identity] = busy.get(identity, 0) + change
        assert busy[identity] in {0, 1}
    assert 1 <= len(busy) <= 4


def test_a_name_that_only_the_hub_knows_says_so(module, tmp_path):
    module()
    result = only(run(tmp_path, {"module": "no_such_module_anywhere"}))
    assert result.status == "error"
    assert "by name, a module comes from the Hugging Face hub, which needs the network" in result.reason


def test_a_path_without_a_module_is_refused_before_the_run(module, tmp_path):
    module()
    with pytest.raises(hd.ConfigError, match=r"there is no module at './gone\.py'"):
        run(tmp_path, {"module": "./gone.py"})


def test_without_the_package_it_is_refused_before_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("holodeck_nb.metrics.evaluate_module.find_spec", lambda name: None)
    with pytest.raises(hd.ConfigError) as refused:
        run(tmp_path, {"module": "rouge"})
    assert 'type evaluate needs the package evaluate: pip install "holodeck-nb[evaluate]"' in str(
        refused.value
    )
