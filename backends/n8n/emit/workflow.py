"""From graph to workflow: positions, sticky notes, identity, connections."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.emit.compiled import CompiledScope
from orgflow.backends.n8n.emit.layout import (
    COLUMN,
    GRID,
    NODE,
    ROW,
    assign_cells,
    find_lift,
    group_rows_by_lane,
)
from orgflow.backends.n8n.emit.output_order import order_outputs
from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.emit.printers import PlanPrinter
from orgflow.backends.n8n.emit.source_layout import from_diagram
from orgflow.backends.n8n.format.document import Node, Settings, Workflow, node_type, node_uuid
from orgflow.backends.n8n.format.identity import map_line, tag_line
from orgflow.backends.n8n.format.merge_base import keep_base, pack_base
from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.node_types import code, sticky_note
from orgflow.backends.n8n.node_types.type_versions import type_version
from orgflow.backends.n8n.plan.actions import (
    CALLED_FROM_OUTSIDE,
    KEEPS,
    REPLACED,
    Join,
    Placeholder,
    SetDecision,
)
from orgflow.backends.n8n.plan.graph import NodeKey, PlanNode, Port, most_ports
from orgflow.backends.n8n.plan.names import literal, plain, quoted
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.scopes import MOST_NAME
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.plan.target_options import CALLERS, ERRORS, TIMEOUT, seconds_of

from orgflow_ir.model import Event, Lane, Model, Task
from orgflow_ir.model.value import Value

_LANE_COLOURS = (7, 4, 5, 6, 3, 2)
_MARGIN = 80
_ABOVE = 64
"""Between the edge of a lane and its first row."""

_USUAL = 2
_LIST = 12
_ROOM = 88
"""Number of characters in a line of the note above the workflow, including markup."""
_NO_CODE = (
    f"- A Code node in place of a placeholder needs task runners (`{code.RUNNERS}`): "
    "without them, n8n 1 hides its output from expressions"
)
_KEEP = "Keep this note: orgflow reads it when it updates this workflow."


def model_hash(model: Model) -> str:
    """12 hex digits that depend on the content of the model, not on its order in a file."""
    fields = model.stated()  # as in the text form of the IR, but for where values stand
    fields.pop("diagram", None)
    text = json.dumps(fields, default=Value.stated, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def build_workflow(plan: ScopePlan, digest: str, version: N8nVersion) -> CompiledScope:
    """The workflow of one plan, in file form."""
    seed = plan.scope.seed
    positions, bands = _place_nodes(plan)
    order_outputs(plan, positions)
    boxes, stickies = [], {}
    for name, element, box in _place_stickies(plan, positions, bands, digest, version):
        boxes.append((plan.workflow_graph.names.take(name), box))
        stickies[boxes[-1][0]] = element
    printer = PlanPrinter(plan)
    nodes = [
        _build_node(node, printer, positions[node.key], seed, version)
        for node in plan.workflow_graph.nodes.values()
    ]
    connections, wired = _connect_nodes(plan, positions)
    workflow: Workflow = {
        "id": plan.scope.workflow_id,
        "name": plan.scope.title[:MOST_NAME],
        "nodes": [*(_build_sticky(name, box, seed, version) for name, box in boxes), *nodes],
        "connections": connections,
        "settings": _settings_of(plan),
    }
    base = pack_base(workflow)
    keep_base(workflow, base)
    return CompiledScope(plan, workflow, base, stickies, wired)


# -- positions -------------------------------------------------------------------------------------


def _lane_of(plan: ScopePlan) -> dict[str, str]:
    """Innermost lane of each element; elements in none are missing."""
    result: dict[str, str] = {}
    depth: dict[str, int] = {}
    lanes = {lane.id: lane for lane in plan.scope.lanes}
    for lane in plan.scope.lanes:
        level, parent, seen = 0, lane.parent, {lane.id}
        while parent in lanes and parent not in seen:
            seen.add(parent)
            level, parent = level + 1, lanes[parent].parent
        for member in lane.members:
            if member not in result or depth[member] < level:
                result[member], depth[member] = lane.id, level
    return result


def _place_nodes(
    plan: ScopePlan,
) -> tuple[dict[NodeKey, tuple[int, int]], dict[str, tuple[int, int]]]:
    """The top left corner of each node, and top and bottom of each lane with nodes."""
    workflow_graph = plan.workflow_graph
    ports = {k: n for k, node in workflow_graph.nodes.items() if (n := most_ports(node)) > _USUAL}
    drawn = from_diagram(plan.scope, workflow_graph, ports)
    if drawn is not None:
        return drawn.positions, drawn.lanes
    triggers = [k for k, n in workflow_graph.nodes.items() if n.role == "trigger"]
    rest = [k for k, n in workflow_graph.nodes.items() if n.role != "trigger"]
    stops = {k for k, n in workflow_graph.nodes.items() if n.role == "stop"}
    wires = sorted(workflow_graph.wires, key=lambda w: (w[1].node in stops, w[0].number))
    choices = [g for g, d in plan.decisions.items() if not d.several]
    late = {key for key, node in workflow_graph.nodes.items() if node.role == "data"}
    cells = assign_cells(
        [*triggers, *rest], [(a.node, b.node) for a, b in wires], ports, choices, late
    )
    lane_of = _lane_of(plan)
    bands: dict[str, tuple[int, int]] = {}
    if lane_of:
        member = {k: lane_of.get(n.element, "") for k, n in workflow_graph.nodes.items()}
        order = [lane.id for lane in plan.scope.lanes]
        cells, bands = group_rows_by_lane(cells, member, ["", *order], ports)
        bands.pop("", None)
    positions = {k: (c * COLUMN, r * ROW) for k, (c, r) in cells.items()}
    for k, count in ports.items():
        x, y = positions[k]
        positions[k] = (x, y - find_lift(count))
    edges = {n: (a * ROW - _ABOVE, (b + 1) * ROW - _ABOVE) for n, (a, b) in bands.items()}
    return positions, edges


# -- nodes and wires -------------------------------------------------------------------------------


def _build_node(
    planned: PlanNode,
    printer: PlanPrinter,
    position: tuple[int, int],
    seed: str,
    version: N8nVersion,
) -> Node:
    printed = printer.print_action(planned)
    result: Node = {
        "id": node_uuid(f"{seed}/{planned.key}"),
        "name": planned.name,
        "type": node_type(printed.type),
        "typeVersion": printed.version or type_version(printed.type, version),
        "position": [*position],
        "parameters": _adapt_parameters(printed, version),
    }
    kind = node_types.find_type(printed.type)
    if (kind is not None and kind.once) or isinstance(planned.action, KEEPS):
        result["executeOnce"] = True
    elif _is_replaced(planned, printer.plan):
        result["executeOnce"] = result["alwaysOutputData"] = True
    if planned.role == "element" and planned.element in printer.plan.named_work:
        result["alwaysOutputData"] = True
    result.update(printed.switches)  # type: ignore[typeddict-item]  # names of fields of nodes
    if planned.fails_over:
        result["onError"] = "continueErrorOutput"
        # with it n8n would send an empty item on where all items have failed
        result.pop("alwaysOutputData", None)
    if isinstance(planned.action, CALLED_FROM_OUTSIDE):
        result["webhookId"] = node_uuid(f"{seed}/{planned.key}/webhook")
    role = "" if planned.represents else planned.role
    result["notes"] = "\n\n".join([*planned.notes, tag_line(planned.element, role)])
    return result


def _adapt_parameters(printed: Printed, version: N8nVersion) -> dict[str, Any]:
    if printed.type == code.NODE.name and printed.version is None and version.major < 2:
        return code.visible_code(printed.parameters)
    return printed.parameters


def _is_replaced(planned: PlanNode, plan: ScopePlan) -> bool:
    """Whether a person puts a node in its place, which may hand on no item, or several."""
    if planned.role != "element":
        return isinstance(planned.action, SetDecision)
    if isinstance(planned.action, SetDecision):
        return True
    if planned.element in plan.forms:
        return planned.key == planned.element
    if not isinstance(planned.action, Placeholder):
        return False
    element = plan.graph.nodes[planned.element]
    if isinstance(element, Event):
        return element.position == "throw" and element.trigger in ("message", "signal")
    return isinstance(element, Task)


_Wire = tuple[tuple[int, int, int], Port, str | None]
"""The sort key of a wire among those of its output, the end of the wire, and its flow, if any."""


def _connect_nodes(
    plan: ScopePlan, positions: dict[NodeKey, tuple[int, int]]
) -> tuple[dict[str, Any], dict[tuple[str, int, int], str]]:
    """Connections, and the flows of those that have one: wires per output, top target first, since
    that is the order in which n8n runs them."""
    nodes = plan.workflow_graph.nodes
    inputs = _inputs_from_top(plan, positions)
    outputs: dict[NodeKey, dict[int, list[_Wire]]] = {}
    for (source, target), flow in plan.workflow_graph.wires.items():
        x, y = positions[target.node]
        wire = ((y, x, target.number), target, flow)
        outputs.setdefault(source.node, {}).setdefault(source.number, []).append(wire)
    result: dict[str, Any] = {}
    wired: dict[tuple[str, int, int], str] = {}
    for key, node in nodes.items():
        if key not in outputs:
            continue
        by_index = outputs[key]
        main: list[list[dict[str, Any]]] = []
        for index in range(max(by_index) + 1):
            wires = by_index.get(index, [])
            if len(wires) > 1:
                wires.sort(key=itemgetter(0))
            ends = []
            for position, (_, target, flow) in enumerate(wires):
                if flow is not None:
                    wired[(node.name, index, position)] = flow
                number = inputs.get(target, target.number) if inputs else target.number
                ends.append({"node": nodes[target.node].name, "type": "main", "index": number})
            main.append(ends)
        result[node.name] = {"main": main}
    return result, wired


def _inputs_from_top(plan: ScopePlan, positions: dict[NodeKey, tuple[int, int]]) -> dict[Port, int]:
    """Inputs of Merges renumbered from top to bottom by where their wires come from."""
    height: dict[NodeKey, dict[int, tuple[int, int]]] = {}
    for source, target in plan.workflow_graph.wires:
        if isinstance(plan.workflow_graph.nodes[target.node].action, Join):
            x, y = positions[source.node]
            seen = height.setdefault(target.node, {})
            seen[target.number] = min(seen.get(target.number, (y, x)), (y, x))
    result: dict[Port, int] = {}
    for key, tops in height.items():
        for new, old in enumerate(sorted(tops, key=lambda i: (tops[i], i))):
            result[Port(key, old)] = new
    return result


# -- sticky notes ----------------------------------------------------------------------------------

_Box = tuple[str, int, int, int, int, int]
"""Content, left, top, width, height, colour."""


def _place_stickies(
    plan: ScopePlan,
    positions: dict[NodeKey, tuple[int, int]],
    bands: dict[str, tuple[int, int]],
    digest: str,
    version: N8nVersion,
) -> list[tuple[str, str, _Box]]:
    """Name, element and box of each sticky note."""
    xs = [x for x, _ in positions.values()] or [0]
    ys = [y for _, y in positions.values()] or [0]
    left, right = min(xs) - _MARGIN, max(xs) + NODE + 2 * _MARGIN
    tops = [top for top, _ in bands.values()]
    top = min([min(ys) - _MARGIN, *tops])
    boxes: list[tuple[str, str, _Box]] = []
    lanes = {lane.id: lane for lane in plan.scope.lanes}
    indent = 176 if bands else 0
    pools = plan.scope.model.pools
    pool = next((p for p in pools if p.process == plan.process.id), None)
    for index, (lane, (upper, lower)) in enumerate(
        sorted(bands.items(), key=lambda item: (item[1], item[0]))
    ):
        colour = _LANE_COLOURS[index % len(_LANE_COLOURS)]
        heading = _make_heading(lanes[lane])
        boxes.append(
            (
                f"Lane {heading}",
                lane,
                (
                    f"### {literal(heading)}",
                    left - indent,
                    upper,
                    right - left + indent,
                    lower - upper,
                    colour,
                ),
            )
        )
    if plan.groups:
        from orgflow.backends.n8n.emit.group_notes import COLOUR, place_group
    for group in plan.groups:
        at = place_group(group, plan.workflow_graph, positions)
        if at is not None:
            top = min(top, at[1])
            content = f"### {literal(group.title)}"
            boxes.append((f"Part {group.title}", group.sub.id, (content, *at, COLOUR)))
    name = plain(pool.name) if pool else ""
    summary = _write_summary(plan, plan.scope.title, name, left - indent, top, digest, version)
    boxes.append(("About this workflow", plan.scope.body.id, summary))
    return boxes


def _make_heading(lane: Lane) -> str:
    return plain(lane.caption).lstrip("#") or lane.id


def _write_summary(
    plan: ScopePlan,
    title: str,
    pool: str,
    left: int,
    top: int,
    digest: str,
    version: N8nVersion,
) -> _Box:
    """The note above the workflow: what it is, what is left to do, and, not shown, the map."""
    lines = [f"## {literal(title)}"]
    if pool and pool not in title:
        lines.append(f"Pool: {literal(pool)}")
    todo = [*_list_remaining_work(plan, version)]
    if len(todo) > _LIST:
        todo = [*todo[: _LIST - 1], f"- … and {len(todo) - _LIST + 1} more (see the notes)"]
    if todo:
        lines += ["", "**Remaining work**", *todo]
    doc = plan.scope.body.doc.strip()
    if doc:
        lines += ["", *map(literal, doc.splitlines())]
    for node in plan.scope.body.nodes:
        if node.id in plan.silent and node.doc.strip():  # no node of the workflow shows it
            lines += ["", f"**{literal(node.label)}**"]
            lines += map(literal, node.doc.strip().splitlines())
    lines += ["", _KEEP]
    height = _measure_height(lines)
    content = "\n".join([*lines, "", _write_map(plan, digest)])
    return (content, left, top - height - 48, 736, height, 7)


def _list_remaining_work(plan: ScopePlan, version: N8nVersion) -> Iterator[str]:
    """What is left to do, a line each."""
    for decision in plan.decisions.values():
        if decision.values:
            what = "a list of" if decision.several else "one of"
            values = ", ".join(map(quoted, decision.values))
            setter = plan.name_of(decision.setter)
            yield f"- **{literal(setter)}** sets `{decision.variable}` to {what} {values}"
    tasks = {n.id for n in plan.scope.body.nodes if n.kind == "task"}
    nodes = (n for n in plan.with_role("element", "decide") if isinstance(n.action, REPLACED))
    places = [node.name for node in nodes if node.element in tasks]
    if places:
        yield f"- Placeholders to fill: {_join_names(places)}"
    if places and version.major < 2:
        yield _NO_CODE
    works = dict.fromkeys(f"{work.name} ({work.kind})" for work in plan.named_work.values())
    if works:
        yield f"- Workflows to implement: {_join_names([*works])}"


def _join_names(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(f"**{literal(name)}**" for name in names[:_LIST])
    return f"{shown} and {len(names) - _LIST} more" if len(names) > _LIST else shown


def _measure_height(lines: Sequence[str]) -> int:
    """Of a note whose first line is its title, as the editor sets it: a line of text is 20 high,
    and so is the space between two paragraphs, of which one is the title."""
    rows = sum(1 + len(line) // _ROOM for line in lines if line)
    return -(-(32 + 20 * (rows + lines.count(""))) // GRID) * GRID


def _write_map(plan: ScopePlan, digest: str) -> str:
    """The line with the identity map."""
    mapping = {n.name: n.element for n in plan.workflow_graph.nodes.values() if n.represents}
    scope: dict[str, Any] = {}
    if plan.scope.called:
        scope["scope"] = plan.scope.body.id
    once = plan.scope.together.get(plan.process.id)
    if once is not None and not plan.scope.called:
        scope["returns"] = list(once.names)
    if not plan.scope.shared and (options := N8N_TARGET.changed_options(plan.ctx.options)):
        scope["options"] = options
    return map_line({"model": digest, "process": plan.process.id, **scope, "nodes": mapping})


def _build_sticky(name: str, box: _Box, seed: str, version: N8nVersion) -> Node:
    content, x, y, width, height, colour = box
    return {
        "id": node_uuid(f"{seed}/note/{name}"),
        "name": name,
        "type": node_type("stickyNote"),
        "typeVersion": type_version("stickyNote", version),
        "position": [x, y],
        "parameters": sticky_note.note_parameters(content, width, height, colour),
    }


def _settings_of(plan: ScopePlan) -> Settings:
    """The settings of the workflow of a scope, according to the options."""
    scope, options = plan.scope, plan.ctx.options
    settings: Settings = {"executionOrder": "v1"}
    if plan.has_effects:  # what a crashed run has done is not done again by its retry
        settings["saveExecutionProgress"] = True
    limit = options.get(TIMEOUT)
    if limit is not None and (seconds := seconds_of(str(limit))) is not None:
        settings["executionTimeout"] = seconds
    # What several models call fails its callers, each of which reports to its own.
    if options.get(ERRORS) == "workflow" and not (scope.on_error or scope.shared):
        from orgflow.backends.n8n.plan.failure_report import failure_scope

        settings["errorWorkflow"] = failure_scope(scope.model).workflow_id
    if options.get(CALLERS) == "model":
        called = scope.started_by_call or scope.begun_by_message or scope.on_error
        settings["callerPolicy"] = "workflowsFromSameOwner" if called else "none"
    return settings
