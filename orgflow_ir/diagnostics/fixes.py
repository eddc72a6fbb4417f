"""Fixes applied to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.diagnostics.diagnostic import Fix
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model

if TYPE_CHECKING:
    from orgflow_ir.model import rewriter as model_rewriter
else:  # a fix is applied or offered
    model_rewriter = LazyModule("orgflow_ir.model.rewriter")


class FixError(ValueError):
    """A fix does not fit the model it is applied to."""


def apply(model: Model, fix: Fix) -> Model:
    """The model after the edits of `fix`, in order. Raises `FixError`."""
    return _edit_model(model, fix).done()


def in_full(model: Model, fix: Fix) -> Fix:
    """The fix with its small edits (`relabel`, `set-condition` …) expanded to the elements that
    they replace, for code that writes elements into a file. Raises `FixError`."""
    if all(edit.action in ("add", "replace", "remove") for edit in fix.edits):
        return fix
    return fix.replace(edits=_edit_model(model, fix).edits)


def _edit_model(model: Model, fix: Fix) -> model_rewriter.Rewriter:
    rewriter = model_rewriter.Rewriter(model)
    try:
        for edit in fix.edits:
            rewriter.make(edit)
    except model_rewriter.EditError as error:
        raise FixError(str(error)) from None
    return rewriter
