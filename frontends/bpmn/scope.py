"""The content of a process or sub-process: nodes, flows, lanes, data, artifacts, at any depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orgflow.frontends.bpmn import nodes as read
from orgflow.frontends.bpmn.bpmn_reading import NAMED, NOTHING, Reading, describe_element
from orgflow.frontends.bpmn.data import (
    read_artifact,
    read_data_associations,
    read_data_flow,
    read_data_object,
    read_io_specification,
)
from orgflow.frontends.bpmn.input_rules import TooDeep
from orgflow.frontends.bpmn.lanes import read_lanes
from orgflow.frontends.bpmn.reading_rules import (
    DisagreeingFlowLists,
    InvalidValue,
    MisplacedElement,
    UnknownElement,
    UnknownReference,
)
from orgflow.frontends.bpmn.xml.bpmn_names import (
    ARTIFACTS,
    BPMN,
    DATA,
    EVENTS,
    GATEWAYS,
    SUB_PROCESSES,
    TASKS,
)
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import (
    CallActivity,
    Event,
    Flow,
    Gateway,
    Opaque,
    Process,
    SubProcess,
    Task,
)

if TYPE_CHECKING:
    from orgflow.frontends.bpmn import schema_disposition
else:  # content that is not of the schema only
    schema_disposition = LazyModule("orgflow.frontends.bpmn.schema_disposition")

_OWN = frozenset(
    (
        *TASKS, *EVENTS, *GATEWAYS, *SUB_PROCESSES, *DATA, *ARTIFACTS, "callActivity",
        "sequenceFlow", "laneSet", "process", "collaboration",
    )
)  # fmt: skip
_PROCESS_ATTRIBUTES = NAMED | {"isExecutable"}
_SUB_ATTRIBUTES = read.ACTIVITY_ATTRIBUTES | {"triggeredByEvent"}
_AD_HOC_ATTRIBUTES = _SUB_ATTRIBUTES | {"ordering", "cancelRemainingInstances"}
_SUB_CHILDREN = _OWN | read.ACTIVITY_CHILDREN
_AD_HOC_CHILDREN = _SUB_CHILDREN | {"completionCondition"}
_OF_ALL = frozenset(("documentation", "extensionElements"))
"""Children that every BPMN element may have."""
_FLOW_ATTRIBUTES = NAMED | {"sourceRef", "targetRef"}
_FLOW_CHILDREN = frozenset(("conditionExpression",))
_DEFAULTS = frozenset(
    (*TASKS, *SUB_PROCESSES, "callActivity", "exclusiveGateway", "inclusiveGateway",
     "complexGateway")
)  # fmt: skip


MAX_NESTED = 80
"""Maximum nesting of sub-processes: the JSON form of a deeper model could not be read back."""


class _Draft:
    """A scope that is being read; its sub-processes are drafts until they are built."""

    def __init__(self, node: XmlElement, args: dict[str, Any], depth: int = 0) -> None:
        self.node = node
        self.depth = depth
        self.args = args
        self.nodes: list[Any] = []
        self.lists: dict[str, list[Any]] = {
            "flows": [], "lanes": [], "data_objects": [], "data_flows": [], "artifacts": []
        }  # fmt: skip
        self.inner: list[_Draft] = []
        self.built: Any = None

    def build(self) -> None:
        parts: dict[str, Any] = {k: tuple(v) for k, v in self.lists.items() if v}
        parts["nodes"] = tuple([n.built if type(n) is _Draft else n for n in self.nodes])
        self.built = (
            Process(**self.args, **parts)
            if self.node.local == "process"
            else SubProcess(**self.args, **parts)
        )


def read_process(r: Reading, node: XmlElement, inner_processes: list[XmlElement]) -> Process:
    """A process with its content; processes and collaborations nested in it are added to `found`.

    Sub-processes are read from a stack, not by recursion.
    """
    r.enter_process(node)
    _find_vendor_nodes(r, node)
    args = r.base(node, _PROCESS_ATTRIBUTES, _OWN | _foreign_tags(node))
    if "isExecutable" in node.attrs:
        args["executable"] = r.boolean(node, "isExecutable", False)
    args["dialect"] = r.dialect
    root = _Draft(node, args)
    read_io_specification(r, node, root.lists["data_objects"])
    drafts, stack = [], [root]
    while stack:
        draft = stack.pop()
        drafts.append(draft)
        if draft.depth > MAX_NESTED:
            _too_deep(r, draft.node)
            continue
        _read_content(r, draft, inner_processes)
        stack.extend(reversed(draft.inner))
    for draft in reversed(drafts):
        draft.build()
    process: Process = root.built
    return process


def _foreign_tags(node: XmlElement) -> frozenset[str]:
    """Unknown BPMN tags in a scope: they become opaque nodes, not kept data."""
    odd = {c.local for c in node.children if c.ns == BPMN} - _SUB_CHILDREN - _OF_ALL
    if not odd:
        return NOTHING

    return frozenset(
        (odd & schema_disposition.OPAQUE_NODES) | (odd - schema_disposition.KNOWN_TAGS)
    )


def _too_deep(r: Reading, node: XmlElement) -> None:
    if r.refused:
        return
    r.refused = True
    r.report(
        TooDeep,
        f"sub-processes are nested more than {MAX_NESTED} levels deep",
        node,
        help="move inner sub-processes into their own processes and call them",
    )


def _sub_process(r: Reading, node: XmlElement, depth: int) -> _Draft:
    ad_hoc = node.local == "adHocSubProcess"
    _find_vendor_nodes(r, node)
    args = r.base(
        node,
        _AD_HOC_ATTRIBUTES if ad_hoc else _SUB_ATTRIBUTES,
        (_AD_HOC_CHILDREN if ad_hoc else _SUB_CHILDREN) | _foreign_tags(node),
    )
    read.activity_arguments(r, node, args)
    by_event = r.boolean(node, "triggeredByEvent", False)
    if ad_hoc:
        args["flavour"] = "ad-hoc"
        args["completion"], unread = read.single_expression(r, node, "completionCondition")
        args["extra"] += unread
        ordering = r.choice(node, "ordering", ("Parallel", "Sequential"), "Parallel")
        args["sequential"] = ordering == "Sequential"
        args["cancel_remaining"] = r.boolean(node, "cancelRemainingInstances", True)
    elif node.local == "transaction":
        args["flavour"] = "transaction"
    elif by_event:
        args["flavour"] = "event"
    if by_event and args.get("flavour") != "event":
        args["extra"] += ((f"@{{{BPMN}}}triggeredByEvent", node.attrs["triggeredByEvent"]),)
        r.report(
            InvalidValue,
            f"{describe_element(node)} is a `{node.local}` and cannot be triggered by an event",
            node,
            help="make it a `subProcess`, or remove `triggeredByEvent`",
        )
    return _Draft(node, args, depth)


def _read_content(r: Reading, draft: _Draft, inner_processes: list[XmlElement]) -> None:
    defaults: set[str] = set()
    flows: list[XmlElement] = []
    boundaries: list[tuple[Event, XmlElement]] = []
    activities: set[str] = set()
    lists = draft.lists
    keep = draft.nodes.append
    r.stray(draft.node)
    for child in draft.node.children:
        local = child.local
        if child.ns != BPMN:
            _vendor_node(r, draft, child)
            continue
        if local == "sequenceFlow":
            flows.append(child)
            continue
        if local == "task" and child.children and (own := read.own_opaque(child)) is not None:
            args = r.base(child, NAMED, read.ACTIVITY_CHILDREN)
            harmless = own.attrs.get("harmless") == "true"
            tag = own.attrs.get("tag", "")
            keep(Opaque(tag=tag, payload=own.text, harmless=harmless, **args))
        elif local in TASKS:
            args = read.read_task(r, child)
            _read_default(r, child, args, defaults)
            keep(Task(**args))
            activities.add(args["id"])
        elif local in GATEWAYS:
            args = read.read_gateway(r, child)
            _read_default(r, child, args, defaults)
            keep(Gateway(**args))
        elif local in EVENTS:
            args = read.read_event(r, child)
            event = Event(**args)
            keep(event)
            if local == "boundaryEvent":
                boundaries.append((event, child))
        elif local == "callActivity":
            args = read.read_call(r, child)
            _read_default(r, child, args, defaults)
            keep(CallActivity(**args))
            activities.add(args["id"])
        elif local in SUB_PROCESSES:
            inner = _sub_process(r, child, draft.depth + 1)
            args = inner.args
            _read_default(r, child, args, defaults)
            draft.inner.append(inner)
            keep(inner)
            activities.add(args["id"])
        else:
            _read_other(r, draft, child, inner_processes)
            continue
        _check_flow_lists(r, child, args["id"])
        if child.children:
            lists["data_flows"].extend(read_data_associations(r, child, args["id"]))
    for event, child in boundaries:
        read.report_detached(r, event, child, activities)
    choosing = {r.flows[flow][0] for flow in defaults} & activities if flows else set()
    lists["flows"] = [_read_flow(r, child, defaults, choosing) for child in flows]


def _read_other(
    r: Reading, draft: _Draft, child: XmlElement, inner_processes: list[XmlElement]
) -> None:
    local, lists = child.local, draft.lists
    if local in DATA:
        lists["data_objects"].append(read_data_object(r, child))
    elif local in ARTIFACTS:
        if r.own(child).get("kind") == "data-flow":
            lists["data_flows"].append(read_data_flow(r, child))
        else:
            lists["artifacts"].append(read_artifact(r, child))
    elif local == "laneSet":
        lanes, shells = read_lanes(r, child)
        lists["lanes"].extend(lanes)
        draft.args["extra"] += shells
    elif local in ("process", "collaboration"):
        r.report(
            MisplacedElement,
            f"{describe_element(child)} stands inside {describe_element(draft.node)}",
            child,
            help="move it to the root, next to the other processes; it is read as if it were there",
        )
        inner_processes.append(child)
    else:
        _read_unknown(r, draft, child)


def _read_unknown(r: Reading, draft: _Draft, child: XmlElement) -> None:
    """Kept data (read with the scope itself), or a flow node that no process can run."""
    if child.local in _SUB_CHILDREN or child.local in _OF_ALL:
        return

    local = child.local
    if local in schema_disposition.OPAQUE_NODES or local not in schema_disposition.KNOWN_TAGS:
        draft.nodes.append(read_opaque(r, child, harmless=False))
        r.report(
            UnknownElement,
            f"`<{child.qname}>` in {describe_element(draft.node)} is not an element of BPMN "
            "processes",
            child,
            help="use a task, an event or a gateway; until then no target can run it",
        )


def _find_vendor_nodes(r: Reading, scope: XmlElement) -> None:
    """A tool's own element among the flow elements is a node if a flow touches it."""
    for child in scope.children:
        if child.ns != BPMN:
            name = child.attrs.get("id", "").strip()
            if name and (name in r.sources or name in r.targets):
                r.elsewhere.add(child)


def _vendor_node(r: Reading, draft: _Draft, child: XmlElement) -> None:
    if child not in r.elsewhere:
        return
    draft.nodes.append(read_opaque(r, child, harmless=False))
    r.report(
        UnknownElement,
        f"{describe_element(child)}, a `<{child.qname}>`, is not an element of BPMN",
        child,
        help="use a BPMN task with the tool's data in `extensionElements`; "
        "until then no target can run it",
    )


def read_opaque(r: Reading, node: XmlElement, *, harmless: bool) -> Opaque:
    """An element kept verbatim, with its identifying attributes read."""
    documentation = [c for c in node.children if c.ns == BPMN and c.local == "documentation"]
    name = r.claim(node)
    return Opaque(
        id=name,
        name=node.attrs.get("name", ""),
        doc=r.text(documentation[0]) if documentation else "",
        loc=r.loc(node, name),
        tag=node.tag,
        payload=r.document.standalone(node),
        harmless=harmless,
    )


def _read_default(r: Reading, node: XmlElement, args: dict[str, Any], defaults: set[str]) -> None:
    if "default" not in node.attrs or node.local not in _DEFAULTS:
        return
    flow = r.ref(node, "default")
    ends = r.flows.get(flow or "")
    if flow is not None and ends is not None and ends[0] == args["id"]:
        defaults.add(flow)
        return
    args["extra"] += ((f"@{{{BPMN}}}default", node.attrs["default"]),)
    why = "is not in the file" if ends is None else "does not begin there"
    r.report(
        UnknownReference,
        f"{describe_element(node)} has the default flow `{flow or ''}`, which {why}",
        node,
        help="name one of its outgoing flows, or remove `default`",
    )


def _read_flow(r: Reading, node: XmlElement, defaults: set[str], choosing: set[str]) -> Flow:
    """A sequence flow. Out of an activity with a default (`choosing`) an empty condition counts:
    the flow is a choice of which only the label is known, not one that is always taken."""
    args = r.base(node, _FLOW_ATTRIBUTES, _FLOW_CHILDREN)
    source, target = r.flows[args["id"]]
    if node.children:
        blank = source in choosing
        condition, unread = read.single_expression(r, node, "conditionExpression", blank=blank)
        args["condition"] = condition
        args["extra"] += unread
    default = args["id"] in defaults or r.own(node).get("default") == "true"
    return Flow(source=source, target=target, default=default, **args)


def _check_flow_lists(r: Reading, node: XmlElement, name: str) -> None:
    incoming = outgoing = 0
    wrong = None
    flows = r.flows
    for child in node.children:
        local = child.local
        if local == "incoming":
            incoming += 1
            end = 1
        elif local == "outgoing":
            outgoing += 1
            end = 0
        else:
            continue
        flow = child.text.strip()
        ends = flows.get(flow) or flows.get(r.resolve(flow) or "")
        if ends is None or ends[end] != name:
            wrong = wrong or flow
    if not incoming and not outgoing:
        return
    if (
        wrong is None
        and (not incoming or incoming == r.targets.get(name, 0))
        and (not outgoing or outgoing == r.sources.get(name, 0))
    ):
        return
    detail = f": it lists `{wrong}`" if wrong is not None else ""
    r.report(
        DisagreeingFlowLists,
        f"the incoming and outgoing flows that {describe_element(node)} lists are not the "
        "sequence flows "
        f"that end and begin there{detail}",
        node,
        help="the sequence flows count; correct or remove the lists",
    )
