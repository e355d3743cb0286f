"""The README runs as it stands."""

import re
import tomllib
from pathlib import Path

import judges
import pytest
import yaml

import holodeck_nb as hd

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What the README's Python has defined, after running it beside the README's suite."""
    folder = tmp_path_factory.mktemp("readme")
    suite, _ = blocks("yaml")
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
    suite, _ = blocks("yaml")
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


def test_the_judged_metrics_load_as_written():
    _, judged = blocks("yaml")
    evaluations = yaml.safe_load(judged)["evaluations"]
    suite = hd.Suite(name="s", evaluations=evaluations)
    assert [metric.name or metric.default_id for metric in suite.config.agent_metrics] == [
        "clarity",
        "faithfulness",
    ]


def test_the_entry_point_is_toml():
    [block] = blocks("toml")
    found = tomllib.loads(block)["project"]["entry-points"]["holodeck_nb.metrics"]
    assert found == {"brevity": "my_package:brevity"}


ROWS = {
    name: (int(requests[0]), int(tokens))
    for line in re.findall(r"^\| `.*\|$", README, flags=re.MULTILINE)
    if (cells := line.strip("| ").split(" | "))[4:]
    for name in re.findall(r"`(\w+)`", cells[0])
    for requests, tokens in [cells[3:]]
}
JUDGED = [name for name, (requests, _) in ROWS.items() if requests]


@pytest.mark.parametrize("name", JUDGED)
def test_a_judged_metric_costs_what_the_table_says(name):
    metric = {"type": name}
    if name == "geval":
        metric |= {"name": "g", "criteria": "c", "evaluation_steps": ["s"]}
    answers = {
        "score": judges.score(3),
        "claims": judges.claims("a"),
        "statements": judges.statements("a"),
        "verdicts": lambda body: judges.verdicts(
            "yes",
            **{
                "contextual_recall": {"sentence": ["a"]},
                "contextual_relevancy": {"statement": ["a"], "passage": [1]},
            }.get(name, {}),
        ),
    }
    turn = {"ground_truth": "t", "retrieval_context": ["p"]}
    with judges.Judge(**answers) as judge:
        result = judges.only(judge.run(metric, turn=turn, reply="r"))
    assert result.status != "error", result.reason
    letters = sum(len(message["content"]) for body in judge.requests for message in body["messages"])
    requests, tokens = ROWS[name]
    assert len(judge.requests) == requests
    assert letters / 4 == pytest.approx(tokens, rel=0.03)


def test_the_table_has_every_metric():
    from holodeck_nb.schema.metrics import RAG_NAMES, STANDARD_NAMES

    assert {*STANDARD_NAMES, *RAG_NAMES, "geval", "code", "evaluate"} == ROWS.keys()
