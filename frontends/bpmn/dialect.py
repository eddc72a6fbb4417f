"""Which engine a file is written for: one that it names, or one whose extensions it uses."""

from __future__ import annotations

from typing import NamedTuple

from orgflow.frontends.bpmn.names import BPMN
from orgflow.frontends.xml.tree import XmlDocument, XmlElement

from orgflow_ir.model.dialect import Dialect, Engine
from orgflow_ir.model.source import SourceLocation

_MODELER = "http://camunda.org/schema/modeler/1.0"
_PLATFORMS: dict[str, Engine] = {
    "camunda platform": "camunda7", "camunda cloud": "camunda8", "operaton": "operaton",
}  # fmt: skip
_NAMESPACES: dict[str, Engine] = {
    "http://camunda.org/schema/1.0/bpmn": "camunda7",
    "http://operaton.org/schema/1.0/bpmn": "operaton",
    "http://flowable.org/bpmn": "flowable",
    "http://activiti.org/bpmn": "activiti",
    "http://camunda.org/schema/zeebe/1.0": "camunda8",
    "http://www.jboss.org/drools": "jbpm",
}
_EXPORTERS: tuple[tuple[str, Engine], ...] = (
    ("zeebe modeler", "camunda8"), ("flowable", "flowable"), ("activiti", "activiti"),
    ("jbpm", "jbpm"), ("operaton", "operaton"),
)  # fmt: skip
"""Beginnings of the attribute `exporter`. Tools that draw for several engines name none."""

_UNDERSTOOD: dict[Engine, frozenset[Engine]] = {
    "operaton": frozenset(("operaton", "camunda7", "activiti")),
    "camunda7": frozenset(("camunda7", "activiti")),
    "flowable": frozenset(("flowable", "activiti")),
    "activiti": frozenset(("activiti",)),
    "camunda8": frozenset(("camunda8",)),
    "jbpm": frozenset(("jbpm",)),
}
"""The vocabularies that each engine reads."""


class _Found(NamedTuple):
    evidence: str
    at: XmlElement


def read_dialect(document: XmlDocument, file: str) -> Dialect | None:
    """The engine that a file is for; `None` where nothing says it, or several could be meant.

    In this order: the platform that Camunda Modeler notes, the extensions that the file uses, the
    tool that wrote it, the prefixes that it declares and does not use.
    """
    root = document.root
    declared = {
        prefix: _NAMESPACES[uri]
        for prefix, uri in root.scope.prefixes.items()
        if uri in _NAMESPACES
    }
    for key, value in root.attrs.items():
        if key.endswith(":executionPlatform") and root.scope.attribute_name(key)[0] == _MODELER:
            engine = _PLATFORMS.get(value.strip().lower())
            if engine is not None:
                return _dialect(engine, _Found(f'{key}="{value}"', root), file)
    used = _used(document, declared)
    if used:
        return _of_several(used, file)
    exporter = root.attrs.get("exporter", "")
    for name, engine in _EXPORTERS:
        if exporter.strip().lower().startswith(name):
            return _dialect(engine, _Found(f'exporter="{exporter}"', root), file)
    return _of_several({e: _Found(f"xmlns:{p}", root) for p, e in declared.items()}, file)


def _used(document: XmlDocument, declared: dict[str, Engine]) -> dict[Engine, _Found]:
    """The first use of the vocabulary of each engine."""
    found: dict[Engine, _Found] = {}
    top = document.root.scope
    for node in document.elements:
        if not declared and node.scope is top:
            continue  # no prefix of an engine is in force here
        if node.ns != BPMN and node.ns in _NAMESPACES:
            found.setdefault(_NAMESPACES[node.ns], _Found(f"<{node.qname}>", node))
        for key in node.attrs:
            if ":" in key and not key.startswith("xmlns"):
                engine = _NAMESPACES.get(node.scope.attribute_name(key)[0])
                if engine is not None:
                    found.setdefault(engine, _Found(key, node))
    return found


def _of_several(found: dict[Engine, _Found], file: str) -> Dialect | None:
    """The only engine that reads all of these vocabularies and has one of them for its own."""
    fit = [e for e in found if found.keys() <= _UNDERSTOOD[e]]
    return _dialect(fit[0], found[fit[0]], file) if len(fit) == 1 else None


def _dialect(engine: Engine, found: _Found, file: str) -> Dialect:
    node = found.at
    loc = SourceLocation(
        file=file, line=node.line, column=node.column, element=node.qname,
        span=(node.start, node.end),
    )  # fmt: skip
    return Dialect(engine=engine, evidence=found.evidence, loc=loc)
