"""The elements at which the canvas of a process that waits in several places goes on.

They are the texts that its conditions compare with `token.event` or `token.element`: after a row
was claimed, an execution goes on there.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_COMPARED: Final = re.compile(
    r"\b(?:event|element)\s*===?\s*(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
)
_COMPARED_FIELD: Final = re.compile(r"\b(?:event|element)\b")
_DECIDING: Final = (".switch", ".if", ".filter")
_MOST_HOPS: Final = 5
"""Most wires between the form of a task and the node after its claim."""


def elements_of(workflow: Mapping[str, Any]) -> dict[str, str]:
    """The elements at which a canvas goes on, with the path of the form of each that has one."""
    names: dict[str, str] = {}
    targets: dict[str, str] = {}
    for node in workflow.get("nodes", ()):
        if not str(node.get("type")).endswith(_DECIDING) or node.get("disabled"):
            continue
        outputs = _outputs_of(workflow, str(node["name"]))
        for number, rule in enumerate(_rules_of(node)):
            for name in _compared_names(rule):
                names.setdefault(name, "")
                for target in outputs[number] if number < len(outputs) else ():
                    targets.setdefault(target, name)
    for node in workflow.get("nodes", ()):
        if str(node.get("type")).endswith(".formTrigger") and not node.get("disabled"):
            parameters = node.get("parameters") or {}
            path = parameters.get("path") or (parameters.get("options") or {}).get("path")
            for reached in _reached_from(workflow, str(node["name"])):
                if path and reached in targets:
                    names[targets[reached]] = str(path)
                    break
    return names


def _rules_of(node: Mapping[str, Any]) -> list[Any]:
    """The conditions of a deciding node, one for each of its outputs."""
    parameters = node.get("parameters") or {}
    rules = parameters.get("rules")
    values = rules.get("values") if isinstance(rules, Mapping) else None
    return list(values) if isinstance(values, list) else [parameters]


def _compared_names(rule: Any) -> Iterator[str]:
    """Texts that a condition compares with an event or an element."""
    if isinstance(rule, str):
        for text in _COMPARED.findall(rule):
            try:
                yield str(json.loads(text) if text[0] == '"' else ast.literal_eval(text))
            except (ValueError, SyntaxError):
                continue
    elif isinstance(rule, Mapping):
        left, right = rule.get("leftValue"), rule.get("rightValue")
        plain = isinstance(right, str) and not right.startswith("=")
        if isinstance(left, str) and _COMPARED_FIELD.search(left) and plain and right:
            yield str(right)
        for value in rule.values():
            yield from _compared_names(value)
    elif isinstance(rule, list):
        for value in rule:
            yield from _compared_names(value)


def _outputs_of(workflow: Mapping[str, Any], name: str) -> list[list[str]]:
    wires = (workflow.get("connections") or {}).get(name) or {}
    return [[str(end["node"]) for end in ends or ()] for ends in wires.get("main", ())]


def _reached_from(workflow: Mapping[str, Any], name: str) -> Iterator[str]:
    """Nodes after a node, the nearest first."""
    level, seen = [name], {name}
    for _ in range(_MOST_HOPS):
        level = [
            target
            for source in level
            for ends in _outputs_of(workflow, source)
            for target in ends
            if target not in seen
        ]
        seen.update(level)
        yield from level
