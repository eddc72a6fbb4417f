"""Expressions: parsers, printers, and what conditions leave open."""
