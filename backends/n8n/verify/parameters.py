"""What else decides in a workflow besides its If and Switch nodes, and has been changed: Merges,
waits, type versions, and steps that set what a gateway reads. Reported, not judged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from orgflow.backends.n8n.engine_model.behaviour import behaviour
from orgflow.backends.n8n.engine_model.merges import is_expression, mapping
from orgflow.backends.n8n.format.document import TYPE_PREFIX
from orgflow.backends.n8n.lint import known
from orgflow.backends.n8n.verify.matching import Matching, Row
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.targets.verification import Changed

_DECIDING = ("if", "switch", "merge", "wait", "filter")
_TIMES = ("resume", "amount", "unit", "dateTime", "limitWaitTime", "resumeAmount", "resumeUnit")


def changed_parameters(ref: Reference, matching: Matching, workflow: Row) -> Iterator[Changed]:
    """Everything of that kind, in the order of the matched nodes."""
    rows = {row["name"]: row for row in workflow["nodes"]}
    setters: dict[str, list[str]] = {}
    for gateway, decision in ref.emission.decisions.items():
        if decision.values:
            own = f"{gateway}\x00decide"
            setter = own if decision.setter == gateway else decision.setter
            setters.setdefault(setter, []).append(gateway)
    for name, key in matching.key_of.items():
        before, now = ref.nodes[key], rows[name]
        element = ref.emission.sketch.nodes[key].element
        for was, told in (
            _version(now),
            _merge(before, now),
            _wait(before, now),
        ):
            if was != told:
                yield Changed(name, element, was, told)
        for gateway in setters.get(key, ()):
            if before.get("type") == f"{TYPE_PREFIX}set":
                yield from _setter(ref, name, gateway, now)


def _short(row: Mapping[str, Any]) -> str:
    return str(row.get("type", "")).removeprefix(TYPE_PREFIX)


def _version(now: Row) -> tuple[str, str]:
    """A node that decides, of a version this n8n does not have: it runs by rules nobody knows."""
    if _short(now) not in _DECIDING or _short(now) == now.get("type"):
        return "", ""
    versions = known.versions(str(now.get("type")))
    version = now.get("typeVersion", 1)
    if not versions or version in versions:
        return "", ""
    return f"version {versions[-1]:g}", f"version {version}, which n8n does not have"


def _merge(before: Row, now: Row) -> tuple[str, str]:
    """A Merge that goes by the data (by fields, by SQL), so that nobody knows what it hands on."""
    if _short(now) != "merge" or behaviour(now, 1, frozenset()).kind == "merge":
        return "", ""
    return _said(before), _said(now)


def _wait(before: Row, now: Row) -> tuple[str, str]:
    if _short(before) != "wait":
        return "", ""
    if _short(now) not in ("wait", "form"):
        return f"a wait: {_time(before)}", f"no wait: {now.get('type')}"
    return _time(before), _time(now)


def _time(row: Mapping[str, Any]) -> str:
    parameters = mapping(row.get("parameters"))
    return " ".join(str(parameters[n]) for n in _TIMES if n in parameters)


def _said(row: Mapping[str, Any]) -> str:
    parameters = json.dumps(row.get("parameters") or {}, sort_keys=True, ensure_ascii=False)
    return f"version {row.get('typeVersion')}, {parameters}"


def _setter(ref: Reference, name: str, gateway: str, now: Row) -> Iterator[Changed]:
    """A Set that no longer sets the decision variable, or always to the same."""
    decision = ref.decision(gateway)
    values = ", ".join(decision.values)
    said = f"{decision.variable} is set to {'some' if decision.several else 'one'} of: {values}"
    if _short(now) == "noOp":
        yield Changed(name, gateway, said, f"{decision.variable} is not set")
    if _short(now) != "set" or mapping(now.get("parameters")).get("mode") == "raw":
        return
    assigned = mapping(mapping(now.get("parameters")).get("assignments")).get("assignments")
    entries = [e for e in assigned if isinstance(e, Mapping)] if isinstance(assigned, list) else []
    mine = [e.get("value") for e in entries if e.get("name") == decision.variable]
    if not mine:
        yield Changed(name, gateway, said, f"{decision.variable} is not set")
    elif mine[-1] not in ("", "[]", None) and not is_expression(mine[-1]):
        yield Changed(name, gateway, said, f"{decision.variable} is always {mine[-1]}")
