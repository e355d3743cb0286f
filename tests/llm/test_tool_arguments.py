import pytest

from holodeck_nb.llm.chat_model import ChatRequest, ToolResult, ToolResults
from holodeck_nb.llm.tool_arguments import CallIds, read_call

ARGUMENTS = [
    #  as sent                args                    what is wrong
    ('{"a": 1}',              {"a": 1},               None),
    ({"a": 1},                {"a": 1},               None),  # some local servers send no text
    ("",                      {},                     None),
    (None,                    {},                     None),
    ("null",                  {},                     None),
    ('{"cell": "r1',          None,                   "the arguments are no JSON"),
    ('{"a": NaN}',            None,                   "NaN is no JSON number"),
    ("[1]",                   None,                   "must be a JSON object, got a list"),
    ('"{}"',                  None,                   "must be a JSON object, got a text"),
    ("3",                     None,                   "must be a JSON object, got the value 3"),
    ("[" * 100_000,           None,                   "the arguments are no JSON"),
    ('{"a": 10e999}',         {"a": float("inf")},    None),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "args", "fault"), ARGUMENTS, ids=[str(row[0])[:20] for row in ARGUMENTS])
def test_arguments(sent, args, fault):
    call = read_call("k", "lookup", sent)
    assert call.args == args
    if fault is None:
        assert call.fault is call.raw_args is None
    else:
        assert fault in call.fault
        assert call.raw_args == sent


def test_a_name_that_is_no_text_is_empty():
    assert read_call("k", None, "{}").name == ""


def test_ids_are_unique_in_the_conversation():
    before = ToolResults((ToolResult("k1", "f", "x"), ToolResult("call_1", "f", "x")))
    ids = CallIds(ChatRequest((before,)))
    assert [ids.unique(given) for given in ("k2", "k1", None, "k2", "", 7)] == [
        "k2", "call_4", "call_5", "call_6", "call_7", "call_8",
    ]  # fmt: skip
