"""One browser for the folder, one Jupyter server a kind; skipped in plain sight where there is no browser."""

from pathlib import Path

import pytest
from jupyter_pages import CHROMIUM, browser, jupyter, page_of, write_notebook

SCREENSHOTS = Path(__file__).parent / "screenshots"
CELLS = (
    "import runs_to_show\nrun = runs_to_show.careless()\nrun",
    "explorer = run.explore()\nexplorer",
    "runs_to_show.hostile().explore()",
    "print('all', 'done')",
)


def pytest_collection_modifyitems(items):
    """One worker for all of them, and no browser, no test: the reason is shown."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))
            item.add_marker(pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"))
            # Sockets of the browser's pipes are closed by the garbage collector.
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@pytest.fixture(scope="module")
def running():
    with browser() as started:
        yield started


@pytest.fixture(scope="module", params=["lab", "notebook"])
def server(request, tmp_path_factory):
    root = tmp_path_factory.mktemp("notebooks")
    for name in ("light", "dark"):
        write_notebook(root / f"{name}.ipynb", *CELLS)
    with jupyter(request.param, root) as started:
        yield started


@pytest.fixture
def shot():
    """Keep a picture of a page or an element, for people to look at."""
    SCREENSHOTS.mkdir(exist_ok=True)
    return lambda target, name: target.screenshot(path=SCREENSHOTS / f"{name}.png")


@pytest.fixture
def file_page(running):
    """Open a file from disk; at the end nothing was fetched, nothing was said on the console."""
    opened = []

    def open_file(path, *, dark=False):
        manager = page_of(running, "file:", dark=dark)
        page, witness = manager.__enter__()
        opened.append((manager, witness))
        page.goto(path.as_uri())
        return page

    yield open_file
    for manager, witness in opened:
        manager.__exit__(None, None, None)
        assert (witness.foreign, witness.errors) == ([], [])
