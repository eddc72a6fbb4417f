"""Lowerings that any target may use."""
