"""The backend `dot`: a model as a Graphviz drawing; every construct has a shape."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Model,
    Node,
    Opaque,
    Pool,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.element_names import one_line, slug
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Backend
from orgflow_ir.targets import Artifact, Emitted, Illegal, Legal, Part, SourceMap, TargetSpec

_MARKS = {"exclusive": "X", "parallel": "+", "inclusive": "O", "event": "E", "complex": "*"}

TARGET = TargetSpec(
    name="dot",
    constructs={
        "task": Legal(),
        "activity.compensation": Legal("a step that no flow leads to"),
        "activity.quantity": Illegal("a drawing does not show how many tokens a step takes"),
        "call-activity": Legal("a step with a double border"),
        "sub-process": Legal("a box around its steps"),
        "loop": Legal("a word under the label"),
        "event": Legal("a circle with what it waits for or throws"),
        "gateway": Legal("a diamond with its sign"),
        "flow": Legal(),
        "pool": Legal("a box"),
        "lane": Legal("a word under the label of each step in it"),
        "data": Legal("a note"),
        "artifact": Legal("a note"),
        "opaque.harmless": Legal("left out: it says nothing about the process"),
        "opaque.illegal": Illegal("orgflow does not know what it means"),
    },
    executes=False,
)


class DotBackend(Backend):
    """One `.dot` file for the whole model, pools and message flows included."""

    name = "dot"
    summary = "a Graphviz drawing"

    @property
    def target(self) -> TargetSpec:
        """All that has a shape."""
        return TARGET

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """The drawing."""
        name = slug(model.name or model.id)[:60] or "model"
        text = "\n".join(["digraph {", *(f"  {line}" for line in _lines(model)), "}", ""])
        path = f"{name}.dot"
        return Emitted((Artifact(path, text),), SourceMap(model, lambda: _parts(model, path)))


def _parts(model: Model, path: str) -> Iterator[Part]:
    """Nodes by their names in the drawing; lines between them have none."""
    for process in model.processes:
        yield Part(path, f"cluster {process.id}", "shape", (process.id,), process.label)
        for scope in process.scopes():
            for node in scope.nodes:
                yield Part(path, node.id, "shape", source_ids(node), node.label, node.construct)


def quoted(text: str) -> str:
    """A string of DOT. Backslashes are doubled: `\\N` would mean the node's name there."""
    said = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{said}"'


def _label(*words: str) -> str:
    """Words on lines of their own."""
    return "\\n".join(quoted(w)[1:-1] for w in words if w.strip())


def _lines(model: Model) -> Iterator[str]:
    yield f"label={quoted(model.name or model.id)};"
    yield "rankdir=LR;"
    yield 'node [shape=box, style=rounded, fontname="sans-serif"];'
    yield 'edge [fontname="sans-serif"];'
    pools = {pool.process: pool for pool in model.pools if pool.process is not None}
    for process in model.processes:
        yield from _box(process, pools.get(process.id))
    drawn = {process.id for process in model.processes}
    for pool in model.pools:
        if pool.process not in drawn:
            yield f'{quoted(pool.id)} [label="{_label(pool.label)}", shape=box3d];'
    for flow in model.message_flows:
        name = _label(flow.name)
        ends = f"{quoted(_end(flow.source, pools))} -> {quoted(_end(flow.target, pools))}"
        yield f'{ends} [label="{name}", style=dashed, arrowhead=empty];'
    for note in model.artifacts:
        yield from _note(note.id, note.text or note.name)


def _end(id: str, pools: dict[str, Pool]) -> str:
    """A pool that is drawn as a box cannot be the end of an edge; its first node stands for it."""
    return next((f"box {p}" for p, pool in pools.items() if pool.id == id), id)


def _box(process: Process, pool: Pool | None) -> Iterator[str]:
    yield f"subgraph {quoted(f'cluster {process.id}')} {{"
    yield f'  label="{_label(pool.label if pool is not None else process.name)}";'
    yield f"  {quoted(f'box {process.id}')} [style=invis, shape=point];"
    yield from (f"  {line}" for line in _scope(process))
    yield "}"


def _scope(scope: Scope) -> Iterator[str]:
    lanes = {member: lane.label for lane in scope.lanes for member in lane.members}
    for node in scope.nodes:
        if isinstance(node, SubProcess):
            yield f"subgraph {quoted(f'cluster {node.id}')} {{"
            words = (node.label, _flavour(node), lanes.get(node.id, ""))
            yield f'  label="{_label(*words)}"; style=rounded;'
            yield f'  {quoted(node.id)} [label="", shape=point];'
            yield from (f"  {line}" for line in _scope(node))
            yield "}"
        elif not isinstance(node, Opaque):
            yield _node(node, lanes.get(node.id, ""))
        if isinstance(node, Event) and node.attached_to is not None:
            yield f"{quoted(node.attached_to)} -> {quoted(node.id)} [style=dotted, arrowhead=none];"
    for flow in scope.flows:
        condition = flow.condition.text if flow.condition is not None else ""
        words = (flow.name or condition, "(otherwise)" if flow.default else "")
        ends = f"{quoted(flow.source)} -> {quoted(flow.target)}"
        yield f'{ends} [label="{_label(*words)}"];'
    for data in scope.data_objects:
        yield from _note(data.id, data.label)
    for link in scope.data_flows:
        yield f"{quoted(link.source)} -> {quoted(link.target)} [style=dotted];"
    for note in scope.artifacts:
        if note.source and note.target:
            yield f"{quoted(note.source)} -> {quoted(note.target)} [style=dotted, arrowhead=none];"
        else:
            yield from _note(note.id, note.text or note.name)


def _node(node: Node, lane: str) -> str:
    match node:
        case Gateway():
            label = _label(_MARKS[node.gateway_kind], node.name)
            shape = "shape=diamond, style=solid"
        case Event():
            trigger = "" if node.trigger == "none" else node.trigger.replace("-", " ")
            label = _label(node.name, trigger)
            wide = {"end": ", penwidth=3", "catch": ", peripheries=2"}.get(node.position, "")
            shape = f"shape=circle, style={'solid' if node.interrupting else 'dashed'}{wide}"
        case Task():
            kind = "" if node.task_type == "abstract" else f"({node.task_type})"
            label, shape = _label(node.label, kind, _loop(node)), ""
        case CallActivity():
            called = f"calls {node.called}" if node.called else ""
            label, shape = _label(node.label, called, _loop(node)), "peripheries=2"
        case _:
            raise AssertionError(node.kind)
    label = "\\n".join(part for part in (label, _label(f"[{lane}]" if lane else "")) if part)
    attributes = ", ".join(part for part in (f'label="{label}"', shape) if part)
    return f"{quoted(node.id)} [{attributes}];"


def _loop(node: Task | CallActivity | SubProcess) -> str:
    if node.loop is None:
        return ""
    if node.loop.kind == "standard":
        return "again and again"
    return "each in turn" if node.loop.sequential else "all at once"


def _flavour(node: SubProcess) -> str:
    flavour = "" if node.flavour == "plain" else f"({node.flavour})"
    return " ".join(word for word in (flavour, _loop(node)) if word)


def _note(id: str, text: str) -> Iterator[str]:
    yield f'{quoted(id)} [label="{_label(text)}", shape=note, style=solid];'
