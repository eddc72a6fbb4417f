"""Collaborations: pools, message flows, correlation keys; conversations are kept."""

from __future__ import annotations

from dataclasses import field

from orgflow.backends.bpmn.format import COLLABORATION, child_rank
from orgflow.frontends.bpmn.bpmn_reading import NAMED, NOTHING, Reading
from orgflow.frontends.bpmn.data import read_artifact
from orgflow.frontends.bpmn.reading_rules import UnknownReference
from orgflow.frontends.bpmn.xml.bpmn_names import ARTIFACTS, BPMN
from orgflow.frontends.xml.tree import XmlElement, describe_element

from orgflow_ir.model import Artifact, CorrelationKey, MessageFlow, Pool
from orgflow_ir.model.records import dataclass
from orgflow_ir.model.value import Extra

_MODELLED = frozenset((*ARTIFACTS, "participant", "messageFlow", "correlationKey"))
_POOL_ATTRIBUTES = NAMED | {"processRef"}
_POOL_CHILDREN = frozenset(("participantMultiplicity",))
_MESSAGE_ATTRIBUTES = NAMED | {"sourceRef", "targetRef", "messageRef"}
_KEY_CHILDREN = frozenset(("correlationPropertyRef",))


@dataclass(eq=False, repr=False)
class Collaborations:
    """The content of all collaborations of a file, in order."""

    pools: list[Pool] = field(default_factory=list)
    message_flows: list[MessageFlow] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    keys: list[CorrelationKey] = field(default_factory=list)
    shells: list[tuple[str, str]] = field(default_factory=list)
    number: int = 0

    def read(self, r: Reading, node: XmlElement) -> None:
        """Add the collaboration `node`; unmodelled parts (its id and name, conversations,
        choreography references) are kept as the element without its modelled children."""
        r.stray(node)
        rest = []
        which: Extra = ((COLLABORATION, str(self.number)),) if self.number else ()
        self.number += 1
        for child in node.children:
            local = child.local
            if child.ns != BPMN or local not in _MODELLED:
                rest.append(child)
            elif local == "participant":
                self.pools.append(_read_pool(r, child, which))
            elif local == "messageFlow":
                self.message_flows.append(_message_flow(r, child, which))
            elif local == "correlationKey":
                self.keys.append(_correlation_key(r, child, which))
            else:
                artifact = read_artifact(r, child)
                artifact = artifact.replace(extra=artifact.extra + which) if which else artifact
                self.artifacts.append(artifact)
        r.kept(node, NAMED, _MODELLED)  # for what it reports
        rest.sort(key=lambda c: child_rank(node.local, c.ns, c.local))
        own = f"{r.document.root.attrs.get('id', '').strip()}__collaboration"
        if (
            not rest and not which and node.attrs == {"id": own}
        ):  # the one that is made where there is none
            return
        inner = [r.document.raw(c) for c in rest]
        self.shells.append((node.tag, r.document.shell(node, inner)))


def _read_pool(r: Reading, node: XmlElement, which: Extra) -> Pool:
    args = r.base(node, _POOL_ATTRIBUTES, _POOL_CHILDREN)
    process = r.ref(node, "processRef")
    r.known(node, process, None, "process")
    limits = [c for c in node.children if c.local == "participantMultiplicity" and c.ns == BPMN]
    if limits:
        least = r.integer(limits[0], "minimum", 0)
        most = r.integer(limits[0], "maximum", 1)
        assert least is not None
        assert most is not None
        args["multiplicity"] = (least, most)
        for number, limit in enumerate(limits):
            if number or limit.children or set(limit.attrs) - {"minimum", "maximum"}:
                args["extra"] += ((limit.tag, r.document.standalone(limit)),)
    args["extra"] += which
    return Pool(process=process, **args)


def _report_open_end(r: Reading, node: XmlElement, other: str, attribute: str) -> None:
    """A message flow without one of its ends."""
    there = r.ids.get(other)
    named = node.attrs.get("name", "").strip()
    label = f"the message flow `{named}`" if named else "a message flow"
    end = describe_element(there) if there is not None else ""
    if attribute == "targetRef":
        text = f"{label}{f' from {end}' if end else ''} leads nowhere"
    else:
        text = f"{label}{f' to {end}' if end else ''} comes from nowhere"
    r.report(
        UnknownReference,
        f"{text}: it has no `{attribute}`",
        node,
        help="connect it to a pool, a step or an event at both ends, or remove it",
    )


def _message_flow(r: Reading, node: XmlElement, which: Extra) -> MessageFlow:
    args = r.base(node, _MESSAGE_ATTRIBUTES, NOTHING)
    source, target = r.ref(node, "sourceRef") or "", r.ref(node, "targetRef") or ""
    for end, other, attribute in ((source, target, "sourceRef"), (target, source, "targetRef")):
        if end:
            r.known(node, end, None, "node or pool")
        else:
            _report_open_end(r, node, other, attribute)
    message = r.ref(node, "messageRef")
    r.known(node, message, None, "message")
    args["extra"] += which
    return MessageFlow(source=source, target=target, message=message, **args)


def _correlation_key(r: Reading, node: XmlElement, which: Extra) -> CorrelationKey:
    properties = [
        r.resolve(c.text) or "" for c in node.children if c.local == "correlationPropertyRef"
    ]
    for name in properties:
        r.known(node, name, None, "correlation property")
    args = r.base(node, NAMED, _KEY_CHILDREN)
    args["extra"] += which
    return CorrelationKey(properties=tuple(properties), **args)
