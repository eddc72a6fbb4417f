"""PME JSON: six lists of tasks, events, gateways, pools, sequence flows and message flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend

if TYPE_CHECKING:
    from orgflow.frontends.pme import pme_reader, pme_rules

    from orgflow_ir.diagnostics import Rule
    from orgflow_ir.model import json_source_map
else:  # a frontend is loaded to recognise its files; the rest when it reads one
    pme_reader = LazyModule("orgflow.frontends.pme.pme_reader")
    pme_rules = LazyModule("orgflow.frontends.pme.pme_rules")
    json_source_map = LazyModule("orgflow_ir.model.json_source_map")

LISTS = ("tasks", "events", "gateways", "pools", "sequenceFlows", "messageFlows")


class PmeFrontend(Frontend):
    """Reads PME JSON. Data that PME lacks remain empty: conditions are labels, timers have no time,
    messages no name, and a pool without nodes is a black box."""

    name = "pme"
    suffixes = (".pme.json", ".json")
    summary = "PME JSON, a list of elements as language models write it"

    @property
    def rules(self) -> tuple[type[Rule], ...]:
        """See `Frontend`. All frontends are loaded to choose one; only reading a model imports the
        rules."""
        return pme_rules.PME_RULES

    def sniff(self, source: SourceFile) -> bool:
        """An object with the key `sequenceFlows`; every file named `.pme.json` is accepted."""
        if source.path.lower().endswith(".pme.json"):
            return True
        head = source.data.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00")[:1]
        return head == b"{" and b'"sequenceFlows"' in source.data.replace(b"\x00", b"")

    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        """The model, or `None` if the file is not JSON or not PME."""
        try:
            document = json_source_map.parse_json(source.path, source.data)
        except json_source_map.JsonFault as fault:
            ctx.emit(
                pme_rules.InvalidJson,
                f"not JSON: {fault.message}",
                loc=SourceLocation(file=source.path, line=fault.line, column=fault.column),
                help="correct the file at this position",
            )
            return None
        root = document.root
        if not isinstance(root.value, dict) or not any(key in root.value for key in LISTS):
            ctx.emit(
                pme_rules.NotPme,
                f"this is not a PME model: it contains none of {', '.join(LISTS)}",
                loc=document.loc(root, "$"),
                help="name the right frontend with --from",
            )
            return None

        return pme_reader.Reader(document, ctx).model()
