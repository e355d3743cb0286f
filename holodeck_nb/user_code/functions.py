"""Import the user's own graders and tools from the suite's folder, fresh when they were edited."""

import difflib
import importlib
import importlib.util
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import folders
from .folders import DOT, LOCK, Folder, fresh, related

__all__ = ["UserCodeError", "load_grader", "load_tool"]

_MISSING = object()
# Whose frames are not the user's.
_OURS = {__file__, folders.__file__, importlib.__file__}


class UserCodeError(Exception):
    """The user's code could not be loaded; the message says which, why and what to do."""


def load_grader(reference: str, folder: Path | None) -> Callable[..., Any]:
    """Import `module.path:function` from the suite's folder, else from the Python path.

    Modules of the folder are imported anew when they, or modules of the folder that they import, have
    changed on disk since; otherwise they keep their state. Modules from elsewhere are never reloaded.

    Args:
        reference: For example `graders:numeric_equal`.
        folder: Where the suite lies, or None for a suite without a file.

    Returns:
        The callable of that name; the same object as before while nothing has changed.

    Raises:
        UserCodeError: The reference is malformed, or its module or function cannot be had.
    """
    name, _, function = reference.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), function)):
        form = "not of the form module.path:function; write it like 'graders:numeric_equal'"
        raise UserCodeError(f"grader {reference!r}: {form}")
    with LOCK:
        home = None if folder is None else fresh(folder)
        target = None if home is None else home.request(name)
        if target is None:
            importlib.invalidate_caches()  # the file may be younger than Python's last look
        return _load(f"grader {reference!r}", name, function, home, target)


def load_tool(file: Path, function: str, folder: Path | None = None) -> Callable[..., Any]:
    """Import a function from a Python file, which may import the files beside it.

    Args:
        file: Absolute path of a `.py` file.
        function: The name in that file.
        folder: The suite's folder. A file inside it can also import from there (`from tools.common
            import x`) and shares the state of modules with the suite's graders.

    Returns:
        The callable of that name; the same object as before while nothing has changed.

    Raises:
        UserCodeError: There is no such file, it cannot be imported, or has no such function.
    """
    what = f"tool function {function!r} of {file}"
    if file.suffix != ".py":
        raise UserCodeError(f"{what}: not a .py file; name a file of Python source")
    if not file.is_file():
        raise UserCodeError(f"{what}: there is no such file; create it or correct the path")
    file = file.parent.resolve() / file.name
    root = file.parent if folder is None else folder.resolve()
    with LOCK:
        home = fresh(root if file.is_relative_to(root) else file.parent)
        name = ".".join(file.relative_to(home.root).with_suffix("").parts)
        spec = home.locate(f"{home.package}.{name}")
        if spec is None or spec.origin != str(file):  # dots in its path, or hidden by a package of its name
            home, name = fresh(file.parent), file.name.replace(".", DOT)
        return _load(what, name, function, home, home.request(name, level=1))


def _load(what: str, name: str, function: str, home: Folder | None, target: str | None) -> Callable[..., Any]:
    try:
        module = importlib.import_module(target or name)
        found = getattr(module, function, _MISSING)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's code: its SystemExit must not end the kernel
        raise UserCodeError(f"{what}: {_failure(name, home, target, error)}") from error
    if found is _MISSING:
        where = getattr(module, "__file__", None) or f"module {name!r}"
        near = _nearest(function, [key for key, value in dict(vars(module)).items() if callable(value)])
        raise UserCodeError(f"{what}: {where} has no {function!r}; {near or 'define it or correct the name'}")
    if not callable(found):
        kind = type(found).__name__
        raise UserCodeError(f"{what}: {function!r} is not callable but of type {kind}; name a function")
    return found


def _failure(name: str, home: Folder | None, target: str | None, error: BaseException) -> str:
    """Why an import failed and what to do, in one sentence."""
    places = f"neither in {home.root} nor on the Python path" if home else "not on the Python path"
    text, line = _text(error), _line(error, home)
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing and not line and related(missing, target or name):
        near = _nearest(name, [path.stem for path in home.root.glob("*.py")] if home else [])
        return f"module {name!r} is {places}; {near or 'create it, install it or correct the name'}"
    if home:  # users never see the hidden package
        text = text.replace(f"{home.package}.", "").replace(home.package, home.root.name)
        line = line or str((spec := home.locate(target or "")) and spec.origin)
    if missing and home and home.locate(f"{home.package}.{missing}"):
        return f"{line}: importlib.import_module does not look into {home.root}; use an import statement"
    if missing:
        return f"{line} imports a module that is {places}: {text}; install it or correct the import"
    raised = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"importing it raised {raised} ({line}); correct that and load again"


def _text(error: BaseException) -> str:
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # noqa: BLE001  # the user's own __str__ may raise anything
        return "its text cannot be shown"
    return " ".join(text.split())[:500]


def _line(error: BaseException, home: Folder | None) -> str:
    """The line of the user's code that is to blame, as `file:line`; empty where none is known."""
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_file():
        return f"{error.filename}:{error.lineno or 1}"
    lines, theirs = "", ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith("<") and file not in _OURS:
            lines = f"{file}:{line}"
            if home and frame.f_builtins is home.builtins:
                theirs = lines
    return theirs or lines


def _nearest(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else ""
