"""Kills a hundred runs at random moments and resumes each: `python tests/bench/kill_runs.py [kills]`."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import killed_runs


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print("seed, when it was killed, what became of it")
    lost = 0
    for seed in range(kills):
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(killed_runs.killing(Path(folder), seed), flush=True)
            except AssertionError as fault:
                lost += 1
                print(f"{seed:>4}  FAILED: {fault}", flush=True)
    print(f"{kills} runs killed, {lost} with a fault")
    return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
