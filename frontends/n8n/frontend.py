"""n8n workflow files: as exported, copied from the editor, or answered by the API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend

if TYPE_CHECKING:
    from orgflow.backends.n8n.format import support_ids
    from orgflow.backends.n8n.node_types import called_workflows
    from orgflow.frontends.n8n import import_rules, workflow_reader

    from orgflow_ir.diagnostics import Rule
    from orgflow_ir.model import json_source_map
else:  # a frontend is loaded to recognise its files; the rest when it reads one
    support_ids = LazyModule("orgflow.backends.n8n.format.support_ids")
    called_workflows = LazyModule("orgflow.backends.n8n.node_types.called_workflows")
    import_rules = LazyModule("orgflow.frontends.n8n.import_rules")
    workflow_reader = LazyModule("orgflow.frontends.n8n.workflow_reader")
    json_source_map = LazyModule("orgflow_ir.model.json_source_map")

_KEY = rb'"connections"\s*:'


class N8nFrontend(Frontend):
    """Reads n8n workflows as processes: nodes are steps, connections are flows, and everything that
    the IR does not model stays in `extra` and in bindings (`orgflow.frontends.n8n.keeping`).

    One token represents one item. Decisions by data at other nodes (a search without results
    outputs no item, and the path ends there) are not read.
    """

    name = "n8n"
    suffixes = (".n8n.json", ".json")
    summary = "n8n workflows as exported from the editor, one or a list"

    @property
    def rules(self) -> tuple[type[Rule], ...]:
        """See `Frontend`. All frontends are loaded to choose one; only reading a workflow imports
        the rules."""
        return import_rules.N8N_RULES

    def sniff(self, source: SourceFile) -> bool:
        """An object or list with the keys `nodes` and `connections`; every file named `.n8n.json`
        is accepted."""
        if source.path.lower().endswith(".n8n.json"):
            return True
        head = source.data.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00")[:1]
        data = source.data.replace(b"\x00", b"")
        return head in (b"{", b"[") and b'"nodes"' in data and re.search(_KEY, data) is not None

    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        """The model, or `None` if the file is not JSON or contains no workflow."""
        try:
            document = json_source_map.parse_json(source.path, source.data)
        except json_source_map.JsonFault as fault:
            ctx.emit(
                import_rules.InvalidWorkflowJson,
                f"not JSON: {fault.message}",
                loc=SourceLocation(file=source.path, line=fault.line, column=fault.column),
                help="correct the file at this position, or export the workflow again",
            )
            return None

        return workflow_reader.read_model(document, ctx)

    def workflow_ids(self, data: bytes) -> frozenset[str] | None:
        """The ids of the workflows in a file, by which others call them; `None` for a file without
        workflows."""
        called = called_workflows.called_workflows(data)
        return None if called is None else frozenset(called)

    def is_installed(self, called: str) -> bool:
        """Whether a deployment puts the workflow with this id on the server: one of the support set
        of processes that wait in several places."""
        return called in support_ids.SUPPORT_IDS
