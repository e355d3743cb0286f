"""Test LLM agents from a notebook."""
