"""Process variables on n8n: they travel on the item, and a small node after each step keeps them.

n8n has no variable that all nodes of an execution share and that a step may overwrite: a node that
replaces the item drops its data, and a Merge lets an outdated copy win. So if a condition that
reads a variable may still follow, a node after each step sets the variable again: to the value that
the step outputs under its name, otherwise to its previous value. Conditions then read
`$json.approved`.

If tasks run in parallel, each item also counts the assignments of a variable, and after the join
the copy with the highest count wins; two different copies with the same count stop the run.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from orgflow.backends.javascript.literals import js_string
from orgflow.backends.n8n.emit.graph import (
    GraphNode,
    HelperKey,
    NodeKey,
    Port,
    Role,
    entry_key,
    exit_key,
)
from orgflow.backends.n8n.emit.references import quote_node
from orgflow.backends.n8n.emit.scopes import scopes_of
from orgflow.backends.n8n.node_types import code, send_and_wait, set_
from orgflow.backends.n8n.node_types.conditions import make_expression

from orgflow_ir.flow.control_flow.calls import (
    called_from,
    calls_in,
    hands_everything,
    takes_everything,
    variable_in,
)
from orgflow_ir.flow.control_flow.graph import ControlFlow, united_ahead
from orgflow_ir.model import CallActivity, Event, SubProcess, Task
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import variables
from orgflow_ir.work.gateway_decisions import DecisionMemory

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.emitter import CompiledScope
    from orgflow.backends.n8n.emit.forms import TaskForm

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


@dataclass
class Carried:
    """The additions of `carry_variables` to a graph.

    Attributes:
        read: variables that the conditions of a gateway read.
        steps: nodes that may set variables and replace the item.
        beside: steps in parallel branches that may set a variable which a gateway reads.
        after: variables on the item after an added node, by its key.
        counted: whether copies in parallel branches are distinguished by a count.
        before: code for the item before an element that sets variables by its mappings.
    """

    read: Mapping[str, tuple[str, ...]]
    steps: tuple[NodeKey, ...]
    beside: Mapping[tuple[str, str], tuple[NodeKey, ...]]
    after: dict[NodeKey, tuple[str, ...]] = field(default_factory=dict)
    counted: bool = False
    before: dict[str, str] = field(default_factory=dict)


def carry_variables(compiled: CompiledScope, ctx: PassContext) -> Carried | None:
    """Add the nodes that keep the variables in the conditions of a scope; `None` if they read
    none."""
    read = _read_in(compiled)
    handed = _handed_over(compiled, ctx)
    asked = any(form.fields for form in compiled.forms.values())
    if not read and not any(handed.values()) and not compiled.work and not asked:
        return None
    return _Carrier(compiled, read, handed).run()


def _read_in(compiled: CompiledScope) -> dict[str, tuple[str, ...]]:
    """Variables that the conditions of each gateway read."""
    found = {
        gateway: tuple(dict.fromkeys(path[0] for path in decision.coded))
        for gateway, decision in compiled.decisions.items()
        if gateway in compiled.graph.reachable
    }
    return {gateway: names for gateway, names in found.items() if names}


def _handed_over(compiled: CompiledScope, ctx: PassContext) -> Mapping[str, tuple[str, ...]]:
    """Variables that a called workflow has to be handed, by the sub-process; under the empty key
    those that this one has to hand back at its ends."""
    scope = compiled.scope
    inner = [n for n in scope.body.nodes if isinstance(n, SubProcess | CallActivity)]
    if not inner and not scope.started_by_call:
        return {}
    from orgflow.backends.n8n.emit.computed import computed_in
    from orgflow.backends.n8n.emit.emitter import CONVENTIONS

    from orgflow_ir.work.tasks import call_mappings

    # What is read in any process that this one calls, or that is called beside it.
    model = scope.model
    family = {scope.process.id: scope.process}
    for other in model.processes:
        called = called_from(other, model)
        if other is scope.process or any(one is scope.process for one in called):
            family |= {one.id: one for one in (other, *called)}
    read: dict[str, None] = {}
    for process in family.values():
        for one in scopes_of(model, process):
            graph = ctx.analysis(ControlFlow, one.body)
            decisions = ctx.shared(DecisionMemory).decisions(graph, CONVENTIONS)
            read |= dict.fromkeys(path[0] for d in decisions.values() for path in d.coded)
            read |= dict.fromkeys(computed_in(one.body, ctx))
        for call in calls_in(process):
            taken = (value for _, value in call_mappings(call).outputs)
            read |= dict.fromkeys(path[0] for value in taken for path in variables(value))
    everything = tuple(read)
    if (once := scope.together.get(scope.process.id)) is not None:
        everything = once.names
    # A call with mappings hands over what these read, which may be of the called process only.
    found = {
        node.id: tuple(n for n in everything if n in _mapped(node))
        if isinstance(node, CallActivity) and not hands_everything(node)
        else everything
        for node in inner
    }
    if scope.started_by_call:
        found[""] = everything
    return found


def _mapped(call: CallActivity) -> frozenset[str]:
    """Variables that the input mappings of a call read."""
    from orgflow_ir.work.tasks import call_mappings

    return frozenset(
        path[0] for _, value in call_mappings(call).inputs for path in variables(value)
    )


def handed_back(compiled: CompiledScope, ctx: PassContext) -> tuple[str, ...]:
    """Variables that a called workflow has to hand back to what calls it."""
    return _handed_over(compiled, ctx).get("", ())


def _computed_reads(compiled: CompiledScope) -> dict[str, tuple[str, ...]]:
    """Variables that tasks read whose work the workflow does, those that the model mentions for
    work that somebody else implements, and those that forms show, by the task."""
    forms = compiled.forms
    if not compiled.work and not forms:
        return {}
    found = {
        element: tuple(
            dict.fromkeys(
                name
                for needed in work.reads()
                if (name := needed.path[0]) not in (forms[element].asks if element in forms else ())
            )
        )
        for element, work in compiled.work.items()
        if element in compiled.graph.reachable
    }
    for element, work in compiled.work.items():
        task = compiled.graph.nodes[element]
        if work.unread and isinstance(task, Task) and task.binding is not None:
            from orgflow_ir.work.tasks import mentioned

            found[element] = (*found.get(element, ()), *mentioned(task.binding))
    for element, form in forms.items():
        if shown := (*(one.asked.variable for one in form.shown), *sorted(form.begins)):
            found[element] = (*found.get(element, ()), *shown)
    return {element: names for element, names in found.items() if names}


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


class _Carrier:
    """Adds the nodes to the graph of one scope."""

    def __init__(
        self,
        compiled: CompiledScope,
        read: Mapping[str, tuple[str, ...]],
        handed: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.compiled = compiled
        self.graph = compiled.workflow_graph
        self.read = read
        self.handed = handed
        self.variables = compiled.variables
        self.computed = _computed_reads(compiled)
        given = (*read.values(), *self.computed.values(), *handed.values())
        self.names = tuple(dict.fromkeys(n for names in given for n in names if _is_kept(n)))
        self.count = _free("_set", self.names)
        self.steps = dict.fromkeys(k for k, node in self.graph.nodes.items() if self._is_step(node))
        self.beside = self._beside()
        self.ahead = self._ahead()
        self._names_of: dict[int, tuple[str, ...]] = {}
        self._split_names: dict[tuple[str, ...], str] = {}
        self.counting = self._counting()
        beside = {(g, n): tuple(ks) for g, by in self.beside.items() for n, ks in by.items()}
        self.result = Carried(self.read, tuple(self.steps), beside)

    def run(self) -> Carried:
        """Insert what keeps the variables, steps first, then joins, then what is before both."""
        graph = self.graph
        original = list(graph.nodes)
        for key in original:
            node = graph.nodes[key]
            data = HelperKey(key, "data")
            if data in graph.nodes:  # a form, of whose answers it makes variables
                asked = self.compiled.forms[node.element]
                begun = self._set_before(node.element)
                names = (*self._live(data), *asked.variables, *begun, *asked.sets)
                self.result.after[data] = tuple(dict.fromkeys(names))
                continue
            names = self._live(key)
            if not names:
                continue
            if key in self.steps or node.type == "webhook":
                self._behind(key, "set", names)
            elif node.type == "merge" and node.role == "element" and self.counting:
                self._behind(key, "code", names)
        for gateway, others in self.beside.items():
            self._in_front(gateway, "latest", "set", f"For {graph.nodes[gateway].name}")
            self.result.after[HelperKey(gateway, "latest")] = tuple(others)
        before = {
            key: self._before(key)
            for key in original
            if key in self.steps
            and (HelperKey(key, "data") in graph.nodes or self._form(key) is None)
        }
        for key, source in before.items():
            if HelperKey(key, "outputs") in graph.nodes and source is not None:
                self.result.before[str(key)] = self._item(source)
        branches = {
            key: self._branches(key)
            for key in original
            if graph.nodes[key].type == "merge" and HelperKey(key, "data") in graph.nodes
        }
        for key, source in before.items():
            if HelperKey(key, "data") in graph.nodes:
                form = self._form(key)
                if form is not None and form.fields:
                    self._fill_form(key, form, source)
                else:
                    self._fill_step(key, source)
        for key, sources in branches.items():
            self._fill_join(key, sources)
        for key in original:
            node = graph.nodes[key]
            if node.role == "trigger" and HelperKey(key, "data") in graph.nodes:
                page = self._form(key)
                if page is None:
                    self._fill_start(key)
                else:
                    self._fill_form(key, page, None)
        for gateway in self.beside:
            self._fill_latest(gateway)
        self.result.counted = bool(self.counting)
        self._in_order()
        return self.result

    # -- what is where -------------------------------------------------------------------------

    def _is_step(self, node: GraphNode) -> bool:
        """Whether a person puts a node of their own there, or n8n replaces the item."""
        if node.role == "decide":
            return True
        if node.role != "element":
            return False
        if node.type == "code" and not self.variables.splits:
            return False  # it hands on the item with what it sets
        element = self.compiled.graph.nodes.get(node.element)
        if isinstance(element, Event):
            if element.position == "boundary" and element.trigger == "error":
                return True  # the item of a failed node may hold nothing but the error
            return element.position in ("catch", "throw") and element.trigger in (
                "message",
                "conditional",
                "signal",
            )
        return isinstance(element, Task | SubProcess | CallActivity)

    def _beside(self) -> dict[str, dict[str, list[NodeKey]]]:
        """Gateways that read what a step in a parallel branch may set: the steps by variable."""
        found: dict[str, dict[str, list[NodeKey]]] = {}
        order = {key: number for number, key in enumerate(self.steps)}
        steps_of: dict[str, list[NodeKey]] = {}
        for key in self.steps:
            steps_of.setdefault(self.graph.nodes[key].element, []).append(key)
        for gateway, names in (*self.read.items(), *self.computed.items()):
            beside = [k for e in self.variables.beside(gateway) for k in steps_of.get(e, ())]
            for key in sorted(beside, key=order.__getitem__):
                for name in names:
                    found.setdefault(gateway, {}).setdefault(name, []).append(key)
        return found

    def _ahead(self) -> dict[NodeKey, int]:
        """For each node the variables that have to be on its items, as a set of bits in the order
        of `names`: those that it reads, and those of all nodes behind it."""
        bits = {name: 1 << number for number, name in enumerate(self.names)}
        # Where each variable is read.
        wanted = defaultdict[NodeKey, int](int, self._beside_bits)
        for gateway, names in self.read.items():
            wanted[gateway] |= _union_bits(bits, names)
        for element, names in self.computed.items():
            wanted[entry_key(element, self.graph)] |= _union_bits(bits, names)
        for call, names in self.handed.items():
            wanted[call] |= _union_bits(bits, names)  # the empty key is no node
        handed_back = _union_bits(bits, self.handed.get("", ()))
        after: dict[NodeKey, list[NodeKey]] = {}
        for key, node in self.graph.nodes.items():
            after[key] = [target.node for _, target in self.graph.wires.leaving(key)]
            if not after[key] and node.role != "stop":
                wanted[key] |= handed_back
        return united_ahead(after, wanted)

    def _live(self, key: NodeKey) -> tuple[str, ...]:
        """Variables that somebody behind a node may still read."""
        live = self._beside_bits.get(key, 0)
        for _, target in self.graph.wires.leaving(self._last(key)):
            live |= self.ahead.get(target.node, 0)
        if live not in self._names_of:
            bits = map("1".__eq__, reversed(f"{live:b}"))
            self._names_of[live] = tuple(itertools.compress(self.names, bits))
        return self._names_of[live]

    @cached_property
    def _beside_bits(self) -> dict[NodeKey, int]:
        """For each step the variables that a reader in a parallel branch takes from it, as bits."""
        bits = {name: 1 << number for number, name in enumerate(self.names)}
        found: dict[NodeKey, int] = {}
        for others in self.beside.values():
            for name, steps in others.items():
                for step in steps:
                    found[step] = found.get(step, 0) | bits.get(name, 0)
        return found

    def _counting(self) -> frozenset[NodeKey]:
        """Steps whose settings are counted: those beside others, and all of them where an old copy
        may still be there when a join is reached again."""
        if self.beside or self.variables.unstructured or self._partial_again():
            return frozenset(self.steps)
        return frozenset(
            key for key in self.steps if self.variables.parallel(self.graph.nodes[key].element)
        )

    def _partial_again(self) -> bool:
        cyclic = self.compiled.graph.cyclic
        return any(
            join.kind == "partial" and gateway in cyclic
            for gateway, join in self.compiled.joins.items()
        )

    # -- nodes and wires -----------------------------------------------------------------------

    def _behind(self, key: NodeKey, type: str, names: tuple[str, ...]) -> None:
        """A node between another and all that it leads to."""
        owner = self.graph.nodes[key]
        added = self.graph.add(
            HelperKey(key, "data"),
            f"{owner.name} data",
            type,
            {},
            element=owner.element,
            role="data",
        )
        self.result.after[added.key] = names
        last = self._last(key)
        for source, target in self.graph.wires.leaving(last):
            failed = source.number == 1 and self.graph.nodes[source.node].fails_over
            if not failed:
                flow = self.graph.wires.pop((source, target))
                self.graph.wires[(Port(added.key), target)] = flow
        self.graph.wires[(Port(last), Port(added.key))] = None

    def _first(self, key: NodeKey) -> NodeKey:
        """The node by which an item comes to a step."""
        return entry_key(key, self.graph) if isinstance(key, str) else key

    def _last(self, key: NodeKey) -> NodeKey:
        """The node by which an item leaves a step."""
        return exit_key(key, self.graph) if isinstance(key, str) else key

    def _in_front(
        self, key: NodeKey, role: Role, type: str, name: str, number: int | None = None
    ) -> NodeKey:
        """A node between another (one input of it, with `number`) and all that leads to it."""
        added = self.graph.add(
            HelperKey(key, role, number),
            name,
            type,
            {},
            element=self.graph.nodes[key].element,
            role=role,
        )
        port = Port(self._first(key), number or 0)
        for source, target in self.graph.wires.arriving(port.node):
            if target == port:
                flow = self.graph.wires.pop((source, target))
                self.graph.wires[(source, Port(added.key))] = flow
        self.graph.wires[(Port(added.key), port)] = None
        return added.key

    def _sources(self, port: Port) -> list[Port]:
        return [source for source, target in self.graph.wires.arriving(port.node) if target == port]

    def _before(self, key: NodeKey) -> Port | None:
        """What leads to a step, made one node where it is several. Behind an error it is what led
        to the task that failed."""
        event = self.compiled.graph.nodes.get(self.graph.nodes[key].element)
        if isinstance(event, Event) and event.attached_to is not None:
            return self._before(event.attached_to)
        sources = self._sources(Port(self._first(key)))
        if len(sources) > 1:
            name = f"Before {self.graph.nodes[key].name}"
            return Port(self._in_front(key, "before", "noOp", name))
        return sources[0] if sources else None

    def _branches(self, key: NodeKey) -> list[Port]:
        """The last node of each branch that a join waits for."""
        found: list[Port] = []
        inputs = sorted({target.number for _, target in self.graph.wires.arriving(key)})
        for number in inputs:
            sources = self._sources(Port(key, number))
            if len(sources) > 1:
                name = f"Before {self.graph.nodes[key].name}"
                found.append(Port(self._in_front(key, "before", "noOp", name, number)))
            elif self.graph.nodes[sources[0].node].role == "join":
                found += self._branches(sources[0].node)
            else:
                found.append(sources[0])
        return list(dict.fromkeys(found))

    def _in_order(self) -> None:
        """Nodes that were added next to those they help, since files and editors list them so."""
        front: dict[NodeKey, list[NodeKey]] = {}
        back: dict[NodeKey, list[NodeKey]] = {}
        added = {k for k, n in self.graph.nodes.items() if n.role in ("data", "before", "latest")}
        for key in self.graph.nodes:
            if key in added:
                role = self.graph.nodes[key].role
                if role == "data":
                    owner = self.graph.wires.arriving(key)[0][0].node
                else:
                    owner = self.graph.wires.leaving(key)[0][1].node
                (back if role == "data" else front).setdefault(owner, []).append(key)
        order: list[NodeKey] = []
        for key in self.graph.nodes:
            if key not in added:
                order += [*front.get(key, ()), key, *back.get(key, ())]
        for key in order:
            self.graph.nodes[key] = self.graph.nodes.pop(key)

    # -- what they do --------------------------------------------------------------------------

    def _fill_start(self, key: NodeKey) -> None:
        added = self.graph.nodes[HelperKey(key, "data")]
        added.parameters = set_.write_parameters(make_expression("$json.body ?? $json"), keep=False)
        added.notes.append(
            "Passes the received data on as the item, so that its fields are variables."
        )

    def _fill_step(self, key: NodeKey, source: Port | None) -> None:
        """The variables as the step hands them on, else as they were."""
        step = self.graph.nodes[key]
        added = self.graph.nodes[HelperKey(key, "data")]
        names = self.result.after[added.key]
        given = self._given(step)
        was = self._item(source) if source is not None else "({})"
        if key in self.counting:
            body = self._counted(names, given, was)
        else:
            values = self._fields(names, given.before(was), _first_with)
            body = "({ " + ",\n ".join(values) + " })"
        own = sorted(self._own(step.element) & set(names))
        if own:  # what only the step was given is no variable behind it
            rest = f"Object.entries($json).filter((one) => !{json.dumps(own)}.includes(one[0]))"
            body = f"({{ ...Object.fromEntries({rest}), ...{body} }})"
        added.parameters = set_.write_parameters(make_expression(body), keep=not own)
        advice = " To read it from elsewhere, edit its line here."
        added.notes.append(
            f"Keeps {_list_names(names)}: a field with such a name from “{step.name}” is the new "
            f"value; otherwise the value is unchanged.{'' if _are_many(names) else advice}"
        )

    def _form(self, key: NodeKey) -> TaskForm | None:
        """The form that a node is, if it is one."""
        element = self.graph.nodes[key].element
        return self.compiled.forms.get(element) if key == element else None

    def _fill_form(self, key: NodeKey, form: TaskForm, source: Port | None) -> None:
        """The variables as the answers are, or as what stands in the place of the form hands them
        on, else as they were. Where nothing runs beside the form all else that was known is handed
        on, too."""
        from orgflow.backends.javascript.literals import property_name, property_of

        step = self.graph.nodes[key]
        added = self.graph.nodes[HelperKey(key, "data")]
        fields = form.fields
        names = self.result.after[added.key]
        item = f"$({quote_node(step.name)}).first().json"
        was = self._item(source) if source is not None else "({})"
        answers = form_answers(form, item, was, inside=False)
        begun = self._set_before(step.element)
        usual = ("$json", "answers")
        given = _Items(usual, {name: (*usual, item) for name, item in begun.items()})
        if key in self.counting:
            body = f"((answers) => {self._counted(names, given, was)})({answers})"
        else:
            values = [] if self.variables.parallel(step.element) else ["...was"]
            if _are_many(names):
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
        added.parameters = set_.write_parameters(
            make_expression(body), keep=False, literal_names=dotted
        )
        asked = (f.asked for f in fields if f.asked.variable not in form.inside)
        variables = [".".join(one.path) for one in asked]
        added.notes.append(
            f"Sets {join_listed(variables)} from the answers of “{step.name}”. Blank answers "
            "change "
            "nothing."
            if variables
            else (
                f"Keeps the variables that the mappings of “{step.name}” set; all others stay "
                "unchanged."
            )
        )

    def _set_before(self, element: str) -> dict[str, str]:
        """Of the variables that are set when a task begins the item on which each is."""
        inputs = self.graph.nodes.get(HelperKey(element, "inputs"))
        if inputs is None:
            return {}
        from orgflow_ir.work.statements import assigned

        item = f"$({quote_node(inputs.name)}).first().json"
        return dict.fromkeys(assigned(self.compiled.work[element].before), item)

    def _given(self, step: GraphNode) -> _Items:
        """The items in which a step may hand on each variable, best first."""
        itself = f"$({quote_node(step.name)}).first().json"
        call = self.compiled.graph.nodes.get(step.element)
        called = isinstance(call, CallActivity) or step.element in self.compiled.stubs_called
        if called and isinstance(call, CallActivity | Task) and call.binding is not None:
            computed = HelperKey(call.id, "outputs") in self.graph.nodes
            return _handed_back(call, computed=computed)
        own = self._own(step.element) | self._answered(step)
        if HelperKey(step.element, "outputs") in self.graph.nodes:
            from orgflow.backends.n8n.emit.computed import is_narrow

            if step.type != "wait" and is_narrow(step.element, self.compiled):
                return _Items(("$json",))
        if own:
            return _Items(("$json", itself), dict.fromkeys(own, ()))
        if step.type != "wait" or step.key in self.compiled.forms:
            return _Items(("$json", itself))
        body = "($json.body ?? {})"
        return _Items((body, "$json"), dict.fromkeys(_CALL_FIELDS, (body,)))

    def _answered(self, step: GraphNode) -> frozenset[str]:
        """Fields of what comes back from outside, which set no variables of these names."""
        work = self.compiled.work.get(step.element)
        if work is None or work.act is None:
            return frozenset()
        from orgflow_ir.work.operations import CatalogueOperation
        from orgflow_ir.work.statements import assigned

        # Nobody knows which fields a filled node hands on: only its outputs set variables.
        operated = isinstance(work.act, CatalogueOperation)
        answered = frozenset(self.names) if operated else _ANSWERED
        return answered - frozenset(assigned(work.after))

    def _own(self, element: str) -> frozenset[str]:
        """Names that a placeholder is given something under which only it knows."""
        if HelperKey(element, "inputs") not in self.graph.nodes:
            return frozenset()
        from orgflow_ir.work.statements import assigned

        work = self.compiled.work[element]
        return frozenset(assigned(work.before, local=True)) - frozenset(assigned(work.after))

    def _counted(self, names: tuple[str, ...], given: _Items, was: str) -> str:
        def count_settings(name: _Name, items: tuple[str, ...]) -> str:
            return (
                f"({_maybe(f'was.{self.count}', name)} ?? 0) + "
                "((now) => now === undefined || "
                f"JSON.stringify(now) === JSON.stringify({_read_name('was', name)}) ? 0 : 1)"
                f"({_first_with(name, items)})"
            )

        # Both parts have the same variables: of many, the list is written once.
        several = _are_many(names) and bool(given.rest(names))
        usual = "names" if several else ""
        values = self._fields(names, given.before("was"), _first_with, usual=usual)
        counts = self._fields(names, given, count_settings, usual=usual)
        inside = ",\n ".join((*values, f"{self.count}: {{ {', '.join(counts)} }}"))
        if several:
            return f"((was, names) => ({{ {inside} }}))({was},\n {self._split(given.rest(names))})"
        return f"((was) => ({{ {inside} }}))({was})"

    def _fill_latest(self, gateway: str) -> None:
        """Of all copies, in this branch and those beside it, the one that was set most often."""
        added = self.graph.nodes[HelperKey(gateway, "latest")]
        values, counts = [], []
        for name, others in self.beside[gateway].items():
            items = ["$json"]
            for key in others:
                node = quote_node(self.graph.nodes[HelperKey(key, "data")].name)
                items.append(f"...($({node}).isExecuted ? [$({node}).first(0).json] : [])")
            of = _Name(name)
            a, b = (f"({_maybe(f'{o}.{self.count}', of)} ?? 0)" for o in "ab")
            best = f"[{', '.join(items)}].reduce((a, b) => ({b} > {a} ? b : a))"
            values.append(f"{_object_key(name)}: {_read_name(best, of)}")
            counts.append(f"{_object_key(name)}: {_maybe(f'{best}.{self.count}', of)} ?? 0")
        inside = ",\n ".join(
            (*values, f"{self.count}: {{ ...$json.{self.count}, {', '.join(counts)} }}")
        )
        added.parameters = set_.write_parameters(make_expression(f"({{ {inside} }})"))
        added.notes.append(
            f"Reads {join_listed(self.beside[gateway])} from the branch that set it last. "
            "Branches run "
            "one after the other, and this decision sees all values that they have set."
        )

    def _fill_join(self, key: NodeKey, sources: list[Port]) -> None:
        """Of the branches' copies of each variable the one that was set most often."""
        added = self.graph.nodes[HelperKey(key, "data")]
        names = self.result.after[added.key]
        join = self.compiled.joins.get(self.graph.nodes[key].element)
        items = []
        for source in sources:
            node = quote_node(self.graph.nodes[source.node].name)
            item = f"$({node}).first({source.number})"
            if join is not None and join.kind == "partial":
                item = f"$({node}).isExecuted && {item}"
            items.append(item)
        added.parameters = code.code_parameters(
            _JOIN.format(
                items=",\n  ".join(items),
                names=self._split(names) if _are_many(names) else json.dumps(names),
                count=self.count,
            )
        )
        added.notes.append(
            f"Keeps {_list_names(names)} as set by its branch; two branches that set different "
            "values stop the run."
        )

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
        if not _are_many(names):
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
    made = form.made(was, inside=inside)
    if form.by:
        made = f"((form) => ({made}))(form.{send_and_wait.ANSWER})"
    return f"((form) => {form.unsent} ? form : ({made}))({item})"


def _union_bits(bits: Mapping[str, int], names: Iterable[str]) -> int:
    """The bits of those of the names that have one."""
    union = 0
    for name in names:
        union |= bits.get(name, 0)
    return union


def _is_kept(name: str) -> bool:
    """Whether a variable is kept; its name may be several words, as in FEEL."""
    return all(word.isidentifier() for word in name.split(" "))


MOST_LISTED = 20
"""Maximum number of variables that a node keeps one by one. It keeps more of them in a loop over
their names: with a line for each, a workflow of many steps and variables grows with the product of
their numbers."""


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


def _are_many(names: Sequence[str]) -> bool:
    return len(names) > MOST_LISTED


def _list_names(names: Sequence[str]) -> str:
    """Variables in the text of a note."""
    if not _are_many(names):
        return join_listed(names)
    return join_listed((*names[:3], f"{len(names) - 3} others"))


def _object_key(name: str) -> str:
    """A variable as the key of an object in JavaScript."""
    return name if name.isidentifier() else js_string(name)


def _read_name(owner: str, name: _Name) -> str:
    """JavaScript that reads a variable from an object."""
    return f"{owner}.{name.text}" if name.is_identifier else f"{owner}[{name.code}]"


def _maybe(owner: str, name: _Name) -> str:
    """JavaScript that reads a variable from what may be no object; undefined there. No `?.` stands
    before brackets: n8n takes some such reads for undefined."""
    return f"{owner}?.{name.text}" if name.is_identifier else f"({owner} ?? {{}})[{name.code}]"


def _first_with(name: _Name, items: Iterable[str]) -> str:
    """JavaScript for a variable as the first of several items has it."""
    found = f"[{', '.join(items)}].find((o) => {_read_name('o', name)} !== undefined)"
    return _maybe(found, name)


def _free(name: str, taken: Iterable[str]) -> str:
    """A field name that no variable has."""
    while name in taken:
        name += "_"
    return name
