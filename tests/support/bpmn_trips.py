"""BPMN there and back: models read, written, validated against the OMG schema, read again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import SpiffWorkflow.bpmn.parser as spiff
from lxml import etree
from orgflow.backends.bpmn.document import write_document
from orgflow.compilation.reading import load_model

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.layout.keep import draw_model
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.model.value import Value
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

REGISTRY = Registry(outside=False)


def read(
    data: bytes | str, name: str = "model.bpmn", *, diagram: bool = False
) -> tuple[Model, list[Diagnostic]]:
    """The model in bytes of any format, by the file's name, and what was said."""
    ctx = PassContext(registry=REGISTRY)
    raw = data.encode() if isinstance(data, str) else data
    model = load_model(SourceFile(name, raw), REGISTRY, ctx, diagram=diagram)
    assert model is not None, ctx.diagnostics
    return model, ctx.diagnostics


def read_file(path: Path, *, diagram: bool = False) -> Model:
    """The model in a file."""
    return read(path.read_bytes(), str(path), diagram=diagram)[0]


def written(model: Model) -> str:
    """As the backend writes it, with its drawing."""
    return write_document(model, draw_model(model))


@cache
def _schema() -> etree.XMLSchema:
    path = Path(spiff.__file__).parent / "schema" / "BPMN20.xsd"
    return etree.XMLSchema(etree.parse(str(path)))


def schema_errors(text: str | bytes) -> list[str]:
    """What the OMG's schema (as SpiffWorkflow ships it) says against a file."""
    schema = _schema()
    schema.validate(etree.fromstring(text.encode() if isinstance(text, str) else text))
    return [str(e.message) for e in schema.error_log]


def differences(one: object, other: object, where: str = "model") -> Iterator[str]:
    """Where two models differ, for messages of tests."""
    if isinstance(one, Value) and type(one) is type(other):
        for key, value in one.content().items():
            yield from differences(value, other.__dict__[key], f"{where}.{key}")
    elif isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        for at, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, f"{where}[{at}]")
    elif one != other:
        yield f"{where}: {str(one)[:200]!r} is not {str(other)[:200]!r}"
