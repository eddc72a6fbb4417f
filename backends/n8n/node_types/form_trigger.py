"""Form Trigger: starts when somebody sends a form."""

from __future__ import annotations

from orgflow.backends.n8n.node_types.behaviour import trigger
from orgflow.backends.n8n.node_types.node_type import NodeType, none

NODE = NodeType(
    name="formTrigger",
    label="Form Trigger",
    versions=((2.3,), (2.5, 2.6)),
    start="message",
    inputs=none,
    behaviour=trigger,
    required=(("formTitle", {}),),
    task=None,
)
