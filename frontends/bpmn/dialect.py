"""The engine of a file: one that it names, or one whose extensions it uses."""

from __future__ import annotations

from orgflow.backends.bpmn.format import (
    BPMN,
    DIALECT,
    MODELER,
    NO_DIALECT,
    PLATFORMS,
    VENDORS,
    engine_of,
)
from orgflow.frontends.xml.tree import XmlDocument, XmlElement

from orgflow_ir.model.dialect import ENGINE_NAMES, Dialect, Engine
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceLocation


class _Found(NamedTuple):
    evidence: str
    at: XmlElement


class Dialects:
    """The engine of a file, and processes that state another one."""

    def __init__(self, document: XmlDocument, file: str) -> None:
        self._file = file
        self._of_file = _read_dialect(document, file)

    def of(self, process: XmlElement, stated: str | None) -> Dialect | None:
        """The engine of a process. `stated` is the attribute that orgflow's writer adds if nothing
        else in the file shows the engine. Raises `ValueError` for an unknown engine."""
        if stated is None:
            return self._of_file
        if stated == NO_DIALECT:
            return None
        for engine in ENGINE_NAMES:
            if engine == stated:
                use = _Found(f'orgflow:{DIALECT}="{stated}"', process)
                return _build_dialect(engine, use, self._file)
        raise ValueError(stated)


def _read_dialect(document: XmlDocument, file: str) -> Dialect | None:
    root = document.root
    declared = {
        prefix: VENDORS[uri] for prefix, uri in root.scope.prefixes.items() if uri in VENDORS
    }
    noted = next(
        (
            (key, value)
            for key, value in root.attrs.items()
            if key.endswith(":executionPlatform")
            and root.scope.attribute_name(key)[0] == MODELER
            and value.strip().lower() in PLATFORMS
        ),
        None,
    )
    used = {} if noted is not None else _first_uses(document, declared)
    exporter = root.attrs.get("exporter", "")
    engine = engine_of(() if noted is None else noted[1:], used, exporter, declared.values())
    if engine is None:
        return None
    if noted is not None:
        use = _Found(f'{noted[0]}="{noted[1]}"', root)
    elif used:
        use = used[engine]
    else:
        prefixes = {e: p for p, e in declared.items()}
        by_tool = engine_of((), (), exporter, ()) is not None
        use = _Found(f'exporter="{exporter}"' if by_tool else f"xmlns:{prefixes[engine]}", root)
    return _build_dialect(engine, use, file)


def _first_uses(document: XmlDocument, declared: dict[str, Engine]) -> dict[Engine, _Found]:
    """The first use of the vocabulary of each engine."""
    uses: dict[Engine, _Found] = {}
    top = document.root.scope
    for node in document.elements:
        if not declared and node.scope is top:
            continue  # no prefix of an engine is in force here
        if node.ns != BPMN and node.ns in VENDORS:
            uses.setdefault(VENDORS[node.ns], _Found(f"<{node.qname}>", node))
        for key in node.attrs:
            if ":" in key and not key.startswith("xmlns"):
                engine = VENDORS.get(node.scope.attribute_name(key)[0])
                if engine is not None:
                    uses.setdefault(engine, _Found(key, node))
    return uses


def _build_dialect(engine: Engine, use: _Found, file: str) -> Dialect:
    node = use.at
    loc = SourceLocation(
        file=file, line=node.line, column=node.column, element=node.qname,
        span=(node.start, node.end),
    )  # fmt: skip
    return Dialect(engine=engine, evidence=use.evidence, loc=loc)
