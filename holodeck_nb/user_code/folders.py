"""A folder as a hidden package: its modules import each other, and hide nothing from anybody else."""

import builtins
import hashlib
import importlib.util
import linecache
import os
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from importlib import machinery
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

__all__ = ["DOT", "LOCK", "Folder", "fresh", "related"]

# Each folder is a hidden package, `_user_code_` and a hash of its path; its files are modules below that.
# So two folders may both have `graders.py`, a `json.py` hides the real one from nobody else, and pickle and
# dataclasses find every module in sys.modules. Modules of a folder run with an `__import__` of their own
# (in their `__builtins__`) that looks into the folder first. It belongs to the code, not to the moment: an
# import inside a function works at call time and on any thread, and sys.path stays as it is. It also notes
# who imports what: an edited file takes its importers along, all else keeps its state.
# It does not see `importlib.import_module("sibling")`; `import_module(".sibling", __package__)` works.

LOCK = threading.RLock()  # re-entrant: a module may load a suite while it is imported
_FOLDERS: dict[str, "Folder"] = {}  # by hidden package
# A second copy of our own package would have classes of its own: its GraderResult would not be ours.
_NEVER_IN_A_FOLDER = {"__main__", "builtins", "sys", __name__.partition(".")[0]}
DOT = "%2E"  # stands for a dot in a file's name, which Python would take for a package


class _Import(NamedTuple):
    """One import statement: `from {level dots}{name} import {names}`."""

    importer: str  # empty: load_grader or load_tool
    package: str
    name: str
    names: tuple[str, ...]
    level: int


class Folder:
    """A folder as a hidden package with an import statement of its own."""

    def __init__(self, root: Path, package: str) -> None:
        self.root = root
        self.package = package
        self.builtins = {**vars(builtins), "__import__": self._import}
        self.loaded: dict[str, tuple[str, bytes]] = {}  # module -> its file and the source that was run
        self.imports: dict[_Import, str | None] = {}  # -> the module of this folder; None: from elsewhere
        self.finders: dict[str, machinery.FileFinder] = {}
        spec = machinery.ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [str(root)]
        sys.modules[package] = importlib.util.module_from_spec(spec)

    def request(self, name: str, level: int = 0) -> str | None:
        """What sys.modules calls the user's module `name`; None where it is not of this folder."""
        asked = _Import("", self.package, name, (), level)
        self.imports[asked] = self._target(asked)
        return self.imports[asked]

    def find(self, name: str, places: Iterable[str]) -> machinery.ModuleSpec | None:
        """Look module `name` up as Python does, in `places` only."""
        tail = name.rpartition(".")[2]
        for place in places:
            if DOT in tail:
                file = str(Path(place, tail.replace(DOT, ".")))
                return importlib.util.spec_from_file_location(name, file, loader=_Loader(name, file))
            if place not in self.finders:
                self.finders[place] = machinery.FileFinder(place, (_Loader, machinery.SOURCE_SUFFIXES))
            if spec := self.finders[place].find_spec(name):
                return spec
        return None

    def locate(self, name: str) -> machinery.ModuleSpec | None:
        """Where module `name` would come from now; imports nothing."""
        spec, places, path = None, [str(self.root)], self.package
        for part in name.split(".")[1:]:
            path = f"{path}.{part}"
            if (spec := self.find(path, places)) is None:
                return None
            places = spec.submodule_search_locations or []
        return spec

    def forget_edited(self) -> None:
        """Take the modules whose source has changed out of sys.modules, with all that import them."""
        for finder in list(self.finders.values()):
            finder.invalidate_caches()  # they go by the folder's time of change
        loaded, imports = dict(self.loaded), list(dict(self.imports).items())  # running code adds to them
        stale = {name for name, was in loaded.items() if self._source(name) != was}
        if any(not any(used and related(name, used) for _, used in imports) for name in stale):
            stale.update(loaded)  # imported past `_import`: by whom is not known
        stale |= {i.importer for i, used in imports if self._target(i) != used or self._absent(used)}
        more = stale
        while more:
            more = {i.importer for i, used in imports if used and any(related(name, used) for name in stale)}
            more |= {name for name in loaded if name.rpartition(".")[0] in stale}
            more -= stale
            stale |= more
        stale &= loaded.keys()  # importers may be code that only says it is `__main__`
        for name in sorted(stale):
            del self.loaded[name]
            sys.modules.pop(name, None)
            package, _, tail = name.rpartition(".")
            if package in sys.modules:  # `from package import tail` would still find the old one there
                vars(sys.modules[package]).pop(tail, None)
        for outdated in [i for i, _ in imports if i.importer in stale]:
            del self.imports[outdated]

    def _source(self, name: str) -> tuple[str, bytes] | None:
        spec = self.locate(name)
        try:
            return (spec.origin, Path(spec.origin).read_bytes()) if spec and spec.origin else None
        except OSError:  # pragma: no cover  # lost between the two looks
            return None

    def _absent(self, used: str | None) -> bool:
        """Whether an import failed or has gone that would find a file now."""
        return used is not None and used not in sys.modules and self.locate(used) is not None

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002  # named as in builtins.__import__
        locals: Mapping[str, object] | None = None,  # noqa: A002  # the same
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """What an import statement calls in the modules of this folder."""
        of, names = globals or {"__package__": self.package}, tuple(fromlist or ())
        asked = _Import(str(of.get("__name__")), str(of.get("__package__") or ""), name, names, level)
        target = self._target(asked)
        if globals is not None:  # the bare call `__import__("sibling")` does not say who asks
            self.imports[asked] = target
        if level or target is None:
            return builtins.__import__(name, globals, locals, names, level)
        module = builtins.__import__(target, globals, locals, names or ("__name__",), 0)
        if names or "." not in name:
            return module
        top = target.removesuffix(name) + name.partition(".")[0]  # what `import a.b` binds is `a`
        return builtins.__import__(top, globals, locals, ("__name__",), 0)

    def _target(self, asked: _Import) -> str | None:
        """The module of this folder that an import means; None: whatever Python itself finds."""
        if asked.level:
            return importlib.util.resolve_name("." * asked.level + asked.name, asked.package)
        top = asked.name.partition(".")[0]
        inside = related(asked.package, self.package) and top not in _NEVER_IN_A_FOLDER
        for package in (self.package, asked.package) if inside else ():
            ours = self.locate(f"{package}.{top}")
            if ours is None:
                continue
            target = f"{package}.{asked.name}"
            if ours.loader is None:  # a folder of notes called `openai` must not hide the package
                held = [self.locate(name) for name in (target, *(f"{target}.{n}" for n in asked.names))]
                first = any(spec and spec.loader for spec in held)
            else:  # beside a module of a real package: only what is nowhere else
                first = getattr(sys.modules.get(package), "__file__", None) is None
            if first or not _elsewhere(top, ours):
                return target
        return None


class _Finder:
    """Lets Python's import find what lies below a hidden package, and nothing else."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, *_: object) -> machinery.ModuleSpec | None:
        home = _FOLDERS.get(name.partition(".")[0])
        return home.find(name, path or ()) if home else None


class _Loader(machinery.SourceFileLoader):
    """Runs the source as it is now; byte code on disk goes by size and second."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the file in `module`, with the import statement of its folder."""
        home = _FOLDERS[self.name.partition(".")[0]]
        source = self.get_data(self.path)
        linecache.cache.pop(self.path, None)  # tracebacks show the lines that run now
        vars(module)["__builtins__"] = home.builtins
        exec(self.source_to_code(source, self.path), vars(module))  # noqa: S102  # the user's own code
        home.loaded[self.name] = self.path, source  # only now: what still runs must stay in sys.modules


def fresh(folder: Path) -> Folder:
    """The folder as a package, without the modules that were edited since the last look."""
    root = folder.resolve()
    package = "_user_code_" + hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    if package not in sys.modules:
        _FOLDERS[package] = Folder(root, package)
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    _FOLDERS[package].forget_edited()
    return _FOLDERS[package]


def related(one: str, other: str) -> bool:
    """Whether both are the same module or one lies below the other."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def _elsewhere(top: str, ours: machinery.ModuleSpec) -> bool:
    """Whether Python by itself finds a module `top` that is another than this folder's."""
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:  # loaded and made by hand, without a spec
        return True
    theirs = spec and (spec.origin or list(spec.submodule_search_locations or ()))
    return bool(theirs) and theirs != (ours.origin or ours.submodule_search_locations)
