"""The columns of every DataFrame, declared once: name -> nullable pandas dtype, in order."""

from __future__ import annotations

__all__ = [
    "CASE_COLUMNS",
    "CHANGE_COLUMNS",
    "DISAGREEMENT_COLUMNS",
    "METRIC_COLUMNS",
    "REASKED_COLUMNS",
    "REPEAT_COLUMNS",
    "RUN_COLUMNS",
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
REPEAT_COLUMNS = {
    "case": "string",
    "repeats": "Int64",  # that were played
    "repeats_passed": "Int64",
    "pass_rate": "Float64",
}
CHANGE_COLUMNS = {
    **_KEY,
    "metric": "string",  # NA: the turn as a whole
    "status_before": "string",
    "status_after": "string",
    "score_before": "Float64",
    "score_after": "Float64",
    "threshold_before": "Float64",
    "threshold_after": "Float64",
    "reason_before": "string",
    "reason_after": "string",
    "changed": "boolean",
}
DISAGREEMENT_COLUMNS = {
    **_KEY,
    "label": "boolean",  # what the person says
    "passed": "boolean",  # what the metric says
    "score": "Float64",
    "distance": "Float64",  # of the score from the label, as 1 or 0
    "reason": "string",
}
REASKED_COLUMNS = {
    **_KEY,
    "judged": "Int64",  # how often there was a score
    "mean": "Float64",
    "spread": "Float64",  # the highest score less the lowest
    "agreement": "Float64",  # of pairs of verdicts
    "flipped": "boolean",
    "scores": "object",
    "verdicts": "object",
}
RUN_COLUMNS = {
    "run": "string",
    "suite": "string",
    "suite_path": "string",
    "started_at": "datetime64[us, UTC]",
    "state": "string",
    "stop_reason": "string",
    "agent": "string",
    "resumed_from": "string",
    "made_by": "string",
    "rescored_from": "string",
    "cases": "Int64",
    "cases_passed": "Int64",
    "turns": "Int64",
    "turns_played": "Int64",
    "turns_passed": "Int64",
    "total_tokens": "Int64",
    "cost_usd": "Float64",
    "duration_ms": "Float64",
    "path": "string",
}
WARNING_COLUMNS = {"case": "string", "turn": "Int64", "place": "string", "text": "string"}
