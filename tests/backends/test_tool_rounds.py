"""Calls and results stay together; the reference's rows for its pairing by place and by id."""

import asyncio

import cases_interpreter as cases
import pytest

from holodeck_nb.backends.function_tools import BoundTool, FunctionTools
from holodeck_nb.backends.tool_rounds import ToolRound
from holodeck_nb.llm.chat_model import ToolCall

# Results come from calls alone: there is no result that no call has asked for.
ORPHAN = "call_pairing-05"


def call_pairing(rows):
    return [row for row in rows if row["area"] == "call_pairing" and row["id"] != ORPHAN]


@pytest.mark.parametrize("row", cases.rows("peer_conformance.json", call_pairing))
def test_results_of_the_reference(row):
    given = row["input"]
    calls = [
        ToolCall(call.get("call_id", f"#{place}"), call["name"], call.get("arguments", {}))
        for place, call in enumerate(given["calls"])
    ]
    results = {
        result.get("call_id", f"#{place}"): result["result"] for place, result in enumerate(given["results"])
    }

    def tool(call):
        async def answer(**_):
            if call.id not in results:
                await asyncio.sleep(9)
            return results[call.id]

        return BoundTool(call.name, "", answer, {})

    round_ = ToolRound(calls)

    async def play():
        task = asyncio.create_task(round_.run(FunctionTools(tuple(tool(call) for call in calls))))
        await asyncio.wait([task], timeout=0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(play())
    made, wanted = round_.invocations, row["expected"]
    assert [call.result for call in made] == wanted.get("results", [])
    errors = wanted.get("errors", [None if call.result else "no result received" for call in made])
    assert [call.error and call.error.partition(":")[0] for call in made] == errors
    assert [result.call_id for result in round_.results().results] == [call.id for call in calls]
