"""The workflow that reports a failure and its place in the words of the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgflow.backends.n8n.plan.actions import DescribeFailure, FailurePlace
from orgflow.backends.n8n.plan.graph import HelperKey, Port, Wires
from orgflow.backends.n8n.plan.names import plain, title
from orgflow.backends.n8n.plan.passes import PlannedProcess
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.scopes import MOST_NAME, WorkflowScope

from orgflow_ir.model import Event, Flow, Model, Process, Task
from orgflow_ir.targets import executable_processes

_TELL = "tell"


def failure_scope(model: Model) -> WorkflowScope:
    """The workflow that starts after every error of the workflows of a model."""
    first = executable_processes(model)[0]
    process = Process(
        id=f"{first.id}__errors",
        name=f"{title(model, first)}: what failed",
        doc="Runs when a run of the process fails, and reports the failed step and its position.",
        nodes=(
            Event(id="failed", name="A run failed", position="start"),
            Task(
                id=_TELL,
                name="Report the failure",
                task_type="service",
                doc="Receives process, step, performer, problem, run, address and text.",
            ),
        ),
        flows=(Flow(id="failed-tell", source="failed", target=_TELL),),
    )
    alone = Model(id=model.id, name=model.name, source=model.source, processes=(process,))
    return WorkflowScope(alone, process, process, on_error=True)


def plan_failure_report(report: PlannedProcess, planned: Iterable[PlannedProcess]) -> None:
    """Insert the node that determines the failure before the step that reports it."""
    graph = report.root.workflow_graph
    key = HelperKey(_TELL, "inputs")
    workflows = tuple(
        (plan.scope.title[:MOST_NAME], tuple(_list_places(plan)))
        for process in planned
        for plan in process.scopes
    )
    node = graph.add(key, "What failed", DescribeFailure(workflows), element=_TELL, role="inputs")
    node.notes.append("Reports the failure in the terms of the model.")
    graph.wires = Wires(
        {
            (source, Port(key) if target == Port(_TELL) else target): flow
            for (source, target), flow in graph.wires.items()
        }
    )
    graph.connect(Port(key), Port(_TELL))
    graph.nodes[_TELL] = graph.nodes.pop(_TELL)


def _list_places(plan: ScopePlan) -> Iterator[FailurePlace]:
    performers = {m: plain(lane.caption) for lane in plan.scope.lanes for m in lane.members}
    for node in plan.workflow_graph.nodes.values():
        element = plan.graph.nodes.get(node.element)
        label = plain(element.name) if element is not None and element.name else node.name
        ends = isinstance(element, Event) and element.position == "end"
        yield FailurePlace(node.name, label, performers.get(node.element, ""), ends)
