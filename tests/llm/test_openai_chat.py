import pytest

from holodeck_nb.errors import TurnError
from holodeck_nb.llm.chat_model import (
    AssistantMessage,
    ChatRequest,
    ToolResult,
    ToolResults,
    ToolSpec,
    UserMessage,
)
from holodeck_nb.llm.faults import MalformedReplyError
from holodeck_nb.llm.openai_chat import ChatCompletions
from holodeck_nb.results.records import TokenUsage

ASKED = ChatRequest((UserMessage("q"),))
CLOSED = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}


def read(message, reason="stop", request=ASKED, **reply):
    choice = {"message": message, "finish_reason": reason}
    return ChatCompletions({}).completion({"choices": [choice], **reply}, request)


def body(*messages, **request):
    return ChatCompletions({"model": "m"}).body(ChatRequest(messages, **request))


def test_the_conversation_as_sent():
    tool = ToolSpec("add", "Add.", CLOSED)
    raw = {"role": "assistant", "content": None, "tool_calls": [{"id": "k"}], "unknown": 1}
    results = ToolResults((ToolResult("k", "add", "3"),))
    sent = body(UserMessage("1 + 2"), AssistantMessage(raw), results, instructions="be brief", tools=(tool,))
    assert sent == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "1 + 2"},
            raw,
            {"role": "tool", "tool_call_id": "k", "content": "3"},
        ],
        "tools": [
            {"type": "function", "function": {"name": "add", "description": "Add.", "parameters": CLOSED}}
        ],
    }


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        ({**CLOSED, "required": []}, False),  # strict output must require every property
        ({**CLOSED, "additionalProperties": True}, False),
        ({"type": "array", "items": CLOSED}, True),
        ({"type": "array", "items": {**CLOSED, "required": []}}, False),
    ],
)
def test_a_schema_is_strict_where_it_can_be(schema, strict):
    form = body(UserMessage("q"), response_format={"title": "my reply", **schema})["response_format"]
    assert form["json_schema"]["name"] == "my_reply"
    assert form["json_schema"]["strict"] is strict
    assert ("'additionalProperties': False" in str(form)) is strict


@pytest.mark.parametrize(
    ("head", "media_type"),
    [(b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF89a", "gif"), (b"RIFF0000WEBP", "webp")],
)
def test_images_by_their_first_bytes(head, media_type):
    [message] = body(UserMessage("q", (head,)))["messages"]
    assert message["content"][1]["image_url"]["url"].startswith(f"data:image/{media_type};base64,")


def test_an_image_that_no_model_sees():
    with pytest.raises(TurnError, match="none of PNG, JPEG, GIF and WebP"):
        body(UserMessage("q", (b"BM",)))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("yes", "yes"),
        (None, ""),
        ("", ""),
        ([{"type": "text", "text": "a"}, {"type": "x"}, {"type": "text", "text": "b"}], "ab"),
        (17, ""),
    ],
)
def test_the_visible_text(content, text):
    assert read({"content": content}).text == text


def test_null_content_is_sent_back_as_a_server_takes_it():
    assert read({"content": None, "annotations": None}).message.raw == {"role": "assistant", "content": ""}
    calls = [{"function": {"name": "f", "arguments": "{}"}}]
    assert read({"content": None, "tool_calls": calls}).message.raw["content"] is None


def test_what_is_received_is_sent_back():
    message = {"role": "assistant", "content": "x", "reasoning_content": "hm", "annotations": []}
    assert read(message).message.raw == message


def test_a_refusal_is_the_text():
    reply = read({"content": None, "refusal": "I cannot."})
    assert (reply.text, reply.refused) == ("I cannot.", True)
    assert reply.message.raw == {"role": "assistant", "refusal": "I cannot.", "content": None}


@pytest.mark.parametrize(
    ("reason", "refused", "truncated"),
    [
        ("stop", False, False), ("length", False, True), ("content_filter", True, False),
        ("brand_new", False, False), (None, False, False), (7, False, False),
    ],
)  # fmt: skip
def test_stop_reasons(reason, refused, truncated):
    reply = read({"content": "x"}, reason)
    assert (reply.refused, reply.truncated) == (refused, truncated)
    assert reply.finish_reason == (reason if isinstance(reason, str) else None)


def test_calls_without_ids_and_with_the_same_ones():
    function = {"name": "f", "arguments": {"x": 1}}
    calls = [{"function": function}, {"id": "k", "function": function}, {"id": "k", "function": function}]
    reply = read({"content": None, "tool_calls": calls})
    assert [call.id for call in reply.tool_calls] == ["call_1", "k", "call_3"]
    assert [call["id"] for call in reply.message.raw["tool_calls"]] == ["call_1", "k", "call_3"]
    assert reply.message.raw["tool_calls"][0] == {
        "id": "call_1",
        "type": "function",
        "function": {"name": "f", "arguments": '{"x": 1}'},
    }


USAGES = [
    ({"prompt_tokens": 9, "completion_tokens": 4}, TokenUsage(9, 4)),
    ({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 99}, TokenUsage(9, 4)),
    ({"prompt_tokens": 9}, TokenUsage(9)),
    ({"total_tokens": 13}, TokenUsage(total_tokens=13)),
    (
        {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 5}},
        TokenUsage(9, 4, cache_read_tokens=5),
    ),
    ({"prompt_tokens": "9", "completion_tokens": -1}, None),
    ({}, None),
    (None, None),
    ([], None),
]


@pytest.mark.parametrize(("reported", "usage"), USAGES)
def test_usage(reported, usage):
    assert read({"content": "x"}, usage=reported).usage == usage


@pytest.mark.parametrize("reply", [{}, {"choices": []}, {"choices": [{}]}, {"choices": [{"message": None}]}])
def test_a_reply_without_a_message(reply):
    with pytest.raises(MalformedReplyError):
        ChatCompletions({}).check(reply)


def test_probabilities_are_asked_for_where_they_are_wanted():
    assert body(UserMessage("q"), top_logprobs=5) | {"messages": []} == {
        "model": "m", "messages": [], "logprobs": True, "top_logprobs": 5,
    }  # fmt: skip
    assert "logprobs" not in body(UserMessage("q"))
