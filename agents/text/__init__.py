"""Processes from texts: by rules alone, and with a language model whose drafts are checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from orgflow_ir.plugins import hookimpl

if TYPE_CHECKING:
    from orgflow_ir.plugins.agents import Agent


@hookimpl
def orgflow_agents() -> Iterable[Agent]:
    """The two agents that read texts. Every run that has agents imports this module, so that they
    are loaded when they are asked for."""
    from orgflow.agents.text.modeller import TextModeller
    from orgflow.agents.text.rule_based import RuleModeller

    return (TextModeller(), RuleModeller())
