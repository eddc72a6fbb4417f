"""What nodes with an effect outside of n8n need of a person."""

from __future__ import annotations

from orgflow_ir.model.records import NamedTuple


class Needs(NamedTuple):
    """A need of a node before the workflow is published.

    Attributes:
        credential: its credential, in words; empty without one.
        settings: required values that are missing, with the way to set them.
        notes: further information about it.
        lost: parts of the model that n8n does not execute.
        filled: whether the node fills a task automatically, so that it has to be checked.
    """

    credential: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    lost: str = ""
    filled: bool = False
