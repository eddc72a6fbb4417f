"""Backends: one folder a target."""
