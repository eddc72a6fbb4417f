"""Adds facts to the documentation of the node that stands for an element; every target shows it in
a note or comment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from orgflow_ir.facts.collect import (
    DOCUMENTATION,
    KINDS,
    MESSAGE,
    PERFORMER,
    Facts,
    collect,
    loop_statements,
)
from orgflow_ir.facts.extensions import extension_statements
from orgflow_ir.flow.control_flow.deliveries import find_deliveries
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import (
    CallActivity,
    Element,
    Event,
    Flow,
    Gateway,
    Model,
    Opaque,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.binding_text import Statement, binding_statements
from orgflow_ir.model.bindings import Listener, listener_data
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.provenance import elements_by_id, source_ids
from orgflow_ir.model.scope_mappings import has_mappings, mapping_data, maps_by_itself
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.target_rules import KeptAsNote, UnsupportedBinding
from orgflow_ir.work.process_variables import has_listeners

if TYPE_CHECKING:
    from orgflow_ir.work import listeners as work_listeners
else:  # listeners only
    work_listeners = LazyModule("orgflow_ir.work.listeners")

HEADING = "From the model:"
MOST_TEXT, MOST_CODE, MOST_DOCUMENTATION, MOST_LINES = 500, 2_000, 4_000, 20
"""Maximum length of a statement, of code and of documentation, in characters, and maximum number of
statements in one note; the report contains everything."""


def own_text(documentation: str) -> str:
    """The documentation of an element as its author wrote it; what follows is for those who fill in
    nodes."""
    return documentation.partition(HEADING)[0].strip()


_NAMED = 3
S = TypeVar("S", Process, SubProcess)
_ByElement = Mapping[str, tuple[Statement, ...]]


def keep(
    model: Model,
    where: str,
    ctx: PassContext,
    *,
    lanes: bool = False,
    listeners: bool = False,
    messages: bool = False,
) -> Model:
    """The model with everything that its source states beside the flow at the end of the
    documentation of nodes and processes, the same value where there is nothing; `lanes` says that
    the target shows a lane nowhere else, `listeners` that steps do the work of listeners where they
    can, `messages` that messages begin the processes that they start. Reports OF408 for each kind
    of fact, kept in `where`, and OF404 for listeners that nothing executes.
    """
    source = ctx.source or model
    facts = ctx.analysis(collect, source)
    about = _bound_statements(model, source, ctx)
    long = any(len(n.doc) > MOST_DOCUMENTATION for scope in model.scopes() for n in scope.nodes)
    whole = {process.id: list(facts.whole.get(process.id, ())) for process in model.processes}
    names = facts.lanes if lanes else {}
    if not (about or long or facts.about or names or any(whole.values())):
        return model
    owners = _map_owners(model)
    work = {n.id for s in source.scopes() for n in s.nodes if not isinstance(n, Event | Gateway)}
    for element, lane in names.items():
        if element in owners.keys() & work:
            about.setdefault(owners[element], []).append(Statement(PERFORMER, "lane", lane))
    elements = ctx.analysis(elements_by_id, source) if facts.about else {}
    _sort_statements(facts, owners, elements, about, whole)
    if model is not source and whole:
        whole[next(iter(whole))] += _lost_documentation(source, owners)
    cut = _Cut()
    processes = tuple(_with_facts(p, about, whole.get(p.id, ()), cut) for p in model.processes)
    acted_on = {**_acted_repetitions(source, model)}
    for statements_by_element in (
        _acted_mappings(source, model),
        _listener_statements(source, facts, listeners, ctx),
        _delivered_statements(model, facts) if messages else {},
    ):
        for id, about_it in statements_by_element.items():
            acted_on[id] = acted_on.get(id, frozenset()) | about_it
    _report_facts(source, facts, lanes, where, cut, ctx, acted_on)
    return model.replace(processes=processes)


def _bound_statements(model: Model, source: Model, ctx: PassContext) -> dict[str, list[Statement]]:
    """What the bindings of a model state, by the node."""
    about: dict[str, list[Statement]] = {}
    for scope in model.scopes():
        for node in scope.nodes:
            of = _stands_for(node, source, ctx) if isinstance(node, Opaque) else node
            if isinstance(of, (Task, CallActivity, Event)) and of.binding is not None:
                about[node.id] = list(binding_statements(of))
    return about


def _sort_statements(
    facts: Facts,
    owners: Mapping[str, str],
    elements: Mapping[str, Element],
    about: dict[str, list[Statement]],
    whole: dict[str, list[Statement]],
) -> None:
    """Add the facts about an element to those of the node that stands for it (`about`), or of its
    process (`whole`) where nothing stands for it, since it was rewritten."""
    for process, by_element in facts.about.items():
        for id, statements in by_element.items():
            if id in owners:
                about.setdefault(owners[id], []).extend(statements)
            elif process in whole:
                label = one_line(elements[id].label)
                whole[process] += (f._replace(label=f"{label}, {f.label}") for f in statements)


def _lost_documentation(source: Model, owners: Mapping[str, str]) -> Iterator[Statement]:
    """The documentation of nodes of the source that no node of the model stands for."""
    for scope in source.scopes():
        for node in scope.nodes:
            if node.doc.strip() and node.id not in owners:
                label = f"documentation of {one_line(node.label)}"
                yield Statement(DOCUMENTATION, label, one_line(node.doc))


def _stands_for(stub: Opaque, source: Model, ctx: PassContext) -> Element | None:
    """The element of the source in whose place a stub is: who replaces the stub needs to know what
    the model says of it."""
    if stub.stops is None:
        return None
    elements = ctx.analysis(elements_by_id, source)
    return next((elements[id] for id in source_ids(stub) if id in elements), None)


def _acted_repetitions(source: Model, model: Model) -> dict[str, frozenset[Statement]]:
    """What markers for repetition say that the model acts on, since lowerings made flows of them,
    by the element."""
    if source is model:
        return {}
    left = {n.id for s in model.scopes() for n in s.nodes if getattr(n, "loop", None) is not None}
    return {
        node.id: frozenset(loop_statements(loop))
        for scope in source.scopes()
        for node in scope.nodes
        if (loop := getattr(node, "loop", None)) is not None and node.id not in left
    }


def _delivered_statements(model: Model, facts: Facts) -> dict[str, frozenset[Statement]]:
    """What is stated about messages that begin processes of the model, by the element."""
    ends = {
        end
        for sender, delivery in find_deliveries(model).items()
        for end in (sender, delivery.start.id)
    }
    return {
        id: frozenset(fact for fact in stated if fact.what == MESSAGE)
        for by_element in facts.about.values()
        for id, stated in by_element.items()
        if id in ends
    }


def _acted_mappings(source: Model, model: Model) -> dict[str, frozenset[Statement]]:
    """What mappings of sub-processes and events say that the model acts on, since lowerings made
    steps of them, by the element."""
    if source is model:
        return {}
    left = {scope.id for scope in model.scopes()}
    mapping = {
        node.id
        for scope in model.scopes()
        for node in scope.nodes
        if isinstance(node, Event) and maps_by_itself(node)
    }
    return {
        scope.id: frozenset(extension_statements(scope.replace(extra=mapping_data(scope.extra))))
        for scope in source.scopes()
        if isinstance(scope, SubProcess) and scope.id not in left and has_mappings(scope)
    } | {
        event.id: frozenset(extension_statements(event.replace(extra=mapping_data(event.extra))))
        for scope in source.scopes()
        for event in scope.nodes
        if isinstance(event, Event) and event.id not in mapping and maps_by_itself(event)
    }


def _listener_statements(
    source: Model, facts: Facts, run: bool, ctx: PassContext
) -> dict[str, frozenset[Statement]]:
    """What extension data says of listeners, by the element that it is about; OF404 reports those
    that nothing executes."""
    by_element: dict[str, frozenset[Statement]] = {}
    for scope in source.scopes():
        elements: list[Element] = [*scope.nodes, *scope.flows]
        if isinstance(scope, Process):
            elements.insert(0, scope)
        for element in elements:
            if not has_listeners(element):
                continue
            own = isinstance(element, Task | Event) and element.binding is not None
            if run or not own:  # else the element is reported with its binding
                _report_listeners(element, scope, run, ctx)
            if isinstance(element, Task):
                continue
            statements = set(
                extension_statements(element.replace(extra=listener_data(element.extra)))
            )
            at = element.id
            if isinstance(element, Flow):
                at = element.source
                about = (f for own in facts.about.values() for f in own.get(at, ()))
                statements = {f for f in about for s in statements
                        if f.label.endswith(f", {s.label}") and f.text == s.text}  # fmt: skip
            by_element[at] = by_element.get(at, frozenset()) | statements
    return by_element


def _report_listeners(element: Element, scope: Scope, run: bool, ctx: PassContext) -> None:
    """OF404 for each listener of an element that no step stands for: of all of them, unless the
    target has steps for code that can be (`run`)."""

    def report_listener(reported: Listener, what: str) -> None:
        shown = one_line(reported.target).replace("`", "'") or reported.event
        of = ctx.name(element) if not isinstance(element, Process) else f"`{element.label}`"
        ctx.emit(
            UnsupportedBinding,
            f"the listener `{shown}` of {of} is {what}, whatever variables it sets",
            element=element,
            help="move its work into a task of the process",
        )

    left = work_listeners.place_listeners(
        work_listeners.without_loop(element) if run else element,
        scope,
        ctx.analysis(ControlFlow, scope),
    ).left
    if not run:
        reasons = {unexecuted.listener: unexecuted.reason for unexecuted in left}
        left = tuple(
            work_listeners.Left(
                own_listener,
                work_listeners.why_not_read(own_listener) or reasons.get(own_listener, ""),
            )
            for own_listener in work_listeners.listeners_of(element)
        )
    for unexecuted in left:
        report_listener(
            unexecuted.listener,
            f"not executed{f' ({unexecuted.reason})' if unexecuted.reason else ''}",
        )
    if run:
        for listener in work_listeners.only_at_the_end(element, scope):
            report_listener(listener, "not executed when an event interrupts the activity")


def _map_owners(model: Model) -> dict[str, str]:
    """The first node that stands for each node of the source."""
    owners: dict[str, str] = {}
    for scope in model.scopes():
        for node in scope.nodes:
            for id in source_ids(node):
                owners.setdefault(id, node.id)
    return owners


class _Cut:
    """Whether anything was too long for a note."""

    def __init__(self) -> None:
        self.any = False

    def shorten(self, text: str, most: int) -> str:
        if len(text) <= most:
            return text
        self.any = True
        return text[:most].rstrip() + " …"


def _with_facts(
    scope: S, about: Mapping[str, list[Statement]], own: Iterable[Statement], cut: _Cut
) -> S:
    nodes = tuple(
        _with_facts(node, about, about.get(node.id, ()), cut)
        if isinstance(node, SubProcess)
        else node.replace(doc=doc)
        if (doc := _add_notes(node.doc, about.get(node.id, ()), cut)) != node.doc
        else node
        for node in scope.nodes
    )
    doc = _add_notes(scope.doc, own, cut)
    same = all(new is old for new, old in zip(nodes, scope.nodes, strict=True))
    return scope if same and doc == scope.doc else scope.replace(nodes=nodes, doc=doc)


def _add_notes(doc: str, facts: Iterable[Statement], cut: _Cut) -> str:
    """Documentation with a list of facts at its end."""
    if len(doc) > MOST_DOCUMENTATION:
        doc = cut.shorten(doc, MOST_DOCUMENTATION)
    shown = list(facts)
    if not shown:
        return doc
    lines = [HEADING, *(_note_line(fact, cut) for fact in shown[:MOST_LINES])]
    if len(shown) > MOST_LINES:
        cut.any = True
        lines.append(f"- … and {len(shown) - MOST_LINES} more")
    block = "\n".join(lines)
    return f"{doc.strip()}\n\n{block}" if doc.strip() else block


def _note_line(fact: Statement, cut: _Cut) -> str:
    text = fact.text.strip()
    code = fact.code or "\n" in text
    text = cut.shorten(text, MOST_CODE if code else MOST_TEXT)
    if not text:
        return f"- {fact.label}"
    return f"- {fact.label}:\n{text}" if code else f"- {fact.label}: {text}"


def _report_facts(
    source: Model,
    facts: Facts,
    lanes: bool,
    where: str,
    cut: _Cut,
    ctx: PassContext,
    acted_on: Mapping[str, frozenset[Statement]],
) -> None:
    """OF408 for each kind of what a process states beside its flow, but for what is `acted_on`."""
    for process in source.processes:
        elements: dict[str, dict[str, None]] = {kind: {} for kind in KINDS}
        for fact in facts.whole.get(process.id, ()):
            if fact not in acted_on.get(process.id, ()):
                elements[fact.what][process.id] = None
        for id, facts_there in facts.about.get(process.id, {}).items():
            for fact in facts_there:
                if fact not in acted_on.get(id, ()):
                    elements[fact.what][id] = None
        if lanes and any(scope.lanes for scope in process.scopes()):
            elements[PERFORMER][process.id] = None
        for kind, ids in elements.items():
            if not ids:
                continue
            names = [ctx.name(id) for id in ids]
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            verb = "is" if kind == DOCUMENTATION else "are"
            ctx.emit(
                KeptAsNote,
                f"the {kind} of {', '.join(names[:_NAMED])}{more} {verb} kept in {where}; nothing "
                f"in the result acts on {'it' if verb == 'is' else 'them'}",
                element=process,
                help="`--report FILE` contains the full text of notes that are cut"
                if cut.any
                else None,
            )
