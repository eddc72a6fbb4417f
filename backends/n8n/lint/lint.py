"""Lint a file of workflows: every check, each workflow in turn."""

from __future__ import annotations

from orgflow.backends.n8n.lint.code_output import check_code_output
from orgflow.backends.n8n.lint.conditions import check_conditions
from orgflow.backends.n8n.lint.expressions import (
    check_expressions,
    check_references,
    references,
)
from orgflow.backends.n8n.lint.fields import check_fields
from orgflow.backends.n8n.lint.flow import check_runs
from orgflow.backends.n8n.lint.graph import Workflow, workflows
from orgflow.backends.n8n.lint.model_input import flow_of, kinds_of
from orgflow.backends.n8n.lint.nodes import check_nodes
from orgflow.backends.n8n.lint.reads import check_early
from orgflow.backends.n8n.lint.report import Report
from orgflow.backends.n8n.lint.triggers import check_triggers
from orgflow.backends.n8n.lint.walk import Walk, explore
from orgflow.backends.n8n.lint.wires import check_wires

from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext


def lint(source: SourceFile, ctx: PassContext) -> None:
    """Report the faults of the workflows in a file, sorted by place.

    A file that is not JSON or contains no workflow is reported by the frontend and ignored here.
    """
    try:
        document = parse_json(source.path, source.data)
    except JsonFault:
        return
    found = workflows(document)
    begin = len(ctx.diagnostics)
    for workflow in found:
        _lint(Report(workflow, ctx), found)
    own = ctx.diagnostics[begin:]
    own.sort(key=lambda d: (d.loc.span or (0, 0)) if d.loc is not None else (0, 0))
    ctx.diagnostics[begin:] = own


def _lint(report: Report, others: tuple[Workflow, ...]) -> None:
    flow = report.workflow
    # Only what can run can fail: nodes a trigger leads to, and those that serve them.
    active = flow.live | flow.serving
    check_nodes(report)
    check_conditions(report, active)
    check_expressions(report, active)
    check_code_output(report, active)
    check_wires(report)
    check_triggers(report, others)
    walk = _walk(flow)
    if walk is not None:
        check_runs(report, walk)
    found = [
        reference
        for node in flow.nodes
        if node.index in active and not node.disabled
        for reference in references(node)
    ]
    check_references(report, found)
    check_early(report, found, walk)
    check_fields(report)


def _walk(flow: Workflow) -> Walk | None:
    """All runs; only of the order that the machine models."""
    starts = [n.index for n in flow.nodes if n.starts]
    if not flow.ordered or not starts:
        return None
    return explore(flow_of(flow), kinds_of(flow), starts)
