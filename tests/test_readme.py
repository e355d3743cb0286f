"""The README runs as it stands."""

import re
from pathlib import Path

import pytest

import holodeck_nb as hd

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What the README's Python has defined, after running it beside the README's suite."""
    folder = tmp_path_factory.mktemp("readme")
    [suite] = blocks("yaml")
    (folder / "agent.yaml").write_text(suite, encoding="utf-8")
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        first, *others = blocks("python")
        exec(first, found)
        found["first_run"] = found["run"]
        for block in others:
            exec(block, found)
    return found


def test_the_failures_are_those_of_the_table(names):
    failures = names["first_run"].failures[["case", "turn", "reason"]]
    rows = "\n".join(
        f"| {case} | {turn} | {reason} |" for case, turn, reason in failures.itertuples(index=False)
    )
    assert f"| case | turn | reason |\n|---|---|---|\n{rows}\n" in README


def test_the_grader_passes(names):
    assert names["run"].metrics.query("metric == 'short_enough'")["passed"].all()


def test_the_config_error_reads_as_shown(names, tmp_path):
    [suite] = blocks("yaml")
    before, wrong, after = suite.partition('ground_truth: "25587"')
    assert wrong
    (tmp_path / "agent.yaml").write_text(f'{before}ground_thruth: "25587"{after}', encoding="utf-8")
    with pytest.raises(hd.ConfigError) as caught:
        hd.Suite.from_yaml(tmp_path / "agent.yaml")
    assert str(caught.value).replace(f"{tmp_path}/", "") == blocks("text")[0].strip()


DEFAULTS = {
    "absolute_tolerance": 1e-6,
    "relative_tolerance": 0,
    "accept_percent": True,
    "accept_thousands_separators": True,
    "select": None,
    "percent_as": "ratio",
    "rounding": None,
    "scale_words": "apply",
    "case_insensitive": False,
    "strip_whitespace": False,
    "strip_punctuation": False,
}


def test_the_table_of_defaults_is_the_schemas(names):
    metric = hd.Suite(name="s", evaluations=[{"type": "numeric"}]).config.agent_metrics[0]
    assert {name: getattr(metric, name) for name in DEFAULTS} == DEFAULTS
    assert all(f"`{name}`" in README for name in DEFAULTS)


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_make_knows_the_words_of_the_first_screen():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in re.findall(r"^make (\w+)", README, flags=re.MULTILINE):
        assert f"\n{word}:" in makefile
