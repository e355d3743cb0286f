"""Real models, where somebody asks for it: HOLODECK_LIVE=openai:gpt-4o-mini pytest -m live."""

import os

import pytest

import holodeck_nb as hd

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not os.environ.get("HOLODECK_LIVE"), reason="HOLODECK_LIVE names no model"),
]


def test_a_conversation_with_a_tool():
    def multiply(a: float, b: float) -> float:
        """Multiply two numbers."""
        return a * b

    turns = [
        {"input": "What is 1234.5 times 17?", "ground_truth": "20986.5", "expected_tools": ["multiply"]},
        {"input": "And that times 2?", "ground_truth": "41973", "expected_tools": ["multiply"]},
    ]
    cases = [{"name": "numbers", "turns": turns, "evaluations": [{"type": "numeric"}]}]
    suite = hd.Suite(name="live", model=os.environ["HOLODECK_LIVE"], test_cases=cases)
    asked = suite.with_tools([multiply]).with_instructions(
        "Compute with the tool. Answer with the number alone."
    )
    run = asked.run(quiet=True)
    assert run.failures.empty, run.failures["reason"].tolist()
    assert run.turns["total_tokens"].notna().all()
