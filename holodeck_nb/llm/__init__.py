"""Chat models: what is asked of one, how each provider is spoken to, what is tried again, what is kept."""
