"""Nodes that somebody switched off or deleted in n8n: named as the cause of a difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orgflow.backends.n8n.format.compiled_workflow import read_base
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.plan.graph import NodeKey
from orgflow.backends.n8n.verify.points import Roles
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.targets.verification import Difference

_SWITCH_ON = "switch the node on in n8n, or remove the element from the model"
_RESTORE = (
    "restore the node in n8n (the workflow's history has it), or remove the element from the model"
)


class RemovedNodes:
    """The nodes of a compiled workflow that its edited version has switched off or lost.

    Args:
        ref: the compiled form of the process.
        matching: its nodes in the workflow.
        workflow: the edited workflow.
    """

    def __init__(
        self, ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
    ) -> None:
        self._ref, self._matching, self._workflow = ref, matching, workflow

    def explain_difference(
        self, difference: Difference, expected: Sequence[str], roles: Roles
    ) -> Difference:
        """The difference, named by the first node that does the work of one of the `expected`
        elements and is switched off or deleted; unchanged if there is none."""
        for cause in self._list_causes(expected, roles):
            return difference._replace(message=cause.message, help=cause.help)
        return difference

    def explain_start(self, start: str) -> Difference | None:
        """Why a start has no trigger; None if it is unknown."""
        for name, key in self._matching.key_of.items():
            planned = self._ref.plan.workflow_graph.nodes[key]
            step = self._workflow.steps[name]
            if planned.element == start and step.trigger and step.disabled:
                return _switched_off(name, f"the model starts with `{self._label(start)}`")
        if start in self._compiled_elements():
            text = f"`{self._label(start)}` was deleted from the workflow"
            return Difference(f"{text}, but the model starts with it", help=_RESTORE)
        return None

    def explain_helper(self, key: NodeKey, reason: str) -> Difference | None:
        """The difference that a missing or disabled auxiliary node makes; None if it is there."""
        name = self._matching.pairs.get(key)
        if name is not None:
            off = self._workflow.steps[name].disabled
            text = f"`{name}` is switched off in the workflow: {reason}"
            return Difference(text, help=_SWITCH_ON) if off else None
        name = self._ref.plan.workflow_graph.nodes[key].name
        if name not in self._compiled_names():
            return None
        return Difference(f"`{name}` was deleted from the workflow: {reason}", help=_RESTORE)

    def _list_causes(self, expected: Sequence[str], roles: Roles) -> Iterator[Difference]:
        wanted = set(expected)
        for name in self._workflow.steps:
            if name not in roles.disabled:
                continue
            reader = roles.readers.get(name)
            element = roles.stands.get(name)
            if reader is not None and wanted & {reader.gateway, roles.owners.get(reader.gateway)}:
                yield _switched_off(name, "the model decides there")
            elif element in wanted:
                yield _switched_off(name, "the model executes it")
        known = self._compiled_elements()
        for key in self._matching.missing:
            planned = self._ref.plan.workflow_graph.nodes[key]
            element = self._ref.roles.steps.get(key, planned.element)
            if planned.represents and element in wanted and element in known:
                text = f"`{self._label(element)}` was deleted from the workflow"
                yield Difference(f"{text}, but the model executes it", help=_RESTORE)

    def _label(self, element: str) -> str:
        return self._ref.labels.get(element, element)

    def _compiled_elements(self) -> frozenset[str]:
        """Elements that had a node when the workflow was last compiled or merged."""
        elements = set(self._workflow.map.nodes.values())
        base = read_base(self._workflow, lambda _: None)
        if base is not None:
            elements |= set(WorkflowDocument(base).map.nodes.values())
            elements |= {node.tag[0] for node in WorkflowDocument(base).nodes if node.tag}
        return frozenset(elements)

    def _compiled_names(self) -> frozenset[str]:
        """Names of all nodes when the workflow was last compiled or merged."""
        base = read_base(self._workflow, lambda _: None)
        return frozenset() if base is None else frozenset(WorkflowDocument(base).steps)


def _switched_off(name: str, reason: str) -> Difference:
    return Difference(f"`{name}` is switched off in the workflow, but {reason}", help=_SWITCH_ON)
