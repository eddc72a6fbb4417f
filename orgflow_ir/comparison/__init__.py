"""Comparison of two versions of a model."""
