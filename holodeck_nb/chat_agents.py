"""From a suite's `model` to a chat agent, or every reason why there is none, before the first call."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from .backends.base import AgentBackend
from .backends.chat import ChatBackend, ChatLimits
from .engine.plan import NamedCase
from .errors import ConfigError, Problem
from .llm.providers import ModelOptions, open_model
from .llm.tape import Tape
from .loading.execution import Execution
from .loading.loader import LoadedSuite
from .loading.variables import read_env_file
from .schema.agent import ModelConfig
from .schema.agent_tools import FunctionTool
from .schema.suite import SuiteConfig
from .schema.values import Secret
from .taping import Taping

__all__ = ["chat_backend"]

_ROUNDS = 20


def chat_backend(
    suite: LoadedSuite, cases: Sequence[NamedCase], execution: Execution, taping: Taping
) -> AgentBackend:
    """The suite's model as an agent.

    Raises:
        ConfigError: Tools that it cannot run, a key, a package or an endpoint that is missing, a recording
            that does not fit; all at once.
    """
    model_config = suite.config.model
    assert model_config is not None
    problems = [*_foreign_tools(suite)]
    model = None
    try:
        if taping.tape is not None:
            _check_tape(taping.tape, model_config, cases, str(taping.replay))
        model = open_model(model_config, _options(suite, execution, taping))
    except ConfigError as error:
        problems += (_placed(problem, suite) for problem in error.problems)
    if problems or model is None:
        raise ConfigError(problems)
    return ChatBackend(model, _limits(suite.config, execution))


def _options(suite: LoadedSuite, execution: Execution, taping: Taping) -> ModelOptions:
    config = suite.config
    anthropic = config.model is not None and config.model.provider == "anthropic"
    of_agent = config.claude if anthropic else config.openai
    thinking = config.claude.extended_thinking if anthropic and config.claude else None
    options = ModelOptions(
        environment={**_env_file(suite), **os.environ},
        secrets=tuple({secret.reveal() for secret in _secrets(config)}),
        effort=of_agent.effort if of_agent else None,
        thinking_tokens=thinking.budget_tokens if thinking is not None and thinking.enabled else None,
        max_retries=execution.max_retries,
        record=taping.recorder,
        replay=taping.tape,
    )
    at_once = of_agent.max_concurrent_sessions if of_agent else None
    return options if at_once is None else replace(options, most_at_once=float(at_once))


def _limits(config: SuiteConfig, execution: Execution) -> ChatLimits:
    """The tool rounds of a turn: the setting of the provider's block, else 20."""
    if config.model is not None and config.model.provider == "anthropic":
        stated, setting = config.claude.max_turns if config.claude else None, "claude.max_turns"
    else:
        stated, setting = config.openai.max_turns if config.openai else None, "openai.max_turns"
    return ChatLimits(execution.llm_timeout, stated or _ROUNDS, setting)


def _foreign_tools(suite: LoadedSuite) -> Iterator[Problem]:
    """The tools that load and that no chat agent of ours can run."""
    for place, tool in enumerate(suite.config.tools or ()):
        if not isinstance(tool, FunctionTool):
            yield Problem(
                f"a chat agent cannot use {tool.name!r}: this version runs no tools of type {tool.type}",
                path=f"tools[{place}]",
                file=suite.path or None,
                hint="leave it out, or pass your agent: run(agent=my_function)",
            )


def _check_tape(tape: Tape, model: ModelConfig, cases: Sequence[NamedCase], path: str) -> None:
    """See that the recording is one of this model and holds these cases.

    Raises:
        ConfigError: It is another one.
    """
    head, place = tape.head, "run(replay=…)"
    if not head.provider:
        message = "the recording has judges in it and no agent"
        raise ConfigError([Problem(message, path=place, file=path, hint="pass the agent that was judged")])
    if (head.provider, head.model) != (model.provider, model.name):
        message = (
            f"the recording is of {head.provider}:{head.model}, the suite asks {model.provider}:{model.name}"
        )
        hint = f'suite.with_model("{head.provider}:{head.model}").run(replay=…)'
        raise ConfigError([Problem(message, path=place, file=path, hint=hint)])
    known = {case for case, _ in tape.entries}
    missing = [named.name for named in cases if named.name not in known]
    if missing:
        raise ConfigError(
            Problem("the recording has no such case", path=place, file=path, case=case) for case in missing
        )


def _placed(problem: Problem, suite: LoadedSuite) -> Problem:
    """A problem with the model, at its place in the suite."""
    if problem.path.startswith("run("):
        return problem
    return replace(problem, path=f"model.{problem.path}", file=suite.path or None)


def _env_file(suite: LoadedSuite) -> Mapping[str, str]:
    return {} if suite.folder is None else read_env_file(suite.folder / ".env")


def _secrets(value: Any) -> Iterator[Secret]:
    """Every secret in the settings; the test cases hold none."""
    match value:
        case Secret():
            yield value
        case SuiteConfig():
            yield from _secrets([item for name, item in value if name != "test_cases"])
        case BaseModel():
            for _, item in value:
                yield from _secrets(item)
        case Mapping():
            for item in value.values():
                yield from _secrets(item)
        case list() | tuple():
            for item in value:
                yield from _secrets(item)
