"""Lint a file of workflows: every check, each workflow in turn."""

from __future__ import annotations

from orgflow.backends.n8n.lint.call_checks import check_calls
from orgflow.backends.n8n.lint.code_checks import check_code
from orgflow.backends.n8n.lint.code_output import check_code_output
from orgflow.backends.n8n.lint.condition_checks import check_conditions
from orgflow.backends.n8n.lint.expressions import (
    check_expressions,
    check_references,
    list_references,
)
from orgflow.backends.n8n.lint.fields import check_fields
from orgflow.backends.n8n.lint.flow import check_runs
from orgflow.backends.n8n.lint.item_walk import Walk, explore_runs
from orgflow.backends.n8n.lint.lint_report import Report
from orgflow.backends.n8n.lint.linted_workflow import Workflow, read_workflows
from orgflow.backends.n8n.lint.model_input import flow_of, kinds_of
from orgflow.backends.n8n.lint.node_checks import check_nodes
from orgflow.backends.n8n.lint.protocol_checks import check_protocols
from orgflow.backends.n8n.lint.reads import check_early
from orgflow.backends.n8n.lint.surrounded_codes import check_surrounded_codes
from orgflow.backends.n8n.lint.triggers import check_triggers
from orgflow.backends.n8n.lint.value_checks import check_values
from orgflow.backends.n8n.lint.wires import check_wires

from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext


def lint_file(source: SourceFile, ctx: PassContext) -> None:
    """Report the faults of the workflows in a file, sorted by place.

    A file that is not JSON or contains no workflow is reported by the frontend and ignored here.
    """
    try:
        document = parse_json(source.path, source.data)
    except JsonFault:
        return
    flows = read_workflows(document)
    begin = len(ctx.diagnostics)
    for workflow in flows:
        _lint_workflow(Report(workflow, ctx), flows)
    own = ctx.diagnostics[begin:]
    own.sort(key=lambda d: (d.loc.span or (0, 0)) if d.loc is not None else (0, 0))
    ctx.diagnostics[begin:] = own


def _lint_workflow(report: Report, others: tuple[Workflow, ...]) -> None:
    flow = report.workflow
    # Only what can run can fail: nodes a trigger leads to, and those that serve them.
    active = flow.live | flow.serving
    check_nodes(report)
    check_conditions(report, active)
    check_surrounded_codes(report, active)
    check_expressions(report, active)
    check_code_output(report, active)
    check_code(report, active)
    check_values(report, active)
    check_protocols(report, active)
    check_wires(report)
    check_triggers(report, others)
    check_calls(report, active, others)
    walk = _walk_runs(flow)
    if walk is not None:
        check_runs(report, walk)
    findings = [
        reference
        for node in flow.nodes
        if node.index in active and not node.disabled
        for reference in list_references(node)
    ]
    check_references(report, findings)
    check_early(report, findings, walk)
    check_fields(report)


def _walk_runs(flow: Workflow) -> Walk | None:
    """All runs; only of the order that the machine models."""
    starts = [n.index for n in flow.nodes if n.starts]
    if not flow.ordered or not starts:
        return None
    return explore_runs(flow_of(flow), kinds_of(flow), starts)
