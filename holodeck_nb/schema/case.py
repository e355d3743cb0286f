"""A case: one conversation, written as `turns` or, with a single turn, as `input`."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Self

from pydantic import Field, model_validator

from .files import FileInput
from .metrics import MetricOrReference
from .scalars import FreeMapping, Model, NonBlank, Text, wrong
from .tools import ExpectedTools

__all__ = ["Case", "Turn"]

MAX_FILES = 10
_OF_ONE_TURN = ("input", "ground_truth", "expected_tools", "files", "retrieval_context")

Files = Annotated[tuple[FileInput, ...], Field(max_length=MAX_FILES)]


class Turn(Model):
    """One exchange: what is asked, the right answer, the tools that must be called, the metrics."""

    input: NonBlank
    ground_truth: NonBlank | None = None
    expected_tools: ExpectedTools | None = None
    files: Files | None = None
    retrieval_context: tuple[Text, ...] | None = None
    evaluations: tuple[MetricOrReference, ...] | None = None
    turn_config: FreeMapping | None = None


class Case(Model):
    """One conversation. A case with `input` is a conversation of one turn."""

    name: NonBlank | None = None
    input: NonBlank | None = None
    ground_truth: NonBlank | None = None
    expected_tools: ExpectedTools | None = None
    files: Files | None = None
    retrieval_context: tuple[Text, ...] | None = None
    evaluations: tuple[MetricOrReference, ...] | None = None
    turns: tuple[Turn, ...] | None = None

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        if self.turns is None:
            if self.input is None:
                raise wrong("a test case needs `input` or `turns`")
            return self
        mixed = [name for name in _OF_ONE_TURN if getattr(self, name) is not None]
        if mixed:
            names = ", ".join(f"`{name}`" for name in mixed)
            hint = "write them on a turn, or write the whole case with `input`"
            raise wrong(f"`turns` does not go with {names}", hint=hint)
        if not self.turns:
            raise wrong("empty: a conversation has at least one turn", at="turns")
        return self

    @property
    def multi_turn(self) -> bool:
        """Whether it was written with `turns`."""
        return self.turns is not None

    @cached_property
    def conversation(self) -> tuple[Turn, ...]:
        """The turns, whichever way the case was written; at least one."""
        if self.turns is not None:
            return self.turns
        return (Turn.model_construct(**{name: getattr(self, name) for name in _OF_ONE_TURN}),)
