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
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from orgflow.backends.n8n.plan.actions import (
    OF_SEGMENTS,
    Action,
    BeginInstance,
    CompleteSegment,
    Join,
    KeepAnswers,
    KeepInput,
    KeepJoined,
    KeepLatest,
    KeepVariables,
    PassOn,
    Program,
    Send,
    WebhookStart,
)
from orgflow.backends.n8n.plan.carried import Carried
from orgflow.backends.n8n.plan.graph import (
    HelperKey,
    NodeKey,
    PlanNode,
    Port,
    Role,
    entry_key,
    exit_key,
)
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.task_form import TaskForm

from orgflow_ir.flow.control_flow.graph import united_ahead
from orgflow_ir.model import CallActivity, Event, SubProcess, Task
from orgflow_ir.model.element_names import join_listed

MOST_LISTED = 20
"""Maximum number of variables that a node keeps one by one. It keeps more of them in a loop over
their names: with a line for each, a workflow of many steps and variables grows with the product of
their numbers."""


def plan_variables(plan: ScopePlan) -> None:
    """Add the nodes that keep the variables that conditions and tasks of a scope read, if any."""
    read = _read_in(plan)
    handed = _handed_over(plan)
    asked = any(form.fields for form in plan.forms.values())
    if read or any(handed.values()) or plan.work or asked or plan.segments is not None:
        plan.carried = _Carrier(plan, read, handed).run()


def _read_in(plan: ScopePlan) -> dict[str, tuple[str, ...]]:
    """Variables that the conditions of each gateway read."""
    names_read = {
        gateway: tuple(dict.fromkeys(path[0] for path in decision.coded))
        for gateway, decision in plan.decisions.items()
        if gateway in plan.graph.reachable
    }
    return {gateway: names for gateway, names in names_read.items() if names}


def _handed_over(plan: ScopePlan) -> Mapping[str, tuple[str, ...]]:
    """See `handed_over`; nothing in a workflow that calls none and is not called."""
    calls = any(
        isinstance(n, SubProcess | CallActivity) or n.id in plan.deliveries
        for n in plan.scope.body.nodes
    )
    if not calls and not plan.scope.started_by_call:
        return {}
    handed: Mapping[str, tuple[str, ...]] = load_function("variable_reads.handed_over")(
        plan, plan.ctx
    )
    return handed


def _computed_reads(plan: ScopePlan) -> dict[str, tuple[str, ...]]:
    """See `read_by_work`; with the variables that forms show, by the task."""
    reads: dict[str, tuple[str, ...]] = {}
    if plan.work:
        reads = load_function("variable_reads.read_by_work")(plan)
    for element, form in plan.forms.items():
        shown = (*(field.asked.variable for field in form.shown), *sorted(form.begins))
        if shown:
            reads[element] = (*reads.get(element, ()), *shown)
    return {element: names for element, names in reads.items() if names}


class _Carrier:
    """Adds the nodes to the graph of one scope."""

    def __init__(
        self,
        plan: ScopePlan,
        read: Mapping[str, tuple[str, ...]],
        handed: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.plan = plan
        self.graph = plan.workflow_graph
        self.read = read
        self.handed = handed
        self.variables = plan.variables
        self.computed = _computed_reads(plan)
        given = (*read.values(), *self.computed.values(), *handed.values(), *self._kept_in_rows())
        self.names = tuple(dict.fromkeys(n for names in given for n in names if _is_kept(n)))
        self.count = _make_free_name("_set", self.names)
        self.steps = dict.fromkeys(k for k, node in self.graph.nodes.items() if self._is_step(node))
        self.beside = self._beside()
        self.ahead = self._ahead()
        self._names_of: dict[int, tuple[str, ...]] = {}
        self._split_names: dict[tuple[str, ...], str] = {}
        self.counting = self._counting()
        beside = {(g, n): tuple(ks) for g, by in self.beside.items() for n, ks in by.items()}
        self.result = Carried(
            self.read, tuple(self.steps), beside, self.names, self.count, self.computed, self.handed
        )

    def run(self) -> Carried:
        """Insert what keeps the variables, steps first, then joins, then what is before both."""
        original = list(self.graph.nodes)
        for key in original:
            self._insert_behind(key)
        for gateway, others in self.beside.items():
            name = f"For {self.graph.nodes[gateway].name}"
            latest = self._in_front(gateway, "latest", KeepLatest(gateway, ()), name)
            self.result.after[latest] = tuple(others)
        # What is before a step is one node, and so is the end of each branch of a join.
        kept = {key for key in original if HelperKey(key, "data") in self.graph.nodes}
        before = {
            key: self._before(key)
            for key in original
            if key in self.steps and (key in kept or self._form(key) is None)
        }
        joins = [key for key in original if isinstance(self.graph.nodes[key].action, Join)]
        branches = {key: self._branches(key) for key in joins if key in kept}
        for key, source in before.items():
            if HelperKey(key, "outputs") in self.graph.nodes and source is not None:
                self.result.before[str(key)] = source
        self._fill_all(kept, before, branches)
        self.result.counted = bool(self.counting)
        self._in_order()
        return self.result

    def _insert_behind(self, key: NodeKey) -> None:
        """Insert the node that keeps variables behind a step, a start or a join, if any is read
        there; that of a form is there already."""
        node = self.graph.nodes[key]
        data = HelperKey(key, "data")
        if data in self.graph.nodes:
            asked = self.plan.forms[node.element]
            begun = self._list_begun(node.element)
            names = (*self._live(data), *asked.variables, *begun, *asked.sets)
            self.result.after[data] = tuple(dict.fromkeys(names))
            return
        names = self._live(key)
        if not names:
            return
        if isinstance(node.action, WebhookStart):
            self._behind(key, KeepInput(names), names)
        elif key in self.steps:
            self._behind(key, KeepVariables(key, names, None, counted=False), names)
        elif isinstance(node.action, Join) and node.role == "element" and self.counting:
            self._behind(key, KeepJoined(node.element, names, ()), names)

    def _fill_all(
        self,
        kept: set[NodeKey],
        before: Mapping[NodeKey, Port | None],
        branches: Mapping[NodeKey, list[Port]],
    ) -> None:
        """Complete the nodes behind steps, joins and starts, and those before gateways."""
        for key, source in before.items():
            form = self._form(key)
            if key in kept and form is not None and form.fields:
                self._fill_form(key, form, source)
            elif key in kept:
                self._fill_step(key, source)
        for key, sources in branches.items():
            self._fill_join(key, sources)
        for start in self.plan.with_role("trigger"):
            page = self._form(start.key)
            if start.key in kept and page is not None:
                self._fill_form(start.key, page, None)
            elif start.key in kept:
                self._fill_start(start.key)
        for gateway in self.beside:
            self._fill_latest(gateway)

    # -- what is where -------------------------------------------------------------------------

    def _is_step(self, node: PlanNode) -> bool:
        """Whether a person puts a node of their own there, or n8n replaces the item."""
        if node.role == "decide":
            return True
        if node.role != "element" or isinstance(node.action, OF_SEGMENTS):
            return False
        if _is_code(node.action) and not self.variables.splits:
            return False  # it hands on the item with what it sets
        element = self.plan.graph.nodes.get(node.element)
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
        steps_beside: dict[str, dict[str, list[NodeKey]]] = {}
        if self.plan.segments is not None:
            return steps_beside  # branches are executions of their own
        order = {key: number for number, key in enumerate(self.steps)}
        steps_of: dict[str, list[NodeKey]] = {}
        for key in self.steps:
            steps_of.setdefault(self.graph.nodes[key].element, []).append(key)
        for gateway, names in (*self.read.items(), *self.computed.items()):
            beside = [k for e in self.variables.beside(gateway) for k in steps_of.get(e, ())]
            for key in sorted(beside, key=order.__getitem__):
                for name in names:
                    steps_beside.setdefault(gateway, {}).setdefault(name, []).append(key)
        return steps_beside

    def _kept_in_rows(self) -> Iterator[tuple[str, ...]]:
        """The variables that the end of a segment has to keep beside those that are read: those of
        forms, and those by which branches are chosen."""
        if self.plan.segments is None:
            return
        for decision in self.plan.decisions.values():
            if decision.values:
                yield (decision.variable,)
        for form in self.plan.forms.values():
            yield form.variables

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
        for key, node in self.graph.nodes.items():
            if isinstance(node.action, CompleteSegment | BeginInstance):
                wanted[key] |= (1 << len(self.names)) - 1
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
        bits_of_step: dict[NodeKey, int] = {}
        for others in self.beside.values():
            for name, steps in others.items():
                for step in steps:
                    bits_of_step[step] = bits_of_step.get(step, 0) | bits.get(name, 0)
        return bits_of_step

    def _counting(self) -> frozenset[NodeKey]:
        """Steps whose settings are counted: those beside others, and all of them where an old copy
        may still be there when a join is reached again."""
        if self.plan.segments is not None:
            return frozenset()
        if self.beside or self.variables.unstructured or self._partial_again():
            return frozenset(self.steps)
        return frozenset(
            key for key in self.steps if self.variables.parallel(self.graph.nodes[key].element)
        )

    def _partial_again(self) -> bool:
        cyclic = self.plan.graph.cyclic
        return any(
            join.kind == "partial" and gateway in cyclic
            for gateway, join in self.plan.joins.items()
        )

    # -- nodes and wires -----------------------------------------------------------------------

    def _behind(self, key: NodeKey, action: Action, names: tuple[str, ...]) -> None:
        """A node between another and all that it leads to."""
        owner = self.graph.nodes[key]
        added = self.graph.add(
            HelperKey(key, "data"),
            f"{owner.name} data",
            action,
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
        self, key: NodeKey, role: Role, action: Action, name: str, number: int | None = None
    ) -> NodeKey:
        """A node between another (one input of it, with `number`) and all that leads to it."""
        added = self.graph.add(
            HelperKey(key, role, number),
            name,
            action,
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
        to the task that failed; behind the end of a scope of rows, the switch."""
        event = self.plan.graph.nodes.get(self.graph.nodes[key].element)
        segments = self.plan.segments
        scopes = segments.flat.scopes if segments is not None else {}
        host = event.attached_to if isinstance(event, Event) else None
        if host is not None and host not in scopes:
            return self._before(host)
        sources = self._sources(Port(self._first(key)))
        if len(sources) > 1:
            name = f"Before {self.graph.nodes[key].name}"
            return Port(self._in_front(key, "before", PassOn(), name))
        return sources[0] if sources else None

    def _branches(self, key: NodeKey) -> list[Port]:
        """The last node of each branch that a join waits for."""
        ends: list[Port] = []
        inputs = sorted({target.number for _, target in self.graph.wires.arriving(key)})
        for number in inputs:
            sources = self._sources(Port(key, number))
            if len(sources) > 1:
                name = f"Before {self.graph.nodes[key].name}"
                ends.append(Port(self._in_front(key, "before", PassOn(), name, number)))
            elif self.graph.nodes[sources[0].node].role == "join":
                ends += self._branches(sources[0].node)
            else:
                ends.append(sources[0])
        return list(dict.fromkeys(ends))

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

    def _fill(self, key: NodeKey, action: Action, line: str) -> None:
        """Complete an added node."""
        added = self.graph.nodes[key]
        added.action = action
        added.notes.append(line)

    def _fill_start(self, key: NodeKey) -> None:
        data = HelperKey(key, "data")
        self._fill(
            data,
            KeepInput(self.result.after[data]),
            "Passes the received data on as the item, so that its fields are variables.",
        )

    def _fill_step(self, key: NodeKey, source: Port | None) -> None:
        """The variables as the step hands them on, else as they were."""
        data = HelperKey(key, "data")
        names = self.result.after[data]
        advice = "" if are_many(names) else " To read it from elsewhere, edit its line here."
        self._fill(
            data,
            KeepVariables(key, names, source, counted=key in self.counting),
            f"Keeps {_list_names(names)}: a field with such a name from "
            f"“{self.graph.nodes[key].name}” is the new value; otherwise the value is unchanged."
            f"{advice}",
        )

    def _list_begun(self, element: str) -> list[str]:
        """The variables that are set when a task begins."""
        if HelperKey(element, "inputs") not in self.graph.nodes:
            return []
        begun: list[str] = load_function("variable_reads.list_assigned")(
            self.plan.work[element].before
        )
        return begun

    def _form(self, key: NodeKey) -> TaskForm | None:
        """The form that a node is, if it is one."""
        element = self.graph.nodes[key].element
        return self.plan.forms.get(element) if key == element else None

    def _fill_form(self, key: NodeKey, form: TaskForm, source: Port | None) -> None:
        """The variables as the answers are, or as what stands in the place of the form hands them
        on, else as they were."""
        data = HelperKey(key, "data")
        step = self.graph.nodes[key].name
        asked = (f.asked for f in form.fields if f.asked.variable not in form.inside)
        variables = [".".join(field.path) for field in asked]
        self._fill(
            data,
            KeepAnswers(key, self.result.after[data], form, source, counted=key in self.counting),
            f"Sets {join_listed(variables)} from the answers of “{step}”. Blank answers change "
            "nothing."
            if variables
            else f"Keeps the variables that the mappings of “{step}” set; all others stay "
            "unchanged.",
        )

    def _fill_latest(self, gateway: str) -> None:
        """Of all copies, in this branch and those beside it, the one that was set most often."""
        setters = tuple((name, tuple(keys)) for name, keys in self.beside[gateway].items())
        self._fill(
            HelperKey(gateway, "latest"),
            KeepLatest(gateway, setters),
            f"Reads {join_listed(self.beside[gateway])} from the branch that set it last. Branches "
            "run one after the other, and this decision sees all values that they have set.",
        )

    def _fill_join(self, key: NodeKey, sources: list[Port]) -> None:
        """Of the branches' copies of each variable the one that was set most often."""
        data = HelperKey(key, "data")
        names = self.result.after[data]
        self._fill(
            data,
            KeepJoined(self.graph.nodes[key].element, names, tuple(sources)),
            f"Keeps {_list_names(names)} as set by its branch; two branches that set different "
            "values stop the run.",
        )


def _is_code(action: Action) -> bool:
    """Whether a node passes on its item with what it sets."""
    if isinstance(action, Send):
        return bool(load_function("operations.is_code_operation")(action.act))
    return isinstance(action, Program)


def _union_bits(bits: Mapping[str, int], names: Iterable[str]) -> int:
    """The bits of those of the names that have one."""
    union = 0
    for name in names:
        union |= bits.get(name, 0)
    return union


def _is_kept(name: str) -> bool:
    """Whether a variable is kept; its name may be several words, as in FEEL."""
    return all(word.isidentifier() for word in name.split(" "))


def are_many(names: Sequence[str]) -> bool:
    """Whether a node keeps variables in a loop over their names."""
    return len(names) > MOST_LISTED


def _list_names(names: Sequence[str]) -> str:
    """Variables in the text of a note."""
    if not are_many(names):
        return join_listed(names)
    return join_listed((*names[:3], f"{len(names) - 3} others"))


def _make_free_name(name: str, taken: Iterable[str]) -> str:
    """A field name that no variable has."""
    while name in taken:
        name += "_"
    return name
