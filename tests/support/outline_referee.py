"""Whether two models of one process behave alike, without the tables of any reader or printer: the
token games of both are walked side by side, and what nodes state beside the flow is compared.

What is seen of a step is its label, and for a choice the labels taken. Two processes are alike if
each may do what the other may, and end in the same ways.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.net import Policy
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.model import (
    CallActivity,
    Element,
    Event,
    Flow,
    Gateway,
    Model,
    Node,
    Process,
    SubProcess,
    Task,
)

LIMIT = 6_000
"""Maximum number of steps that are fired in one comparison."""

Shown = tuple[str, tuple[str, ...]]
Markings = frozenset[State]


class TooMany(Exception):
    """The comparison needs more steps than `LIMIT`."""


def fold_text(text: str) -> str:
    """A label without differences that no line can have."""
    return " ".join(text.replace("|", "/").split())


def flow_label(flow: Flow) -> str:
    """The label, the condition and the default mark of a flow."""
    condition = " ".join(flow.condition.text.split()) if flow.condition is not None else ""
    condition = "" if flow.default else condition
    name = fold_text(re.sub(r"[\[\]()]", " ", flow.name))
    return f"{name} [{condition}]{' default' if flow.default else ''}"


def node_label(node: Node, model: Model) -> str:
    """What is seen of a node; empty if it is hidden."""
    if isinstance(node, Task | CallActivity):
        return fold_text(node.name) or message_name(node, model) or fold_text(node.id)
    if isinstance(node, SubProcess):
        return fold_text(node.name)
    if not isinstance(node, Event):
        return ""
    trigger = trigger_text(node, model)
    name = fold_text(node.name)
    if node.position == "throw" and not node.definitions:
        return ""
    if node.trigger == "timer" and trigger and trigger.casefold() in name.casefold():
        return trigger
    return name or trigger


def trigger_text(event: Event, model: Model) -> str:
    """The time, the message or the error of an event."""
    for definition in event.definitions:
        if definition.kind == "timer" and definition.expression is not None:
            return fold_text(definition.expression.text)
        if definition.kind == "message":
            return message_name(event, model)
        if definition.kind == "error":
            errors = {entry.id: entry.name for entry in model.catalog.errors}
            return fold_text(errors.get(definition.ref or "", ""))
    return ""


def message_name(node: Node, model: Model) -> str:
    """The name of the message of a node: of its flow, or of the message itself."""
    names = {entry.id: entry.name for entry in model.catalog.messages}
    for flow in model.message_flows:
        if node.id in (flow.source, flow.target):
            named = flow.name or names.get(flow.message or "", "")
            if named.strip():
                return fold_text(named)
    ref = getattr(node, "message", None)
    if isinstance(node, Event):
        ref = next((d.ref for d in node.definitions if d.kind == "message"), None)
    return fold_text(names.get(ref or "", ""))


class Side:
    """One process as a deterministic machine over what is seen."""

    def __init__(self, model: Model, process: Process, budget: list[int]) -> None:
        self.game = Game(model, Policy(once=True))
        self.process, self._budget = process, budget
        self.nodes = {n.id: n for scope in process.scopes() for n in scope.nodes}
        self._flows = {f.id: f for scope in process.scopes() for f in scope.flows}
        leaving = Counter(f.source for f in self._flows.values())
        inner = {
            n.id for n in self.nodes.values() if isinstance(n, SubProcess)
            for n in n.nodes if isinstance(n, Event) and n.position == "start"
            and not n.definitions
        }  # fmt: skip
        self._labels = {
            id: "" if id in inner else node_label(node, model) for id, node in self.nodes.items()
        }
        self._choices = {
            n.id for n in self.nodes.values()
            if isinstance(n, Gateway) and n.gateway_kind in ("exclusive", "inclusive")
            and leaving[n.id] > 1
        }  # fmt: skip

    def shows(self, step: Step) -> Shown | None:
        """What is seen of a step."""
        if step.action == "open":
            return None
        if step.element in self._choices:
            taken = sorted(flow_label(self._flows[f]) for f in step.taken if f in self._flows)
            name = fold_text(self.nodes[step.element].name)
            return f"choice {name}", tuple(taken)
        label = self._labels.get(step.element, "")
        return (label, ()) if label else None

    def start(self) -> Markings:
        """All markings before anything is seen."""
        starts = self.game.starts(self.process.id)
        return self._close(self.game.initial(self.process.id, s) for s in starts)

    def _fire(self, state: State, step: Step) -> State:
        self._budget[0] -= 1
        if self._budget[0] < 0:
            raise TooMany
        return self.game.fire(state, step)

    def _at_once(self, steps: list[Step]) -> Step | None:
        """A hidden step that prevents nothing: opening a task, or a gateway with one choice."""
        for step in steps:
            node = self.nodes.get(step.element)
            if step.action == "open" and isinstance(node, Task):
                return step
            if isinstance(node, Gateway) and node.gateway_kind in ("exclusive", "parallel"):
                alone = sum(s.element == step.element for s in steps) == 1
                if alone and self.shows(step) is None:
                    return step
        return None

    def _close(self, states: Iterable[State]) -> Markings:
        work = list(states)
        seen = set(work)
        markings: set[State] = set()
        while work:
            state = work.pop()
            steps = list(self.game.enabled(state))
            first = self._at_once(steps)
            if first is None:
                markings.add(state)
            for step in steps if first is None else [first]:
                if self.shows(step) is None:
                    after = self._fire(state, step)
                    if after not in seen:
                        seen.add(after)
                        work.append(after)
        return frozenset(markings)

    def after(self, markings: Markings) -> dict[Shown, Markings]:
        """The markings behind each visible step."""
        successors: dict[Shown, set[State]] = {}
        for state in markings:
            for step in self.game.enabled(state):
                shown = self.shows(step)
                if shown is not None:
                    successors.setdefault(shown, set()).add(self._fire(state, step))
        return {shown: self._close(then) for shown, then in sorted(successors.items())}

    def ends(self, markings: Markings) -> frozenset[str]:
        """How the run may be over."""
        outcomes = {self.game.outcome(state) for state in markings} - {"running"}
        return frozenset("completed" if o == "terminated" else o for o in outcomes)


def compare_flow(one: tuple[Model, Process], other: tuple[Model, Process]) -> str:
    """The first difference of two processes; empty if they behave alike. Raises `TooMany`."""
    budget = [LIMIT]
    first, second = Side(*one, budget), Side(*other, budget)
    begin = (first.start(), second.start())
    traces: dict[tuple[Markings, Markings], tuple[Shown, ...]] = {begin: ()}
    queue = deque([begin])
    while queue:
        pair = queue.popleft()
        mine, its = first.after(pair[0]), second.after(pair[1])
        if mine.keys() != its.keys():
            return f"after {traces[pair]}: {sorted(mine)} is not {sorted(its)}"
        if first.ends(pair[0]) != second.ends(pair[1]):
            ends = [sorted(first.ends(pair[0])), sorted(second.ends(pair[1]))]
            return f"after {traces[pair]}: ends {ends[0]} are not {ends[1]}"
        for shown, then in mine.items():
            after = (then, its[shown])
            if after not in traces:
                traces[after] = (*traces[pair], shown)
                queue.append(after)
    return ""


def compare_statements(one: Model, other: Model) -> list[str]:
    """Differences in what nodes state beside the flow: who, with which data, for each of what, with
    which events at them, and the messages between participants."""
    mine, its = Counter(list_statements(one)), Counter(list_statements(other))
    return [
        *(f"lost: {statement}" for statement in sorted((mine - its).elements())),
        *(f"added: {statement}" for statement in sorted((its - mine).elements())),
    ]


def list_statements(model: Model) -> Iterator[str]:
    """Every statement of a model beside its flow."""
    owners = pool_names(model)
    labels: dict[str, str] = {}
    for process in model.processes:
        objects = {d.id: d for scope in process.scopes() for d in scope.data_objects}
        for scope in process.scopes():
            for node in scope.nodes:
                labels[node.id] = node_label(node, model)
                yield from _node_statements(node, scope.nodes, model)
            for lane in scope.lanes:
                for member in lane.members:
                    performer = next((n for n in scope.nodes if n.id == member), None)
                    if performer is not None and _is_performed(performer) and lane.name.strip():
                        name = fold_text(lane.name).casefold().removesuffix(" (actor)")
                        yield f"{labels[member]} by {name}"
            for link in scope.data_flows:
                reads = link.source in objects
                node_id = link.target if reads else link.source
                data = _data_name(objects[link.source if reads else link.target], objects)
                yield f"{labels.get(node_id, '')} {'reads' if reads else 'writes'} {data}"
    for flow in model.message_flows:
        ends = [
            f"{owners.get(end, '')}.{labels.get(end, '')}" for end in (flow.source, flow.target)
        ]
        yield f"message {ends[0]} to {ends[1]}"


def _is_performed(node: Node) -> bool:
    """Whether somebody does a node: steps, and what sends or receives."""
    if isinstance(node, Event):
        return node.trigger == "message" and node.position in ("catch", "throw", "end")
    return isinstance(node, Task | CallActivity | SubProcess)


def _data_name(data: Element, objects: dict[str, Element]) -> str:
    referred = objects.get(getattr(data, "ref", None) or "")
    named = data.name or (referred.caption if referred is not None else data.caption)
    return fold_text(named).casefold().replace('"', "'")


def _node_statements(node: Node, nodes: Iterable[Node], model: Model) -> Iterator[str]:
    label = node_label(node, model)
    loop = getattr(node, "loop", None)
    if loop is not None:
        item = " ".join((loop.item or loop.collection or "item").replace(",", " ").split())
        yield f"{label} each {item}{'' if loop.sequential else ' at once'}"
    if isinstance(node, Event) and node.position == "boundary":
        host = next(n for n in nodes if n.id == node.attached_to)
        kind = "stops" if node.interrupting else "beside"
        yield f"{label} ({node.trigger}) {kind} {node_label(host, model)}"
    if isinstance(node, CallActivity) and node.called:
        yield f"{label} calls {node.called}"
    is_event = isinstance(node, Event) and node.position != "boundary"
    if isinstance(node, Event) and is_event and node.trigger in ("timer", "error"):
        timer = node.definitions[0].timer or ""
        yield f"{node.position} {node.trigger} {timer} {trigger_text(node, model)}"


def pool_names(model: Model) -> dict[str, str]:
    """The participant of each node and each pool, by id."""
    names = {pool.process: fold_text(pool.name or pool.id) for pool in model.pools if pool.process}
    owners = {pool.id: fold_text(pool.name or pool.id) for pool in model.pools}
    for process in model.processes:
        alone = len(model.processes) == 1
        owner = names.get(process.id) or fold_text(process.name) or ("" if alone else process.id)
        for scope in process.scopes():
            owners.update((node.id, owner) for node in scope.nodes)
    return owners


def compare_models(one: Model, other: Model) -> list[str]:
    """All differences of two models. Raises `TooMany`."""
    first = [p for p in one.processes if p.nodes]
    second = [p for p in other.processes if p.nodes]
    if len(first) != len(second):
        return [f"{len(first)} processes, not {len(second)}"]
    flows = [compare_flow((one, a), (other, b)) for a, b in zip(first, second, strict=True)]
    return [*filter(None, flows), *compare_statements(one, other)]
