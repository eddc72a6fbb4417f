"""Calls between workflows of a file and of the files beside it.

n8n's trigger keeps the fields that it declares and drops all others (`ExecuteWorkflowTrigger`), and
the policy of a called workflow is tested before it starts (`subworkflow-policy-checker`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from orgflow.backends.n8n.format.json_values import inside
from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.lint.call_rules import CallInputs, EndlessCall, RefusedCall
from orgflow.backends.n8n.lint.lint_report import Report, list_names
from orgflow.backends.n8n.lint.linted_workflow import Workflow, called_by_workflow
from orgflow.backends.n8n.node_types import calling_type
from orgflow.backends.n8n.node_types.called_workflows import (
    CalledWorkflow,
    called_in_file,
    describe_called,
)
from orgflow.backends.n8n.node_types.execute_workflow import called_workflow

from orgflow_ir.diagnostics import Severity
from orgflow_ir.linking.workflow_files import files_beside

_OWN_ID = re.compile(r"=\s*\{\{\s*\$workflow\.id\s*\}\}\s*")
_CALLING = frozenset({calling_type().name, "toolWorkflow"})


def check_calls(report: Report, active: frozenset[int], others: tuple[Workflow, ...]) -> None:
    """The calls of a workflow; `others` are all workflows of the file."""
    for node in report.workflow.nodes:
        if node.disabled or node.index not in active or node.short not in _CALLING:
            continue
        id = called_workflow(node.parameters)
        if node.short == calling_type().name and _calls_itself(report.workflow, node, id):
            report.add(
                EndlessCall,
                node,
                f"`{node.name}` calls the workflow that it is in, and every such run comes to it "
                "again: the run never ends",
                "decide with an If before the call whether another one is needed",
                "parameters",
                "workflowId",
            )
            continue
        called = _find_called(report, id, others) if id else None
        if called is None:
            continue
        if node.short == calling_type().name and not called.starts:
            report.add(
                RefusedCall,
                node,
                f"`{node.name}` calls `{called.name}`, which has no enabled trigger for calls: the "
                "node fails",
                "add “When Executed by Another Workflow” to it, or enable it",
                "parameters",
                "workflowId",
            )
        elif _is_excluded(report, called):
            report.add(
                RefusedCall,
                node,
                f"`{node.name}` calls `{called.name}`, whose `callerPolicy` excludes "
                + ("every caller" if called.policy == "none" else "this workflow")
                + ": the node fails",
                "name this workflow in its `callerIds`, with `callerPolicy` `workflowsFromAList`"
                if called.policy == "none"
                else "name this workflow in its `callerIds`",
                "parameters",
                "workflowId",
            )
        else:
            _check_inputs(report, node, called)


_PASSING = frozenset({
    "noOp", "set", "wait", "crypto", "dateTime", "renameKeys", "sort", "aggregate", "xml", "html",
    "markdown", "executionData", "respondToWebhook",
})  # fmt: skip
"""Types that output items whenever they receive some."""


def _calls_itself(flow: Workflow, call: Node, id: str | None) -> bool:
    """Whether a node calls its own workflow, and nothing between the start of such a run and the
    node can end the run or go another way."""
    value = call.parameters.get("workflowId")
    text = str(inside(value, "value") if isinstance(value, Mapping) else value)
    own = flow.document.raw.get("id")
    if not (id and id == own) and _OWN_ID.fullmatch(text) is None:
        return False
    todo = [n.index for n in flow.nodes if called_by_workflow(n) and not n.disabled]
    reached = set(todo)
    while todo:
        for wire in flow.out[todo.pop()]:
            node = flow.nodes[wire.target]
            if node is call:
                return True
            passes = node.disabled or node.short in _PASSING
            # The output of errors only gets items if there is an error.
            if passes and wire.output == 0 and wire.target not in reached:
                reached.add(wire.target)
                todo.append(wire.target)
    return False


def _find_called(report: Report, id: str, others: tuple[Workflow, ...]) -> CalledWorkflow | None:
    for other in others:
        if other.document.raw.get("id") == id:
            return describe_called(other.document)
    file = report.workflow.loc(report.workflow.document.path).file
    candidates = [
        called[id]
        for state in files_beside(file, ".json", report.ctx.given)
        if (called := called_in_file(state)) is not None and id in called
    ]
    # Two versions of one workflow: which of them the server has is unknown.
    return candidates[0] if len(set(candidates)) == 1 else None


def _is_excluded(report: Report, called: CalledWorkflow) -> bool:
    """Whether the settings exclude the caller; the owner of workflows is not in a file."""
    if called.policy == "none":
        return True
    own = report.workflow.document.raw.get("id")
    if called.policy != "workflowsFromAList" or not isinstance(own, str) or not own:
        return False
    return own not in called.callers


def _check_inputs(report: Report, node: Node, called: CalledWorkflow) -> None:
    values = inside(node.parameters, "workflowInputs", "value")
    if called.inputs is None or not isinstance(values, Mapping) or not values:
        return
    unknown = [name for name in values if name not in called.inputs and values[name] is not None]
    unset = [name for name in called.inputs if name not in values]
    if not unknown and not unset:
        return
    if unknown:
        near = [m for n in unknown for m in get_close_matches(n, unset or called.inputs, n=1)]
        what = f"sets {list_names(unknown)}, which `{called.name}` does not declare: n8n drops "
        what += "it" if len(unknown) == 1 else "them"
        what += (
            f"; {list_names(unset)} {'is' if len(unset) == 1 else 'are'} not set" if unset else ""
        )
        help = f"did you mean {list_names(near, 'or')}?" if near else "declare it in the trigger"
    else:
        what = (
            f"does not set {list_names(unset)} of `{called.name}`: the value is that of the item's "
            "field with this name, otherwise null"
        )
        help = "set it in the call"
    report.add(
        CallInputs, node, f"`{node.name}` {what}", help, "parameters", "workflowInputs",
        severity=None if unknown else Severity.INFO,
    )  # fmt: skip
