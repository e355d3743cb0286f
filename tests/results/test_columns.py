"""The declared columns: keys first, known dtypes, and the columns that the contract names."""

import pytest

from holodeck_nb.results import columns

NAMED = {
    "TURN_COLUMNS": "case turn repeat status passed input response ground_truth tools_expected tools_called "
    "tools_matched reason finish_reason refused truncated duration_ms prompt_tokens completion_tokens "
    "total_tokens usage_complete cost_usd started_at",
    "METRIC_COLUMNS": "case turn repeat metric kind status score threshold passed reason details model "
    "retries duration_ms",
    "TOOL_CALL_COLUMNS": "case turn repeat call name args result error duration_ms",
    "TOOL_CHECK_COLUMNS": "case turn repeat check tool arg matcher expected actual matched reason",
    "CASE_COLUMNS": "case repeat status passed turns turns_passed first_failed_turn tools_matched reason "
    "duration_ms total_tokens usage_complete cost_usd",
    "CHANGE_COLUMNS": "case turn repeat metric status_before status_after score_before score_after "
    "threshold_before threshold_after reason_before reason_after changed",
    "DISAGREEMENT_COLUMNS": "case turn repeat label passed score distance reason",
    "REASKED_COLUMNS": "case turn repeat judged mean spread agreement flipped scores verdicts",
    "REPEAT_COLUMNS": "case repeats repeats_passed pass_rate",
    "RUN_COLUMNS": "run suite suite_path started_at state stop_reason agent resumed_from made_by "
    "rescored_from cases cases_passed turns turns_played turns_passed total_tokens cost_usd duration_ms path",
    "WARNING_COLUMNS": "case turn place text",
}
DTYPES = {"string", "Int64", "Float64", "boolean", "object", "datetime64[us, UTC]"}


@pytest.mark.parametrize("name", columns.__all__)
def test_the_columns_are_the_promised_ones_and_nullable(name):
    declared = getattr(columns, name)
    assert list(declared) == NAMED[name].split()
    assert set(declared.values()) <= DTYPES
