"""The workflow that reports a failure and its place in the words of the model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orgflow.backends.n8n.emit.graph import HelperKey, Port, Wires
from orgflow.backends.n8n.emit.names import plain, title
from orgflow.backends.n8n.emit.scopes import WorkflowScope
from orgflow.backends.n8n.node_types import code

from orgflow_ir.model import Event, Flow, Model, Process, Task
from orgflow_ir.targets import executable_processes

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.emitter import CompiledProcess, CompiledScope

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


def write_failures(errors: CompiledProcess, compiled: Iterable[CompiledProcess]) -> None:
    """Insert the node that determines the failure before the step that reports it."""
    graph = errors.root.workflow_graph
    key = HelperKey(_TELL, "inputs")
    found = graph.add(key, "What failed", code.NODE.name, {}, element=_TELL, role="inputs")
    found.parameters = code.code_parameters(
        _failure_code(one for p in compiled for one in p.scopes)
    )
    found.notes.append("Reports the failure in the terms of the model.")
    graph.wires = Wires(
        {
            (source, Port(key) if target == Port(_TELL) else target): flow
            for (source, target), flow in graph.wires.items()
        }
    )
    graph.connect(Port(key), Port(_TELL))
    graph.nodes[_TELL] = graph.nodes.pop(_TELL)


def _failure_code(scopes: Iterable[CompiledScope]) -> str:
    rows = [(one.scope.title[:128], list(_steps(one))) for one in scopes]
    return _CODE.replace("STEPS", json.dumps(rows, ensure_ascii=False))


def _steps(compiled: CompiledScope) -> Iterator[tuple[str, str, str, bool]]:
    """For each node its name, what it stands for, who does that, and whether the model itself ends
    there with an error."""
    performers = {m: plain(lane.caption) for lane in compiled.scope.lanes for m in lane.members}
    for node in compiled.workflow_graph.nodes.values():
        element = compiled.graph.nodes.get(node.element)
        label = plain(element.name) if element is not None and element.name else node.name
        ends = isinstance(element, Event) and element.position == "end"
        yield node.name, label, performers.get(node.element, ""), ends


_CODE = """\
const failed = $input.first().json;
const workflows = new Map(STEPS);
const process = String(failed.workflow?.name ?? "");
const error = failed.execution?.error ?? failed.trigger?.error ?? {};
const node = String(failed.execution?.lastNodeExecuted ?? error.node?.name ?? "");
const own = workflows.get(process) ?? (workflows.size === 1 ? [...workflows.values()][0] : []);
const [, step, performer, ends] = own.find(([name]) => name === node) ?? ["", node, "", false];
const problem = [error.message, error.description]
  .filter((one) => typeof one === "string" && one.trim()).join(": ") || "no reason is known";
const run = String(failed.execution?.id ?? "");
const address = String(failed.execution?.url ?? "");
const who = performer && performer !== step ? ` (${performer})` : "";
const where = step ? `“${step}”${who} of “${process}”` : `“${process}”`;
const text = ends
  ? `“${process}” ended with the error “${step}”: ${problem}`
  : `${where} failed: ${problem}`;
return [{ json: { process, step, performer, problem, run, address, text } }];
"""
