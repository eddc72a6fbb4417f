"""Whiteboard texts for orgflow: a frontend, a backend, a pass and a lowering."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.pipeline import Pass
from orgflow_ir.plugins import Backend, Frontend, hookimpl
from orgflow_ir.targets import AddedLowering

# Each hook imports what it registers when it is called: a command that needs no frontend pays for
# none.


@hookimpl
def orgflow_frontends() -> Iterable[Frontend]:
    """The frontend `board`."""
    from orgflow_board.steps import BoardFrontend

    return (BoardFrontend(),)


@hookimpl
def orgflow_backends() -> Iterable[Backend]:
    """The backend `dot`."""
    from orgflow_board.dot import DotBackend

    return (DotBackend(),)


@hookimpl
def orgflow_passes() -> Iterable[type[Pass]]:
    """The pass `vague-label`: the class, since its options are its fields."""
    from orgflow_board.vague_label import VagueLabel

    return (VagueLabel,)


@hookimpl
def orgflow_lowerings() -> Iterable[AddedLowering]:
    """A lowering for a target that is there already."""
    from orgflow_board.escalation import EscalationToTask

    return (AddedLowering("asl", EscalationToTask()),)
