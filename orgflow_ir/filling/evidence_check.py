"""Compares the evidence in a generated model with the documents that the evidence names."""

from __future__ import annotations

from collections.abc import Callable

from orgflow_ir.diagnostics.agent_rules import NoEvidence, WrongEvidence
from orgflow_ir.model import Element, Event, Evidence, Gateway, Model, Task
from orgflow_ir.model.element_names import ElementNames, one_line
from orgflow_ir.model.evidence import evidence_fault
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.pipeline import PassContext

TextOf = Callable[[str], str | None]
"""The text of a document by its name; None if there is no such document."""


def check_evidence(model: Model, text_of: TextOf, ctx: PassContext) -> None:
    """Report evidence that is missing from the documents, and nodes without evidence.

    Raises `ServiceError` if the documents are in a store that fails.
    """
    names = ctx.analysis(ElementNames, model)
    texts: dict[str, str | None] = {}
    for element in (model, *all_elements(model)):
        for evidence in element.evidence:
            name = evidence.document
            if name not in texts:
                texts[name] = text_of(name)
            fault = _find_fault(evidence, texts[name])
            if fault is not None:
                ctx.emit(
                    WrongEvidence, f"the evidence for {names.full_name(element)} {fault}",
                    element=element, help="compare the element with the documents",
                )  # fmt: skip
        if not element.evidence and _needs_evidence(element):
            ctx.emit(
                NoEvidence, f"{names.full_name(element)} has no evidence", element=element,
                help="compare the element with the documents",
            )  # fmt: skip


def _find_fault(evidence: Evidence, text: str | None) -> str | None:
    document = one_line(evidence.document)
    if text is None:
        return f"names the document `{document}`, which does not exist"
    fault = evidence_fault(evidence, text)
    return None if fault is None else f"from the document `{document}` {fault}"


def _needs_evidence(element: Element) -> bool:
    """Starts, ends and joins that nobody named follow from the rest."""
    if isinstance(element, Task):
        return True
    return isinstance(element, Event | Gateway) and bool(element.name.strip())
