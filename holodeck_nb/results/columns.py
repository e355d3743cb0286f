"""The columns of every DataFrame, declared once: name -> nullable pandas dtype, in order."""

from __future__ import annotations

__all__ = [
    "CASE_COLUMNS",
    "METRIC_COLUMNS",
    "TOOL_CALL_COLUMNS",
    "TOOL_CHECK_COLUMNS",
    "TURN_COLUMNS",
    "WARNING_COLUMNS",
]

_KEY = {"case": "string", "turn": "Int64", "repeat": "Int64"}

TURN_COLUMNS = {
    **_KEY,
    "status": "string",
    "passed": "boolean",
    "input": "string",
    "response": "string",
    "ground_truth": "string",
    "tools_expected": "object",  # list of names or mappings, as the suite writes them; NA: nothing asserted
    "tools_called": "object",  # list of called names, in order; empty where none was called
    "tools_matched": "boolean",
    "reason": "string",
    "finish_reason": "string",
    "refused": "boolean",
    "truncated": "boolean",
    "duration_ms": "Float64",
    "prompt_tokens": "Int64",
    "completion_tokens": "Int64",
    "total_tokens": "Int64",
    "usage_complete": "boolean",
    "cost_usd": "Float64",
    "started_at": "datetime64[us, UTC]",
}
METRIC_COLUMNS = {
    **_KEY,
    "metric": "string",
    "kind": "string",
    "status": "string",
    "score": "Float64",
    "threshold": "Float64",
    "passed": "boolean",
    "reason": "string",
    "details": "object",
    "model": "string",
    "retries": "Int64",
    "duration_ms": "Float64",
}
TOOL_CALL_COLUMNS = {
    **_KEY,
    "call": "Int64",
    "name": "string",
    "args": "object",
    "result": "object",
    "error": "string",
    "duration_ms": "Float64",
}
TOOL_CHECK_COLUMNS = {
    **_KEY,
    "check": "Int64",
    "tool": "string",
    "arg": "string",
    "matcher": "string",
    "expected": "object",
    "actual": "object",
    "matched": "boolean",
    "reason": "string",
}
CASE_COLUMNS = {
    "case": "string",
    "repeat": "Int64",
    "status": "string",
    "passed": "boolean",
    "turns": "Int64",
    "turns_passed": "Int64",
    "first_failed_turn": "Int64",
    "tools_matched": "boolean",
    "reason": "string",
    "duration_ms": "Float64",
    "total_tokens": "Int64",
    "usage_complete": "boolean",
    "cost_usd": "Float64",
}
WARNING_COLUMNS = {"case": "string", "turn": "Int64", "place": "string", "text": "string"}
