"""The model of a page as a picture, and the target nodes of its elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from orgflow.backends.svg.render import element_ids, render_model
from orgflow.evaluation.page import BranchRow, ElementRow, Finding

from orgflow_ir.diagnostics import Diagnostic, Step
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.layout.keep import draw_model
from orgflow_ir.model import (
    CallActivity,
    Event,
    Flow,
    Gateway,
    Model,
    Node,
    Opaque,
    SubProcess,
    Task,
)
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.targets.artifact import SourceMap
from orgflow_ir.work.gateway_decisions import preceding_words, target_words

_ROLES = {
    "trigger": "starts the run",
    "stop": "stops the run if no branch matches",
    "stub": "stops the run: not supported",
    "decide": "decides",
    "branch": "tests one branch",
    "join": "joins some of many branches",
    "pass": "passes on",
}
_FACTOR = "×"


class NodeInfo(NamedTuple):
    """A node of the target: its name, its description, its element, and whether it represents the
    element (or only supports it)."""

    name: str
    what: str
    element: str
    stands: bool


class NodeTable:
    """The nodes of the elements of a model; empty without output.

    Args:
        source_map: the source map of the emitted files.
        target: its name.
    """

    def __init__(self, source_map: SourceMap | None = None, target: str = "") -> None:
        self.target = target
        self.of_node: dict[tuple[str, str], NodeInfo] = {}
        self._of_element: dict[str, list[NodeInfo]] = {}
        for part in source_map.parts if source_map is not None else ():
            if not part.executes:
                continue
            what = f"{part.kind}, {_ROLES[part.role]}" if part.role in _ROLES else part.kind
            for element in part.elements:
                info = NodeInfo(part.name, what, element, part.stands)
                self.of_node.setdefault((part.process, part.name), info)
                self._of_element.setdefault(element, []).append(info)

    def __bool__(self) -> bool:
        return bool(self.of_node)

    def behind(self, element: str) -> tuple[NodeInfo, ...]:
        """The nodes of an element, beginning with the one that represents it."""
        return tuple(sorted(self._of_element.get(element, ()), key=lambda i: not i.stands))


class Canvas:
    """Draws one model many times.

    Args:
        model: not lowered.
        nodes: the nodes of its elements.
    """

    def __init__(self, model: Model, nodes: NodeTable) -> None:
        self.model, self.nodes = model, nodes
        self.drawing = draw_model(model)
        self.drawable = element_ids(model)
        graphs = [ControlFlow(scope) for scope in model.scopes()]
        self.elements: dict[str, Node] = {n.id: n for g in graphs for n in _in_order(g)}
        self.index = ModelIndex(model)
        self._labels = {pool.id: pool.label for pool in model.pools}
        for graph in graphs:
            self._labels.update({n.id: _node_label(n, graph) for n in graph.nodes.values()})
        for message in model.message_flows:
            ends = f"{self.label(message.source)} → {self.label(message.target)}"
            self._labels[message.id] = one_line(message.name) or ends
        for graph in graphs:
            for flow in graph.scope.flows:
                self._labels[flow.id] = self._branch(flow, graph)

    def _branch(self, flow: Flow, graph: ControlFlow) -> str:
        name = " ".join(flow.name.split()) or ("otherwise" if flow.default else "")
        if not name and flow.target in graph.nodes:
            name = target_words(flow, graph)
        return name or self._labels.get(flow.target, flow.id)

    @property
    def width(self) -> float:
        """The size of the picture, in its own units."""
        xs = [s.bounds[0] + s.bounds[2] for s in self.drawing.shapes]
        low = [s.bounds[0] for s in self.drawing.shapes]
        return max(max(xs, default=0) - min(low, default=0) + 80, 320)

    def label(self, element: str) -> str:
        """The label; a flow or a gateway without a name is described by its neighbours."""
        return self._labels.get(element, element)

    def choosing(self) -> list[tuple[Node, tuple[Flow, ...]]]:
        """Elements with a choice, with their outgoing flows, in model order."""
        return [
            (node, out)
            for node in self.elements.values()
            if len(out := self.index.flows_out(node.id)) > 1 and _has_choice(node, out)
        ]

    def taken(self, steps: Iterable[Step], ran: Iterable[str], places: Iterable[str]) -> set[str]:
        """The path of a run: flows, their sources, their targets except `places`, where the run
        waits, and the executed elements."""
        flows = {f for s in steps for f in s.taken}
        known = [self.index.flows[f] for f in flows if f in self.index.flows]
        ends = {f.target for f in known} - set(places)
        return flows | {f.source for f in known} | ends | set(ran)

    def picture(
        self,
        taken: Iterable[str],
        highlights: Mapping[str, str],
        marks: Mapping[str, str],
        words: Mapping[str, Sequence[str]],
    ) -> str:
        """The model as SVG; `words` are further lines for the title of an element."""
        notes: dict[str, str] = {}
        for element in self.drawable:
            lines = [
                f"{self.nodes.target}: {i.name} ({i.what})" for i in self.nodes.behind(element)
            ]
            lines += words.get(element, ())
            if lines:
                notes[element] = "\n".join(lines)
        shown = {e: s for e, s in highlights.items() if e in self.drawable}
        return render_model(
            self.model, drawing=self.drawing, taken=frozenset(taken), highlights=shown,
            marks=marks, notes=notes,
        )  # fmt: skip

    def counts(self, executed: Counter[str], flows: Counter[str]) -> dict[str, str]:
        """Marks for all runs together: every element with a node, and the outgoing flows of
        choices."""
        branches = {f.id for _, out in self.choosing() for f in out}
        marks = {
            e: str(n)
            for e, n in executed.items()
            if n and e in self.elements and not isinstance(self.elements[e], Gateway)
        }
        return marks | {f: str(n) for f, n in flows.items() if n and f in branches}

    def again(self, executed: Counter[str]) -> dict[str, str]:
        """Marks for one run: elements that were executed more than once."""
        return {e: f"{n}{_FACTOR}" for e, n in executed.items() if n > 1}

    def element_rows(self, executed: Counter[str]) -> tuple[ElementRow, ...]:
        """Every node of the model with its target nodes."""
        rows = []
        for node in self.elements.values():
            behind = tuple((i.name, i.what) for i in self.nodes.behind(node.id))
            why = "" if behind or not self.nodes else self._without(node)
            kind = node.construct.replace(".", " ").replace("-", " ")
            rows.append(ElementRow(self.label(node.id), kind, behind, executed[node.id], why))
        return tuple(rows)

    def _without(self, node: Node) -> str:
        if not isinstance(node, Gateway):
            return "none"
        into = len(self.index.flows_in(node.id))
        if into > 1:
            return "none: its incoming flows connect to one input"
        return "none: its outgoing flows come from one output"

    def branch_rows(self, flows: Counter[str], visits: Counter[str]) -> tuple[BranchRow, ...]:
        """How often each branch of each choice was taken; `visits` are those of the choices."""
        rows = []
        for node, out in self.choosing():
            total = visits[node.id]
            for at, flow in enumerate(out):
                count = flows[flow.id]
                percent = round(100 * count / total) if total else 0
                first = at == 0
                rows.append(
                    BranchRow(
                        self.label(node.id), self.label(flow.id), count, percent, first, len(out)
                    )
                )
        return tuple(rows)

    def findings(self, diagnostics: Iterable[Diagnostic]) -> tuple[Finding, ...]:
        """The findings of the checks, as rows."""
        rows = (
            Finding(
                d.code, d.severity.value, d.message,
                self._labels.get(d.element or "", ""),
                d.help or "",
            )
            for d in diagnostics
        )  # fmt: skip
        return tuple(dict.fromkeys(rows))

    def marked(
        self, diagnostics: Iterable[Diagnostic]
    ) -> tuple[dict[str, str], dict[str, list[str]]]:
        """Errors and warnings by element: the highest severity, and the messages."""
        nodes: dict[str, str] = {}
        words: dict[str, list[str]] = {}
        for d in diagnostics:
            severity = d.severity.value
            if d.element is None or severity == "info":
                continue
            words.setdefault(d.element, []).append(f"{d.code}: {d.message}")
            if nodes.get(d.element) != "error":
                nodes[d.element] = severity
        return nodes, words


def _in_order(graph: ControlFlow) -> list[Node]:
    """The nodes as a reader meets them: from the starts on, breadth first."""
    nodes: dict[str, Node] = {}
    first = [n for n in graph.nodes if not graph.into[n]]
    for begin in (*first, *graph.nodes):
        work = [] if begin in nodes else [begin]
        nodes.setdefault(begin, graph.nodes[begin])
        for node in work:
            for arc in graph.out[node]:
                if arc.target not in nodes:
                    nodes[arc.target] = graph.nodes[arc.target]
                    work.append(arc.target)
    return list(nodes.values())


def _node_label(node: Node, graph: ControlFlow) -> str:
    if one_line(node.name) or not isinstance(node, Gateway):
        return one_line(node.name) or node.label
    out = graph.flows_out(node.id)
    if len(out) > 1:
        words = preceding_words(node.id, graph)
        kind = "Split" if node.gateway_kind == "parallel" else "Choice"
        return f"{kind} after {words}" if words else node.label
    words = target_words(out[0], graph) if out else ""
    return f"Join before {words}" if words else node.label


def flow_counts(steps: Iterable[Step]) -> Counter[str]:
    """The number of times that each flow was taken."""
    return Counter(f for s in steps for f in s.taken)


def visit_counts(steps: Iterable[Step]) -> Counter[str]:
    """The number of times that each element passed something on."""
    return Counter(s.element for s in steps if s.taken)


def _has_choice(node: Node, out: Sequence[Flow]) -> bool:
    match node:
        case Gateway():
            return node.gateway_kind != "parallel"
        case Task() | CallActivity() | SubProcess() | Event() | Opaque():
            return any(f.condition is not None for f in out)
        case _:
            assert_never(node)
