"""The HTML report: one file with the run's card, the explorer and every conversation; nothing to fetch."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import TYPE_CHECKING, Any

from .card import cell
from .conversation import conversation_html
from .explorer_front import asset, style
from .explorer_index import NOT_PASSED, Entry, Index
from .explorer_static import static_html
from .html import run_html
from .plain_data import clean
from .wording import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holodeck_nb.results.rollup import RunResult

__all__ = ["html_report"]

_CHUNK = 50  # conversations that are packed, and unpacked, together
_STATIC_CASES, _STATIC_SIZE = 20, 500_000
_NAME = 200


def html_report(run: RunResult) -> str:
    """The run as one page: works from disk, in light and dark, on paper, without a network.

    The conversations are HTML that is made here, by the templates of the notebook's explorer; they travel
    packed (deflate, base64) and are unpacked when they are looked at, so that ten thousand of them open as
    fast as ten. Where no script runs, and on paper, the first failing conversations stand in plain HTML. The
    page's own policy lets no other script run and nothing be fetched, whatever a text may hold.
    """
    index = Index(run)
    script = "\n".join(asset(name) for name in ("explorer.js", "explorer_file.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    page = static_html(run, most=_STATIC_CASES, size=_STATIC_SIZE)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{cell(run.suite_name, _NAME)}: test report</title>",
            f"<style>{style()}{asset('report.css')}</style></head>",
            f"<body><header>{run_html(run)}</header>",
            '<main id="explorer"></main>',
            f'<section class="holodeck-nb hn-static">{page}</section>',
            _data("index", _json(_index(index))),
            *(_data(str(number), text) for number, text in enumerate(_chunks(run))),
            _data("texts", _packed(index.texts)),
            f"<script>{script}</script>",
            "</body></html>\n",
        ]
    )


def _index(index: Index) -> dict[str, Any]:
    """What the list and the filters need, each metric and reason once."""
    metrics = list(dict.fromkeys(name for entry in index.entries for name in sorted(entry.metrics)))
    reasons = list(dict.fromkeys(name for entry in index.entries for name in sorted(entry.reasons)))
    of_metric = {name: place for place, name in enumerate(metrics)}
    of_reason = {name: place for place, name in enumerate(reasons)}

    def line(entry: Entry) -> dict[str, Any]:
        return {
            "name": entry.name,
            "status": entry.status,
            "turns": entry.turns,
            "passed": entry.passed,
            "failing": entry.failing,
            "reason": entry.reason,
            "metrics": [of_metric[name] for name in sorted(entry.metrics)],
            "reasons": [of_reason[name] for name in sorted(entry.reasons)],
        }

    return {
        "marks": MARKS,
        "notPassed": NOT_PASSED,
        "chunk": _CHUNK,
        "metrics": metrics,
        "reasons": reasons,
        "choices": index.choices,
        "at": None if index.first is None else index.first._asdict(),
        "cases": [line(entry) for entry in index.entries],
    }


def _chunks(run: RunResult) -> Iterator[str]:
    for first in range(0, len(run.cases), _CHUNK):
        yield _packed([conversation_html(case) for case in run.cases[first : first + _CHUNK]])


def _packed(texts: Sequence[str]) -> str:
    return base64.b64encode(zlib.compress(json.dumps(texts).encode("ascii"), 6)).decode("ascii")


def _json(data: Any) -> str:
    """JSON in which nothing ends the element around it, or opens a comment."""
    text = clean(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _data(name: str, text: str) -> str:
    return f'<script type="application/json" id="hn-{name}">{text}</script>'
