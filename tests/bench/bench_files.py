"""What reading files costs: seconds and peak memory, next to the bare library. Run it as a script.

Each row is measured in a process of its own, as memory that was once taken is seldom given back.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

SMALL, PAGES = 100, 3
LARGE_MB = 100


def make(folder):
    """100 small PDFs, and one of 100 MB: pages of text, each beside a picture that does not pack."""
    import os

    from documents import lines, pdf
    from PIL import Image
    from reportlab.lib.utils import ImageReader

    page = lines(*["cash and cash equivalents at the end of 2009 were 206,588 against 181,001"] * 40)
    for number in range(SMALL):
        pdf(folder / f"{number}.pdf", [page] * PAGES)

    def heavy(drawing):
        noise = ImageReader(Image.frombytes("RGB", (830, 410), os.urandom(830 * 410 * 3)))
        for x, y, text in page:
            drawing.drawString(x, y, text)
        drawing.drawImage(noise, 50, 20, width=100, height=50)

    pdf(folder / "large.pdf", [heavy] * LARGE_MB)
    print(f"one PDF of {(folder / 'large.pdf').stat().st_size / 1024**2:.0f} MB, {LARGE_MB} pages")


def by_library(folder, names):
    """Characters and seconds; nothing of ours."""
    from pypdf import PdfReader

    clock = time.perf_counter()
    characters = sum(len(page.extract_text()) for name in names for page in PdfReader(folder / name).pages)
    return characters, time.perf_counter() - clock


def by_suite(folder, names, **settings):
    """Characters and seconds of a run, its child processes started within."""
    import holodeck_nb as hd

    cases = [{"input": "q", "files": [{"path": name, "type": "pdf"}]} for name in names]
    suite = hd.Suite.from_dict({"name": "bench", "test_cases": cases}, folder=folder)
    clock = time.perf_counter()
    run = suite.run(agent=lambda text: str(len(text)), quiet=True, **settings)
    seconds = time.perf_counter() - clock
    assert run.passed, run
    return sum(int(turn.response) for case in run.result.cases for turn in case.turns), seconds


def peak_mib():
    """Of this process alone; getrusage would begin with the peak of the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measured(what, folder):
    """One row, in this process: what was read, in seconds, at which peak of memory."""
    small = [f"{number}.pdf" for number in range(SMALL)]
    rows = {
        "small, pypdf": lambda: by_library(folder, small),
        "small, suite": lambda: by_suite(folder, small, cache_enabled=False),
        "small, suite, 2 cases at once": lambda: by_suite(
            folder, small, cache_enabled=False, parallel_test_cases=2
        ),
        "small, suite, first time with a cache": lambda: by_suite(folder, small),
        "small, suite, from the cache": lambda: by_suite(folder, small),
        "large, pypdf": lambda: by_library(folder, ["large.pdf"]),
        "large, suite": lambda: by_suite(folder, ["large.pdf"], cache_enabled=False, file_timeout=120.0),
    }
    characters, seconds = rows[what]()
    print(json.dumps([characters, seconds, peak_mib()]))


ROWS = [
    "small, pypdf",
    "small, suite",
    "small, suite, 2 cases at once",
    "small, suite, first time with a cache",
    "small, suite, from the cache",
    "large, pypdf",
    "large, suite",
]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        for what in ROWS:
            command = [sys.executable, __file__, what, name]
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            characters, seconds, peak = json.loads(told.splitlines()[-1])
            print(
                f"{what:<42} {seconds:7.2f} s   parent's peak {peak:5.0f} MiB   {characters:>9,} characters"
            )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measured(sys.argv[1], Path(sys.argv[2]))
    else:
        main()
