"""Report: an execution that fails on purpose, so that people see a row that became `failed`."""

from __future__ import annotations

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.stop_and_error import stop_parameters
from orgflow.backends.n8n.waiting.workflow_builder import References, WorkflowBuilder

ABOUT = (
    "Called when the steps of a process failed repeatedly and are not tried again. The execution "
    "fails with the name of the element, so it appears among the failed executions and starts the "
    "error workflow, if this workflow has one."
)


def build_report(refers: References, name: str, note: str) -> Workflow:
    """The workflow. Input: the failed row."""
    builder = WorkflowBuilder("report", refers)
    builder.add_note(note)
    builder.add_call_trigger()
    message = (
        "'The steps after '+JSON.stringify($json.event||$json.element)+' of process instance '"
        "+$json.instance+' failed '+(Number($json.attempts)+1)+' times and are not repeated. "
        "Row: '+$json.key"
    )
    builder.add_node(
        "Report the failure",
        "stopAndError",
        (1, 0),
        stop_parameters(make_expression(message)),
        after=["Called"],
    )
    return builder.build_workflow(name)
