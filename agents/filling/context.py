"""Data about a task: its words, its neighbours, and the process variables."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.agents.prompting import visible_text

from orgflow_ir.gaps.gap import Gap
from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Model, Scope, Task
from orgflow_ir.model.bindings import Form, Http, Script, Worker
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.syntax import ConditionError, variables

_MOST_TEXT = 1_500
_MOST_NAMES = 60


class TaskContext(NamedTuple):
    """A task in its process.

    Attributes:
        label: its name.
        text: all statements of the source about it: documentation and cited sentences.
        actor: its lane.
        before, after: labels of the neighbouring steps.
        process: the name of the process.
        variables: the known data about process variables.
        wanted: variables that conditions read and no known step sets.
        failed: the failure of an earlier answer at run time.
    """

    label: str
    text: str
    actor: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    process: str
    variables: tuple[str, ...]
    wanted: tuple[str, ...]
    failed: tuple[str, ...] = ()


def task_context(gap: Gap, model: Model, failed: tuple[str, ...] = ()) -> TaskContext | None:
    """The context of the task of a gap; `None` if the gap is about something else."""
    scope = next((s for s in model.scopes() if s.id == gap.scope), None)
    task = gap.element
    if scope is None or not isinstance(task, Task):
        return None
    nodes = {node.id: node for node in scope.nodes}
    before = [nodes[f.source].label for f in scope.flows if f.target == task.id]
    after = [nodes[f.target].label for f in scope.flows if f.source == task.id]
    quotes = [e.quote for e in task.evidence if e.quote]
    process = next((p for p in model.processes if _contains_scope(p, scope)), model.processes[0])
    actor = next((ln.name for ln in process.lanes if task.id in ln.members), "")
    set_, read = (
        tuple(dict.fromkeys(_set_variables(model))),
        tuple(dict.fromkeys(_read_variables(model))),
    )
    return TaskContext(
        label=visible_text(task.label).strip(),
        text=visible_text("\n".join((task.doc, *quotes))).strip()[:_MOST_TEXT],
        actor=visible_text(actor).strip(),
        before=tuple(visible_text(n) for n in before[:4]),
        after=tuple(visible_text(n) for n in after[:4]),
        process=visible_text(process.label).strip(),
        variables=tuple(dict.fromkeys((*set_, *read)))[:_MOST_NAMES],
        wanted=tuple(name for name in read if name not in set_)[:_MOST_NAMES],
        failed=failed,
    )


def _contains_scope(process: Scope, scope: Scope) -> bool:
    if process.id == scope.id:
        return True
    return any(_contains_scope(n, scope) for n in process.nodes if isinstance(n, Scope))


def _set_variables(model: Model) -> Iterator[str]:
    """Variables that bindings set, by what they say."""
    for scope in model.scopes():
        for node in scope.nodes:
            binding = node.binding if isinstance(node, Task) else None
            if binding is None:
                continue
            yield from (p.name for p in binding.outputs if p.name.isidentifier())
            if isinstance(binding, Form):
                yield from (f.name for f in binding.fields if f.name.isidentifier())
            if isinstance(binding, Script | Http | Worker) and binding.result:
                yield binding.result


def _read_variables(model: Model) -> Iterator[str]:
    """Variables that conditions read."""
    for scope in model.scopes():
        for flow in scope.flows:
            if flow.condition is None:
                continue
            try:
                tree = read_condition(flow.condition)
            except ConditionError:
                continue
            if tree is not None:
                yield from (path[0] for path in variables(tree))
