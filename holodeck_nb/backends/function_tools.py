"""The suite's own Python functions as tools of the agent."""

from __future__ import annotations


class FunctionTools:
    """Filled in below."""
