"""Work that a model only names (a class, a topic, a job type): a workflow of its own for each name.

With `stubs=workflow` a task whose work nobody can emit becomes a call. All tasks that name the same
thing call the same workflow, whose one placeholder has the contract in its note: who calls it, with
what, and what they read afterwards. Somebody fills it once, for all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from orgflow.backends.n8n.emit.names import literal, plain, title
from orgflow.backends.n8n.emit.scopes import WorkflowScope

from orgflow_ir.analysis.calls import hands_everything, takes_everything
from orgflow_ir.analysis.expressions.syntax import variables
from orgflow_ir.analysis.gaps import has_implementation
from orgflow_ir.model import Event, Flow, Model, Process, Task
from orgflow_ir.model.binding_text import doer
from orgflow_ir.model.bindings import AnyBinding, Decision, Form, Script, SubProcessCall, Worker
from orgflow_ir.model.element_names import listed

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.emitter import CompiledScope

STUBS, WORKFLOW = "stubs", "workflow"
"""The option that says what work becomes that is only named, and its value for a call."""

WORK_TO_DO = "work-to-implement.md"
"""How the file beside the workflows ends that lists the contracts."""

_WORDS = {
    "delegate": "delegate expression", "job": "job type", "handler": "work item handler",
    "type": "task type",
}  # fmt: skip


class NamedWork(NamedTuple):
    """Something that does work and is not in the model.

    Attributes:
        kind: how it is named (`class`, `topic`, `script` …), in words.
        name: its name; of what has none, the label of the task.
        key: distinguishes it from all others of the model.
    """

    kind: str
    name: str
    key: str

    def scope(self, model: Model, caller: Process, doc: str = "") -> WorkflowScope:
        """What becomes its workflow; `doc` is the contract.

        The caller gives the workflow a name that says where it belongs; it is the first process of
        the model that has anything to run, so that the identity does not depend on who calls.
        """
        process = Process(
            id=f"work-{self.key}",
            name=f"{title(model, caller)}: {plain(self.name)} ({self.kind})",
            doc=doc,
            nodes=(
                Event(id=f"called-{self.key}", name=f"{self.name} is called", position="start"),
                Task(id=f"do-{self.key}", name=self.name, task_type="service", doc=doc),
            ),
            flows=(
                Flow(
                    id=f"flow-{self.key}", source=f"called-{self.key}", target=f"do-{self.key}"
                ),
            ),
        )  # fmt: skip
        alone = Model(id=model.id, name=model.name, source=model.source, processes=(process,))
        return WorkflowScope(alone, process, process, only_called=True)


def named_work(task: Task) -> NamedWork | None:
    """What a task names that does its work; `None` where it names nothing, or a person does it."""
    binding = task.binding
    if binding is None or isinstance(binding, Form) or not has_implementation(task):
        return None
    match binding:
        case Worker(by=by, target=str() as target):
            name = target.strip()
            if by in ("delegate", "expression") and name[:2] in ("${", "#{"):
                name = name[2:].removesuffix("}").strip()
            return NamedWork(_WORDS.get(by, by), name or by, _key(by, target.strip()))
        case SubProcessCall(process=str() as process):
            return NamedWork("process", process.strip(), _key("process", process.strip()))
        case Decision(decision=str() as decision):
            return NamedWork("decision", decision, _key("decision", decision))
        case Script(code=str() as code):
            said = _key("script", f"{binding.language}\0{code}")
            return NamedWork("script", task.caption, said)
    return NamedWork(doer(binding).partition(" `")[0], task.caption, _key("task", task.id))


def _key(kind: str, text: str) -> str:
    """Text that is unlike that of any other work, and may stand in an id."""
    digest = hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    words = "".join(c if c.isascii() and c.isalnum() else "-" for c in text)[:40].strip("-")
    return f"{kind}-{words}-{digest}" if words else f"{kind}-{digest}"


class Use(NamedTuple):
    """A task that calls a workflow of named work."""

    compiled: CompiledScope
    task: Task
    work: NamedWork


def uses(scopes: Iterable[CompiledScope]) -> dict[NamedWork, list[Use]]:
    """Who calls what, in the order of the model."""
    found: dict[str, list[Use]] = {}
    for compiled in scopes:
        for element, work in compiled.named_work.items():
            task = compiled.graph.nodes[element]
            assert isinstance(task, Task)
            found.setdefault(work.key, []).append(Use(compiled, task, work))
    return {called[0].work: called for called in found.values()}


def contract(called: Iterable[Use]) -> str:
    """What somebody has to know who fills the workflow: a line each."""
    called = list(called)
    work = called[0].work
    lines = [f"Does the work of the {work.kind} {work.name}, which the model only names."]
    lines.append(_passed(called))
    wanted: dict[str, list[str]] = {}
    for use in called:
        lines += ["", f"Called by “{plain(use.task.label)}”"]
        assert use.task.binding is not None
        lines += _given(use.task.binding)
        for name, why in _read(use):
            known = wanted.setdefault(name, [])
            if why not in known:
                known.append(why)
    if wanted:
        lines += ["", "Required output"]
        lines += [f"{name}: {listed(why)}" for name, why in wanted.items()]
    if isinstance(binding := called[0].task.binding, Script) and binding.code:
        lines += [
            "",
            f"Source ({binding.language or 'no language given'})",
            *binding.code.split("\n"),
        ]
    return "\n".join(lines)


def _passed(called: Iterable[Use]) -> str:
    """What the workflow receives, and what becomes of what it passes on."""
    calls = [use.task for use in called if use.task.id in use.compiled.stubs_called]
    given = all(hands_everything(call) for call in calls)
    taken = all(takes_everything(call) for call in calls)
    received = "all process variables" if given else "only the inputs of each call below"
    if taken:
        return (
            f"It receives {received} as one item. The fields that it passes on are the new values."
        )
    return (
        f"It receives {received} as one item. Each call uses only the fields below of those that "
        "it passes on."
    )


def work_to_do(files: Mapping[str, CompiledScope]) -> str:
    """What somebody has to implement, as Markdown: the contract of each workflow of named work, by
    its file; empty where there is none."""
    parts = [
        "\n".join(
            (
                f"## {literal(one.scope.title)}",
                "",
                (
                    f"In `{path}`, replace the placeholder with a node that does the work, and "
                    "keep its name."
                ),
                "",
                *(f"    {line}".rstrip() for line in one.scope.body.doc.splitlines()),
            )
        )
        for path, one in files.items()
        if one.scope.only_called
    ]
    if not parts:
        return ""
    head = "# Work to implement\n\nThe model names this work but does not contain it."
    return "\n\n".join((head, *parts)) + "\n"


def _given(binding: AnyBinding) -> Iterator[str]:
    """What one task hands over beside the process variables."""
    if isinstance(binding, SubProcessCall) and binding.all_variables:
        yield "input all variables"
    for parameter in binding.inputs:
        yield f"input {parameter.name} = {plain(parameter.text)}"
    for name, text in binding.parameters:
        yield f"setting {name} = {plain(text)}"
    if binding.retries:
        yield f"retries {plain(binding.retries)}"


def _read(use: Use) -> Iterator[tuple[str, str]]:
    """Names that are read from what one task hands on, and by what."""
    from orgflow_ir.analysis.work.statements import assigned, read
    from orgflow_ir.analysis.work.tasks import call_mappings

    binding, compiled = use.task.binding, use.compiled
    assert binding is not None
    if binding.result:
        yield binding.result, f"the result of “{plain(use.task.label)}”"
    work = compiled.work.get(use.task.id)
    if use.task.id in compiled.stubs_called:
        mapping = f"the output mapping of “{plain(use.task.label)}”"
        for _, value in call_mappings(use.task).outputs:
            yield from ((path[0], mapping) for path in variables(value))
    own = set(assigned(work.before, local=None)) if work is not None else set()
    if work is not None:
        for need in read(work.after):
            if need.path[0] not in own:
                yield need.path[0], f"the output mapping of “{plain(use.task.label)}”"
    set_after = {p.variable for p in binding.outputs}
    for decision in compiled.decisions.values():
        label = plain(decision.gateway.label)
        if decision.values and decision.setter == use.task.id:
            yield decision.variable, f"“{label}” takes {' | '.join(decision.values)}"
    for one in compiled.variables.reads:
        if one.by != "condition" or one.variable in set_after or one.variable == binding.result:
            continue
        if any(s.element == use.task.id for s in compiled.variables.setters(one)):
            label = plain(compiled.graph.nodes[one.element].label)
            yield one.variable, f"“{label}” reads it"
