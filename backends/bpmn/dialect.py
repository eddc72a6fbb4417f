"""Processes that state their engine, since nothing else in the written file shows it."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.backends.bpmn.format import (
    DIALECT,
    MODELER,
    NO_DIALECT,
    ORGFLOW,
    VENDORS,
    XMLNS,
    engine_of,
    split_key,
)
from orgflow.backends.bpmn.kept import kept_attribute
from orgflow.backends.bpmn.xml_text import Names

from orgflow_ir.model import Event, Flow, Model, Process
from orgflow_ir.model.dialect import Engine
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.value import Extra


class StatedDialects:
    """The attribute of each process of one model."""

    def __init__(self, model: Model, names: Names) -> None:
        self._names = names
        self._shown: Engine | None = None
        self._certain = False
        if any(process.dialect is not None for process in model.processes):
            self._shown, self._certain = _shown_engine(model)

    def attribute(self, process: Process) -> tuple[tuple[str, str], ...]:
        """The attribute that states the engine, if the file does not show it for certain."""
        engine = None if process.dialect is None else process.dialect.engine
        if engine == self._shown and (self._certain or engine is None):
            return ()
        return ((self._names.of(ORGFLOW, DIALECT), engine or NO_DIALECT),)


def _shown_engine(model: Model) -> tuple[Engine | None, bool]:
    """The engine that a reader finds in the file, and whether that is certain: kept XML may or may
    not use vocabularies that it or the root declares."""
    platforms = [v for k, v in model.extra if k == f"@{{{MODELER}}}executionPlatform"]
    declared = [VENDORS[v] for k, v in model.extra if _is_prefix(k) and v in VENDORS]
    exporter = kept_attribute(model.extra, "exporter") or ""
    used: set[Engine] = set()
    possible = set(declared)
    for extra in _list_extras(model):
        for key, value in extra:
            uri = split_key(key)[0]
            if uri in VENDORS:
                used.add(VENDORS[uri])
            elif "<" in value:
                possible.update(engine for at, engine in VENDORS.items() if at in value)
    least = engine_of(platforms, used, exporter, declared)
    most = engine_of(platforms, used | possible, exporter, declared)
    return least, least == most


def _is_prefix(key: str) -> bool:
    return key.startswith(f"@{{{XMLNS}}}") and key != f"@{{{XMLNS}}}xmlns"


def _list_extras(model: Model) -> Iterator[Extra]:
    """Kept data of the model and what is in it, without that of the root's prefixes."""
    yield tuple((k, v) for k, v in model.extra if not k.startswith(f"@{{{XMLNS}}}"))
    for element in all_elements(model):
        yield element.extra
        if isinstance(element, Event):
            yield from (definition.extra for definition in element.definitions)
        elif isinstance(element, Flow) and element.condition is not None:
            yield element.condition.extra
