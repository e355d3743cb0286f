"""A suite that uses every block and every key there is loads, and says what was written."""

from pathlib import Path

import jsonschema
import pytest
from pydantic import BaseModel

from holodeck_nb.loading.loader import load_suite
from holodeck_nb.loading.nodes import NodeReader
from holodeck_nb.loading.writer import suite_yaml
from holodeck_nb.loading.yaml_source import compose
from holodeck_nb.schema.case import Case
from holodeck_nb.schema.suite import SuiteConfig
from holodeck_nb.schema.values import untyped

SUITE = Path(__file__).with_name("every_key.yaml")
EMPTY_FILES = ("prompt.md", "replies.yaml", "tools.py", "data/report.pdf", "data/deck.pptx", "data/book.xlsx")
# Told apart by these alone: one of two stands in each place.
NEVER_TOGETHER = {("SuiteConfig", "test_cases_file"), ("Instructions", "inline")}


@pytest.fixture
def suite(tmp_path, monkeypatch):
    text = SUITE.read_text(encoding="utf-8")
    for name in (
        "prompt.md",
        "replies.yaml",
        "tools.py",
        "data/report.pdf",
        "data/deck.pptx",
        "data/book.xlsx",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (tmp_path / "graders.py").write_text("def close(context):\n    return True\n")
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    (tmp_path / ".env").write_text("SEARCH_KEY=search-key-1\nTOKEN='token 2'\n")
    monkeypatch.setenv("JUDGE_KEY", "judge-key-3")
    return load_suite(tmp_path / "agent.yaml")


def models_in(value):
    if isinstance(value, BaseModel):
        yield value
        for name in type(value).model_fields:
            yield from models_in(getattr(value, name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from models_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from models_in(item)


def test_every_key_of_every_model_is_in_the_file(suite):
    given, known = set(), set()
    for model in models_in(suite.config):
        kind = type(model).__name__
        given |= {(kind, name) for name in model.model_fields_set if getattr(model, name) is not None}
        known |= {(kind, name) for name in type(model).model_fields}
    assert known - given == NEVER_TOGETHER
    assert "Turn" in {kind for kind, _ in known}
    assert len(known) > 200


def test_the_graders_are_imported(suite):
    assert {reference: grader.__name__ for reference, grader in suite.graders.items()} == {
        "graders:close": "close"
    }


def test_secrets_are_read_and_never_shown(suite):
    database = suite.config.tools[3].database
    assert suite.config.evaluations.model.api_key.reveal() == "judge-key-3"
    assert database.connection_string.reveal() == "postgres://me:token 2@host/db"
    assert suite.config.tools[1].env["API_KEY"].reveal() == "search-key-1"
    shown = repr(suite) + str(suite.config) + suite_yaml(suite.config)
    for secret in ("judge-key-3", "token 2", "search-key-1"):
        assert secret not in shown


def test_what_is_written_reads_back_the_same(suite):
    text = suite_yaml(suite.config)
    again = suite.folder / "again.yaml"
    again.write_text(text, encoding="utf-8")
    assert load_suite(again).config == suite.config
    assert suite_yaml(load_suite(again).config) == text


def test_the_published_schema_accepts_it():
    data = untyped(NodeReader().read(compose(SUITE.read_text(encoding="utf-8"), "agent.yaml")))
    jsonschema.validate(data, SuiteConfig.model_json_schema())
    with pytest.raises(jsonschema.ValidationError, match="modle"):
        jsonschema.validate({**data, "modle": 1}, SuiteConfig.model_json_schema())


def test_a_case_of_one_turn_is_a_conversation(suite):
    single = next(case for case in suite.config.cases if not case.multi_turn)
    assert isinstance(single, Case)
    assert [turn.input for turn in single.conversation] == [single.input]
    assert single.conversation[0].files == single.files
