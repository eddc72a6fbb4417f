"""Gaps: information that the source does not contain, found without any target."""

from orgflow_ir.analysis.gaps.find import find_gaps
from orgflow_ir.analysis.gaps.gap import Gap, GapKind
from orgflow_ir.analysis.gaps.implementation import has_implementation
from orgflow_ir.analysis.gaps.report import Defaults, report_gaps
from orgflow_ir.analysis.gaps.rules import GAP_RULES

__all__ = [
    "GAP_RULES", "Defaults", "Gap", "GapKind", "find_gaps", "has_implementation", "report_gaps",
]  # fmt: skip
