"""Small BPMN files as text, for tests of the BPMN frontend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.frontends.bpmn.frontend import BpmnFrontend
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model import Element, Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

HEAD = f'<definitions xmlns="{BPMN}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'


def definitions(content: str, attributes: str = "") -> str:
    """A file with `content` in its root."""
    return f'{HEAD} xmlns:v="urn:v" targetNamespace="urn:t"{attributes}>{content}</definitions>'


def process(content: str, attributes: str = "") -> str:
    """A file with one process `p`."""
    return definitions(f'<process id="p"{attributes}>{content}</process>')


def parse(
    text: str | bytes, name: str = "m.bpmn", options: Mapping[str, Any] | None = None
) -> tuple[Model | None, list[Diagnostic]]:
    """What the frontend gives and says."""
    data = text.encode() if isinstance(text, str) else text
    ctx = PassContext(options=options or {})
    return BpmnFrontend().parse(SourceFile(name, data), ctx), ctx.diagnostics


def model_of(text: str | bytes, options: Mapping[str, Any] | None = None) -> Model:
    """The model of a file that has nothing odd about it but what small samples leave out."""
    model, found = parse(text, options=options)
    assert model is not None
    assert [str(d) for d in found if d.severity is Severity.ERROR] == []
    assert Model.from_json(model.to_json()) == model
    return model


def odd(text: str | bytes) -> tuple[Model, list[tuple[str, str | None]]]:
    """The model of an odd file, and (code, element) of what was found."""
    model, found = parse(text)
    assert model is not None
    assert Model.from_json(model.to_json()) == model
    for diagnostic in found:
        assert diagnostic.help
        assert diagnostic.loc is not None
        assert diagnostic.loc.line
        assert diagnostic.loc.column
        assert diagnostic.message[0] in "`abcdefghijklmnopqrstuvwxyz"
        assert not diagnostic.message.endswith(".")
    return model, [(d.code, d.element) for d in found]


def by_id(model: Model) -> dict[str, Element]:
    """All elements inside processes."""
    found: dict[str, Element] = {}
    for scope in model.scopes():
        parts = (scope.nodes, scope.flows, scope.lanes, scope.data_objects, scope.data_flows,
                 scope.artifacts)  # fmt: skip
        found.update((e.id, e) for part in parts for e in part)
    return found
