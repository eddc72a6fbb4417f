"""Backends: one folder per target."""

DEFAULT_TARGET = "n8n"
"""The default target; the only place outside the backends that names one."""
