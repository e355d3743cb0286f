"""Who may import whom: the floors of the house, and what an import must not cost."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "holodeck_nb"

# A room imports from floors below its own, from its own room, and from the rooms named beside it.
FLOORS = [
    {"plugins"},
    {"_version", "collection", "errors", "results", "schema", "threads", "whole_files"},
    {"llm", "sync", "user_code", "matching", "views"},
    {"backends", "files", "metrics"},
    {"engine", "loading"},
    {"taping"},
    {"judging"},
    {"chat_agents", "kept_runs", "options", "road", "run_tables"},
    {"resume", "run_reports"},
    {"agreement", "scoring_again"},
    {"run"},
    {"launch"},
    {"suite"},
    {"__init__"},
    {"__main__"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
# Each with its reason.
NEIGHBOURS = {}

HEAVY = [
    "IPython", "PIL", "anthropic", "anywidget", "charset_normalizer", "docx", "genai_prices", "httpx2",
    "ipywidgets", "lxml", "nest_asyncio", "nltk", "numpy", "openai", "openpyxl", "pandas", "pptx", "pypdf",
    "rapidfuzz", "regex", "rouge_score", "sacrebleu", "traitlets",
]  # fmt: skip


def room_of(path):
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


def imported_rooms(path):
    """The rooms of ours that a module imports at its top or inside functions; type-only imports count too."""
    package = ["holodeck_nb", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            names = [
                ".".join([*base, *([node.module] if node.module else []), alias.name]) for alias in node.names
            ]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "holodeck_nb" and len(parts) > 1:
                yield (
                    parts[1]
                    if (PACKAGE / parts[1]).exists() or (PACKAGE / f"{parts[1]}.py").exists()
                    else "__init__"
                )


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_from_floors_below(path):
    room = room_of(path)
    for other in set(imported_rooms(path)) - {room}:
        allowed = FLOOR_OF[other] < FLOOR_OF[room] or other in NEIGHBOURS.get(room, set())
        assert allowed, f"{room} (floor {FLOOR_OF[room] + 1}) imports {other} (floor {FLOOR_OF[other] + 1})"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_opens_with_one_line_that_a_stranger_understands(path):
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring is not None
    assert "\n" not in docstring


def test_importing_the_package_loads_nothing_heavy():
    code = f"import sys, holodeck_nb; print([name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_only_sync_and_threads_start_loops_and_threads():
    offenders = [
        str(path.relative_to(PACKAGE))
        for path in MODULES
        if path.name not in {"sync.py", "threads.py"}
        and any(
            word in path.read_text()
            for word in ("asyncio.run(", "new_event_loop", "run_until_complete", "Thread(")
        )
    ]
    assert offenders == []
