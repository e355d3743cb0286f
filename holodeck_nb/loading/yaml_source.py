"""A YAML file as a tree of nodes that know their lines; what is no YAML is refused with its place."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any

import yaml
from yaml.composer import Composer
from yaml.nodes import MappingNode, Node, ScalarNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from holodeck_nb.errors import ConfigError, Problem

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LISTED", "MAPPED", "PLAIN", "QUOTED", "compose", "read_text"]

MAX_BYTES = 64 * 1024 * 1024

# Tags of nodes that carry none of their own. They are no text, so that no file can write them.
PLAIN: Any = object()
QUOTED: Any = object()
LISTED: Any = object()
MAPPED: Any = object()


class _Untagged:
    """Leaves the meaning of plain scalars to the schema: no resolver looks at them."""

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        """Nothing to follow."""

    def ascend_resolver(self) -> None:
        """Nothing to follow."""

    def resolve(self, kind: type, value: Any, implicit: Any) -> Any:  # noqa: ARG002 - PyYAML calls it so
        """Only tell plain from quoted, a list from a mapping."""
        if kind is ScalarNode:
            return PLAIN if implicit[0] else QUOTED
        return MAPPED if kind is MappingNode else LISTED


class _PureComposer(_Untagged, Reader, Scanner, Parser, Composer):
    """PyYAML's own composer, for where libyaml is not there."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)


def _composer() -> type[Any]:
    if not yaml.__with_libyaml__:
        return _PureComposer
    from yaml._yaml import CParser  # noqa: PLC0415 - it is not there without libyaml

    class FastComposer(_Untagged, CParser):
        """The same in C."""

    return FastComposer


_COMPOSER = _composer()


def read_text(path: Path, name: str) -> str:
    """Read a suite file whole.

    Args:
        path: Where it lies.
        name: The file as the user named it, for messages.

    Raises:
        ConfigError: There is no such file, it is too large, or it is no UTF-8 text.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _refused("file not found", name) from None
    except IsADirectoryError:
        raise _refused("expected a file, got a folder", name, hint="name the YAML file in it") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _refused(f"cannot be read: {reason}", name) from error
    if len(content) > MAX_BYTES:
        raise _refused("larger than 64 MiB", name, hint="split the test cases into several suites")
    for mark, encoding in ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, ""), (codecs.BOM_UTF16_BE, "")):
        if content.startswith(mark):
            if not encoding:
                raise _refused("expected UTF-8 text, got UTF-16", name, hint="save the file as UTF-8")
            content = content[len(mark) :]
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"expected UTF-8 text, got the byte 0x{content[error.start]:02x}"
        raise _refused(message, name, line, hint="save the file as UTF-8") from None
    if "\0" in text:
        raise _refused("expected text, got a binary file", name, text.count("\n", 0, text.index("\0")) + 1)
    return text


def compose(text: str, name: str) -> Node | None:
    """Parse YAML text into its tree of nodes; None for a file that holds nothing.

    Raises:
        ConfigError: It is no YAML, or more than one document.
    """
    parser = None
    try:
        parser = _COMPOSER(text)
        if not parser.check_node():
            return None
        root: Node = parser.get_node()
        if parser.check_node():
            line = parser.get_node().start_mark.line + 1
            hint = "keep one suite a file, without `---` between its parts"
            raise _refused("expected one document, and here begins a second one", name, line, hint=hint)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, name) from None
    except yaml.reader.ReaderError as error:
        before = text.encode()[: error.position] if yaml.__with_libyaml__ else text[: error.position].encode()
        line = before.count(b"\n") + 1
        character = error.character if isinstance(error.character, int) else ord(error.character[:1] or "\0")
        raise _refused(f"the character U+{character:04X} is not allowed in YAML", name, line) from None
    except RecursionError:
        raise _refused("nested too deeply", name) from None
    finally:
        if parser is not None:
            parser.dispose()
    return root


def _syntax_error(error: yaml.MarkedYAMLError, name: str) -> ConfigError:
    mark = error.problem_mark or error.context_mark
    line = None if mark is None else mark.line + 1
    problem = error.problem or "unreadable"
    hint = None
    if "nesting" in problem:
        return _refused("nested too deeply", name, line)
    if "'\\t'" in problem or "tab character" in problem:
        hint = "YAML is indented with blanks, never with tabs"
    elif "mapping values are not allowed" in problem:
        hint = "put text with `: ` in it into quotes, and see that keys of one mapping begin in one column"
    elif "could not find expected ':'" in problem or "block end" in problem:
        hint = "see that the keys of one mapping begin in one column and end in `: `"
    elif "',' or" in problem:
        hint = "inside `{…}` and `[…]`, put text with braces, brackets or commas (`${NAME}` too) into quotes"
    elif "cannot start any token" in problem:
        hint = "put text that begins with this character into quotes"
    began = error.context_mark
    since = f", {error.context}" if error.context else ""
    if since and began is not None and mark is not None and began.line != mark.line:
        since += f" that begins on line {began.line + 1}"
    return _refused(f"broken YAML: {problem}{since}", name, line, hint=hint)


def _refused(message: str, name: str, line: int | None = None, *, hint: str | None = None) -> ConfigError:
    return ConfigError([Problem(message, file=name, line=line, hint=hint)])
