"""The elements at which the canvas of a process that waits in several places goes on.

They are the texts that its conditions compare with `token.event` or `token.element`: after a row
was claimed, an execution goes on there.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Container, Iterator, Mapping
from typing import Any, Final

_TEXT: Final = r"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
_COMPARED: Final = re.compile(rf"\btoken\.(?:event|element)\s*===?\s*{_TEXT}")
_COMPARED_FIELD: Final = re.compile(r"\btoken\.(?:event|element)\b")
_LINKED: Final = re.compile(rf"\belement\"?:{_TEXT}[^{{}}]*?\blink\"?:{_TEXT}")
"""A row in the code of a canvas that has a link."""

_FORM: Final = "/form/"
_DECIDING: Final = (".switch", ".if", ".filter")
_MOST_HOPS: Final = 5
"""Most wires between the form of a task and the node after its claim."""


def elements_of(workflow: Mapping[str, Any]) -> dict[str, str]:
    """The elements at which a canvas goes on, with the path of the form of each that has one."""
    names: dict[str, str] = {}
    targets: dict[str, str] = {}
    switches: set[str] = set()
    for node in workflow.get("nodes", ()):
        if not str(node.get("type")).endswith(_DECIDING) or node.get("disabled"):
            continue
        outputs = _outputs_of(workflow, str(node["name"]))
        for number, rule in enumerate(_rules_of(node)):
            for name in _compared_names(rule):
                names.setdefault(name, "")
                switches.add(str(node["name"]))
                for target in outputs[number] if number < len(outputs) else ():
                    targets.setdefault(target, name)
    for node in workflow.get("nodes", ()):
        if str(node.get("type")).endswith(".formTrigger") and not node.get("disabled"):
            parameters = node.get("parameters") or {}
            path = parameters.get("path") or (parameters.get("options") or {}).get("path")
            for reached in _reached_from(workflow, str(node["name"]), switches):
                if path and reached in targets:
                    names[targets[reached]] = str(path)
                    break
    for element, path in _linked_forms(workflow):
        if element in names:
            names[element] = path
    return names


def _linked_forms(workflow: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Elements and paths of forms in the rows that the calls of a canvas write."""
    for node in workflow.get("nodes", ()):
        inputs = (node.get("parameters") or {}).get("workflowInputs")
        values = inputs.get("value") if isinstance(inputs, Mapping) else None
        code = values.get("rows") if isinstance(values, Mapping) else None
        for element, link in _LINKED.findall(code) if isinstance(code, str) else ():
            _, form, path = _text_of(link).partition(_FORM)
            if form and path:
                yield _text_of(element), path.partition("?")[0]


def _text_of(literal: str) -> str:
    """The value of a text in JavaScript; empty for one that is written in an uncommon way."""
    try:
        return str(json.loads(literal) if literal[0] == '"' else ast.literal_eval(literal))
    except (ValueError, SyntaxError):
        return ""


def _rules_of(node: Mapping[str, Any]) -> list[Any]:
    """The conditions of a deciding node, one for each of its outputs."""
    parameters = node.get("parameters") or {}
    rules = parameters.get("rules")
    values = rules.get("values") if isinstance(rules, Mapping) else None
    return list(values) if isinstance(values, list) else [parameters]


def _compared_names(rule: Any) -> Iterator[str]:
    """Texts that a condition compares with an event or an element."""
    if isinstance(rule, str):
        yield from filter(None, map(_text_of, _COMPARED.findall(rule)))
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


def _reached_from(workflow: Mapping[str, Any], name: str, ends: Container[str]) -> Iterator[str]:
    """Nodes after a node, the nearest first, but none after those at which the elements part."""
    level, seen = [name], {name}
    for _ in range(_MOST_HOPS):
        level = [
            target
            for source in level
            if source not in ends
            for targets in _outputs_of(workflow, source)
            for target in targets
            if target not in seen
        ]
        seen.update(level)
        yield from level
