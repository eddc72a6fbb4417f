"""Variables that exist only in a sub-process or in an instance of a repeated activity.

A target with one set of variables for a process can have them under their own names if nothing
reads a name afterwards: it would get the value inside instead of that around (BPMN 2.0.2, 10.4).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

from orgflow_ir.flow.concurrency.parallel_steps import Concurrency
from orgflow_ir.flow.control_flow.calls import hands_everything
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import (
    CallActivity,
    Event,
    Expression,
    Flow,
    Gateway,
    Model,
    Node,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import AnyBinding, Form, Script, is_listener
from orgflow_ir.model.scope_mappings import scope_mappings
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import ConditionError, variables
from orgflow_ir.work.mappings import read_value
from orgflow_ir.work.people import about
from orgflow_ir.work.repetition import COUNTS, NotRepeatable, read_repetition
from orgflow_ir.work.statements import Assign
from orgflow_ir.work.tasks import call_mappings, work_by

_WORD = re.compile(r"[^\W\d]\w*")


def locals_of(node: Node, scope: Scope) -> frozenset[str]:
    """The variables that exist only in an activity or in its instances."""
    names: set[str] = set()
    loop = None if isinstance(node, Event | Gateway) else getattr(node, "loop", None)
    if loop is not None and loop.kind == "multi-instance":
        try:
            read = read_repetition(loop, scope)
        except NotRepeatable:
            read = None
        if read is not None and (read.items is not None or read.number is not None):
            names |= {"loopCounter", *COUNTS, *filter(None, [read.item, read.fresh])}
    if isinstance(node, SubProcess):
        names |= {mapping.name for mapping in scope_mappings(node).inputs}
    return frozenset(names)


def read_afterwards(
    node: Node, scope: Scope, names: frozenset[str], model: Model, ctx: PassContext
) -> tuple[str, Node] | None:
    """A name of variables that exist only in an activity, and an element that reads a variable of
    this name when the activity is over, or beside it."""
    for name in sorted(names):
        search = _Search(name, model, ctx)
        reader = search.beside(node, scope) or search.after(node, scope)
        if reader is not None:
            return name, reader
    return None


def first_reader(
    name: str, node: Node, scope: Scope, model: Model, ctx: PassContext
) -> Node | None:
    """The first element behind a node that reads a variable of this name before another sets it."""
    return _Search(name, model, ctx).after(node, scope)


def first_reader_beside(
    name: str, node: Node, scope: Scope, model: Model, ctx: PassContext
) -> Node | None:
    """The first element that may be active beside a node and reads a variable of this name."""
    return _Search(name, model, ctx).beside(node, scope)


def why_outlived(name: str, reader: Node, ctx: PassContext) -> str:
    """The reason why such a variable cannot be one of the process."""
    return (
        f"its variable `{name}` exists only in it, and {ctx.name(reader)}, which reads a variable "
        "of this name outside, would get its value"
    )


class _Elements:
    """What follows each element of a scope, and its variables; each is found once."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.events: dict[str, list[Event]] = {}
        """Boundary events by the element that they are attached to."""
        self.links: list[Event] = []
        """The catching ones of link events."""
        for node in scope.nodes:
            if isinstance(node, Event) and node.attached_to is not None:
                self.events.setdefault(node.attached_to, []).append(node)
            if isinstance(node, Event) and node.position == "catch" and node.trigger == "link":
                self.links.append(node)
        self.flows: dict[str, list[Flow]] = {}
        for flow in scope.flows:
            self.flows.setdefault(flow.source, []).append(flow)
        self._read: dict[str, frozenset[str]] = {}
        self._inside: dict[str, frozenset[str]] = {}
        self._set: dict[str, frozenset[str]] = {}

    def read(self, node: Node) -> frozenset[str]:
        """The variables that an element, or its outgoing flows, may read from around it. Code that
        is not parsed reads every name in it."""
        if node.id not in self._read:
            flows = self.flows.get(node.id, ())
            read = {name for flow in flows for name in _of_flow(flow)}
            own = self.inside(node) - locals_of(node, self.scope)
            self._read[node.id] = own.union(read, _given_variables(node))
        return self._read[node.id]

    def inside(self, node: Node) -> frozenset[str]:
        """The variables that the content of an element may read (`names_inside`)."""
        if node.id not in self._inside:
            self._inside[node.id] = names_inside(node)
        return self._inside[node.id]

    def set(self, node: Node) -> frozenset[str]:
        """The variables that an element sets in every case."""
        if node.id not in self._set:
            self._set[node.id] = _always_set(node)
        return self._set[node.id]


class _Search:
    """The search for one name."""

    def __init__(self, name: str, model: Model, ctx: PassContext) -> None:
        self.name, self.model, self.ctx = name, model, ctx

    def beside(self, node: Node, scope: Scope) -> Node | None:
        """The first element that may be active beside a node and reads a variable of the name,
        even if it is another one: branches tell the latest value by the name."""
        graph, elements = self.ctx.analysis(ControlFlow, scope), self._elements(scope)
        for other in sorted(self.ctx.analysis(Concurrency, graph).beside(node.id)):
            element = graph.nodes[other]
            scopes = element.scopes() if isinstance(element, SubProcess) else ()
            within = (self._elements(inner).inside(n) for inner in scopes for n in inner.nodes)
            if self.name in elements.inside(element).union(elements.read(element), *within):
                return element
        around = self._around(scope)
        if around is None:
            return None
        assert isinstance(scope, SubProcess)
        return self.beside(scope, around)

    def _around(self, scope: Scope) -> Scope | None:
        """The scope that contains a sub-process."""
        if not isinstance(scope, SubProcess):
            return None
        return next((s for s in self.model.scopes() if any(n is scope for n in s.nodes)), None)

    def after(self, node: Node, scope: Scope) -> Node | None:
        """The first element behind a node, also in the scopes around it, that reads the name."""
        first = [*self._next(node, scope)]
        handlers = (n for n in scope.nodes if _is_handler(n))
        reader, left = self._from([*first, *handlers], scope, node)
        if reader is not None or not isinstance(scope, SubProcess):
            return reader
        around = self._around(scope)
        if around is None or self.name in locals_of(scope, around):
            return None
        if scope.loop is not None:
            graph = self.ctx.analysis(ControlFlow, scope)
            again = [graph.nodes[n] for n in graph.entries]
            reader, _ = self._from(again, scope, node)
            if reader is not None:
                return reader
        return self.after(scope, around) if left or not first else None

    def _from(self, first: Iterable[Node], scope: Scope, origin: Node) -> tuple[Node | None, bool]:
        """The first reader from some nodes on, and whether a path leads out of the scope on which
        nothing sets the variable."""
        elements = self._elements(scope)
        todo, seen, left = deque(first), {origin.id}, False
        while todo:
            node = todo.popleft()
            if node.id in seen:
                continue
            seen.add(node.id)
            if self.name in elements.read(node):
                return node, left
            if self.name in elements.set(node):
                continue
            following = list(self._next(node, scope))
            left = left or not following
            todo += following
        return None, left

    def _elements(self, scope: Scope) -> _Elements:
        return self.ctx.analysis(_Elements, scope)

    def _next(self, node: Node, scope: Scope) -> Iterator[Node]:
        graph, elements = self.ctx.analysis(ControlFlow, scope), self._elements(scope)
        for source in (node, *elements.events.get(node.id, ())):
            yield from (graph.nodes[f.target] for f in graph.flows_out(source.id))
            if (
                isinstance(source, Event)
                and source.trigger == "link"
                and source.position in ("throw", "end")
            ):
                yield from elements.links


def _is_handler(node: Node) -> bool:
    return isinstance(node, SubProcess) and node.flavour == "event"


def _given_variables(node: Node) -> set[str]:
    """The variables that an activity, or its repetition, is given from around it."""
    names: set[str] = set()
    loop = None if isinstance(node, Event | Gateway) else getattr(node, "loop", None)
    if loop is not None:
        given = [loop.collection or "", *(v for _, v in loop.extra)]
        given += [loop.cardinality.text] if loop.cardinality is not None else []
        names |= {word for text in given for word in _WORD.findall(text)}
    if isinstance(node, SubProcess):
        mapped = scope_mappings(node)
        names |= {
            name
            for mapping in mapped.inputs
            for name in _variables_in(mapping.text, mapping.language)
        }
    return names


def names_inside(node: Node) -> frozenset[str]:
    """The variables that the content of an element may read, also its own ones."""
    inside: set[str] = set()
    loop = None if isinstance(node, Event | Gateway) else getattr(node, "loop", None)
    if loop is not None:
        asked = [
            text_part.text for text_part in (loop.condition, loop.until) if text_part is not None
        ]
        inside |= {word for text in asked for word in _WORD.findall(text)}
    if isinstance(node, SubProcess):
        outputs = scope_mappings(node).outputs
        inside |= {
            name
            for text_part in outputs
            for name in _variables_in(text_part.text, text_part.language)
        }
        inside = inside.union(*map(_Elements(node).read, node.nodes))
    elif isinstance(node, Task | CallActivity | Event):
        if node.binding is not None:
            inside |= _of_binding(node, node.binding)
        if isinstance(node, Event):
            texts = [d.expression.text for d in node.definitions if d.expression is not None]
            inside |= {word for text in texts for word in _WORD.findall(text)}
    return frozenset(inside)


def _of_flow(flow: Flow) -> Iterator[str]:
    if flow.condition is not None:
        yield from _variables_in(flow.condition.text, flow.condition.language, condition=True)
    yield from (w for key, text in flow.extra if is_listener(key) for w in _WORD.findall(text))


def _variables_in(text: str, language: str | None, *, condition: bool = False) -> frozenset[str]:
    """The variables in a value or condition."""
    try:
        if condition:
            tree = read_condition(Expression(text=text, language=language))
        else:
            tree = read_value(text, language)
    except ConditionError:
        return frozenset(_WORD.findall(text))
    return frozenset(path[0] for path in variables(tree)) if tree is not None else frozenset()


def _of_binding(node: Task | CallActivity | Event, binding: AnyBinding) -> frozenset[str]:
    listeners = {w for part in binding.listeners for w in _WORD.findall(part.target)}
    if isinstance(node, CallActivity):
        mappings = call_mappings(node)
        read = {path[0] for _, value in mappings.inputs for path in variables(value)}
        if mappings.unread or hands_everything(node):
            read |= {w for part in binding.inputs for w in _WORD.findall(part.text)}
        return frozenset(read | listeners)
    work = about(binding).work if isinstance(binding, Form) else work_by(binding, None)
    read = {needed.path[0] for needed in work.reads()}
    if work.unread:
        texts = [part.text for part in (*binding.inputs, *binding.outputs)]
        texts += [binding.code or ""] if isinstance(binding, Script) else []
        read |= {w for text in texts for w in _WORD.findall(text)}
    return frozenset(read | listeners)


def _always_set(node: Node) -> frozenset[str]:
    """The variables that an element sets in every case."""
    if not isinstance(node, Task) or node.binding is None:
        return frozenset()
    done = work_by(node.binding, None).statements
    return frozenset(
        statement.name
        for statement in done
        if isinstance(statement, Assign) and not statement.local
    )
