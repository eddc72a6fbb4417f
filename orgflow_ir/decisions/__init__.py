"""Decisions of DMN: the model of a file, linked to typed expressions, and evaluated."""
