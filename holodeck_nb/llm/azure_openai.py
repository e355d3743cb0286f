"""Models of OpenAI that Azure runs; `name` is the deployment."""

from __future__ import annotations

from holodeck_nb.errors import ConfigError, Problem
from holodeck_nb.schema.agent import ModelConfig

from .faults import Place
from .openai import CLIENT, chat_wire, sampling, unasked
from .openai_chat import ChatCompletions
from .provider_model import ProviderModel
from .providers import ModelOptions, key_of, model_of, sdk

__all__ = ["open_azure_openai"]

_KEY, _ENDPOINT, _VERSION = "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"
_DEFAULT_VERSION = "2024-10-21"


def open_azure_openai(config: ModelConfig, options: ModelOptions) -> ProviderModel:
    """A deployment at the Azure resource `endpoint`."""
    problems: list[Problem] = []
    key = ""
    try:
        key = key_of(config, options, _KEY)
    except ConfigError as error:
        problems += error.problems
    endpoint = str(config.endpoint or options.environment.get(_ENDPOINT, "")).strip().rstrip("/")
    if not endpoint and options.replay is None:
        hint = f"write the resource's address there, or set {_ENDPOINT}"
        problems.append(
            Problem("azure_openai needs the address of your resource", path="endpoint", hint=hint)
        )
    if problems:
        raise ConfigError(problems)
    version = config.api_version or options.environment.get(_VERSION) or _DEFAULT_VERSION
    openai = sdk("openai", options)
    return model_of(
        Place(
            config.provider, config.name, endpoint, _KEY, unknown_model_hint="is it the deployment's name?"
        ),
        ChatCompletions(sampling(config, options, "max_tokens")),
        lambda: chat_wire(
            openai,
            lambda: openai.AsyncAzureOpenAI(
                api_key=key, azure_endpoint=endpoint, api_version=str(version), **CLIENT
            ),
        ),
        options,
        key=key,
        unasked=unasked(config),
    )
