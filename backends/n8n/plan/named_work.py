"""The contracts of work that a model only names: what its callers hand over and read.

All tasks that name the same work call the same workflow, whose one placeholder has the contract in
its note: its callers, their inputs, and the outputs that they read. A person implements it once for
all of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from orgflow.backends.n8n.plan.emission_rules import ConflictingContract
from orgflow.backends.n8n.plan.names import literal, plain
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.work_names import NamedWork

from orgflow_ir.flow.control_flow.calls import hands_everything, takes_everything
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import CallActivity, Task
from orgflow_ir.model.binding_text import binding_statements
from orgflow_ir.model.bindings import AnyBinding, Http, Mail, Script, SubProcessCall
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import variables
from orgflow_ir.work.condition_types import typed_variables
from orgflow_ir.work.process_variables import Read
from orgflow_ir.work.statements import assigned, read

if TYPE_CHECKING:
    from orgflow_ir.work import tasks
else:  # a workflow is updated without them where it calls no named work
    tasks = LazyModule("orgflow_ir.work.tasks")

WORK_TO_DO = "work-to-implement.md"
"""The suffix of the file next to the workflows that lists the contracts."""


class Use(NamedTuple):
    """A task that calls a workflow of named work."""

    plan: ScopePlan
    task: Task
    work: NamedWork


def list_uses(scopes: Iterable[ScopePlan]) -> dict[NamedWork, list[Use]]:
    """The calls, in the order of the models."""
    uses_by_key: dict[str, list[Use]] = {}
    for plan in scopes:
        for element, work in plan.named_work.items():
            task = plan.graph.nodes[element]
            assert isinstance(task, Task)
            uses_by_key.setdefault(work.key, []).append(Use(plan, task, work))
    return {called[0].work: called for called in uses_by_key.values()}


def write_contract(called: Iterable[Use]) -> str:
    """The contract for the person who implements the workflow, in lines."""
    called = list(called)
    work = called[0].work
    several = len({use.plan.scope.seed for use in called}) > 1
    lines = [f"Does the work of the {work.kind} {work.name}, which the model only names."]
    lines.append(_describe_exchange(called))
    wanted: dict[str, list[str]] = {}
    for use in called:
        lines += ["", f"Called by {_name_caller(use, several)}"]
        assert use.task.binding is not None
        if isinstance(use.task.binding, Http | Mail):  # nothing else has what they say
            lines += [
                f"{statement.label} {plain(statement.text)}"
                for statement in binding_statements(use.task)
            ]
        else:
            lines += _list_given_inputs(use.task.binding)
        for name, why in _list_read_outputs(use):
            known = wanted.setdefault(name, [])
            if why not in known:
                known.append(why)
    lines += _partly_given(called, several)
    if wanted:
        lines += ["", "Required output"]
        lines += [f"{name}: {join_listed(why)}" for name, why in wanted.items()]
    if isinstance(binding := called[0].task.binding, Script) and binding.code:
        lines += [
            "",
            f"Source ({binding.language or 'no language given'})",
            *binding.code.split("\n"),
        ]
    return "\n".join(lines)


def _name_caller(use: Use, several: bool) -> str:
    """How a contract names a task: with its process where tasks of several processes call."""
    label = f"“{plain(use.task.label)}”"
    return f"{label} of “{plain(use.plan.scope.title)}”" if several else label


def _partly_given(called: Sequence[Use], several: bool) -> Iterator[str]:
    """Inputs that some callers hand over and others do not."""
    givers: dict[str, list[Use]] = {}
    for use in called:
        assert use.task.binding is not None
        for parameter in use.task.binding.inputs:
            givers.setdefault(parameter.name, []).append(use)
    partly = [(name, uses) for name, uses in givers.items() if len(uses) < len(called)]
    if partly:
        yield from ("", "Not handed over by every caller")
    for name, uses in partly:
        yield f"{name}: only by {join_listed(_name_caller(use, several) for use in uses)}"


class Conflict(NamedTuple):
    """An output of which callers of one workflow expect different values.

    Attributes:
        name: the name of the output.
        expected: the expectation, in words, and the callers with it.
    """

    name: str
    expected: tuple[tuple[str, tuple[Use, ...]], ...]

    def words(self) -> str:
        """Who expects what."""
        several = len({u.plan.scope.seed for _, uses in self.expected for u in uses}) > 1
        return join_listed(
            f"{join_listed(_name_task(use, several) for use in uses)} "
            f"{'expect' if len(uses) > 1 else 'expects'} {what}"
            for what, uses in self.expected
        )


def _name_task(use: Use, several: bool) -> str:
    label = f"`{plain(use.task.label)}`"
    return f"{label} of `{plain(use.plan.scope.title)}`" if several else label


def list_conflicts(called: Iterable[Use]) -> Iterator[Conflict]:
    """Outputs that one workflow cannot give to all of its callers."""
    expectations: dict[str, dict[str, list[Use]]] = {}
    for use in called:
        for name, what in dict.fromkeys(_list_expected_outputs(use)):
            expectations.setdefault(name, {}).setdefault(what, []).append(use)
    for name, expected in expectations.items():
        if len(expected) > 1:
            yield Conflict(name, tuple((what, tuple(uses)) for what, uses in expected.items()))


def report_conflicts(
    work: NamedWork, called: Sequence[Use], ctx: PassContext, known: Container[str] = ()
) -> None:
    """OF428 for each output that the callers expect differently, except known ones."""

    for conflict in list_conflicts(called):
        if conflict.name not in known:
            ctx.emit(
                ConflictingContract,
                f"the workflow of the {work.kind} `{plain(work.name)}` cannot give each caller the "
                f"`{plain(conflict.name)}` that it expects: {conflict.words()}",
                element=conflict.expected[-1][1][0].task,
                help="let all callers expect the same values, or give the work of some another "
                "name",
            )


def _list_expected_outputs(use: Use) -> Iterator[tuple[str, str]]:
    """The outputs of one task whose type or values show in gateways that may read what it sets,
    with what is expected, in words."""

    plan, task = use.plan, use.task.id
    assert use.task.binding is not None
    mapped = {parameter.variable for parameter in use.task.binding.outputs}
    read = {
        (access.element, access.variable)
        for access in plan.variables.reads
        if access.by == "condition" and task in _find_last_setters(plan, access)
    }
    for gateway, decision in plan.decisions.items():
        for field in typed_variables(b.tree for b in decision.branches if b.tree is not None):
            name = field.variable
            if (gateway, name) in read and name not in mapped and field.type in _EXPECTED:
                yield name, _EXPECTED[field.type]
        if decision.values and decision.setter == task:
            yield decision.variable, f"one of {' | '.join(sorted(decision.values))}"


def _find_last_setters(plan: ScopePlan, read: Read) -> frozenset[str]:
    """The elements whose value of a variable a reader may get: on each path to it the last one that
    can set it."""
    setters = {
        setter.element
        for setter in plan.variables.setters(read)
        if setter.by != "payload" and _can_set(plan, setter.element, read.variable)
    }
    last: set[str] = set()
    seen: set[str] = set()
    todo = [read.element]
    while todo:
        for arc in plan.graph.into[todo.pop()]:
            if arc.source in seen:
                continue
            seen.add(arc.source)
            if arc.source in setters:
                last.add(arc.source)
            else:
                todo.append(arc.source)
    return frozenset(last)


def _can_set(plan: ScopePlan, element: str, variable: str) -> bool:
    """Whether the variable is among what an element hands on, if the model states that."""

    node = plan.graph.nodes[element]
    if not isinstance(node, Task | CallActivity):
        return True
    outputs = node.binding.outputs if node.binding is not None else ()
    if any(output.variable == variable for output in outputs):
        return True
    if isinstance(node, CallActivity) or element in plan.stubs_called:
        return takes_everything(node)
    if element in plan.forms:
        return variable in plan.forms[element].variables
    work = plan.work.get(element)
    if work is not None and work.steps is not None:
        return variable in set(assigned(work.statements))
    return True


_EXPECTED = {
    "boolean": "true or false", "number": "a number", "whole": "a number", "choice": "a text",
}  # fmt: skip


def _describe_exchange(called: Iterable[Use]) -> str:
    """What the workflow receives, and what becomes of what it passes on."""
    calls = [use.task for use in called if use.task.id in use.plan.stubs_called]
    given = all(hands_everything(call) for call in calls)
    taken = all(takes_everything(call) for call in calls)
    received = "all process variables" if given else "only the inputs of each call below"
    if taken:
        return (
            f"It receives {received} as one item. The fields that it passes on are the new values; "
            "others are kept if the model mentions them in a later step."
        )
    return (
        f"It receives {received} as one item. Each call uses only the fields below of those that "
        "it passes on."
    )


def work_to_do(files: Mapping[str, ScopePlan], edited: Container[str] = ()) -> str:
    """The work to implement, as Markdown: the contract of each workflow of named work, by its file;
    empty if there is none. `edited` are the files whose edits were kept."""
    parts = [
        "\n".join(
            (
                f"## {literal(workflow.scope.title)}",
                "",
                (
                    f"`{path}` was edited after it was compiled, and its edits are kept. Check "
                    "that it does this work."
                    if path in edited
                    else f"In `{path}`, replace the placeholder with a node that does the work, "
                    "and keep its name."
                ),
                "",
                *(f"    {line}".rstrip() for line in workflow.scope.body.doc.splitlines()),
            )
        )
        for path, workflow in files.items()
        if workflow.scope.only_called
    ]
    if not parts:
        return ""
    head = "# Work to implement\n\nThe model names this work but does not contain it."
    return "\n\n".join((head, *parts)) + "\n"


def _list_given_inputs(binding: AnyBinding) -> Iterator[str]:
    """What one task hands over beside the process variables."""
    if isinstance(binding, SubProcessCall) and binding.all_variables:
        yield "input all variables"
    for parameter in binding.inputs:
        yield f"input {parameter.name} = {plain(parameter.text)}"
    for name, text in binding.parameters:
        yield f"setting {name} = {plain(text)}"
    if binding.retries:
        yield f"retries {plain(binding.retries)}"


def _list_read_outputs(use: Use) -> Iterator[tuple[str, str]]:
    """Names that are read from what one task hands on, and by what."""

    binding, plan = use.task.binding, use.plan
    assert binding is not None
    if binding.result:
        yield binding.result, f"the result of “{plain(use.task.label)}”"
    work = plan.work.get(use.task.id)
    if use.task.id in plan.stubs_called:
        mapping = f"the output mapping of “{plain(use.task.label)}”"
        for _, value in tasks.call_mappings(use.task).outputs:
            yield from ((path[0], mapping) for path in variables(value))
    own = set(assigned(work.before, local=None)) if work is not None else set()
    if work is not None:
        for need in read(work.after):
            if need.path[0] not in own:
                yield need.path[0], f"the output mapping of “{plain(use.task.label)}”"
    set_after = {p.variable for p in binding.outputs}
    for decision in plan.decisions.values():
        label = plain(decision.gateway.label)
        if decision.values and decision.setter == use.task.id:
            yield decision.variable, f"“{label}” takes {' | '.join(decision.values)}"
    for access in plan.variables.reads:
        if (
            access.by != "condition"
            or access.variable in set_after
            or access.variable == binding.result
        ):
            continue
        if any(s.element == use.task.id for s in plan.variables.setters(access)):
            label = plain(plan.graph.nodes[access.element].label)
            yield access.variable, f"“{label}” reads it"
