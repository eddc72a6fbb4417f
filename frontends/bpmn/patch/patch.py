"""From the edits of a fix to changes of the file's text."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from orgflow.frontends.bpmn.patch.drawing import Drawing
from orgflow.frontends.bpmn.patch.text import Changes
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN, FLOW_NODES
from orgflow.frontends.bpmn.xml.document import BpmnDocument
from orgflow.frontends.xml.parser import Limits, XmlFault
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.diagnostics import Edit, Fix, FixError, in_full
from orgflow_ir.model import Event, EventDefinition, Flow, Gateway, Model, Node, Scope
from orgflow_ir.model.source import SourceFile

_GATEWAYS = {
    "exclusive": "exclusiveGateway",
    "parallel": "parallelGateway",
    "inclusive": "inclusiveGateway",
    "complex": "complexGateway",
    "event": "eventBasedGateway",
}
_TERMINATE = (EventDefinition(kind="terminate"),)
_WITH_DEFAULT = ("exclusive", "inclusive", "complex")


def apply_patch(source: SourceFile, model: Model, fix: Fix) -> bytes:
    """The file with a fix applied; all bytes outside the affected elements are unchanged.

    `model` is the model that was read from the file. Raises `FixError` if the fix changes something
    that cannot be written without touching other parts of the file.
    """
    try:
        document = BpmnDocument.parse(source.data, Limits())
    except XmlFault as fault:
        raise FixError(fault.message) from None
    return _Patch(document, model, in_full(model, fix)).run()


class _Patch:
    def __init__(self, document: BpmnDocument, model: Model, fix: Fix) -> None:
        self.changes = Changes(document)
        self.drawing = Drawing(document, self.changes)
        self.document, self.fix = document, fix
        self.scopes = {s.id: s for s in model.scopes()}
        self.elements: dict[str, XmlElement] = {}
        self.parents: dict[int, XmlElement] = {}
        self.shared: set[str] = set()
        for node in document.elements:
            for child in node.children:
                self.parents[id(child)] = node
            if node.ns == BPMN and "id" in node.attrs:
                name = node.attrs["id"]
                if self.elements.setdefault(name, node) is not node:
                    self.shared.add(name)
        self.added = {e.node.id: e for e in fix.edits if e.action == "add" and e.node is not None}

    def run(self) -> bytes:
        for edit in self.fix.edits:
            if edit.node is not None and edit.action == "add":
                self._add_node(edit)
        for edit in self.fix.edits:
            if edit.flow is not None and edit.action == "add":
                self._add_flow(edit.flow, edit)
            elif edit.action == "remove":
                self._remove_element(edit)
            elif edit.action == "replace" and edit.flow is not None:
                self._replace_flow(edit)
            elif edit.action == "replace":
                self._replace_node(edit)
        self.drawing.finish()
        return self.changes.result()

    # -- what is there -------------------------------------------------------------------------

    def _find_element(self, name: str | None) -> XmlElement:
        element = self.elements.get(name or "")
        if element is None:
            raise FixError(
                f"no element of the file has the id `{name}` (it has none, or is not a BPMN "
                "element); give it one"
            )
        if name in self.shared:
            raise FixError(f"several elements of the file have the id `{name}`; change it in one")
        return element

    def _check_ends(self, *nodes: str) -> None:
        """A flow can only be written between elements that the file knows by their ids."""
        for node in sorted(nodes):
            if node not in self.added:
                self._find_element(node)

    def _check_unused(self, name: str) -> None:
        if name in self.drawing.ids:
            raise FixError(f"the file has an element with the id `{name}` already")

    def _find_scope(self, edit: Edit) -> Scope:
        if edit.scope not in self.scopes:
            raise FixError(f"no process or sub-process `{edit.scope}`")
        return self.scopes[edit.scope]

    def _list_references(self, owner: str, tag: str, name: str) -> list[XmlElement]:
        """`incoming` or `outgoing` children of a node that name a flow."""
        node = self.elements.get(owner)
        return [
            c for c in (node.children if node is not None else ())
            if c.local == tag and c.text.strip().rpartition(":")[2] == name
        ]  # fmt: skip

    def _lists_flows(self) -> bool:
        return any(n.local in ("incoming", "outgoing") for n in self.document.elements)

    # -- nodes ---------------------------------------------------------------------------------

    def _replace_node(self, edit: Edit) -> None:
        old = next((n for n in self._find_scope(edit).nodes if n.id == edit.id), None)
        new = edit.node
        if old is not None and old == new and edit.id not in self.elements:
            self._write_id(old)
            return
        element = self._find_element(edit.id)
        if isinstance(old, Event) and isinstance(new, Event):
            self._replace_event(element, old, new)
            return
        if not isinstance(old, Gateway) or not isinstance(new, Gateway):
            raise FixError("a fix can replace only gateways and end events in the file")
        if old.replace(gateway_kind=new.gateway_kind, name=new.name) != new:
            raise FixError("the fix changes more than the kind and the name of a gateway")
        if old.gateway_kind != new.gateway_kind:
            self.changes.rename(element, _GATEWAYS[new.gateway_kind])
            if new.gateway_kind not in _WITH_DEFAULT and "default" in element.attrs:
                self.changes.set_attribute(element, "default", None)
        if old.name != new.name:
            self.changes.set_attribute(element, "name", new.name or None)

    def _write_id(self, node: Node) -> None:
        """Write the id by which an element without one is read."""
        self._check_unused(node.id)
        start = node.loc.span[0] if node.loc is not None and node.loc.span is not None else -1
        for element in self.document.elements:
            if element.start == start and "id" not in element.attrs:
                self.changes.set_attribute(element, "id", node.id)
                return
        raise FixError(f"the element read as `{node.id}` is not found in the file")

    def _replace_event(self, element: XmlElement, old: Event, new: Event) -> None:
        """An end event that becomes a terminate end event, or a boundary event that becomes one
        that interrupts or does not."""
        if old.position == "boundary" and old.replace(interrupting=new.interrupting) == new:
            value = None if new.interrupting else "false"
            self.changes.set_attribute(element, "cancelActivity", value)
            return
        plain = old.position == "end" and not old.definitions
        if not plain or old.replace(definitions=_TERMINATE) != new:
            raise FixError(
                "a fix can change only plain end events, and whether a boundary event interrupts"
            )
        tag = self._tag_prefix(element) + "terminateEventDefinition"
        behind = element.children[-1] if element.children else None
        self.changes.insert_into(element, f"<{tag} />", behind)

    def _add_node(self, edit: Edit) -> None:
        node = edit.node
        if not isinstance(node, Gateway):
            raise FixError("a fix can add only gateways to the file")
        self._check_unused(node.id)
        into = [f for e in self.fix.edits if (f := e.flow) is not None and f.target == node.id]
        out = [f for e in self.fix.edits if (f := e.flow) is not None and f.source == node.id]
        parent = self._find_element(edit.scope)
        lines = []
        if self._lists_flows():
            prefix = self._tag_prefix(parent)
            lines += [f"\n  <{prefix}incoming>{f.id}</{prefix}incoming>" for f in into]
            lines += [f"\n  <{prefix}outgoing>{f.id}</{prefix}outgoing>" for f in out]
        tag = self._tag_prefix(parent) + _GATEWAYS[node.gateway_kind]
        name = f" name={quoteattr(node.name)}" if node.name else ""
        head = f"<{tag} id={quoteattr(node.id)}{name}"
        text = f"{head}>{''.join(lines)}\n</{tag}>" if lines else f"{head} />"
        before = [c for c in parent.children if c.ns == BPMN and c.local in FLOW_NODES]
        if not before:
            raise FixError(f"`{edit.scope}` has no node to place it next to")
        self.changes.insert_after(before[-1], text)
        neighbours = tuple(f.source for f in into)
        follows = out[0].target if len(out) == 1 else None
        self._into_lane(node.id, (*((follows,) if follows else ()), *neighbours))
        self.drawing.add_gateway(node.id, node.gateway_kind, follows, neighbours)

    def _into_lane(self, name: str, near: tuple[str, ...]) -> None:
        for lane in self.document.elements:
            if lane.local != "lane" or lane.ns != BPMN:
                continue
            members = [c for c in lane.children if c.local == "flowNodeRef"]
            if near and any(m.text.strip() == near[0] for m in members):
                tag = members[-1].qname
                self.changes.insert_after(members[-1], f"<{tag}>{name}</{tag}>")

    @staticmethod
    def _tag_prefix(parent: XmlElement) -> str:
        prefix, colon, _ = parent.qname.rpartition(":")
        return prefix + colon

    # -- flows ---------------------------------------------------------------------------------

    def _replace_flow(self, edit: Edit) -> None:
        new = edit.flow
        assert new is not None
        old = next((f for f in self._find_scope(edit).flows if f.id == edit.id), None)
        if old is None:
            raise FixError(f"no flow `{edit.id}`")
        element = self._find_element(edit.id)
        kept = old.replace(
            source=new.source, target=new.target, default=new.default, name=new.name,
            condition=new.condition if new.condition is None else old.condition,
        )  # fmt: skip
        if kept != new:
            raise FixError("the fix changes parts of a flow that cannot be written to the file")
        if old.condition is not None and new.condition is None:
            for child in element.children:
                if child.local == "conditionExpression":
                    self.changes.remove(child)
        if old.name != new.name:
            self.changes.set_attribute(element, "name", new.name or None)
        if old.default != new.default:
            value = new.id if new.default else None
            self.changes.set_attribute(self._find_element(old.source), "default", value)
        self._check_ends(*{new.source, new.target} - {old.source, old.target})
        if old.target != new.target:
            self._move_reference(old.id, "incoming", old.target, new.target)
            self.changes.set_attribute(element, "targetRef", new.target)
        if old.source != new.source:
            self._move_reference(old.id, "outgoing", old.source, new.source)
            self.changes.set_attribute(element, "sourceRef", new.source)
        if (old.source, old.target) != (new.source, new.target):
            known = all(end in self.elements for end in (old.source, old.target))
            led = self.drawing.rerouted if known else self.drawing.attached
            led(old.id, new.source, new.target)

    def _move_reference(self, flow: str, tag: str, old: str, new: str) -> None:
        """The list of a node's flows follows where the flow begins or ends."""
        references = self._list_references(old, tag, flow)
        for child in references:
            self.changes.remove(child)
        lost = old not in self.elements and self._lists_flows()
        if (
            references or (lost and not self._list_references(new, tag, flow))
        ) and new not in self.added:
            self._list_flow(flow, tag, new)

    def _list_flow(self, flow: str, tag: str, node: str) -> None:
        element = self._find_element(node)
        before = [c for c in element.children if c.local in _BEFORE_FLOWS]
        if tag == "outgoing":
            before += [c for c in element.children if c.local == "incoming"]
        same = [c for c in element.children if c.local == tag]
        qname = self._tag_prefix(element) + tag
        behind = same or before
        after = behind[-1] if behind else None
        self.changes.insert_into(element, f"<{qname}>{flow}</{qname}>", after)

    def _add_flow(self, flow: Flow, edit: Edit) -> None:
        parent = self._find_element(edit.scope)
        if flow.condition is not None:
            raise FixError("a fix cannot add a flow with a condition to the file")
        self._check_unused(flow.id)
        self._check_ends(flow.source, flow.target)
        tag = self._tag_prefix(parent) + "sequenceFlow"
        name = f" name={quoteattr(flow.name)}" if flow.name else ""
        text = (
            f"<{tag} id={quoteattr(flow.id)}{name} sourceRef={quoteattr(flow.source)} "
            f"targetRef={quoteattr(flow.target)} />"
        )
        flows = [c for c in parent.children if c.local == "sequenceFlow" and c.ns == BPMN]
        nodes = [c for c in parent.children if c.ns == BPMN and c.local in FLOW_NODES]
        behind = flows or nodes
        self.changes.insert_into(parent, text, behind[-1] if behind else None)
        if self._lists_flows():
            for tag_, node in (("outgoing", flow.source), ("incoming", flow.target)):
                if node not in self.added:
                    self._list_flow(flow.id, tag_, node)
        if flow.default:
            self.changes.set_attribute(self._find_element(flow.source), "default", flow.id)
        self.drawing.add_flow(flow.id, flow.source, flow.target)

    # -- removing ------------------------------------------------------------------------------

    def _remove_element(self, edit: Edit) -> None:
        element = self._find_element(edit.id)
        name = edit.id or ""
        self.changes.remove(element)
        self.drawing.remove(name)
        inside = {id(n) for n in element.descendants()}
        for node in self.document.elements:
            listed = node.local in ("incoming", "outgoing", "flowNodeRef")
            if listed and id(node) not in inside and node.text.strip() == name:
                self.changes.remove(node)
            if node.ns == BPMN and node.attrs.get("default") == name and id(node) not in inside:
                self.changes.set_attribute(node, "default", None)


_BEFORE_FLOWS = ("documentation", "extensionElements", "auditing", "monitoring", "categoryValueRef")
"""Children of a flow node that the schema requires before `incoming` (BPMN 2.0.2, table 10.1)."""
