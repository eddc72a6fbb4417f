"""A lowering for n8n: an escalation becomes a task in which somebody is told."""

from __future__ import annotations

from orgflow_ir.model import Model, Node, Task
from orgflow_ir.model.rewriter import Editor
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import Lowering

ESCALATION = "event.throw.escalation"


class EscalationToTask(Lowering):
    """Where nothing in the model catches the escalation, it says only that somebody has to know
    (BPMN 2.0.2, 10.5.1: an escalation that is not caught is lost, and the run goes on)."""

    name = "escalation-to-task"
    consumes = (ESCALATION,)
    produces = ("task.send",)
    loses = "who reacts to the escalation: somebody has to be told by the task"

    def measure(self, model: Model, ctx: PassContext) -> int:
        """Escalations that are left."""
        return sum(node.construct == ESCALATION for s in model.scopes() for node in s.nodes)

    def apply(self, model: Model, ctx: PassContext) -> tuple[Model, tuple[str, ...]]:
        """All of them at once."""
        edit, notes = Editor(model), []
        for scope in model.scopes():
            for node in scope.nodes:
                if node.construct == ESCALATION:
                    edit.put_node(scope.id, self._task(node))
                    notes.append(f"the escalation `{node.label}` became a task")
        return edit.done(), tuple(notes)

    def _task(self, node: Node) -> Task:
        return Task(
            id=node.id,
            name=f"Tell about {node.label}",
            task_type="send",
            loc=node.loc,
            origin=self.name,
        )
