"""From a procedural graph to a model: missing starts and ends are added, and a step followed by
several conditions gets a gateway; nothing else is changed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from orgflow.backends.triples.format import DEFAULT_MARK, OTHERWISE
from orgflow.frontends.triples.graph_reader import Graph, GraphFlow, GraphNode

from orgflow_ir.model import (
    Artifact,
    DataFlow,
    DataObject,
    Event,
    Flow,
    Gateway,
    Lane,
    Model,
    Node,
    Process,
    Task,
)
from orgflow_ir.model.evidence import SENTENCES
from orgflow_ir.model.source import SourceLocation


def build_model(graph: Graph, file: str) -> Model:
    """The model of one process with one lane per actor."""
    return GraphBuilder(graph, file).model()


class GraphBuilder:
    """Builds the content of one process from its graph."""

    def __init__(self, graph: Graph, file: str) -> None:
        self.graph, self.file = graph, file
        self.ids: dict[str, str] = {}
        self.nodes: list[Node] = []
        self.flows: list[Flow] = []
        self.used: set[str] = {"model", "process"}
        self._deciding: set[str] = set()
        """Gateways that may have a default flow."""
        self._with_default: set[str] = set()

    def model(self) -> Model:
        """The model of one process."""
        process = Process(id="process", **self.content())
        return Model(id="model", source=self.file, processes=(process,))

    def content(self) -> dict[str, Any]:
        """The nodes, flows, lanes and data of the graph."""
        graph = self.graph
        steps = [n for n in graph.nodes.values() if n.kind not in ("data", "note")]
        plain = {n.key for n in steps}
        flows = [f for f in graph.flows if f.source in plain and f.target in plain]
        flows = list({(f.source, f.target, f.label): f for f in flows}.values())  # each once
        asked = self._deciding_steps(steps, flows)
        for node in steps:
            self.add_node(node)
        for node in asked:
            self.nodes.append(
                Gateway(
                    id=self.free_id(f"{node.key} decides"),
                    gateway_kind="exclusive",
                    loc=self.line_location(node.line),
                )
            )
            self.ids[f"{node.key} decides"] = self.nodes[-1].id
        self._connect_steps(steps, flows, {n.key for n in asked})
        objects, links, artifacts = self._build_constraints()
        return {
            "nodes": tuple(self.nodes), "flows": tuple(self.flows), "lanes": self.build_lanes(),
            "data_objects": tuple(objects), "data_flows": tuple(links),
            "artifacts": tuple(artifacts),
        }  # fmt: skip

    def line_location(self, line: int) -> SourceLocation | None:
        return SourceLocation(file=self.file, line=line, column=1) if line else None

    def free_id(self, wanted: str) -> str:
        """An id of letters, digits and underscores that is not taken."""
        base = "".join(c if c.isalnum() and c.isascii() else "_" for c in wanted)[:40].strip("_")
        base = base if base[:1].isalpha() else f"n_{base}"
        id, number = base, 2
        while id in self.used:
            id, number = f"{base}_{number}", number + 1
        self.used.add(id)
        return id

    def _deciding_steps(self, steps: list[GraphNode], flows: list[GraphFlow]) -> list[GraphNode]:
        """Steps with several flows behind them of which one has a condition: those decide."""
        deciding = []
        for node in steps:
            behind = [f for f in flows if f.source == node.key]
            decides = len(behind) > 1 and any(f.label for f in behind)
            if decides and node.kind in ("task", "start"):
                deciding.append(node)
        return deciding

    def add_node(self, node: GraphNode) -> None:
        id = self.ids[node.key] = self.free_id(node.key)
        shared: dict[str, Any] = {
            "id": id,
            "name": node.name,
            "loc": self.line_location(node.line),
        }
        if node.sentences:
            shared["extra"] = ((SENTENCES, ",".join(map(str, node.sentences))),)
        match node.kind:
            case "start" | "end":
                self.nodes.append(Event(position=node.kind, **shared))
            case "task":
                self.nodes.append(Task(**shared))
            case _:
                self.nodes.append(Gateway.validate({"gateway_kind": node.kind, **shared}))

    def has_start(self, steps: list[GraphNode]) -> bool:
        """Whether the lines say where the process begins."""
        return any(node.kind == "start" for node in steps)

    def add_flow(self, source: str, target: str, label: str = "", line: int = 0) -> None:
        id = self.free_id(f"flow_{len(self.flows) + 1}")
        name = label.removesuffix(DEFAULT_MARK).rstrip()
        default = name != label and source in self._deciding and source not in self._with_default
        if default:
            self._with_default.add(source)
            label = "" if name == OTHERWISE else name
        self.flows.append(
            Flow(
                id=id, source=source, target=target, name=label, default=default,
                loc=self.line_location(line),
            )
        )  # fmt: skip

    def _connect_steps(
        self, steps: list[GraphNode], flows: list[GraphFlow], asked: set[str]
    ) -> None:
        behind = Counter(f"{f.source} decides" if f.source in asked else f.source for f in flows)
        kinds = {node.key: node.kind for node in steps} | {
            f"{k} decides": "exclusive" for k in asked
        }
        self._deciding = {
            self.ids[key]
            for key, count in behind.items()
            if count > 1 and kinds[key] in ("exclusive", "inclusive")
        }
        for key in sorted(asked, key=list(self.ids).index):
            self.add_flow(self.ids[key], self.ids[f"{key} decides"])
        for flow in flows:
            source = f"{flow.source} decides" if flow.source in asked else flow.source
            self.add_flow(self.ids[source], self.ids[flow.target], flow.label, flow.line)
        targets = {f.target for f in flows} | {n.key for n in steps if n.kind == "boundary"}
        sources = {f.source for f in flows}
        inner = [n for n in steps if n.kind not in ("start", "end")]
        if not self.has_start(steps):
            first = [n for n in inner if n.key not in targets] or inner[:1]
            for node in first:
                id = self.free_id("start")
                self.nodes.insert(0, Event(id=id, position="start"))
                self.add_flow(id, self.ids[node.key])
        last = [n for n in inner if n.key not in sources]
        given = [n for n in steps if n.kind == "end"]
        for node in last:
            if len(given) == 1:
                self.add_flow(self.ids[node.key], self.ids[given[0].key])
                continue
            id = self.free_id("end")
            self.nodes.append(Event(id=id, position="end"))
            self.add_flow(self.ids[node.key], id)

    def build_lanes(self) -> tuple[Lane, ...]:
        members: dict[str, list[str]] = {}
        names: dict[str, str] = {}
        for node in self.graph.nodes.values():
            if node.actor and node.key in self.ids:
                folded = node.actor.casefold().removeprefix("the ")
                names.setdefault(folded, node.actor)
                members.setdefault(folded, []).append(self.ids[node.key])
        return tuple(
            Lane(
                id=self.free_id(f"lane_{folded}"),
                name=names[folded],
                members=tuple(ids),
                lane_set="lanes",
            )
            for folded, ids in members.items()
        )

    def _build_constraints(self) -> tuple[list[DataObject], list[DataFlow], list[Artifact]]:
        """Data objects with their associations, notes with theirs."""
        objects: list[DataObject] = []
        links: list[DataFlow] = []
        artifacts: list[Artifact] = []
        ids: dict[str, str] = {}
        for node in self.graph.nodes.values():
            if node.kind == "data":
                ids[node.key] = self.free_id(f"data_{node.name}")
                objects.append(DataObject(id=ids[node.key], name=node.name, data_kind="object"))
            elif node.kind == "note":
                ids[node.key] = self.free_id(f"note_{node.name}")
                artifacts.append(
                    Artifact(id=ids[node.key], artifact_kind="annotation", text=node.name)
                )
        for flow in self.graph.flows:
            ends = [self.ids.get(key) or ids.get(key) or "" for key in (flow.source, flow.target)]
            kinds = {self.graph.nodes[key].kind for key in (flow.source, flow.target)}
            if "data" in kinds and "note" not in kinds:
                id = self.free_id(f"uses_{len(links) + 1}")
                links.append(DataFlow(id=id, source=ends[0], target=ends[1]))
            elif "note" in kinds:
                id = self.free_id(f"link_{len(artifacts) + 1}")
                artifacts.append(
                    Artifact(id=id, artifact_kind="association", source=ends[0], target=ends[1])
                )
        return objects, links, artifacts
