"""What a request cost, by the price list of genai-prices; it lies on the disk and asks no network."""

from __future__ import annotations

from holodeck_nb.results.records import TokenUsage

__all__ = ["cost_usd"]

_PRICED = {"openai": "openai", "azure_openai": "azure", "anthropic": "anthropic"}


def cost_usd(usage: TokenUsage | None, provider: str, model: str | None) -> float | None:
    """The price in US dollars; None where tokens, model or price are unknown."""
    listed = _PRICED.get(provider)
    if listed is None or model is None or usage is None:
        return None
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    from genai_prices import Usage, calc_price  # noqa: PLC0415 - its list costs time to read: on first use

    counted = Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_creation_tokens,
    )
    try:
        return float(calc_price(counted, model, provider_id=listed).total_price)
    except (LookupError, ValueError):
        return None
