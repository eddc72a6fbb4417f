"""Frontends: one folder a language."""
