"""What is wrong with a user's model: rules with stable codes, diagnostics as values, fixes as data.

A code never changes its meaning and is never reused. OF0xx input, plugins, configuration ·
OF1xx malformed model · OF2xx flow · OF3xx data, events, messages · OF4xx target · OF5xx gaps and
agents · OF6xx deploy, run, replay · OF9xx our fault.
"""

import inspect
from enum import StrEnum
from typing import ClassVar, Literal, NamedTuple

from orgflow_ir.model import Flow, Model, Node, Process, Scope, SubProcess
from orgflow_ir.source import SourceLocation
from orgflow_ir.value import Value


class Severity(StrEnum):
    """How bad: an error makes the exit code 1, a warning does with `--strict`."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for errors, 1 for warnings, 2 for infos: the order in which they are shown."""
        return ("error", "warning", "info").index(self.value)


class Rule:
    """A thing that can be wrong. Subclass it: the docstring is what `explain CODE` prints and has
    the sections What it finds / Why it is wrong / Example / Instead; `name` names the fault."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]

    @classmethod
    def explanation(cls) -> str:
        """The docstring, dedented."""
        return inspect.cleandoc(cls.__doc__ or "")


class Step(NamedTuple):
    """One step of a run of the token game.

    `action` is `start`, `fire` (an element that does not wait), `open` or `done` (one that does);
    `taken` are the ids of the flows that received a token; `instance` numbers process instances.
    """

    action: str
    element: str
    taken: tuple[str, ...] = ()
    instance: int = 0


class Related(Value):
    """A second place that a diagnostic is about."""

    message: str
    element: str | None = None
    loc: SourceLocation | None = None


class Edit(Value):
    """One change of the IR: add, replace or remove a node or a flow of a scope.

    `scope` is the id of the process or sub-process; `id` the element to replace or remove.
    """

    action: Literal["add", "replace", "remove"]
    scope: str
    id: str | None = None
    node: Node | None = None
    flow: Flow | None = None


Applicability = Literal["safe", "unsafe", "manual"]


class Fix(Value):
    """A change that cures a diagnostic. Safe: nothing is lost and the fault is gone."""

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()


class Diagnostic(Value):
    """One fault, said once: lower case, no full stop, elements in backticks by their label.

    `message` says what is wrong, only `help` what to do. `trace` is a run that shows the fault.
    `suppressed` is the reason why somebody accepts it: it counts for nothing then.
    """

    code: str
    name: str
    severity: Severity
    message: str
    element: str | None = None
    loc: SourceLocation | None = None
    related: tuple[Related, ...] = ()
    trace: tuple[Step, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    source: str | None = None
    suppressed: str | None = None


class FixError(ValueError):
    """A fix does not fit the model it is applied to."""


def apply(model: Model, fix: Fix) -> Model:
    """The model with the edits of `fix` made, in order. Raises `FixError`."""
    for edit in fix.edits:
        model = _apply_edit(model, edit)
    return model


def _apply_edit(model: Model, edit: Edit) -> Model:
    if edit.scope not in {scope.id for scope in model.scopes()}:
        raise FixError(f"no process or sub-process `{edit.scope}`")
    processes = tuple(_edit_in_scope(p, edit) for p in model.processes)
    return model.changed(processes=processes)


def _edit_in_scope(scope: Process, edit: Edit) -> Process:
    edited = _edit_scope(scope, edit)
    assert isinstance(edited, Process)
    return edited


def _edit_scope(scope: Scope, edit: Edit) -> Scope:
    if scope.id != edit.scope:
        nodes = tuple(_edit_scope(n, edit) if isinstance(n, SubProcess) else n for n in scope.nodes)
        changed = any(a is not b for a, b in zip(nodes, scope.nodes, strict=True))
        return scope.changed(nodes=nodes) if changed else scope
    if (edit.node is None) == (edit.flow is None) and edit.action != "remove":
        raise FixError("an edit adds or replaces either a node or a flow")
    ids = {n.id for n in scope.nodes} | {f.id for f in scope.flows}
    if edit.action == "add":
        new = edit.node or edit.flow
        assert new is not None
        if new.id in ids:
            raise FixError(f"`{scope.id}` already has an element `{new.id}`")
        if edit.node is not None:
            return scope.changed(nodes=(*scope.nodes, edit.node))
        return scope.changed(flows=(*scope.flows, new))
    if edit.id not in ids:
        raise FixError(f"`{scope.id}` has no node or flow `{edit.id}`")
    if edit.action == "remove":
        nodes = tuple(n for n in scope.nodes if n.id != edit.id)
        flows = tuple(f for f in scope.flows if f.id != edit.id)
        return scope.changed(nodes=nodes, flows=flows)
    if edit.node is not None:
        nodes = tuple(edit.node if n.id == edit.id else n for n in scope.nodes)
        return scope.changed(nodes=nodes)
    flows = tuple((edit.flow or f) if f.id == edit.id else f for f in scope.flows)
    return scope.changed(flows=flows)
