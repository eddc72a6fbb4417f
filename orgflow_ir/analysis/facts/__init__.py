"""What a model states beside its control flow, and where targets keep it for people."""

from orgflow_ir.analysis.facts.collect import Facts, all_statements, collect
from orgflow_ir.analysis.facts.notes import keep

__all__ = ["Facts", "all_statements", "collect", "keep"]
