"""What people do to a workflow in the editor, as functions on its JSON; used by several tests."""

from __future__ import annotations

import copy
import json
import uuid
from typing import Any

Json = dict[str, Any]


def node(workflow: Json, name: str) -> Json:
    """The node of that name."""
    found: Json = next(n for n in workflow["nodes"] if n["name"] == name)
    return found


def renamed(workflow: Json, old: str, new: str) -> Json:
    """Rename a node as the editor does: wires and `$('…')` follow, the map does not."""
    result = copy.deepcopy(workflow)
    node(result, old)["name"] = new
    for row in result["nodes"]:
        if not row["type"].endswith("stickyNote"):
            text = json.dumps(row["parameters"], ensure_ascii=False)
            row["parameters"] = json.loads(text.replace(f"$('{old}')", f"$('{new}')"))
    links = {}
    for source, kinds in result["connections"].items():
        for ends in kinds["main"]:
            for end in ends or ():
                end["node"] = new if end["node"] == old else end["node"]
        links[new if source == old else source] = kinds
    result["connections"] = links
    return result


def imported(workflow: Json) -> Json:
    """As after import and paste: new ids, new webhook paths."""
    result = copy.deepcopy(workflow)
    for number, row in enumerate(result["nodes"]):
        row["id"] = str(uuid.UUID(int=number + 1))
        if "webhookId" in row:
            row["webhookId"] = str(uuid.UUID(int=number + 1000))
    return result


def stripped(workflow: Json, *, notes: bool = True, sticky: bool = True) -> Json:
    """Without notes on nodes, without sticky notes."""
    result = copy.deepcopy(workflow)
    if sticky:
        result["nodes"] = [n for n in result["nodes"] if not n["type"].endswith("stickyNote")]
    for row in result["nodes"]:
        if notes:
            row.pop("notes", None)
    return result


def inserted(workflow: Json, before: str, kind: str = "set", name: str = "Log it") -> Json:
    """A new step between the nodes that lead to `before` and `before`."""
    result = copy.deepcopy(workflow)
    for kinds in result["connections"].values():
        for ends in kinds["main"]:
            for end in ends or ():
                if end["node"] == before:
                    end["node"] = name
    result["nodes"].append(
        {
            "id": "added", "name": name, "type": f"n8n-nodes-base.{kind}", "typeVersion": 3.4,
            "position": [0, 0], "parameters": {},
        }
    )  # fmt: skip
    result["connections"][name] = {"main": [[{"node": before, "type": "main", "index": 0}]]}
    return result


def swapped(workflow: Json, name: str, one: int = 0, other: int = 1) -> Json:
    """The wires of two outputs of a node change places."""
    result = copy.deepcopy(workflow)
    main = result["connections"][name]["main"]
    main[one], main[other] = main[other], main[one]
    return result


def without(workflow: Json, name: str) -> Json:
    """A node deleted, its neighbours joined as the editor does."""
    result = copy.deepcopy(workflow)
    result["nodes"] = [n for n in result["nodes"] if n["name"] != name]
    onward = result["connections"].pop(name, {"main": []})["main"]
    ahead = onward[0] if onward else []
    for kinds in result["connections"].values():
        for place, ends in enumerate(kinds["main"]):
            kept = [e for e in ends or () if e["node"] != name]
            if len(kept) != len(ends or ()):
                kept += copy.deepcopy(ahead)
            kinds["main"][place] = kept
    return result


def pasted(workflow: Json, name: str, copy_name: str) -> Json:
    """A node copied and pasted with its wires: the same work beside it."""
    result = copy.deepcopy(workflow)
    twin = copy.deepcopy(node(result, name))
    twin |= {"name": copy_name, "id": "pasted"}
    result["nodes"].append(twin)
    if name in result["connections"]:
        result["connections"][copy_name] = copy.deepcopy(result["connections"][name])
    for kinds in result["connections"].values():
        for ends in kinds["main"]:
            for end in list(ends or ()):
                if end["node"] == name:
                    ends.append({**end, "node": copy_name})
    return result


def pasted_again(workflow: Json, number: int = 1) -> Json:
    """Everything pasted beside itself as n8n's editor does: new ids, new names, and references
    among the pasted nodes that follow them."""
    result = copy.deepcopy(workflow)
    taken = {row["name"] for row in result["nodes"]}
    names = {row["name"]: f"{row['name']}{number}" for row in workflow["nodes"]}
    assert taken.isdisjoint(names.values())
    for row in copy.deepcopy(workflow["nodes"]):
        row["id"] = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{row['id']}/{number}"))
        text = json.dumps(row["parameters"], ensure_ascii=False)
        for old, new in names.items():
            text = text.replace(f"$('{old}')", f"$('{new}')")
        row |= {"name": names[row["name"]], "parameters": json.loads(text)}
        result["nodes"].append(row)
    for source, kinds in workflow["connections"].items():
        moved = copy.deepcopy(kinds)
        for outputs in moved.values():
            for ends in outputs:
                for end in ends or ():
                    end["node"] = names[end["node"]]
        result["connections"][names[source]] = moved
    return result
