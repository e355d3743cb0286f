"""Fixtures of the loader's tests: suites as real files, and what loading them says."""

import sys
import textwrap
from pathlib import Path

import pytest

from holodeck_nb.errors import ConfigError
from holodeck_nb.loading.loader import load_suite

sys.path.append(str(Path(__file__).parent))  # random_suites serves two files of tests


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write files into a folder of their own, which is also the working directory."""
    monkeypatch.chdir(tmp_path)

    def writer(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return writer


@pytest.fixture
def load(write):
    """Load a suite from its text."""

    def loader(text):
        write("agent.yaml", text)
        return load_suite("agent.yaml")

    return loader


@pytest.fixture
def refusal(load):
    """The whole message with which a suite is refused."""

    def message(text):
        with pytest.raises(ConfigError) as refused:
            load(text)
        return str(refused.value)

    return message
