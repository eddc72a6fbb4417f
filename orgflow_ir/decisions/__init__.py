"""Decisions of DMN: the model that a file states, made into typed expressions, and evaluated."""
