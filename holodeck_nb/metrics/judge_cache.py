"""Answers of judges that are kept: the same question to the same model need not be paid for twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holodeck_nb._version import __version__
from holodeck_nb.whole_files import unversioned_folder, write_whole

from .judge_weights import Weights

if TYPE_CHECKING:
    from holodeck_nb.llm.chat_model import ChatRequest
    from holodeck_nb.schema.agent import ModelConfig

__all__ = ["JudgeCache", "KeptReply"]

# All that changes what a model would answer; its key is no part of that.
_SETTINGS = ("provider", "name", "temperature", "max_tokens", "top_p", "endpoint", "api_version")


@dataclass(frozen=True, slots=True)
class KeptReply:
    """The text of a reply that could be used, and the model that gave it as the provider names it.

    `weights` are the probabilities of what its score might have been; None where they were not told.
    """

    text: str
    model: str | None = None
    weights: Weights | None = None


class JudgeCache:
    """A folder of replies under hashed names; several runs may use it at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def key(self, model: ModelConfig, endpoint: str, request: ChatRequest) -> str:
        """A hash of the model with its settings and where it answers, and of all that it is sent."""
        settings = {name: str(getattr(model, name)) for name in _SETTINGS}
        texts = [getattr(message, "text", "") for message in request.messages]
        asked = [settings, endpoint, request.instructions, texts, request.response_format]
        # Escaped, so that a lone half of a character can be hashed too.
        return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode("ascii")).hexdigest()

    def reply(self, key: str) -> KeptReply | None:
        """What is kept; None where nothing is, or it cannot be read."""
        try:
            plain: Any = json.loads(self._file(key).read_bytes())
            text, model, weights = plain["text"], plain["model"], _weights(plain.get("weights"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        if not isinstance(text, str) or not isinstance(model, str | None):
            return None
        return KeptReply(text, model, weights)

    def keep(self, key: str, reply: KeptReply) -> None:
        """Keep it; a folder that cannot be written keeps nothing, and the run goes on."""
        told: dict[str, Any] = {"text": reply.text, "model": reply.model, "by": f"holodeck-nb {__version__}"}
        if reply.weights is not None:
            told["weights"] = {str(number): share for number, share in reply.weights.items()}
        body = json.dumps(told)
        with contextlib.suppress(OSError):
            unversioned_folder(self._folder, self._folder.parent)
            write_whole(self._file(key), body, private=True)

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def _weights(kept: object) -> Weights | None:
    """Weights as they were kept, to the last digit.

    Raises:
        ValueError: They are none.
    """
    if kept is None:
        return None
    if not isinstance(kept, Mapping) or not kept or not all(_is_share(share) for share in kept.values()):
        raise ValueError(kept)
    return {int(number): share for number, share in kept.items()}


def _is_share(value: object) -> bool:
    return isinstance(value, float) and 0 < value <= 1
