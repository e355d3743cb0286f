"""A JSON report, ours or HoloDeck's, as a run again."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from holodeck_nb.errors import ConfigError, Problem
from holodeck_nb.results.names import case_names
from holodeck_nb.results.records import FileRecord, RunWarning
from holodeck_nb.results.rollup import CaseResult, RunResult

from .json_report import WRITER
from .json_turns import FILE_KEYS, without_query
from .report_shape import TurnShape, report_shape
from .report_turns import read_turn, unused_errors

if TYPE_CHECKING:
    from holodeck_nb.results.records import TurnResult

    from .report_shape import CaseShape, FileShape, ReportShape

__all__ = ["run_from_report"]

_LONGEST_LITERAL = 100_000


def run_from_report(data: Mapping[str, Any], *, path: str = "") -> RunResult:
    """Read a report back: `report(run_from_report(report(run))) == report(run)`.

    What a report has no field for comes back as unknown (None): cost, models of the agent, finish reasons,
    when a turn began. A metric in error has no score, one with `passed: null` is only scored, a case without
    a name is `case 3` by its place, a name that comes again gets ` #2` (so do repeats). A cache count of 0 is
    read as unknown, since the format writes both alike; cached tokens that stand beside the prompt (their
    sum is the total) are counted into it.

    A HoloDeck report's verdicts are kept: a turn that did not pass for no reason we can see becomes an error
    with what the report says. Where one passed though by our rules it does not, and where an error text fits
    nowhere else, a warning says so.

    Args:
        data: The report as JSON data; it is not changed.
        path: The file it comes from, for messages; "" where there is none.

    Raises:
        ConfigError: It is no report; every problem with its place.
    """
    if not isinstance(data, Mapping):
        found = type(data).__name__
        message = f"a report is a mapping with agent_name, results and summary, got {found}"
        raise ConfigError([Problem(message, file=path or None)])
    shape = report_shape(data, path)
    own = shape.holodeck_version.partition(" ")[0] == WRITER
    names = case_names([case.test_name for case in shape.results])
    reader = _Reader(own=own)
    cases = tuple(
        reader.case(case, name, place)
        for place, (case, name) in enumerate(zip(shape.results, names, strict=True))
    )
    duration = shape.summary.total_duration_ms or None
    settings, environment = _settings(shape)
    return RunResult(
        suite_name=shape.agent_name,
        cases=cases,
        suite_path=shape.agent_config_path,
        # HoloDeck's duration is the sum over its cases: it does not lead back to the start.
        started_at=_earlier(shape.timestamp, duration) if own else None,
        duration_ms=duration,
        settings=settings,
        environment=environment,
        warnings=tuple(reader.warnings),
    )


def _numbered(turns: list[TurnResult]) -> list[TurnResult]:
    """The turns under their own numbers; under their places where two have the same one."""
    if len({turn.turn for turn in turns}) == len(turns):
        return turns
    return [replace(turn, turn=place) for place, turn in enumerate(turns)]


class _Reader:
    """Reads cases and collects what does not fit."""

    def __init__(self, *, own: bool) -> None:
        self.own = own
        self.warnings: list[RunWarning] = []

    def case(self, shape: CaseShape, name: str, place: int) -> CaseResult:
        shapes = [_only_turn(shape)] if shape.turns is None else shape.turns
        turns = _numbered([self._turn(turn, number, name) for number, turn in enumerate(shapes)])
        result = CaseResult(
            name=name,
            index=place,
            turns=tuple(_with_files(turns, shape)),
            given_name=shape.test_name,
            multi_turn=shape.turns is not None,
            finished_at=shape.timestamp,
        )
        if shape.turns is not None and result.passed != shape.passed:
            self._warn(f"the report says that the case {_verdict(shape.passed)}, its turns do not", name)
        return result

    def _turn(self, shape: TurnShape, number: int, case: str) -> TurnResult:
        turn = read_turn(shape, number, own=self.own)
        if turn.passed and not shape.passed:
            text = "; ".join(shape.errors) or "the report says that this turn did not pass, not why"
            return replace(turn, error=text)
        if turn.status == "failed":
            if shape.passed:
                text = f"the report says that the turn passed; by our rules it did not: {turn.reason}"
                self._warn(text, case, turn.turn)
            for error in unused_errors(shape.errors, turn.tool_checks or ()):
                self._warn(f"from the report: {error}", case, turn.turn)
        return turn

    def _warn(self, text: str, case: str, turn: int | None = None) -> None:
        self.warnings.append(RunWarning(text, case=case, turn=turn))


def _only_turn(case: CaseShape) -> TurnShape:
    """A single-turn case as its one turn."""
    return TurnShape.model_construct(
        turn_index=0,
        input=case.test_input,
        response=case.agent_response,
        ground_truth=case.ground_truth,
        expected_tools=case.expected_tools,
        tool_calls=case.tool_calls,
        tool_invocations=case.tool_invocations,
        tools_matched=case.tools_matched,
        metric_results=case.metric_results,
        passed=case.passed,
        execution_time_ms=case.execution_time_ms,
        token_usage=case.token_usage,
        errors=case.errors,
    )


def _with_files(turns: list[TurnResult], case: CaseShape) -> list[TurnResult]:
    """Each file with the turn that its metadata names, else with the first."""
    places = {turn.turn: place for place, turn in reversed(list(enumerate(turns)))}
    by_turn: dict[int, list[FileRecord]] = {}
    for file in case.processed_files:
        metadata = dict(file.metadata or {})
        named = None if case.turns is None else metadata.pop("turn", None)
        place = places.get(named, 0) if isinstance(named, int) else 0
        by_turn.setdefault(place, []).append(_file(file, metadata))
    return [
        replace(turn, files=tuple(by_turn[place])) if place in by_turn else turn
        for place, turn in enumerate(turns)
    ]


def _file(shape: FileShape, metadata: Mapping[str, Any]) -> FileRecord:
    place = shape.original
    told = {
        **{key: getattr(place, key) for key in FILE_KEYS},
        "markdown_content": shape.markdown_content or None,
        "cached_path": shape.cached_path,
        "processing_time_ms": shape.processing_time_ms,
        "error": shape.error,
    }
    return FileRecord(
        path=place.path,
        url=None if place.url is None else without_query(place.url),
        type=place.type,
        details={**metadata, **{key: value for key, value in told.items() if value is not None}},
    )


def _settings(shape: ReportShape) -> tuple[dict[str, Any], dict[str, str]]:
    """The execution settings, written as JSON or (HoloDeck's) as a Python literal; and the other texts."""
    environment = dict(shape.environment)
    settings = _mapping(environment.get("execution_config", ""))
    if settings is None:
        return {}, environment
    del environment["execution_config"]
    return {str(key): value for key, value in settings.items()}, environment


def _mapping(text: str) -> dict[Any, Any] | None:
    for read in (json.loads, _literal):
        try:
            value = read(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None


def _literal(text: str) -> Any:
    if not text.startswith("{") or len(text) > _LONGEST_LITERAL:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an odd backslash in someone else's text
        return ast.literal_eval(text)


def _earlier(end: datetime | None, duration_ms: float | None) -> datetime | None:
    try:
        return end and end - timedelta(milliseconds=duration_ms or 0)
    except OverflowError:
        return None


def _verdict(passed: bool) -> str:
    return "passed" if passed else "did not pass"
