import pytest

from holodeck_nb.llm.prices import cost_usd
from holodeck_nb.results.records import TokenUsage

USAGE = TokenUsage(1000, 100)
UNKNOWN = [
    (USAGE, "ollama", "qwen3:8b"),
    (USAGE, "openai", "a-model-of-nobody"),
    (USAGE, "openai", None),
    (None, "openai", "gpt-4o"),
    (TokenUsage(1000), "openai", "gpt-4o"),
    (USAGE, "plugin", "gpt-4o"),
]


@pytest.mark.parametrize(("usage", "provider", "model"), UNKNOWN)
def test_unknown_is_unknown(usage, provider, model):
    assert cost_usd(usage, provider, model) is None


def test_known_models_have_a_price_and_cached_tokens_are_cheaper():
    whole = cost_usd(USAGE, "openai", "gpt-4o-2024-08-06")
    assert whole == pytest.approx(0.0035)
    assert cost_usd(TokenUsage(1000, 100, cache_read_tokens=900), "openai", "gpt-4o") < whole
    assert cost_usd(USAGE, "azure_openai", "gpt-4o") > 0
    assert cost_usd(USAGE, "anthropic", "claude-sonnet-5") > 0
