"""The workflows of a process: one for itself, and one for each sub-process that it calls.

A sub-process is implemented in one of two ways. A lowering may inline its content before anything
is
emitted: then no scope remains here. Every remaining sub-process becomes a separate workflow, which
the workflow of the surrounding scope calls and waits for. (The target does not support those yet,
so only the first alternative is used.)

Unique or ordered parts of a workflow (names, positions, triggers, notes, the identity map) are so
per scope; workflows refer to each other by ids derived from the model alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from orgflow.backends.n8n.format.document import node_uuid
from orgflow.backends.n8n.plan.names import plain, title

from orgflow_ir.flow.control_flow.calls import is_called
from orgflow_ir.flow.control_flow.deliveries import find_deliveries
from orgflow_ir.model import Lane, Model, Process, SubProcess
from orgflow_ir.model.element_names import CALLED
from orgflow_ir.model.elements import Scope
from orgflow_ir.model.records import NamedTuple, dataclass

MOST_NAME = 128
"""Maximum number of characters of the name of a workflow in n8n."""


class Together(NamedTuple):
    """A process that models call in another file, compiled once for all of them.

    Attributes:
        file: the file that it is in.
        id: its id in that file.
        names: variables that any caller, or what it calls, reads.
    """

    file: str
    id: str
    names: tuple[str, ...]


def for_others(process: str) -> str:
    """The title of the workflow that the callers of a process in other files share."""
    return f"{plain(process)}{CALLED}other files)"


@dataclass(frozen=True, eq=False)
class WorkflowScope:
    """The content of one workflow.

    Attributes:
        model: its model.
        process: its process.
        body: the process itself or one of its sub-processes.
        around: ids of the surrounding sub-processes, the outermost first.
        only_called: whether the process exists only for calls by workflows of the model.
        on_error: whether the process exists to receive errors of the others.
        shared: whether workflows of other models may call it.
        together: processes of other files that are compiled once for all models that call them, by
            their ids in this model.
    """

    model: Model
    process: Process
    body: Scope
    around: tuple[str, ...] = ()
    only_called: bool = False
    on_error: bool = False
    shared: bool = False
    together: Mapping[str, Together] = field(default_factory=dict)

    @property
    def called(self) -> bool:
        """Whether a workflow calls it, so that it has no other start."""
        return self.body is not self.process

    @property
    def started_by_call(self) -> bool:
        """Whether other workflows start it: that of the surrounding scope, or those of processes
        that call its process."""
        return self.called or self.only_called or is_called(self.process, self.model)

    @property
    def begun_by_message(self) -> bool:
        """Whether a message of another process of the model begins it, and nothing else does."""
        if self.called or len(self.model.processes) < 2:
            return False
        deliveries = find_deliveries(self.model).values()
        return any(delivery.receiver is self.process for delivery in deliveries)

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """Lanes with bands on its canvas."""
        return self.process.lanes if not self.called else ()

    @property
    def title(self) -> str:
        """What its workflow is called."""
        whole = self._whole
        return f"{whole}: {plain(self.body.caption)}" if self.called else whole

    @property
    def _whole(self) -> str:
        if self.process.id in self.together:
            return for_others(self.process.name)
        return title(self.model, self.process)

    @property
    def seed(self) -> str:
        """The input of ids: the same for an edited model, different for another model, since tools
        like to call every process `Process_1`."""
        file, model, process = self.model.source, self.model.id, self.process.id
        if (once := self.together.get(process)) is not None:
            file, model, process = once.file, "", once.id
        file = file.replace("\\", "/").rsplit("/", 1)[-1]
        parts = (file, model, process, self._whole)
        inner = (*self.around, self.body.id) if self.called else ()
        return "/".join((*parts, *inner))

    @property
    def workflow_id(self) -> str:
        """The id of its workflow, by which others call it."""
        return node_uuid(f"workflow/{self.seed}").replace("-", "")[:16]

    def inside(self, sub: SubProcess) -> WorkflowScope:
        """The scope of a direct sub-process."""
        around = (*self.around, self.body.id) if self.called else ()
        return WorkflowScope(
            self.model, self.process, sub, around, shared=self.shared, together=self.together
        )

    def of(self, process: Process) -> WorkflowScope:
        """The scope of a process that this one calls."""
        return next(scopes_of(self.model, process, self.together))


def scopes_of(
    model: Model, process: Process, together: Mapping[str, Together] | None = None
) -> Iterator[WorkflowScope]:
    """The scope of a process, then those of the sub-processes in it, outer ones first."""
    once = together or {}
    todo = [WorkflowScope(model, process, process, shared=process.id in once, together=once)]
    while todo:
        scope = todo.pop(0)
        yield scope
        todo.extend(scope.inside(n) for n in scope.body.nodes if isinstance(n, SubProcess))
