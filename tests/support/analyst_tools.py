"""The operations of ConvFinQA's turn programs, as an analyst's real tools."""


def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


def subtract(a: float, b: float) -> float:
    """Subtract b from a."""
    return a - b


def multiply(a: float, b: float) -> float:
    """Multiply two numbers."""
    return a * b


def divide(a: float, b: float) -> float:
    """Divide a by b."""
    return a / b


def greater(a: float, b: float) -> str:
    """Say whether a is greater than b: yes or no."""
    return "yes" if a > b else "no"
