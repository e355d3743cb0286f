"""The parts of a card: its style, tables, lists of facts; every text goes through `cell`."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .visible_text import shortened, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

__all__ = ["SCOPE", "STYLE", "cell", "facts", "paragraph", "table"]

SCOPE = "holodeck-nb"

_LIGHT = {"text": "#1f2328", "soft": "#59636e", "line": "#d1d9e0", "good": "#1a7f37", "bad": "#cf222e"}
_DARK = {"text": "#e6edf3", "soft": "#9198a1", "line": "#3d444d", "good": "#3fb950", "bad": "#f85149"}
_THEME = {
    "text": ("--jp-ui-font-color1", "--vscode-editor-foreground"),
    "soft": ("--jp-ui-font-color2", "--vscode-descriptionForeground"),
    "line": ("--jp-border-color2", "--vscode-panel-border"),
    "good": ("--jp-success-color1", "--vscode-testing-iconPassed"),
    "bad": ("--jp-error-color1", "--vscode-testing-iconFailed"),
}


def _colours(fallbacks: dict[str, str]) -> str:
    """The colours of the theme around; our own where there is none."""
    return "".join(
        f"--hn-{name}:var({jupyter},var({code},{fallbacks[name]}));"
        for name, (jupyter, code) in _THEME.items()
    )


# Doubled, so that it wins over the notebook's own rules for tables, which centre and stripe them.
_OURS = f".{SCOPE}.{SCOPE}"

STYLE = f"""<style>
.{SCOPE}{{{_colours(_LIGHT)}color:var(--hn-text);font-size:13px;line-height:1.45;max-width:70em}}
@media (prefers-color-scheme:dark){{.{SCOPE}{{{_colours(_DARK)}}}}}
.{SCOPE} .head{{font-size:15px;margin:0 0 6px}}
.{SCOPE} .good{{color:var(--hn-good)}}
.{SCOPE} .bad{{color:var(--hn-bad)}}
.{SCOPE} .note{{color:var(--hn-soft);margin:6px 0;white-space:pre-wrap;overflow-wrap:anywhere}}
{_OURS} table{{border-collapse:collapse;table-layout:auto;margin:6px 0;background:none;font-size:inherit}}
{_OURS} caption{{text-align:left;color:var(--hn-soft);padding:4px 0}}
{_OURS} tr:nth-child(n){{background:none}}
{_OURS} th,{_OURS} td{{text-align:left;vertical-align:top;padding:2px 14px 2px 0;border:0;background:none;\
color:inherit;max-width:none;overflow-wrap:anywhere;white-space:pre-wrap}}
{_OURS} thead th{{border-bottom:1px solid var(--hn-line);white-space:nowrap}}
{_OURS} tbody th{{font-weight:normal;color:var(--hn-soft)}}
{_OURS} thead+tbody tr+tr td{{border-top:1px solid var(--hn-line)}}
{_OURS} .number{{text-align:right;font-variant-numeric:tabular-nums}}
{_OURS} .whole{{overflow-wrap:break-word}}
.{SCOPE} .columns{{display:flex;flex-wrap:wrap;gap:0 40px}}
.{SCOPE} .bar{{color:var(--hn-good)}}
.{SCOPE} .rest{{color:var(--hn-line)}}
</style>"""


def cell(text: str, limit: int) -> str:
    """Any text as HTML: cut visibly, unseen characters shown, everything escaped."""
    return escape(visible(shortened(text, limit)), quote=True)


def paragraph(text: str, limit: int) -> str:
    """A line below the title."""
    return f'<div class="note">{cell(text, limit)}</div>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and values, one pair a row."""
    lines = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{cell(value, 400)}</td></tr>' for name, value in rows
    )
    return f"<table><tbody>{lines}</tbody></table>"


def table(
    title: str,
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[int] = (),
    whole: Collection[int] = (),
) -> str:
    """A table of cells that are HTML already; "" without rows.

    `numbers` are the columns set to the right, `whole` those whose words are not broken to save room.
    """
    if not rows:
        return ""

    def line(tag: str, cells: Sequence[str]) -> str:
        return "".join(f"<{tag}{style(place)}>{text}</{tag}>" for place, text in enumerate(cells))

    def style(place: int) -> str:
        return ' class="number"' if place in numbers else ' class="whole"' if place in whole else ""

    head = line("th", [escape(header) for header in headers])
    body = "".join(f"<tr>{line('td', cells)}</tr>" for cells in rows)
    caption = f"<caption>{escape(title)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
