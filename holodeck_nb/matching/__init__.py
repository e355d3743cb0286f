"""How what was said is compared with what was expected: numbers and text."""
