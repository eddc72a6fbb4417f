"""Pairs of one edit of a person and one change of a model, and what a merge has to make of them.

The expectation is worked out here by the elements that notes name, three ways and field by field,
without the code of the merge.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]
PREFIX = "n8n-nodes-base."


# -- the model -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """A process: names of tasks, gateways and ends by id, and flows as (source, target, label)."""

    tasks: Mapping[str, str]
    gateways: Mapping[str, str]
    ends: Mapping[str, str]
    flows: tuple[tuple[str, str, str], ...]
    start: str = "Order received"

    def bpmn(self) -> str:
        rows = [f'<userTask id="{i}" name="{n}"/>' for i, n in self.tasks.items()]
        rows += [f'<exclusiveGateway id="{i}" name="{n}"/>' for i, n in self.gateways.items()]
        rows += [f'<endEvent id="{i}" name="{n}"/>' for i, n in self.ends.items()]
        flows = [
            f'<sequenceFlow id="f_{a}_{b}" name="{label}" sourceRef="{a}" targetRef="{b}"/>'
            for a, b, label in self.flows
        ]
        return (
            '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" '
            'targetNamespace="x"><message id="m" name="Order"/>'
            '<process id="order" name="Order" isExecutable="true">'
            f'<startEvent id="start" name="{self.start}"><messageEventDefinition messageRef="m"/>'
            f"</startEvent>{''.join(rows)}{''.join(flows)}</process></definitions>"
        )

    def rewired(self, **old: str) -> Drawn:
        """With flows `a_b` as the text says: `c d` for two flows a → c → d … instead of one."""
        flows = list(self.flows)
        for key, text in old.items():
            a, _, b = key.partition("_")
            at = next(i for i, f in enumerate(flows) if f[:2] == (a, b))
            path = [a, *text.split()]
            flows[at : at + 1] = [
                (x, y, flows[at][2] if x == a else "") for x, y in itertools.pairwise(path)
            ]
        return replace(self, flows=tuple(flows))


ORDER = Drawn(
    {"register": "Register", "check": "Check", "ship": "Ship", "bill": "Bill", "reject": "Reject"},
    {"ok": "In stock?"},
    {"done": "Done", "off": "Off"},
    (
        ("start", "register", ""), ("register", "check", ""), ("check", "ok", ""),
        ("ok", "ship", "Yes"), ("ok", "reject", "No"), ("ship", "bill", ""),
        ("bill", "done", ""), ("reject", "off", ""),
    ),
)  # fmt: skip


def _named(id: str, name: str) -> Drawn:
    return replace(ORDER, tasks={**ORDER.tasks, id: name})


def _without(id: str) -> Drawn:
    flows = [f for f in ORDER.flows if f[0] != id]
    ((target,),) = ([f[1] for f in ORDER.flows if f[0] == id],)
    flows = [(a, target if b == id else b, label) for a, b, label in flows]
    tasks = {i: n for i, n in ORDER.tasks.items() if i != id}
    return replace(ORDER, tasks=tasks, flows=tuple(flows))


def _labelled(was: str, now: str) -> Drawn:
    flows = tuple((a, b, now if label == was else label) for a, b, label in ORDER.flows)
    return replace(ORDER, flows=flows)


def _swapped(one: str, two: str) -> Drawn:
    other = {one: two, two: one}
    flows = tuple((other.get(a, a), other.get(b, b), label) for a, b, label in ORDER.flows)
    return replace(ORDER, flows=flows)


def _looped(id: str) -> Drawn:
    """The task is done again while somebody says so."""
    ((_, target, _),) = [f for f in ORDER.flows if f[0] == id]
    flows = [(a, "again_in" if b == id else b, said) for a, b, said in ORDER.flows if a != id]
    flows += [("again_in", id, ""), (id, "again", ""), ("again", "again_in", "Once more")]
    flows += [("again", target, "Enough")]
    gateways = {**ORDER.gateways, "again_in": "", "again": "Again?"}
    return replace(ORDER, gateways=gateways, flows=tuple(flows))


def _branched() -> Drawn:
    return replace(
        ORDER,
        tasks={**ORDER.tasks, "hold": "Hold"},
        flows=(*ORDER.flows, ("ok", "hold", "Later"), ("hold", "off", "")),
    )


def _added(a: str, b: str) -> Drawn:
    grown = replace(ORDER, tasks={**ORDER.tasks, "weigh": "Weigh"})
    return grown.rewired(**{f"{a}_{b}": f"weigh {b}"})


CHANGES: Mapping[str, Drawn] = {
    "rename ship": _named("ship", "Send parcel"),
    "rename check": _named("check", "Look into stock"),
    "rename gateway": replace(ORDER, gateways={"ok": "All there?"}),
    "rename start": replace(ORDER, start="Something ordered"),
    "swap ship, bill": _swapped("ship", "bill"),
    "swap register, check": _swapped("register", "check"),
    "loop ship": _looped("ship"),
    "loop bill": _looped("bill"),
    "add branch": _branched(),
    "rename Yes": _labelled("Yes", "Complete"),
    "rename No": _labelled("No", "Missing"),
    "remove bill": _without("bill"),
    "remove ship": _without("ship"),
    "remove register": _without("register"),
    "add before bill": _added("ship", "bill"),
    "add before gateway": _added("check", "ok"),
}


# -- what a person does ----------------------------------------------------------------------------


def tag(row: Json) -> str:
    """The element that the notes of a node name; with its role, if it has one."""
    last = str(row.get("notes", "")).splitlines()[-1:] or [""]
    return last[0].removeprefix("orgflow: ") if last[0].startswith("orgflow: ") else ""


def of(workflow: Json, element: str) -> Json:
    found: Json = next(n for n in workflow["nodes"] if tag(n) == element)
    return found


@dataclass
class Edit:
    """What a person did.

    Attributes:
        do: does it to a workflow.
        works: elements whose node has a person's work in it.
        breaks: whether the process is another one after it.
        near: elements beside which a node was put or a wire moved.
        added: names of nodes that were put in.
    """

    do: Callable[[Json], None]
    works: set[str] = field(default_factory=set)
    breaks: bool = False
    near: set[str] = field(default_factory=set)
    added: tuple[str, ...] = ()


def _fill(element: str, code: str = "return $input.all();") -> Callable[[Json], None]:
    def do(workflow: Json) -> None:
        of(workflow, element).update(
            type=f"{PREFIX}code", typeVersion=2, parameters={"jsCode": code}
        )

    return do


def _call(workflow: Json) -> None:
    of(workflow, "ship").update(
        type=f"{PREFIX}httpRequest", typeVersion=4.2, parameters={"url": "https://x.example"},
        credentials={"httpBasicAuth": {"id": "c1", "name": "Kim"}}, retryOnFail=True,
    )  # fmt: skip


def _delete(element: str) -> Callable[[Json], None]:
    def do(workflow: Json) -> None:
        name = of(workflow, element)["name"]
        workflow["nodes"] = [n for n in workflow["nodes"] if n["name"] != name]
        ahead = workflow["connections"].pop(name)["main"][0]
        for kinds in workflow["connections"].values():
            for ends in kinds["main"]:
                if any(end["node"] == name for end in ends):
                    ends[:] = [*(e for e in ends if e["node"] != name), *copy.deepcopy(ahead)]

    return do


def _swap_wires(workflow: Json) -> None:
    """Bill before ship."""
    one, two = of(workflow, "ship")["name"], of(workflow, "bill")["name"]
    other = {one: two, two: one}
    wires = {}
    for source, kinds in workflow["connections"].items():
        for ends in kinds["main"]:
            for end in ends:
                end["node"] = other.get(end["node"], end["node"])
        wires[other.get(source, source)] = kinds
    workflow["connections"] = wires


def _insert(before: str) -> Callable[[Json], None]:
    def do(workflow: Json) -> None:
        target = of(workflow, before)["name"]
        workflow["nodes"].append(
            {"id": "added", "name": "Log it", "type": f"{PREFIX}code", "typeVersion": 2,
             "position": [5, 5], "parameters": {"jsCode": "return $input.all();"}}
        )  # fmt: skip
        for source, kinds in workflow["connections"].items():
            # as in the editor, on the wires that lead there: not on the one by which it asks again
            for ends in kinds["main"] if source != f"{target} answered?" else []:
                for end in ends:
                    end["node"] = "Log it" if end["node"] == target else end["node"]
        workflow["connections"]["Log it"] = {
            "main": [[{"node": target, "type": "main", "index": 0}]]
        }

    return do


def _condition(label: str, now: str) -> Callable[[Json], None]:
    def do(workflow: Json) -> None:
        for rule in of(workflow, "ok")["parameters"]["rules"]["values"]:
            for one in rule["conditions"]["conditions"]:
                one["rightValue"] = now if one["rightValue"] == label else one["rightValue"]

    return do


def _row(element: str, **fields: Any) -> Callable[[Json], None]:
    return lambda workflow: of(workflow, element).update(copy.deepcopy(fields))


def _note(workflow: Json) -> None:
    row = of(workflow, "ship")
    row["notes"] = f"Ask Kim first.\n\n{row['notes']}"


def _sticky(workflow: Json) -> None:
    workflow["nodes"].append(
        {"id": "note", "name": "Mine", "type": f"{PREFIX}stickyNote", "typeVersion": 1,
         "position": [0, 900], "parameters": {"content": "Mind the customs"}}
    )  # fmt: skip


def _rename(workflow: Json) -> None:
    row = of(workflow, "ship")
    old, row["name"] = row["name"], "Call the carrier"
    workflow["connections"]["Call the carrier"] = workflow["connections"].pop(old)
    for kinds in workflow["connections"].values():
        for ends in kinds["main"]:
            for end in ends:
                end["node"] = row["name"] if end["node"] == old else end["node"]


def _whole(key: str, value: Any) -> Callable[[Json], None]:
    return lambda workflow: workflow.update({key: copy.deepcopy(value)})


def _setting(key: str, value: str) -> Callable[[Json], None]:
    return lambda workflow: workflow["settings"].update({key: value})


EDITS: Mapping[str, Edit] = {
    "fill ship with credential": Edit(_call, {"ship"}),
    "fill check": Edit(
        _fill("check", "return [{ json: { ...$json, in_stock: 'Yes', all_there: 'Yes' } }];"),
        {"check"},
    ),
    "fill bill": Edit(_fill("bill"), {"bill"}),
    "fill register": Edit(_fill("register"), {"register"}),
    "read register": Edit(_fill("bill", "return $('Register').all();"), {"bill", "register"}),
    "delete bill": Edit(_delete("bill"), breaks=True, near={"bill", "ship"}),
    "delete ship": Edit(_delete("ship"), breaks=True, near={"ok", "ship", "bill"}),
    "swap ship, bill": Edit(_swap_wires, breaks=True, near={"ok", "ship", "bill"}),
    "insert before gateway": Edit(_insert("ok"), near={"check", "ok"}, added=("Log it",)),
    "insert before bill": Edit(_insert("bill"), near={"ship", "bill"}, added=("Log it",)),
    "insert before check": Edit(_insert("check"), near={"register", "check"}, added=("Log it",)),
    "condition Yes": Edit(_condition("Yes", "Ja"), {"ok"}, breaks=True),
    "condition Complete": Edit(_condition("Yes", "Complete"), {"ok"}, breaks=True),
    "disable bill": Edit(_row("bill", disabled=True), {"bill"}, breaks=True),
    "retry ship": Edit(_row("ship", retryOnFail=True, maxTries=4), {"ship"}),
    "move ship": Edit(_row("ship", position=[1234, 4321])),
    "note on ship": Edit(_note, {"ship"}),
    "sticky note": Edit(_sticky),
    "rename ship": Edit(_rename, {"ship"}),
    "pin ship": Edit(_whole("pinData", {"Ship": [{"json": {"a": 1}}]})),
    "error workflow": Edit(_setting("errorWorkflow", "w1")),
    "time zone": Edit(_setting("timezone", "Asia/Tokyo")),
    "tags": Edit(_whole("tags", [{"id": "t1", "name": "live"}])),
}


# -- what has to come of it ------------------------------------------------------------------------

_FIELDS = ("type", "typeVersion", "parameters", "credentials", "disabled", "retryOnFail",
           "maxTries", "onError", "executeOnce", "alwaysOutputData")  # fmt: skip


def _plain(workflow: Json, row: Json, key: str) -> Any:
    """A field with names of nodes replaced by their elements, without ids and addresses."""
    value = row.get(key)
    if key == "parameters":
        value = {k: v for k, v in value.items() if k != "path"}
        text = json.dumps(value, sort_keys=True)
        for one in workflow["nodes"]:
            text = text.replace(f"$('{one['name']}')", f"$(@{tag(one) or one['name']})")
        return re.sub(r'"id": "[^"]*"', "", text)
    return value


def _rows(workflow: Json) -> dict[str, Json]:
    return {tag(n): n for n in workflow["nodes"] if tag(n)}


def expected(base: Json, theirs: Json, ours: Json) -> tuple[dict[str, dict[str, Any]], set[str]]:
    """Fields by element, three ways, and the elements that both sides changed in one field, each in
    its own way. A placeholder that the model changed gives way to what a person put in; of rules
    each is a field of its own."""
    sides = [(w, _rows(w)) for w in (base, theirs, ours)]
    found: dict[str, dict[str, Any]] = {}
    clashes: set[str] = set()
    for element in sides[2][1]:
        if any(element not in rows for _, rows in sides):
            continue
        was, its, mine = ({k: _plain(w, rows[element], k) for k in _FIELDS} for w, rows in sides)
        names = [rows[element]["name"] for _, rows in sides]
        was["name"], its["name"], mine["name"] = names
        holds = mine["type"] in (f"{PREFIX}noOp", f"{PREFIX}set", f"{PREFIX}wait")
        filled = was["type"] != its["type"] and holds
        now: dict[str, Any] = {}
        for key in was:
            if filled and key in ("type", "typeVersion", "parameters"):
                now[key] = its[key]
            elif its[key] == was[key]:
                now[key] = mine[key]
            elif mine[key] in (was[key], its[key]):
                now[key] = its[key]
            elif key == "parameters" and "rules" in rows_of_all(sides, element):
                labels = [labels_of(rows[element]) for _, rows in sides]
                if any(b not in (t, o) and t != o for b, t, o in zip(*labels, strict=False)):
                    clashes.add(element)
            else:
                clashes.add(element)
        found[element] = now
    return found, clashes


def labels_of(row: Json) -> list[str]:
    """What the rules of a Switch compare with."""
    rules = row["parameters"]["rules"]["values"]
    return [one["rightValue"] for rule in rules for one in rule["conditions"]["conditions"]]


def rows_of_all(sides: list[tuple[Json, dict[str, Json]]], element: str) -> set[str]:
    """Keys of the parameters that an element's node has in all versions."""
    return set.intersection(*(set(rows[element]["parameters"]) for _, rows in sides))


def _lost_labels(base: Json, theirs: Json, ours: Json, result: Json) -> list[str]:
    """Labels that one side wrote, and that no rule of the result has."""
    was, its, mine, now = (labels_of(of(w, "ok")) for w in (base, theirs, ours, result))
    written = [one for one in (*its, *mine) if one not in was]
    return [f"condition {one}" for one in written if one not in now]


def lost(edit: Edit, base: Json, theirs: Json, ours: Json, result: Json) -> list[str]:
    """What the result of a merge lacks, or has and should not."""
    found: list[str] = []
    wanted, clashes = expected(base, theirs, ours)
    rows, its, mine = _rows(result), _rows(theirs), _rows(ours)
    deleted = _rows(base).keys() - its.keys()
    found += [f"no {e}" for e in mine.keys() - deleted - rows.keys()]
    found += [f"{e} came back" for e in rows.keys() - mine.keys()]
    tags = [tag(n) for n in result["nodes"] if tag(n)]
    found += [f"{e} twice" for e in set(tags) if tags.count(e) > 1]
    if not clashes:
        found += _lost_labels(base, theirs, ours, result)
    for element, fields in wanted.items():
        if element in clashes or element not in rows:
            continue
        found += [
            f"{element}.{key} is {now!r} instead of {value!r}"
            for key, value in fields.items()
            if (now := rows[element]["name"] if key == "name"
                else _plain(result, rows[element], key)) != value
        ]  # fmt: skip
    names = [n["name"] for n in result["nodes"]]
    found += [f"{name} {names.count(name)} times" for name in edit.added if names.count(name) != 1]
    wires = {end["node"] for k in result["connections"].values() for o in k["main"] for end in o}
    found += [
        f"{name} is not connected"
        for name in edit.added
        if name not in wires or name not in result["connections"]
    ]
    found += [f"wire to {name}, which is not there" for name in wires - set(names)]
    for element, row in its.items():
        words = row["notes"].partition("\n\n")[0]
        if element in rows and words == "Ask Kim first." and words not in rows[element]["notes"]:
            found.append(f"note of {element}")
        moved = row["position"] != _rows(base).get(element, row)["position"]
        if element in rows and moved and rows[element]["position"] != row["position"]:
            found.append(f"position of {element}")
    for one in theirs["nodes"]:
        if one["name"] == "Mine" and one not in result["nodes"]:
            found.append("sticky note")
    for key, value in theirs["settings"].items():
        if value != base["settings"].get(key) and result["settings"].get(key) != value:
            found.append(f"setting {key}")
    if theirs.get("tags") != result.get("tags"):
        found.append("tags")
    for items in (theirs.get("pinData") or {}).values():
        name = rows["ship"]["name"] if "ship" in rows else ""
        if name and (result.get("pinData") or {}).get(name) != items:
            found.append("pinned data")
    return found
