"""The ConvFinQA development split, where it is there."""

import convfinqa
import pytest
import yaml


@pytest.fixture(scope="session")
def convfinqa_file(tmp_path_factory):
    """The whole split as a suite file; skips visibly where the data is not there."""
    if not convfinqa.DATA_FILE.exists():
        pytest.skip(f"no ConvFinQA data at {convfinqa.DATA_FILE}")
    path = tmp_path_factory.mktemp("convfinqa") / "agent.yaml"
    path.write_text(yaml.safe_dump(convfinqa.suite(), sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path
