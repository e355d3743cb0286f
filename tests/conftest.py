"""What all tests share: no journals but where a test asks for one, and the servers of providers."""

import os

import pytest
from hypothesis import settings
from servers import Aimock, Llmock, missing_node

os.environ["HOLODECK_JOURNAL"] = "false"  # child processes too

# No test fails on a clock: a busy machine may take its time over an example.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session")
def aimock(tmp_path_factory):
    """The first of two servers that others wrote; skips visibly where Node is not there."""
    if reason := missing_node():
        pytest.skip(reason)
    server = Aimock(tmp_path_factory.mktemp("aimock"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def llmock_server():
    """The second one."""
    server = Llmock()
    yield server
    server.stop()
