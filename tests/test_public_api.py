"""What is promised: the public names, and how they come."""

import subprocess
import sys

import pytest

import holodeck_nb as hd

PROMISED = [
    "AgentBackend", "AgentSession", "ConfigError", "Conversation", "GraderContext", "GraderResult", "Message",
    "Problem", "Reply", "Run", "ScriptedBackend", "SessionContext", "SessionLostError", "Suite", "TokenUsage",
    "ToolInvocation", "TurnError", "__version__", "last_run", "metric", "runs",
]  # fmt: skip


def test_the_public_names_are_pinned():
    assert sorted(hd.__all__) == PROMISED


@pytest.mark.parametrize("name", PROMISED)
def test_every_public_name_is_there_and_documented_with_an_example(name):
    value = getattr(hd, name)
    assert name in dir(hd)
    if name != "__version__":
        assert ">>> " in value.__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'holodeck_nb' has no attribute 'Sweet'"):
        hd.Sweet  # noqa: B018 - the access is the test


def test_types_and_names_agree():
    """What type checkers see is what is fetched: each name's home is where it is imported from for them."""
    from pathlib import Path

    source = Path(hd.__file__).read_text(encoding="utf-8")
    for name, home in hd._HOMES.items():
        line = next(line for line in source.splitlines() if f"from .{home} import" in line)
        assert name in line.replace(",", " ").split()


def test_a_star_import_brings_exactly_the_public_names():
    code = (
        "from holodeck_nb import *; print(sorted(n for n in dir() if n in __import__('holodeck_nb').__all__))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str(PROMISED)
