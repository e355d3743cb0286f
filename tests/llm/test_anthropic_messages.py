import pytest

from holodeck_nb.llm.anthropic_messages import Messages
from holodeck_nb.llm.chat_model import (
    AssistantMessage,
    ChatRequest,
    ToolResult,
    ToolResults,
    ToolSpec,
    UserMessage,
)
from holodeck_nb.llm.faults import MalformedReplyError
from holodeck_nb.results.records import TokenUsage

TEXT = {"type": "text", "text": "done"}


def read(content, reason="end_turn", **reply):
    asked = ChatRequest((UserMessage("q"),))
    return Messages({}).completion({"content": content, "stop_reason": reason, **reply}, asked)


def body(*messages, **request):
    return Messages({"model": "m", "output_config": {"effort": "low"}}).body(ChatRequest(messages, **request))


def test_tool_results_come_first_in_the_next_user_message():
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s=="}
    use = {"type": "tool_use", "id": "k", "name": "add", "input": {}}
    raw = {"role": "assistant", "content": [thinking, use]}
    failed = ToolResults((ToolResult("k", "add", "Error: late", is_error=True),))
    sent = body(UserMessage("a"), AssistantMessage(raw), failed, UserMessage("b"))["messages"]
    assert sent == [
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        raw,
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "k", "content": "Error: late", "is_error": True},
                {"type": "text", "text": "b"},
            ],
        },
    ]


def test_an_answer_without_content_is_left_out():
    sent = body(UserMessage("a"), AssistantMessage({"content": []}), UserMessage("b"))["messages"]
    assert [len(message["content"]) for message in sent] == [2]


def test_instructions_tools_schema_and_images():
    schema = {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "object"}}}}
    sent = body(
        UserMessage("q", (b"GIF89a",)),
        instructions="be brief",
        tools=(ToolSpec("add", "Add.", {"type": "object"}),),
        response_format=schema,
    )
    assert sent["system"] == "be brief"
    assert sent["tools"] == [{"name": "add", "description": "Add.", "input_schema": {"type": "object"}}]
    form = sent["output_config"]["format"]["schema"]
    assert sent["output_config"]["effort"] == "low"
    assert form["additionalProperties"] is form["properties"]["x"]["items"]["additionalProperties"] is False
    assert sent["messages"][0]["content"][0]["source"]["media_type"] == "image/gif"


def test_thinking_blocks_and_unknown_ones_are_sent_back():
    blocks = [{"type": "thinking", "thinking": "", "signature": "s"}, {"type": "new", "x": 1}, TEXT]
    reply = read([*blocks, {"type": "text", "text": ""}])
    assert reply.text == "done"
    assert reply.message.raw == {"role": "assistant", "content": blocks}


def test_calls():
    use = {"type": "tool_use", "id": "k", "name": "add", "input": {"a": 1}}
    reply = read([use, {**use, "input": '{"a": 2'}, {"type": "tool_use", "name": "add"}], "tool_use")
    assert [(call.id, call.args) for call in reply.tool_calls] == [
        ("k", {"a": 1}), ("toolu_2", None), ("toolu_3", {}),
    ]  # fmt: skip
    assert [block["input"] for block in reply.message.raw["content"]] == [{"a": 1}, {}, {}]


REASONS = [
    #  stop reason                     refused truncated paused
    ("end_turn",                       False,  False,    False),
    ("max_tokens",                     False,  True,     False),
    ("model_context_window_exceeded",  False,  True,     False),
    ("refusal",                        True,   False,    False),
    ("pause_turn",                     False,  False,    True),
    ("brand_new",                      False,  False,    False),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "refused", "truncated", "paused"), REASONS)
def test_stop_reasons(reason, refused, truncated, paused):
    reply = read([TEXT], reason)
    assert (reply.refused, reply.truncated, reply.paused) == (refused, truncated, paused)
    assert reply.finish_reason == reason


def test_a_refusal_without_text_is_explained():
    reply = read([], "refusal", stop_details={"type": "refusal", "explanation": "policy"})
    assert (reply.text, reply.refused) == ("policy", True)
    assert read([], "refusal", stop_details=None).text == ""


USAGES = [
    ({"input_tokens": 9, "output_tokens": 4}, TokenUsage(9, 4)),
    (
        {
            "input_tokens": 9,
            "output_tokens": 4,
            "cache_read_input_tokens": 5,
            "cache_creation_input_tokens": 2,
        },
        TokenUsage(16, 4, cache_creation_tokens=2, cache_read_tokens=5),
    ),
    ({"output_tokens": 4}, TokenUsage(completion_tokens=4)),
    (None, None),
]


@pytest.mark.parametrize(("reported", "usage"), USAGES)
def test_usage_is_normalised(reported, usage):
    assert read([TEXT], usage=reported).usage == usage


@pytest.mark.parametrize("reply", [{}, {"content": None}, {"content": "text"}])
def test_a_reply_without_content(reply):
    with pytest.raises(MalformedReplyError):
        Messages({}).check(reply)


def test_probabilities_are_not_asked_for_where_none_are_told():
    assert "logprobs" not in str(body(UserMessage("q"), top_logprobs=20))
    assert read([TEXT]).logprobs is None
