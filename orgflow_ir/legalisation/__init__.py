"""Legalisation: a model is rewritten until a target supports everything in it."""
