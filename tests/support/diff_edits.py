"""Changes of n8n workflows for tests of comparisons: harmless ones and others."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.comparison import Behaviour, Change, Comparison, Part
from orgflow_ir.targets.comparison_text import comparison_text

Json = dict[str, Any]

STICKY = "n8n-nodes-base.stickyNote"


def compiled(
    path: Path,
    registry: Registry,
    *,
    force: bool = True,
    people: str = "placeholder",
    waits: str = "rows",
) -> list[Json]:
    """The workflows of a model; none where it is refused. Tasks of people are placeholders unless
    it is said: the tests play workflows by what placeholders put out."""
    ctx = PassContext(registry=registry, options={"people": people, "waits": waits})
    model = load_model(str(path), registry, ctx, diagram=True)
    assert model is not None
    found = compile_model(model, registry.backends["n8n"], ctx, force=force)
    return [json.loads(a.text) for a in (found.artifacts if found is not None else ())]


def node(workflow: Json, name: str) -> Json:
    found: Json = next(n for n in workflow["nodes"] if n["name"] == name)
    return found


def outputs(workflow: Json, name: str) -> list[list[Json]]:
    found: list[list[Json]] = workflow["connections"][name]["main"]
    return found


def steps(workflow: Json) -> list[Json]:
    return [n for n in workflow["nodes"] if n["type"] != STICKY]


# -- what is no change -----------------------------------------------------------------------


def relaid(workflow: Json, seed: int = 1) -> Json:
    """Other positions in the same order from top to bottom, other ids, nodes in another order,
    keys in another order; what n8n's editor does on import, and a person who tidies up."""
    rng = random.Random(seed)
    found = copy.deepcopy(workflow)
    for item in found["nodes"]:
        x, y = item.get("position") or (0, 0)
        item["position"] = [x * 2 - 777, y * 3 + 40]
        item["id"] = f"new-{rng.random()}"
        if item["type"] == STICKY:
            parameters = item.get("parameters") or {}
            item["parameters"] = {**parameters, "width": 7, "height": 8, "color": 3}
    rng.shuffle(found["nodes"])
    found["nodes"] = [dict(sorted(item.items(), reverse=True)) for item in found["nodes"]]
    found["versionId"] = "other"
    connections = list((found.get("connections") or {}).items())
    rng.shuffle(connections)
    found["connections"] = dict(connections)
    return dict(reversed(found.items()))


def quoted(name: str) -> str:
    """A reference to a node as the compiler writes it."""
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"$('{escaped}')"


def _followed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str) and value.startswith("="):
        for old in sorted(names, key=len, reverse=True):
            value = value.replace(quoted(old), quoted(names[old]))
        return value
    if isinstance(value, list):
        return [_followed(v, names) for v in value]
    if isinstance(value, dict):
        # The editor also follows the names that code reads.
        return {
            k: _followed(f"={v}", names)[1:] if k == "jsCode" else _followed(v, names)
            for k, v in value.items()
        }
    return value


def renamed(workflow: Json, every: int = 1) -> tuple[Json, dict[str, str]]:
    """Steps under another name, with wires and references following, as the editor does it; and
    the new names by the old ones."""
    chosen = [n["name"] for n in steps(workflow)][::every]
    names = {name: f"{name} (new)" for name in chosen}
    found = copy.deepcopy(workflow)
    for item in steps(found):
        item["name"] = names.get(item["name"], item["name"])
        item["parameters"] = _followed(item.get("parameters", {}), names)
    found["connections"] = {
        names.get(source, source): {
            kind: [
                [{**e, "node": names.get(e["node"], e["node"])} for e in ends or ()]
                for ends in lists
            ]
            for kind, lists in kinds.items()
        }
        for source, kinds in found["connections"].items()
    }
    return found, names


# -- what is one -----------------------------------------------------------------------------


def swapped_branches(workflow: Json, name: str, one: int = 0, other: int = 1) -> Json:
    found = copy.deepcopy(workflow)
    main = outputs(found, name)
    main[one], main[other] = main[other], main[one]
    return found


def merge_as(workflow: Json, name: str, **parameters: Any) -> Json:
    found = copy.deepcopy(workflow)
    node(found, name)["parameters"] = parameters
    return found


def for_each_item(workflow: Json, *names: str) -> Json:
    """Nodes that work each item that comes, not the first alone."""
    found = copy.deepcopy(workflow)
    for name in names:
        node(found, name).pop("executeOnce")
    return found


def dropped(workflow: Json, name: str) -> Json:
    """A step cut out, with its wires joined."""
    found = copy.deepcopy(workflow)
    after = found["connections"].pop(name, {"main": [[]]})["main"][0]
    found["nodes"] = [n for n in found["nodes"] if n["name"] != name]
    for kinds in found["connections"].values():
        for ends in kinds["main"]:
            here = [e for e in ends if e["node"] == name]
            ends[:] = [e for e in ends if e["node"] != name] + [
                dict(e) for e in after for _ in here
            ]
    return found


def doubled(workflow: Json, name: str) -> Json:
    """A second wire from each source of a step, so that it runs twice."""
    found = copy.deepcopy(workflow)
    for kinds in found["connections"].values():
        for ends in kinds["main"]:
            ends += [dict(e) for e in ends if e["node"] == name]
    return found


def moved_edge(workflow: Json, source: str, output: int, target: str) -> Json:
    found = copy.deepcopy(workflow)
    outputs(found, source)[output][0] = {"node": target, "type": "main", "index": 0}
    return found


def inserted(workflow: Json, after: str, name: str, kind: str = "noOp") -> Json:
    """A step put behind another, at all wires of its first output."""
    found = copy.deepcopy(workflow)
    x, y = node(found, after)["position"]
    found["nodes"].append(
        {"name": name, "type": f"n8n-nodes-base.{kind}", "typeVersion": 1, "position": [x + 90, y],
         "parameters": {}}
    )  # fmt: skip
    found["connections"][name] = {"main": [outputs(found, after)[0]]}
    outputs(found, after)[0] = [{"node": name, "type": "main", "index": 0}]
    return found


def rules_of(workflow: Json, name: str) -> list[Json]:
    found: list[Json] = node(workflow, name)["parameters"]["rules"]["values"]
    return found


def negated(workflow: Json, name: str, rule: int = 0) -> Json:
    found = copy.deepcopy(workflow)
    conditions = rules_of(found, name)[rule]["conditions"]["conditions"][0]
    conditions["operator"]["operation"] = "notEquals"
    return found


def reordered_rules(workflow: Json, name: str) -> Json:
    """The first two rules of a Switch change places, and their wires with them."""
    found = swapped_branches(workflow, name)
    rules = rules_of(found, name)
    rules[0], rules[1] = rules[1], rules[0]
    return found


def models(shared: Path) -> Iterator[Path]:
    """The benchmark's drawings."""
    yield from sorted((shared / "data" / "pmo" / "bpmn").glob("*.bpmn"))


def behaviour(part: Part) -> Behaviour:
    assert part.behaviour is not None
    return part.behaviour


def told(part: Part, what: str) -> list[Change]:
    return [c for c in part.changes if c.what == what]


def shown(part: Part) -> str:
    return comparison_text(Comparison("old", "new", "workflows", (part,)))
