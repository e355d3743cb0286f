"""Runs worth looking at: a careless analyst on all of ConvFinQA, hostile text, thousands of cases."""

import asyncio
from pathlib import Path

import convfinqa

import holodeck_nb as hd
from holodeck_nb.results.records import (
    ArgumentCheck,
    MetricResult,
    TokenUsage,
    ToolCheck,
    ToolInvocation,
    TurnResult,
)
from holodeck_nb.results.rollup import CaseResult, RunResult

SAMPLE = Path(__file__).resolve().parents[2] / "sample" / "financial-assistant" / "careless.yaml"
MARKUP = (
    "<script>document.title='run'</script><img src=https://example.org/x onerror=\"document.title='run'\">"
)
HOSTILE = {
    "markup": MARKUP,
    "attribute": '" onmouseover="document.title=\'run\'" x="',
    "closing": "</div></td></table></details></script><h1 onclick=alert(1)>big</h1><style>*{display:none}",
    "controls": "a\x1b[31mb\x00c\u202edtxt\u2066e\u2028f",
    "right to left": "صافي النقد في عام ٢٠٠٩ هو ٢٠٦٬٥٨٨",
    "lone surrogate": "lone \ud800 surrogate",
    "markdown": "[l](javascript:document.title='run') ${1+1} {{7*7}} &lt;b&gt;",
    "huge": "net cash 206,588 " * 200_000,
}


def hostile():
    """The same text wherever text can stand, one case a text."""
    return hd.Run(
        RunResult(
            MARKUP, tuple(_hostile(place, name, text) for place, (name, text) in enumerate(HOSTILE.items()))
        )
    )


def many(cases, turns=4, name="many"):
    """As many cases as one likes; every fifth has a failing turn."""
    return hd.Run(
        RunResult(name, tuple(_case(place, turns) for place in range(cases)), duration_ms=1000.0 * cases)
    )


def careless():
    """The sample's careless analyst: thirteen failures, each of its own kind."""
    return hd.Suite.from_yaml(SAMPLE).run(quiet=True)


def careless_on_convfinqa():
    """The analyst that runs the data's programs, with a slip here and there."""
    return hd.Suite(**convfinqa.suite()).run(backend=CarelessAnalyst(), parallel_test_cases=8, quiet=True)


class CarelessAnalyst(convfinqa.ProgramAnalyst):
    """Slips by the turn's number over the split, so that every run has the same failures."""

    async def create_session(self, context):
        return _Careless(await super().create_session(context), context)


class _Careless:
    def __init__(self, session, context):
        self._session = session
        self._tools = context.tools
        self._number = 7 * context.index

    async def send(self, message):
        self._number += 1
        reply = await self._session.send(message)
        slip = self._number % 23
        if slip == 3:
            return hd.Reply(
                f"That comes to about {float(reply.text):.1f}." if _number(reply.text) else "maybe",
                reply.tool_calls,
            )
        if slip == 9 and reply.tool_calls:
            last = reply.tool_calls[-1]
            swapped = {"a": last.args["b"], "b": last.args["a"]}
            try:
                again = await self._tools.run(last.name, swapped)
            except Exception as error:
                raise hd.TurnError(f"the tool failed: {error}") from error
            return hd.Reply(str(again.result), (*reply.tool_calls[:-1], again))
        if slip == 14 and self._number % 5 == 0:
            raise hd.TurnError("503 from the provider: overloaded")
        if slip == 17 and self._number % 7 == 0:
            raise hd.SessionLostError("connection to the provider lost")
        if slip == 20 and _number(reply.text):
            return hd.Reply(f"{100 * float(reply.text):.2f}", ())
        await asyncio.sleep(0)
        return reply

    async def close(self):
        await self._session.close()


def _number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _hostile(place, name, text):
    check = ArgumentCheck(text, "exact", text, text, missing=False, matched=False, reason=text)
    turn = TurnResult(
        0,
        text,
        ground_truth=text,
        expected_tools=({"name": text, "args": {text: text}},),
        response=text,
        tool_calls=(ToolInvocation(text, {text: [text]}, {text: text}, error=text),),
        tool_checks=(
            ToolCheck(text, 1, {text: text}, matched=False, arguments=(check,), closest_call=0, reason=text),
        ),
        metrics=(MetricResult(text, "code", "failed", 0.0, reason=text, model=text, details={text: text}),),
        model=text,
        finish_reason=text,
    )
    return CaseResult(f"{name}: {text}", place, (turn,))


def _case(place, turns):
    return CaseResult(
        f"case-{place:05}",
        place,
        tuple(_turn(place, number, turns) for number in range(turns)),
        multi_turn=True,
    )


def _turn(place, number, turns):
    wrong = place % 5 == 0 and number == turns - 1
    value = 206_588 + place
    given = value - 1 if wrong else value
    reason = f"b expected {value}, got {given}"
    check = ArgumentCheck(
        "b", "fuzzy", f"{value:,}", given, missing=False, matched=not wrong, reason=reason if wrong else None
    )
    return TurnResult(
        number,
        f"what is the net cash from operating activities in {2000 + number}, in thousands?",
        ground_truth=str(value),
        expected_tools=({"name": "subtract", "args": {"b": {"fuzzy": f"{value:,}"}}},),
        response=f"The net cash is {given}.",
        tool_calls=(
            ToolInvocation("subtract", {"a": 2 * value, "b": given}, 2 * value - given, duration_ms=1.5),
        ),
        tool_checks=(
            ToolCheck(
                "subtract",
                1,
                {"b": {"fuzzy": f"{value:,}"}},
                matched=not wrong,
                matched_calls=() if wrong else (0,),
                arguments=(check,),
                closest_call=0,
                reason=f"subtract: closest call #1: {reason}" if wrong else None,
            ),
        ),
        metrics=(
            MetricResult(
                "numeric",
                "standard",
                "failed" if wrong else "passed",
                0.0 if wrong else 1.0,
                reason=f"expected {value}, got {given} (difference 1, tolerance 0.000001)" if wrong else None,
                duration_ms=0.2,
            ),
        ),
        usage=TokenUsage(900 + number, 12),
        duration_ms=850.0,
    )
