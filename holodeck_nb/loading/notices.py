"""What changes no verdict, but an author should know: a ground truth that the numeric metric cannot read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holodeck_nb.results.names import case_names
from holodeck_nb.results.records import RunWarning
from holodeck_nb.schema.metrics import StandardMetric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holodeck_nb.schema.metrics import MetricConfig
    from holodeck_nb.schema.suite import SuiteConfig

__all__ = ["notices"]


def notices(config: SuiteConfig) -> Iterator[RunWarning]:
    """Find the ground truths that are no numbers on turns whose metrics include `numeric`."""
    from holodeck_nb.matching.numbers import read_number  # noqa: PLC0415 - suites without it need it not

    names: list[str] | None = None
    numeric: dict[tuple[int, int], bool] = {}
    for number, case in enumerate(config.cases):
        for turn_number, turn in enumerate(case.conversation):
            if turn.ground_truth is None:
                continue
            lists = (id(case.evaluations), id(turn.evaluations))
            if lists not in numeric:
                numeric[lists] = any(map(_is_numeric, config.metrics_for(case, turn)))
            if not numeric[lists]:
                continue
            reading = read_number(turn.ground_truth)
            if reading.value is None:
                names = names or case_names([case.name for case in config.cases])
                inside = f".turns[{turn_number}]" if case.multi_turn else ""
                place = f"test_cases[{number}]{inside}.ground_truth"
                text = f"the ground truth {turn.ground_truth!r} is no number, and numeric cannot measure it"
                if reading.reason:
                    text += f": {reading.reason}"
                yield RunWarning(text, case=names[number], turn=turn_number, place=place)


def _is_numeric(metric: MetricConfig) -> bool:
    return isinstance(metric, StandardMetric) and metric.metric == "numeric"
