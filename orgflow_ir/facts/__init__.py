"""Statements of a model in addition to its control flow, and where targets keep them for people."""

from orgflow_ir.facts.collect import Facts, all_statements, collect
from orgflow_ir.facts.notes import keep

__all__ = ["Facts", "all_statements", "collect", "keep"]
