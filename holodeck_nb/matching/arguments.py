"""One argument of a tool call against what the suite asserts of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from holodeck_nb.schema.tools import Exact, Fuzzy, Regex

from .explanations import cut, how_they_differ, shown
from .numbers import same_number, whole_number
from .patterns import LIMIT_S, matches_whole
from .text import exact_text, fuzzy_text

__all__ = ["Difference", "difference", "mismatch"]

_BUILTIN = frozenset({int, float, str, bool, type(None), list, tuple, dict})
_CACHED_WIDTH = 200  # longer texts are rare and would fill the cache


class Difference(NamedTuple):
    """Why a value does not fit.

    Attributes:
        text: `expected 181001, got 180000`: expected always first.
        path: Where inside a list or mapping: `[2]['rate']`; "" for the value itself.
    """

    text: str
    path: str = ""

    def of(self, name: str) -> str:
        """The difference as a sentence about `name`: `b[2] expected 3, got 4`."""
        return f"{name}{self.path} {self.text}"


def mismatch(matcher: Exact | Fuzzy | Regex, actual: object) -> str | None:
    """Why `actual` does not fit; None where it fits.

    Exact: numbers by value (206588 is 206588.0, a bool is no number, text never is), text after NFC and
    trimmed ends, lists and mappings element by element, None is only None. Fuzzy: the same number however it
    is written, else the same text whatever its case, width and white space. Regex: the whole of `str(value)`.

    >>> mismatch(Exact(exact=206588), 206588.0)
    >>> mismatch(Exact(exact={"years": [2009, 2008]}), {"years": [2009, 2007]})
    "['years'][1] expected 2008, got 2007"

    Source: multi-turn spec, FR-013, FR-014, A7; contract, section 4.
    """
    found = difference(matcher, actual)
    return None if found is None else found.of("").lstrip()


def difference(matcher: Exact | Fuzzy | Regex, actual: Any) -> Difference | None:
    """The same as `mismatch`, with the place inside the value apart from the words."""
    if isinstance(matcher, Exact):
        return _exact(matcher.exact, actual)
    if type(actual) not in _BUILTIN:
        actual = _plain(actual)
    return _fuzzy(matcher, actual) if isinstance(matcher, Fuzzy) else _regex(matcher.regex, actual)


def _exact(expected: Any, actual: Any) -> Difference | None:
    kind = type(expected)
    if kind is type(actual) and kind in {int, str, bool} and expected == actual:
        return None
    if type(actual) not in _BUILTIN:
        actual = _plain(actual)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return _mappings(expected, actual)
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return _lists(expected, actual)
    return None if _same(expected, actual) else Difference(_expected_got(expected, actual))


def _same(expected: Any, actual: Any) -> bool:
    """Whether two values that are not both lists or both mappings are the same."""
    if expected is None or actual is None:
        return expected is actual
    if isinstance(expected, bool) or isinstance(actual, bool):  # bool before number: True == 1 in Python
        return expected is actual
    if isinstance(expected, str) or isinstance(actual, str):
        both_text = isinstance(expected, str) and isinstance(actual, str)
        return both_text and exact_text(expected) == exact_text(actual)
    wanted, got = _number(expected), _number(actual)
    if wanted is not None and got is not None:
        return wanted == got  # 2**53+1 is no float, 1e23 is 10**23
    try:  # infinity, NaN, and what only a suite made in Python can hold
        return bool(expected == actual) or (expected != expected and actual != actual)  # noqa: PLR0124 - NaN
    except Exception:  # noqa: BLE001 - the border to the values' own code
        return False


def _lists(expected: Sequence[Any], actual: Sequence[Any]) -> Difference | None:
    if len(expected) != len(actual):
        return Difference(f"expected {_items(expected)}, got {_items(actual)}: {shown(actual)}")
    for place, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
        if (found := _exact(wanted, got)) is not None:
            return Difference(found.text, f"[{place}]{found.path}")
    return None


def _mappings(expected: Mapping[Any, Any], actual: Mapping[Any, Any]) -> Difference | None:
    if not all(isinstance(key, str) for key in actual):
        actual = {str(key): value for key, value in actual.items()}  # the suite's keys are text
    for key, wanted in expected.items():
        if key not in actual:
            return Difference("is missing", f"[{shown(key)}]")
        if (found := _exact(wanted, actual[key])) is not None:
            return Difference(found.text, f"[{shown(key)}]{found.path}")
    for key, extra in actual.items():
        if key not in expected:
            return Difference(f"is not expected, got {shown(extra)}", f"[{shown(key)}]")
    return None


def _fuzzy(matcher: Fuzzy, actual: Any) -> Difference | None:
    expected = matcher.fuzzy
    wanted, folded = _read(expected)
    if actual is None:
        return Difference(f"expected {_fuzzily(expected, wanted)}, got None")
    got = _read(actual)[0] if isinstance(actual, str) else _number(actual)
    if wanted is not None and got is not None:
        if same_number(wanted, got):
            return None
        return Difference(f"expected {_fuzzily(expected, wanted)}, got {shown(actual)}{_note(wanted, got)}")
    text = _as_text(actual)
    if text is None:
        return Difference(f"expected {_fuzzily(expected, wanted)}, got {shown(actual)}, which has no text")
    got_folded = _read(text)[1]
    if got_folded == folded:
        return None
    if matcher.min_ratio is None or wanted is not None or got is not None:
        return Difference(f"expected {_fuzzily(expected, wanted)}, got {shown(actual)}")
    return _unlike(matcher, actual, folded, got_folded)


def _unlike(matcher: Fuzzy, actual: Any, folded: str, got_folded: str) -> Difference | None:
    """Compare by RapidFuzz; the numbers within the texts must be the same, 2008 is not almost 2009."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - 20 ms that a suite without `min_ratio` does not pay

    ratio = fuzz.ratio(folded, got_folded)
    same_digits = _digit_runs(folded) == _digit_runs(got_folded)
    if ratio >= (matcher.min_ratio or 0) and same_digits:
        return None
    why = f"{ratio:.0f} % alike" if same_digits else "with other numbers in it"
    wanted = f"{shown(matcher.fuzzy)} (fuzzy, at least {matcher.min_ratio:g} % alike)"
    return Difference(f"expected {wanted}, got {shown(actual)} ({why})")


def _regex(pattern: str, actual: Any) -> Difference | None:
    text = _as_text(actual)
    wanted = f"expected /{cut(_one_line(pattern))}/"
    if text is None:
        return Difference(f"{wanted}, got {shown(actual)}, which has no text")
    try:
        if matches_whole(pattern, text):
            return None
    except TimeoutError:
        return Difference(f"{wanted}, but the pattern took longer than {LIMIT_S:g} s on {shown(actual)}")
    return Difference(f"{wanted}, got {shown(actual)}")


def _plain(value: Any) -> Any:
    """A scalar or array of a numeric library as Python's own value; anything else as it is."""
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()
    return value


def _as_text(value: Any) -> str | None:
    """`str(value)`; None where Python has none (an int of more than 4300 digits, a broken `__str__`)."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - the border to the values' own code
        return None


def _number(value: Any) -> Decimal | None:
    """The value of a number; None for text, bool, NaN, infinity and everything else."""
    try:
        return None if isinstance(value, str) else whole_number(value)
    except (OverflowError, TypeError, ValueError):  # numbers of other libraries that no float can hold
        return None


def _read(text: str) -> tuple[Decimal | None, str]:
    return _read_cached(text) if len(text) <= _CACHED_WIDTH else (whole_number(text), fuzzy_text(text))


@lru_cache(maxsize=4096)
def _read_cached(text: str) -> tuple[Decimal | None, str]:
    return whole_number(text), fuzzy_text(text)


def _digit_runs(text: str) -> list[str]:
    return sorted("".join(char if char.isdigit() else " " for char in text).split())


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _items(values: Sequence[Any]) -> str:
    return "1 item" if len(values) == 1 else f"{len(values)} items"


def _fuzzily(expected: str, number: Decimal | None) -> str:
    return f"{shown(expected)} (fuzzy)" if number is None else cut(_one_line(expected))


def _expected_got(expected: Any, actual: Any) -> str:
    text = f"expected {shown(expected)}, got {shown(actual)}"
    if isinstance(expected, bool) or isinstance(actual, bool):
        return text
    wanted, got = _number(expected), _number(actual)
    if wanted is not None and got is not None:
        return text + _note(wanted, got)
    if wanted is not None and isinstance(actual, str) and _read(actual)[0] == wanted:
        return f"{text} (text; use fuzzy to compare it as a number)"
    return text


def _note(expected: Decimal, actual: Decimal) -> str:
    words = how_they_differ(expected, actual)
    return f" ({words})" if words else ""
