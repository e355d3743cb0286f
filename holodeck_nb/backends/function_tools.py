"""The suite's own Python functions as tools of an agent: their JSON schema, and one way to call them."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs

from holodeck_nb.errors import described
from holodeck_nb.results.records import ToolInvocation
from holodeck_nb.sync import UserCodeExit, call, is_async

__all__ = ["BoundTool", "FunctionTools"]

_ANY_TYPE = ConfigDict(arbitrary_types_allowed=True)


@dataclass(frozen=True)
class BoundTool:
    """One function that an agent may call.

    Attributes:
        name: As the agent calls it.
        description: What the agent is told of it.
        function: Sync or async; called with the arguments by name.
        parameters: The properties that the suite states in place of the signature's; None where it does not.
    """

    name: str
    description: str
    function: Callable[..., Any]
    parameters: Mapping[str, Mapping[str, Any]] | None = None

    @classmethod
    def of(cls, function: Callable[..., Any], *, name: str | None = None) -> BoundTool:
        """A function as a tool: its name, the first paragraph of its docstring, its signature."""
        doc = inspect.getdoc(function) or ""
        return cls(name or function.__name__, doc.partition("\n\n")[0].replace("\n", " "), function)

    @cached_property
    def json_schema(self) -> dict[str, Any]:
        """The arguments as a JSON schema object, from the signature or as the suite states them."""
        if self.parameters is not None:
            stated = {name: dict(schema) for name, schema in self.parameters.items()}
            required = [name for name, schema in stated.items() if schema.pop("required", None) is True]
            return {"type": "object", "properties": stated, "required": required}
        schema = self._adapter.json_schema() if self._adapter else {"type": "object", "properties": {}}
        schema.setdefault("type", "object")
        return schema

    @cached_property
    def _adapter(self) -> TypeAdapter[Any] | None:
        """What reads the arguments by the signature's types; None for a function without readable types."""
        is_function = inspect.isroutine(self.function) or isinstance(self.function, functools.partial)
        function = self.function if is_function else type(self.function).__call__.__get__(self.function)
        try:
            return TypeAdapter(function, config=_ANY_TYPE)  # type: ignore[arg-type] # pydantic reads functions
        except (PydanticUserError, NameError, TypeError, ValueError):
            return None

    async def run(self, args: Mapping[str, Any]) -> ToolInvocation:
        """Call it with these arguments; whatever goes wrong is in the record, never raised.

        Arguments are read by the signature's types (`"3"` is 3 for an `int`) and recorded as they came.

        Raises:
            UserCodeExit: The function raised KeyboardInterrupt.
        """
        started = time.perf_counter()
        result, error = None, None
        try:
            result = await self._call(args)
        except UserCodeExit as exit_:
            if exit_.is_interrupt:
                raise
            error = str(exit_)
        except ValidationError as invalid:
            error = f"{self.name} cannot take these arguments: {_causes(invalid)}"
        except Exception as raised:  # noqa: BLE001 - the border to user code: a tool's fault is the agent's to see
            error = described(raised)
        return ToolInvocation(
            self.name, args, result=result, error=error, duration_ms=(time.perf_counter() - started) * 1000
        )

    async def _call(self, args: Mapping[str, Any]) -> Any:
        if self._adapter is None:
            return await call(_keywords(self.function), args)
        arguments = ArgsKwargs((), dict(args))
        if is_async(self.function):
            return await self._adapter.validate_python(arguments)
        return await call(self._adapter.validate_python, arguments)


@dataclass(frozen=True)
class FunctionTools:
    """The function tools of a suite, by name.

    Attributes:
        tools: In the suite's order; names are unique.
    """

    tools: tuple[BoundTool, ...] = ()
    _by_name: Mapping[str, BoundTool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index by name."""
        object.__setattr__(self, "_by_name", {tool.name: tool for tool in self.tools})

    @classmethod
    def of(cls, functions: Iterable[Callable[..., Any]]) -> FunctionTools:
        """Functions as tools, each under its own name."""
        return cls(tuple(BoundTool.of(function) for function in functions))

    def __iter__(self) -> Iterator[BoundTool]:
        """In the suite's order."""
        return iter(self.tools)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.tools)

    async def run(self, name: str, args: Mapping[str, Any]) -> ToolInvocation:
        """Call the tool of that name; an unknown name is an error in the record."""
        tool = self._by_name.get(name)
        if tool is None:
            known = ", ".join(self._by_name) or "none"
            return ToolInvocation(name, args, error=f"there is no tool {name!r}; the suite's tools: {known}")
        return await tool.run(args)


def _keywords(function: Callable[..., Any]) -> Callable[[Mapping[str, Any]], Any]:
    if is_async(function):

        async def call_async(args: Mapping[str, Any]) -> Any:
            return await function(**args)

        return call_async
    return lambda args: function(**args)


def _causes(invalid: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in error['loc']) or 'arguments'}: {error['msg']}"
        for error in invalid.errors(include_url=False, include_input=False, include_context=False)
    )
