"""Faults of n8n workflows in a file, beyond those found by reading it as a process."""

from __future__ import annotations

from orgflow.backends.n8n.lint.call_rules import CALL_RULES
from orgflow.backends.n8n.lint.code_rules import CODE_RULES
from orgflow.backends.n8n.lint.data_rules import DATA_RULES
from orgflow.backends.n8n.lint.flow_rules import FLOW_RULES
from orgflow.backends.n8n.lint.protocol_rules import PROTOCOL_RULES
from orgflow.backends.n8n.lint.run_rules import RUN_RULES
from orgflow.backends.n8n.lint.shape_rules import SHAPE_RULES
from orgflow.backends.n8n.lint.value_rules import VALUE_RULES

LINT_RULES = (
    *SHAPE_RULES, *RUN_RULES, *FLOW_RULES, *DATA_RULES, *PROTOCOL_RULES, *CODE_RULES, *CALL_RULES,
    *VALUE_RULES,
)  # fmt: skip

__all__ = ["LINT_RULES"]
