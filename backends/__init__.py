"""Backends: one folder a target."""

DEFAULT_TARGET = "n8n"
"""The target where none is named; the only place that names one outside the backends."""
