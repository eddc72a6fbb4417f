"""The collaboration of a BPMN file, which contains its pools."""

from __future__ import annotations

from orgflow.backends.bpmn.kept import find_kept, parse_shell
from orgflow.backends.bpmn.writer import Writer


def collaboration_id(w: Writer) -> str | None:
    """The id of the collaboration that contains the pools; `None` without one."""
    model = w.model
    for _, xml in find_kept(model.extra, "collaboration"):
        kept = parse_shell(xml)
        if kept is not None:
            return kept.fragment.attrs.get("id", "").strip() or None
    if model.pools or model.message_flows or model.artifacts or model.correlation_keys:
        return f"{w.id(model.id)}__collaboration"
    return None
