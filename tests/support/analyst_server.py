"""The sample's scripted analyst as fixtures of a provider's test server: the same calls, the same words."""

from pathlib import Path

import yaml

SAMPLE = Path(__file__).parents[2] / "sample/financial-assistant"


def analyst_fixtures(suite):
    """For each turn its tool calls, where it has some, and then its answer; told apart by the input."""
    replies = yaml.safe_load((SAMPLE / "replies/analyst.yaml").read_text(encoding="utf-8"))
    for case in suite.cases:
        for turn, reply in zip(case.conversation, replies[case.name], strict=True):
            calls = [
                {"name": call["name"], "arguments": call["args"]} for call in reply.get("tool_calls", [])
            ]
            if calls:
                asked = {"userMessage": turn.input, "hasToolResult": False}
                yield {"match": asked, "response": {"toolCalls": calls}}
            yield {"match": {"userMessage": turn.input}, "response": {"content": reply["text"]}}
