"""Code nodes of tasks whose work the model defines."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow.backends.n8n.emit.decision_code import unset_text
from orgflow.backends.n8n.emit.effect_keys import effect_key, instance_code, own_visit
from orgflow.backends.n8n.emit.form_code import unsent_code
from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.emit.variable_printer import form_answers
from orgflow.backends.n8n.emit.work import Answers, mapping_code, work_code
from orgflow.backends.n8n.node_types import code
from orgflow.backends.n8n.plan.failures import hands_variables
from orgflow.backends.n8n.plan.graph import HelperKey
from orgflow.backends.n8n.plan.references import quote_node
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.task_form import TaskForm
from orgflow.backends.n8n.plan.task_work import is_brought, is_narrow

from orgflow_ir.flow.control_flow.calls import hands_everything, takes_everything
from orgflow_ir.model import CallActivity, Task
from orgflow_ir.program.syntax import Tree
from orgflow_ir.work.operations import CatalogueOperation
from orgflow_ir.work.requests import Part, Request
from orgflow_ir.work.statements import assigned, read
from orgflow_ir.work.tasks import Act, CallMappings, Work, is_keyed


def print_program(work: Work, element: str, plan: ScopePlan) -> Printed:
    """The node that does the whole work of a task or event."""
    text = work_code(
        work.statements, _Unset(element, plan).message, caught=hands_variables(element, plan)
    )
    return Printed("code", code.code_parameters(text))


def print_preparation(work: Work, element: str, plan: ScopePlan) -> Printed:
    """The node that computes the input of a task."""
    text = work_code(
        work.before,
        _Unset(element, plan).message,
        keep_locals=True,
        key=request_key(work.act, element, plan),
        caught=hands_variables(element, plan),
    )
    return Printed("code", code.code_parameters(text))


def print_conclusion(work: Work, element: str, plan: ScopePlan) -> Printed:
    """The node that computes what a task sets."""
    inputs = plan.workflow_graph.nodes.get(HelperKey(element, "inputs"))
    given = None if inputs is None else f"$({quote_node(inputs.name)}).first().json"
    local = frozenset(assigned(work.before, local=True))
    before = _item_before(element, plan)
    if given is not None and any(n.path[0] in local for n in read(work.after)):
        # Whoever does the task may hand on an item without what the task was given.
        before = given
    form = plan.forms.get(element)
    text = work_code(
        work.after,
        _Unset(element, plan, itself=True).message,
        before=before,
        answer=_find_answer(work),
        called=is_brought(element, plan),
        narrow=is_narrow(element, plan),
        caught=hands_variables(element, plan),
        given=given,
        answers=None if form is None else _collect_answers(form, work),
    )
    return Printed("code", code.code_parameters(text))


def print_hand_over(mappings: CallMappings, element: str, plan: ScopePlan) -> Printed:
    """The node that computes what a call hands over."""
    every = hands_everything(_find_caller(element, plan))
    return _print_mappings(mappings.inputs, _Unset(element, plan), every=every)


def print_take_back(mappings: CallMappings, element: str, plan: ScopePlan) -> Printed:
    """The node that computes what a call takes back."""
    every = takes_everything(_find_caller(element, plan))
    return _print_mappings(mappings.outputs, _Unset(element, plan, itself=True), every=every)


class _Unset:
    """Messages of runs in which an element reads a variable that was never set."""

    def __init__(self, element: str, plan: ScopePlan, *, itself: bool = False) -> None:
        self.element, self.plan, self.itself = element, plan, itself

    def message(self, name: str) -> str:
        """The message for a variable."""
        label = self.plan.workflow_graph.nodes[self.element].name
        return unset_text(name, self.element, label, self.plan, itself=self.itself)


def _print_mappings(values: Iterable[tuple[str, Tree]], unset: _Unset, *, every: bool) -> Printed:
    return Printed("code", code.code_parameters(mapping_code(values, unset.message, every=every)))


def _find_caller(element: str, plan: ScopePlan) -> CallActivity | Task:
    call = plan.graph.nodes[element]
    assert isinstance(call, CallActivity | Task)
    return call


def _item_before(element: str, plan: ScopePlan) -> str | None:
    """Code for the item before an element, if variables on it are kept."""
    port = plan.carried.before.get(element) if plan.carried is not None else None
    if port is None:
        return None
    name = plan.workflow_graph.nodes[port.node].name
    return f"$({quote_node(name)}).first({port.number}).json"


def _find_answer(work: Work) -> tuple[tuple[str, Part], ...] | None:
    """The names under which parts of what comes back are known."""
    if work.act is None or isinstance(work.act, CatalogueOperation):
        return None  # what it hands on has the names that its outputs read
    return work.act.answer if isinstance(work.act, Request) else ()


def _collect_answers(form: TaskForm, work: Work) -> Answers:
    """What somebody has answered, for the mappings of the task."""
    given = frozenset(assigned(work.before, local=True))
    blank = tuple(name for name in form.asks if name not in given)
    cleared = tuple(name for name in form.asks if name in given)
    return Answers(form_answers(form, "form", "v", inside=True), blank, cleared, unsent_code(form))


def request_key(act: Act | None, element: str, plan: ScopePlan) -> str:
    """The code for the key of a request, which is computed before it is sent. Empty where it needs
    none."""
    if act is None or not is_keyed(act):
        return ""
    name = plan.workflow_graph.nodes[HelperKey(element, "inputs")].name
    return effect_key(instance_code(plan), element, own_visit(name))
