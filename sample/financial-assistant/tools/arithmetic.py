"""The analyst's calculator: one tool an operation, so that a test can see what was computed from what."""

from __future__ import annotations

import math
from typing import Literal


def add(a: float, b: float) -> float:
    """Add two numbers: a + b."""
    return a + b


def subtract(a: float, b: float) -> float:
    """Subtract the second number from the first: a - b."""
    return a - b


def multiply(a: float, b: float) -> float:
    """Multiply two numbers: a * b."""
    return a * b


def divide(a: float, b: float) -> float:
    """Divide the first number by the second: a / b."""
    return a / b


def exp(a: float, b: float) -> float:
    """Raise the first number to the power of the second: a ** b."""
    return math.pow(a, b)


def greater(a: float, b: float) -> Literal["yes", "no"]:
    """Say whether the first number is greater than the second: yes or no."""
    return "yes" if a > b else "no"
