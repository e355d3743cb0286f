"""Kernels for tests, over sockets of the file system: a free port may be taken a moment later."""

import tempfile
from pathlib import Path

from nbclient import NotebookClient
from traitlets.config import Config


def notebook_client(notebook, **options):
    """A client that runs the cells of `notebook` in a fresh kernel."""
    place = Path(tempfile.mkdtemp(prefix="kernel-")) / "socket"
    over_files = Config({"KernelManager": {"transport": "ipc", "ip": str(place)}})
    return NotebookClient(notebook, timeout=60, config=over_files, **options)
