"""A suite in the user's hands: load it, select from it, run it."""

from __future__ import annotations

import fnmatch
import os
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from .backends.base import AgentBackend
from .engine.plan import NamedCase
from .launch import Agent, Launch, prepare
from .loading.frame_cases import cases_of_frame
from .loading.loader import LoadedSuite, load_mapping, load_suite
from .loading.tool_functions import nameable, tools_of
from .loading.variables import escape
from .loading.writer import suite_yaml
from .metrics.plugin_metric import settings_of
from .options import RunArguments
from .results.names import case_names
from .results.records import RunWarning
from .run import Run
from .schema.case import Case
from .schema.suite import SuiteConfig
from .views import html
from .whole_files import write_whole

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Suite"]


class ExecutionArguments(TypedDict, total=False):
    """The fields of `execution` as arguments of `run`; they win over the suite file. Times in seconds."""

    llm_timeout: float | None
    file_timeout: float | None
    download_timeout: float | None
    grader_timeout: float | None
    max_retries: int | None
    cache_enabled: bool | None
    cache_dir: str | None
    parallel_test_cases: int | None
    verbose: bool | None
    quiet: bool | None


class _Arguments(ExecutionArguments, RunArguments, total=False):
    """Every argument of `run` beside who answers and where."""

    record: str | os.PathLike[str] | None
    replay: str | os.PathLike[str] | None


@dataclass(frozen=True)
class _Parts:
    """What a suite is made of: the file as loaded, all its cases under their names, and the selected ones."""

    loaded: LoadedSuite
    all_cases: tuple[NamedCase, ...]
    cases: tuple[NamedCase, ...]

    @classmethod
    def of(cls, loaded: LoadedSuite) -> _Parts:
        given = loaded.config.cases
        names = case_names([case.name for case in given])
        cases = tuple(NamedCase(names[place], place, case) for place, case in enumerate(given))
        return cls(loaded, cases, cases)


class Suite:
    """Conversations to play against an agent, and how they are judged. Never changes: a verb gives a new one.

    Args:
        fields: The keys of a suite file (`name`, `test_cases`, `evaluations`, `model`, …) with Python values;
            `evaluations` may be the list of metrics alone.

    Raises:
        ConfigError: Every mistake in them.

    Example:
        >>> suite = Suite(name="cash", test_cases=[{"input": "net cash in 2009?", "ground_truth": "206588"}],
        ...               evaluations=[{"type": "numeric"}])
        >>> suite
        <Suite 'cash': 1 case, 1 turn, metrics: numeric>
        >>> suite.run(agent=lambda text: "It was $206,588.", quiet=True).passed
        True
    """

    def __init__(self, **fields: Any) -> None:
        self._parts = _Parts.of(load_mapping(_completed(fields)))

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str]) -> Suite:
        """Load a suite file (YAML or JSON), HoloDeck's `agent.yaml`.

        Raises:
            ConfigError: Every problem in it, with file, line, case and path; no agent has been called.
        """
        return cls._of(_Parts.of(load_suite(path)))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, folder: str | os.PathLike[str] | None = None) -> Suite:
        """A suite from the mapping that a suite file would hold; relative paths in it begin at `folder`.

        Raises:
            ConfigError: Every problem in it.
        """
        loaded = load_mapping(_completed(data), folder=None if folder is None else Path(folder))
        return cls._of(_Parts.of(loaded))

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, **fields: Any) -> Suite:
        """A suite from a DataFrame with one row a turn.

        Args:
            frame: Column `input`, and of `case`, `ground_truth`, `expected_tools`, `retrieval_context`,
                `turn_config`, `evaluations` those you need; empty cells are left out. Rows with the same
                `case` are the turns of one conversation, in their order; a row without one is a case.
            fields: The other keys of a suite file; `name` is "frame" if left out.

        Raises:
            ConfigError: An unknown column, or any problem in the cases.
        """
        return cls.from_dict({"name": "frame", **fields, "test_cases": cases_of_frame(frame)})

    @classmethod
    def _of(cls, parts: _Parts) -> Suite:
        suite = cls.__new__(cls)
        suite._parts = parts  # noqa: SLF001 - this is a constructor
        return suite

    @property
    def name(self) -> str:
        """The suite's `name`."""
        return self._parts.loaded.config.name

    @property
    def config(self) -> SuiteConfig:
        """The whole file as frozen models, cases that are not selected included."""
        return self._parts.loaded.config

    @property
    def cases(self) -> tuple[Case, ...]:
        """The selected cases, in the order in which they will be played."""
        return tuple(named.case for named in self._parts.cases)

    @property
    def case_names(self) -> tuple[str, ...]:
        """What the selected cases are called in results: their name, or `case 3` by their place."""
        return tuple(named.name for named in self._parts.cases)

    @property
    def warnings(self) -> tuple[RunWarning, ...]:
        """What loading noticed though it is no mistake; every run repeats them."""
        return self._parts.loaded.warnings

    def __len__(self) -> int:
        """How many cases are selected."""
        return len(self._parts.cases)

    def select(
        self, *, name: str | Iterable[str] | None = None, where: Callable[[Case], bool] | None = None
    ) -> Suite:
        """The cases that fit, under the names they have here.

        Args:
            name: A glob (`"*AAL*"`, case counts) or several, over the names in `case_names`.
            where: A function of the case; see `cases`.

        Example:
            >>> cases = [{"name": "a1", "input": "cash?"}, {"name": "b1", "input": "debt?"}]
            >>> suite = Suite(name="s", test_cases=cases)
            >>> suite.select(name="a*").case_names
            ('a1',)
        """
        globs = None if name is None else (name,) if isinstance(name, str) else tuple(name)
        return self._with_cases(
            named
            for named in self._parts.cases
            if (globs is None or any(fnmatch.fnmatchcase(named.name, glob) for glob in globs))
            and (where is None or where(named.case))
        )

    def sample(self, n: int, *, seed: int = 0) -> Suite:
        """`n` cases drawn at random, in their own order; all of them if there are fewer."""
        drawn = set(random.Random(seed).sample(range(len(self._parts.cases)), min(n, len(self._parts.cases))))  # noqa: S311 - no secret
        return self._with_cases(named for place, named in enumerate(self._parts.cases) if place in drawn)

    def with_model(self, model: str | Mapping[str, Any]) -> Suite:
        """The same suite with another model: `"ollama:qwen3:8b"`, or the mapping of a suite file.

        Raises:
            ConfigError: It is no model.
        """
        return self._with(model=model)

    def with_instructions(self, text: str) -> Suite:
        """The same suite with this system prompt.

        Raises:
            ConfigError: It is blank.
        """
        return self._with(instructions={"inline": escape(text)})

    def with_tools(self, functions: Iterable[Callable[..., Any]]) -> Suite:
        """The same suite with these Python functions as the agent's only tools.

        Each is called by its own name; the first paragraph of its docstring and its signature are what the
        model is told of it.

        Raises:
            ConfigError: Something is no function with a name, or two have the same one.

        Example:
            >>> def add(a: float, b: float) -> float:
            ...     return a + b
            >>> suite = Suite(name="s", test_cases=[{"input": "1 + 2?"}]).with_tools([add])
            >>> [tool.name for tool in suite.config.tools]
            ['add']
        """
        given = tuple(functions)
        config = _changed(self.config, {"tools": tools_of(given)})
        by_name = {function.__name__: function for function in given}
        return Suite._of(
            replace(self._parts, loaded=replace(self._parts.loaded, config=config, functions=by_name))
        )

    def with_metrics(self, metrics: Sequence[Any]) -> Suite:
        """The same suite with other agent-level metrics, each as in a suite file or a grader function.

        Cases and turns that have `evaluations` of their own keep them.

        Raises:
            ConfigError: A metric is wrong, or a case refers by name to one that would be gone.
        """
        return self._with(evaluations={"metrics": [_as_metric(metric) for metric in metrics]})

    def with_execution(self, **execution: Unpack[ExecutionArguments]) -> Suite:
        """The same suite with these fields of `execution`; the others stay.

        Raises:
            ConfigError: A value is out of its range.
        """
        current = self.config.execution.model_dump(exclude_none=True) if self.config.execution else {}
        return self._with(execution={**current, **execution})

    def to_yaml(self, path: str | os.PathLike[str]) -> Path:
        """Write the selected cases and all the rest as a suite file that loads the same.

        Relative paths stay as they are: write it where they hold.

        Raises:
            ConfigError: A grader or a tool is a function that no file can name.
        """
        nameable(self._parts.loaded.functions, self.config.tools or ())
        config = _changed(self.config, {"test_cases": self.cases})
        target = Path(path)
        write_whole(target, suite_yaml(config))
        return target

    def run(
        self,
        *,
        agent: Agent | None = None,
        backend: str | AgentBackend | None = None,
        loop: Literal["notebook"] | None = None,
        **arguments: Unpack[_Arguments],
    ) -> Run:
        """Play every case and come back with the run. Works in any notebook cell, and twice in a row.

        Args:
            agent: Your agent: a function of the text, sync or async, that returns text or a Reply. A second
                parameter receives the Conversation so far.
            backend: A name (`"scripted"`) or an AgentBackend; without it, the suite's `model` decides.
            loop: `"notebook"` runs on the notebook's own event loop, for agents whose clients live there.
            arguments: Fields of `execution`, which win over the suite file (`parallel_test_cases=8`), and:

                - `journal`: a folder of runs; True for `.holodeck/runs` beside the suite (in the working
                  directory for one made in Python); False for none. By default True for a suite that has a
                  folder, and in a notebook.
                - `resume`: `"latest"`, the id of a run or the path of its journal: plays only what it lacks
                  or what ended in an error; `resume_failed=True` plays failed cases again too.
                - `only`: rows of a frame such as `run.failures`, or names: plays the cases behind them.
                - `repeats`: how often each case is played.
                - `budget_usd`, `budget_tokens`, `max_minutes`: the run ends between two turns when one is
                  reached; turns in flight end, unplayed ones are skipped with that reason.
                - `record`: a file to keep every request to the agent's and the judges' models and its reply
                  in; `replay`: such a file, which then answers in their place, without key and network.

        Raises:
            ConfigError: It cannot begin; every reason, before any call.
            KeyboardInterrupt: You interrupted it; `hd.last_run()` has the turns played so far.

        Example:
            >>> run = Suite(name="s", test_cases=[{"input": "ping"}]).run(agent=str.upper, quiet=True)
            >>> run.turns["response"][0]
            'PING'
        """
        return self._prepared(agent, backend, arguments).here("notebook" if loop == "notebook" else "own")

    async def arun(
        self,
        *,
        agent: Agent | None = None,
        backend: str | AgentBackend | None = None,
        **arguments: Unpack[_Arguments],
    ) -> Run:
        """The same as `run` for `await`: the notebook stays alive meanwhile.

        Raises:
            ConfigError: It cannot begin; every reason, before any call.
            asyncio.CancelledError: It was cancelled; `hd.last_run()` has the turns played so far.
        """
        return await self._prepared(agent, backend, arguments).awaited()

    def _prepared(
        self, agent: Agent | None, backend: str | AgentBackend | None, arguments: Mapping[str, Any]
    ) -> Launch:
        return prepare(
            self._parts.loaded,
            self._parts.cases,
            all_cases=self._parts.all_cases,
            agent=agent,
            backend=backend,
            arguments=arguments,
        )

    def _with_cases(self, cases: Iterable[NamedCase]) -> Suite:
        return Suite._of(replace(self._parts, cases=tuple(cases)))

    def _with(self, **fields: Any) -> Suite:
        """These keys of the suite file replaced, checked like a file's."""
        # Cases may refer to agent-level metrics by name: with new ones, they are checked again.
        cases = {"test_cases": self.config.cases} if "evaluations" in fields else {}
        part = load_mapping({"name": self.name, **fields, **cases}, folder=self._parts.loaded.folder)
        config = _changed(self.config, {key: getattr(part.config, key) for key in fields})
        loaded = replace(
            self._parts.loaded, config=config, graders={**self._parts.loaded.graders, **part.graders}
        )
        return Suite._of(replace(self._parts, loaded=loaded))

    def __repr__(self) -> str:
        """One line: the name, how many cases and turns, the metrics."""
        return html.suite_line(**self._facts())

    def _repr_html_(self) -> str:
        return html.suite_html(description=self.config.description, **self._facts())

    def _facts(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "cases": len(self._parts.cases),
            "turns": sum(len(case.conversation) for case in self.cases),
            "metrics": [metric.name or metric.default_id for metric in self.config.agent_metrics],
            "model": None
            if self.config.model is None
            else f"{self.config.model.provider}:{self.config.model.name}",
        }


def _changed(config: SuiteConfig, fields: Mapping[str, Any]) -> SuiteConfig:
    """A fresh config with these fields; a copy would take along what the old one has worked out."""
    current = {name: getattr(config, name) for name in SuiteConfig.model_fields}
    return SuiteConfig.model_construct(
        _fields_set=config.model_fields_set | set(fields), **{**current, **fields}
    )


def _completed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A Python suite's short forms: `evaluations` as the bare list of metrics, graders as functions."""
    data = dict(fields)
    evaluations = data.get("evaluations")
    if isinstance(evaluations, list | tuple):
        data["evaluations"] = {"metrics": [_as_metric(metric) for metric in evaluations]}
    return data


def _as_metric(metric: Any) -> Any:
    """A function is a grader."""
    return {"type": "code", "grader": metric, **settings_of(metric)} if callable(metric) else metric
