"""Converts the marker of a repeated activity to a loop of flows, and determines why one cannot be
converted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.control_flow.outgoing import sort_outgoing
from orgflow_ir.model import (
    CallActivity,
    Event,
    Expression,
    Gateway,
    Loop,
    Model,
    Node,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import Parameter, Script
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.local_variables import (
    first_reader,
    first_reader_beside,
    locals_of,
    names_inside,
    read_afterwards,
    why_outlived,
)
from orgflow_ir.work.repetition import (
    COUNTS,
    NotRepeatable,
    Repetition,
    counted_in,
    read_repetition,
    waits_in,
)

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter


def find_obstacle(
    node: Task | CallActivity | SubProcess, scope: Scope, model: Model, ctx: PassContext
) -> str:
    """The reason why the marker of an activity cannot become flows; empty if it can."""
    assert node.loop is not None
    graph = ctx.analysis(ControlFlow, scope)
    out = graph.flows_out(node.id)
    if node.for_compensation:
        return "it compensates another activity"
    if isinstance(scope, SubProcess) and scope.flavour == "ad-hoc":
        return "the ad-hoc sub-process around it determines when it begins"
    if not graph.flows_in(node.id):
        return "no flow leads to it"
    if any(n.attached_to == node.id and _is_undone(n) for n in scope.nodes if isinstance(n, Event)):
        return "it is compensated as often as it was done, which is not counted"
    if isinstance(node, SubProcess) and any(_is_undone(n) for s in node.scopes() for n in s.nodes):
        return "work in it is compensated in each iteration"
    targets = (graph.nodes[f.target] for f in out)
    if sort_outgoing(out).chosen or any(source_ids(t)[0] == node.id for t in targets):
        return "its outgoing flows depend on data"
    if node.loop.kind == "multi-instance":
        try:
            read = read_repetition(node.loop, scope)
        except NotRepeatable as reason:
            return str(reason)
        known = read.items is not None or read.number is not None
        if not known and (counted_in(node.loop.until) or read.results):
            return "the model defines neither a list nor a number of instances"
    names = locals_of(node, scope)
    if restored := _find_restored(node, scope, model, ctx):
        names -= {restored}
    read_later = read_afterwards(node, scope, names, model, ctx)
    if read_later is not None:
        return why_outlived(*read_later, ctx)
    return ""


def _find_restored(
    node: Task | CallActivity | SubProcess, scope: Scope, model: Model, ctx: PassContext
) -> str:
    """The variable that each instance has as its own one and that gets its value back when all of
    them are done, since something reads a variable of this name behind them. Empty if there is
    none, and where the activity may also be left another way, or something beside it reads it."""
    if node.loop is None or node.loop.kind != "multi-instance":
        return ""
    try:
        name = read_repetition(node.loop, scope).fresh
    except NotRepeatable:
        return ""
    if not name or first_reader(name, node, scope, model, ctx) is None:
        return ""
    interrupted = any(isinstance(n, Event) and n.attached_to == node.id for n in scope.nodes)
    beside = first_reader_beside(name, node, scope, model, ctx) is not None
    return "" if interrupted or beside else name


def _is_undone(node: Node) -> bool:
    """Whether a node is a boundary event that names what undoes its activity."""
    return isinstance(node, Event) and any(
        d.kind == "compensation" and node.position == "boundary" for d in node.definitions
    )


def waiting_at_once(node: Task | CallActivity | SubProcess, model: Model) -> bool:
    """Whether parallel instances of an activity wait for anything other than people."""
    assert node.loop is not None
    if node.loop.kind == "standard" or node.loop.sequential:
        return False
    return waits_in(node, model)


_ROLES = ("index", "count", "items", "more", "outside", "result")


def _loop_variable(id: str, role: str) -> str:
    """A variable of the loop of an element: unlike that of every other element."""
    assert role in _ROLES
    name = re.sub(r"[^A-Za-z0-9]", lambda m: "_" if m[0] == "_" else f"_{ord(m[0]):x}_", id)
    return f"loop_{name}_{role}"


def is_loop_variable(name: str) -> bool:
    """Whether only the steps that a loop of flows adds set a variable: its own ones, and what an
    engine counts."""
    own = name.startswith("loop_") and name.rpartition("_")[2] in _ROLES
    return own or name == "loopCounter" or name in COUNTS


class Unrolling:
    """Makes the loop of one activity."""

    def __init__(
        self,
        node: Task | CallActivity | SubProcess,
        scope: Scope,
        rewriter: Rewriter,
        ctx: PassContext,
    ) -> None:
        self.node, self.scope, self.rewriter = node, scope, rewriter
        assert node.loop is not None
        self.loop: Loop = node.loop
        self.graph = ctx.analysis(ControlFlow, scope)
        self.named = ctx.name(node)
        self.label = node.label
        self.index = _loop_variable(node.id, "index")
        self.count = _loop_variable(node.id, "count")
        self.items = _loop_variable(node.id, "items")
        self.more = _loop_variable(node.id, "more")
        self.restored = _find_restored(node, scope, rewriter.model, ctx)
        self.outside = _loop_variable(node.id, "outside")
        self.asked: dict[str, Expression | str] = {}

    def run(self) -> str:
        """Makes the edits; returns the note that describes them."""
        again = self.gateway("again")
        if self.loop.kind == "standard":
            first, note = self.standard(again)
        else:
            first, note = self.instances(again)
        for flow in self.graph.flows_in(self.node.id):
            self.rewriter.redirect(self.scope.id, flow.id, target=first)
        self.rewriter.replace(self.scope.id, self.node.id, self.node.replace(loop=None))
        return note

    # -- the two kinds -----------------------------------------------------------------------------

    def standard(self, again: str) -> tuple[str, str]:
        """A loop with a condition that is tested before or after the activity; both may have a
        maximum number of iterations."""
        leave, loop = self.leave(), self.loop
        most = loop.maximum
        first, back = again, again
        if most is not None:
            first = self.script(
                "begin",
                f"Begin {self.label}",
                ("0", self.index),
                (self.more, f"${{0 < {most}}}"),
            )
            self.connect("begun", first, again)
        asks_last = not loop.test_before and (loop.condition is not None or most is None)
        # 1. What is asked before the activity.
        here = again
        if most is not None:
            here = self.choice("more", f"{self.label} again?", here, leave, self.is_more())
        if loop.test_before:
            here = self.choice("while", f"{self.label}?", here, leave, loop.condition)
        self.connect("enter", here, self.node.id, self.yes(here))
        # 2. What is done and asked behind it.
        here = self.node.id
        if most is not None:
            number = f"{self.index} + 1"
            more = (self.more, f"${{{self.index} < {most}}}")
            counted = self.script("count", f"Count {self.label}", (number, self.index), more)
            self.connect("counted", here, counted)
            here = counted
        if asks_last:
            here = self.choice("repeat", f"{self.label} again?", here, leave, loop.condition)
        self.connect("back", here, back, self.yes(here))
        return first, f"the repetition of {self.named} became a loop of flows"

    def instances(self, again: str) -> tuple[str, str]:
        """Instances one after the other."""
        read, leave = read_repetition(self.loop, self.scope), self.leave()
        known = read.items is not None or read.number is not None
        first = again
        if known:
            first = self.begin(read)
            self.connect("begun", first, again)
        asked = self.is_more() if known else None
        title = f"More items for {self.label}?" if known else f"Another {self.label}?"
        here = self.choice("more", title, again, leave, asked)
        if known:
            taken = self.next(read)
            self.connect("take", here, taken, self.yes(here))
            here = taken
        self.connect("enter", here, self.node.id, self.yes(here))
        here = self.node.id
        counts = counted_in(self.loop.until)
        if known and (counts or read.results):
            done = self.done(read, counts)
            self.connect("counted", here, done)
            here = done
        if self.loop.until is not None:
            complete = self.gateway("complete", f"{self.label} complete?")
            self.connect("ask", here, complete)
            self.connect("enough", complete, leave, self.loop.until)
            self.connect("back", complete, again, default=True)
        else:
            self.connect("back", here, again, self.yes(here))
        order = "" if self.loop.sequential else ", one after the other"
        return first, f"the instances of {self.named} became iterations of a loop{order}"

    def begin(self, read: Repetition) -> str:
        """The step that counts the items."""
        outputs: list[tuple[str, str | Parameter]] = []
        if read.items is not None:
            outputs += [(self.items, read.items), (self.count, f"= count({self.items})")]
        else:
            assert read.number is not None
            outputs.append((self.count, read.number))
        outputs.append((self.more, f"${{{self.index} < {self.count}}}"))
        if read.results and self.keeps_places(read):
            outputs.append((read.results, f"= for item in {self.items} return null"))
        elif read.results:
            outputs.append((read.results, "= []"))
        if self.restored:
            outputs.append((self.outside, _read_or_null(self.restored)))
        return self.script("begin", f"Items for {self.label}", ("0", self.index), *outputs)

    def next(self, read: Repetition) -> str:
        """The step that takes the next item."""
        outputs: list[tuple[str, str | Parameter]] = []
        if read.items is not None and read.item:
            outputs.append((read.item, f"= {self.items}[{self.index}]"))
        outputs.append(("loopCounter", f"= {self.index} - {1 - read.first}"))
        if read.fresh:
            outputs.append((read.fresh, "= null"))
        # Counts that a completion condition reads are set after the instance.
        asked = names_inside(self.node.replace(loop=None))
        values = self.counts(f"{self.index} - 1")
        outputs += [(name, f"= {values[COUNTS[name]]}") for name in COUNTS if name in asked]
        outputs.append((self.more, f"${{{self.index} < {self.count}}}"))
        value = f"{self.index} + 1"
        return self.script("next", f"Next item for {self.label}", (value, self.index), *outputs)

    def done(self, read: Repetition, counts: tuple[str, ...]) -> str:
        """The step that collects the result of an instance and counts it."""
        values = self.counts(self.index)
        outputs: list[tuple[str, str | Parameter]] = []
        if read.result is not None and read.results:
            result = _loop_variable(self.node.id, "result")
            outputs.append((result, read.result))
            collected = f"append({read.results}, {result})"
            if self.keeps_places(read):
                collected = f"list replace({read.results}, {self.index}, {result})"
            outputs.append((read.results, f"= {collected}"))
        outputs += [(name, f"= {values[COUNTS[name]]}") for name in counts]
        return self.script("done", f"Result of {self.label}", (self.index, self.index), *outputs)

    def counts(self, completed: str) -> dict[str, str]:
        """FEEL for the counts of instances, by their kinds."""
        begun = completed if completed == self.index else f"({completed})"
        active = "1" if self.loop.sequential else f"{self.count} - {begun}"
        return {"count": self.count, "completed": completed, "active": active, "terminated": "0"}

    def keeps_places(self, read: Repetition) -> bool:
        """Whether the list of results shows which instances were not done."""
        return read.in_places and self.loop.until is not None

    # -- parts -------------------------------------------------------------------------------------

    def is_more(self) -> Expression:
        return Expression(text=f"${{{self.more}}}")

    def yes(self, source: str) -> Expression | str | None:
        """The label of an outgoing flow of a test; empty after any other node."""
        return self.asked.get(source)

    def choice(
        self, role: str, name: str, source: str, leave: str, condition: Expression | None
    ) -> str:
        """A test after `source`, whose outgoing flow leads to `leave`."""
        gateway = self.gateway(role, name)
        self.connect(f"to_{role}", source, gateway, self.yes(source))
        self.connect(f"no_{role}", gateway, leave, default=True)
        self.asked[gateway] = condition if condition is not None else "yes"
        return gateway

    def gateway(self, role: str, name: str = "") -> str:
        id = self.rewriter.fresh_id(self.node.id, role)
        self.rewriter.insert(self.scope.id, Gateway(id=id, name=name, gateway_kind="exclusive"))
        return id

    def leave(self) -> str:
        """Where all outgoing flows of the loop meet."""
        out = self.graph.flows_out(self.node.id)
        if not out and not self.restored:
            return self.end()
        id = self.gateway("leave")
        source = id
        if self.restored:
            source = self.restore()
            self.connect("to_restore", id, source)
        if not out:
            self.connect("to_end", source, self.end())
        if len(out) > 1:
            joined = source
            source = self.rewriter.fresh_id(self.node.id, "fork")
            self.rewriter.insert(self.scope.id, Gateway(id=source, gateway_kind="parallel"))
            self.connect("to_fork", joined, source)
        for flow in out:
            self.rewriter.redirect(self.scope.id, flow.id, source=source)
        return id

    def end(self) -> str:
        """An end event behind the loop."""
        id = self.rewriter.fresh_id(self.node.id, "end")
        self.rewriter.insert(self.scope.id, Event(id=id, position="end"))
        return id

    def restore(self) -> str:
        """The step that gives a variable of the instances the value that it has around them."""
        value = (self.restored, _read_or_null(self.outside))
        return self.script("restore", f"After {self.label}", (self.index, self.index), value)

    def script(
        self, role: str, name: str, first: tuple[str, str], *more: tuple[str, str | Parameter]
    ) -> str:
        """A step that sets variables: (value, name) for the first, (name, value) for the others."""
        outputs = tuple(
            value.replace(name=result_name)
            if isinstance(value, Parameter)
            else _set_parameter(result_name, value)
            for result_name, value in more
        )
        code, result = first
        if any(
            parameter.language == "feel" for parameter in outputs
        ):  # no other result leaves the step
            outputs = (Parameter(name=result, text=f"={code}", language="feel"), *outputs)
            binding = Script(language="feel", code=code, outputs=outputs)
        else:
            binding = Script(language="feel", code=code, result=result, outputs=outputs)
        id = self.rewriter.fresh_id(self.node.id, role)
        task = Task(id=id, name=name, task_type="script", binding=binding)
        self.rewriter.insert(self.scope.id, task)
        return id

    def connect(
        self,
        role: str,
        source: str,
        target: str,
        condition: Expression | str | None = None,
        *,
        default: bool = False,
    ) -> None:
        id = self.rewriter.fresh_id(self.node.id, role)
        code = condition if isinstance(condition, Expression) else None
        self.rewriter.connect(self.scope.id, source, target, id=id, condition=code, default=default)
        if isinstance(condition, str):
            self.rewriter.relabel(self.scope.id, id, condition)


def _read_or_null(name: str) -> str:
    """FEEL for the value of a variable, null if it was never set."""
    return f"= if {name} = null then null else {name}"


def _set_parameter(name: str, text: str) -> Parameter:
    return Parameter(name=name, text=text)
