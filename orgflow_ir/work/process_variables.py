"""Process variables of one scope: their readers, their setters, and parallel activities.

BPMN variables are global to an instance (BPMN 2.0.2, 10.4.1, properties of a process): a reader
sees the value of the activity that set the variable last. Models rarely define the variables that
an activity sets, so every activity may set every variable unless the model names its setter.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable, united_behind
from orgflow_ir.flow.nets.region_tree import Region
from orgflow_ir.flow.nets.regions import ScopeReduction
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model import (
    CallActivity,
    Element,
    Event,
    Expression,
    Gateway,
    Node,
    Opaque,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import Form, Http, Script, Worker, is_listener
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.scope_mappings import has_mappings, scope_mappings
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import (
    ConditionError,
    Path,
    variables,
)
from orgflow_ir.work.gateway_decisions import Decision

if TYPE_CHECKING:
    from orgflow_ir.program import evaluation_guards
else:  # for coded conditions alone
    evaluation_guards = LazyModule("orgflow_ir.program.evaluation_guards")

ReadBy = Literal["condition", "mapping", "collection"]
SetBy = Literal["form", "mapping", "script", "result", "payload", "unknown"]

_ASSIGNED = lazy_pattern(r"""\bsetVariable(?:Local)?\(\s*["'](\w+)["']""")
"""The syntax for setting a variable, for engines whose scripts are supported."""


_PARALLEL = ("and", "or", "clash", "unstructured")
"""Kinds of regions whose parts may be active at the same time."""


class Read(NamedTuple):
    """A place that reads a variable.

    Attributes:
        element: the gateway whose conditions read it, or the activity that receives it.
        path: the variable, and the part of it that is read.
        by: the kind of reader. Conditions are evaluated by every target; mappings and collections
            belong to the definition of a task.
        tested: whether the same conditions test it for null, empty or missing; an unset variable is
            then valid.
    """

    element: str
    path: Path
    by: ReadBy
    tested: bool = False

    @property
    def variable(self) -> str:
        """The name of the variable."""
        return self.path[0]


class Setter(NamedTuple):
    """An element that sets a variable, or may: `unknown` is an activity whose variables the model
    does not define."""

    element: str
    by: SetBy


class Variables:
    """The use of variables in a scope.

    Args:
        graph: the control flow of the scope.
        decisions: its deciding gateways by id.
        ctx: caches analyses of the same graph.
    """

    def __init__(
        self, graph: ControlFlow, decisions: Mapping[str, Decision], ctx: PassContext
    ) -> None:
        self.graph = graph
        self.decisions = decisions
        self._ctx = ctx

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        """Every reader: conditions first, then tasks, in the model's order."""
        reads: list[Read] = []
        for gateway, decision in self.decisions.items():
            if not decision.coded:
                continue
            trees = (b.tree for b in decision.branches if b.tree is not None)
            tested = evaluation_guards.null_tested(trees)
            reads += [Read(gateway, p, "condition", p in tested) for p in decision.coded]
        for node in self.graph.scope.nodes:
            if isinstance(node, Task | CallActivity | Event) and node.binding is not None:
                texts = [Expression(text=p.text, language=p.language) for p in node.binding.inputs]
                reads += [Read(node.id, path, "mapping") for path in _list_paths(texts)]
            loop = None if isinstance(node, Event | Gateway | Opaque) else node.loop
            if loop is not None and loop.collection:
                name = Expression(text=loop.collection)
                reads += [
                    Read(node.id, path, "collection") for path in _list_paths([name], bare=True)
                ]
        return tuple(dict.fromkeys(reads))

    @cached_property
    def declared(self) -> Mapping[str, tuple[Setter, ...]]:
        """Elements that set a variable according to the model, by its name."""
        declared: dict[str, list[Setter]] = {}
        for node in self.graph.scope.nodes:
            if isinstance(node, Gateway):  # which sets none, and of which there are many
                continue
            for name, by in self._ctx.analysis(set_variables, node):
                declared.setdefault(name, []).append(Setter(node.id, by))
        for name, at in _set_around(self.graph):
            declared.setdefault(name, []).append(Setter(at, "script"))
        return {name: tuple(setters) for name, setters in declared.items()}

    @cached_property
    def unknown(self) -> frozenset[str]:
        """Elements with listeners of unknown code, which may set any variable."""
        listening = [
            *((n.id, n) for n in self.graph.scope.nodes if has_listeners(n)),
            *_list_listening(self.graph),
        ]
        if not listening:
            return frozenset()
        from orgflow_ir.work.listeners import unread_listeners  # of listeners only

        return frozenset(at for at, element in listening if unread_listeners(element))

    def constant(self, element: str, variable: str) -> str | None:
        """The constant text that an element's mapping assigns to a variable, if there is one."""
        node = self.graph.nodes[element]
        if not isinstance(node, Task | CallActivity | Event) or node.binding is None:
            return None
        texts = [p.text.strip() for p in node.binding.outputs if p.name == variable]
        last = texts[-1] if texts else ""
        return last if last and not last.startswith(("=", "$", "#")) else None

    def setters(self, read: Read) -> tuple[Setter, ...]:
        """Possible setters of a variable before a reader, nearest first: those that the model
        defines; without any, every earlier activity; then listeners of unknown code, and the start
        of the process."""
        before = self.before(read.element)
        declared = {s.element: s for s in self.declared.get(read.variable, ())}
        own = [declared[e] for e in before if e in declared]
        if not own:
            own = [
                Setter(e, "unknown")
                for e in before
                if may_set(self.graph.nodes[e]) or e in self.unknown
            ]
        else:
            own += [Setter(e, "unknown") for e in before if e in self.unknown - declared.keys()]
        starts = [Setter(e, "payload") for e in before if e in self.graph.entries]
        return (*own, *(s for s in starts if s.element not in declared))

    def nearest_setters(
        self, read: Read, most: int, *, without: str = ""
    ) -> tuple[tuple[Setter, ...], int]:
        """The first `most` of `setters`, and the number of all of them, apart from the input of the
        run and the element `without`. Only as many elements are visited as it takes to find the
        first ones."""
        declared = {s.element: s for s in self.declared.get(read.variable, ())}
        before = self.set_before(read.element) & ~self._bit.get(without, 0)
        own = before & self.set_of(declared)
        if own:
            groups = [own, before & self.set_of(self.unknown - declared.keys())]
        else:
            groups = [before & self._may_set]
        nearest: list[str] = []
        for group in groups:
            nearest += self._nearest_in(group, read.element, most - len(nearest))
        setters = tuple(declared.get(e) or Setter(e, "unknown") for e in nearest)
        return setters, sum(group.bit_count() for group in groups)

    def readers_after(self, element: str, reads: Iterable[Read]) -> tuple[Read, ...]:
        """Those of `reads` that are reachable from an element's outputs."""
        ahead = list_reachable(self.graph.successors.get(element, ()), self.graph.successors)
        return tuple(r for r in reads if r.element in ahead)

    def before(self, element: str) -> list[str]:
        """Elements that precede `element` or may run in parallel with it, nearest first."""
        return list(self._in_order_before(element))

    def _in_order_before(self, element: str) -> Iterator[str]:
        """`before`, as far as it is asked for."""
        order: set[str] = set()
        todo = [element]
        while todo:
            later: list[str] = []
            for node in todo:
                for arc in self.graph.into[node]:
                    if arc.source not in order:
                        order.add(arc.source)
                        later.append(arc.source)
                        yield arc.source
            todo = later
        yield from (node for node in self.beside(element) if node not in order)

    # -- sets of elements ----------------------------------------------------------------------
    # An integer with a bit for each element, in the order of the graph: the elements before all
    # readers of a long process are many, and only few questions are asked about them.

    @cached_property
    def _bit(self) -> Mapping[str, int]:
        return {node: 1 << number for number, node in enumerate(self.graph.nodes)}

    def set_of(self, elements: Iterable[str]) -> int:
        """Elements of the scope as a set of bits."""
        union = 0
        for element in elements:
            union |= self._bit.get(element, 0)
        return union

    def set_before(self, element: str) -> int:
        """`before` as a set of bits."""
        preceding = 0
        for arc in self.graph.into[element]:
            preceding |= self._reaching[arc.source]
        return preceding | self._set_beside(element)

    @cached_property
    def _reaching(self) -> Mapping[str, int]:
        """For each element the set of elements from which it is reachable, itself included."""
        return united_behind(self.graph, self._bit)

    @cached_property
    def _may_set(self) -> int:
        """Elements that may set a variable which the model does not mention."""
        may = (n for n, node in self.graph.nodes.items() if may_set(node) or n in self.unknown)
        return self.set_of(may)

    def _nearest_in(self, group: int, element: str, most: int) -> list[str]:
        """The first `most` elements of a set of elements before another, nearest first."""
        wanted = min(most, group.bit_count())
        if wanted <= 0:
            return []
        before = (e for e in self._in_order_before(element) if self._bit[e] & group)
        return list(itertools.islice(before, wanted))

    # -- what may be active at the same time ---------------------------------------------------

    @cached_property
    def _places(self) -> Mapping[str, tuple[tuple[Region, int], ...]]:
        """For each element the regions around it, from the outermost, with its place in each."""
        tree = self._ctx.analysis(ScopeReduction, self.graph).reduction.tree
        places: dict[str, tuple[tuple[Region, int], ...]] = {}
        stack: list[tuple[Region, tuple[tuple[Region, int], ...]]] = [(tree, ())]
        while stack:
            region, around = stack.pop()
            for index, child in enumerate(region.children):
                place = (*around, (region, index))
                if isinstance(child, Region):
                    stack.append((child, place))
                else:
                    places.setdefault(child, place)
        return places

    @cached_property
    def splits(self) -> bool:
        """Whether any element of the scope splits a token into several."""
        several = (
            node.id
            for node in self.graph.scope.nodes
            if len(self.graph.flows_out(node.id)) > 1
            and not (isinstance(node, Gateway) and node.gateway_kind in ("exclusive", "event"))
        )
        return len(self.graph.entries) > 1 or next(several, None) is not None

    def concurrent(self, element: str, other: str) -> bool:
        """Whether two elements may be active at the same time in one instance. In an unstructured
        flow, the result is always true."""
        if element == other or not self.splits:
            return False
        first, second = self._places.get(element), self._places.get(other)
        if first is None or second is None:
            return False
        for (region, a), (also, b) in zip(first, second, strict=False):
            if region is not also:
                break
            if a != b:
                return region.kind in _PARALLEL
        return False

    def beside(self, element: str) -> tuple[str, ...]:
        """The elements that are `concurrent` with an element, in the order of the model."""
        beside = self._set_beside(element)
        if not beside:
            return ()
        return tuple(node for node, bit in self._bit.items() if bit & beside)

    def _set_beside(self, element: str) -> int:
        """`beside` as a set of bits: what is in other branches of the regions around it."""
        beside = 0
        for region, branch in self._places.get(element, ()) if self.splits else ():
            if region.kind in _PARALLEL:
                branches = self._branches[id(region)]
                beside |= sum(branches.values()) & ~branches[branch]
        return beside

    @cached_property
    def _branches(self) -> Mapping[int, Mapping[int, int]]:
        """The elements in each branch of each parallel region, which is named by its identity."""
        bits_by_region: dict[int, dict[int, int]] = {}
        for element, places in self._places.items():
            for region, branch in places:
                if region.kind in _PARALLEL:
                    branches = bits_by_region.setdefault(id(region), {})
                    branches[branch] = branches.get(branch, 0) | self._bit.get(element, 0)
        return bits_by_region

    def parallel(self, element: str) -> bool:
        """Whether any element may be active in parallel with an element."""
        return self.splits and any(r.kind in _PARALLEL for r, _ in self._places.get(element, ()))

    @property
    def unstructured(self) -> bool:
        """Whether the scope splits a token outside of structured blocks."""
        if not self.splits:
            return False
        return not self._ctx.analysis(ScopeReduction, self.graph).reduction.structured


def declared_by(node: Node, *, mapped: bool = True) -> tuple[str, ...]:
    """Variables that an element sets according to the model; `mapped` includes those of its output
    mapping."""
    return tuple(name for name, by in _list_set(node) if mapped or by != "mapping")


def set_variables(node: Node) -> tuple[tuple[str, SetBy], ...]:
    """Variables that an element sets according to the model, each with the way in which it does,
    for `ctx.analysis(set_variables, node)`: scripts are read for it."""
    return tuple(_list_set(node))


def set_in(graph: ControlFlow) -> Iterator[tuple[str, str]]:
    """Variables that the elements of a scope and the listeners of its flows set according to the
    model, each with the node at which that happens."""
    for node in graph.scope.nodes:
        yield from ((name, node.id) for name in declared_by(node))
    yield from _set_around(graph)


def may_set(node: Node) -> bool:
    """Whether an element may set variables: an activity, or an event that receives data."""
    if isinstance(node, Event):
        return node.position == "catch" and node.trigger in ("message", "signal", "conditional")
    return isinstance(node, Task | CallActivity | SubProcess)


def _list_paths(texts: Iterable[Expression], *, bare: bool = False) -> Iterator[Path]:
    """Variables in texts, as far as they can be read; with `bare` a name alone is a variable."""
    texts = tuple(texts)
    if not texts:
        return
    from orgflow_ir.languages.recognise import recognise  # with all parsers

    for text in texts:
        try:
            code = recognise(text)
            tree = code.parse() if code.marked or bare else None
        except ConditionError:
            continue
        if tree is not None:
            yield from variables(tree)


def _set_by(binding: Script, code: str) -> Iterator[str]:
    """Variables that a script sets: by its statements, else by what is certain to set one."""
    from orgflow_ir.work.scripts import read_script  # of scripts only
    from orgflow_ir.work.statements import assigned

    try:
        script = read_script(code, binding.language, sets=binding.stores, engine=binding.by)
        yield from dict.fromkeys(assigned(script.statements))
    except ConditionError:
        yield from _ASSIGNED.findall(code)


def _set_by_call(expression: str) -> Iterator[str]:
    """Variables that an expression sets by a method of the execution."""
    from orgflow_ir.work.scripts import read_call  # of expressions only
    from orgflow_ir.work.statements import assigned

    with contextlib.suppress(ConditionError):
        yield from dict.fromkeys(assigned(read_call(expression).statements))


def _set_by_answer(binding: Http) -> Iterator[str]:
    """Variables that the answer of a request sets."""
    from orgflow_ir.work.requests import read_request  # of requests only
    from orgflow_ir.work.statements import assigned

    with contextlib.suppress(ConditionError):
        yield from dict.fromkeys(assigned(read_request(binding).after))


def _list_set(node: Node) -> Iterator[tuple[str, SetBy]]:
    """Variables that the model says an element sets."""
    if not isinstance(node, Task) and has_listeners(node):
        yield from ((name, "script") for name in _set_by_listeners(node))
    if isinstance(node, Event | SubProcess) and node.extra and has_mappings(node):
        yield from ((part.variable, "mapping") for part in scope_mappings(node).outputs)
    if not isinstance(node, Task | CallActivity | Event) or node.binding is None:
        return
    binding = node.binding
    if isinstance(binding, Http):
        yield from ((name, "result") for name in _set_by_answer(binding))
    if binding.listeners and not isinstance(node, CallActivity):
        from orgflow_ir.work.listeners import set_by_listeners  # of listeners only

        yield from ((name, "script") for name in dict.fromkeys(set_by_listeners(binding.listeners)))
    if isinstance(binding, Form):
        yield from ((part.path[0], "form") for part in binding.fields if not part.is_read_only)
    yield from dict.fromkeys((p.variable, "mapping") for p in binding.outputs)
    if isinstance(binding, Script) and binding.code:
        yield from ((name, "script") for name in _set_by(binding, binding.code))
    if isinstance(binding, Worker) and binding.by == "expression" and binding.target:
        yield from ((name, "script") for name in _set_by_call(binding.target))
    if binding.result:
        yield binding.result, "result"


def _list_listening(graph: ControlFlow) -> Iterator[tuple[str, Element]]:
    """Flows and the process of a scope that have listeners, each with the node at which they are
    called: the source of the flow, the start of the process."""
    scope = graph.scope
    yield from ((flow.source, flow) for flow in scope.flows if flow.extra and has_listeners(flow))
    if isinstance(scope, Process) and has_listeners(scope):
        yield from ((entry, scope) for entry in graph.entries)


def _set_around(graph: ControlFlow) -> Iterator[tuple[str, str]]:
    """Variables that the listeners of flows and of the process set, each with that node."""
    for at, element in _list_listening(graph):
        yield from ((name, at) for name in _set_by_listeners(element))


def has_listeners(element: Element) -> bool:
    """Whether an element has listeners in its extension data."""
    return bool(element.extra) and any(is_listener(key) for key, _ in element.extra)


def _set_by_listeners(element: Element) -> Iterator[str]:
    from orgflow_ir.work.listeners import listeners_of, set_by_listeners  # of listeners only

    yield from dict.fromkeys(set_by_listeners(listeners_of(element)))
