"""The user's graders and tools: found beside the suite, fresh when edited, harmless to the process."""

# ruff: noqa: E501  # one row one fact; the messages are whole

import dataclasses
import inspect
import json
import os
import pickle
import re
import sys
import threading
import traceback
import typing

import pytest

from holodeck_nb.user_code import UserCodeError, load_grader, load_tool


def write(folder, **files):
    """Write `{"a/b": "…"}`, or `a__b="…"`, to `a/b.py`."""
    for name, text in files.items():
        path = folder / f"{name if '/' in name else name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def package(folder, *names):
    for name in names:
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "__init__.py").write_text("", encoding="utf-8")


def message(load, *args):
    with pytest.raises(UserCodeError) as caught:
        load(*args)
    return str(caught.value)


@pytest.fixture(autouse=True)
def the_import_system_is_left_alone(tmp_path):
    path, modules = list(sys.path), dict(sys.modules)
    yield
    assert sys.path == path
    assert {name: sys.modules.get(name) for name in modules} == modules
    ours = {
        name for name, m in sys.modules.items() if str(getattr(m, "__file__", "")).startswith(str(tmp_path))
    }
    assert all(name.startswith("_user_code_") for name in ours)
    assert (
        sum(getattr(finder, "__module__", "") == "holodeck_nb.user_code.folders" for finder in sys.meta_path)
        <= 1
    )


@pytest.fixture
def installed(tmp_path_factory, monkeypatch):
    """A folder on the Python path; what is imported from it is forgotten afterwards."""
    folder, before = tmp_path_factory.mktemp("installed"), set(sys.modules)
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name, module in list(sys.modules.items()):
        if name not in before and str(getattr(module, "__file__", "")).startswith(str(folder)):
            del sys.modules[name]


# where the code comes from


FOUND = [
    #  reference                files                                                          result
    ("graders:f",               {"graders": "def f(): return 1"},                              1),
    ("graders:f",               {"graders": "f = lambda: 2"},                                  2),
    ("graders:F",               {"graders": "class F(int): pass"},                             0),  # a class is callable
    ("graders:f",               {"graders": "from math import floor as f0\nf = lambda: f0(3.5)"}, 3),
    ("graders:f",               {"graders": "import helper\nf = lambda: helper.X", "helper": "X = 4"}, 4),
    ("graders:f",               {"graders": "from helper import X\nf = lambda: X", "helper": "X = 5"}, 5),
    ("graders:f",               {"graders": "from helper import *\nf = lambda: X", "helper": "X = 6"}, 6),
    ("graders:f",               {"graders": "from .helper import X\nf = lambda: X", "helper": "X = 7"}, 7),
    ("graders:f",               {"graders": "from . import helper\nf = lambda: helper.X", "helper": "X = 8"}, 8),
    ("graders:f",               {"graders": "import p.a\nf = lambda: p.a.X", "p/a": "X = 9"}, 9),
    ("graders:f",               {"graders": "import p.a as q\nf = lambda: q.X", "p/a": "X = 10"}, 10),
    ("graders:f",               {"graders": "from p import a\nf = lambda: a.X", "p/a": "X = 11"}, 11),
    ("graders:f",               {"graders": "f = lambda: __import__('helper').X", "helper": "X = 12"}, 12),
    ("graders:f",               {"graders": "exec('import helper')\nf = lambda: helper.X", "helper": "X = 13"}, 13),
    ("p:f",                     {"p/__init__": "from .a import f", "p/a": "def f(): return 14"}, 14),
    ("p.a:f",                   {"p/__init__": "", "p/a": "from . import b\nf = lambda: b.X", "p/b": "X = 15"}, 15),
    ("p.a:f",                   {"p/__init__": "", "p/a": "from p.b import X\nf = lambda: X", "p/b": "X = 16"}, 16),
    ("p.a:f",                   {"p/__init__": "", "p/a": "from helper import X\nf = lambda: X", "helper": "X = 17"}, 17),
    ("p.q.a:f",                 {"p/__init__": "", "p/q/__init__": "", "p/q/a": "from ..b import X\nf = lambda: X", "p/b": "X = 18"}, 18),
    ("p.q.a:f",                 {"p/q/a": "f = lambda: 19"},                                 19),  # no __init__.py
    ("p.a:f",                   {"p/a": "from b import X\nf = lambda: X", "p/b": "X = 20"},  20),  # beside it
    ("a:f",                     {"a": "import b\nf = lambda: b.g()", "b": "import a\ng = lambda: a.X\na.X = 21"}, 21),  # a circle
    ("graders:f",               {"graders": "def __getattr__(name): return lambda: 22"},       22),  # PEP 562
    ("größe:f",                 {"größe": "def f(): return 23"},                               23),
    ("graders:f",               {"graders": "import helper.x\nf = lambda: helper.X", "helper/__init__": "X = 24", "helper/x": ""}, 24),
]  # fmt: skip


@pytest.mark.parametrize(("reference", "files", "result"), FOUND)
def test_code_of_the_folder_is_found(tmp_path, reference, files, result):
    write(tmp_path, **files)
    assert load_grader(reference, tmp_path)() == result


@pytest.mark.parametrize("folder", [True, False])
def test_code_from_elsewhere_is_the_one_that_python_imports(tmp_path, folder):
    assert load_grader("os:getcwd", tmp_path if folder else None) is os.getcwd
    assert load_grader("os.path:join", tmp_path if folder else None) is os.path.join


def test_code_on_the_python_path_is_found_though_just_written(tmp_path, installed):
    message(load_grader, "late_grader:f", tmp_path)
    write(installed, late_grader="def f(): return 1")
    assert load_grader("late_grader:f", tmp_path)() == 1
    assert load_grader("late_grader:f", None) is load_grader("late_grader:f", tmp_path)


def test_the_folder_wins_over_an_installed_module(tmp_path, installed):
    write(installed, my_grader="def f(): return 'installed'", my_helper="X = 'installed'")
    write(tmp_path, my_grader="import my_helper\ndef f(): return my_helper.X", my_helper="X = 'mine'")
    assert load_grader("my_grader:f", tmp_path)() == "mine"
    assert load_grader("my_grader:f", None)() == "installed"
    assert load_grader("my_grader:f", tmp_path)() == "mine"


def test_a_name_of_the_standard_library_is_shadowed_for_the_folder_alone(tmp_path):
    write(tmp_path, json="dumps = lambda _: 'mine'", graders="import json\nf = lambda: json.dumps(1)")
    assert load_grader("graders:f", tmp_path)() == "mine"
    assert load_grader("json:dumps", tmp_path)(1) == "mine"
    assert load_grader("json:dumps", None) is json.dumps
    assert sys.modules["json"] is json
    assert json.dumps([1]) == "[1]"


def test_our_own_package_is_never_a_second_copy(tmp_path):
    package(tmp_path, "holodeck_nb")
    write(tmp_path, graders="from holodeck_nb.user_code import UserCodeError as f")
    assert load_grader("graders:f", tmp_path) is UserCodeError


def test_a_directory_without_code_does_not_hide_an_installed_package(tmp_path, installed):
    package(installed, "my_lib")
    write(installed, my_lib__core="X = 'installed'")
    write(
        tmp_path,
        my_lib__notes="Y = 'mine'",
        graders="import my_lib\nfrom my_lib.core import X\nfrom my_lib import notes\nf = lambda: (X, notes.Y)",
        bare="import my_lib\nf = lambda: my_lib.__file__",
    )
    assert load_grader("graders:f", tmp_path)() == ("installed", "mine")
    assert load_grader("bare:f", tmp_path)() == str(installed / "my_lib" / "__init__.py")


def test_an_empty_directory_is_a_namespace_as_in_python(tmp_path):
    (tmp_path / "only_here").mkdir()
    write(tmp_path, graders="import only_here\nf = lambda: list(only_here.__path__)")
    assert load_grader("graders:f", tmp_path)() == [str(tmp_path / "only_here")]


def test_a_folder_on_the_python_path_is_still_fresh(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))  # as where the notebook lies beside the suite
    write(
        tmp_path,
        graders="import only_here, only_here.a\ndef f(): return only_here.a.X, only_here.__name__",
        only_here__a="X = 1",
    )
    assert load_grader("graders:f", tmp_path)()[0] == 1
    write(tmp_path, only_here__a="X = 2")
    value, name = load_grader("graders:f", tmp_path)()
    assert value == 2
    assert name.startswith("_user_code_")


def test_a_module_made_by_hand_is_not_hidden_by_a_directory(tmp_path, monkeypatch):
    made = type(sys)("made_by_hand")
    monkeypatch.setitem(sys.modules, "made_by_hand", made)
    (tmp_path / "made_by_hand").mkdir()
    write(tmp_path, graders="import made_by_hand\nf = lambda: made_by_hand")
    assert load_grader("graders:f", tmp_path)() is made


def test_a_module_beside_does_not_hide_the_standard_library_inside_a_real_package(tmp_path):
    package(tmp_path, "p")
    write(tmp_path, p__json="dumps = 'mine'", p__a="import json\nf = lambda: json.dumps([1])")
    assert load_grader("p.a:f", tmp_path)() == "[1]"


def test_two_folders_have_each_their_own_module_back_and_forth(tmp_path):
    for name in ("one", "two"):
        write(
            tmp_path / name,
            graders="from helper import X\ndef f():\n    import lazy\n    return X + lazy.X",
            helper=f"X = '{name} '",
            lazy=f"X = '{name}'",
        )
    first = {name: load_grader("graders:f", tmp_path / name) for name in ("one", "two")}
    for name in ("two", "one", "one", "two"):
        assert load_grader("graders:f", tmp_path / name) is first[name]
        assert first[name]() == f"{name} {name}"


def test_the_same_folder_by_another_path_is_the_same_folder(tmp_path):
    write(tmp_path / "a", graders="def f(): pass")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert load_grader("graders:f", tmp_path / "link") is load_grader(
        "graders:f", tmp_path / "a" / ".." / "a"
    )


def test_an_import_at_call_time_on_another_thread_finds_the_sibling(tmp_path):
    write(tmp_path, graders="def f(out):\n    import helper\n    out.append(helper.X)", helper="X = 1")
    out = []
    thread = threading.Thread(target=load_grader("graders:f", tmp_path), args=(out,))
    thread.start()
    thread.join()
    assert out == [1]


# what is fresh and what is kept


def test_state_survives_while_nothing_has_changed(tmp_path):
    write(
        tmp_path,
        graders="import helper\nseen = []\ndef f(x): seen.append(x); return list(seen)",
        helper="",
        other="def f(): pass",
    )
    f = load_grader("graders:f", tmp_path)
    assert f(1) == [1]
    os.utime(tmp_path / "helper.py", (1, 1))  # touched, not changed
    assert load_grader("other:f", tmp_path)
    assert load_grader("graders:f", tmp_path) is f
    assert f(2) == [1, 2]


def same_second(path, text):
    """Write text of the same length and set the old time: nothing but the content tells."""
    before = path.stat()
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


EDITED = [
    #  files                                                                   edited     before and after
    ({"graders": "def f(): return 1"},                                         "graders", ("1", "2")),
    ({"graders": "import helper\ndef f(): return helper.X", "helper": "X = 1"}, "helper", ("1", "2")),
    ({"graders": "from helper import X\ndef f(): return X", "helper": "X = 1"}, "helper", ("1", "2")),
    ({"graders": "from . import helper\ndef f(): return helper.X", "helper": "X = 1"}, "helper", ("1", "2")),
    ({"graders": "from .helper import X\ndef f(): return X", "helper": "X = 1"}, "helper", ("1", "2")),
    ({"graders": "from a import X\ndef f(): return X", "a": "from b import X", "b": "from c import X", "c": "X = 1"}, "c", ("1", "2")),
    ({"graders": "from p import a\ndef f(): return a.X", "p/__init__": "", "p/a": "X = 1"}, "p/a", ("1", "2")),
    ({"graders": "import p.a\ndef f(): return p.a.X", "p/__init__": "", "p/a": "X = 1"}, "p/a", ("1", "2")),
    ({"graders": "from p import *\ndef f(): return a.X", "p/__init__": "__all__ = ['a']", "p/a": "X = 1"}, "p/a", ("1", "2")),
    ({"graders": "from p.a import X\ndef f(): return X", "p/__init__": "Y = 1", "p/a": "from . import Y as X"}, "p/__init__", ("1", "2")),
    ({"graders": "from p.a import f", "p/__init__": "Y = 1", "p/a": "import p\ndef f(): return p.Y"}, "p/__init__", ("1", "2")),
    ({"graders": "from p.a import X\ndef f(): return X", "p/a": "X = 1"},     "p/a",    ("1", "2")),
    ({"graders": "def f():\n    import helper\n    return helper.X", "helper": "X = 1"}, "helper", ("1", "2")),
    ({"graders": "import importlib\nX = importlib.import_module('.helper', __package__).X\ndef f(): return X", "helper": "X = 1"}, "helper", ("1", "2")),
    ({"graders": "import a\nX = 1\ndef f(): return a.g()", "a": "import graders\ng = lambda: graders.X"}, "graders", ("1", "2")),
]  # fmt: skip


@pytest.mark.parametrize(("files", "edited", "words"), EDITED)
def test_an_edit_is_seen_though_neither_size_nor_time_tell(tmp_path, files, edited, words):
    write(tmp_path, **files)
    old = load_grader("graders:f", tmp_path)
    assert old() == 1
    path = tmp_path / f"{edited}.py"
    for result, (before, after) in ((2, words), (1, words[::-1]), (2, words)):
        same_second(path, path.read_text(encoding="utf-8").replace(before, after))
        new = load_grader("graders:f", tmp_path)
        assert new is not old
        assert new() == result
        assert load_grader("graders:f", tmp_path) is new
        old = new


def test_an_edit_takes_its_importers_along_and_leaves_the_rest(tmp_path):
    write(
        tmp_path,
        graders="import model, helper\ndef f(): return model.TOKEN, helper.X",
        model="TOKEN = object()",
        helper="X = 1",
        other="def f(): pass",
    )
    token, _ = load_grader("graders:f", tmp_path)()
    other = load_grader("other:f", tmp_path)
    write(tmp_path, helper="X = 2")
    assert load_grader("graders:f", tmp_path)() == (token, 2)
    assert load_grader("other:f", tmp_path) is other


def test_the_old_function_still_works_after_an_edit(tmp_path):
    write(tmp_path, graders="X = 1\ndef f(): return X")
    old = load_grader("graders:f", tmp_path)
    write(tmp_path, graders="X = 2\ndef f(): return X")
    assert (load_grader("graders:f", tmp_path)(), old()) == (2, 1)


def test_a_new_file_that_now_wins_is_seen(tmp_path):
    write(tmp_path, graders="import colorsys\ndef f(): return colorsys.__file__")
    assert load_grader("graders:f", tmp_path)() != str(tmp_path / "colorsys.py")
    write(tmp_path, colorsys="")
    assert load_grader("graders:f", tmp_path)() == str(tmp_path / "colorsys.py")
    (tmp_path / "colorsys.py").unlink()
    assert load_grader("graders:f", tmp_path)() != str(tmp_path / "colorsys.py")


def test_an_import_that_once_failed_is_tried_again(tmp_path):
    write(
        tmp_path,
        graders="try:\n    import helper\nexcept Exception:\n    helper = None\ndef f(): return bool(helper)",
        helper="1 / 0",
    )
    assert load_grader("graders:f", tmp_path)() is False
    write(tmp_path, helper="X = 1")
    assert load_grader("graders:f", tmp_path)() is True


def test_a_module_that_becomes_a_package_is_seen(tmp_path):
    write(tmp_path, graders="from helper import X\ndef f(): return X", helper="X = 1")
    assert load_grader("graders:f", tmp_path)() == 1
    package(tmp_path, "helper")
    write(tmp_path, **{"helper/__init__": "X = 2"})
    assert load_grader("graders:f", tmp_path)() == 2


def test_a_module_that_is_gone_is_not_found(tmp_path):
    write(tmp_path, graders="def f(): pass")
    load_grader("graders:f", tmp_path)
    (tmp_path / "graders.py").unlink()
    assert "module 'graders' is neither" in message(load_grader, "graders:f", tmp_path)


def test_a_broken_edit_is_told_and_mended(tmp_path):
    write(tmp_path, graders="import helper\ndef f(): return helper.X", helper="X = 1")
    load_grader("graders:f", tmp_path)
    write(tmp_path, helper="X = ")
    assert "SyntaxError" in message(load_grader, "graders:f", tmp_path)
    assert "SyntaxError" in message(load_grader, "graders:f", tmp_path)
    write(tmp_path, helper="X = 3")
    assert load_grader("graders:f", tmp_path)() == 3


def test_installed_code_is_never_reloaded(tmp_path, installed):
    write(installed, my_grader="def f(): return 1")
    f = load_grader("my_grader:f", tmp_path)
    write(installed, my_grader="def f(): return 2")
    assert load_grader("my_grader:f", tmp_path) is f


def test_no_byte_code_is_written(tmp_path):
    write(tmp_path, graders="import helper\ndef f(): pass", helper="")
    load_grader("graders:f", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graders.py", "helper.py"]


def test_modules_that_were_thrown_out_of_sys_modules_come_back(tmp_path):
    write(tmp_path, graders="def f():\n    import helper\n    return helper.X", helper="X = 1")
    f = load_grader("graders:f", tmp_path)
    for name in [name for name in sys.modules if name.startswith(f.__module__.partition(".")[0])]:
        del sys.modules[name]
    assert load_grader("graders:f", tmp_path)() == 1
    assert f() == 1


# the modules are ordinary modules

ORDINARY = """
from __future__ import annotations
import dataclasses, pickle, typing, datetime

@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    x: int
    next: typing.Optional[Point] = None

def f(x: Point) -> Point:
    return pickle.loads(pickle.dumps(x))

def when(text):
    return datetime.datetime.strptime(text, "%Y")

def fail():
    raise ValueError("boom")  # here
"""


def test_dataclasses_pickle_type_hints_and_source_work(tmp_path):
    write(tmp_path, graders=ORDINARY)
    f = load_grader("graders:f", tmp_path)
    point = load_grader("graders:Point", tmp_path)
    assert dataclasses.asdict(f(point(1, point(2)))) == {"x": 1, "next": {"x": 2, "next": None}}
    assert pickle.loads(pickle.dumps(point(3))) == point(3)
    assert typing.get_type_hints(f) == {"x": point, "return": point}
    assert inspect.getsource(f) == "def f(x: Point) -> Point:\n    return pickle.loads(pickle.dumps(x))\n"
    assert sys.modules[f.__module__].f is f
    assert inspect.getmodule(f).__file__ == str(tmp_path / "graders.py")
    assert load_grader("graders:when", tmp_path)("2009").year == 2009


def test_a_traceback_shows_the_lines_that_ran(tmp_path):
    write(tmp_path, graders=ORDINARY)
    for word in ("here", "HERE"):
        (tmp_path / "graders.py").touch()
        same_second(tmp_path / "graders.py", ORDINARY.replace("here", word))
        with pytest.raises(ValueError, match="boom") as caught:
            load_grader("graders:fail", tmp_path)()
        assert f'raise ValueError("boom")  # {word}' in traceback.format_exception(caught.value)[-2]


def test_code_that_calls_itself_main_leaves_the_real_one(tmp_path):
    write(
        tmp_path,
        graders="exec('import helper', {'__name__': '__main__', '__package__': __package__})\ndef f(): pass",
        helper="X = 1",
    )
    load_grader("graders:f", tmp_path)
    write(tmp_path, helper="X = 2")
    load_grader("graders:f", tmp_path)  # the fixture looks after sys.modules


def test_a_module_may_load_a_suite_while_it_is_imported(tmp_path):
    write(
        tmp_path,
        graders="from pathlib import Path\nfrom holodeck_nb.user_code import load_grader\n"
        "g = load_grader('helper:g', Path(__file__).parent)\ndef f(): return g()",
        helper="def g(): return 1",
    )
    assert load_grader("graders:f", tmp_path)() == 1


def test_threads_that_load_at_once_get_one_module(tmp_path):
    for name in ("one", "two"):
        write(
            tmp_path / name,
            graders=f"import time, helper\ntime.sleep(0.02)\ndef f(): return '{name}', helper.X",
            helper="import time\ntime.sleep(0.02)\nX = 1",
        )
    got, barrier = [], threading.Barrier(8)

    def load(name):
        barrier.wait()
        got.append((name, load_grader("graders:f", tmp_path / name)))

    threads = [threading.Thread(target=load, args=(name,)) for name in ("one", "two") * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert len({f for _, f in got}) == 2
    assert all(f() == (name, 1) for name, f in got)


def test_edits_and_imports_at_call_time_do_not_disturb_loading(tmp_path):
    write(
        tmp_path,
        graders="import helper\ndef f():\n    import lazy\n    return helper.X + lazy.X",
        helper="X = 1",
        lazy="from deep import X",
        deep="X = 1",
    )
    got, stop = [], threading.Event()

    def load():
        while not stop.is_set():  # an exception here is a warning, and that an error
            got.append(load_grader("graders:f", tmp_path)())

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for name in ("helper", "lazy", "deep", "graders") * 8:
        new = tmp_path / "new"
        new.write_text((tmp_path / f"{name}.py").read_text(encoding="utf-8") + "\n#", encoding="utf-8")
        new.replace(tmp_path / f"{name}.py")
        stop.wait(0.005)
    stop.set()
    for thread in threads:
        thread.join()
    assert set(got) == {2}


# what goes wrong


@pytest.mark.parametrize(
    "reference",
    ["bad-path", "mod::fn", "mod", ":fn", "mod:", "", "a..b:f", ".a:f", "a.:f", "a:f.g", "a:f:g", "a b:f", "a:f()", "a/b.py:f", "1a:f", " a:f", "a:f\n"],
)  # fmt: skip
def test_a_malformed_reference(tmp_path, reference):
    assert message(load_grader, reference, tmp_path) == (
        f"grader {reference!r}: not of the form module.path:function; write it like 'graders:numeric_equal'"
    )


AT_IMPORT = [
    #  source                                     what the message says of it
    ("\n1 / 0",                                   "importing it raised ZeroDivisionError: division by zero (F:2)"),
    ("import sys\nsys.exit(3)",                   "importing it raised SystemExit: 3 (F:2)"),
    ("raise SystemExit",                          "importing it raised SystemExit (F:1)"),
    ("\n\ndef f(:\n  pass",                       "importing it raised SyntaxError: invalid syntax (F:3)"),
    ("if 1:\nx = 1",                              "importing it raised IndentationError: expected an indented block after 'if' statement on line 1 (F:2)"),
    ("x = 1\0",                                   "importing it raised SyntaxError: source code string cannot contain null bytes (F)"),
    ("# coding: nope\n",                          "importing it raised SyntaxError: unknown encoding: nope (F:1)"),
    ("def g(): g()\ng()",                         "importing it raised RecursionError: maximum recursion depth exceeded (F:1)"),
    ("class E(Exception):\n  def __str__(self): raise OSError\nraise E", "importing it raised E: its text cannot be shown (F:3)"),
    ("class E(BaseException): pass\nraise E('a\\n  b')", "importing it raised E: a b (F:2)"),
    ("raise ValueError('x' * 600)",               "importing it raised ValueError: " + "x" * 500 + " (F:1)"),
    ("import json\njson.loads('{')",              "importing it raised JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1) (F:2)"),
    ("exec('\\n\\n1 / 0')",                       "importing it raised ZeroDivisionError: division by zero (F:1)"),
    ("compile('(', '<text>', 'exec')",            "importing it raised SyntaxError: '(' was never closed (F:1)"),
    ("def __getattr__(name): raise OSError(name)", "importing it raised OSError: f (F:1)"),
    ("from . import nothing",                     "importing it raised ImportError: cannot import name 'nothing' from 'D' (unknown location) (F:1)"),
    ("from os import nothing_there",              None),  # Python's own text, only the place is ours
]  # fmt: skip


@pytest.mark.parametrize(("source", "said"), AT_IMPORT)
def test_a_module_that_raises_when_imported(tmp_path, source, said):
    write(tmp_path, graders=source)
    text = message(load_grader, "graders:f", tmp_path)
    if said is None:
        assert text.endswith(f"({tmp_path / 'graders.py'}:1); correct that and load again")
    else:
        said = said.replace("(F", f"({tmp_path / 'graders.py'}").replace("'D'", f"'{tmp_path.name}'")
        assert text == f"grader 'graders:f': {said}; correct that and load again"


def test_the_line_is_that_of_the_module_which_is_to_blame(tmp_path):
    write(tmp_path, graders="\nimport helper", helper="\n\n1 / 0")
    assert f"({tmp_path / 'helper.py'}:3)" in message(load_grader, "graders:f", tmp_path)
    write(tmp_path, helper="\n\n\nx = (")
    assert f"({tmp_path / 'helper.py'}:4)" in message(load_grader, "graders:f", tmp_path)


def test_an_installed_module_that_raises(tmp_path, installed):
    write(installed, my_grader="\nraise ValueError('boom')")
    said = (
        f"importing it raised ValueError: boom ({installed / 'my_grader.py'}:2); correct that and load again"
    )
    assert message(load_grader, "my_grader:f", tmp_path) == f"grader 'my_grader:f': {said}"
    assert message(load_grader, "my_grader:f", None) == f"grader 'my_grader:f': {said}"


def test_an_interrupt_goes_through(tmp_path):
    write(tmp_path, graders="raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load_grader("graders:f", tmp_path)
    write(tmp_path, graders="class E(Exception):\n  def __str__(self): raise KeyboardInterrupt\nraise E")
    with pytest.raises(KeyboardInterrupt):
        load_grader("graders:f", tmp_path)


def test_the_cause_is_kept(tmp_path):
    write(tmp_path, graders="1 / 0")
    with pytest.raises(UserCodeError) as caught:
        load_grader("graders:f", tmp_path)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


NOT_FOUND = [
    #  reference                    files                       what the message says
    ("nonexistent_module_xyz:fn",   {},                         "module 'nonexistent_module_xyz' is neither in D nor on the Python path; create it, install it or correct the name"),
    ("grader:f",                    {"graders": ""},            "module 'grader' is neither in D nor on the Python path; did you mean 'graders'?"),
    ("graders.x:f",                 {"graders": ""},            "module 'graders.x' is neither in D nor on the Python path; did you mean 'graders'?"),
    ("p.x:f",                       {"p/a": ""},                "module 'p.x' is neither in D nor on the Python path; create it, install it or correct the name"),
    ("os.nope:f",                   {},                         "module 'os.nope' is neither in D nor on the Python path; create it, install it or correct the name"),
    ("graders:f",                   {"graders": "\nimport nope_xyz"}, "D/graders.py:2 imports a module that is neither in D nor on the Python path: No module named 'nope_xyz'; install it or correct the import"),
    ("graders:f",                   {"graders": "import helper.x", "helper": ""}, "D/graders.py:1 imports a module that is neither in D nor on the Python path: No module named 'helper.x'; 'helper' is not a package; install it or correct the import"),
    ("graders:f",                   {"graders": "from .nope import x"}, "D/graders.py:1 imports a module that is neither in D nor on the Python path: No module named 'nope'; install it or correct the import"),
    ("graders:f",                   {"graders": "import importlib\nimportlib.import_module('helper')", "helper": ""}, "D/graders.py:2: importlib.import_module does not look into D; use an import statement"),
    ("graders:grde",                {"graders": "def grade(): pass\ngrdee = 1"}, "D/graders.py has no 'grde'; did you mean 'grade'?"),
    ("graders:f",                   {"graders": ""},            "D/graders.py has no 'f'; define it or correct the name"),
    ("p:f",                         {"p/a": ""},                "module 'p' has no 'f'; define it or correct the name"),
    ("sys:nonexistent_callable_xyz", {},                        "module 'sys' has no 'nonexistent_callable_xyz'; define it or correct the name"),
    ("os:sep",                      {},                         "'sep' is not callable but of type str; name a function"),
    ("graders:F",                   {"graders": "F = None"},    "'F' is not callable but of type NoneType; name a function"),
    ("p:a",                         {"p/__init__": "from . import a", "p/a": ""}, "'a' is not callable but of type module; name a function"),
]  # fmt: skip


@pytest.mark.parametrize(("reference", "files", "said"), NOT_FOUND)
def test_what_is_not_there(tmp_path, reference, files, said):
    write(tmp_path, **files)
    said = re.sub(r"\bD\b", str(tmp_path), said)
    assert message(load_grader, reference, tmp_path) == f"grader {reference!r}: {said}"


def test_without_a_folder_the_message_names_the_python_path():
    assert message(load_grader, "nonexistent_module_xyz:fn", None) == (
        "grader 'nonexistent_module_xyz:fn': module 'nonexistent_module_xyz' is not on the Python path; "
        "create it, install it or correct the name"
    )
    assert message(load_grader, "os:nonexistent_callable_xyz", None) == (
        f"grader 'os:nonexistent_callable_xyz': {os.__file__} has no 'nonexistent_callable_xyz'; "
        "define it or correct the name"
    )


# tools


TOOLS = [
    #  file                    files beside it                       source
    ("math_tools.py",          {},                                   "def add(): return 1"),
    ("tools/math_tools.py",    {"tools/common": "X = 1"},           "import common\ndef add(): return common.X"),
    ("tools/math_tools.py",    {"tools/common": "X = 1"},           "from .common import X\ndef add(): return X"),
    ("tools/math_tools.py",    {"tools/__init__": "", "tools/common": "X = 1"}, "from common import X\ndef add(): return X"),
    ("tools/math_tools.py",    {"tools/__init__": "", "tools/common": "X = 1"}, "from .common import X\ndef add(): return X"),
    ("my tools/math-tools.py", {"my tools/common": "X = 1"},        "def add():\n    import common\n    return common.X"),
    ("tools.v1/math_tools.py", {},                                   "def add(): return 1"),
    ("tools/math.v1.2.py",     {"tools/common": "X = 1"},           "import common\ndef add(): return common.X"),
    ("math_tools.py",          {"math_tools/__init__": ""},         "def add(): return 1"),  # a package of that name
]  # fmt: skip


@pytest.mark.parametrize("suite", [True, False])
@pytest.mark.parametrize(("file", "files", "source"), TOOLS)
def test_a_tool_is_found_and_seen_when_edited(tmp_path, file, files, source, suite):
    write(tmp_path, **files)
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(source, encoding="utf-8")
    folder = (tmp_path,) if suite else ()
    add = load_tool(path, "add", *folder)
    assert add() == 1
    assert load_tool(path, "add", *folder) is add
    path.write_text(f"{source} + 1", encoding="utf-8")
    assert load_tool(path, "add", *folder)() == 2
    assert inspect.getsource(load_tool(path, "add", *folder)).endswith("+ 1\n")


def test_a_tool_of_the_suites_folder_shares_modules_with_the_graders(tmp_path):
    write(
        tmp_path,
        state="calls = []",
        tools__common="from state import calls",
        tools__math_tools="from tools.common import calls\ndef add(): calls.append('add')",
        graders="import state\ndef f(): return state.calls",
    )
    load_tool(tmp_path / "tools" / "math_tools.py", "add", tmp_path)()
    assert load_grader("graders:f", tmp_path)() == ["add"]


def test_a_tool_outside_of_the_suites_folder(tmp_path):
    write(tmp_path, shared__tool="import beside\ndef add(): return beside.X", shared__beside="X = 1")
    (tmp_path / "suite").mkdir()
    assert load_tool(tmp_path / "suite" / ".." / "shared" / "tool.py", "add", tmp_path / "suite")() == 1


def test_two_tools_of_one_file_share_its_state(tmp_path):
    write(tmp_path, tools="n = []\ndef a(): n.append(1)\ndef b(): return n")
    load_tool(tmp_path / "tools.py", "a")()
    assert load_tool(tmp_path / "tools.py", "b")() == [1]


NO_TOOL = [
    #  file        function  source               what the message says
    ("tools.py",   "add",    None,                "there is no such file; create it or correct the path"),
    ("tools.txt",  "add",    "",                  "not a .py file; name a file of Python source"),
    ("tools",      "add",    None,                "not a .py file; name a file of Python source"),
    ("tools.py",   "ad",     "def add(): pass",   "D/tools.py has no 'ad'; did you mean 'add'?"),
    ("tools.py",   "add",    "add = 1",           "'add' is not callable but of type int; name a function"),
    ("tools.py",   "add",    "1 / 0",             "importing it raised ZeroDivisionError: division by zero (D/tools.py:1); correct that and load again"),
    ("tools.py",   "add",    "import nope_xyz",   "D/tools.py:1 imports a module that is neither in D nor on the Python path: No module named 'nope_xyz'; install it or correct the import"),
    ("tools.py",   "",       "",                  "D/tools.py has no ''; define it or correct the name"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "function", "source", "said"), NO_TOOL)
def test_a_tool_that_cannot_be_had(tmp_path, file, function, source, said):
    if source is not None:
        (tmp_path / file).write_text(source, encoding="utf-8")
    said = re.sub(r"\bD\b", str(tmp_path), said)
    assert message(load_tool, tmp_path / file, function) == (
        f"tool function {function!r} of {tmp_path / file}: {said}"
    )


def test_a_folder_that_is_called_like_a_tool_is_no_file(tmp_path):
    (tmp_path / "tools.py").mkdir()
    assert "there is no such file" in message(load_tool, tmp_path / "tools.py", "add")
