"""From a suite to a run: everything settled or refused before the first call, then played and kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from .backends.base import AgentBackend, SessionContext
from .backends.callables import CallableBackend
from .backends.function_tools import BoundTool, FunctionTools
from .backends.scripted import ScriptedBackend
from .chat_agents import chat_backend
from .engine.cases import run_suite
from .engine.plan import NamedCase, RunPlan, plan_cases
from .engine.record import RunRecord
from .errors import ConfigError, Problem
from .files.addresses import unreadable_address
from .files.inputs import FileSettings
from .judging import JudgeTerms, open_judges
from .loading.execution import Execution, resolve_execution
from .loading.instructions import without_front_matter
from .loading.loader import LoadedSuite
from .loading.response_format import load_response_format
from .loading.script import load_script
from .loading.secrets import secrets_of
from .metrics.base import unavailable
from .options import RunOptions, run_options
from .plugins import BACKENDS
from .results.events import Listener
from .results.records import RunWarning
from .results.rollup import RunResult
from .resume import agent_fingerprint, agent_name, kept_plan
from .road import Road
from .run import Run, remember
from .schema.agent_tools import FunctionTool
from .schema.metrics import MetricConfig
from .taping import Taping
from .user_code import UserCodeError, load_tool
from .views.progress import Progress

__all__ = ["Launch", "prepare"]

Agent = Callable[..., Any]

# Each is read in a process of its own.
_MOST_FILES_AT_ONCE = 4


@dataclass(frozen=True)
class Launch:
    """A run that may begin: nothing about it can be refused any more."""

    plan: RunPlan
    backend: AgentBackend
    execution: Execution
    suite: LoadedSuite | None = None

    def here(self, loop: Literal["own", "notebook"]) -> Run:
        """Play to the end and come back with the run; see Suite.run."""
        return self._road().here(loop)

    async def awaited(self) -> Run:
        """The same from a coroutine; see Suite.arun."""
        return await self._road().awaited()

    def _road(self) -> Road[Run]:
        async def travel(record: RunRecord, emit: Listener) -> RunResult:
            return await run_suite(record, self.backend, emit)

        def arrived(result: RunResult, journal: Path | None) -> Run:
            return remember(Run(result, journal=journal, suite=self.suite))

        progress = None if self.execution.quiet else Progress(verbose=self.execution.verbose)
        return Road(RunRecord(self.plan), travel, arrived, progress=progress)


def prepare(
    suite: LoadedSuite,
    cases: Sequence[NamedCase],
    *,
    all_cases: Sequence[NamedCase],
    agent: Agent | None,
    backend: str | AgentBackend | None,
    arguments: Mapping[str, Any],
) -> Launch:
    """Settle everything a run needs.

    Raises:
        ConfigError: Every reason why it cannot begin, before any call.
    """
    taping, arguments = Taping.of(arguments)
    options, arguments = run_options(arguments)
    cases = options.chosen(cases)
    execution = resolve_execution(suite.config.execution, arguments)
    problems = [*_unplayable(suite, cases), *taping.problems()]
    chat = partial(chat_backend, suite, cases, execution, taping)
    chosen = _backend(suite, agent, backend, problems, chat)
    tools = _function_tools(suite, problems) if agent is None else None
    instructions = _instructions(suite, problems)
    response_format = _response_format(suite, problems)
    used = _metrics_of(suite, cases)
    judges, unjudged = open_judges(
        suite.config, used, JudgeTerms(execution, taping=taping), folder=suite.folder
    )
    problems += (replace(problem, file=suite.path or None) for problem in unjudged)
    if chosen is not None:
        problems += taping.unfit_for(chosen, judges)
        problems += taping.overwrites(chosen)
    if problems or chosen is None:
        raise ConfigError(problems)
    who = _who(suite, agent, backend)
    plan = RunPlan(
        suite_name=suite.config.name,
        cases=options.repeated(
            plan_cases(suite.config, cases, suite.graders, judges=judges, folder=suite.folder)
        ),
        judges=judges,
        suite_path=suite.path,
        llm_timeout=execution.llm_timeout,
        grader_timeout=execution.grader_timeout,
        parallel=execution.parallel_test_cases,
        instructions=instructions,
        tools=tools,
        files=_file_settings(suite, execution),
        response_format=response_format,
        settings=asdict(execution),
        secrets=secrets_of(suite.config),
        warnings=(
            *suite.warnings,
            *([] if cases else [RunWarning(_nothing_to_run(options))]),
        ),
        agent=who,
        agent_fingerprint=agent_fingerprint(
            who,
            suite.config,
            model=suite.config.model if agent is None and not isinstance(backend, AgentBackend) else None,
            instructions=instructions,
            response_format=response_format,
        ),
    )
    if isinstance(chosen, ScriptedBackend):
        chosen.check_cases([SessionContext(case=named.name, index=named.index) for named in all_cases])
    return Launch(taping.going_on(kept_plan(plan, options, suite.folder)), chosen, execution, suite)


def _nothing_to_run(options: RunOptions) -> str:
    what = "the suite has no test cases" if options.only is None else "`only` has no cases"
    return f"{what}: nothing was run"


def _who(suite: LoadedSuite, agent: Agent | None, backend: str | AgentBackend | None) -> str:
    """Who answers, for the journal."""
    model = suite.config.model
    if isinstance(backend, str) or (agent is None and backend is None):
        named = "" if model is None else f"{model.provider}:{model.name}".rstrip(":")
        return agent_name(None, f"{backend}:{named}" if isinstance(backend, str) else named)
    return agent_name(backend if agent is None else agent)


def _unplayable(suite: LoadedSuite, cases: Sequence[NamedCase]) -> Iterator[Problem]:
    """What loads and cannot be run: metrics of later versions, addresses that nothing can be fetched from."""
    refused: dict[int, str | None] = {}
    for named in cases:
        for place, turn in enumerate(named.case.conversation):
            where = f"turn {place}" if named.case.multi_turn else ""
            for number, file in enumerate(turn.files or ()):
                reason = None if file.url is None else unreadable_address(file.url)
                if reason is not None:
                    url = ".".join(part for part in (where, f"files[{number}].url") if part)
                    yield Problem(reason, path=url, case=named.name, file=suite.path or None)
            for metric in suite.config.metrics_for(named.case, turn):
                if id(metric) not in refused:
                    refused[id(metric)] = reason = unavailable(metric, suite.folder)
                    if reason is not None:
                        yield Problem(reason, path=where, case=named.name, file=suite.path or None)


def _metrics_of(suite: LoadedSuite, cases: Sequence[NamedCase]) -> list[MetricConfig]:
    """Every metric that these cases are judged by, once."""
    used: dict[int, MetricConfig] = {}
    for named in cases:
        for turn in named.case.conversation:
            used |= {id(metric): metric for metric in suite.config.metrics_for(named.case, turn)}
    return list(used.values())


def _file_settings(suite: LoadedSuite, execution: Execution) -> FileSettings:
    """How files are read; paths and the cache begin in the suite's folder."""
    return FileSettings(
        folder=suite.folder or Path.cwd(),
        file_timeout=execution.file_timeout,
        download_timeout=execution.download_timeout,
        max_retries=execution.max_retries,
        cache_dir=_located(suite, execution.cache_dir) if execution.cache_enabled else None,
        at_once=min(execution.parallel_test_cases + 1, os.cpu_count() or 1, _MOST_FILES_AT_ONCE),
    )


def _backend(
    suite: LoadedSuite,
    agent: Agent | None,
    backend: str | AgentBackend | None,
    problems: list[Problem],
    chat: Callable[[], AgentBackend],
) -> AgentBackend | None:
    """Whom to talk to; None where `problems` says why there is nobody. `chat` is the suite's model."""
    match agent, backend:
        case None, None:
            return _model_backend(suite, problems, chat)
        case None, str() as name:
            return _named_backend(name, suite, problems, chat)
        case None, AgentBackend() as given:
            return given
        case None, other:
            message = f"expected a name or an object with `create_session`, got {type(other).__name__}"
            hint = "a plain function is passed as `agent`"
            problems.append(Problem(message, path="run(backend=…)", hint=hint))
        case function, None:
            return _callable_backend(function, problems)
        case _:
            message = "`agent` and `backend` do not go together: give one of them"
            problems.append(Problem(message, path="run(…)"))
    return None


def _model_backend(
    suite: LoadedSuite, problems: list[Problem], chat: Callable[[], AgentBackend]
) -> AgentBackend | None:
    model = suite.config.model
    if model is not None:
        return _named_backend(model.provider, suite, problems, chat)
    message = "there is nobody to talk to: the suite has no `model`"
    hint = "add one, or pass your agent: run(agent=my_function)"
    problems.append(Problem(message, path="model", file=suite.path or None, hint=hint))
    return None


def _named_backend(
    name: str, suite: LoadedSuite, problems: list[Problem], chat: Callable[[], AgentBackend]
) -> AgentBackend | None:
    """The scripted agent, the suite's own model, or a backend that an installed package brings."""
    file = suite.path or None
    model = suite.config.model
    try:
        if model is not None and name == model.provider != "scripted":
            return chat()
        if name != "scripted":
            return _installed_backend(name, suite)
    except ConfigError as error:
        problems.extend(error.problems)
        return None
    script = None if suite.config.model is None else suite.config.model.script
    if script is None:
        hint = "name a reply file under `model.script`, or pass backend=ScriptedBackend({...})"
        problems.append(
            Problem("a scripted agent needs its replies", path="model.script", file=file, hint=hint)
        )
        return None
    try:
        return ScriptedBackend(load_script(_located(suite, script), script))
    except ConfigError as error:
        problems.extend(error.problems)
        return None


def _installed_backend(name: str, suite: LoadedSuite) -> AgentBackend:
    """A backend of that name, made for the suite.

    Raises:
        ConfigError: There is none.
    """
    opener = BACKENDS.find(name)
    if opener is None:
        known = ", ".join(("scripted", *BACKENDS.names))
        hint = f"it is one of {known}; a provider's model goes under `model`: suite.with_model('{name}:…')"
        raise ConfigError([Problem(f"there is no backend {name!r}", path="run(backend=…)", hint=hint)])
    backend: AgentBackend = opener(suite.config)
    return backend


def _callable_backend(agent: Agent, problems: list[Problem]) -> AgentBackend | None:
    if callable(agent):
        return CallableBackend(agent)
    message = f"expected a function of the text, got {type(agent).__name__}"
    hint = (
        "an object with `create_session` is passed as `backend`" if isinstance(agent, AgentBackend) else None
    )
    problems.append(Problem(message, path="run(agent=…)", hint=hint))
    return None


def _function_tools(suite: LoadedSuite, problems: list[Problem]) -> FunctionTools:
    """The suite's function tools, imported; what cannot be imported is a problem."""
    tools = []
    for place, tool in enumerate(suite.config.tools or ()):
        if not isinstance(tool, FunctionTool):
            continue  # other kinds are a chat agent's business
        if tool.name in suite.functions:
            tools.append(BoundTool.of(suite.functions[tool.name], name=tool.name))
            continue
        try:
            function = load_tool(_located(suite, tool.file), tool.function, suite.folder)
        except UserCodeError as error:
            problems.append(Problem(str(error), path=f"tools[{place}]", file=suite.path or None))
        else:
            tools.append(BoundTool(tool.name, tool.description, function, tool.parameters))
    return FunctionTools(tuple(tools))


def _instructions(suite: LoadedSuite, problems: list[Problem]) -> str | None:
    stated = suite.config.instructions
    if stated is None or stated.file is None:
        return None if stated is None else stated.inline
    try:
        return without_front_matter(_located(suite, stated.file).read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot read {stated.file!r}: {getattr(error, 'strerror', None) or error}"
        problems.append(Problem(message, path="instructions.file", file=suite.path or None))
        return None


def _response_format(suite: LoadedSuite, problems: list[Problem]) -> Mapping[str, Any] | None:
    try:
        return load_response_format(suite.config.response_format, suite.folder or Path.cwd())
    except ConfigError as error:
        problems.extend(error.problems)
        return None


def _located(suite: LoadedSuite, name: str) -> Path:
    """A path of the suite file, from that file's folder."""
    return (suite.folder or Path.cwd()) / name
