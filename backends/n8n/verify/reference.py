"""The compiler's output for a process, with which another workflow is compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.emit.compiled import CompiledProcess, CompiledScope
from orgflow.backends.n8n.emit.model_compilation import compile_processes
from orgflow.backends.n8n.emit.together import compile_together
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.plan.graph import NodeKey
from orgflow.backends.n8n.plan.plan_roles import PlanRoles, read_roles
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.target import N8N_TARGET

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.lowering.meaning import as_executed
from orgflow_ir.model import (
    Model,
    Process,
)
from orgflow_ir.model import Node as SourceNode
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import ConditionError
from orgflow_ir.targets.artifact import Emitted
from orgflow_ir.work.gateway_decisions import Decision

__all__ = [
    "ConditionError",
    "NotLegal",
    "Reference",
    "compile_reference",
    "compile_references",
]


class NotLegal(ValueError):
    """The model contains a construct that n8n does not support, so there is nothing to compare
    with.

    `diagnostics` say what.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        super().__init__("; ".join(d.message for d in diagnostics))


class Reference(NamedTuple):
    """The compiled form of one process.

    Attributes:
        process: of the *source* model, in which only loops were lowered.
        plan: the plan of its workflow, whose elements may be lowered ones.
        nodes: the nodes of the compiled workflow by graph key.
        roles: those of the nodes of the plan.
        labels: of nodes and flows of the source, including those in sub-processes.
        settings: of the compiled workflow.
    """

    process: Process
    plan: ScopePlan
    nodes: Mapping[NodeKey, Node]
    roles: PlanRoles
    labels: Mapping[str, str]
    settings: Mapping[str, Any]

    @property
    def source_nodes(self) -> Iterator[SourceNode]:
        """The nodes of the source, including those in sub-processes."""
        return (node for scope in self.process.scopes() for node in scope.nodes)

    def decision(self, gateway: str) -> Decision:
        """The decision of a deciding gateway of the workflow_graph."""
        return self.plan.decisions[gateway]

    def label_of(self, key: str) -> str:
        """The name of the source element behind a node of the graph, by the text of the node's key;
        that text if there is none."""
        nodes = self.plan.workflow_graph.nodes
        node = next((node for node_key, node in nodes.items() if str(node_key) == key), None)
        if node is None:
            return self.labels.get(key, key)
        element = self.plan.graph.nodes.get(node.element)
        source = source_ids(element)[0] if element is not None else node.element
        return self.labels.get(source, source)


def compile_references(
    model: Model,
    ctx: PassContext,
    emitted: Emitted | None = None,
    flows: Sequence[WorkflowDocument] = (),
) -> dict[str, Reference]:
    """The compiled form of every process with executable content, by id.

    Args:
        model: the source model, not lowered.
        ctx: has the options of the target.
        emitted: the existing output for the model, otherwise it is compiled here.
        flows: the workflows to compare; what is compiled here hands back what they hand back to
            callers in other files.

    Raises:
        NotLegal: n8n does not support the model.
    """
    compiled = compiled_forms(model, ctx, flows) if emitted is None else emitted.compiled
    sources = {p.id: p for p in as_executed(model).processes}
    return {
        id: _make_reference(sources.get(id, process.process), process.root)
        for id, process in compiled.items()
    }


def compiled_forms(
    model: Model, ctx: PassContext, flows: Sequence[WorkflowDocument] = ()
) -> dict[str, CompiledProcess]:
    """Every process with executable content, compiled for comparison. `flows` is as for
    `references`. Raises `NotLegal`."""
    quiet = PassContext(
        registry=ctx.registry,
        target=N8N_TARGET,
        options={**N8N_TARGET.default_options, **ctx.options},
        given=ctx.given,
        folders=ctx.folders,
    )
    legal = legalise(model, N8N_TARGET, quiet, allow_lossy=True)
    if quiet.has_errors:
        raise NotLegal(tuple(d for d in quiet.diagnostics if d.severity == "error"))
    compiled = compile_processes(legal, quiet)
    others = {flow.title: flow.map.returns for flow in flows if flow.map.returns is not None}
    if others:
        (compiled,), _ = compile_together([compiled], quiet, others)
    return {process.process.id: process for process in compiled}


def _make_reference(source: Process, compiled: CompiledScope) -> Reference:
    plan = compiled.plan
    by_name = WorkflowDocument(compiled.workflow).steps
    return Reference(
        source,
        plan,
        {key: by_name[n.name] for key, n in plan.workflow_graph.nodes.items()},
        read_roles(plan, (node for scope in source.scopes() for node in scope.nodes)),
        _read_labels(source),
        compiled.workflow["settings"],
    )


def compile_reference(model: Model, process: Process, ctx: PassContext) -> Reference:
    """The compiled form of one process. Raises `NotLegal`."""
    return compile_references(model, ctx)[process.id]


def _read_labels(process: Process) -> dict[str, str]:
    labels = {node.id: node.label for scope in process.scopes() for node in scope.nodes}
    for flow in (flow for scope in process.scopes() for flow in scope.flows):
        name = " ".join(flow.name.split())
        if not name and flow.condition is not None:
            name = " ".join(flow.condition.text.split())
        labels[flow.id] = name or ("otherwise" if flow.default else labels.get(flow.target, ""))
    return labels
