"""The user's own grader: a function from a turn to a score."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from holodeck_nb.errors import described
from holodeck_nb.matching.explanations import shown
from holodeck_nb.sync import UserCodeExit, call, is_async

from .base import MetricError
from .grader_results import ACCEPTED, read_result
from .read_only import read_only_context

if TYPE_CHECKING:
    from holodeck_nb.schema.metrics import MetricConfig

    from .base import GraderContext, GraderResult, MetricSetup

__all__ = ["CodeGrader"]


@dataclass(frozen=True, slots=True)
class CodeGrader:
    """A grader, sync (in a thread of our own, which no timeout can kill) or async (on the run's loop)."""

    id: str
    name: str
    grader: Callable[..., Any]
    threshold: float | None
    fail_on_error: bool
    timeout_s: float | None

    kind: ClassVar[Literal["code"]] = "code"
    needs_ground_truth: ClassVar[bool] = False
    max_retries: ClassVar[int] = 0
    model: ClassVar[None] = None

    @classmethod
    def build(cls, config: MetricConfig, setup: MetricSetup) -> CodeGrader:
        """From a `CodeMetric`: the grader it names, or the function it holds."""
        assert config.type == "code"
        grader = config.grader
        return cls(
            id=setup.id,
            name=grader if isinstance(grader, str) else _name(grader),
            grader=setup.graders[grader] if isinstance(grader, str) else grader,
            threshold=config.threshold,
            fail_on_error=config.fail_on_error,
            timeout_s=None if config.timeout_ms is None else config.timeout_ms / 1000,
        )

    async def measure(self, context: GraderContext) -> GraderResult:
        """Call the grader on a read-only copy and read what it returns.

        Raises:
            MetricError: It raised (SystemExit included), or returned no result; the message names it.
            UserCodeExit: It raised KeyboardInterrupt: the run is to be interrupted.
        """
        try:
            if is_async(self.grader):
                returned = await call(self.grader, read_only_context(context))
            else:
                returned = await call(_on_a_copy, self.grader, context)
        except UserCodeExit as error:
            if error.is_interrupt:
                raise
            raise MetricError(self._raised(error.original)) from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise  # it is we who are cancelled
            raise MetricError(self._raised(error)) from error
        except Exception as error:  # the border to the user's grader
            raise MetricError(self._raised(error)) from error
        try:
            return read_result(returned)
        except Exception as error:  # values of the user's own classes may raise anything
            raise MetricError(
                f"grader {self.name} returned {shown(returned)}: {_message(error)}; accepted are {ACCEPTED}"
            ) from error

    def _raised(self, error: BaseException) -> str:
        kind, text = type(error).__name__, described(error)
        told = text if text.startswith(kind) else f"{kind}: {text}"
        line = _line(error, self.grader)
        return f"grader {self.name} raised {told}" + (f" (line {line})" if line else "")


def _on_a_copy(grader: Callable[..., Any], context: GraderContext) -> Any:
    return grader(read_only_context(context))


def _name(grader: Callable[..., Any]) -> str:
    name = getattr(grader, "__qualname__", None) or type(grader).__qualname__
    module = getattr(grader, "__module__", None)
    return name if module in {None, "__main__"} else f"{module}:{name}"


def _message(error: Exception) -> str:
    return str(error) if isinstance(error, TypeError) else described(error)


def _line(error: BaseException, grader: Callable[..., Any]) -> int | None:
    """The line of the grader's file on which it raised; None where its file is not on the way."""
    file = getattr(getattr(grader, "__code__", None), "co_filename", None)
    line, frame = None, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == file:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line
