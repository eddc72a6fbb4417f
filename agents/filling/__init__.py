"""Filling: the operation of a target that performs a task, with its variables and parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from orgflow_ir.plugins import hookimpl

if TYPE_CHECKING:
    from orgflow_ir.plugins.agents import Agent


@hookimpl
def orgflow_agents() -> Iterable[Agent]:
    """The agents that answer gaps: with a language model, and by rules. Every run that has agents
    imports this module, so that they are loaded when they are asked for."""
    from orgflow.agents.filling.filler import OperationFiller
    from orgflow.agents.filling.labels import LabelReader
    from orgflow.agents.filling.proposals import OperationProposer
    from orgflow.agents.filling.times import TimeReader

    return (OperationFiller(), LabelReader(), OperationProposer(), TimeReader())
