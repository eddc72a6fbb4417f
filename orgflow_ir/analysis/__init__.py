"""Analyses of models: what follows from a model without any target."""
