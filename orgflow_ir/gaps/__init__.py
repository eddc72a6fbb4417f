"""Gaps: information that the source does not contain, found without any target."""

from orgflow_ir.gaps.find import find_gaps
from orgflow_ir.gaps.gap import Gap, GapKind
from orgflow_ir.gaps.gap_report import Defaults, report_gaps
from orgflow_ir.gaps.gap_rules import GAP_RULES
from orgflow_ir.gaps.implementation import has_implementation

__all__ = [
    "GAP_RULES", "Defaults", "Gap", "GapKind", "find_gaps", "has_implementation", "report_gaps",
]  # fmt: skip
