"""Analyses of models, independent of any target."""
