"""How good a judge is: asked the same again, and held against labels by people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .engine.rescoring import NewMetric, recorded_cases
from .engine.scoring import rejudged
from .errors import ConfigError, Problem
from .metrics.base import metric_ids
from .metrics.judge_models import is_judged
from .results.agreement import Compared, Reasked
from .results.judging import Judging
from .views.agreement import JudgeRepeatability, LabelAgreement

if TYPE_CHECKING:
    import pandas as pd

    from .engine.plan import CasePlan
    from .loading.loader import LoadedSuite
    from .results.records import MetricResult
    from .results.rollup import RunResult
    from .schema.metrics import MetricConfig

__all__ = [
    "asked_again",
    "label_agreement",
    "labels_by_turn",
    "repeatability",
    "repeated_metric",
    "the_one",
    "turns_with",
]

_Key = tuple[str, int, int]
_LABELS = {
    **dict.fromkeys(("true", "yes", "pass", "passed", "good", "1", "1.0"), True),
    **dict.fromkeys(("false", "no", "fail", "failed", "bad", "0", "0.0"), False),
}


def turns_with(run: RunResult, metric: str) -> RunResult:
    """The run with the turns alone that have this metric."""
    cases = []
    for case in run.cases:
        turns = tuple(turn for turn in case.turns if any(found.id == metric for found in turn.metrics))
        if turns:
            cases.append(replace(case, turns=turns))
    return replace(run, cases=tuple(cases))


def repeated_metric(metric: str | Mapping[str, Any], n: Any, suite: LoadedSuite | None) -> Any:
    """The metric to ask again: as it is given, or the suite's one of that id.

    Raises:
        ConfigError: There is none, there are several that differ, or no model judges it.
    """
    place = "judge_repeatability(…)"
    if not isinstance(n, int) or n < 2:  # noqa: PLR2004 - one answer repeats nothing
        raise ConfigError([Problem(f"expected `n` of at least 2, got {n!r}", path=place)])
    if not isinstance(metric, str):
        return metric
    if suite is None:
        hint = "give the metric as in a suite file: judge_repeatability({'type': 'geval', …}, n=5)"
        raise ConfigError([Problem("this run was read, and does not know its suite", path=place, hint=hint)])
    found: dict[int, MetricConfig] = {}
    for case in suite.config.cases:
        for turn in case.conversation:
            configs = suite.config.metrics_for(case, turn)
            named = zip(metric_ids(configs), configs, strict=True)
            found |= {id(config): config for name, config in named if name == metric}
    judged = [config for config in found.values() if is_judged(config)]
    if len(judged) != 1:
        none = "is no metric of the suite that a model judges"
        message = f"{metric!r} {'is several metrics in the suite' if judged else none}"
        hint = "give the metric as in a suite file: judge_repeatability({'type': 'geval', …}, n=5)"
        raise ConfigError([Problem(message, path=place, hint=hint)])
    return judged[0].model_copy(update={"name": metric})


def the_one(metrics: Sequence[NewMetric]) -> NewMetric:
    """The metric to ask again.

    Raises:
        ConfigError: It is disabled.
    """
    if not metrics:
        raise ConfigError([Problem("the metric is disabled", path="judge_repeatability(…)")])
    return metrics[0]


def asked_again(run: RunResult, wanted: NewMetric, n: int) -> tuple[CasePlan, ...]:
    """Every case n times over, once for each time that its turns are judged.

    Raises:
        ConfigError: No model judges.
    """
    if wanted.metric is None or wanted.metric.model is None:
        raise ConfigError([Problem(f"{wanted.id!r} is judged by no model", path="judge_repeatability(…)")])
    cases, repeats = recorded_cases(run, [wanted], afresh=True), _repeats(run)
    return tuple(replace(case, repeat=time * repeats + case.repeat) for case in cases for time in range(n))


def repeatability(run: RunResult, wanted: NewMetric, n: int, answers: RunResult) -> JudgeRepeatability:
    """What the answers to `asked_again` tell."""
    repeats = _repeats(run)
    found: dict[_Key, list[MetricResult]] = {}
    for case, turn in answers.turns():
        if turn.status not in {"skipped", "error"}:
            found.setdefault((case.name, turn.turn, case.repeat % repeats), []).extend(turn.metrics)
    turns = (
        Reasked(
            *key,
            tuple(result.score if result.measured else None for result in results),
            tuple(result.passed if result.measured else None for result in results),
            tuple(_stated(result) for result in results),
        )
        for key, results in found.items()
        if any(result.status != "not_applicable" for result in results)
    )
    model = None if wanted.metric is None else wanted.metric.model
    spent = [told for results in found.values() for each in results if (told := Judging.of(each)) is not None]
    return JudgeRepeatability(wanted.id, model, n, tuple(turns), Judging.sum(spent))


def _stated(result: MetricResult) -> float | None:
    """The number that the judge said, which a score weighted by probabilities hardly ever repeats."""
    if not result.measured:
        return None
    said = (result.details or {}).get("score")
    return said if isinstance(said, int | float) else result.score


def _repeats(run: RunResult) -> int:
    """How often a case of the run was played at most: its times are numbered apart from its repeats."""
    return max((case.repeat for case in run.cases), default=0) + 1


def label_agreement(
    run: RunResult, metric: str, labels: Mapping[_Key, bool], *, threshold: float | None
) -> LabelAgreement:
    """A metric's verdicts against labels, by case, turn and repeat.

    Raises:
        ConfigError: The run has no such metric, or the metric gives no verdict and there is no threshold.
    """
    compared, unlabelled, seen, without = [], 0, set(), 0
    results = [
        ((case.name, turn.turn, case.repeat), result)
        for case, turn in run.turns()
        for result in turn.metrics
        if result.id == metric
    ]
    if not results:
        ids = dict.fromkeys(result.id for _, turn in run.turns() for result in turn.metrics)
        hint = f"there are {', '.join(ids)}" if ids else "it has none"
        raise ConfigError([Problem(f"the run has no metric {metric!r}", path="agreement(…)", hint=hint)])
    for key, result in results:
        if not result.measured or result.score is None:
            continue
        passed = result.passed if threshold is None else rejudged(result, threshold).passed
        if passed is None:
            without += 1
        elif key not in labels:
            unlabelled += 1
        elif key not in seen:
            seen.add(key)
            compared.append(Compared(*key, labels[key], passed, result.score, result.reason))
    if without:
        message = f"metric {metric!r} gives scores and no verdicts"
        hint = "say from which score on it passes: agreement(…, threshold=0.7)"
        raise ConfigError([Problem(message, path="agreement(…)", hint=hint)])
    return LabelAgreement(metric, tuple(compared), unlabelled, len(labels.keys() - seen))


def labels_by_turn(run: RunResult, labels: pd.DataFrame | Sequence[Any], column: str) -> dict[_Key, bool]:
    """The labels by case, turn and repeat; empty cells are no labels.

    Raises:
        ConfigError: They do not go with the run's turns, or are no verdicts; every one of them.
    """
    known = {(case.name, turn.turn, case.repeat) for case, turn in run.turns()}
    rows: list[tuple[_Key, Any]]
    if hasattr(labels, "columns"):
        rows = _rows(labels, column)
    else:
        keys = [(case.name, turn.turn, case.repeat) for case, turn in run.turns()]
        if len(labels) != len(keys):
            message = f"{len(labels)} labels for {len(keys)} turns"
            hint = "give one for each row of run.turns, or a DataFrame with `case` and `turn`"
            raise ConfigError([Problem(message, path="agreement(labels=…)", hint=hint)])
        rows = list(zip(keys, labels, strict=True))
    problems: list[Problem] = []
    found: dict[_Key, bool] = {}
    for key, value in rows:
        label = _label(value)
        if label is None:
            continue
        where = f"case {key[0]!r}, turn {key[1]}"
        if isinstance(label, str):
            message = f"{where}: {label} is no label: true or false, 1 or 0, yes or no, pass or fail"
        elif key not in known:
            message = f"{where}: the run has no such turn"
        elif found.get(key, label) is not label:
            message = f"{where}: it is labelled true and false"
        else:
            found[key] = label
            continue
        problems.append(Problem(message, path="agreement(labels=…)"))
    if problems:
        raise ConfigError(problems)
    return found


def _rows(labels: Any, column: str) -> list[tuple[_Key, Any]]:
    missing = [name for name in ("case", column) if name not in labels.columns]
    if missing:
        message = f"the labels have no column {missing[0]!r}"
        hint = f"there are {', '.join(map(str, labels.columns))}"
        raise ConfigError([Problem(message, path="agreement(labels=…)", hint=hint)])
    numbers = {
        name: labels[name] if name in labels.columns else [0] * len(labels) for name in ("turn", "repeat")
    }
    keys = zip(labels["case"], numbers["turn"], numbers["repeat"], strict=True)
    return [
        ((str(case), int(turn), int(repeat)), value)
        for (case, turn, repeat), value in zip(keys, labels[column], strict=True)
    ]


def _label(value: Any) -> bool | str | None:
    """True or False; None for an empty cell; the value as shown where it is no label."""
    word = str(value).strip().casefold()
    if value is None or word in {"", "<na>", "nan", "nat", "none"}:
        return None
    return _LABELS[word] if word in _LABELS else repr(value)
