"""What every pass has to keep: unique ids, flows and attachments that lead somewhere.

A model may come in malformed (rules OF1xx say so); a pass must not make it worse. So the breaches
of the model before are held against those after.
"""

from __future__ import annotations

from orgflow_ir.model.elements import Event, Model


def breaches(model: Model) -> frozenset[str]:
    """What breaks the rules of the IR, in words that name the element."""
    found: set[str] = set()
    seen: set[str] = set()

    def once(id: str) -> None:
        if id in seen:
            found.add(f"the id `{id}` stands twice")
        seen.add(id)

    for scope in model.scopes():
        nodes = {n.id for n in scope.nodes}
        for node in scope.nodes:
            once(node.id)
            if isinstance(node, Event) and node.attached_to not in (None, *nodes):
                found.add(f"`{node.id}` is attached to `{node.attached_to}`, which is not there")
        for flow in scope.flows:
            once(flow.id)
            for end in (flow.source, flow.target):
                if end not in nodes:
                    found.add(f"the flow `{flow.id}` has an end `{end}` that is not there")
        defaults = [f.source for f in scope.flows if f.default]
        for source in {s for s in defaults if defaults.count(s) > 1}:
            found.add(f"`{source}` has several default flows")
    return frozenset(found)
