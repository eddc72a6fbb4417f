"""Mutators for what people do in n8n's editor beyond moving things: fill steps in, add nodes, set
options, rewrite expressions."""

from __future__ import annotations

import copy

from mutant_edits import add_noop, conditions_of, lead_through
from mutant_flow import Draft, Json, fresh_id, pick
from orgflow.backends.n8n.format.document import is_trigger, short_type
from orgflow.backends.n8n.format.identity import tag_of
from orgflow.backends.n8n.format.references import references_in
from orgflow.backends.n8n.node_types.ports import inputs_of, outputs_of

_PREFIX = "n8n-nodes-base."

_BODIES: tuple[tuple[str, float, Json], ...] = (
    ("code", 2, {"jsCode": "return $input.all();"}),
    ("code", 2, {"jsCode": "return [{ json: { done: true } }];"}),
    (
        "set",
        3.5,
        {
            "assignments": {
                "assignments": [{"id": "1", "name": "done", "value": "yes", "type": "string"}]
            },
            "includeOtherFields": False,
            "options": {},
        },
    ),
    ("noOp", 1, {}),
)
"""Steps that hand on each item once; some keep its fields and some do not."""

_WAIT: Json = {"resume": "timeInterval", "amount": 2, "unit": "hours"}


def _placeholders(draft: Draft) -> dict[str, Json]:
    """Nodes that hold the place of a step, by name."""
    rows = draft.of_type("noOp")
    tags = {name: tag_of(row.get("notes")) for name, row in rows.items()}
    return {name: row for name, row in rows.items() if (tag := tags[name]) is None or not tag[1]}


def fill_in(draft: Draft) -> str | None:
    """A placeholder gets a body, under its name."""
    name = pick(draft, _placeholders(draft))
    if name is None:
        return None
    kind, version, parameters = pick(draft, _BODIES[:-1])
    node = draft.nodes[name]
    node |= {"type": _PREFIX + kind, "typeVersion": version, "parameters": parameters}
    return f"{name} is filled in with {kind} {parameters.get('jsCode', '')}".rstrip()


def fill_in_all(draft: Draft) -> str | None:
    """Every placeholder gets a body."""
    placeholders = _placeholders(draft)
    for node in placeholders.values():
        kind, version, parameters = pick(draft, _BODIES[:-1])
        node |= {"type": _PREFIX + kind, "typeVersion": version, "parameters": parameters}
    return f"filled in {', '.join(placeholders)}" if placeholders else None


def add_real_step(draft: Draft) -> str | None:
    """A step that does something is put on an edge, or one that is switched off."""
    wire = pick(draft, draft.wires())
    if wire is None:
        return None
    kind, version, parameters = pick(draft, _BODIES)
    made = add_noop(draft, "Write log", draft.nodes[wire.target])
    node = draft.nodes[made]
    node |= {"type": _PREFIX + kind, "typeVersion": version, "parameters": parameters}
    if draft.rng.random() < 0.25:
        node["disabled"] = True
    lead_through(draft, wire, made)
    off = " (off)" if "disabled" in node else ""
    return f"added {made}, {kind}{off}, on {wire}"


def add_wait(draft: Draft) -> str | None:
    """A Wait is put on an edge."""
    wire = pick(draft, draft.wires())
    if wire is None:
        return None
    made = add_noop(draft, "Cool down", draft.nodes[wire.target])
    node = draft.nodes[made]
    node |= {"type": _PREFIX + "wait", "typeVersion": 1.1, "parameters": dict(_WAIT)}
    lead_through(draft, wire, made)
    return f"added a wait on {wire}"


def add_guard(draft: Draft) -> str | None:
    """An If is put on an edge, and what does not fit it ends there."""
    wire = pick(draft, draft.wires())
    if wire is None:
        return None
    made = add_noop(draft, "Only if urgent", draft.nodes[wire.target])
    condition = {
        "id": "1",
        "leftValue": "={{ $json.urgent }}",
        "rightValue": "",
        "operator": {"type": "boolean", "operation": "true", "singleValue": True},
    }
    options = {"caseSensitive": True, "leftValue": "", "typeValidation": "loose", "version": 2}
    filter_ = {"options": options, "conditions": [condition], "combinator": "and"}
    draft.nodes[made] |= {
        "type": _PREFIX + "if",
        "typeVersion": 2.3,
        "parameters": {"conditions": filter_, "looseTypeValidation": True, "options": {}},
    }
    lead_through(draft, wire, made)
    return f"added an If on {wire}"


def add_merge(draft: Draft) -> str | None:
    """Ways that met in an input are joined by a Merge, so that one waits for the other."""
    entries: dict[tuple[str, int], int] = {}
    for wire in draft.wires():
        port = (wire.target, wire.slot)
        entries[port] = entries.get(port, 0) + 1
    port = pick(draft, [p for p, count in entries.items() if 2 <= count <= 10])
    if port is None:
        return None
    made = add_noop(draft, "Merge", draft.nodes[port[0]])
    parameters = {
        "mode": "combine",
        "combineBy": "combineByPosition",
        "numberInputs": entries[port],
        "options": {},
    }
    draft.nodes[made] |= {"type": _PREFIX + "merge", "typeVersion": 3.2, "parameters": parameters}
    slot = 0
    for kinds in draft.workflow["connections"].values():
        for wires in kinds["main"]:
            for end in wires:
                if (end["node"], end["index"]) == port:
                    end["node"], end["index"] = made, slot
                    slot += 1
    draft.connect(made, 0, *port)
    return f"added a Merge before {port[0]}"


def dangle(draft: Draft) -> str | None:
    """An edge comes from an output, or goes into an input, that its node does not have."""
    wire = pick(draft, draft.wires())
    if wire is None:
        return None
    draft.cut(wire)
    if draft.rng.random() < 0.5:
        output = (outputs_of(draft.nodes[wire.source]) or 1) + 1
        draft.connect(wire.source, output, wire.target, wire.slot)
        return f"moved {wire} to output {output}"
    index = (inputs_of(draft.nodes[wire.target]) or 1) + 1
    draft.connect(wire.source, wire.output, wire.target, index)
    return f"moved {wire} to input {index}"


def error_handling(draft: Draft) -> str | None:
    """A node goes on after its error, or tries again."""
    name = pick(draft, draft.steps)
    if name is None:
        return None
    change: Json = pick(
        draft,
        (
            {"onError": "continueRegularOutput"},
            {"onError": "continueErrorOutput"},
            {"retryOnFail": True, "maxTries": 2, "waitBetweenTries": 0},
        ),
    )
    draft.nodes[name] |= change
    return f"{name}: {change}"


def add_trigger(draft: Draft) -> str | None:
    """A second trigger starts the same. No program reads the first one by its name: n8n ends a run
    that reads a node which it did not execute."""
    read = {name for node in draft.nodes.values() for name in references_in(node["parameters"])}
    name = pick(draft, [n for n, node in draft.nodes.items() if is_trigger(node) and n not in read])
    if name is None:
        return None
    made = add_noop(draft, "Every Monday", draft.nodes[name])
    rule = {"interval": [{"field": "weeks"}]}
    draft.nodes[made] |= {
        "type": _PREFIX + "scheduleTrigger",
        "typeVersion": 1.2,
        "parameters": {"rule": rule},
    }
    wires = copy.deepcopy(draft.workflow["connections"].get(name, {"main": []}))
    draft.workflow["connections"][made] = wires
    return f"added a trigger that starts as {name} does"


def change_trigger(draft: Draft) -> str | None:
    """What was started by hand is started by a call or on schedule; by a call only where no
    condition reads the item, since what is sent is under `body`."""
    name = pick(draft, draft.of_type("manualTrigger"))
    if name is None:
        return None
    kinds: list[tuple[str, float, Json]] = [
        ("scheduleTrigger", 1.2, {"rule": {"interval": [{"field": "weeks"}]}}),
        ("webhook", 2.1, {"httpMethod": "POST", "path": "start-here", "options": {}}),
    ]
    decided = [c for n in draft.of_type("if", "switch").values() for c in conditions_of(n)]
    reads = any("$json" in str(c["leftValue"]) for c in decided)
    kind, version, parameters = pick(draft, kinds[:1] if reads else kinds)
    draft.nodes[name] |= {
        "type": _PREFIX + kind,
        "typeVersion": version,
        "parameters": parameters,
        "webhookId": fresh_id(draft.rng),
    }
    return f"{name} is a {kind}"


def rephrase(draft: Draft) -> str | None:
    """A condition is written otherwise and means the same."""
    found = [
        (name, c)
        for name, node in draft.of_type("if", "switch").items()
        for c in conditions_of(node)
        if c["leftValue"].startswith("={{ ")
    ]
    choice = pick(draft, found)
    if choice is None:
        return None
    name, condition = choice
    inner = condition["leftValue"][4:-3]
    condition["leftValue"] = pick(
        draft,
        ("={{ (" + inner + ") }}", "={{   " + inner + "   }}", "={{ " + inner + " ?? null }}"),
    )
    return f"{name} tests {condition['leftValue']}"


def filter_options(draft: Draft) -> str | None:
    """The options by which an If or Switch compares are changed."""
    name = pick(draft, draft.of_type("if", "switch"))
    if name is None:
        return None
    parameters = draft.nodes[name]["parameters"]
    rules = parameters.get("rules", {}).get("values", [])
    filter_ = pick(draft, [r["conditions"] for r in rules] or [parameters["conditions"]])
    if draft.rng.random() < 0.5:
        filter_["options"]["caseSensitive"] = False
        return f"{name} ignores case"
    filter_["combinator"] = "or"
    return f"{name} combines by or"


def nulls(draft: Draft) -> str | None:
    """Outputs without wires are null, as n8n's editor writes them."""
    for kinds in draft.workflow["connections"].values():
        kinds["main"] = [wires or None for wires in kinds["main"]]
    for name, node in draft.nodes.items():
        missing = (outputs_of(node) or 0) - len(draft.outputs(name))
        draft.outputs(name).extend(None for _ in range(missing))  # type: ignore[misc]
    return "wrote null for outputs without wires"


def sticky_notes(draft: Draft) -> str | None:
    """Somebody adds a note to the canvas."""
    draft.workflow["nodes"].append(
        {
            "id": fresh_id(draft.rng),
            "name": "Sticky Note",
            "type": _PREFIX + "stickyNote",
            "typeVersion": 1,
            "position": [-400, -400],
            "parameters": {"content": "## To do\nask for `orgflow-map` 1"},
        }
    )
    notes = [n for n in draft.nodes.values() if short_type(n) != "stickyNote"]
    for node in notes:
        node["notes"] = "checked by Ada\n" + node.get("notes", "")
    return "added notes"


def always_output(draft: Draft) -> str | None:
    """A node gives an empty item where it has none to give."""
    name = pick(draft, draft.steps)
    if name is None:
        return None
    draft.nodes[name]["alwaysOutputData"] = True
    return f"{name} always outputs data"


def legacy_order(draft: Draft) -> str | None:
    """The setting is gone that makes n8n finish one branch before the next."""
    del draft.workflow["settings"]["executionOrder"]
    return "removed executionOrder"


def execute_once(draft: Draft) -> str | None:
    """A node works on the first of its items only; there is one."""
    name = pick(draft, draft.steps)
    if name is None:
        return None
    draft.nodes[name]["executeOnce"] = True
    return f"{name} executes once"
