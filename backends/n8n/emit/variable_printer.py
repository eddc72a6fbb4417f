"""The nodes that keep variables: JavaScript for the fields of the item."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from orgflow.backends.javascript.literals import js_string, property_name, property_of
from orgflow.backends.n8n.emit.form_code import answered_code, unsent_code
from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.node_types import code, send_and_wait, set_
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.plan.actions import (
    WAITS,
    KeepAnswers,
    KeepJoined,
    KeepLatest,
    KeepVariables,
)
from orgflow.backends.n8n.plan.carried import Carried
from orgflow.backends.n8n.plan.graph import HelperKey, PlanNode, Port
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.references import quote_node
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.task_form import TaskForm
from orgflow.backends.n8n.plan.variables import are_many

from orgflow_ir.flow.control_flow.calls import takes_everything, variable_in
from orgflow_ir.model import CallActivity, Task
from orgflow_ir.model.bindings import SubProcessCall
from orgflow_ir.model.records import NamedTuple

_CALL_FIELDS = frozenset({"headers", "params", "query", "body"})
"""Fields that n8n adds to the item of a call."""

_ANSWERED = frozenset(
    {
        "body", "headers", "statusCode", "statusMessage", "data",  # HTTP Request
        "accepted", "rejected", "ehlo", "envelopeTime", "messageTime", "messageSize", "response",
        "envelope", "messageId",  # Send Email
    }
)  # fmt: skip
"""Fields in the output of nodes that send something."""


class VariablePrinter:
    """Prints the nodes that keep the variables of one plan."""

    def __init__(self, plan: ScopePlan) -> None:
        assert plan.carried is not None
        self.plan, self.graph = plan, plan.workflow_graph
        self.carried: Carried = plan.carried
        self._split_names: dict[tuple[str, ...], str] = {}

    def print_input(self) -> Printed:
        """Makes the received data the item."""
        return Printed(
            "set", set_.write_parameters(make_expression("$json.body ?? $json"), keep=False)
        )

    def print_step(self, action: KeepVariables) -> Printed:
        """The variables as the step passes them on, else as they were."""
        step = self.graph.nodes[action.step]
        names = action.names
        given = self._given(step)
        was = self._item(action.source) if action.source is not None else "({})"
        if action.counted:
            body = self._counted(names, given, was)
        else:
            values = self._fields(names, given.before(was), _first_with)
            body = "({ " + ",\n ".join(values) + " })"
        own = sorted((self._own(step.element) | self._untaken(step.element)) & set(names))
        if own:  # what only the step was given, or a called process has, is no variable behind it
            rest = f"Object.entries($json).filter((one) => !{json.dumps(own)}.includes(one[0]))"
            body = f"({{ ...Object.fromEntries({rest}), ...{body} }})"
        return Printed("set", set_.write_parameters(make_expression(body), keep=not own))

    def print_answers(self, action: KeepAnswers) -> Printed:
        """The variables as the answers are, or as the node in the place of the form passes
        them on, else as they were. If nothing runs beside the form, all other known variables are
        passed on as well."""
        step = self.graph.nodes[action.step]
        names = action.names
        item = f"$({quote_node(step.name)}).first().json"
        was = self._item(action.source) if action.source is not None else "({})"
        answers = form_answers(action.form, item, was, inside=False)
        begun = self._set_before(step.element)
        usual = ("$json", "answers")
        given = _Items(usual, {name: (*usual, item) for name, item in begun.items()})
        if action.counted:
            body = f"((answers) => {self._counted(names, given, was)})({answers})"
        else:
            values = [] if self.plan.variables.parallel(step.element) else ["...was"]
            if are_many(names):
                values += self._fields(names, given.before("was"), _first_with)
            else:
                values += (
                    f"{property_name(n)}: [{', '.join(given.of(n))}, was]"
                    f".find((o) => {property_of('o', n)} !== undefined)"
                    f"{property_of('?', n)}"
                    for n in names
                )
            body = "((answers, was) => ({ " + ",\n ".join(values) + f" }}))({answers},\n {was})"
        dotted = any("." in n or "[" in n for n in names)
        return Printed(
            "set", set_.write_parameters(make_expression(body), keep=False, literal_names=dotted)
        )

    def print_latest(self, action: KeepLatest) -> Printed:
        """Of all copies, in this branch and those beside it, the one that was set most often."""
        values, counts = [], []
        count = self.carried.count
        for name, others in action.setters:
            items = ["$json"]
            for key in others:
                node = quote_node(self.graph.nodes[HelperKey(key, "data")].name)
                items.append(f"...($({node}).isExecuted ? [$({node}).first(0).json] : [])")
            of = _Name(name)
            a, b = (f"({_read_maybe(f'{o}.{count}', of)} ?? 0)" for o in "ab")
            best = f"[{', '.join(items)}].reduce((a, b) => ({b} > {a} ? b : a))"
            values.append(f"{_object_key(name)}: {_read_name(best, of)}")
            counts.append(f"{_object_key(name)}: {_read_maybe(f'{best}.{count}', of)} ?? 0")
        inside = ",\n ".join((*values, f"{count}: {{ ...$json.{count}, {', '.join(counts)} }}"))
        return Printed("set", set_.write_parameters(make_expression(f"({{ {inside} }})")))

    def print_joined(self, action: KeepJoined) -> Printed:
        """Of the branches' copies of each variable the one that was set most often."""
        join = self.plan.joins.get(action.gateway)
        items = []
        for source in action.sources:
            node = quote_node(self.graph.nodes[source.node].name)
            item = f"$({node}).first({source.number})"
            if join is not None and join.kind == "partial":
                item = f"$({node}).isExecuted && {item}"
            items.append(item)
        names = action.names
        text = _JOIN.format(
            items=",\n  ".join(items),
            names=self._split(names) if are_many(names) else json.dumps(names),
            count=self.carried.count,
        )
        return Printed("code", code.code_parameters(text))

    def _set_before(self, element: str) -> dict[str, str]:
        """Of the variables that are set when a task begins the item on which each is."""
        inputs = self.graph.nodes.get(HelperKey(element, "inputs"))
        if inputs is None:
            return {}
        item = f"$({quote_node(inputs.name)}).first().json"
        names = load_function("variable_reads.list_assigned")(self.plan.work[element].before)
        return dict.fromkeys(names, item)

    def _given(self, step: PlanNode) -> _Items:
        """The items in which a step may hand on each variable, best first."""
        itself = f"$({quote_node(step.name)}).first().json"
        call = self.plan.graph.nodes.get(step.element)
        called = isinstance(call, CallActivity) or step.element in self.plan.stubs_called
        if called and isinstance(call, CallActivity | Task) and call.binding is not None:
            computed = HelperKey(call.id, "outputs") in self.graph.nodes
            return _handed_back(call, computed=computed)
        untaken = self._untaken(step.element)
        own = self._own(step.element) | self._answered(step) | untaken
        concluded = HelperKey(step.element, "outputs") in self.graph.nodes
        waits = isinstance(step.action, WAITS)
        if (
            concluded
            and not waits
            and load_function("task_work.is_narrow")(step.element, self.plan)
        ):
            return _Items(("$json",))
        if own:
            # What is taken from a call is on the item that its mappings made.
            usual = ("$json",) if untaken and concluded else ("$json", itself)
            return _Items(usual, dict.fromkeys(own, ()))
        if not waits or step.key in self.plan.forms:
            return _Items(("$json", itself))
        body = "($json.body ?? {})"
        return _Items((body, "$json"), dict.fromkeys(_CALL_FIELDS, (body,)))

    def _untaken(self, element: str) -> frozenset[str]:
        """Variables of a called process that a call does not take from it, whether the process or a
        placeholder hands them back."""
        call = self.plan.graph.nodes.get(element)
        if not isinstance(call, CallActivity | Task) or takes_everything(call):
            return frozenset()
        if not isinstance(call, CallActivity) and not isinstance(call.binding, SubProcessCall):
            return frozenset()
        outputs = call.binding.outputs if call.binding is not None else ()
        return frozenset(self.carried.names).difference(p.name for p in outputs)

    def _answered(self, step: PlanNode) -> frozenset[str]:
        """Fields of what comes back from outside, which set no variables of these names."""
        work = self.plan.work.get(step.element)
        if work is None or work.act is None:
            return frozenset()
        # Nobody knows which fields a filled node hands on: only its outputs set variables.
        operated = load_function("operations.is_operation")(work.act)
        answered = frozenset(self.carried.names) if operated else _ANSWERED
        return answered.difference(load_function("variable_reads.list_assigned")(work.after))

    def _own(self, element: str) -> frozenset[str]:
        """Names that a placeholder is given something under which only it knows."""
        if HelperKey(element, "inputs") not in self.graph.nodes:
            return frozenset()
        names: frozenset[str] = load_function("variable_reads.list_kept_inside")(
            self.plan.work[element]
        )
        return names

    def _counted(self, names: tuple[str, ...], given: _Items, was: str) -> str:
        def count_settings(name: _Name, items: tuple[str, ...]) -> str:
            return (
                f"({_read_maybe(f'was.{self.carried.count}', name)} ?? 0) + "
                "((now) => now === undefined || "
                f"JSON.stringify(now) === JSON.stringify({_read_name('was', name)}) ? 0 : 1)"
                f"({_first_with(name, items)})"
            )

        # Both parts have the same variables: of many, the list is written once.
        several = are_many(names) and bool(given.rest(names))
        usual = "names" if several else ""
        values = self._fields(names, given.before("was"), _first_with, usual=usual)
        counts = self._fields(names, given, count_settings, usual=usual)
        inside = ",\n ".join((*values, f"{self.carried.count}: {{ {', '.join(counts)} }}"))
        if several:
            return f"((was, names) => ({{ {inside} }}))({was},\n {self._split(given.rest(names))})"
        return f"((was) => ({{ {inside} }}))({was})"

    def _item(self, port: Port) -> str:
        return f"$({quote_node(self.graph.nodes[port.node].name)}).first({port.number}).json"

    def _fields(
        self,
        names: tuple[str, ...],
        items: _Items,
        value: Callable[[_Name, tuple[str, ...]], str],
        *,
        usual: str = "",
    ) -> list[str]:
        """Fields of an object in JavaScript, one a variable; of many, one for all that are read
        from the same items. `value` is the code for one, read from its items; `usual` is code for
        the list of those that are read from the usual items."""
        if not are_many(names):
            return [f"{_object_key(name)}: {value(_Name(name), items.of(name))}" for name in names]
        others: dict[tuple[str, ...], list[str]] = {}
        for name in names if items.others else ():
            if name in items.others:
                others.setdefault(items.others[name], []).append(name)
        each = _Name("name", looped=True)
        rest = items.rest(names)
        lists = [(items.usual, usual or self._split(rest))] if rest else []
        lists += [(read, self._split(tuple(group))) for read, group in others.items()]
        return [
            f"...Object.fromEntries({group}.map((name) => [name, {value(each, read)}]))"
            for read, group in lists
        ]

    def _split(self, names: tuple[str, ...]) -> str:
        """JavaScript for a list of variables, at least one; no name has a comma."""
        if names not in self._split_names:
            self._split_names[names] = f"{js_string(','.join(names))}.split(',')"
        return self._split_names[names]


_JOIN = """\
const branches = [
  {items},
].filter((item) => item).map((item) => item.json);
const times = (item, name) => item.{count}?.[name] ?? 0;
const joined = {{ ...$input.first().json, {count}: {{}} }};
for (const name of {names}) {{
  const last = branches.reduce((a, b) => (times(b, name) > times(a, name) ? b : a));
  const same = branches.filter((item) => times(item, name) === times(last, name));
  if (same.some((item) => JSON.stringify(item[name]) !== JSON.stringify(last[name])))
    throw new Error(`Parallel branches left different values in "${{name}}": ${{same
      .map((item) => JSON.stringify(item[name])).join(', ')}}`);
  joined[name] = last[name];
  joined.{count}[name] = times(last, name);
}}
return [{{ json: joined }}];
"""


def form_answers(form: TaskForm, item: str, was: str, *, inside: bool) -> str:
    """JavaScript for the variables of a form's answers, or of the output of a node in its place;
    `was` is code for the previous variables."""
    answers = answered_code(form, was, inside=inside)
    if form.by:
        answers = f"((form) => ({answers}))(form.{send_and_wait.ANSWER})"
    return f"((form) => {unsent_code(form)} ? form : ({answers}))({item})"


def _handed_back(call: CallActivity | Task, *, computed: bool) -> _Items:
    """The items in which a called process hands back each variable: all of them, or those that the
    call takes from it, under the names that it gives them: null where the called process has never
    set one, whatever it was before. `computed`: a node behind the call has given them their
    names."""
    outputs = call.binding.outputs if call.binding is not None else ()
    taken = {p.name: p.name if computed else variable_in(p) for p in outputs}
    renamed = {
        name: (f"({{ {_object_key(name)}: {_read_name('$json', _Name(source))} ?? null }})",)
        for name, source in taken.items()
        if source is not None
    }
    return _Items(("$json",) if takes_everything(call) else (), renamed)


class _Items(NamedTuple):
    """Code for the items from which variables are read, best first: the usual ones, and those of
    some variables by their names."""

    usual: tuple[str, ...]
    others: Mapping[str, tuple[str, ...]] = MappingProxyType({})

    def of(self, name: str) -> tuple[str, ...]:
        """Those of a variable."""
        return self.others.get(name, self.usual)

    def rest(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the variables that are read from the usual items."""
        if not self.others or self.others.keys().isdisjoint(names):
            return names
        return tuple(name for name in names if name not in self.others)

    def before(self, last: str) -> _Items:
        """The same with another item after all of them."""
        others = {name: (*items, last) for name, items in self.others.items()}
        return _Items((*self.usual, last), others)


class _Name(NamedTuple):
    """A variable in JavaScript: its name in the model, or with `looped` the JavaScript variable
    that holds each name in turn."""

    text: str
    looped: bool = False

    @property
    def is_identifier(self) -> bool:
        """Whether it may stand after a full stop."""
        return not self.looped and self.text.isidentifier()

    @property
    def code(self) -> str:
        """It in brackets."""
        return self.text if self.looped else js_string(self.text)


def _object_key(name: str) -> str:
    """A variable as the key of an object in JavaScript."""
    return name if name.isidentifier() else js_string(name)


def _read_name(owner: str, name: _Name) -> str:
    """JavaScript that reads a variable from an object."""
    return f"{owner}.{name.text}" if name.is_identifier else f"{owner}[{name.code}]"


def _read_maybe(owner: str, name: _Name) -> str:
    """JavaScript that reads a variable from what may be no object; undefined there. No `?.` stands
    before brackets: n8n takes some such reads for undefined."""
    return f"{owner}?.{name.text}" if name.is_identifier else f"({owner} ?? {{}})[{name.code}]"


def _first_with(name: _Name, items: Iterable[str]) -> str:
    """JavaScript for a variable as the first of several items has it."""
    code = f"[{', '.join(items)}].find((o) => {_read_name('o', name)} !== undefined)"
    return _read_maybe(code, name)
