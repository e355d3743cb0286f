"""The agent under test: its model, instructions, tools and the limits of its sessions."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from .scalars import Anything, Count, Flag, Model, NonBlank, Number, Positive, SecretText, Text, Whole

__all__ = [
    "AgentTool",
    "ClaudeConfig",
    "FunctionTool",
    "Instructions",
    "McpTool",
    "ModelConfig",
    "OpenAIConfig",
]

Effort = Literal["low", "medium", "high", "max"]
Unit = Annotated[Number, Field(ge=0, le=1)]
ToolName = Annotated[NonBlank, Field(pattern=r"^[0-9A-Za-z_]+$")]


class ModelConfig(Model):
    """A model and how it is asked. May also be written `provider:name`."""

    provider: NonBlank
    name: Text = ""
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = 0.3
    max_tokens: Count | None = 1000
    top_p: Unit | None = None
    endpoint: Text | None = None
    api_key: SecretText | None = None
    api_version: Text | None = None
    auth_provider: Literal["api_key", "oauth_token", "bedrock", "vertex", "foundry", "custom"] | None = None
    script: NonBlank | None = None

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        provider, colon, name = value.partition(":")
        if not (provider and colon and name):
            message = "expected a mapping or `provider:name`, got {found}"
            raise PydanticCustomError("model_short", message, {"found": repr(str(value))})
        return {"provider": provider, "name": name}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.provider == "scripted":
            return self
        if not self.name.strip():
            message = "a model of provider {provider!r} needs a `name`"
            raise PydanticCustomError("model_name", message, {"provider": self.provider})
        if self.script is not None:
            raise PydanticCustomError("model_script", "`script` goes with provider 'scripted' alone")
        return self


class Instructions(Model):
    """The system prompt, in a file or in place."""

    file: NonBlank | None = None
    inline: NonBlank | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.file is None) is (self.inline is None):
            found = "neither" if self.file is None else "both"
            message = "instructions have either `file` or `inline`, got {found}"
            raise PydanticCustomError("instructions_place", message, {"found": found})
        return self


class _Tool(Model):
    """What every tool of the agent has."""

    name: ToolName
    description: Text


class FunctionTool(_Tool):
    """A Python function: `function` in `file`, relative to the suite."""

    type: Literal["function"] = "function"
    defer_loading: Flag = True
    file: NonBlank
    function: NonBlank
    parameters: Annotated[dict[str, dict[str, Any]], Anything] | None = None


class McpTool(_Tool):
    """A server that speaks the Model Context Protocol."""

    type: Literal["mcp"] = "mcp"
    defer_loading: Flag = True
    transport: Literal["stdio", "sse", "websocket", "http"] = "stdio"
    command: Text | None = None
    args: tuple[Text, ...] | None = None
    env: dict[str, SecretText] | None = None
    env_file: Text | None = None
    encoding: Text | None = None
    url: Text | None = None
    headers: dict[str, SecretText] | None = None
    timeout: Positive | None = None
    sse_read_timeout: Positive | None = None
    terminate_on_close: Flag | None = None
    config: Anything = None
    load_tools: Flag = True
    load_prompts: Flag = True
    request_timeout: Positive = 60
    is_retrieval: Flag = False
    registry_name: Text | None = None


class PromptTool(_Tool):
    """A prompt template the agent may call; loads, and no chat agent of ours runs it."""

    type: Literal["prompt"] = "prompt"
    defer_loading: Flag = True
    template: Text | None = None
    file: Text | None = None
    parameters: Annotated[dict[str, dict[str, Any]], Anything]
    model: Anything = None


class VectorstoreTool(_Tool):
    """A search over embedded text; loads, and no chat agent of ours runs it."""

    type: Literal["vectorstore"] = "vectorstore"
    defer_loading: Flag = True
    source: NonBlank
    vector_field: Anything = None
    meta_fields: tuple[Text, ...] | None = None
    chunk_size: Count | None = None
    chunk_overlap: Annotated[Whole, Field(ge=0)] | None = None
    embedding_model: Text | None = None
    embedding_dimensions: Count | None = None
    database: Anything = None
    top_k: Count = 5
    min_similarity_score: Number | None = None
    record_path: Text | None = None
    record_prefix: Text | None = None
    meta_prefix: Text | None = None
    id_field: Text | None = None
    field_separator: Text = "\n"
    delimiter: Text | None = None


class HierarchicalDocumentTool(_Tool):
    """A search over structured documents; loads, and no chat agent of ours runs it."""

    type: Literal["hierarchical_document"] = "hierarchical_document"
    source: NonBlank
    chunking_strategy: Literal["structure", "token"] = "structure"
    max_chunk_tokens: Annotated[Whole, Field(ge=100, le=2000)] = 800
    chunk_overlap: Annotated[Whole, Field(ge=0, le=200)] = 50
    document_domain: Literal[
        "none", "us_legislative", "au_legislative", "academic", "technical", "legal_contract"
    ] = "none"
    max_subsection_depth: Count | None = None
    search_mode: Literal["semantic", "keyword", "hybrid"] = "hybrid"
    top_k: Annotated[Whole, Field(ge=1, le=100)] = 10
    min_score: Number | None = None
    semantic_weight: Unit = 0.5
    keyword_weight: Unit = 0.3
    exact_weight: Unit = 0.2
    rrf_k: Count = 60
    contextual_embeddings: Flag = True
    context_max_tokens: Annotated[Whole, Field(ge=50, le=200)] = 100
    context_concurrency: Annotated[Whole, Field(ge=1, le=50)] = 10
    extract_definitions: Flag = True
    extract_cross_references: Flag = True
    enable_reranking: Flag = False
    reranker_model: ModelConfig | None = None
    context_model: ModelConfig | None = None
    embedding_model: Text | None = None
    database: Anything = None
    keyword_index: Anything = None
    defer_loading: Flag = True


TOOL_KINDS = ("function", "mcp", "prompt", "vectorstore", "hierarchical_document")


def _tool_kind(value: Any) -> str | None:
    """A tool says its kind; one that names a file and a function needs not."""
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    if kind is None and isinstance(value, dict) and "function" in value:
        kind = "function"
    return f"\0{kind}" if kind in TOOL_KINDS else None


AgentTool = Annotated[
    Annotated[FunctionTool, Tag("\0function")]
    | Annotated[McpTool, Tag("\0mcp")]
    | Annotated[PromptTool, Tag("\0prompt")]
    | Annotated[VectorstoreTool, Tag("\0vectorstore")]
    | Annotated[HierarchicalDocumentTool, Tag("\0hierarchical_document")],
    Discriminator(_tool_kind),
]


class _ThinkingConfig(Model):
    enabled: Flag = False
    budget_tokens: Annotated[Whole, Field(ge=1000, le=100_000)] = 10_000


class _BashConfig(Model):
    enabled: Flag = False
    excluded_commands: tuple[Text, ...] = ()
    allow_unsafe: Flag = False


class _FileSystemConfig(Model):
    read: Flag = False
    write: Flag = False
    edit: Flag = False


class _SubagentSpec(Model):
    description: NonBlank
    prompt: Text | None = None
    prompt_file: Text | None = None
    tools: tuple[Text, ...] | None = None
    model: Literal["sonnet", "opus", "haiku", "inherit"] | None = None


class ClaudeConfig(Model):
    """How sessions with Anthropic's models run."""

    working_directory: Text | None = None
    permission_mode: Literal["manual", "acceptEdits", "acceptAll"] = "manual"
    max_turns: Count | None = None
    max_concurrent_sessions: Annotated[Whole, Field(ge=1, le=500)] | None = None
    session_memory_estimate_mib: Annotated[Whole, Field(ge=50, le=2000)] = 500
    extended_thinking: _ThinkingConfig | None = None
    web_search: Flag = False
    bash: _BashConfig | None = None
    file_system: _FileSystemConfig | None = None
    agents: dict[str, _SubagentSpec] | None = None
    allowed_tools: tuple[Text, ...] | None = None
    effort: Effort | None = None
    max_budget_usd: Positive | None = None
    fallback_model: Text | None = None
    disallowed_tools: tuple[Text, ...] | None = None
    setting_sources: tuple[Literal["user", "project", "local", "all"], ...] | None = None
    i_understand_this_is_unsafe: Flag = False
    disable_default_hooks: Flag = False
    disable_subprocess_env_scrub: Flag = False


class _PermissionsConfig(Model):
    allowed_tools: tuple[Text, ...] | None = None
    disallowed_tools: tuple[Text, ...] | None = None


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
    fallback_model: Text | None = None
    disallowed_tools: tuple[Text, ...] | None = None
