"""How fast numbers are read, and how far printed and executed answers of ConvFinQA agree.

Run: python -m pytest tests/bench/bench_numbers.py -m bench -s
"""

import json
from decimal import Decimal
from pathlib import Path
from timeit import repeat

import pytest

from holodeck_nb.matching.numbers import decimal_of, read_number, whole_number

CONVFINQA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "convfinqa_dataset.json"

SHORT = ["25587", "35.8", "25,587", "14.1%", "$25,587", "(14.1%)", "$1.2 million"]
PROSE = [
    "The answer is 25,587, which is the change.",
    "The change is 35.80 (60.94 - 25.14).",
    "In 2007 it was 60.94 and in 2005 25.14, so the change is 35.80",
]
LONG = {
    "100,000 characters of prose": "Net revenue was $25,587 in 2009. The company sold more than before. "
    * 1_470,
    "100,000 characters without digits": "Net revenue was higher than before, so the answer is yes. " * 1_724,
    "20,000 blanks": " " * 20_000,
    "400 digits": "9" * 400,
    "nested brackets": "(" * 50_000 + "5" + ")" * 50_000,
}


def microseconds(function, text, number):
    return min(repeat(lambda: function(text), number=number, repeat=5)) / number * 1e6


@pytest.mark.bench
def test_time_of_a_reading():
    for text in [*SHORT, *PROSE]:
        read, whole = microseconds(read_number, text, 3_000), microseconds(whole_number, text, 3_000)
        print(f"{read:8.1f} µs read_number {whole:8.1f} µs whole_number   {text}")
    for name, text in LONG.items():
        print(f"{microseconds(read_number, text, 1) / 1e3:8.1f} ms read_number   {name}")


@pytest.mark.bench
@pytest.mark.skipif(not CONVFINQA.exists(), reason="no ../shared/data/convfinqa_dataset.json")
def test_agreement_on_convfinqa():
    dialogues = [item["dialogue"] for item in json.loads(CONVFINQA.read_text("utf-8"))["dev"]]
    turns = [
        (read_number(said), decimal_of(run))
        for item in dialogues
        for said, run in zip(item["conv_answers"], item["executed_answers"], strict=True)
        if not isinstance(run, str)
    ]
    apart = [(abs(said.value - run), run, said.chosen.quantum) for said, run in turns]
    for name, agrees in {
        "absolute 1e-6": lambda difference, run, shown: difference <= Decimal("1e-6"),
        "absolute 0.01": lambda difference, run, shown: difference <= Decimal("0.01"),
        "relative 1 %": lambda difference, run, shown: difference <= abs(run) / 100,
        "rounded to the digits shown": lambda difference, run, shown: difference <= shown / 2,
    }.items():
        count = sum(agrees(*facts) for facts in apart)
        print(f"{count:6} of {len(apart)}  {count / len(apart):6.1%}  {name}")
