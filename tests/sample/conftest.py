"""The sample as its user has it: its folder, and copies that a test may spoil."""

import shutil
from pathlib import Path

import convfinqa
import pytest

import holodeck_nb as hd

SAMPLE = Path(__file__).resolve().parents[2] / "sample" / "financial-assistant"


@pytest.fixture(scope="session")
def sample():
    return SAMPLE


@pytest.fixture
def copy(tmp_path):
    """A copy of the sample's folder."""
    return Path(
        shutil.copytree(SAMPLE, tmp_path / "sample", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    )


@pytest.fixture(scope="session")
def suite():
    return hd.Suite.from_yaml(SAMPLE / "agent.yaml")


@pytest.fixture(scope="session")
def run(suite):
    return suite.run(quiet=True)


@pytest.fixture(scope="session")
def careless():
    return hd.Suite.from_yaml(SAMPLE / "careless.yaml").run(quiet=True)


@pytest.fixture(scope="session")
def dialogues():
    """ConvFinQA's development split by id; skips visibly where the data is not there."""
    if not convfinqa.DATA_FILE.exists():
        pytest.skip(f"no ConvFinQA data at {convfinqa.DATA_FILE}")
    return {dialogue["id"]: dialogue for dialogue in convfinqa.dialogues()}
