"""Agreement as cards, lines and DataFrames: a metric against a person, a judge against itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holodeck_nb.results.agreement import Agreement, Repeatability
from holodeck_nb.results.columns import DISAGREEMENT_COLUMNS, REASKED_COLUMNS

from .card import SCOPE, STYLE, cell, facts, paragraph
from .visible_text import one_line, shortened
from .wording import judged

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["JudgeRepeatability", "LabelAgreement"]

_NAME, _TEXT = 80, 300


class LabelAgreement(Agreement):
    """A metric's verdicts against labels by people; shows itself, and has what they differ on as a frame."""

    @property
    def disagreements(self) -> pd.DataFrame:
        """The turns on which they differ, the worst first; columns: `DISAGREEMENT_COLUMNS`."""
        from .frame_columns import frame  # noqa: PLC0415 - pandas is loaded with the first frame

        values = {name: [getattr(turn, name) for turn in self.disagreed] for name in DISAGREEMENT_COLUMNS}
        return frame(DISAGREEMENT_COLUMNS, values)

    def __repr__(self) -> str:
        """One line: kappa, sensitivity and specificity with their intervals, over how many turns."""
        told = ", ".join(f"{name.lower()} {value}" for name, value in self._facts()[:-1])
        return f"<Agreement of {_short(self.metric)!r} with labels: {told}>"

    def _repr_html_(self) -> str:
        return _card("Agreement", self.metric, self._facts(), "see .disagreements" if self.disagreed else "")

    def _facts(self) -> list[tuple[str, str]]:
        kappa = "unknown" if self.kappa is None else f"{self.kappa:.2f}"
        left_out = f"{self.unlabelled} without a label, {self.unmeasured} without a verdict"
        return [
            ("Cohen's kappa", kappa),
            ("Sensitivity", str(self.sensitivity)),
            ("Specificity", str(self.specificity)),
            ("Agreed", str(self.agreed)),
            ("n", f"{self.n}"),
            ("Left out", left_out),
        ]


class JudgeRepeatability(Repeatability):
    """A judge against itself; shows itself, and has what it said of each turn as a frame."""

    @property
    def frame(self) -> pd.DataFrame:
        """One row a turn, in the suite's order; columns: `REASKED_COLUMNS`."""
        from .frame_columns import frame  # noqa: PLC0415 - see above

        values = {
            name: [getattr(turn, name) for turn in self.turns]
            for name in REASKED_COLUMNS
            if name not in {"scores", "verdicts", "judged", "mean"}
        }
        measured = [turn.measured for turn in self.turns]
        values |= {
            "scores": [list(turn.scores) for turn in self.turns],
            "verdicts": [list(turn.passed) for turn in self.turns],
            "judged": [len(scores) for scores in measured],
            "mean": [sum(scores) / len(scores) if scores else None for scores in measured],
        }
        return frame(REASKED_COLUMNS, values)

    def __repr__(self) -> str:
        """One line: how often the verdict stayed, how much scores scatter, over how many turns."""
        told = ", ".join(f"{name.lower()} {value}" for name, value in self._facts())
        return f"<Repeatability of {_short(self.metric)!r}: {told}>"

    def _repr_html_(self) -> str:
        flipped = len(self.flipped)
        note = f"the judge flipped its verdict on {flipped} of {len(self.turns)} turns" if flipped else ""
        return _card("Repeatability", self.metric, [*self._facts(), ("Took", judged(self.judging))], note)

    def _facts(self) -> list[tuple[str, str]]:
        rows = [
            ("Same verdict", str(self.unanimous)),
            ("Pairs that agree", "unknown" if self.agreement is None else f"{self.agreement:.2f}"),
            ("Noise of a score", "unknown" if self.noise is None else f"{self.noise:.3f}"),
            ("Asked", f"{len(self.turns)} turns {self.asked} times"),
        ]
        if self.unmeasured:
            rows.append(("Without a score", f"{self.unmeasured}"))
        if self.model:
            rows.append(("Judge", _short(self.model)))
        return rows


def _card(kind: str, name: str, rows: list[tuple[str, str]], note: str) -> str:
    told = paragraph(note, _TEXT) if note else ""
    title = f"{kind} <strong>{cell(name, _NAME)}</strong>"
    return f'<div class="{SCOPE}">{STYLE}<div class="head">{title}</div>{facts(rows)}{told}</div>'


def _short(text: str) -> str:
    return shortened(one_line(text), _NAME)
