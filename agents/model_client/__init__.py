"""A language model behind an OpenAI-compatible endpoint: calls, records, budget, redaction."""
