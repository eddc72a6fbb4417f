"""Models and findings of code that does not ship with orgflow are validated before they are used.

Creating a value does not check its types (`orgflow_ir.model.value`); mypy checks them for built-in
code, and these functions check them for plugins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.diagnostics.core_rules import UnwritableCharacters
from orgflow_ir.model import Model, Process
from orgflow_ir.model.characters import with_writable_texts
from orgflow_ir.model.element_names import ElementNames
from orgflow_ir.model.provenance import all_elements

if TYPE_CHECKING:
    from orgflow_ir.pipeline.context import PassContext


def is_ours(leaf: object) -> bool:
    """Whether a leaf ships with orgflow."""
    return f"{type(leaf).__module__}.".startswith(("orgflow.", "orgflow_ir."))


def validated_model(leaf: object, model: Model, before: Model | None = None) -> Model:
    """The model that a leaf made; all its parts are validated unless the leaf is built in.

    `before` is its input model; returning it unchanged needs no validation.

    Raises `pydantic.ValidationError` (a `ValueError`).
    """
    if model is before or is_ours(leaf):
        return model
    return Model.validate(model)


def writable_model(model: Model, origin: str, ctx: PassContext) -> Model | None:
    """The model with characters that outputs cannot represent replaced, which is reported as OF007;
    `None`, with OF007 as an error, if two ids differ only in such characters.

    `origin` is the origin of the texts, as the subject of a sentence.
    """
    writable = with_writable_texts(model).replace(source=model.source)
    if writable == model:
        return model
    pairs = [*zip(all_elements(model), all_elements(writable), strict=True)]
    if len({new.id for _, new in pairs}) < len({old.id for old, _ in pairs}):
        ctx.emit(
            UnwritableCharacters,
            f"{origin} has two ids that differ only in control characters",
            help="give one of them another id",
            severity=Severity.ERROR,
        )
        return None
    changed = [new for old, new in pairs if old != new and not isinstance(new, Process)]
    names = ElementNames(writable)
    where = f", first at {names.full_name(changed[0])}" if changed else ""
    ctx.emit(
        UnwritableCharacters,
        f"{origin} contains control characters or lone surrogates{where}; they are replaced",
        element=changed[0] if changed else None,
        help="remove them from the source",
    )
    return writable


def validate_findings(leaf: object, ctx: PassContext, since: int) -> None:
    """Validate the diagnostics that a leaf emitted, from position `since` on, unless the leaf is
    built in.

    A finding that no reporter could print is removed.

    Raises `pydantic.ValidationError` (a `ValueError`) of the first of them.
    """
    if is_ours(leaf):
        return
    good, fault = [], None
    for finding in ctx.diagnostics[since:]:
        try:
            # the other fields are text, which `emit` sees to
            plain = not (finding.related or finding.trace or finding.fix or finding.loc)
            good.append(finding if plain else Diagnostic.validate(finding))
        except ValueError as error:
            fault = fault or error
    ctx.diagnostics[since:] = good
    if fault is not None:
        raise fault
