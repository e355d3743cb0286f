"""Models of OpenAI, and of every server that speaks its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from holodeck_nb.schema.agent import ModelConfig

from .faults import Place
from .openai_chat import ChatCompletions
from .provider_model import ProviderModel
from .providers import ModelOptions, key_of, model_of, sdk
from .wire import SDKWire

__all__ = ["chat_wire", "open_openai", "sampling", "unasked", "versioned"]

_ENDPOINT = "https://api.openai.com/v1"
_KEY = "OPENAI_API_KEY"


def open_openai(config: ModelConfig, options: ModelOptions) -> ProviderModel:
    """A model of OpenAI, or of the server at `endpoint`."""
    key = key_of(config, options, _KEY)
    stated = config.endpoint or options.environment.get("OPENAI_BASE_URL") or _ENDPOINT
    endpoint = versioned(str(stated))
    openai = sdk("openai", options)
    limit = "max_completion_tokens" if endpoint == _ENDPOINT else "max_tokens"
    return model_of(
        Place(config.provider, config.name, endpoint, key_variable=_KEY),
        ChatCompletions(sampling(config, options, limit)),
        lambda: chat_wire(openai, lambda: openai.AsyncOpenAI(api_key=key, base_url=endpoint, **CLIENT)),
        options,
        key=key,
        unasked=unasked(config),
    )


# We retry and we end a turn; the SDK does neither.
CLIENT: Mapping[str, Any] = {"max_retries": 0, "timeout": None}


def chat_wire(openai: Any, client: Any) -> SDKWire:
    """Chat completions through the SDK."""
    return SDKWire(openai, client, "/chat/completions")


def sampling(config: ModelConfig, options: ModelOptions, limit: str) -> dict[str, Any]:
    """The settings that go with every request."""
    settings = {
        "model": config.name,
        "temperature": config.temperature,
        "top_p": config.top_p,
        limit: config.max_tokens,
        "reasoning_effort": options.effort,
    }
    return {name: value for name, value in settings.items() if value is not None}


def unasked(config: ModelConfig) -> frozenset[str]:
    """The sampling settings that are our default and not the user's wish."""
    return frozenset({"temperature", "top_p"} - config.model_fields_set)


def versioned(endpoint: str) -> str:
    """The endpoint with its `/v1`, where only the server is named.

    >>> versioned("http://localhost:11434")
    'http://localhost:11434/v1'
    """
    bare = endpoint.rstrip("/")
    return bare if urlsplit(bare).path else f"{bare}/v1"
