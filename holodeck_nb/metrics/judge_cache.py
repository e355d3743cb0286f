"""Answers of judges that are kept: the same question to the same model need not be paid for twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holodeck_nb._version import __version__
from holodeck_nb.whole_files import unversioned_folder, write_whole

if TYPE_CHECKING:
    from holodeck_nb.llm.chat_model import ChatRequest
    from holodeck_nb.schema.agent import ModelConfig

__all__ = ["JudgeCache", "KeptReply"]

# All that changes what a model would answer; its key is no part of that.
_SETTINGS = ("provider", "name", "temperature", "max_tokens", "top_p", "endpoint", "api_version")


@dataclass(frozen=True, slots=True)
class KeptReply:
    """The text of a reply that could be used, and the model that gave it as the provider names it."""

    text: str
    model: str | None = None


class JudgeCache:
    """A folder of replies under hashed names; several runs may use it at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def key(self, model: ModelConfig, request: ChatRequest) -> str:
        """A hash of the model with its settings, and of every text and the schema that it is sent."""
        settings = {name: str(getattr(model, name)) for name in _SETTINGS}
        texts = [getattr(message, "text", "") for message in request.messages]
        asked = [settings, request.instructions, texts, request.response_format]
        # Escaped, so that a lone half of a character can be hashed too.
        return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode("ascii")).hexdigest()

    def reply(self, key: str) -> KeptReply | None:
        """What is kept; None where nothing is, or it cannot be read."""
        try:
            plain: Any = json.loads(self._file(key).read_bytes())
            text, model = plain["text"], plain["model"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return KeptReply(text, model) if isinstance(text, str) and isinstance(model, str | None) else None

    def keep(self, key: str, reply: KeptReply) -> None:
        """Keep it; a folder that cannot be written keeps nothing, and the run goes on."""
        body = json.dumps({"text": reply.text, "model": reply.model, "by": f"holodeck-nb {__version__}"})
        with contextlib.suppress(OSError):
            unversioned_folder(self._folder, self._folder.parent)
            write_whole(self._file(key), body, private=True)

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json"
