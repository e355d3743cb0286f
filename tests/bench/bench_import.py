"""What importing costs, beside pandas and beside a bare interpreter. Run it as a script."""

import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from measure import row

STATEMENTS = ["pass", "import holodeck_nb", "import pandas", "from holodeck_nb import Suite"]


def main():
    seconds = {statement: [] for statement in STATEMENTS}
    for number in range(11):
        for statement in STATEMENTS:  # in turn, so that a slow moment of the machine meets all of them
            before = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            if number:
                seconds[statement].append(time.perf_counter() - before)
    for statement in STATEMENTS:
        row(f"python -c {statement!r}", seconds[statement])
    bare, ours, pandas, _ = (sorted(seconds[statement])[5] for statement in STATEMENTS)
    what = "import holodeck_nb / import pandas, without the interpreter"
    print(f"{what:<58} {(ours - bare) / (pandas - bare):9.2f}   goal 0.5")


if __name__ == "__main__":
    main()
