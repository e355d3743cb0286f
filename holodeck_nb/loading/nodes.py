"""A tree of YAML nodes -> data, and the way back from a place in the data to its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from holodeck_nb.schema.values import Plain

from .yaml_source import LISTED, MAPPED, PLAIN, QUOTED

if TYPE_CHECKING:
    from yaml.nodes import Node

__all__ = ["Fault", "NodeReader", "TooLargeError", "find", "path_to"]

MAX_DEPTH = 100
# Aliases may repeat parts of the file; what they unfold to may have this many values at most.
MAX_VALUES = 1_000_000

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_YAML = "tag:yaml.org,2002:"
# Explicit tags of YAML's own that say how to read a scalar; the schema still decides what may stand there.
_PLAIN_TAGS = frozenset(_YAML + name for name in ("int", "float", "bool", "null"))
_MERGE = "<<"


class Fault:
    """A mistake at a node, found before the schema looks at the data."""

    __slots__ = ("hint", "line", "message", "node")

    def __init__(self, node: Node, message: str, line: int, hint: str | None = None) -> None:
        self.node = node
        self.message = message
        self.line = line
        self.hint = hint


class TooLargeError(Exception):
    """The tree unfolds to more than we are ready to hold; says why, and from which line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class NodeReader:
    """Turns nodes into data in one pass: `Plain` for unquoted scalars, `str` for quoted ones.

    Attributes:
        faults: Repeated keys, tags and merges that are not allowed; the data leaves those parts out.
    """

    def __init__(self, limit: int = MAX_VALUES) -> None:
        self.faults: list[Fault] = []
        self._left = limit

    def read(self, node: Node, depth: int = 0) -> Any:
        """The data of a node.

        Raises:
            TooLargeError: It is nested too deeply, or aliases unfold to too much.
        """
        tag = node.tag
        if tag is PLAIN:
            text = node.value
            return None if text in _NULLS else Plain(text)
        if tag is QUOTED:
            return node.value
        if tag is not MAPPED and tag is not LISTED and not self._tag_allowed(node):
            return None
        if isinstance(node, ScalarNode):
            return self._tagged_scalar(node)
        self._spend(node, depth)
        if isinstance(node, SequenceNode):
            return [self.read(item, depth + 1) for item in node.value]
        return self._mapping(node, depth + 1)

    def _mapping(self, node: Node, depth: int) -> dict[str, Any]:
        names = {key.value for key, _ in node.value if key.tag is PLAIN or key.tag is QUOTED}
        if len(names) != len(node.value) or _MERGE in names:
            return self._unusual_mapping(node, depth)
        data: dict[str, Any] = {}
        for key, value in node.value:
            if value.tag is PLAIN:  # most values are plain: spared a call
                text = value.value
                data[key.value] = None if text in _NULLS else Plain(text)
            else:
                data[key.value] = self.read(value, depth)
        return data

    def _unusual_mapping(self, node: Node, depth: int) -> dict[str, Any]:
        """A mapping with merges, or with keys that are wrong."""
        data: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        seen: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, ScalarNode):
                self.faults.append(Fault(node, "a key must be text, got a list or a mapping", line))
                continue
            name = key.value
            if name in seen:
                message = f"repeated key {name!r}, first on line {seen[name]}"
                hint = "write several merges as one: `<<: [*first, *second]`" if name == _MERGE else None
                self.faults.append(Fault(key, message, line, hint))
                continue
            seen[name] = line
            if name == _MERGE and key.tag is PLAIN:
                for source in merge_sources(value):
                    if isinstance(source, MappingNode):
                        self._spend(source, depth)
                        for inherited, item in self._mapping(source, depth + 1).items():
                            merged.setdefault(inherited, item)
                    else:
                        message = "`<<` takes a mapping, or a list of mappings"
                        self.faults.append(Fault(key, message, line))
            else:
                data[name] = self.read(value, depth)
        return {**merged, **data} if merged else data

    def _spend(self, node: Node, depth: int) -> None:
        self._left -= len(node.value) + 1
        if self._left < 0:
            raise TooLargeError("aliases unfold to more than a million values", node.start_mark.line + 1)
        if depth >= MAX_DEPTH:
            message = f"nested more than {MAX_DEPTH} levels deep, or an alias that holds itself"
            raise TooLargeError(message, node.start_mark.line + 1)

    def _tag_allowed(self, node: Node) -> bool:
        kinds = {ScalarNode: (*_PLAIN_TAGS, f"{_YAML}str"), SequenceNode: (f"{_YAML}seq",)}
        if node.tag in kinds.get(type(node), (f"{_YAML}map",)):
            return True
        tag = str(node.tag).replace(_YAML, "!!")
        line = node.start_mark.line + 1
        self.faults.append(Fault(node, f"the tag {tag} is not allowed", line, "write the value without it"))
        return False

    def _tagged_scalar(self, node: Node) -> Any:
        if node.tag not in _PLAIN_TAGS:
            return node.value
        return None if node.value in _NULLS else Plain(node.value)


def merge_sources(value: Node) -> list[Node]:
    """The mappings that a `<<` takes in, the strongest first."""
    return value.value if isinstance(value, SequenceNode) else [value]


def find(root: Node, place: tuple[str | int, ...]) -> tuple[int, int]:
    """Line (from 1) and column of a place in the data: of its key, or of its item in a list.

    Where the data has no such place (a key is missing), of the nearest place above it.
    """
    node, mark = root, root.start_mark
    for step in place:
        entry = _entry(node, step)
        if entry is None:
            break
        above, node = entry
        mark = above.start_mark
    return mark.line + 1, mark.column


def _entry(node: Node, step: str | int) -> tuple[Node, Node] | None:
    """What a step leads to: the node that shows its place (a key, an item), and the node of its value."""
    if isinstance(node, SequenceNode):
        if isinstance(step, int) and step < len(node.value):
            return node.value[step], node.value[step]
        return None
    if not isinstance(node, MappingNode):
        return None
    for key, value in node.value:
        if key.value == step and isinstance(key, ScalarNode):
            return key, value
    for key, value in node.value:
        if key.tag is PLAIN and key.value == _MERGE:
            for source in merge_sources(value):
                if entry := _entry(source, step):
                    return entry
    return None


def path_to(root: Node, wanted: Node) -> tuple[str | int, ...]:
    """Where a node stands in the data, as the first way that leads to it; () where none does."""
    ways: list[tuple[Node, tuple[str | int, ...]]] = [(root, ())]
    seen: set[int] = set()
    while ways:
        node, way = ways.pop()
        if node is wanted:
            return way
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            ways += reversed([(item, (*way, place)) for place, item in enumerate(node.value)])
        elif isinstance(node, MappingNode):
            steps: list[tuple[Node, tuple[str | int, ...]]] = []
            for key, value in node.value:
                if key is wanted:
                    return (*way, key.value)
                merges = key.tag is PLAIN and key.value == _MERGE
                inner = merge_sources(value) if merges else [value]
                steps += [(item, way if merges else (*way, str(key.value))) for item in inner]
            ways += reversed(steps)
    return ()
