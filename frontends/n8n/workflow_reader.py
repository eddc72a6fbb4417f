"""From n8n's workflows to a model, one process each."""

from __future__ import annotations

from collections import Counter

from orgflow.backends.n8n.format.workflow_document import workflows_in
from orgflow.backends.n8n.node_types import catalogue
from orgflow.frontends.n8n.bodies import Bodies
from orgflow.frontends.n8n.drawing import draw_shapes
from orgflow.frontends.n8n.identity import Ids, identify_nodes, slug_text
from orgflow.frontends.n8n.import_rules import (
    DeadConnection,
    NoTrigger,
    NotWorkflow,
    RepeatedNodeId,
    UnknownNodePackage,
)
from orgflow.frontends.n8n.keeping import (
    compact_json,
    extension_key,
    keep_entries,
    keep_surroundings,
    kept_node,
)
from orgflow.frontends.n8n.source import SourceNode, SourceWorkflow, Wire
from orgflow.frontends.n8n.wiring import Wiring

from orgflow_ir.model import (
    Artifact,
    Catalog,
    CatalogEntry,
    DataFlow,
    DataObject,
    Model,
    Process,
)
from orgflow_ir.model.diagram import Diagram, Shape
from orgflow_ir.model.json_source_map import JsonDocument
from orgflow_ir.pipeline import PassContext

_MODELLED = ("nodes", "connections", "name")


def read_model(document: JsonDocument, ctx: PassContext) -> Model | None:
    """The model of a file, or `None` if it contains no workflow."""
    documents = workflows_in(document)
    if not documents:
        ctx.emit(
            NotWorkflow,
            "this is not an n8n workflow: it has no `nodes` and no `connections`",
            loc=document.loc(document.root, "$"),
            help="name the right frontend with --from",
        )
        return None
    flows = [SourceWorkflow(document_read, ctx) for document_read in documents]
    for flow in flows:
        flow.report_faults()
    ids = Ids()
    names = [_process_id(flow, ids) for flow in flows]
    workflows: dict[str, str] = {}
    for flow, name in zip(flows, names, strict=True):
        workflows.setdefault(flow.document.id, name)
    workflows.pop("", None)
    errors: list[CatalogEntry] = []
    shapes: list[Shape] = []
    processes = []
    for flow, name in zip(flows, names, strict=True):
        reader = _Reader(flow, ids, Bodies(name, workflows, errors))
        processes.append(reader.process(name))
        shapes += reader.shapes
    return Model(
        id=ids.take("Definitions_1"),
        name=flows[0].document.name if len(flows) == 1 else "",
        loc=document.loc(document.root, "$"),
        source=document.file,
        extra=keep_surroundings(document.root, [document_read.path for document_read in documents]),
        processes=tuple(processes),
        catalog=Catalog(errors=tuple(errors)),
        diagram=Diagram(shapes=tuple(shapes)) if ctx.options.get("diagram") else None,
    )


def _process_id(flow: SourceWorkflow, ids: Ids) -> str:
    """The id of the process it was compiled from, else n8n's, else made from the name."""
    wanted = (
        flow.document.map.process or flow.document.id or slug_text(flow.document.name, "workflow")
    )
    return ids.take(wanted)


class _Reader:
    """Reads one workflow."""

    def __init__(self, flow: SourceWorkflow, ids: Ids, bodies: Bodies) -> None:
        self.flow, self.ids = flow, ids
        self.wiring = Wiring(bodies, ids)
        self.shapes: list[Shape] = []
        self.data_flows: list[DataFlow] = []
        self.artifacts: list[Artifact] = []

    def process(self, id: str) -> Process:
        """The process; everything that is odd about the workflow is reported."""
        self._identify_nodes()
        main = [w for w in self.flow.wires if w.kind == "main"]
        other = [w for w in self.flow.wires if w.kind != "main"]
        notes = [n for n in self.flow.nodes if n.short == "stickyNote"]
        apart = {n.place for n in notes} | self._sub_nodes(main, other)
        steps = [n for n in self.flow.nodes if n.place not in apart]
        live = []
        for wire in main:
            if wire.source.place in apart or wire.target.place in apart:
                self.wiring.dead.append((wire, "has an end that is not a step"))
            else:
                live.append(wire)
        self.wiring.build(steps, live)
        noted = {n.place for n in notes}
        serving = [n for n in self.flow.nodes if n.place in apart and n.place not in noted]
        self._serve_steps(other, {n.id for n in serving}, {n.id for n in steps})
        self.artifacts += [_make_annotation(n) for n in notes]
        self._check_start(steps)
        helping = self.wiring.bypasses
        self.shapes = draw_shapes(helping.steps(self.flow.nodes), self.wiring)
        raw = self.flow.document.raw
        named = isinstance(raw.get("name"), str)
        extra = list(keep_entries(raw, _MODELLED if named else _MODELLED[:2]))
        listed = raw.get("nodes")
        odd = [n for n in listed if not isinstance(n, dict)] if isinstance(listed, list) else []
        if "nodes" in raw and not isinstance(listed, list):
            extra.append((extension_key("nodes"), compact_json(listed)))
        extra += [(extension_key("odd-node"), compact_json(n)) for n in odd]
        extra += [(extension_key("lost-wire"), compact_json(w)) for w in self.flow.document.lost]
        extra += [
            (extension_key("dead-wire"), compact_json(_kept_values(wire)))
            for wire, _ in self.wiring.dead
        ]
        extra += [(extension_key("bypass-node"), compact_json(node.raw)) for node in helping.nodes]
        extra += [
            (extension_key("bypass-wire"), compact_json(_kept_values(wire)))
            for wire in helping.wires
        ]
        described = raw.get("description")
        return Process(
            id=id,
            name=self.flow.document.name,
            doc=described if isinstance(described, str) else "",
            loc=self.flow.loc,
            extra=tuple(extra),
            nodes=tuple(self.wiring.nodes),
            flows=tuple(self.wiring.flows),
            data_objects=tuple(_make_served(n) for n in serving),
            data_flows=tuple(self.data_flows),
            artifacts=tuple(self.artifacts),
        )

    def _identify_nodes(self) -> None:
        nodes = self.flow.nodes
        identities, repeated = identify_nodes(nodes, self.flow.document.map, self.ids)
        for node, id in zip(nodes, identities, strict=True):
            node.id = id
        for index in repeated:
            node = nodes[index]
            self.flow.report(
                RepeatedNodeId,
                f"`{node.name}` has the id of another node",
                (*node.path, "id"),
                "change or remove the id",
                node.id,
            )

    def _sub_nodes(self, main: list[Wire], other: list[Wire]) -> set[int]:
        """Nodes that only serve others: on other than main connections, or unconnected and of a
        type that could be nothing else."""
        stepping = {w.source.place for w in main} | {w.target.place for w in main}
        serving = {w.source.place for w in other}
        served = {w.target.place for w in other}
        seen_nodes = set()
        for node in self.flow.nodes:
            if node.place in stepping or node.trigger:
                continue
            alone = node.place not in served and catalogue.looks_like_sub_node(node.type)
            if node.place in serving or alone:
                seen_nodes.add(node.place)
        return seen_nodes

    def _serve_steps(self, wires: list[Wire], serving: set[str], steps: set[str]) -> None:
        """Data associations from what serves to the steps; between others associations."""
        for wire in wires:
            source, target = wire.source.id, wire.target.id
            extra = ((extension_key("wire"), compact_json(_kept_values(wire))),)
            name, loc = wire.kind, wire.source.loc
            id = self.ids.take(f"{source}__{wire.kind}__{target}")
            if source in serving and target in steps:
                self.data_flows.append(
                    DataFlow(id=id, name=name, source=source, target=target, extra=extra, loc=loc)
                )
                continue
            self.artifacts.append(
                Artifact(
                    id=id,
                    name=name,
                    artifact_kind="association",
                    source=source,
                    target=target,
                    direction="one",
                    extra=extra,
                    loc=loc,
                )
            )

    def _check_start(self, steps: list[SourceNode]) -> None:
        if steps and not any(n.starts for n in steps):
            disabled = [n.name for n in steps if n.trigger]
            name = f"the workflow `{self.flow.document.name or self.flow.loc.element}`"
            self.flow.report(
                NoTrigger,
                f"the only trigger of {name} is disabled: `{disabled[0]}`"
                if len(disabled) == 1
                else f"all triggers of {name} are disabled"
                if disabled
                else f"no trigger starts {name}",
                self.flow.document.path,
                "enable it, or add another one" if disabled else "add a trigger",
            )
        for wire, why in self.wiring.dead:
            self.flow.report(
                DeadConnection,
                f"the connection from `{wire.source.name}` to `{wire.target.name}` {why}",
                wire.path,
                "remove it, or connect an output and an input that exist",
                wire.source.id,
            )
        counts: Counter[str] = Counter()
        first: dict[str, SourceNode] = {}
        for node in self.flow.nodes:
            package, _ = catalogue.split_type(node.type)
            if node.type and not catalogue.known_short(node.type):
                counts[package] += 1
                first.setdefault(package, node)
        for package, node in first.items():
            more = f" and {counts[package] - 1} more" if counts[package] > 1 else ""
            what = f"the package `{package}`" if package else "no package"
            self.flow.report(
                UnknownNodePackage,
                f"`{node.name}`{more}: the meaning of {what} nodes is unknown",
                node.path,
                "it is read as a service task; check that it neither starts nor routes the flow",
                node.id,
            )


def _kept_values(wire: Wire) -> list[object]:
    return [wire.source.name, wire.kind, wire.output, wire.raw]


def _make_annotation(node: SourceNode) -> Artifact:
    content = node.parameters.get("content")
    return Artifact(
        id=node.id,
        name=node.name,
        artifact_kind="annotation",
        text=content if isinstance(content, str) else "",
        loc=node.loc,
        extra=kept_node(node.raw, bound=False),
    )


def _make_served(node: SourceNode) -> DataObject:
    return DataObject(
        id=node.id,
        name=node.name,
        doc=node.doc,
        data_kind="object",
        type=node.type or None,
        loc=node.loc,
        extra=kept_node(node.raw, bound=False),
    )
