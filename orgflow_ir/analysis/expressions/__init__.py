"""Expressions: parsers, printers, and completeness of conditions."""
