"""The agent's tools as a suite declares them: functions and MCP servers run, the other kinds load."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Discriminator, Field, PlainValidator, Tag

from .agent import ModelConfig
from .scalars import (
    Count,
    Flag,
    GuardedMapping,
    Model,
    NonBlankSetting,
    Number,
    Positive,
    SecretText,
    Setting,
    Whole,
    untyped,
    wrong,
)
from .values import guarded, kind_of

__all__ = [
    "TOOL_KINDS",
    "AgentTool",
    "FunctionTool",
    "HierarchicalDocumentTool",
    "McpTool",
    "PromptTool",
    "VectorstoreTool",
]

TOOL_KINDS = ("function", "mcp", "prompt", "vectorstore", "hierarchical_document")
Unit = Annotated[Number, Field(ge=0, le=1)]
Parameters = Annotated[dict[str, dict[str, Any]], BeforeValidator(untyped)]
_Names = str | list[str]


def _tool_name(name: str) -> str:
    if not re.fullmatch(r"[0-9A-Za-z_]+", name):
        raise wrong(f"a tool's name holds letters, digits and `_` alone, got {name!r}")
    return name


def _one_or_more(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value if value is None else str(value)
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(str(item) for item in value)
    raise wrong(f"expected a name or a list of names, got {kind_of(value)}")


class DatabaseConfig(Model):
    """Where vectors lie; each kind of database has further keys of its own."""

    model_config = ConfigDict(extra="allow")

    provider: Literal[
        "postgres", "azure-ai-search", "qdrant", "weaviate", "chromadb", "faiss", "azure-cosmos-mongo",
        "azure-cosmos-nosql", "sql-server", "pinecone", "in-memory",
    ]  # fmt: skip
    connection_string: SecretText | None = None
    __pydantic_extra__: dict[str, Annotated[Any, BeforeValidator(guarded)]]


class KeywordIndexConfig(Model):
    """Where words are looked up; further keys are the index's own."""

    model_config = ConfigDict(extra="allow")

    provider: Literal["in-memory", "opensearch"] = "in-memory"
    endpoint: Setting | None = None
    index_name: Setting | None = None
    username: Setting | None = None
    password: SecretText | None = None
    api_key: SecretText | None = None
    verify_certs: Flag = True
    timeout_seconds: Annotated[Whole, Field(ge=1, le=120)] = 10
    __pydantic_extra__: dict[str, Annotated[Any, BeforeValidator(guarded)]]


def _database_form(value: Any) -> str:
    return "\0name" if isinstance(value, str) else "\0mapping"


Database = Annotated[
    Annotated[Setting, Tag("\0name")] | Annotated[DatabaseConfig, Tag("\0mapping")],
    Discriminator(_database_form),
]


class _Tool(Model):
    """What every tool of the agent has."""

    name: Annotated[NonBlankSetting, AfterValidator(_tool_name)]
    description: Setting


class FunctionTool(_Tool):
    """A Python function: `function` in `file`, relative to the suite."""

    type: Literal["function"] = "function"
    defer_loading: Flag = True
    file: NonBlankSetting
    function: NonBlankSetting
    parameters: Parameters | None = None


class McpTool(_Tool):
    """A server that speaks the Model Context Protocol."""

    type: Literal["mcp"] = "mcp"
    defer_loading: Flag = True
    transport: Literal["stdio", "sse", "websocket", "http"] = "stdio"
    command: Setting | None = None
    args: tuple[Setting, ...] | None = None
    env: dict[str, SecretText] | None = None
    env_file: Setting | None = None
    encoding: Setting | None = None
    url: Setting | None = None
    headers: dict[str, SecretText] | None = None
    timeout: Positive | None = None
    sse_read_timeout: Positive | None = None
    terminate_on_close: Flag | None = None
    config: GuardedMapping | None = None
    load_tools: Flag = True
    load_prompts: Flag = True
    request_timeout: Positive = 60
    is_retrieval: Flag = False
    registry_name: Setting | None = None


class PromptTool(_Tool):
    """A prompt template the agent may call; loads, and no chat agent of ours runs it."""

    type: Literal["prompt"] = "prompt"
    defer_loading: Flag = True
    template: Setting | None = None
    file: Setting | None = None
    parameters: Parameters
    model: GuardedMapping | None = None


class VectorstoreTool(_Tool):
    """A search over embedded text; loads, and no chat agent of ours runs it."""

    type: Literal["vectorstore"] = "vectorstore"
    defer_loading: Flag = True
    source: NonBlankSetting
    vector_field: Annotated[Any, PlainValidator(_one_or_more, json_schema_input_type=_Names)] = None
    meta_fields: tuple[Setting, ...] | None = None
    chunk_size: Count | None = None
    chunk_overlap: Annotated[Whole, Field(ge=0)] | None = None
    embedding_model: Setting | None = None
    embedding_dimensions: Count | None = None
    database: Database | None = None
    top_k: Count = 5
    min_similarity_score: Number | None = None
    record_path: Setting | None = None
    record_prefix: Setting | None = None
    meta_prefix: Setting | None = None
    id_field: Setting | None = None
    field_separator: Setting = "\n"
    delimiter: Setting | None = None


class HierarchicalDocumentTool(_Tool):
    """A search over structured documents; loads, and no chat agent of ours runs it."""

    type: Literal["hierarchical_document"] = "hierarchical_document"
    source: NonBlankSetting
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
    embedding_model: Setting | None = None
    database: Database | None = None
    keyword_index: KeywordIndexConfig | None = None
    defer_loading: Flag = True


def _kind_given(value: Any) -> Any:
    """See that a tool says its kind; one that names a function needs not."""
    if not isinstance(value, Mapping):
        if isinstance(value, _Tool):
            return value
        raise wrong(f"expected a mapping with `type`, got {kind_of(value)}", hint=_ONE_OF)
    kind = value.get("type")
    if kind is None and "function" in value:
        return {**value, "type": "function"}
    if kind is None:
        raise wrong("a tool needs a `type`", hint=_ONE_OF)
    if kind not in TOOL_KINDS:
        raise wrong(f"{kind_of(kind)} is not a kind of tool", at="type", found=kind, allowed=TOOL_KINDS)
    return value


def _tag(value: Any) -> str:
    return f"\0{value['type'] if isinstance(value, Mapping) else value.type}"


_ONE_OF = f"it is one of {', '.join(TOOL_KINDS)}"
# A tag begins with NUL, which no YAML file can hold: in an error's place it is told from a key at once.
AgentTool = Annotated[
    Annotated[FunctionTool, Tag("\0function")]
    | Annotated[McpTool, Tag("\0mcp")]
    | Annotated[PromptTool, Tag("\0prompt")]
    | Annotated[VectorstoreTool, Tag("\0vectorstore")]
    | Annotated[HierarchicalDocumentTool, Tag("\0hierarchical_document")],
    Discriminator(_tag),
    BeforeValidator(_kind_given),
]
