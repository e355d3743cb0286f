"""Cases from a DataFrame: one row a turn, rows of the same case together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holodeck_nb.errors import ConfigError, Problem

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cases_of_frame"]

_TURN_COLUMNS = ("input", "ground_truth", "expected_tools", "retrieval_context", "turn_config", "evaluations")


def cases_of_frame(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as cases: rows of the same `case` together, in order of first appearance."""
    unknown = [str(column) for column in frame.columns if column not in {*_TURN_COLUMNS, "case"}]
    if unknown or "input" not in frame.columns:
        raise ConfigError(_column_problems(unknown, has_input="input" in frame.columns))
    cases: list[dict[str, Any]] = []
    by_name: dict[Any, dict[str, Any]] = {}
    for row in frame.to_dict("records"):
        name = row.pop("case", None)
        turn = {str(key): value for key, value in row.items() if not _is_missing(value)}
        if _is_missing(name):
            cases.append({"turns": [turn]})
        elif name in by_name:
            by_name[name]["turns"].append(turn)
        else:
            by_name[name] = {"name": str(name), "turns": [turn]}
            cases.append(by_name[name])
    return cases


def _column_problems(unknown: Sequence[str], *, has_input: bool) -> list[Problem]:
    known = ", ".join(("case", *_TURN_COLUMNS))
    problems = [Problem("not a known column", path=name, hint=f"the columns are {known}") for name in unknown]
    return (
        problems
        if has_input
        else [*problems, Problem("the frame has no column `input`", hint=f"the columns are {known}")]
    )


def _is_missing(value: Any) -> bool:
    """None, NaN, NA or NaT; never a list or a mapping."""
    import pandas as pd  # noqa: PLC0415 - whoever has a frame has loaded it already

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))
