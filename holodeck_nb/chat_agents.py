"""From a suite's `model` to a chat agent, or every reason why there is none, before the first call."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from .backends.base import AgentBackend
from .backends.chat import ChatBackend, ChatLimits
from .engine.plan import NamedCase
from .errors import ConfigError, Problem
from .llm.provider_model import ProviderModel
from .llm.providers import ModelOptions, open_model
from .llm.tape import Tape, read_tape
from .loading.execution import Execution
from .loading.loader import LoadedSuite
from .loading.variables import read_env_file
from .schema.agent import ModelConfig
from .schema.agent_tools import FunctionTool
from .schema.suite import SuiteConfig
from .schema.values import Secret

__all__ = ["Taping", "chat_backend"]

_ROUNDS = 20
Paths = str | os.PathLike[str]


@dataclass(frozen=True)
class Taping:
    """Whether the conversation with the provider is recorded, or comes from a recording."""

    record: Paths | None = None
    replay: Paths | None = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> tuple[Taping, dict[str, Any]]:
        """The taping that the arguments of `run` ask for, and the other arguments."""
        others = dict(arguments)
        return cls(others.pop("record", None), others.pop("replay", None)), others

    @property
    def argument(self) -> str | None:
        """The argument of `run` that was given; None for neither."""
        return "record" if self.record is not None else "replay" if self.replay is not None else None

    def unfit_for(self, backend: AgentBackend | None) -> Iterator[Problem]:
        """Whether somebody is to be taped who has no conversation with a provider."""
        if self.argument is not None and backend is not None and not isinstance(backend, ChatBackend):
            message = (
                f"`{self.argument}` goes with a model of a provider, and this run talks to another agent"
            )
            yield Problem(message, path=f"run({self.argument}=…)")

    def problems(self) -> Iterator[Problem]:
        """What is wrong with the arguments themselves."""
        if self.record is not None and self.replay is not None:
            yield Problem("`record` and `replay` do not go together: give one of them", path="run(…)")
        elif self.record is not None and not Path(self.record).absolute().parent.is_dir():
            folder = Path(self.record).absolute().parent
            yield Problem(f"there is no folder {str(folder)!r} to record into", path="run(record=…)")


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
    problems = [*_foreign_tools(suite), *taping.problems()]
    tape, model = None, None
    try:
        if taping.replay is not None and taping.record is None:
            tape = _tape(Path(taping.replay), model_config, cases)
        model = open_model(model_config, _options(suite, execution, taping, tape))
    except ConfigError as error:
        problems += (_placed(problem, suite) for problem in error.problems)
    if model is not None and taping.argument is not None and not isinstance(model, ProviderModel):
        message = f"{model_config.provider!r} can be neither recorded nor replayed"
        problems.append(Problem(message, path=f"run({taping.argument}=…)"))
    if problems or model is None:
        raise ConfigError(problems)
    return ChatBackend(model, _limits(suite.config, execution))


def _options(suite: LoadedSuite, execution: Execution, taping: Taping, tape: Tape | None) -> ModelOptions:
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
        record=None if taping.record is None else Path(taping.record).absolute(),
        replay=tape,
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


def _tape(path: Path, model: ModelConfig, cases: Sequence[NamedCase]) -> Tape:
    """The recording, if it is one of this model and holds these cases."""
    tape = read_tape(path)
    head, place = tape.head, "run(replay=…)"
    if (head.provider, head.model) != (model.provider, model.name):
        message = (
            f"the recording is of {head.provider}:{head.model}, the suite asks {model.provider}:{model.name}"
        )
        hint = f'suite.with_model("{head.provider}:{head.model}").run(replay=…)'
        raise ConfigError([Problem(message, path=place, file=str(path), hint=hint)])
    known = {case for case, _ in tape.entries}
    missing = [named.name for named in cases if named.name not in known]
    if missing:
        raise ConfigError(
            Problem("the recording has no such case", path=place, file=str(path), case=case)
            for case in missing
        )
    return tape


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
