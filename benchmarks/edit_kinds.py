"""Edits of one node, as a person makes them in n8n's editor.

An editor changes a node, its parameters or its wires in place and returns what it did, or `None`
where the node has nothing of that kind. Those of `NEUTRAL` cannot change an outcome.
"""

from __future__ import annotations

import json
import random
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from edit_truth import PRESENTATION, EditTools, Json, is_open, is_presented, kind_of, leaves_of

Editor = Callable[[Json, Json, random.Random, EditTools], "str | None"]
"""Edits a node of a workflow; returns what was edited."""


class Edit(NamedTuple):
    """An edit: its kind, the kind of its node, what it did, and whether it cannot change an
    outcome."""

    kind: str
    node: str
    words: str
    equal: bool


CHOICES: dict[str, tuple[str, ...]] = {
    "method": ("GET", "POST", "PUT", "DELETE"), "httpMethod": ("GET", "POST", "PUT"),
    "unit": ("seconds", "minutes", "hours", "days"), "resumeUnit": ("minutes", "hours", "days"),
    "fieldType": ("text", "number", "date", "dropdown", "textarea", "email"),
    "combinator": ("and", "or"), "resume": ("form", "webhook", "timeInterval"),
    "emailFormat": ("text", "html", "both"), "authentication": ("none", "basicAuth", "headerAuth"),
    "responseMode": ("onReceived", "lastNode", "responseNode"),
    "mode": ("raw", "manual", "rules", "expression", "combine", "append", "runOnceForEachItem"),
    "combineBy": ("combineByPosition", "combineAll", "combineByFields"),
    "numberInputs": ("2", "3"), "contentType": ("json", "form-urlencoded", "raw"),
    "specifyBody": ("json", "keypair", "string"), "type": ("string", "number", "boolean", "array"),
    "fallbackOutput": ("extra", "none"), "limitType": ("afterTimeInterval", "atSpecifiedTime"),
    "select": ("channel", "user"), "resource": ("message", "channel"),
    "responseType": ("approval", "customForm", "freeText"),
    "respondWith": ("text", "json", "noData"),
    "errorType": ("errorMessage", "errorObject"), "include": ("all", "selected", "none"),
    "typeValidation": ("strict", "loose"),
    "field": ("minutes", "hours", "days", "weeks"),
    "defineForm": ("fields", "json"), "inputSource": ("passthrough", "workflowInputs"),
}  # fmt: skip
"""Values that a person can choose for parameters of that name."""

MODES = {
    "raw": "manual", "manual": "raw", "rules": "expression", "combine": "append",
    "append": "combine", "runOnceForAllItems": "runOnceForEachItem",
}  # fmt: skip
"""Modes of nodes with others of the same node."""

OPERATIONS = {
    "equals": "notEquals", "notEquals": "equals", "true": "false", "false": "true", "gt": "gte",
    "gte": "gt", "lt": "lte", "lte": "lt", "exists": "notExists", "notExists": "exists",
    "empty": "notEmpty", "notEmpty": "empty", "contains": "notContains", "notContains": "contains",
    "after": "before", "before": "after", "startsWith": "endsWith", "endsWith": "startsWith",
}  # fmt: skip
"""Operators of conditions with others of the same type."""

SIGNS = {
    "===": "!==", "!==": "===", "==": "!=", "!=": "==", "<=": ">", ">=": "<", "<": ">=", ">": "<=",
    "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "+", "/": "*", "true": "false",
    "false": "true", "null": "0", "??": "&&",
}  # fmt: skip
_TOKEN = re.compile(
    r"===|!==|==|!=|<=|>=|=>|&&|\|\||\?\?|\?\.|\.\.\.|\w+|\"(?:[^\"\\]|\\.)*\"|\s+|."
)
_IDS = ("/id", "/version", "/jsCode", "/workflowId/value")


def editable_leaves(node: Json) -> list[tuple[str, Any]]:
    """The parameters of a node that are not code, ids or presentation."""
    return [
        (path, value)
        for path, value in leaves_of(node["parameters"])
        if not path.endswith(_IDS) and not is_presented(path)
    ]


def put_leaf(tree: Any, path: str, value: Any) -> None:
    """Replace the value at a path of `leaves_of`."""
    *steps, last = path.removeprefix("/").split("/")
    for step in steps:
        tree = tree[int(step) if isinstance(tree, list) else step]
    tree[int(last) if isinstance(tree, list) else last] = value


def list_groups(value: Any) -> Iterator[Any]:
    """The lists and objects in a tree of parameters."""
    if isinstance(value, dict | list):
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from list_groups(part)


def code_of(node: Json) -> list[tuple[str, str, bool]]:
    """The code in a node: path, text, and whether it is an expression."""
    places = []
    for path, value in leaves_of(node["parameters"]):
        if is_presented(path) or not isinstance(value, str):
            continue
        if path == "/jsCode":
            places.append((path, value, False))
        elif value.startswith("={{ ") and value.endswith(" }}") and "}}" not in value[4:-3]:
            places.append((path, value[4:-3], True))
    return places


def put_code(node: Json, path: str, code: str, expression: bool) -> None:
    """Replace code that `code_of` listed."""
    put_leaf(node["parameters"], path, f"={{{{ {code} }}}}" if expression else code)


# -- edits that change something -------------------------------------------------------------------


def change_code(code: str, rng: random.Random) -> tuple[str, str] | None:
    """A code with one sign, number, text, name or line changed."""
    if rng.random() < 0.2:
        lines = code.split("\n")
        places = [i for i, line in enumerate(lines) if line.strip().endswith(";")]
        if places:
            place = rng.choice(places)
            return "\n".join(lines[:place] + lines[place + 1 :]), f"removed {lines[place].strip()}"
    tokens = _TOKEN.findall(code)
    names = sorted(
        {
            tokens[i + 2]
            for i in range(len(tokens) - 2)
            if tokens[i] in ("v", "json", "given", "form", "o") and tokens[i + 1] == "."
        }
    )
    places = [
        i
        for i, token in enumerate(tokens)
        if token in SIGNS or token in names or token[0] == '"' or token.isdecimal()
    ]  # fmt: skip
    if not places:
        return None
    place = rng.choice(places)
    token = tokens[place]
    if token in SIGNS:
        tokens[place] = SIGNS[token]
    elif token.isdecimal():
        tokens[place] = str(int(token) + rng.choice((1, 7, 100)))
    elif token[0] == '"':
        tokens[place] = f'{token[:-1]}x"'
    else:
        others = [name for name in names if name != token]
        if not others:
            return None
        tokens[place] = rng.choice(others)
    return "".join(tokens), f"{token} → {tokens[place]}"


def edit_code(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A sign, constant, name or line of code, in a Code node or an expression."""
    places = code_of(node)
    if not places:
        return None
    path, code, expression = rng.choice(places)
    changed = change_code(code, rng)
    if changed is None:
        return None
    put_code(node, path, changed[0], expression)
    return f"{path}: {changed[1]}"


def edit_constant(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A constant in any parameter: another number, text or switch."""
    places = [
        (path, value)
        for path, value in editable_leaves(node)
        if not str(value).startswith("=") and value is not None
        and path.rpartition("/")[2] not in (*CHOICES, "operation")
    ]  # fmt: skip
    if not places:
        return None
    path, value = rng.choice(places)
    now: Any
    match value:
        case bool():
            now = not value
        case int() | float():
            now = value + rng.choice((1, 5))
        case _:
            now = rng.choice((f"{value}x", f"{value}2", ""))
    put_leaf(node["parameters"], path, now)
    return f"{path}: {value!r} → {now!r}"


def edit_choice(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A method, unit, type, mode, combinator … from a list."""
    places = [(p, v) for p, v in editable_leaves(node) if p.rpartition("/")[2] in CHOICES]
    places = [(p, v) for p, v in places if isinstance(v, str | int) and not str(v).startswith("=")]
    if not places:
        return None
    path, value = rng.choice(places)
    choices = [c for c in CHOICES[path.rpartition("/")[2]] if c != str(value)]
    if path == "/mode":
        choices = [MODES[value]] if value in MODES else []
    if not choices:
        return None
    now: Any = rng.choice(choices)
    now = int(now) if isinstance(value, int) and now.isdecimal() else now
    put_leaf(node["parameters"], path, now)
    return f"{path}: {value!r} → {now!r}"


def edit_operator(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """The operator of a condition."""
    places = [
        (p, v) for p, v in editable_leaves(node) if p.endswith("/operator/operation")
        and v in OPERATIONS
    ]  # fmt: skip
    if not places:
        return None
    path, value = rng.choice(places)
    put_leaf(node["parameters"], path, OPERATIONS[value])
    return f"{path}: {value} → {OPERATIONS[value]}"


def edit_blank(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A blank beside the brackets of an expression."""
    places = [
        (p, v)
        for p, v in editable_leaves(node)
        if str(v).startswith("={{") and str(v).endswith("}}")
    ]
    if not places:
        return None
    path, text = rng.choice(places)
    now = rng.choice((f"{text} ", f"= {text[1:]}", f" {text}", f"{text}\n"))
    put_leaf(node["parameters"], path, now)
    return f"{path}: {text[:40]!r} → {now[:40]!r}"


def edit_removal(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """An entry of a list of parameters, such as a field of a form, or a parameter."""
    whole = node["parameters"]
    groups = [
        group for group in list_groups(whole)
        if group and not (isinstance(group, dict) and set(group) <= PRESENTATION)
    ]  # fmt: skip
    if not groups:
        return None
    group = rng.choice(groups)
    if isinstance(group, list):
        removed = group.pop(rng.randrange(len(group)))
    else:
        key = rng.choice(sorted(set(group) - PRESENTATION - {"id"}) or ["-"])
        if key not in group:
            return None
        removed = {key: group.pop(key)}
    return f"removed {json.dumps(removed)[:80]}"


def edit_addition(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A copy of an entry of a list of parameters, such as a field, a header or an assignment."""
    lists = [g for g in list_groups(node["parameters"]) if isinstance(g, list) and g]
    if not lists:
        return None
    group = rng.choice(lists)
    added = json.loads(json.dumps(rng.choice(group)))
    if isinstance(added, dict):
        for key in ("name", "fieldLabel", "fieldName", "option"):
            if isinstance(added.get(key), str):
                added[key] += " more"
                break
    group.insert(rng.randrange(len(group) + 1), added)
    return f"added {json.dumps(added)[:80]}"


def edit_order(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """Two entries of a list of parameters, such as rules of a Switch, exchanged."""
    lists = [g for g in list_groups(node["parameters"]) if isinstance(g, list) and len(g) > 1]
    if not lists:
        return None
    group = rng.choice(lists)
    place = rng.randrange(len(group) - 1)
    group[place], group[place + 1] = group[place + 1], group[place]
    return f"exchanged entries {place} and {place + 1} of {len(group)}"


def edit_setting(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A setting of a node beside its parameters."""
    choices: list[tuple[str, Any]] = [
        ("executeOnce", not node.get("executeOnce", False)),
        ("alwaysOutputData", not node.get("alwaysOutputData", False)),
        ("disabled", True),
    ]
    # A placeholder cannot fail. Whoever fills it decides what is done when its node does.
    if kind_of(node) != "noOp" and not (kind_of(node) == "set" and is_open(node)):
        choices += [
            ("maxTries", 5), ("waitBetweenTries", 4000),
            ("retryOnFail", not node.get("retryOnFail", False)),
            ("onError", rng.choice(
                ("continueRegularOutput", "continueErrorOutput", "stopWorkflow")
            )),
        ]  # fmt: skip
    key, value = rng.choice(choices)
    if node.get(key) == value:
        return None
    before = node.get(key)
    node[key] = value
    return f"{key}: {before} → {value}"


def edit_call(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A call that leads to the workflow of another call."""
    if kind_of(node) != "executeWorkflow":
        return None
    called = node["parameters"]["workflowId"]
    ids = {
        other["parameters"]["workflowId"]["value"]
        for other in workflow["nodes"]
        if kind_of(other) == "executeWorkflow"
    }
    others = [*sorted(ids - {called["value"]}), "another7"]
    before, called["value"] = called["value"], rng.choice(others)
    return f"calls {before} → {called['value']}"


def edit_workflow(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A setting of the workflow."""
    settings = workflow.setdefault("settings", {})
    key, value = rng.choice((
        ("executionOrder", "v0"), ("errorWorkflow", ""), ("executionTimeout", 7),
        ("timezone", "America/New_York"), ("timezone", "Asia/Tokyo"), ("callerPolicy", "none"),
        ("errorWorkflow", "another7"),
    ))  # fmt: skip
    before = settings.get(key, "")
    if before == value:
        return None
    settings[key] = value
    return f"{key}: {before} → {value}"


def list_wires(node: Json, workflow: Json) -> list[tuple[list[Json], int]]:
    """The wires that leave a node: the list and the place of each."""
    outputs = workflow["connections"].get(node["name"], {}).get("main", [])
    return [(output, place) for output in outputs if output for place in range(len(output))]


def edit_wire(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A wire that leads to another node, from another output, or is removed."""
    wires = list_wires(node, workflow)
    if not wires:
        return None
    output, place = rng.choice(wires)
    wire = output[place]
    outputs = workflow["connections"][node["name"]]["main"]
    action = rng.choice(("lead", "lead", "remove", "swap", "skip"))
    if action == "swap" and len(outputs) > 1:
        at = rng.randrange(len(outputs) - 1)
        outputs[at], outputs[at + 1] = outputs[at + 1], outputs[at]
        return f"exchanged outputs {at} and {at + 1}"
    if action == "remove":
        output.pop(place)
        return f"removed the wire to {wire['node']}"
    after = workflow["connections"].get(wire["node"], {}).get("main", [])
    behind = [w["node"] for out in after for w in out or ()]
    others = [n["name"] for n in workflow["nodes"]
              if kind_of(n) != "stickyNote" and "rigger" not in kind_of(n)]  # fmt: skip
    target = rng.choice(behind if action == "skip" and behind else others)
    if target == wire["node"]:
        return None
    words = f"{wire['node']} → {target}"
    wire.update(node=target, index=0)
    return words


def edit_deletion(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A deleted node: the editor connects what was before it with what was behind it."""
    wires = workflow["connections"]
    if "rigger" in kind_of(node) or not any(
        w["node"] == node["name"]
        for s in wires.values()
        for o in s.get("main", ())
        for w in o or ()
    ):
        return None
    after = [w for o in wires.get(node["name"], {}).get("main", [])[:1] for w in o or ()]
    for source in wires.values():
        for output in source.get("main", []):
            if output and any(w["node"] == node["name"] for w in output):
                output[:] = [w for w in output if w["node"] != node["name"]] + [
                    dict(w) for w in after
                ]
    wires.pop(node["name"], None)
    workflow["nodes"].remove(node)
    return f"deleted {node['name']}"


def edit_statements(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """Two statements of a Code node in the other order."""
    code = node["parameters"].get("jsCode")
    lines = code.split("\n") if isinstance(code, str) else []
    places = [
        i for i in range(len(lines) - 1)
        if lines[i].endswith(";") and lines[i + 1].endswith(";")
        and len(lines[i]) - len(lines[i].lstrip()) == len(lines[i + 1]) - len(lines[i + 1].lstrip())
    ]  # fmt: skip
    if not places:
        return None
    at = rng.choice(places)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    node["parameters"]["jsCode"] = "\n".join(lines)
    return f"exchanged lines {at + 1} and {at + 2}"


def edit_branches(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """The branches of a node with several outputs, exchanged."""
    outputs = workflow["connections"].get(node["name"], {}).get("main", [])
    if len(outputs) < 2:
        return None
    first, second = rng.sample(range(len(outputs)), 2)
    outputs[first], outputs[second] = outputs[second], outputs[first]
    return f"exchanged outputs {first} and {second}"


def edit_field(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A field of a form: its type, options, label, default, or whether it is required."""
    fields = node["parameters"].get("formFields", {}).get("values", [])
    if not fields:
        return None
    entry = rng.choice(fields)
    options = entry.get("fieldOptions", {}).get("values", [])
    match rng.randrange(5):
        case 0:
            entry["requiredField"] = not entry.get("requiredField", False)
            return f"requiredField: {entry['requiredField']}"
        case 1:
            types = [t for t in CHOICES["fieldType"] if t != entry.get("fieldType", "text")]
            entry["fieldType"] = rng.choice(types)
            return f"fieldType: {entry['fieldType']}"
        case 2 if options:
            options.pop(rng.randrange(len(options)))
            return "removed an option"
        case 3 if options:
            options.append({"option": "Something else"})
            return "added an option"
        case 4:
            entry["defaultValue"] = "7"
            return "defaultValue: 7"
    entry["fieldLabel"] = f"{entry.get('fieldLabel', '')} now"
    return "fieldLabel"


def edit_version(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """Another version of the node."""
    before = node["typeVersion"]
    others = [version for version in tools.versions_of(node) if version != before]
    if not others:
        return None
    node["typeVersion"] = rng.choice(others)
    return f"version {before} → {node['typeVersion']}"


def edit_insertion(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A node of a person's own in a wire: a Set, a Code, a filter, a limit or a wait."""
    wires = list_wires(node, workflow)
    if not wires:
        return None
    text = json.dumps(workflow)
    names = sorted(set(re.findall(r"json\.(\w+)|\bv\.(\w+)", text)))
    known = sorted({next(filter(None, pair)) for pair in names if any(pair)}) or ["noted"]
    name = rng.choice([*known, "noted"])
    kind, version, parameters = rng.choice((
        ("set", 3.4, {"assignments": {"assignments": [
            {"id": "1", "name": name, "type": "string", "value": "x"}]},
            "includeOtherFields": True, "options": {}}),
        ("set", 3.4, {"assignments": {"assignments": [
            {"id": "1", "name": name, "type": "string", "value": "x"}]}, "options": {}}),
        ("code", 2, {"jsCode": "return $input.all().map((i) => ({ json: { ...i.json, "
                               f"{name}: 1 }} }}));"}),
        ("code", 2, {"jsCode": "return [...$input.all(), ...$input.all()];"}),
        ("code", 2, {"jsCode": "return [{ json: { done: true } }];"}),
        ("filter", 2.2, {"conditions": {
            "options": {"caseSensitive": True, "leftValue": "", "typeValidation": "loose",
                        "version": 2},
            "conditions": [{"id": "1", "leftValue": f"={{{{ $json.{name} }}}}", "rightValue": "",
                            "operator": {"type": "string", "operation": "exists",
                                         "singleValue": True}}],
            "combinator": "and"}, "options": {}}),
        ("limit", 1, {}),
        ("wait", 1.1, {"amount": 1, "unit": "minutes"}),
    ))  # fmt: skip
    output, place = rng.choice(wires)
    x, y = node["position"]
    workflow["nodes"].append({
        "id": "own", "name": "My own", "type": f"n8n-nodes-base.{kind}", "typeVersion": version,
        "position": [x + 100, y], "parameters": parameters,
    })  # fmt: skip
    workflow["connections"]["My own"] = {"main": [[output[place]]]}
    output[place] = {"node": "My own", "type": "main", "index": 0}
    return f"added {kind} {textwrap.shorten(json.dumps(parameters), 70)}"


def edit_move(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A node that is moved far."""
    x, y = node["position"]
    node["position"] = [x + rng.choice((-400, 0, 300)), y + rng.choice((-900, 700, 2000))]
    return f"moved to {node['position']}"


# -- edits that change nothing ---------------------------------------------------------------------


def edit_name(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A renamed node, with its wires and the references to it, as n8n's editor does it."""
    old, new = node["name"], f"{node['name']} new"
    text = json.dumps(workflow, ensure_ascii=False)
    if old in ("", "json") or new in text or re.search(r"[\"'\\]", old):
        return None
    for quoted in (f"$('{old}')", f'$(\\"{old}\\")'):
        text = text.replace(quoted, quoted.replace(old, new))
    changed = json.loads(text)
    for other in changed["nodes"]:
        if other["name"] == old:
            other["name"] = new
    wires = {new if name == old else name: outs for name, outs in changed["connections"].items()}
    for outputs in wires.values():
        for output in outputs.get("main", []):
            for wire in output or ():
                wire["node"] = new if wire["node"] == old else wire["node"]
    workflow["nodes"], workflow["connections"] = changed["nodes"], wires
    return f"{old} → {new}"


def edit_place(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A node that is moved a little, with words in its notes."""
    node["position"] = [node["position"][0] + 16, node["position"][1]]
    node["notes"] = f"Checked.\n{node.get('notes', '')}"
    return "moved"


def edit_note(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A sticky note beside a node."""
    x, y = node["position"]
    workflow["nodes"].append({
        "id": "note", "name": "My note", "type": "n8n-nodes-base.stickyNote", "typeVersion": 1,
        "position": [x, y - 200], "parameters": {"content": "Ask Kim about this."},
    })  # fmt: skip
    return "added a note"


def edit_own_notes(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """The notes of a node replaced by a person's own words."""
    if not node.get("notes"):
        return None
    node["notes"] = rng.choice(("Ask Kim.", ""))
    return f"notes: {node['notes']}"


def edit_sticky(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A sticky note removed, if it does not state the options of the compilation: those are
    nowhere else."""
    notes = [
        other for other in workflow["nodes"] if kind_of(other) == "stickyNote"
        and '"options"' not in str(other["parameters"].get("content"))
    ]  # fmt: skip
    if not notes:
        return None
    removed = rng.choice(notes)
    workflow["nodes"].remove(removed)
    return f"removed the note {textwrap.shorten(str(removed['parameters'].get('content')), 40)}"


def edit_pinned(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """Pinned data of a node, which n8n uses in its editor only."""
    workflow["pinData"] = {node["name"]: [{"json": {"amount": 7, "kind": "a"}}]}
    return f"pinned data of {node['name']}"


def edit_kept_data(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """Settings about what n8n keeps of an execution, and tags."""
    key, value = rng.choice((
        ("saveManualExecutions", True), ("saveDataSuccessExecution", "all"), ("tags", []),
        ("saveDataErrorExecution", "all"), ("timezone", "DEFAULT"), ("executionTimeout", -1),
    ))  # fmt: skip
    place = workflow if key == "tags" else workflow.setdefault("settings", {})
    if place.get(key) is not None:
        return None
    place[key] = value
    return f"{key}: {value}"


def edit_keys(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """Keys in another order, as n8n's export has them."""
    keys = list(node)
    rng.shuffle(keys)
    whole = {key: node[key] for key in keys}
    parameters = reversed_keys(node["parameters"])
    node.clear()
    node.update(whole)
    node["parameters"] = parameters
    return "reordered keys"


def reversed_keys(value: Any) -> Any:
    """A tree of parameters with the keys of objects in reverse order."""
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(part) for part in value] if isinstance(value, list) else value


def edit_defaults(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """The defaults of parameters spelled out, as n8n's editor saves some of them."""
    known = tools.parameters_of(node)
    missing = [key for key in known if key not in node["parameters"] and key != "notice"]
    if not missing:
        return None
    node["parameters"] = {**node["parameters"], **{key: known[key] for key in missing}}
    return f"spelled out {', '.join(missing)[:60]}"


def edit_false_setting(
    node: Json, workflow: Json, rng: random.Random, tools: EditTools
) -> str | None:
    """Settings of a node at their defaults, which n8n's editor writes after a person tried them."""
    key, value = rng.choice((
        ("executeOnce", False), ("alwaysOutputData", False), ("retryOnFail", False),
        ("disabled", False), ("onError", "stopWorkflow"), ("notesInFlow", True),
    ))  # fmt: skip
    if key in node:
        return None
    node[key] = value
    return f"{key}: {value}"


def edit_layout(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """White space and comments in code."""
    places = code_of(node)
    if not places:
        return None
    path, code, expression = rng.choice(places)
    if expression:
        now = rng.choice((f" {code}  ", f"{code}\n", f"\n  {code}", f"/* why */ {code}"))
    else:
        now = rng.choice((
            "// what this computes\n" + code, code.replace(";\n", ";\n\n"), "\n" + code,
            code.replace("\n", "\n  "), code.rstrip() + "\n\n",
            re.sub(r";\n", "; // done\n", code, count=1),
        ))  # fmt: skip
    if now == code:
        return None
    put_code(node, path, now, expression)
    return path


def edit_tight(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """No white space inside of the brackets of an expression."""
    places = [place for place in code_of(node) if place[2]]
    if not places:
        return None
    path, code, _ = rng.choice(places)
    if code.lstrip()[:1] == "{" or code.endswith("}"):
        return None
    put_leaf(node["parameters"], path, f"={{{{{code}}}}}")
    return path


def rewriting_editor(kind: str) -> Editor:
    """The editor that rewrites code in one way of `edit_tools.cjs`."""

    def edit(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
        places = code_of(node)
        rng.shuffle(places)
        for path, code, expression in places:
            now = tools.rewritten(code, kind, rng.randrange(1000), expression=expression)
            if now is not None and now != code and "}}" not in now:
                put_code(node, path, now, expression)
                return f"{path}: {changed_part(code, now)}"
        return None

    return edit


def changed_part(before: str, now: str) -> str:
    """The part of a text that is not in another one."""
    start = 0
    while start < min(len(before), len(now)) and before[start] == now[start]:
        start += 1
    end = 0
    while end < min(len(before), len(now)) - start and before[-1 - end] == now[-1 - end]:
        end += 1
    return f"{before[start : len(before) - end][:60]!r} → {now[start : len(now) - end][:60]!r}"


def edit_split(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A condition `a && b` as two conditions."""
    groups = [
        g for g in list_groups(node["parameters"])
        if isinstance(g, dict) and isinstance(g.get("conditions"), list)
        and len(g["conditions"]) == 1 and g.get("combinator") == "and"
    ]  # fmt: skip
    for group in groups:
        (test,) = group["conditions"]
        text = str(test.get("leftValue"))
        if test.get("operator", {}).get("operation") != "true" or not text.startswith("={{ "):
            continue
        code = text[4:-3].strip()
        parts = tools.rewritten(code, "operands", 0, expression=True)
        if parts is None:
            continue
        group["conditions"] = [
            {**test, "id": f"split-{i}", "leftValue": f"={{{{ !!({part}) }}}}"}
            for i, part in enumerate(parts)
        ]
        return f"split {textwrap.shorten(code, 60)}"
    return None


def edit_minutes(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """The same time in a smaller unit."""
    smaller = {"minutes": ("seconds", 60), "hours": ("minutes", 60), "days": ("hours", 24)}
    for amount, unit in (("amount", "unit"), ("resumeAmount", "resumeUnit")):
        known = tools.parameters_of(node)
        if known.get(unit) in smaller and isinstance(known.get(amount), int | float):
            name, factor = smaller[known[unit]]
            node["parameters"] |= {amount: known[amount] * factor, unit: name}
            return f"{known[amount]} {known[unit]} as {name}"
    return None


def edit_passage(node: Json, workflow: Json, rng: random.Random, tools: EditTools) -> str | None:
    """A No Operation node in a wire."""
    wires = list_wires(node, workflow)
    if not wires:
        return None
    output, place = rng.choice(wires)
    x, y = node["position"]
    workflow["nodes"].append({
        "id": "passage", "name": "Passage", "type": "n8n-nodes-base.noOp", "typeVersion": 1,
        "position": [x + 100, y], "parameters": {},
    })  # fmt: skip
    workflow["connections"]["Passage"] = {"main": [[output[place]]]}
    output[place] = {"node": "Passage", "type": "main", "index": 0}
    return "added Passage"


CHANGING: dict[str, tuple[int, Editor]] = {
    "code": (5, edit_code), "constant": (4, edit_constant), "choice": (3, edit_choice),
    "operator": (2, edit_operator), "blank": (1, edit_blank), "removal": (3, edit_removal),
    "addition": (1, edit_addition), "order": (1, edit_order), "setting": (2, edit_setting),
    "call": (1, edit_call), "workflow setting": (1, edit_workflow), "wire": (3, edit_wire),
    "deletion": (1, edit_deletion), "statements": (1, edit_statements),
    "branches": (2, edit_branches), "field": (2, edit_field), "version": (1, edit_version),
    "insertion": (2, edit_insertion), "move": (1, edit_move),
}  # fmt: skip
"""Editors that may change an outcome, with their weights."""

NEUTRAL: dict[str, tuple[int, Editor]] = {
    "name": (2, edit_name), "place": (1, edit_place), "note": (1, edit_note),
    "keys": (1, edit_keys), "defaults": (3, edit_defaults), "default setting": (1,
    edit_false_setting), "layout of code": (2, edit_layout), "tight brackets": (1, edit_tight),
    "split condition": (2, edit_split), "unit of a time": (1, edit_minutes),
    "passage": (1, edit_passage), "own notes": (1, edit_own_notes),
    "sticky note": (1, edit_sticky), "pinned data": (1, edit_pinned),
    "kept data": (1, edit_kept_data),
    **{
        f"rewriting: {kind}": (1, rewriting_editor(kind))
        for kind in ("flip", "keys", "members", "brackets", "quotes", "branches", "declarations",
                     "numbers", "rename")
    },
}  # fmt: skip
"""Editors that cannot change an outcome, with their weights."""
