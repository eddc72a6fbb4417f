"""The order of the rooms: a room imports rooms that stand before it, and no others.

The order is that of reading, left to right and top to bottom. Every room stands in it once.
`tests/ratchets/rooms.json` lists the imports that still go the other way.
"""

from __future__ import annotations

CORE = (
    (
        "orgflow_ir.moved_names",
        "orgflow_ir",
        "orgflow_ir.lazy_modules",
        "orgflow_ir.lazy_patterns",
        "orgflow_ir.model",
    ),
    ("orgflow_ir.diagnostics", "orgflow_ir.pipeline", "orgflow_ir.targets"),
    ("orgflow_ir.flow", "orgflow_ir.flow.control_flow", "orgflow_ir.layout", "orgflow_ir.mining"),
    ("orgflow_ir.flow.nets", "orgflow_ir.flow.concurrency"),
    ("orgflow_ir.program.feel", "orgflow_ir.program"),
    ("orgflow_ir.languages.feel", "orgflow_ir.languages"),
    ("orgflow_ir.decisions", "orgflow_ir.work"),
    ("orgflow_ir.flow.token_game", "orgflow_ir.flow.soundness"),
    ("orgflow_ir.facts", "orgflow_ir.gaps"),
    ("orgflow_ir.plugins", "orgflow_ir.legalisation", "orgflow_ir.reporting"),
    ("orgflow_ir.linking", "orgflow_ir.filling", "orgflow_ir.comparison", "orgflow_ir.lowering"),
    ("orgflow_ir.testing.conformance", "orgflow_ir.testing"),
    ("orgflow_ir.authoring",),
)
"""The core: a plugin may import all of it."""

N8N = (
    ("orgflow.backends.n8n.format", "orgflow.backends.n8n.node_types"),
    (
        "orgflow.backends.n8n.catalogue",
        "orgflow.backends.n8n.engine_model",
        "orgflow.backends.n8n.engine",
    ),
    ("orgflow.backends.n8n.waiting",),
    ("orgflow.backends.n8n.plan",),
    ("orgflow.backends.n8n.emit", "orgflow.backends.n8n.replay"),
    (
        "orgflow.backends.n8n.verify",
        "orgflow.backends.n8n.lint",
        "orgflow.backends.n8n.diff",
        "orgflow.backends.n8n.merge",
    ),
    (
        "orgflow.backends.n8n.server.client",
        "orgflow.backends.n8n.server",
        "orgflow.backends.n8n.server.executions",
        "orgflow.backends.n8n.server.deploy",
    ),
    ("orgflow.backends.n8n",),
)
"""The backend for n8n; its modules outside of these folders (`backend.py`) come last."""

FRONTENDS = (
    ("orgflow.frontends.xml",),
    ("orgflow.frontends.bpmn.xml", "orgflow.frontends.bpmn.patch", "orgflow.frontends.bpmn"),
    (
        "orgflow.frontends.dmn",
        "orgflow.frontends.ir",
        "orgflow.frontends.messages",
        "orgflow.frontends.n8n",
        "orgflow.frontends.outline",
        "orgflow.frontends.pme",
        "orgflow.frontends.powl",
        "orgflow.frontends.traces",
        "orgflow.frontends.triples",
        "orgflow.frontends",
    ),
)

BACKENDS = (
    ("orgflow.backends.asl.jsonata", "orgflow.backends.javascript"),
    *N8N,
    (
        "orgflow.backends.asl",
        "orgflow.backends.bpmn",
        "orgflow.backends.ir",
        "orgflow.backends.mermaid",
        "orgflow.backends.outline.format",
        "orgflow.backends.outline",
        "orgflow.backends.powl",
        "orgflow.backends.svg",
        "orgflow.backends.triples",
        "orgflow.backends",
    ),
)

APPLICATION = (
    ("orgflow.passes", "orgflow.store"),
    (
        "orgflow.agents",
        "orgflow.agents.language",
        "orgflow.agents.model_client",
        "orgflow.agents.text",
        "orgflow.agents.discovery",
        "orgflow.agents.filling",
    ),
    ("orgflow.compilation",),
    ("orgflow.compiler",),
    ("orgflow.evaluation.corpus", "orgflow.evaluation"),
    ("orgflow.commands.project", "orgflow.commands.language_server", "orgflow.commands"),
    ("orgflow.api", "orgflow.cli", "orgflow", "orgflow.__main__"),
)

ORDER: tuple[tuple[str, ...], ...] = (*CORE, *BACKENDS, *FRONTENDS, *APPLICATION)
PLACES = {room: place for place, room in enumerate(room for line in ORDER for room in line)}
"""The place of each room in the order."""


def goes_back(importing: str, imported: str) -> bool:
    """Whether an import goes against the order. Raises `KeyError` for a room without a place."""
    return PLACES[imported] > PLACES[importing]
