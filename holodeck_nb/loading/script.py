"""The reply file of a scripted agent, with every problem located like a suite's."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from holodeck_nb.schema.script import SCRIPT, Script

from .places import Places
from .problems import findings_of
from .suite_file import read_file

__all__ = ["load_script"]


def load_script(path: Path, name: str) -> Script:
    """Read a reply file: a mapping from case names (or `#0`) to a list of replies.

    Args:
        path: Where it lies.
        name: The file as the user named it, for messages.

    Raises:
        ConfigError: With every mistake in it.
    """
    read = read_file(path, name)
    findings = list(read.findings)
    script: Script = {}
    try:
        script = SCRIPT.validate_python(read.data)
    except ValidationError as error:
        findings += findings_of(error, Script)
    if findings:
        raise Places(read.data, read.source, None, ()).error(findings)
    return script
