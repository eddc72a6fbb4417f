"""Write `known-nodes.json` and `known-operations.json` of `node_types/schema` from the node
descriptions of installed n8n packages.

    python write_known_nodes.py NODES.JSON... (each: PACKAGE=path of dist/types/nodes.json)

Only facts that a message needs are taken: which types and versions exist, which names the
parameters of the core nodes have in which version, and which values some of them offer.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parents[4] / "backends/n8n/node_types/schema/known-nodes.json"
OPERATIONS = TARGET.with_name("known-operations.json")
CORE = (
    "aggregate", "code", "emailSend", "errorTrigger", "executeWorkflow", "executeWorkflowTrigger",
    "filter", "form", "formTrigger", "httpRequest", "if", "limit", "manualTrigger", "merge",
    "noOp", "removeDuplicates", "respondToWebhook", "scheduleTrigger", "set", "sort", "splitOut",
    "splitInBatches", "stopAndError", "summarize", "switch", "wait", "webhook",
)  # fmt: skip
"""Nodes of n8n-nodes-base whose parameters are checked."""

CHOSEN = ("mode", "resume", "operation", "combineBy", "method", "errorType", "unit")
"""Parameters whose values are checked, where they are a choice among fixed ones."""


EMITTED = (
    "code", "emailSend", "executeWorkflow", "executeWorkflowTrigger", "form", "formTrigger",
    "httpRequest", "if", "merge", "microsoftTeams", "respondToWebhook", "scheduleTrigger", "set",
    "slack", "stopAndError", "switch", "wait", "webhook",
)  # fmt: skip
"""Nodes whose default values are kept: n8n's editor omits those when it saves a workflow."""


def defaults_of(described: list[dict[str, Any]], short: str) -> dict[str, Any]:
    """The default of each parameter by its path, if it has the same one wherever it is shown."""
    found: dict[str, set[str]] = defaultdict(set)

    def walk(properties: list[dict[str, Any]], path: tuple[str, ...]) -> None:
        for prop in properties:
            place = (*path, prop["name"])
            if prop["type"] == "collection":
                walk(prop.get("options", []), place)
            elif prop["type"] == "fixedCollection":
                for option in prop.get("options", []):
                    walk(option.get("values", []), (*place, option["name"]))
            if prop["type"] != "notice" and isinstance(
                prop.get("default"), str | bool | int | float
            ):
                found[".".join(place)].add(json.dumps(prop["default"]))

    for one in described:
        if one["name"].rpartition(".")[2] == short:
            walk(one["properties"], ())
    return {path: json.loads(*some) for path, some in sorted(found.items()) if len(some) == 1}


def versions_of(described: dict[str, Any]) -> list[float]:
    """The versions that a description is about."""
    found = described["version"]
    return sorted(found) if isinstance(found, list) else [found]


def meets(conditions: list[Any], version: float) -> bool:
    """Whether a version meets one of the conditions of `displayOptions`."""
    tests = {
        "gte": lambda to: version >= to,
        "gt": lambda to: version > to,
        "lte": lambda to: version <= to,
        "lt": lambda to: version < to,
        "eq": lambda to: version == to,
        "not": lambda to: version != to,
        "between": lambda to: to["from"] <= version <= to["to"],
    }
    for condition in conditions:
        if isinstance(condition, dict):
            ((kind, bound),) = condition["_cnd"].items()
            if tests[kind](bound):
                return True
        elif condition == version:
            return True
    return False


def in_version(prop: dict[str, Any], version: float) -> bool:
    """Whether n8n can show a parameter in this version of its node."""
    options = prop.get("displayOptions", {})
    show = options.get("show", {}).get("@version")
    hide = options.get("hide", {}).get("@version")
    return (show is None or meets(show, version)) and not (hide and meets(hide, version))


def table(packages: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The content of the file."""
    types: dict[str, dict[str, list[float]]] = {}
    parameters: dict[str, dict[str, set[float]]] = {}
    options: dict[str, dict[str, dict[str, set[float]]]] = {}
    versioned: dict[str, list[str]] = {}
    for package, descriptions in packages.items():
        versions: dict[str, set[float]] = defaultdict(set)
        counts = Counter(one["name"].rpartition(".")[2] for one in descriptions)
        versioned[package] = sorted(name for name, count in counts.items() if count > 1)
        for one in descriptions:
            short = one["name"].rpartition(".")[2]
            versions[short].update(versions_of(one))
            if package == "n8n-nodes-base" and short in CORE:
                known = parameters.setdefault(short, defaultdict(set))
                for prop in one["properties"]:
                    if prop["type"] == "notice":
                        continue
                    for version in versions_of(one):
                        if in_version(prop, version):
                            known[prop["name"]].add(version)
                            if prop["type"] == "options" and prop["name"] in CHOSEN:
                                chosen = options.setdefault(short, {})
                                values = chosen.setdefault(prop["name"], defaultdict(set))
                                for option in prop.get("options", ()):
                                    if in_version(option, version):
                                        values[str(option["value"])].add(version)
        types[package] = {k: sorted(v) for k, v in sorted(versions.items())}
    return {
        "n8n": "2.41",
        "types": types,
        "versioned": versioned,
        "parameters": {
            short: {name: sorted(found) for name, found in sorted(known.items())}
            for short, known in sorted(parameters.items())
        },
        "options": {
            short: {
                name: {value: sorted(found) for value, found in sorted(values.items())}
                for name, values in sorted(known.items())
                if values
            }
            for short, known in sorted(options.items())
        },
        "defaults": {
            short: defaults_of(packages["n8n-nodes-base"], short)
            for short in EMITTED
            if "n8n-nodes-base" in packages
        },
    }


def operations(packages: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The resources and operations of each node, one entry for the versions that have the same.

    `operation` maps each resource to its operations; the resource is `` where the node has none or
    an operation does not depend on it. Nodes whose operations n8n loads from a service are left
    out.
    """
    listed: dict[str, list[dict[str, Any]]] = {}
    for one in packages["n8n-nodes-base"]:
        short = one["name"].rpartition(".")[2]
        for version in versions_of(one):
            entry = operations_in(one["properties"], version)
            if entry is None:
                continue
            same = (e for e in listed.get(short, ()) if {**e, "versions": []} == entry)
            known = next(same, None)
            if known is None:
                known = {**entry, "versions": []}
                listed.setdefault(short, []).append(known)
            known["versions"].append(version)
    return {"n8n": "2.41", "types": dict(sorted(listed.items()))}


def operations_in(properties: list[dict[str, Any]], version: float) -> dict[str, Any] | None:
    """The entry of one version of a node; `None` if some of its operations are not fixed."""
    resources: set[str] = set()
    by_resource: dict[str, set[str]] = defaultdict(set)
    for prop in properties:
        if prop["name"] not in ("resource", "operation") or not in_version(prop, version):
            continue
        if prop["type"] not in ("options", "hidden") or "loadOptionsMethod" in str(prop):
            return None
        values = [str(o["value"]) for o in prop.get("options", ()) if in_version(o, version)]
        if isinstance(prop.get("default"), str) and prop["default"]:
            values.append(prop["default"])
        if prop["name"] == "resource":
            resources.update(values)
        else:
            for resource in prop.get("displayOptions", {}).get("show", {}).get("resource", [""]):
                by_resource[str(resource)].update(values)
    if not by_resource:
        return None
    return {
        "versions": [],
        "resource": sorted(resources),
        "operation": {name: sorted(some) for name, some in sorted(by_resource.items())},
    }


def text(value: dict[str, Any]) -> str:
    """JSON with a type or a parameter a line."""
    plain = json.dumps(value["n8n"])
    parts = [f'{{\n"n8n": {plain}']
    parts.append(f'"versioned": {json.dumps(value["versioned"])}')
    for section in ("types", "parameters", "options", "defaults"):
        groups = []
        for group, rows in value[section].items():
            lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in rows.items())
            inside = f"\n{lines}\n" if rows else ""
            groups.append(f"{json.dumps(group)}: {{{inside}}}")
        parts.append(f'"{section}": {{\n' + ",\n".join(groups) + "\n}")
    return ",\n".join(parts) + "\n}\n"


def operations_text(value: dict[str, Any]) -> str:
    """JSON with a type a line."""
    lines = (f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in value["types"].items())
    return f'{{\n"n8n": {json.dumps(value["n8n"])},\n"types": {{\n' + ",\n".join(lines) + "\n}\n}\n"


if __name__ == "__main__":
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    read = {name: json.loads(Path(path).read_text("utf-8")) for name, path in given.items()}
    TARGET.write_text(text(table(read)), "utf-8")
    OPERATIONS.write_text(operations_text(operations(read)), "utf-8")
