"""The user's own Python: graders and tools, imported from the suite's folder."""

from .functions import UserCodeError, load_grader, load_tool

__all__ = ["UserCodeError", "load_grader", "load_tool"]
