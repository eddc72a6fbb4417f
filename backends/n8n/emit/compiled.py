"""The workflows of a process: plans, printed and laid out."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.model import Process
from orgflow_ir.model.records import NamedTuple


class CompiledScope(NamedTuple):
    """The workflow of one scope.

    Attributes:
        plan: what it was printed from.
        workflow: in file form.
        base: it, packed for later merges.
        stickies: the element of each sticky note, by its name.
        wired: the flow of each connection that has one, by the name of the source node, the output,
            and the position there.
    """

    plan: ScopePlan
    workflow: Workflow
    base: str
    stickies: Mapping[str, str]
    wired: Mapping[tuple[str, int, int], str]


class CompiledProcess(NamedTuple):
    """What one process became.

    Attributes:
        process: the process.
        scopes: its own scope, then those of its sub-processes that became workflows of their own.
        called: the scopes of the processes that it calls, which are compiled by themselves.
        digest: the hash of the model in their maps.
    """

    process: Process
    scopes: tuple[CompiledScope, ...]
    called: tuple[CompiledScope, ...] = ()
    digest: str = ""

    @property
    def root(self) -> CompiledScope:
        """The scope of the process itself, in which runs start."""
        return self.scopes[0]
