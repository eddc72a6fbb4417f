"""PME JSON: the element lists that language models write."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Frontend


@hookimpl
def orgflow_frontends() -> Iterable[Frontend]:
    """The PME frontend."""
    from orgflow.frontends.pme.frontend import PmeFrontend

    return (PmeFrontend(),)
