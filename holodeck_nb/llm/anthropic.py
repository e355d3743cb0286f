"""Models of Anthropic."""

from __future__ import annotations

from typing import Any

from holodeck_nb.errors import ConfigError, Problem
from holodeck_nb.schema.agent import ModelConfig

from .anthropic_messages import Messages
from .faults import Place
from .openai import CLIENT, unasked
from .provider_model import ProviderModel
from .providers import ModelOptions, key_of, model_of, sdk
from .wire import SDKWire

__all__ = ["open_anthropic"]

_ENDPOINT = "https://api.anthropic.com"
# By the suite's `auth_provider`: where the secret is looked up, and what the client calls it.
_CREDENTIALS = {
    "api_key": ("ANTHROPIC_API_KEY", "api_key"),
    "oauth_token": ("CLAUDE_CODE_OAUTH_TOKEN", "auth_token"),
}
# The protocol wants a limit on every request.
_MAX_TOKENS = 4096


def open_anthropic(config: ModelConfig, options: ModelOptions) -> ProviderModel:
    """A model of Anthropic, or of the server at `endpoint`."""
    way = config.auth_provider or "api_key"
    if way not in _CREDENTIALS:
        hint = f"it is one of {', '.join(_CREDENTIALS)} here"
        raise ConfigError(
            [Problem(f"{way!r} cannot be used with this backend", path="auth_provider", hint=hint)]
        )
    variable, argument = _CREDENTIALS[way]
    key = key_of(config, options, variable)
    stated = config.endpoint or options.environment.get("ANTHROPIC_BASE_URL") or _ENDPOINT
    endpoint = str(stated).rstrip("/").removesuffix("/v1")
    anthropic = sdk("anthropic", options)

    return model_of(
        Place(config.provider, config.name, endpoint, key_variable=variable),
        Messages(_settings(config, options)),
        lambda: SDKWire(
            anthropic,
            lambda: anthropic.AsyncAnthropic(base_url=endpoint, **{argument: key}, **CLIENT),
            "/v1/messages",
        ),
        options,
        key=key,
        unasked=unasked(config),
    )


def _settings(config: ModelConfig, options: ModelOptions) -> dict[str, Any]:
    """The settings that go with every request; thinking goes without sampling, and beside the answer."""
    limit = config.max_tokens or _MAX_TOKENS
    settings: dict[str, Any] = {"model": config.name}
    if options.thinking_tokens is not None:
        settings["max_tokens"] = limit + options.thinking_tokens
        settings["thinking"] = {"type": "enabled", "budget_tokens": options.thinking_tokens}
    else:
        settings["max_tokens"] = limit
        settings |= {"temperature": config.temperature, "top_p": config.top_p}
    if options.effort is not None:
        settings["output_config"] = {"effort": options.effort}
    return {name: value for name, value in settings.items() if value is not None}
