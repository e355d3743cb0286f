# ruff: noqa: E501 - a message stands whole on its line, as its reader sees it
"""Files that are no suite at all: missing, binary, broken, too large, too deep."""

import textwrap

import pytest
import yaml

from holodeck_nb.errors import ConfigError
from holodeck_nb.loading import yaml_source
from holodeck_nb.loading.loader import load_suite

BROKEN = [
    ("", "agent.yaml: expected a mapping with `name` and `test_cases`, got an empty file"),
    ("# a comment\n", "agent.yaml: expected a mapping with `name` and `test_cases`, got an empty file"),
    ("name: a\n---\nname: b\n", """\
        agent.yaml:3: expected one document, and here begins a second one
            hint: keep one suite a file, without `---` between its parts"""),
    ("name: a\n\tmodel: b\n", """\
        agent.yaml:2: broken YAML: found a tab character that violates indentation, while scanning a plain scalar that begins on line 1
            hint: YAML is indented with blanks, never with tabs"""),
    ("name: a: b\n", """\
        agent.yaml:1: broken YAML: mapping values are not allowed in this context
            hint: put text with `: ` in it into quotes, and see that keys of one mapping begin in one column"""),
    ("name: [a, b\n", """\
        agent.yaml:2: broken YAML: did not find expected ',' or ']', while parsing a flow sequence that begins on line 1
            hint: inside `{…}` and `[…]`, put text with braces, brackets or commas (`${NAME}` too) into quotes"""),
    ("name: a\n  b: c\n", """\
        agent.yaml:2: broken YAML: mapping values are not allowed in this context
            hint: put text with `: ` in it into quotes, and see that keys of one mapping begin in one column"""),
    ("name: @a\n", """\
        agent.yaml:1: broken YAML: found character that cannot start any token, while scanning for the next token
            hint: put text that begins with this character into quotes"""),
    ("name: 'a\n", """\
        agent.yaml:2: broken YAML: found unexpected end of stream, while scanning a quoted scalar that begins on line 1"""),
    ("name: *nobody\n", "agent.yaml:1: broken YAML: found undefined alias"),
    (b"name: caf\xe9\n", """\
        agent.yaml:1: expected UTF-8 text, got the byte 0xe9
            hint: save the file as UTF-8"""),
    ("name: a".encode("utf-16"), """\
        agent.yaml: expected UTF-8 text, got UTF-16
            hint: save the file as UTF-8"""),
    (b"name: a\0b", "agent.yaml:1: expected text, got a binary file"),
    ("name: \u00e4\nb: a\x07b", "agent.yaml:2: the character U+0007 is not allowed in YAML"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BROKEN)
def test_a_file_that_is_no_suite_is_refused_in_one_message(content, message, write):
    write("agent.yaml", content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError) as refused:
        load_suite("agent.yaml")
    assert str(refused.value) == textwrap.dedent(message)
    assert "Traceback" not in str(refused.value)


def test_a_mark_of_the_byte_order_is_passed_over(write):
    write("agent.yaml", b"\xef\xbb\xbfname: caf\xc3\xa9")
    assert load_suite("agent.yaml").config.name == "café"


def test_a_wrong_path_is_told(write, tmp_path):
    write("folder/x.txt", "")
    for name, message in [
        ("nowhere.yaml", "nowhere.yaml: file not found"),
        ("folder", "folder: expected a file, got a folder\n    hint: name the YAML file in it"),
        ("a\0b", "a\0b: cannot be read: embedded null byte"),
    ]:
        with pytest.raises(ConfigError) as refused:
            load_suite(name)
        assert str(refused.value) == message
    assert load_suite(write("agent.yaml", "name: probe")).path == str(tmp_path / "agent.yaml")


def test_a_file_over_64_mib_is_refused_unread(write, tmp_path):
    for name in ("agent.yaml", "cases.yaml"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(64 * 1024 * 1024 + 1)
    with pytest.raises(ConfigError) as refused:
        load_suite("agent.yaml")
    assert str(refused.value) == (
        "agent.yaml: larger than 64 MiB\n    hint: split the test cases into several suites"
    )
    write("agent.yaml", "name: probe\ntest_cases_file: cases.yaml")
    with pytest.raises(
        ConfigError, match=r"agent.yaml:2: test_cases_file: file 'cases.yaml': larger than 64 MiB"
    ):
        load_suite("agent.yaml")


def bomb(key):
    lines = ["name: probe", f"{key}:", "  a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    return "\n".join(lines)


@pytest.mark.parametrize("key", ["deployment", "observability", "test_cases", "response_format"])
def test_an_alias_bomb_is_refused_in_every_block(key, refusal):
    message = refusal(bomb(key))
    assert "aliases unfold to more than a million values" in message
    assert message.startswith("agent.yaml:4: ")


DEEP = {
    "lists": "name: probe\ndeployment: " + "[" * 200 + "]" * 200,
    "very deep lists": "name: probe\ndeployment: " + "[" * 5000 + "]" * 5000,
    "mappings": "name: probe\ndeployment: " + "{a: " * 200 + "1" + "}" * 200,
    "a list in itself": "name: probe\ndeployment: &a [*a]",
    "a mapping in itself": "name: probe\ndeployment: &a {b: *a}",
    "a merge of itself": "name: probe\ndeployment: &a\n  <<: *a",
    "repeated keys": "name: probe\ndeployment: " + "{a: " * 150 + "1" + ", a: 2}" * 150,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_what_has_no_end_is_refused(text, refusal):
    assert "nested" in refusal(text)


def test_honest_aliases_may_be_many(load):
    cases = "\n".join("- turns: *turns" for _ in range(500))
    config = load(f"name: probe\ntest_cases:\n- turns: &turns [{{input: a}}, {{input: b}}]\n{cases}").config
    assert len(config.cases) == 501


def test_json_is_yaml(load):
    assert load('{"name": "probe", "test_cases": [{"input": "a\\u00e9\\n"}]}').config.cases[0].input == "aé\n"


TEXT = """\
name: probe
test_cases:
  - name: &n one
    turns:
      - {input: "a", ground_truth: *n, turn_config: {<<: {b: 1}, c: ~, d: !!str 5, e: !!int "7"}}
"""


def test_the_parser_without_libyaml_reads_the_same(load, monkeypatch):
    fast = load(TEXT).config
    assert fast.cases[0].turns[0].turn_config == {"b": 1, "c": None, "d": "5", "e": 7}
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    monkeypatch.setattr(yaml_source, "_COMPOSER", yaml_source._composer())
    assert load(TEXT).config == fast
    for text in ("name: [a", DEEP["very deep lists"], "name: a\n---\nb: c", "a: \x07", "name: x\ny: z"):
        with pytest.raises(ConfigError):
            load(text)
