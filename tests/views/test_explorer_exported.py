"""The explorer in a real kernel, and what of it is left in a saved, exported or mailed notebook."""

import gc
import json
import os
import sys
import warnings

import nbformat
import pytest
from kernels import notebook_client
from nbconvert import HTMLExporter, MarkdownExporter

WIDGET = "application/vnd.jupyter.widget-view+json"
CELLS = (
    """
import holodeck_nb as hd
cases = [{"name": name, "input": "how much?", "ground_truth": "x"} for name in ("n1", "n2")]
suite = hd.Suite(name="n", evaluations=[{"type": "equality"}], test_cases=cases)
run = suite.run(agent=lambda text, conversation: "x" if conversation.case == "n1" else "y", quiet=True)
""",
    "explorer = run.explore()\nexplorer",
    "explorer._handle_custom_msg({'ask': 'conversation', 'id': 1, 'place': 0}, [])\nexplorer.selection.shape",
)
# ipykernel and its channels close sockets when the garbage collector comes by.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module", params=["installed", "6"])
def notebook(request, tmp_path_factory):
    python = sys.executable if request.param == "installed" else os.environ.get("HOLODECK_NB_KERNEL6")
    if not python:
        pytest.skip("HOLODECK_NB_KERNEL6 names no Python with ipykernel 6")
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    book = nbformat.v4.new_notebook(cells=cells)
    folder = tmp_path_factory.mktemp("jupyter")
    spec = folder / "kernels" / "chosen" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "chosen", "language": "python"}))
    with pytest.MonkeyPatch.context() as patched, warnings.catch_warnings():
        patched.setenv("JUPYTER_PATH", str(folder))
        warnings.simplefilter("ignore", ResourceWarning)
        notebook_client(book, kernel_name="chosen", store_widget_state=False).execute()
        gc.collect()  # its sockets, here and not in somebody else's test
    return book


def test_the_cell_holds_the_widget_and_the_page(notebook):
    widget, page = (output["data"] for output in notebook.cells[1].outputs)
    assert set(widget) == {WIDGET, "text/plain"}
    assert widget["text/plain"].startswith("<Explorer 'n': 1 of 2 cases passed (50.0 %)")
    assert set(page) == {"text/html", "text/plain"}
    for kind in ("text/html", "text/plain"):
        assert all(part in page[kind] for part in ("n1", "n2", "how much?", "equality"))
    assert notebook.cells[2].outputs[0]["data"]["text/plain"].startswith("(1, ")


def test_exported_it_shows_the_conversations(notebook):
    html, _ = HTMLExporter(template_name="lab").from_notebook_node(notebook)
    outputs = html.split("<body")[1]
    for part in ("✗\xa0failed", "n2", "how much?", "Ground truth", "equality: "):
        assert part in outputs
    assert "model not found" not in outputs
    assert 'class="holodeck-nb hn-static"' in outputs
    markdown, _ = MarkdownExporter().from_notebook_node(notebook)
    assert "how much?" in markdown


def test_what_is_kept_is_small(notebook):
    assert len(json.dumps(notebook.cells[1].outputs)) < 40_000
