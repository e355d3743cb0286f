"""Plays a suite through the engine alone: no views, no files."""

import asyncio
from types import SimpleNamespace

import pytest

from holodeck_nb.backends.scripted import ScriptedBackend
from holodeck_nb.engine.cases import run_suite
from holodeck_nb.engine.plan import NamedCase, RunPlan, plan_cases
from holodeck_nb.engine.record import RunRecord
from holodeck_nb.loading.loader import load_mapping
from holodeck_nb.results.names import case_names


@pytest.fixture
def play():
    """play(cases, replies or backend, metrics=…, **plan) -> record, result and events."""

    def play_cases(cases, agent, *, metrics=(), on_record=lambda record: None, **plan):
        loaded = load_mapping(
            {"name": "suite", "evaluations": {"metrics": list(metrics)}, "test_cases": cases}
        )
        names = case_names([case.name for case in loaded.config.cases])
        named = [
            NamedCase(name, place, case)
            for place, (name, case) in enumerate(zip(names, loaded.config.cases, strict=True))
        ]
        record = RunRecord(RunPlan("suite", plan_cases(loaded.config, named, loaded.graders), **plan))
        on_record(record)
        backend = ScriptedBackend(agent) if isinstance(agent, dict) else agent
        events = []
        result = asyncio.run(run_suite(record, backend, events.append))
        return SimpleNamespace(
            result=result, events=events, record=record, backend=backend, cases=result.cases
        )

    return play_cases
