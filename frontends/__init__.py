"""Frontends: one folder per language."""
