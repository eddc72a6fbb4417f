"""Steps that may be active, and waits that may be open, at the same time: `model_concurrency`."""
