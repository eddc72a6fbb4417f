"""Passes: one file each; `pipelines.py` has their order."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.pipeline import Pass
from orgflow_ir.plugins import hookimpl


@hookimpl
def orgflow_passes() -> Iterable[type[Pass]]:
    """The built-in passes, loaded on first use."""
    from orgflow.passes.optional import OPTIONAL
    from orgflow.passes.pipelines import CHECK, GAPS, ON_REQUEST

    return tuple(type(item) for item in (*CHECK, *OPTIONAL, *GAPS, *ON_REQUEST))
