"""What the explorer costs at 10, 1,000 and 10,000 cases: `python tests/bench/bench_explorer.py`."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import pytest
import runs_to_show
from jupyter_pages import CHROMIUM, browser, jupyter, open_notebook, page_of, write_notebook
from measure import cpu_and_wall, row

SIZES = (10, 1_000, 10_000)
NOTHING = {"status": "", "text": "", "metric": "", "reason": ""}


def kernel_side(cases):
    """What happens in the kernel, and how much it sends."""
    run = runs_to_show.many(cases)
    explorer = run.explore()
    last = cases - 1
    asks = {
        "a click": {"ask": "conversation", "place": last},
        "a page of the list": {"ask": "rows", "wanted": NOTHING, "from": max(0, cases - 100), "most": 100},
        "the next failure": {"ask": "step", "wanted": NOTHING, "place": 0, "turn": None, "by": 1},
        "a filter": {"ask": "rows", "wanted": {**NOTHING, "status": "failed"}, "from": 0, "most": 100},
        "a search": {
            "ask": "rows",
            "wanted": {**NOTHING, "text": f"{206_588 + last}"},
            "from": 0,
            "most": 100,
        },
    }
    row(f"{cases:,} cases: run.explore()", cpu_and_wall(run.explore, runs=5)[1], unit="ms")
    first = json.dumps({"_start": explorer._start, "_chosen": explorer._chosen})
    code = len(explorer._esm) + len(explorer._css)
    page = len(json.dumps(explorer._page()))
    print(f"    bytes: {len(first):,} first sight, {code:,} script and style, {page:,} static page")
    started = time.perf_counter()
    explorer._answer(asks["a search"])
    print(f"    the first search, which makes the texts: {1e3 * (time.perf_counter() - started):,.1f} ms")
    for what, told in asks.items():

        def ask(told=told):
            explorer._index._latest = None  # as if the filter were new
            return explorer._answer(told)

        row(f"    {what}: {len(json.dumps(ask())):,} bytes", cpu_and_wall(ask, runs=9)[1], unit="ms")
    row("    explorer.selection", cpu_and_wall(lambda: explorer.selection, runs=5)[1], unit="ms")


def browser_side(cases, server, running, root):
    """What a user waits for in JupyterLab."""
    write_notebook(
        root / f"{cases}.ipynb",
        f"import runs_to_show\nrun = runs_to_show.many({cases})\nother = run.explore()\nprint('all', 'done')",
        "run.explore()",
    )
    with page_of(running, server.address) as (page, _):
        open_notebook(page, server, f"{cases}.ipynb")
        page.evaluate("void window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
        page.get_by_text("all done", exact=True).wait_for(timeout=60_000)
        seconds = page.evaluate(
            """async (cases) => {
              const seen = (selector) => new Promise((resolve) => {
                const look = () => document.querySelector(selector) ? resolve() : requestAnimationFrame(look);
                look();
              });
              const name = () => document.querySelector(".hn-explorer header strong").textContent;
              const changed = (before) => new Promise((resolve) => {
                const look = () => name() === before ? requestAnimationFrame(look) : resolve();
                look();
              });
              let start = performance.now();
              void window.jupyterapp.commands.execute("notebook:run-cell");
              await seen(".hn-explorer .conversation");
              const first = performance.now() - start;
              const clicks = [];
              for (let line = 1; line < 9; line += 1) {
                const before = name();
                start = performance.now();
                document.querySelectorAll(".hn-explorer .case")[line].click();
                await changed(before);
                clicks.push(performance.now() - start);
              }
              const list = document.querySelector(".hn-explorer .list");
              start = performance.now();
              list.scrollTop = list.scrollHeight;
              await seen(`.hn-explorer .case[aria-posinset="${cases}"][title]`);
              return {first, clicks, end: performance.now() - start,
                      nodes: document.querySelectorAll(".hn-explorer *").length};
            }""",
            cases,
        )
        row(f"{cases:,} cases in JupyterLab: first display", [seconds["first"] / 1e3], unit="ms")
        row("    a click", [each / 1e3 for each in seconds["clicks"]], unit="ms")
        row("    to the end of the list", [seconds["end"] / 1e3], unit="ms")
        print(f"    elements on the page: {seconds['nodes']:,}")


def report(cases):
    run = runs_to_show.many(cases)
    started = time.perf_counter()
    page = run.to_html()
    print(f"{cases:,} cases, run.to_html(): {time.perf_counter() - started:.2f} s, {len(page) / 1e6:.2f} MB")


def main():
    for cases in SIZES:
        kernel_side(cases)
    for cases in SIZES:
        report(cases)
    if CHROMIUM is None:
        print("no Chromium on this machine: what the browser does is not measured")
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with jupyter("lab", root) as server, browser() as running:
            for cases in SIZES:
                browser_side(cases, server, running, root)


@pytest.mark.bench
def test_bench():
    main()


if __name__ == "__main__":
    main()
