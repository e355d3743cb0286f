"""Break one rule of the contract at a time in a copy of the package: some test must notice each.

Run it as a program: `python tests/bench/break_rules.py [WORD…]`, to try only rules that hold one of them.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
AT_ONCE = 2
LIMIT_S = 120  # a rule whose breach never ends is noticed too

# What a breakage names the tests by that must notice it; anything else there is a path.
TESTS = {
    "tools": ("tests/matching/test_expected_tools.py", "tests/matching/test_arguments.py"),
    "numbers": ("tests/matching/test_numbers.py", "tests/metrics/test_numeric.py"),
    "metrics": tuple(
        f"tests/metrics/test_{name}.py"
        for name in ("base", "code", "equality", "grader_results", "numeric", "read_only", "response_path")
    ),
    "engine": ("tests/engine/test_scoring.py", "tests/engine/test_cases.py"),
    "schema": ("tests/loading/test_refused.py", "tests/schema", "tests/loading/test_shared_cases.py"),
}


class Breakage(NamedTuple):
    """A rule, and a small change of one file that breaks it."""

    rule: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def breakages():
    """Read the list: `@ rule | file | tests`, then the text before (`- `) and after (`+ `)."""
    text = Path(__file__).with_name("breakages.txt").read_text(encoding="utf-8")
    for block in text.split("\n@ ")[1:]:
        title, *lines = block.split("\n")
        rule, file, tests = title.split(" | ")
        old, new = ("\n".join(line[2:] for line in lines if line[:2] == sign) for sign in ("- ", "+ "))
        paths = dict.fromkeys(path for name in tests.split() for path in TESTS.get(name, (name,)))
        yield Breakage(rule, file, old, new, tuple(paths))


BREAKAGES = list(breakages())


def wrong_places():
    """Which breakages do not find the one place that they change."""
    package = PROJECT / "holodeck_nb"
    return [
        f"{each.rule}: {count} places in {each.file}"
        for each in BREAKAGES
        if (count := (package / each.file).read_text(encoding="utf-8").count(each.old)) != 1
    ]


class Copy:
    """A copy of the package, with the project's own tests beside it."""

    def __init__(self, folder):
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / "holodeck_nb", folder / "holodeck_nb", ignore=ignored)
        shutil.copy(PROJECT / "pyproject.toml", folder)
        for name in ("tests", "sample"):
            (folder / name).symlink_to(PROJECT / name)

    def notices(self, breakage, left_out):
        """The test that fails on the broken copy; None where none does."""
        file = self.folder / "holodeck_nb" / breakage.file
        whole = file.read_text(encoding="utf-8")
        file.write_text(whole.replace(breakage.old, breakage.new), encoding="utf-8")
        try:
            return next(iter(self.failing(breakage.tests, left_out=left_out)), None)
        finally:
            file.write_text(whole, encoding="utf-8")

    def failing(self, tests, *, left_out=(), all_of_them=False):
        """The tests that fail, without those left out: the first one, or all."""
        options = ["-q", "-p", "no:cacheprovider", *([] if all_of_them else ["-x"])]
        options += [f"--deselect={test}" for test in left_out]
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *options, *dict.fromkeys(tests)],
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LIMIT_S * (5 if all_of_them else 1),
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ["(never ends)"]
        if done.returncode == 0:
            return []
        told = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        told = [line.partition(" ")[2].split(" - ")[0] for line in told]
        return told or [f"(exit {done.returncode}) {done.stdout[-300:]}{done.stderr[-300:]}"]


def main():
    """Try every breakage; the exit code tells whether all were noticed."""
    words = sys.argv[1:] or [""]
    chosen = [each for each in BREAKAGES if any(word in f"{each.rule} {each.file}" for word in words)]
    if wrong := wrong_places():
        print("\n".join(wrong))
        return 2
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for place in range(AT_ONCE):
            (Path(folder) / str(place)).mkdir()
            copies.put(Copy(Path(folder) / str(place)))

        # Tests that fail without a breakage prove nothing.
        copy = copies.get()
        tests = [test for breakage in chosen for test in breakage.tests]
        left_out = copy.failing(tests, all_of_them=True)
        copies.put(copy)
        print("".join(f"fails on the sound package, left out: {test}\n" for test in left_out), end="")

        def tried(breakage):
            copy = copies.get()
            try:
                return breakage, copy.notices(breakage, left_out)
            finally:
                copies.put(copy)

        unnoticed = []
        for breakage, noticed in pool.map(tried, chosen):
            print(f"{'caught' if noticed else 'MISSED'}  {breakage.rule:45} {noticed or ''}", flush=True)
            if noticed is None:
                unnoticed.append(breakage.rule)
    caught = len(chosen) - len(unnoticed)
    print(f"{caught} of {len(chosen)} breakages caught; missed: {', '.join(unnoticed) or 'none'}")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
