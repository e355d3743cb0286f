"""A run as reports: the JSON of HoloDeck, Markdown, a page of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import overload

from .run_tables import RunTables
from .views import html_report, json_report, markdown_report
from .whole_files import write_whole

__all__ = ["RunReports"]


class RunReports(RunTables):
    """Writes reports; a path that cannot be written is an OSError, and leaves nothing half-written."""

    @overload
    def to_json(self) -> str: ...
    @overload
    def to_json(self, path: str | os.PathLike[str]) -> Path: ...
    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | Path:
        """The JSON report, which HoloDeck's tools read too.

        Args:
            path: Where to write it; only a whole report replaces an older file.

        Returns:
            Where it was written; without a path, the report itself.

        Raises:
            OSError: It cannot be written there; nothing is left half-written.
        """
        text = json_report.report_text(self._result)
        return text if path is None else _write(path, text)

    @overload
    def to_markdown(self) -> str: ...
    @overload
    def to_markdown(self, path: str | os.PathLike[str]) -> Path: ...
    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str | Path:
        """The Markdown report; arguments and result as of `to_json`."""
        text = markdown_report.markdown(self._result)
        return text if path is None else _write(path, text)

    @overload
    def to_html(self) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str]) -> Path: ...
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | Path:
        """The explorer and the run's card as one page that needs no kernel and no network.

        Arguments and result as of `to_json`. It has every conversation in it and prints the failures.
        """
        text = html_report.html_report(self._result)
        return text if path is None else _write(path, text)


def _write(path: str | os.PathLike[str], text: str) -> Path:
    target = Path(path)
    write_whole(target, text)
    return target
