"""Outlines there and back: read, printed, and through BPMN."""

from __future__ import annotations

from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

REGISTRY = Registry(outside=False)


def read_text(text: str, name: str = "model.outline") -> tuple[Model | None, list[Diagnostic]]:
    """The model in a text of any format, and the findings of its reader."""
    ctx = PassContext(registry=REGISTRY)
    return load_model(SourceFile(name, text.encode()), REGISTRY, ctx), ctx.diagnostics


def model_of(text: str, name: str = "model.outline") -> Model:
    """The model in a text without findings."""
    model, findings = read_text(text, name)
    assert model is not None, [(str(d.loc), d.message) for d in findings]
    return model


def write_model(model: Model, target: str) -> tuple[str | None, list[Diagnostic]]:
    """The file that a target writes, and its findings; `None` if it refuses the model."""
    ctx = PassContext(registry=REGISTRY)
    emitted = compile_model(model, REGISTRY.backends[target], ctx)
    return emitted.artifacts[0].text if emitted is not None else None, ctx.diagnostics


def text_of(model: Model, target: str = "outline") -> str:
    """The file that a target writes for a model that it supports."""
    text, findings = write_model(model, target)
    assert text is not None, errors_of(findings)
    return text


def errors_of(findings: list[Diagnostic]) -> list[str]:
    """The errors among findings, each with its code."""
    return [f"{d.code} {d.message}" for d in findings if d.severity is Severity.ERROR]


def through_bpmn(model: Model) -> Model:
    """The model as a BPMN file has it."""
    return model_of(text_of(model, "bpmn"), "model.bpmn")


def format_text(text: str) -> str | None:
    """The canonical form of an outline."""
    frontend = REGISTRY.frontends["outline"]
    return frontend.format_source(SourceFile("m.outline", text.encode()), PassContext())
