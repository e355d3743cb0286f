"""Metrics by others: an installed package's, and a function's that a notebook cell decorates."""

import importlib
import subprocess
import sys
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest
from judges import only

import holodeck_nb as hd
from holodeck_nb.plugins import METRIC_PLUGINS, Registry

PACKAGE = """
    def brevity(context, *, words=3):
        '''Few words: 1, else 0.'''
        return len(context.agent_response.split()) <= words

    async def echo(context):
        return {"score": 0.5, "reason": context.agent_response}

    broken = 7
    """
ENTRY_POINTS = """
    [holodeck_nb.metrics]
    brevity = brief_metrics:brevity
    echo = brief_metrics:echo
    broken = brief_metrics:broken
    gone = brief_metrics_gone:it
    """


def wheel(folder):
    """The package as a wheel, which is a zip with four more files."""
    info = "brief_metrics-1.0.dist-info"
    files = {
        "brief_metrics.py": PACKAGE,
        f"{info}/entry_points.txt": ENTRY_POINTS,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: brief-metrics\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / "brief_metrics-1.0-py3-none-any.whl", "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, dedent(text))
    return Path(archive.filename)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The package, installed by pip into a folder of its own, without any network."""
    target = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", str(target)]
    command = [sys.executable, "-m", "pip", "install", *options, str(wheel(tmp_path_factory.mktemp("dist")))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def installed(site, monkeypatch):
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    yield
    sys.modules.pop("brief_metrics", None)


def run(*metrics, reply="It was 206588.", folder=None):
    data = {"name": "s", "test_cases": [{"input": "?"}], "evaluations": list(metrics)}
    return hd.Suite.from_dict(data, folder=folder).run(agent=lambda text: reply, quiet=True)


def test_an_installed_metric_is_a_type_of_its_own(installed):
    result = only(run({"type": "brevity", "threshold": 1}))
    assert (result.id, result.kind, result.status, result.score) == ("brevity", "code", "passed", 1.0)
    assert only(run({"type": "brevity"}, reply="It was exactly 206588.")).status == "failed"


def test_an_async_one_with_a_name(installed):
    result = only(run({"type": "plugin", "metric": "echo", "name": "what it said"}))
    assert (result.id, result.status, result.score, result.reason) == (
        "what it said",
        "scored",
        0.5,
        "It was 206588.",
    )


def test_its_options_are_its_keyword_arguments(installed):
    assert only(run({"type": "brevity", "options": {"words": 2}})).status == "failed"


def test_in_a_suite_file_with_every_problem_at_once(installed, tmp_path):
    (tmp_path / "agent.yaml").write_text(
        dedent("""
        name: s
        evaluations:
          metrics:
            - type: brevity
              options: {words: 5}
            - brevty: 1
              type: brevty
        test_cases: [{input: a}]
        """)
    )
    with pytest.raises(hd.ConfigError) as refused:
        hd.Suite.from_yaml(tmp_path / "agent.yaml")
    assert "'brevty' is not a kind of metric" in str(refused.value)
    assert "did you mean 'brevity'?" in str(refused.value)


def test_a_suite_with_it_is_written_and_read_back(installed, tmp_path):
    suite = hd.Suite(
        name="s", test_cases=[{"input": "a"}], evaluations=[{"type": "brevity", "options": {"words": 2}}]
    )
    again = hd.Suite.from_yaml(suite.to_yaml(tmp_path / "again.yaml"))
    assert again.config.agent_metrics == suite.config.agent_metrics


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ({"type": "broken"}, "metric 'broken': what its package offers is no function, but int"),
        (
            {"type": "gone"},
            "metric 'gone': the package that offers it cannot be imported: ModuleNotFoundError",
        ),
        (
            {"type": "brevity", "options": {"wrods": 2}},
            "metric 'brevity': its options do not fit: got an unexpected",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_before_the_run(installed, metric, reason):
    with pytest.raises(hd.ConfigError) as refused:
        run(metric)
    assert reason in str(refused.value)


def test_without_the_package_its_type_is_none():
    with pytest.raises(hd.ConfigError, match="'brevity' is not a kind of metric"):
        run({"type": "brevity"})
    with pytest.raises(hd.ConfigError, match="no installed package has a metric 'brevity'"):
        run({"type": "plugin", "metric": "brevity"})


@pytest.fixture
def cell(monkeypatch):
    monkeypatch.setattr(METRIC_PLUGINS, "_given", {})


def test_a_decorated_function_is_a_metric_by_its_name_and_by_itself(cell):
    @hd.metric
    def short(context):
        return len(context.agent_response) < 20

    for given in (short, {"type": "short"}, {"grader": short}):
        assert only(run(given)).id == "short"
        assert only(run(given)).passed
        assert not only(run(given, reply="x" * 20)).passed


def test_name_and_threshold_go_along(cell):
    @hd.metric(name="brief enough", threshold=0.5)
    def share(context):
        return 1 / len(context.agent_response.split())

    for given in (share, {"type": "brief enough"}):
        result = only(run(given, reply="a b c"))
        assert (result.id, result.status, result.threshold) == ("brief enough", "failed", 0.5)
    assert only(run({"type": "brief enough", "threshold": 0.2}, reply="a b c")).passed
    suite = hd.Suite(name="s", test_cases=[{"input": "?"}]).with_metrics([share])
    assert only(suite.run(agent=lambda text: "a", quiet=True)).threshold == 0.5


def test_a_cell_that_is_run_again_replaces_its_metric(cell):
    @hd.metric(name="verdict")
    def first(context):
        return True

    @hd.metric(name="verdict")
    def second(context):
        return False

    assert not only(run({"type": "verdict"})).passed


def test_rescoring_takes_a_decorated_function(cell):
    @hd.metric(threshold=0.9)
    def half(context):
        return 0.5

    again = run().rescore([half])
    assert (only(again).id, only(again).threshold, only(again).status) == ("half", 0.9, "failed")


@pytest.mark.parametrize("name", ["numeric", "geval", "faithfulness", "status", "cost_usd", " "])
def test_a_name_that_is_taken_is_refused(cell, name):
    with pytest.raises(ValueError, match="a metric cannot be called"):
        hd.metric(name=name)(lambda context: True)


def test_a_threshold_outside_0_and_1_is_refused(cell):
    with pytest.raises(ValueError, match="a threshold is from 0 to 1, got 2"):
        hd.metric(threshold=2)(lambda context: True)


def test_a_shipped_name_is_never_anybody_elses():
    registry = Registry("holodeck_nb.examples", {"root": "math:sqrt"})
    registry.give("root", 1)
    registry.give("cube", 2)
    assert registry.find("root")(9) == 3
    assert (registry.find("cube"), registry.find("none"), registry.names) == (2, None, ("root", "cube"))
