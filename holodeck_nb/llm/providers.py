"""The providers by name, and what each is given to open a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from holodeck_nb.errors import ConfigError, MissingDependencyError, Problem
from holodeck_nb.plugins import Registry
from holodeck_nb.schema.agent import ModelConfig

from .chat_model import ChatModel
from .exchange import Exchange, LiveExchange, Patience
from .faults import Place
from .masking import Mask
from .provider_model import Dialect, ProviderModel
from .recording import Filing, RecordedExchange, Recorder, ReplayedExchange
from .tape import Tape, TapeHead
from .wire import Wire

__all__ = ["PROVIDERS", "ModelOptions", "key_of", "model_of", "open_model", "sdk"]

# Name -> what opens its models: `(ModelConfig, ModelOptions) -> ChatModel`. Packages add to the group.
PROVIDERS = Registry(
    "holodeck_nb.models",
    {
        "openai": "holodeck_nb.llm.openai:open_openai",
        "azure_openai": "holodeck_nb.llm.azure_openai:open_azure_openai",
        "ollama": "holodeck_nb.llm.ollama:open_ollama",
        "anthropic": "holodeck_nb.llm.anthropic:open_anthropic",
    },
)


@dataclass(frozen=True)
class ModelOptions:
    """What a model is opened with beside its own block of the suite.

    Attributes:
        environment: Where keys and endpoints are looked up that the suite does not state.
        secrets: What must appear in no message, the model's own key aside.
        effort: How hard a reasoning model thinks; None leaves it to the model.
        thinking_tokens: How much thinking is allowed (Anthropic); None leaves it out.
        max_retries: How often a transient fault is tried again.
        most_at_once: How many requests may be under way at one endpoint.
        record: Where all requests and replies are recorded; None for nowhere.
        replay: What answers in place of the provider; then no key, no package and no network are needed.
        judges: Whether the model judges: what it is asked is then recorded apart from the conversations, its
            metric tries again after a fault, and the form of its answers may be given up.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    effort: str | None = None
    thinking_tokens: int | None = None
    max_retries: int = 2
    most_at_once: float = math.inf
    record: Recorder | None = None
    replay: Tape | None = None
    judges: bool = False

    @property
    def is_taped(self) -> bool:
        """Whether what is said is recorded, or comes from a recording."""
        return self.record is not None or self.replay is not None


def open_model(config: ModelConfig, options: ModelOptions) -> ChatModel:
    """The model of a suite, ready to be asked; nothing is sent yet.

    Raises:
        ConfigError: The provider is unknown, its key or its endpoint is missing, or its package is.
    """
    opener = PROVIDERS.find(config.provider)
    if opener is None:
        known = ", ".join(("scripted", *PROVIDERS.names))
        raise ConfigError(
            [
                Problem(
                    f"there is no provider {config.provider!r}", path="provider", hint=f"it is one of {known}"
                )
            ]
        )
    try:
        model: ChatModel = opener(config, options)
    except MissingDependencyError as error:
        raise ConfigError([Problem(str(error), path="provider")]) from error
    if options.is_taped and not isinstance(model, ProviderModel):
        raise ConfigError(
            [Problem(f"{config.provider!r} can be neither recorded nor replayed", path="provider")]
        )
    return model


def key_of(config: ModelConfig, options: ModelOptions, variable: str) -> str:
    """The key, from the suite or the environment; a placeholder in a replay, which needs none.

    Raises:
        ConfigError: There is none.
    """
    stated = None if config.api_key is None else config.api_key.reveal()
    key = (stated or options.environment.get(variable, "")).strip()
    if key or options.replay is not None:
        return key
    raise ConfigError(
        [
            Problem(
                f"{config.provider} needs a key, and {variable} is not set",
                path="api_key",
                hint=f"set {variable} in the environment or in a .env file beside the suite, "
                f"or write `api_key: ${{{variable}}}`",
            )
        ]
    )


def sdk(module: str, options: ModelOptions) -> Any:
    """A provider's package, imported on first use; None in a replay, which needs none.

    Raises:
        MissingDependencyError: It is not installed; says what to install.
    """
    if options.replay is not None:
        return None
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(f"this provider needs {module}: pip install {module}") from error


def model_of(
    place: Place,
    dialect: Dialect,
    wire: Callable[[], Wire],
    options: ModelOptions,
    *,
    key: str,
    unasked: frozenset[str],
) -> ProviderModel:
    """A model of one of our own providers.

    Args:
        place: Whom it talks to.
        dialect: Its protocol.
        wire: Opens the way there; not called in a replay.
        options: See ModelOptions.
        key: The key, to be masked.
        unasked: Settings that may be left out where the model refuses them.
    """
    mask = Mask((key, *options.secrets))
    filing = Filing(place.provider, mask, by_what_is_asked=options.judges)
    if options.replay is not None:
        return ProviderModel(place, dialect, ReplayedExchange(options.replay, filing))
    if options.judges:
        unasked |= {"response_format"}  # the prompt says it too, and the answer is checked anyway
    patience = Patience(options.max_retries, options.most_at_once, unasked, only_pace=options.judges)
    exchange: Exchange = LiveExchange(place, wire(), dialect.check, patience, mask)
    if options.record is not None:
        if not options.judges:
            host = urlsplit(place.endpoint).netloc.rpartition("@")[2]
            options.record.head = TapeHead(place.provider, place.model, host)
        exchange = RecordedExchange(exchange, options.record, filing)
    return ProviderModel(place, dialect, exchange)
