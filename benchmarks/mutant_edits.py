"""Mutators of conditions and rules, and those that have no meaning on n8n or none in the model."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mutant_flow import Draft, Json, Wire, fresh_id, pick
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.format.references import outputs_in
from orgflow.backends.n8n.node_types.ports import outputs_of
from orgflow.backends.n8n.plan.references import quote_node

# -- conditions ------------------------------------------------------------------------------------


def _rules(node: Json) -> list[Json]:
    """The rules of a Switch; none for an If."""
    found: list[Json] = node["parameters"].get("rules", {}).get("values", [])
    return found


def conditions_of(node: Json) -> list[Json]:
    """Every single condition of an If or Switch."""
    filters = [r["conditions"] for r in _rules(node)] or [node["parameters"].get("conditions", {})]
    return [c for f in filters for c in f.get("conditions", [])]


def _all_conditions(draft: Draft) -> list[tuple[str, Json]]:
    return [
        (n, c) for n, node in draft.of_type("if", "switch").items() for c in conditions_of(node)
    ]


def swap_conditions(draft: Draft) -> str | None:
    """Two rules of a Switch exchange their conditions and keep their wires."""
    name = pick(draft, [n for n, s in draft.of_type("switch").items() if len(_rules(s)) > 1])
    if name is None:
        return None
    rules = _rules(draft.nodes[name])
    a, b = sorted(draft.rng.sample(range(len(rules)), 2))
    first, second = rules[a]["conditions"], rules[b]["conditions"]
    rules[a]["conditions"], rules[b]["conditions"] = second, first
    return f"swapped conditions {a} and {b} of {name}"


def _negated_operator(condition: Json) -> bool:
    operator = condition["operator"]
    other = {"true": "false", "equals": "notEquals"}.get(operator["operation"])
    if other is None:
        return False
    condition["operator"] = {**operator, "operation": other}
    return True


def _negated_expression(condition: Json) -> bool:
    match = re.fullmatch(r"=\{\{ (.*) \}\}", condition["leftValue"], re.DOTALL)
    if match is None or condition["operator"]["operation"] != "true":
        return False
    condition["leftValue"] = "={{ !(" + match[1] + ") }}"
    return True


def negate(draft: Draft) -> str | None:
    """A condition holds where it did not: by its operator, or by a `!` around its expression."""
    found = pick(draft, _all_conditions(draft))
    if found is None:
        return None
    name, condition = found
    ways: list[Callable[[Json], bool]] = [_negated_operator, _negated_expression]
    draft.rng.shuffle(ways)
    for way in ways:
        if way(condition):
            return f"negated a condition of {name}: {condition['leftValue']}"
    return None


_LITERAL = re.compile(r'"((?:[^"\\]|\\.)+)"(?=\)|$| \|\|| \}\})')


def change_literal(draft: Draft) -> str | None:
    """A condition compares with another value."""
    found = pick(draft, _all_conditions(draft))
    if found is None:
        return None
    name, condition = found
    left, right = condition["leftValue"], condition.get("rightValue")
    if isinstance(right, str) and right:
        condition["rightValue"] = right + " (new)"
        return f"{name} compares with {condition['rightValue']!r} instead of {right!r}"
    changed = _LITERAL.sub(lambda m: f'"{m[1]} (new)"', left, count=1)
    if changed == left:
        changed = re.sub(r"(?<=[<>=] )\d+(?:\.\d+)?", lambda m: str(float(m[0]) + 7), left, count=1)
    if changed == left:
        return None
    condition["leftValue"] = changed
    return f"{name} tests {changed}"


def change_value(draft: Draft) -> str | None:
    """A label that a condition compares with is another one, in a field or in an expression."""
    found = pick(draft, [(n, c) for n, c in _all_conditions(draft) if _label_of(c)])
    if found is None:
        return None
    name, condition = found
    label = _label_of(condition)
    wanted = pick(draft, (f"{label} (new)", label.upper() + "!", "Other"))
    if condition.get("rightValue"):
        condition["rightValue"] = wanted
    else:
        quoted = f'"{wanted}"'
        condition["leftValue"] = _LABEL.sub(lambda m: m[1] + quoted + m[3], condition["leftValue"])
    return f"{name} is for {wanted!r} instead of {label!r}"


_LABEL = re.compile(r'(=== |\.includes\()"([^"\\]+)"(\)* \}\})$')


def _label_of(condition: Json) -> str:
    """The one text that a condition is about; "" for any other condition."""
    if condition["operator"]["operation"] == "equals":
        return str(condition["rightValue"])
    match = _LABEL.search(condition["leftValue"])
    return match[2] if match is not None and condition["leftValue"].count('"') == 2 else ""


_FIELD = re.compile(r"json((?:\??\.\w+)+)")


def change_variable(draft: Draft) -> str | None:
    """A condition reads another variable: one of the workflow, or one that nothing sets."""
    conditions = _all_conditions(draft)
    found = pick(draft, [(n, c) for n, c in conditions if _FIELD.search(c["leftValue"])])
    if found is None:
        return None
    name, condition = found
    paths = sorted({p for _, c in conditions for p in _FIELD.findall(c["leftValue"])})
    now = _FIELD.findall(condition["leftValue"])
    wanted = pick(draft, [p for p in (*paths, f"{now[0]}_new") if p not in now])
    condition["leftValue"] = condition["leftValue"].replace(f"json{now[0]}", f"json{wanted}")
    return f"{name} reads {wanted} instead of {now[0]}"


def _old_rules(draft: Draft, name: str) -> list[Json] | None:
    """The rules of a Switch as version 1 has them, an output each; None where it cannot."""
    node = draft.nodes[name]
    rules = _rules(node)
    conditions = conditions_of(node)
    if node["parameters"]["options"].get("allMatchingOutputs") or len(rules) > 3:
        return None
    if len({c["leftValue"] for c in conditions}) > 1:
        return None
    if any(c["operator"]["operation"] != "equals" for c in conditions):
        return None
    return [
        {"operation": "equal", "value2": c["rightValue"], "output": index}
        for index, c in enumerate(conditions)
    ]


def old_switch(draft: Draft) -> str | None:
    """A Switch is of version 1, with the same rules, outputs and fallback."""
    return _old_switch(draft, 1)


def second_switch(draft: Draft) -> str | None:
    """A Switch is of version 2, which drops what no rule fits or hands it to a rule's output."""
    return _old_switch(draft, 2)


def old_switch_value(draft: Draft) -> str | None:
    """A Switch of version 1 compares with another value, or negates a rule."""
    said = _old_switch(draft, 1)
    if said is None:
        return None
    node = next(n for n in draft.nodes.values() if n["typeVersion"] == 1 and "rules" in str(n))
    rule = pick(draft, node["parameters"]["rules"]["rules"])
    if draft.rng.random() < 0.5:
        rule["value2"] += " (new)"
        return f"{said}, for {rule['value2']!r}"
    rule["operation"] = "notEqual"
    return f"{said}, for anything but {rule['value2']!r}"


def _old_switch(draft: Draft, version: int) -> str | None:
    name = pick(draft, [n for n in draft.of_type("switch") if _old_rules(draft, n) is not None])
    if name is None:
        return None
    node = draft.nodes[name]
    rules = _old_rules(draft, name) or []
    extra = "fallbackOutput" in node["parameters"]["options"]
    fallback = len(rules) if extra else -1
    if version == 2:
        for rule, label in zip(rules, _rules(node), strict=True):
            rule["outputKey"] = label["outputKey"]
            del rule["output"]
        fallback = draft.rng.choice((-1, 0)) if extra else -1
    node["typeVersion"] = version
    node["parameters"] = {
        "mode": "rules",
        "dataType": "string",
        "value1": conditions_of(node)[0]["leftValue"],
        "rules": {"rules": rules},
        "fallbackOutput": fallback,
    }
    return f"{name} is of version {version}"


def drop_rule(draft: Draft) -> str | None:
    """A Switch loses a rule, with its wires or (what is wired stays where it is) without."""
    name = pick(draft, [n for n, s in draft.of_type("switch").items() if len(_rules(s)) > 1])
    if name is None:
        return None
    rules, outputs = _rules(draft.nodes[name]), draft.outputs(name)
    index = draft.rng.randrange(len(rules))
    key = rules.pop(index)["outputKey"]
    if draft.rng.random() < 0.5:
        if index < len(outputs):
            outputs.pop(index)
        return f"removed rule {key!r} of {name} and its wires"
    return f"removed rule {key!r} of {name}, the wires left as they are"


def drop_fallback(draft: Draft) -> str | None:
    """A Switch loses the output for what no rule fits; without one n8n ends the run there."""
    name = pick(
        draft,
        [
            n
            for n, s in draft.of_type("switch").items()
            if "fallbackOutput" in s["parameters"]["options"]
        ],
    )
    if name is None:
        return None
    options = draft.nodes[name]["parameters"]["options"]
    del options["fallbackOutput"]
    options.pop("renameFallbackOutput", None)
    return f"removed the fallback of {name}"


def all_matching(draft: Draft) -> str | None:
    """A Switch that takes the first rule that fits takes all, or the other way round."""
    name = pick(draft, draft.of_type("switch"))
    if name is None:
        return None
    options = draft.nodes[name]["parameters"]["options"]
    if options.pop("allMatchingOutputs", False):
        return f"{name} takes the first rule that fits only"
    options["allMatchingOutputs"] = True
    return f"{name} takes every rule that fits"


# -- what may or may not matter --------------------------------------------------------------------


def add_noop(draft: Draft, name: str, near: Json) -> str:
    """Add a node that does nothing, without wires; its name."""
    node: Json = {
        "id": fresh_id(draft.rng),
        "name": name,
        "type": "n8n-nodes-base.noOp",
        "typeVersion": 1,
        "parameters": {},
    }
    return draft.add(node, near)


def add_step_beside(draft: Draft) -> str | None:
    """A step that leads nowhere is wired to an output."""
    wire = pick(draft, draft.wires())
    if wire is None:
        return None
    made = add_noop(draft, "Log it", draft.nodes[wire.target])
    draft.connect(wire.source, wire.output, made, 0)
    return f"added {made} behind {wire.source}.{wire.output}"


# -- harmless --------------------------------------------------------------------------------------


def add_step(draft: Draft) -> str | None:
    """A step that does nothing stands on an edge."""
    wire = pick(draft, draft.wires())
    if wire is None:
        return None
    made = add_noop(draft, "Log it", draft.nodes[wire.target])
    lead_through(draft, wire, made)
    return f"added {made} on {wire}"


def lead_through(draft: Draft, wire: Wire, made: str) -> None:
    """Put a node on a wire, at the height of what it leads to."""
    draft.outputs(wire.source)[wire.output][wire.place] = {"node": made, "type": "main", "index": 0}
    draft.connect(made, 0, wire.target, wire.slot)
    # What stands behind the new step runs when the step does: it takes the place of its target.
    draft.nodes[made]["position"] = list(draft.nodes[wire.target]["position"])
    draft.nodes[made]["position"][0] -= 16


def _new_name(draft: Draft, name: str, wanted: str) -> None:
    """Rename as n8n's editor does: connections and references in expressions and scripts follow,
    notes and map do not."""
    connections = draft.workflow["connections"]
    draft.workflow["connections"] = {
        wanted if source == name else source: {
            "main": [
                [{**w, "node": wanted if w["node"] == name else w["node"]} for w in wires]
                for wires in kinds["main"]
            ]
        }
        for source, kinds in connections.items()
    }
    old, new = f"$({quote_node(name)})", f"$({quote_node(wanted)})"

    def follow(value: Any, script: bool = False) -> Any:
        if isinstance(value, str):
            return value.replace(old, new) if script or value.startswith("=") else value
        if isinstance(value, dict):
            return {k: follow(v, k == "jsCode") for k, v in value.items()}
        return [follow(v) for v in value] if isinstance(value, list) else value

    for node in draft.workflow["nodes"]:
        node["parameters"] = follow(node["parameters"])
    draft.nodes[name]["name"] = wanted
    if name in draft.original or name in draft.stands:
        draft.stands[wanted] = draft.stands.pop(name, name)


def _free(draft: Draft, wanted: str) -> str:
    taken = {n["name"] for n in draft.workflow["nodes"]}
    while wanted in taken:
        wanted += "'"
    return wanted


def rename(draft: Draft) -> str | None:
    """One node has another name."""
    name = pick(draft, draft.nodes)
    if name is None:
        return None
    wanted = _free(draft, pick(draft, (f"{name} (new)", "It's done", f"Please {name.lower()}")))
    _new_name(draft, name, wanted)
    return f"renamed {name} to {wanted}"


def rename_all(draft: Draft) -> str | None:
    """Every node has another name."""
    for number, name in enumerate(list(draft.nodes), 1):
        _new_name(draft, name, _free(draft, f"Step {number}"))
    return "renamed every node"


def rename_ids_left(draft: Draft) -> str | None:
    """Every node has another name, notes and map are gone: only the ids are left."""
    rename_all(draft)
    strip_notes(draft)
    strip_map(draft)
    return "renamed every node, stripped notes and map"


def rename_nothing_left(draft: Draft) -> str | None:
    """One node has another name; ids, notes and map are gone: only the graph tells what it is."""
    said = rename(draft)
    strip_all(draft)
    return f"{said}; stripped notes, map and ids"


def swap_inputs(draft: Draft) -> str | None:
    """Two inputs of a Merge change places."""
    name = pick(draft, draft.of_type("merge"))
    if name is None:
        return None
    count = draft.nodes[name]["parameters"]["numberInputs"]
    a, b = sorted(draft.rng.sample(range(count), 2))
    other = {a: b, b: a}
    for kinds in draft.workflow["connections"].values():
        for wires in kinds["main"]:
            for wire in wires:
                if wire["node"] == name:
                    wire["index"] = other.get(wire["index"], wire["index"])
    return f"swapped inputs {a} and {b} of {name}"


def reorder_rules(draft: Draft) -> str | None:
    """The rules of a Switch stand in another order, each with its wires; at most one fits, and no
    program reads an output by its number."""
    read = {name for node in draft.nodes.values() for name, _ in outputs_in(node["parameters"])}
    switches = draft.of_type("switch").items()
    name = pick(draft, [n for n, s in switches if _disjoint(s) and n not in read])
    if name is None:
        return None
    node, outputs = draft.nodes[name], draft.outputs(name)
    rules = _rules(node)
    outputs.extend([] for _ in range((outputs_of(node) or 0) - len(outputs)))
    order = list(range(len(rules)))
    draft.rng.shuffle(order)
    if order == sorted(order):
        order.reverse()
    rules[:] = [rules[i] for i in order]
    outputs[: len(order)] = [outputs[i] for i in order]
    return f"reordered the rules of {name} with their wires: {order}"


def _disjoint(node: Json) -> bool:
    """Whether the order of a Switch's rules does not matter: all fit, or they compare texts."""
    rules, options = _rules(node), node["parameters"]["options"]
    conditions = conditions_of(node)
    if len(rules) < 2:
        return False
    if options.get("allMatchingOutputs"):
        return True
    return (
        len({c["leftValue"] for c in conditions}) == 1
        and len({c["rightValue"] for c in conditions}) == len(conditions) == len(rules)
        and all(c["operator"]["operation"] == "equals" for c in conditions)
    )


def stretch(draft: Draft) -> str | None:
    """Everything stands elsewhere, what is above remains above."""
    dx, dy = draft.rng.randrange(-800, 800, 16), draft.rng.randrange(-800, 800, 16)
    for node in draft.workflow["nodes"]:
        x, y = node["position"]
        node["position"] = [x + dx, y * 2 + dy]
    return f"moved everything by {dx}, {dy} and stretched it"


def reorder_branches(draft: Draft) -> str | None:
    """Branches that run at the same time are drawn in another order, so n8n runs them in it."""
    found = []
    for name, kinds in draft.workflow["connections"].items():
        for output, wires in enumerate(kinds["main"]):
            if len({w["node"] for w in wires}) > 1:
                found.append((name, output))
    choice = pick(draft, found)
    if choice is None:
        return None
    name, output = choice
    wires = draft.outputs(name)[output]
    targets = list(dict.fromkeys(w["node"] for w in wires))
    places = [draft.nodes[t]["position"] for t in targets]
    for target, place in zip(targets, reversed(places), strict=True):
        draft.nodes[target]["position"] = list(place)
    wires.reverse()
    return f"the branches of {name}.{output} run the other way round"


def new_ids(draft: Draft) -> str | None:
    """Every node has a new id, as after import."""
    for node in draft.workflow["nodes"]:
        node["id"] = fresh_id(draft.rng)
        if "webhookId" in node:
            node["webhookId"] = fresh_id(draft.rng)
    return "gave every node a new id"


def strip_notes(draft: Draft) -> str | None:
    """Notes on nodes are gone."""
    for node in draft.workflow["nodes"]:
        node.pop("notes", None)
    return "stripped the notes of all nodes"


def strip_map(draft: Draft) -> str | None:
    """Sticky notes are gone, the map with them."""
    draft.workflow["nodes"] = [n for n in draft.workflow["nodes"] if short_type(n) != "stickyNote"]
    return "stripped all sticky notes"


def strip_all(draft: Draft) -> str | None:
    """Only names tell what is what."""
    strip_notes(draft)
    strip_map(draft)
    new_ids(draft)
    return "stripped notes, map and ids"


def shuffle(draft: Draft) -> str | None:
    """Nodes and connections stand in another order in the file."""
    draft.rng.shuffle(draft.workflow["nodes"])
    rows = list(draft.workflow["connections"].items())
    draft.rng.shuffle(rows)
    draft.workflow["connections"] = dict(rows)
    return "shuffled nodes and connections"


def edited(draft: Draft) -> str | None:
    """Imported again, tidied up, renamed here and there, with steps added."""
    said = [new_ids(draft), stretch(draft), add_step(draft), rename(draft), rename(draft)]
    if draft.rng.random() < 0.5:
        said.append(strip_map(draft))
    return "; ".join(s for s in said if s)
