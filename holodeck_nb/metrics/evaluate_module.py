"""Any module of Hugging Face's `evaluate`, by its name on the hub or by a local path."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from uuid import uuid4

from holodeck_nb.errors import described
from holodeck_nb.matching.explanations import shown
from holodeck_nb.matching.numbers import read_number
from holodeck_nb.sync import in_thread

from .base import GraderResult, MetricError, NotApplicableError
from .json_values import json_value
from .response_path import Path as ResponsePath
from .response_path import ResponsePathError, extract, read_path

if TYPE_CHECKING:
    from holodeck_nb.schema.metrics import EvaluateMetric, MetricConfig

    from .base import GraderContext, MetricSetup

__all__ = ["EvaluateModule", "unusable"]

_NEEDS = 'type evaluate needs the package evaluate: pip install "holodeck-nb[evaluate]"'
# One module loads at a time: the libraries behind them import in circles.
_loading = Lock()


class _NoNumber(Exception):  # noqa: N818 - an unreadable reply is a verdict, no error
    """The module compares numbers, and the reply is none."""


@dataclass(frozen=True)
class EvaluateModule:
    """A module that compares predictions with references; here one prediction with one reference.

    `result_key` says which of its results is the score; `scale: 100` that its best is 100. Modules are loaded
    on first use, in a thread, and an object of one is used by one thread at a time.
    """

    id: str
    module: str
    result_key: str | None = None
    threshold: float | None = None
    scale: float = 1.0
    fail_on_error: bool = False
    timeout_s: float | None = None
    path: ResponsePath | None = None
    free: deque[Any] = field(default_factory=deque)

    kind: ClassVar[Literal["evaluate"]] = "evaluate"
    needs_ground_truth: ClassVar[bool] = False  # told by the module's features, once it is loaded
    max_retries: ClassVar[int] = 0
    model: ClassVar[None] = None

    @classmethod
    def build(cls, config: MetricConfig, setup: MetricSetup) -> EvaluateModule:
        """From an `EvaluateMetric`; loads nothing yet."""
        assert config.type == "evaluate"
        scale = float(config.scale or 1)
        threshold = config.threshold
        return cls(
            id=setup.id,
            module=str(_local(config.module, setup.folder) or config.module),
            result_key=config.result_key,
            threshold=threshold / scale if threshold is not None and threshold > 1 else threshold,
            scale=scale,
            fail_on_error=config.fail_on_error,
            timeout_s=None if config.timeout_ms is None else config.timeout_ms / 1000,
            path=None if config.response_path is None else read_path(config.response_path),
        )

    async def measure(self, context: GraderContext) -> GraderResult:
        """The module's result for this reply.

        Raises:
            NotApplicableError: The module compares with a reference, and there is no ground truth.
            MetricError: The module cannot be loaded, breaks, or gives no such result.
        """
        reply = context.agent_response
        if self.path is not None:
            try:
                reply = extract(reply, self.path)
            except ResponsePathError as error:
                return GraderResult(score=0.0, passed=False, reason=f"response_path: {error}")
        try:
            results = json_value(await in_thread(self._computed, reply, context.ground_truth))
        except _NoNumber as error:
            return GraderResult(score=0.0, passed=False, reason=str(error))
        except TypeError as error:
            raise MetricError(f"module {self.module!r} gave what cannot be shown: {error}") from error
        return GraderResult(score=self._score(results), details=results)

    def _computed(self, reply: str, truth: str | None) -> Mapping[str, Any]:
        """Load if no object is free, and compute; runs in a thread."""
        try:
            module = self.free.pop()
        except IndexError:
            module = _loaded(self.module)
        types = _feature_types(module)
        if "references" in types and truth is None:
            self.free.append(module)
            raise NotApplicableError("no ground truth on this turn")
        try:
            given = {"predictions": [_as_type(reply, types.get("predictions"), "reply")]}
        except MetricError as error:
            self.free.append(module)
            raise _NoNumber(str(error)) from error
        if truth is not None and (not types or "references" in types):
            given["references"] = [_as_type(truth, types.get("references"), "ground truth")]
        try:
            results = module.compute(**given)
        except Exception as error:  # the border to the module
            raise MetricError(f"module {self.module!r} broke: {described(error)}", final=True) from error
        self.free.append(module)
        if not isinstance(results, Mapping):
            raise MetricError(f"module {self.module!r} gave {shown(results)} and no results by name")
        return results

    def _score(self, results: Mapping[str, Any]) -> float:
        keys = ", ".join(map(str, results))
        key = self.result_key
        if key is None:
            if len(results) != 1:
                hint = "say under `result_key` which one counts"
                raise MetricError(f"module {self.module!r} gives {keys}: {hint}")
            key = next(iter(results))
        if key not in results:
            raise MetricError(f"module {self.module!r} gives no {key!r}; it gives {keys}")
        value = results[key]
        if isinstance(value, list) and len(value) == 1:
            value = value[0]  # one for each prediction
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise MetricError(f"{key!r} of module {self.module!r} is no number: {shown(value)}")
        score = value / self.scale
        if not 0 <= score <= 1:
            hint = "" if self.scale != 1 else "; `scale: 100` if its best is 100"
            raise MetricError(f"{key} {value:g} is not within 0 and {self.scale:g}{hint}")
        return score


def unusable(config: EvaluateMetric, folder: Path | None = None) -> str | None:
    """Why the module cannot be used, as far as that can be seen without loading it; None where it may be."""
    if find_spec("evaluate") is None:
        return f"metric {config.default_id!r}: {_NEEDS}"
    if _looks_local(config.module) and _local(config.module, folder) is None:
        return f"metric {config.default_id!r}: there is no module at {config.module!r}"
    return None


def _looks_local(module: str) -> bool:
    return module.startswith((".", "/", "~")) or module.endswith(".py") or "\\" in module


def _local(module: str, folder: Path | None) -> Path | None:
    """The module's path where there is one; a name on the hub may be that of a folder beside the suite."""
    path = Path(module).expanduser()
    path = path if path.is_absolute() else (folder or Path.cwd()) / path
    return path.absolute() if path.exists() else None


def _loaded(module: str) -> Any:
    try:
        with _loading:
            import evaluate  # noqa: PLC0415 - 300 MB, and seconds: only where a metric asks for it

            # Objects with one id share a file and wait for it. They cannot be kept in memory: what evaluate
            # 0.4.6 does then breaks with newer versions of its own dependencies.
            return evaluate.load(module, experiment_id=uuid4().hex)
    except ImportError as error:
        reason = _NEEDS if error.name == "evaluate" else f"module {module!r} cannot be loaded: {error}"
        raise MetricError(reason, final=True) from error
    except Exception as error:  # the border to the module and the hub
        reason = f"module {module!r} cannot be loaded: {described(error)}"
        if not Path(module).exists():
            reason += (
                "; by name, a module comes from the Hugging Face hub, which needs the network: "
                "give the path of a local copy where there is none"
            )
        raise MetricError(reason, final=True) from error


def _feature_types(module: Any) -> dict[str, str]:
    """What the module takes, name -> dtype; "" where it is no plain value; empty where it does not say."""
    features = getattr(module, "features", None)
    if isinstance(features, Iterable) and not isinstance(features, Mapping):
        features = next(iter(features), None)  # alternatives: the first is the simplest
    if not isinstance(features, Mapping):
        return {}
    return {str(name): str(getattr(feature, "dtype", "")) for name, feature in features.items()}


def _as_type(text: str, dtype: str | None, what: str) -> Any:
    """A text as the module wants it: read as a number where that is its type."""
    if dtype is None or not dtype.startswith(("int", "float", "uint")):
        return text
    value = read_number(text).value
    if value is None:
        raise MetricError(f"the {what} is no number, which the module compares: {shown(text)}", final=True)
    return int(value) if not dtype.startswith("float") and value == int(value) else float(value)
