"""The rules of all rooms of the backend."""

from __future__ import annotations

from orgflow.backends.n8n.diff.comparison_rules import DIFF_RULES
from orgflow.backends.n8n.lint import LINT_RULES
from orgflow.backends.n8n.merge.merge_rules import MERGE_RULES
from orgflow.backends.n8n.plan.emission_rules import N8N_RULES
from orgflow.backends.n8n.replay.run_rules import RUN_RULES
from orgflow.backends.n8n.server.deploy.deployment_rules import DEPLOY_RULES
from orgflow.backends.n8n.server.deploy.deployment_rules import SERVER_RULES as SERVER_RULES
from orgflow.backends.n8n.verify.verification_rules import VERIFY_RULES

from orgflow_ir.diagnostics import Rule

BACKEND_RULES: tuple[type[Rule], ...] = (
    *N8N_RULES, *LINT_RULES, *VERIFY_RULES, *DIFF_RULES, *MERGE_RULES, *RUN_RULES, *DEPLOY_RULES,
)  # fmt: skip
