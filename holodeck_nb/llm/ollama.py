"""Models on this machine, through Ollama's `/v1`."""

from __future__ import annotations

from urllib.parse import urlsplit

from holodeck_nb.schema.agent import ModelConfig

from .faults import Place
from .openai import CLIENT, chat_wire, sampling, unasked, versioned
from .openai_chat import ChatCompletions
from .provider_model import ProviderModel
from .providers import ModelOptions, model_of, sdk

__all__ = ["open_ollama"]

_ENDPOINT = "http://localhost:11434"
_NO_KEY = "ollama"  # the client wants one, the server does not look at it


def open_ollama(config: ModelConfig, options: ModelOptions) -> ProviderModel:
    """A model of the Ollama server at `endpoint`, else at OLLAMA_HOST, else on this machine."""
    endpoint = versioned(str(config.endpoint or _host(options.environment.get("OLLAMA_HOST", ""))))
    stated = None if config.api_key is None else config.api_key.reveal()
    key = stated or _NO_KEY
    openai = sdk("openai", options)
    place = Place(
        config.provider,
        config.name,
        endpoint,
        start_hint=f"start Ollama (`ollama serve`) and fetch the model (`ollama pull {config.name}`)",
        unknown_model_hint=f"fetch it: `ollama pull {config.name}`",
    )
    return model_of(
        place,
        ChatCompletions(sampling(config, options, "max_tokens")),
        lambda: chat_wire(openai, lambda: openai.AsyncOpenAI(api_key=key, base_url=endpoint, **CLIENT)),
        options,
        key=stated or "",
        unasked=unasked(config),
    )


def _host(variable: str) -> str:
    """The address in Ollama's own variable, which may lack the scheme, or name all interfaces of a server.

    >>> _host("0.0.0.0")
    'http://127.0.0.1:11434'
    """
    host = variable.strip()
    if not host:
        return _ENDPOINT
    address = host if "://" in host else f"http://{host}"
    port = "" if urlsplit(address).port is not None else f":{urlsplit(_ENDPOINT).port}"
    return address.replace("://0.0.0.0", "://127.0.0.1").rstrip("/") + port
