"""The explorer as a widget: cases, filters, one conversation at a time; only this module loads anywidget."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anywidget
import traitlets

from .conversation import conversation_html
from .explorer_front import asset, rows_answer, start, style
from .explorer_index import Index, Step, Wanted
from .explorer_static import static_html, static_text
from .frames import turns_frame
from .wording import totals

if TYPE_CHECKING:
    import pandas as pd

    from holodeck_nb.results.rollup import RunResult

__all__ = ["Explorer"]

_WIDGET = "application/vnd.jupyter.widget-view+json"


class Explorer(anywidget.AnyWidget):
    """Cases, filters and one conversation at a time; `selection` gives back what is open.

    A hundred lines of the list and one conversation travel to the front end; everything else is asked for
    when it is looked at, so that ten thousand cases open as fast as ten. Where no kernel runs, a static page
    of the failures stands in its place.

    Example:
        >>> explorer = run.explore()  # doctest: +SKIP
        >>> explorer.selection[["case", "turn", "reason"]]  # doctest: +SKIP
    """

    _esm = f"{asset('explorer.js')}\n{asset('explorer_widget.js')}"
    _css = style()
    _start = traitlets.Dict().tag(sync=True)
    _chosen = traitlets.Dict().tag(sync=True)

    def __init__(self, run: RunResult, *, case: str | None = None, turn: int | None = None) -> None:
        self._run = run
        self._index = Index(run)
        self._wanted = Wanted()
        at = self._index.first if case is None and turn is None else self._find(case, turn)
        self._id = uuid4().hex  # by which the live widget finds the page that it hides
        super().__init__(
            _start={"id": self._id, **start(run, self._index, at)},
            _chosen={"place": -1, "turn": None} if at is None else {"place": at.place, "turn": at.turn},
        )
        self.on_msg(self._heard)

    @property
    def selection(self) -> pd.DataFrame:
        """The chosen turn, else all turns of the open conversation: rows of `run.turns` with its index."""
        place, turn = self._open
        rows = range(0) if place is None else self._rows(place)
        if place is not None and turn is not None:
            numbers = [result.turn for result in self._run.cases[place].turns]
            row = rows.start + numbers.index(turn)
            rows = range(row, row + 1)
        return self._turns.iloc[list(rows)].copy()

    @property
    def listed(self) -> pd.DataFrame:
        """Every turn of the cases that the filters let through: rows of `run.turns`, its index."""
        places = self._index.matches(self._wanted).places
        return self._turns.iloc[[row for place in places for row in self._rows(place)]].copy()

    def go_to(self, case: str, turn: int | None = None) -> None:
        """Open a conversation, at one turn (from 0) if it is given; the front end follows.

        Raises:
            ValueError: The run has no such case, or the case no such turn.
        """
        at = self._find(case, turn)
        self._chosen = {"place": at.place, "turn": at.turn}

    def __repr__(self) -> str:
        """One line: what passed, of how many, and what is open."""
        place, turn = self._open
        where = "" if place is None else f", open: {self._index.entries[place].name!r}"
        where += "" if turn is None else f" turn {turn}"
        return f"<Explorer {self._run.suite_name[:80]!r}: {totals(self._run.summary)}{where}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override] # no metadata beside it
        """The widget, and beside it what needs no kernel: a page and plain text of the failures."""
        del kwargs  # which formats are asked for: all of them are cheap
        return {**self._page(), _WIDGET: self._view()}

    def _ipython_display_(self, **kwargs: Any) -> None:
        """Show the widget and the page as two outputs of the cell.

        Of one output JupyterLab shows the widget or, in a notebook that is opened again, `model not found`,
        never the page beside it. The live widget hides the page.
        """
        del kwargs
        from IPython.core.getipython import get_ipython  # noqa: PLC0415 - who shows something has it loaded
        from IPython.display import publish_display_data  # noqa: PLC0415 - the same

        publish: Any = publish_display_data  # IPython has no types here
        if getattr(get_ipython(), "kernel", None) is None:  # a terminal
            publish({"text/plain": static_text(self._run)})
            return
        publish({"text/plain": repr(self), _WIDGET: self._view()})
        publish(self._page())

    @property
    def _open(self) -> tuple[int | None, int | None]:
        """Place and turn of what is open, whatever a front end wrote there."""
        place, turn = self._chosen.get("place"), self._chosen.get("turn")
        if not isinstance(place, int) or not 0 <= place < len(self._run.cases):
            return None, None
        return place, turn if any(turn == result.turn for result in self._run.cases[place].turns) else None

    @cached_property
    def _turns(self) -> pd.DataFrame:
        return turns_frame(self._run)

    @cached_property
    def _ends(self) -> list[int]:
        return [0, *accumulate(len(case.turns) for case in self._run.cases)]

    def _rows(self, place: int) -> range:
        return range(self._ends[place], self._ends[place + 1])

    def _find(self, case: str | None, turn: int | None) -> Step:
        names = [result.name for result in self._run.cases]
        if case is None:
            raise ValueError("turn needs the case it is in: explore(case=…, turn=…)")
        if case not in names:
            near = get_close_matches(case, names, n=1)
            raise ValueError(f"no case {case!r} in this run{f'; did you mean {near[0]!r}?' if near else ''}")
        place = names.index(case)
        numbers = [result.turn for result in self._run.cases[place].turns]
        if turn is not None and turn not in numbers:
            raise ValueError(f"case {case!r} has the turns {', '.join(map(str, numbers))}; got {turn!r}")
        at = self._index.matches(Wanted()).step(place, turn, 0)
        assert at is not None
        return at

    def _heard(self, _widget: Any, told: Any, _buffers: Any) -> None:
        """Answer a question of a front end; what is none gets no answer."""
        if isinstance(told, Mapping) and "id" in told:
            self.send({"id": told["id"], "answer": self._answer(told)})

    def _answer(self, told: Mapping[str, Any]) -> Any:
        match told:
            case {"ask": "rows", "wanted": wanted, "from": int(first), "most": int(most)}:
                self._wanted = Wanted.of(wanted)
                return rows_answer(self._index, self._wanted, max(first, 0), most)
            case {"ask": "conversation", "place": int(place)} if 0 <= place < len(self._run.cases):
                return conversation_html(self._run.cases[place])
            case {
                "ask": "step",
                "wanted": wanted,
                "place": int(place),
                "turn": int() | None as turn,
                "by": int(by),
            }:
                step = self._index.matches(Wanted.of(wanted)).step(place, turn, by)
                return None if step is None else step._asdict()
            case _:
                return None

    def _view(self) -> dict[str, Any]:
        return {"version_major": 2, "version_minor": 0, "model_id": self.model_id}

    def _page(self) -> dict[str, str]:
        page = f"<style>{style()}</style>{static_html(self._run)}"
        return {
            "text/plain": static_text(self._run),
            "text/html": f'<div class="holodeck-nb hn-static" data-of="{self._id}">{page}</div>',
        }
