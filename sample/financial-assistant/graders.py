"""Grade the arithmetic of a turn: do the tools that the agent called carry out the turn's program?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from holodeck_nb import GraderContext, GraderResult, ToolInvocation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# A program is a list of steps such as `subtract(206588, 181001), divide(#0, 181001)`, or a bare number.
# An operand is a number (`206588`, `.45`, `33.2%`), a constant (`const_100`, and `const_m1` for -1), or `#N`,
# the result of step N of the same program, counted from 0. The rules of this grader:
#
# - Each step that the last one builds on must be called on this turn, under the name of its operation, a
#   prefix allowed (`math-subtract`). Other calls do no harm: lookups, trials, steps that lead nowhere.
# - Numbers go by value: 206588, 206588.0 and "206,588" are one. `33.2%` is 0.332 (or the text "33.2%"), as in
#   the data's own arithmetic, never 33.2: divide(932, 13.4) is not divide(932, 0.134).
# - `#N` means the result of the call that carried out step N. An agent may round it to seven digits.
# - add and multiply take their operands in either order, the other operations do not.
# - A bare number asks for no arithmetic.
OPERATIONS = ("add", "subtract", "multiply", "divide", "exp", "greater")
EITHER_ORDER = frozenset({"add", "multiply"})
LITERAL_TOLERANCE = Decimal("1e-9")  # relative; what float arithmetic adds to 33.2 / 100
RESULT_TOLERANCE = Decimal("1e-6")
ZERO = Decimal("1e-12")  # what float arithmetic leaves of 0.3 - 0.1 - 0.2

# What a wrong operand is called, the first one and the second.
WORDS = {
    "add": ("adds {got}, the program {want}", "adds {got}, the program {want}"),
    "subtract": ("subtracts from {got}, the program from {want}", "subtracts {got}, the program {want}"),
    "multiply": ("multiplies by {got}, the program by {want}", "multiplies by {got}, the program by {want}"),
    "divide": ("divides {got}, the program {want}", "divides by {got}, the program by {want}"),
    "exp": ("raises {got}, the program {want}", "raises to the power {got}, the program to {want}"),
    "greater": ("compares {got}, the program {want}", "compares with {got}, the program with {want}"),
}

_STEP = re.compile(r"\s*([a-z_]+)\(([^(),]*),([^(),]*)\)\s*(?:,|$)")
_NUMBER = re.compile(
    r"[-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,3})?", re.ASCII | re.IGNORECASE
)
_LONGEST = 300


@dataclass(frozen=True)
class Step:
    """One operation of a program; operands as the program writes them."""

    operation: str
    operands: tuple[str, str]

    @property
    def builds_on(self) -> tuple[int, ...]:
        """The steps whose results it takes, from 0."""
        return tuple(int(operand[1:]) for operand in self.operands if operand.startswith("#"))

    def __str__(self) -> str:
        return f"{self.operation}({', '.join(self.operands)})"


def turn_program_equivalence(context: GraderContext) -> GraderResult:
    """Compare the calls of this turn with `turn_config.turn_program`.

    The score is the share of the program's steps that agree; a step that takes the result of one that does
    not agree does not agree either. It passes where all do.

    Raises:
        ValueError: The turn has no program, or one that cannot be read. That is a fault of the suite, not of
            the agent, and the metric is an error there.
    """
    program = _program_of(context)
    steps = read_program(program)
    if not steps:
        reason = "the program is a bare number: no arithmetic is due"
        return GraderResult(score=1.0, passed=True, reason=reason, details={"program": program, "steps": []})

    results: dict[int, Decimal | None] = {}  # of the steps that agree
    reasons: dict[int, str | None] = {}
    used: set[int] = set()
    for place in _needed(steps):
        call, reasons[place] = _carried_out(place, steps[place], context.tool_invocations, results)
        if call is not None:
            results[place] = number(call.result)
            used.add(id(call))
    first_reason = next((reason for reason in reasons.values() if reason), None)
    return GraderResult(
        score=len(results) / len(reasons),
        passed=first_reason is None,
        reason=first_reason or f"the calls carry out {program}",
        details={
            "program": program,
            "steps": [
                {"step": place + 1, "program": str(steps[place]), "agrees": reason is None, "reason": reason}
                for place, reason in reasons.items()
            ],
            "extra_calls": [call.name for call in context.tool_invocations if id(call) not in used],
        },
    )


def read_program(program: str) -> tuple[Step, ...]:
    """The steps of a program; none for a bare number.

    >>> [str(step) for step in read_program("subtract(5, 3), divide(#0, 3)")]
    ['subtract(5, 3)', 'divide(#0, 3)']
    >>> read_program("33.2%")
    ()

    Raises:
        ValueError: It is neither.
    """
    if _literal(program) is not None:
        return ()
    steps: list[Step] = []
    end = 0
    while found := _STEP.match(program, end):
        operation, first, second = (part.strip() for part in found.groups())
        steps.append(Step(operation, (first, second)))
        end = found.end()
    if not steps or end < len(program) or program.rstrip().endswith(","):
        expected = "steps like `subtract(5, 3), divide(#0, 3)`, or a bare number"
        raise ValueError(f"turn_program {program!r} cannot be read: expected {expected}")
    for place, step in enumerate(steps):
        _check(place, step, program)
    return tuple(steps)


def number(value: Any) -> Decimal | None:
    """A tool's argument or result as a number: `206588`, `"206,588"`, `"$5"`, `"33.2%"` (0.332).

    None where it is none; `True` is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        text = str(value).strip().replace("\N{MINUS SIGN}", "-").replace("$", "")
    except ValueError:  # an int of more than 4300 digits
        return None
    is_percent = text.endswith("%")
    text = text.removesuffix("%").rstrip()
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        return None
    read = Decimal(text.replace(",", ""))
    return read / 100 if is_percent else read


def _program_of(context: GraderContext) -> str:
    program = (context.turn_config or {}).get("turn_program")
    if isinstance(program, bool) or not isinstance(program, str | int | float):
        raise ValueError("this turn has no `turn_program` in its `turn_config`")  # noqa: TRY004 - the suite's fault
    return str(program)


def _check(place: int, step: Step, program: str) -> None:
    """Refuse what no call could ever carry out."""
    where = f"turn_program {program!r}: step {place + 1}"
    if step.operation not in OPERATIONS:
        raise ValueError(f"{where}: {step.operation!r} is none of {', '.join(OPERATIONS)}")
    for operand in step.operands:
        if re.fullmatch(r"#\d+", operand):
            if int(operand[1:]) >= place:
                raise ValueError(f"{where}: {operand} is no earlier step")
        elif _literal(operand) is None:
            raise ValueError(f"{where}: {operand!r} is no operand")


def _literal(operand: str) -> Decimal | None:
    """The number that an operand states; None for `#N` and for what is no operand."""
    if operand.startswith("const_"):
        return number(operand.removeprefix("const_").replace("m", "-"))
    return number(operand)


def _needed(steps: Sequence[Step]) -> Iterator[int]:
    """The steps that lead to the last one, in the program's order."""
    needed = {len(steps) - 1}
    for place in reversed(range(len(steps))):
        if place in needed:
            needed.update(steps[place].builds_on)
    yield from sorted(needed)


def _carried_out(
    place: int, step: Step, calls: Sequence[ToolInvocation], results: Mapping[int, Decimal | None]
) -> tuple[ToolInvocation | None, str | None]:
    """The call that does what the step says, or why there is none."""
    named = [call for call in calls if _operation(call.name) == step.operation]
    if not named:
        called = ", ".join(dict.fromkeys(call.name for call in calls)) or "no tool at all"
        return None, f"step {place + 1}, {step}, is missing: called was {called}"
    for earlier in step.builds_on:
        if earlier not in results:
            return None, f"step {place + 1}, {step}, builds on step {earlier + 1}, which differs"
        if results[earlier] is None:
            return None, f"step {place + 1}, {step}: the result of step {earlier + 1} is no number"
    wanted = tuple(_wanted(operand, results) for operand in step.operands)
    # The call that comes closest explains; a later one before an earlier one: agents correct themselves.
    closest: tuple[int, str] | None = None
    for call in reversed(named):
        agreeing, reason = _compared(step, wanted, call)
        if reason is None:
            return call, None
        if closest is None or agreeing > closest[0]:
            closest = (agreeing, reason)
    assert closest is not None
    return None, f"step {place + 1} {closest[1]}"


@dataclass(frozen=True)
class _Wanted:
    """What an operand must be."""

    value: Decimal
    tolerance: Decimal
    told: str

    def fits(self, given: Decimal | None) -> bool:
        if given is None:
            return False
        largest = max(abs(given), abs(self.value))
        return abs(given - self.value) <= max(self.tolerance * largest, ZERO)


def _wanted(operand: str, results: Mapping[int, Decimal | None]) -> _Wanted:
    literal = _literal(operand)
    if literal is not None:
        told = operand if operand.endswith("%") else _shown(literal)
        return _Wanted(literal, LITERAL_TOLERANCE, told)
    place = int(operand[1:])
    result = results[place]
    assert result is not None
    return _Wanted(result, RESULT_TOLERANCE, f"{_shown(result)}, the result of step {place + 1}")


def _compared(step: Step, wanted: Sequence[_Wanted], call: ToolInvocation) -> tuple[int, str | None]:
    """How many operands of a call agree, and in what it differs; None where it does not."""
    raw = _operands(call)
    if call.error is not None:
        return -1, f"calls {step.operation}, which failed: {call.error}"
    if len(raw) != len(wanted):
        return -1, f"calls {step.operation} with {len(raw)} operands, the program with {len(wanted)}"
    given = [number(value) for value in raw]
    fits = [want.fits(value) for want, value in zip(wanted, given, strict=True)]
    swapped = [want.fits(value) for want, value in zip(wanted, reversed(given), strict=True)]
    if step.operation in EITHER_ORDER and sum(swapped) > sum(fits):
        fits, given, raw = swapped, given[::-1], raw[::-1]
    if all(fits):
        return 2, None
    if all(swapped):
        return 0, f"swaps its operands: {_call(step, raw)}, the program {step}"
    if not any(fits):
        notes = {_note(want.value, value) for want, value in zip(wanted, given, strict=True)}
        note = notes.pop() if len(notes) == 1 else ""  # said once where it is true of both
        return 0, f"is {_call(step, raw)}, the program's {step}{note}"
    wrong = fits.index(False)
    words = WORDS[step.operation][wrong].format(got=_shown(raw[wrong]), want=wanted[wrong].told)
    return 1, words + _note(wanted[wrong].value, given[wrong])


def _operation(name: str) -> str | None:
    """Which operation a tool is by its name, `divide` or `mcp__calc__divide`; None for any other tool."""
    words = [word for word in re.findall(r"[a-z]+", name.casefold()) if word in OPERATIONS]
    return words[0] if len(words) == 1 else None


def _operands(call: ToolInvocation) -> list[Any]:
    """The arguments `a` and `b`; of a tool that calls them otherwise, all in the order in which they came."""
    args = call.args or {}
    return [args["a"], args["b"]] if {"a", "b"} <= args.keys() else list(args.values())


def _call(step: Step, operands: Sequence[Any]) -> str:
    return f"{step.operation}({', '.join(_shown(operand) for operand in operands)})"


def _shown(value: Any) -> str:
    """A number with at most twelve digits, anything else as Python writes it, in short."""
    if isinstance(value, Decimal) or (isinstance(value, int | float) and number(value) is not None):
        return f"{float(value):.12g}"
    return "a number of very many digits" if isinstance(value, int) and abs(value) > 1 else repr(value)[:60]


def _note(want: Decimal, got: Decimal | None) -> str:
    if not want or not got:
        return ""
    same = _Wanted(want, LITERAL_TOLERANCE, "")
    if same.fits(-got):
        return " (the sign is opposite)"
    if same.fits(got / 100):
        return " (100 times too large)"
    return " (100 times too small)" if same.fits(got * 100) else ""
