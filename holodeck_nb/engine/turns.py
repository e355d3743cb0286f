"""One turn: send, wait, check the tools, score the metrics, write it down."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from holodeck_nb.backends.base import AgentSession, Message, Reply
from holodeck_nb.backends.callables import as_reply
from holodeck_nb.errors import RunStoppedError, SessionLostError, described
from holodeck_nb.files.inputs import FileDesk, TurnFiles
from holodeck_nb.matching.expected_tools import check_tools
from holodeck_nb.metrics.base import GraderContext
from holodeck_nb.results.records import MetricResult, ToolCheck, TurnResult
from holodeck_nb.sync import TimeLimitError, UserCodeExit, bounded, call, in_thread

from .plan import TurnPlan
from .scoring import score_turn

__all__ = ["PlayedTurn", "play_turn"]


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """A turn's result and what it means for the rest.

    Attributes:
        result: What happened.
        warnings: What a user should know of the turn's files.
        case_over: Why the later turns of this case are skipped; None where the conversation goes on.
        run_over: Why the whole run ends; None where it goes on.
    """

    result: TurnResult
    case_over: str | None = None
    run_over: str | None = None
    warnings: tuple[str, ...] = ()


async def play_turn(
    plan: TurnPlan,
    session: AgentSession,
    *,
    case_name: str,
    llm_timeout: float,
    grader_timeout: float,
    desk: FileDesk | None = None,
) -> PlayedTurn:
    """Play one turn to its verdict; `desk` reads its files.

    Raises:
        UserCodeExit: User code raised KeyboardInterrupt: the run is to be interrupted.
    """
    started_at, clock = datetime.now(UTC), perf_counter()
    case_over = run_over = None
    files = TurnFiles(plan.asked.input)
    if plan.asked.files and desk is not None:
        sees = getattr(session, "takes_images", True)
        files = await desk.read_all(plan.asked.files, plan.asked.input, sees=bool(sees))
    kept: dict[str, Any] = {"files": files.records}
    if files.error is not None:
        clocked = {"started_at": started_at, "duration_ms": (perf_counter() - clock) * 1000}
        result = plan.result(error=files.error, **kept, **clocked)
        return PlayedTurn(result, warnings=files.warnings)
    started_at, clock = datetime.now(UTC), perf_counter()
    try:
        message = Message(files.text, files.images)
        reply = as_reply(await bounded(call(session.send, message), llm_timeout))
    except TimeLimitError:
        error = f"timeout: no reply within {llm_timeout:g} s (execution.llm_timeout)"
    except RunStoppedError as fault:
        error = case_over = run_over = described(fault)
    except SessionLostError as fault:
        error = described(fault)
        case_over = f"the session was lost on turn {plan.turn}: {error}"
    except UserCodeExit as fault:
        if fault.is_interrupt:
            raise
        error = str(fault)
    except Exception as fault:  # noqa: BLE001 - the border to the backend: its fault is this turn's result
        error = described(fault)
    else:
        clocked = {"started_at": started_at, "duration_ms": (perf_counter() - clock) * 1000}
        checks, scores = await _judged(plan, reply, case_name=case_name, grader_timeout=grader_timeout)
        result = plan.result(
            response=reply.text, **kept, **_told(reply), tool_checks=checks, metrics=scores, **clocked
        )
        return PlayedTurn(result, case_over=_broken_for_good(plan, scores), warnings=files.warnings)
    clocked = {"started_at": started_at, "duration_ms": (perf_counter() - clock) * 1000}
    partial = getattr(session, "partial", None)
    kept |= _told(partial) if isinstance(partial, Reply) else {}
    return PlayedTurn(plan.result(error=error, **kept, **clocked), case_over, run_over, files.warnings)


async def _judged(
    plan: TurnPlan, reply: Reply, *, case_name: str, grader_timeout: float
) -> tuple[tuple[ToolCheck, ...] | None, tuple[MetricResult, ...]]:
    """Check the tools and score the metrics of a turn that has a reply."""
    asked = plan.asked
    checks = None
    if asked.expected_tools is not None:
        # A pattern may run for a second, and other cases must not wait for it.
        checking = (check_tools, asked.expected_tools, reply.tool_calls)
        checks = await in_thread(*checking) if plan.has_patterns else check_tools(*checking[1:])
    if not plan.metrics:
        return checks, ()
    context = GraderContext(
        turn_input=asked.input,
        agent_response=reply.text,
        ground_truth=asked.ground_truth,
        tool_invocations=reply.tool_calls,
        retrieval_context=asked.retrieval_context,
        turn_index=plan.turn,
        test_case_name=case_name,
        turn_config=asked.turn_config,
    )
    scores = await score_turn(
        plan.metrics, context, grader_timeout=grader_timeout, definitions=plan.definitions
    )
    return checks, scores


def _broken_for_good(plan: TurnPlan, scores: tuple[MetricResult, ...]) -> str | None:
    """Why the case ends here: a metric with `fail_on_error` broke; None where none did."""
    for score, metric in zip(scores, plan.metrics, strict=True):
        if metric.fail_on_error and score.status == "error":
            return f"metric {score.id!r}, which has fail_on_error, broke on turn {plan.turn}: {score.reason}"
    return None


def _told(reply: Reply) -> dict[str, Any]:
    """What a reply tells beside its text."""
    return {
        "tool_calls": reply.tool_calls,
        "usage": reply.usage,
        "cost_usd": reply.cost_usd,
        "model": reply.model,
        "finish_reason": reply.finish_reason,
        "refused": reply.refused,
        "truncated": reply.truncated,
    }
