"""References between elements: boundary events, calls, lanes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, ClassVar

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import CallActivity, Event, Model, Process, Scope, SubProcess, Task
from orgflow_ir.pipeline import Pass, PassContext, Stage

if TYPE_CHECKING:
    from orgflow_ir.flow.control_flow import calls
    from orgflow_ir.linking import called_processes, workflow_files
    from orgflow_ir.linking.called_processes import Neighbours
else:  # models that call others
    calls = LazyModule("orgflow_ir.flow.control_flow.calls")
    called_processes = LazyModule("orgflow_ir.linking.called_processes")
    workflow_files = LazyModule("orgflow_ir.linking.workflow_files")


class UnattachedBoundary(Rule):
    """
    What it finds
        A boundary event that is not attached to an activity in the same process or sub-process.
    Why it is wrong
        It is triggered while its activity is active; without one, it never is.
    Example
        A boundary timer whose activity was deleted.
    Instead
        Attach it to the activity, or make it an intermediate event on a flow.
    """

    code = "OF106"
    name = "unattached-boundary"
    severity = Severity.ERROR
    category = Category.MALFORMED


class UnknownCalledProcess(Rule):
    """
    What it finds
        A call activity without a called process, or whose process is neither in this model nor in a
        file of the command or the same folder; also a process that several of these files define
        differently.
    Why it is wrong
        This may be intended: the process may be modelled elsewhere. Its steps are unknown, so it
        compiles to a placeholder.
    Example
        `Check credit` calls `CreditCheck`, which no file in the folder defines.
    Instead
        Put exactly one file with that process into the folder, or pass both files, or a folder with
        both, to the command. No action is needed if the work is done elsewhere.
    """

    code = "OF120"
    name = "unknown-called-process"
    severity = Severity.INFO
    category = Category.MALFORMED


class UnknownLaneMember(Rule):
    """
    What it finds
        A lane that lists something that is not a step of its process.
    Why it is wrong
        The performer of that step is lost; usually the step was deleted or renamed manually.
    Example
        Lane `Sales` lists `Task_7`, which does not exist.
    Instead
        List an existing step, or remove the entry.
    """

    code = "OF121"
    name = "unknown-lane-member"
    severity = Severity.WARNING
    category = Category.MALFORMED


class CalledProcessStart(Rule):
    """
    What it finds
        A call activity whose process has only start events with triggers.
    Why it is wrong
        A call begins at a start event without a trigger (BPMN 2.0.2, 10.3.6 and 10.5.2); if all
        start events wait for something else, the call starts nothing.
    Example
        `Check credit` calls a process whose only start event waits for a message.
    Instead
        Add a start event without a trigger to the called process.
    """

    code = "OF144"
    name = "called-process-start"
    severity = Severity.WARNING
    category = Category.MALFORMED


class References(Pass):
    """Reports references to missing elements; findings of a frontend are not repeated."""

    name: ClassVar[str] = "references"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        UnattachedBoundary, UnknownCalledProcess, UnknownLaneMember, CalledProcessStart,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        reported = {d.element for d in ctx.diagnostics if d.code in ("OF152", "OF153")}
        processes = {p.id: p for p in model.processes}
        neighbours = cache(partial(_build_neighbours, model, ctx))
        for scope in ctx.scopes(model):
            _check_nodes(scope, model, processes, neighbours, reported, ctx)
        for process in model.processes:
            scopes = ctx.scopes(process)
            lanes = [lane for scope in scopes for lane in scope.lanes]
            inside = {n.id for s in scopes for n in s.nodes} if lanes else set()
            for lane in lanes:
                lost = [m for m in lane.members if m not in inside]
                if lost and lane.id not in reported:
                    ctx.emit(
                        UnknownLaneMember,
                        f"{ctx.full_name(lane)} lists `{lost[0]}`, which is not a step of "
                        f"{ctx.name(process)}",
                        element=lane,
                        help="list an existing step, or remove the entry",
                    )
        return model


def _check_nodes(
    scope: Scope,
    model: Model,
    processes: dict[str, Process],
    neighbours: Callable[[], Neighbours],
    reported: set[str | None],
    ctx: PassContext,
) -> None:
    activities: set[str] | None = None
    for node in scope.nodes:
        if isinstance(node, CallActivity):
            called = node.process.rpartition(":")[2]
            if called in processes:
                _check_called(node, processes[called], ctx)
            else:
                _called_elsewhere(node, model, neighbours, ctx)
        elif isinstance(node, Event) and node.position == "boundary" and node.id not in reported:
            if activities is None:
                kinds = Task | CallActivity | SubProcess
                activities = {n.id for n in scope.nodes if isinstance(n, kinds)}
            if node.attached_to not in activities:
                ctx.emit(
                    UnattachedBoundary,
                    f"{ctx.full_name(node)} is not attached to an activity of {ctx.name(scope)}",
                    element=node,
                    help="attach it to its activity, or make it an intermediate event",
                )


def _build_neighbours(model: Model, ctx: PassContext) -> called_processes.Neighbours:
    return called_processes.Neighbours(model, ctx)


def _called_elsewhere(
    node: CallActivity, model: Model, neighbours: Callable[[], Neighbours], ctx: PassContext
) -> None:
    """A call of a process that the model does not have: it may name a global task, and a file
    beside the model may have the process."""
    if not node.process.rpartition(":")[2]:
        ctx.emit(
            UnknownCalledProcess,
            f"{ctx.name(node)} calls nothing",
            element=node,
            help="name the process it calls",
        )
        return
    if model.opaque and calls.global_task(node, model) is not None:
        return

    if _is_workflow_beside(node, model, ctx):
        return
    outcome = neighbours().find(node)
    if not isinstance(outcome, called_processes.NotFound):
        _check_called(node, outcome.process, ctx)
        return
    ctx.emit(
        UnknownCalledProcess,
        f"{ctx.name(node)} calls `{node.process}`, {outcome.reason}",
        element=node,
        severity=Severity.WARNING if outcome.several else None,
        help="put one of these files into the folder of the calling file, or give the processes "
        "different ids"
        if outcome.several
        else "put the file with that process into the same folder, pass both files (or a folder "
        "with both) to the command, or add the process to this file",
    )


def _is_workflow_beside(node: CallActivity, model: Model, ctx: PassContext) -> bool:
    """Whether a workflow calls another one by an id that a workflow of the command, or of a file
    beside it, has."""
    file = (node.loc.file if node.loc is not None else "") or model.source
    frontends = ctx.registry.frontends.values() if ctx.registry is not None else ()
    for reader in frontends:
        if workflow_files.reads_workflows(reader) and file.endswith(reader.suffixes[-1]):
            if workflow_files.is_installed(reader, node.process):
                return True
            state = workflow_files.find_state(file)
            if state is None or _workflow_ids(reader, state) is None:
                continue
            return any(
                node.process in (_workflow_ids(reader, beside) or ())
                for beside in workflow_files.files_beside(file, reader.suffixes[-1], ctx.given)
            )
    return False


@lru_cache(maxsize=2_000)
def _workflow_ids(
    reader: workflow_files.WorkflowReader, file: workflow_files.FileState
) -> frozenset[str] | None:
    return reader.workflow_ids(file.read())


def _check_called(node: CallActivity, process: Process, ctx: PassContext) -> None:
    starts = [n for n in process.nodes if isinstance(n, Event) and n.position == "start"]
    if starts and all(s.definitions for s in starts):
        ctx.emit(
            CalledProcessStart,
            f"{ctx.name(node)} calls {ctx.name(process)}, which begins only with "
            f"{ctx.name(starts[0])}: a call cannot trigger it",
            element=node,
            help=f"add a start event without a trigger to {ctx.name(process)}",
        )
