"""The agent under test: its model, instructions, tools and the limits of its sessions."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from .scalars import Count, Flag, Model, NonBlankSetting, Number, Positive, SecretText, Setting, Whole, wrong
from .values import kind_of

__all__ = [
    "ClaudeConfig",
    "Instructions",
    "ModelConfig",
    "OpenAIConfig",
]

Effort = Literal["low", "medium", "high", "max"]
Unit = Annotated[Number, Field(ge=0, le=1)]


def _or_short_form(schema: dict[str, Any]) -> None:
    """Let the published schema know `provider:name`."""
    spelled_out = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"type": "string"}, spelled_out]


class ModelConfig(Model):
    """A model and how it is asked. May also be written `provider:name`."""

    model_config = ConfigDict(json_schema_extra=_or_short_form)

    provider: NonBlankSetting
    name: Setting = ""
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = 0.3
    max_tokens: Count | None = 1000
    top_p: Unit | None = None
    endpoint: Setting | None = None
    api_key: SecretText | None = None
    api_version: Setting | None = None
    auth_provider: Literal["api_key", "oauth_token", "bedrock", "vertex", "foundry", "custom"] | None = None
    script: NonBlankSetting | None = None

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        provider, _, name = value.partition(":")
        if provider != "scripted" and not (provider and name):
            raise wrong(f"expected a mapping or `provider:name`, got {kind_of(value)}")
        return {"provider": provider, "name": name}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.provider == "scripted":
            return self
        if not self.name.strip():
            raise wrong(f"a model of provider {self.provider!r} needs a name", at="name")
        if self.script is not None:
            raise wrong("a script goes with provider 'scripted' alone", at="script")
        return self


class Instructions(Model):
    """The system prompt, in a file or in place."""

    file: NonBlankSetting | None = None
    inline: NonBlankSetting | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.file is None) is (self.inline is None):
            found = "neither" if self.file is None else "both"
            raise wrong(f"instructions have either `file` or `inline`, got {found}")
        return self


class _ThinkingConfig(Model):
    enabled: Flag = False
    budget_tokens: Annotated[Whole, Field(ge=1000, le=100_000)] = 10_000


class _BashConfig(Model):
    enabled: Flag = False
    excluded_commands: tuple[Setting, ...] = ()
    allow_unsafe: Flag = False


class _FileSystemConfig(Model):
    read: Flag = False
    write: Flag = False
    edit: Flag = False


class _SubagentSpec(Model):
    description: NonBlankSetting
    prompt: Setting | None = None
    prompt_file: Setting | None = None
    tools: tuple[Setting, ...] | None = None
    model: Literal["sonnet", "opus", "haiku", "inherit"] | None = None


class ClaudeConfig(Model):
    """How sessions with Anthropic's models run."""

    working_directory: Setting | None = None
    permission_mode: Literal["manual", "acceptEdits", "acceptAll"] = "manual"
    max_turns: Count | None = None
    max_concurrent_sessions: Annotated[Whole, Field(ge=1, le=500)] | None = None
    session_memory_estimate_mib: Annotated[Whole, Field(ge=50, le=2000)] = 500
    extended_thinking: _ThinkingConfig | None = None
    web_search: Flag = False
    bash: _BashConfig | None = None
    file_system: _FileSystemConfig | None = None
    agents: dict[str, _SubagentSpec] | None = None
    allowed_tools: tuple[Setting, ...] | None = None
    effort: Effort | None = None
    max_budget_usd: Positive | None = None
    fallback_model: Setting | None = None
    disallowed_tools: tuple[Setting, ...] | None = None
    setting_sources: tuple[Literal["user", "project", "local", "all"], ...] | None = None
    i_understand_this_is_unsafe: Flag = False
    disable_default_hooks: Flag = False
    disable_subprocess_env_scrub: Flag = False


class _PermissionsConfig(Model):
    allowed_tools: tuple[Setting, ...] | None = None
    disallowed_tools: tuple[Setting, ...] | None = None


class OpenAIConfig(Model):
    """How sessions with OpenAI's models run."""

    max_concurrent_sessions: Annotated[Whole, Field(ge=1, le=500)] | None = None
    session_memory_estimate_mib: Annotated[Whole, Field(ge=50, le=2000)] = 100
    max_turns: Count = 20
    i_understand_this_is_unsafe: Flag = False
    disable_default_hooks: Flag = False
    disable_subprocess_env_scrub: Flag = False
    permissions: _PermissionsConfig | None = None
    effort: Effort | None = None
    max_budget_usd: Positive | None = None
    fallback_model: Setting | None = None
    disallowed_tools: tuple[Setting, ...] | None = None
