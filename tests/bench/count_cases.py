"""How the shared cases stand: for each file how many pass, are decided otherwise, wait, and fail.

Run it as a program: `python tests/bench/count_cases.py`.
"""

import contextlib
import importlib.util
import io
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
CASES = PROJECT.parent / "shared" / "cases"
PEERS = PROJECT / "tests" / "acceptance" / "test_peer_conformance.py"
FILES = {
    "public_cases.json": lambda data: [row["id"] for row in data],
    "peer_conformance.json": lambda data: [row["id"] for row in data],
    "reference_faults.json": lambda data: [row["id"] for row in data],
    "number_reading.json": lambda data: [row["id"] for row in data],
    "argument_matching.json": lambda data: [row["id"] for part in data.values() for row in part],
}
TESTS = (
    "tests/acceptance/test_public_cases.py",
    "tests/acceptance/test_peer_conformance.py",
    "tests/acceptance/test_reference_faults.py",
    "tests/loading/test_shared_cases.py",
    "tests/matching",
    "tests/views/test_json_report.py",
    "tests/results",
)
STANDINGS = ("passing", "decided otherwise", "waiting", "failing", "not run")


class Standings:
    """A pytest plugin that notes what becomes of every test that bears the id of a case."""

    def __init__(self, known):
        self.known = known
        self.seen = {}

    def pytest_runtest_logreport(self, report):
        """Note a test's outcome; the worst of several counts, waiting before passing."""
        case = self.case_of(report.nodeid)
        if case is None or (report.when != "call" and not (report.failed or report.skipped)):
            return
        text = str(report.longrepr[2]) if report.skipped and isinstance(report.longrepr, tuple) else ""
        if report.failed:
            found = "failing"
        elif "waiting for" in text:
            found = "waiting"
        elif report.skipped:
            return  # decided otherwise there, and held to the decision elsewhere
        else:
            found = "passing"
        order = ("passing", "waiting", "failing")
        before = self.seen.get(case, ("passing", ""))
        self.seen[case] = max(
            before, (found, text.removeprefix("Skipped: ")), key=lambda s: order.index(s[0])
        )

    def case_of(self, nodeid):
        """The case that a test's parameters name: `[id]`, `[id-…]` or `[…-id]`."""
        inside = nodeid.partition("[")[2].removesuffix("]")
        parts = (inside, inside.partition("-")[0], inside.partition("-")[2])
        return next((part for part in parts if part in self.known), None)


def decisions():
    """What the contract decides otherwise, by id."""
    sys.path.insert(0, str(PROJECT / "tests" / "support"))
    spec = importlib.util.spec_from_file_location("peers", PEERS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {case: decision.sentence for case, decision in module.DECIDED.items()}


def main():
    """Print the table; the exit code tells whether nothing fails."""
    ids = {file: pick(json.loads((CASES / file).read_text(encoding="utf-8"))) for file, pick in FILES.items()}
    standings = Standings({case for cases in ids.values() for case in cases})
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        pytest.main(
            ["-q", "-p", "no:cacheprovider", *(str(PROJECT / test) for test in TESTS)], plugins=[standings]
        )
    decided = decisions()
    bad, notes = False, []
    print(f"{'':26}" + "".join(f"{standing:>19}" for standing in STANDINGS))
    for file, cases in ids.items():
        counts = Counter()
        for case in cases:
            standing, why = standings.seen.get(case, ("not run", ""))
            if standing in {"passing", "not run"} and case in decided:
                standing, why = "decided otherwise", decided[case]
            counts[standing] += 1
            if standing != "passing":
                notes.append(f"{file}: {case}: {standing}: {why}")
            bad = bad or standing in {"failing", "not run"}
        print(f"{file:26}" + "".join(f"{counts[standing]:19}" for standing in STANDINGS))
    print("\n".join(notes))
    if bad:
        print(said.getvalue()[-4000:])
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
