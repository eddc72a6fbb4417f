"""The decision at a gateway: branches, decision variables, and the source element of each value.

One scheme throughout (DESIGN, "data on a token"): a gateway reads a value from the output of the
element that sets it, never from the data of the token. This is correct if the setter *dominates*
the gateway and *runs again on every path back* to it. If no task meets both conditions, a deciding
step is inserted right before the gateway, which meets them by construction.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.control_flow.outgoing import sort_outgoing
from orgflow_ir.model import (
    CallActivity,
    Event,
    Expression,
    Flow,
    Gateway,
    GatewayKind,
    Node,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.element_names import one_line, slug, unique
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.syntax import ConditionError, variables

if TYPE_CHECKING:
    from orgflow_ir.program.syntax import Path, Tree

MAX_SOURCES = 3
"""Maximum number of dominating tasks considered as setters of a coded condition's variable, nearest
first."""


def _field_name(text: str, fallback: str) -> str:
    return slug(text) or fallback


def _read_condition(condition: Expression) -> Tree | None:
    # The parsers are imported for a model that has a condition.
    from orgflow_ir.languages.recognise import read_condition

    return read_condition(condition)


class DecisionConventions(NamedTuple):
    """Conventions of a target's syntax: valid field names (made from a label, with a fallback if no
    valid character is left), the supported conditions (`compile` returns `None` for a label and
    raises `ConditionError`), and the value that a label becomes. `check` raises `ConditionError`
    for a tree of `compile` that the target does not support."""

    field_name: Callable[[str, str], str] = _field_name
    compile: Callable[[Expression], Tree | None] = _read_condition
    text: Callable[[str], str] = one_line
    check: Callable[[Tree], None] | None = None


class Branch(NamedTuple):
    """One outgoing flow of a gateway: taken by a value, by a condition, or by default."""

    flow: Flow
    kind: Literal["value", "code", "default"]
    value: str
    tree: Tree | None = None

    @property
    def variables(self) -> Iterable[Path]:
        """Paths of the variables that a coded condition reads, in its order."""
        return () if self.tree is None else variables(self.tree)


class UnreadCondition(NamedTuple):
    """A condition that was replaced by a value of the decision variable, and the reason."""

    flow: Flow
    reason: str


class Decision(NamedTuple):
    """A deciding gateway. `several`: the gateway is inclusive, so the variable contains a list of
    values.

    `setter` is the id of the task or start event that sets the variables, or the gateway's own id
    if a deciding step is inserted before it. `sources` are all elements that may set a variable of
    a coded condition, nearest first; the last may be the start event. `unread` are conditions that
    the conventions do not support. `bare` are the branches with neither a condition nor a label;
    their value is derived from their target. `values` are the values of the decision variable, one
    per labelled branch; empty if all branches have coded conditions.
    """

    gateway: Gateway
    branches: tuple[Branch, ...]
    several: bool
    variable: str
    setter: str
    sources: tuple[str, ...]
    setter_label: str
    description: str
    values: tuple[str, ...]
    unread: tuple[UnreadCondition, ...] = ()
    bare: tuple[Branch, ...] = ()

    @property
    def default(self) -> Branch | None:
        """The default branch, if there is one."""
        return next((b for b in self.branches if b.kind == "default"), None)

    @property
    def labelled(self) -> tuple[Branch, ...]:
        """Branches with a label by the author and no condition."""
        others = {b.flow.id for b in self.bare} | {u.flow.id for u in self.unread}
        return tuple([b for b in self.branches if b.kind == "value" and b.flow.id not in others])

    @property
    def coded(self) -> tuple[Path, ...]:
        """Paths of the variables that coded conditions read, each once."""
        trees = (branch.tree for branch in self.branches if branch.tree is not None)
        return tuple(dict.fromkeys(path for tree in trees for path in variables(tree)))


def deciding_gateways(scope: Scope, graph: ControlFlow) -> Iterator[Gateway]:
    """Gateways that decide: exclusive and inclusive ones with two outgoing flows, or one with a
    condition."""
    for node in scope.nodes:
        if isinstance(node, Gateway) and node.gateway_kind in ("exclusive", "inclusive"):
            out = graph.flows_out(node.id)
            if len(out) > 1 or any(f.condition is not None and not f.default for f in out):
                yield node


def with_gateways(scope: Scope, graph: ControlFlow) -> tuple[Scope, dict[str, Node]]:
    """The scope with a gateway added after each activity that chooses among its flows, as emitted
    by targets without conditions on wires, and the activities by those gateways."""
    owners: dict[str, Node] = {}
    moved: dict[str, str] = {}
    nodes: list[Node] = []
    flows: list[Flow] = []
    for node in scope.nodes:
        nodes.append(node)
        if node.id not in graph.with_conditions:
            continue
        if not isinstance(node, (Task, CallActivity, SubProcess)):
            continue
        outgoing_flows = sort_outgoing(graph.flows_out(node.id))
        if not outgoing_flows.chosen:
            continue
        is_exclusive = len(outgoing_flows.chosen) == 1 and outgoing_flows.default is not None
        kind: GatewayKind = "exclusive" if is_exclusive else "inclusive"
        gateway = Gateway(id=f"{node.id}\x00choice", gateway_kind=kind, derived_from=(node.id,))
        nodes.append(gateway)
        flows.append(Flow(id=f"{gateway.id} flow", source=node.id, target=gateway.id))
        owners[gateway.id] = node
        moved |= {
            flow.id: gateway.id
            for flow in (*outgoing_flows.chosen, outgoing_flows.default)
            if flow is not None
        }
    if not owners:
        return scope, owners
    flows += [f.replace(source=moved[f.id]) if f.id in moved else f for f in scope.flows]
    return scope.replace(nodes=tuple(nodes), flows=tuple(flows)), owners


def read_decisions(
    scope: Scope, graph: ControlFlow, style: DecisionConventions
) -> dict[str, Decision]:
    """The decision of every deciding gateway by id."""
    read = [(g, *_read_branches(g, graph, style)) for g in deciding_gateways(scope, graph)]
    coded = {path[0] for _, bs, *_ in read for b in bs for path in b.variables}
    names = _Variables(coded, style)
    result: dict[str, Decision] = {}
    for gateway, branches, unread, bare in read:
        tasks = find_setters(gateway.id, graph)
        trigger = _single_trigger(gateway.id, graph)
        values = tuple([b.value for b in branches if b.kind == "value"])
        if tasks:
            setter = tasks[0]
        elif trigger is not None and (
            not values or (_has_body(graph, trigger) and gateway.id not in graph.cyclic)
        ):  # what came in once is not an answer to a question that is asked again
            setter = trigger
        else:
            setter = gateway.id
        sources = tasks + ((trigger,) if trigger else ())
        sources = sources if setter in sources else (setter, *sources)
        result[gateway.id] = Decision(
            gateway=gateway,
            branches=branches,
            several=gateway.gateway_kind == "inclusive",
            variable=names.take(gateway, values, setter, graph) if values else "",
            setter=setter,
            sources=sources,
            setter_label=graph.nodes[setter].label,
            description=describe_gateway(gateway, graph),
            values=values,
            unread=unread,
            bare=tuple(b for b in branches if b.flow.id in bare),
        )
    return result


class DecisionMemory:
    """The decisions of a compile and the trees of its conditions, each computed once:
    `ctx.shared(DecisionMemory)`. Passes, gaps and targets read the same conditions."""

    def __init__(self) -> None:
        self._trees: dict[tuple[str, str | None], Tree | Exception | None] = {}
        self._decided: dict[
            tuple[int, DecisionConventions], tuple[ControlFlow, dict[str, Decision]]
        ] = {}

    def tree(self, condition: Expression) -> Tree | None:
        """The tree of a condition, `None` for a label. Raises `ConditionError`."""
        key = condition.text, condition.language
        if key not in self._trees:
            try:
                self._trees[key] = _read_condition(condition)
            except ConditionError as error:
                self._trees[key] = error
        known = self._trees[key]
        if isinstance(known, Exception):
            raise known.with_traceback(None)
        return known

    def decisions(self, graph: ControlFlow, style: DecisionConventions) -> dict[str, Decision]:
        """`decide` for the scope of a graph; do not modify the result."""
        key = id(graph), style
        if key not in self._decided:
            read = style.compile
            if read is _read_condition:
                read = self.tree
            decided = read_decisions(graph.scope, graph, style._replace(compile=read))
            self._decided[key] = graph, decided
        return self._decided[key][1]


def find_setters(gateway: str, graph: ControlFlow) -> tuple[str, ...]:
    """Tasks that dominate `gateway`, run again on every path back to it, and send it only one token
    each time; nearest first, at most `MAX_SOURCES`. The result is cached with the graph, because
    gaps and targets apply different conventions to the same decisions."""
    known = graph.setters.get(gateway)
    if known is None:
        nearest = itertools.islice(_list_setters(gateway, graph), MAX_SOURCES)
        known = graph.setters[gateway] = tuple(nearest)
    return known


def _list_setters(gateway: str, graph: ControlFlow) -> Iterator[str]:
    cyclic = gateway in graph.cyclic
    for candidate in graph.dominators_of(gateway):
        if cyclic and graph.components[candidate] != graph.components[gateway]:
            return  # outside the cycle, and so is every dominator further away
        if (
            _can_set(graph.nodes[candidate])
            and _runs_again(candidate, gateway, graph)
            and not _is_multiplied(candidate, gateway, graph)
        ):
            yield candidate


def _can_set(node: Node) -> bool:
    """Whether it can set a value: a task that is done once each time it is reached. One that a
    lowering made does something of its own."""
    if not isinstance(node, Task) or source_ids(node) != (node.id,):
        return False
    return node.loop is None or node.loop.kind == "standard"


def _runs_again(setter: str, gateway: str, graph: ControlFlow) -> bool:
    """Whether no cycle through `gateway` avoids `setter`.

    Backwards from the gateway up to the setter: since the setter dominates, only the nodes between
    the two are visited, so that deep nesting stays cheap.
    """
    if gateway not in graph.cyclic:
        return True
    seen: set[str] = set()
    stack = [gateway]
    while stack:
        for arc in graph.into[stack.pop()]:
            if arc.source == gateway:
                return False
            if arc.source != setter and arc.source not in seen:
                seen.add(arc.source)
                stack.append(arc.source)
    return True


def _is_multiplied(setter: str, gateway: str, graph: ControlFlow) -> bool:
    """Whether one token of the setter may reach the gateway as several: then all of them would read
    one decision, where the model decides for each.

    A split into parallel work whose branches meet in a join that dominates the gateway is closed.
    """
    last = next(
        (d for d in graph.dominators_of(gateway) if d == setter or _is_join(d, graph)), setter
    )
    region = {gateway}
    stack = [gateway]
    while stack:
        node = stack.pop()
        if node == last:
            continue
        for arc in graph.into[node]:
            if arc.source not in region and arc.source in graph.reachable:
                region.add(arc.source)
                stack.append(arc.source)
    for node in region:
        arcs = graph.out[node]
        if len(arcs) > 1 and node != gateway and not _is_exclusive(node, graph):
            inside = [arc for arc in arcs if arc.target in region and arc.target != last]
            if len(inside) > 1:
                return True
    return False


def _is_join(node: str, graph: ControlFlow) -> bool:
    element = graph.nodes[node]
    kinds = ("parallel", "inclusive")
    return (
        isinstance(element, Gateway) and element.gateway_kind in kinds and len(graph.into[node]) > 1
    )


def _is_exclusive(node: str, graph: ControlFlow) -> bool:
    element = graph.nodes[node]
    return isinstance(element, Gateway) and element.gateway_kind == "exclusive"


def _single_trigger(gateway: str, graph: ControlFlow) -> str | None:
    """The start event, where it is the only one; how often the gateway is reached is no matter for
    variables of coded conditions: what came in with the trigger stays true until overwritten."""
    if len(graph.entries) != 1 or gateway not in graph.reachable:
        return None
    node = graph.nodes[graph.entries[0]]
    return node.id if isinstance(node, Event) and node.position == "start" else None


def _has_body(graph: ControlFlow, trigger: str) -> bool:
    node = graph.nodes[trigger]
    return isinstance(node, Event) and node.trigger == "message"


def _read_branches(
    gateway: Gateway, graph: ControlFlow, style: DecisionConventions
) -> tuple[tuple[Branch, ...], tuple[UnreadCondition, ...], set[str]]:
    """The branches, the conditions among them that cannot be read, and the flows with nothing."""
    flows = graph.flows_out(gateway.id)
    trees: dict[str, Tree] = {}
    texts: list[str] = []
    unread: list[UnreadCondition] = []
    bare: set[str] = set()
    for flow in flows:
        tree = None
        if flow.condition is not None and not flow.default:
            try:
                read = style.compile(flow.condition)
                if read is not None and style.check is not None:
                    style.check(read)
                tree = read
            except ConditionError as error:
                unread.append(UnreadCondition(flow, str(error)))
        if tree is not None:
            trees[flow.id] = tree
        text = style.text
        is_unread = bool(unread) and unread[-1].flow is flow
        label = text(flow.name)
        if not label and flow.condition is not None and not is_unread:  # code is no label
            label = text(flow.condition.text)
        if not label and tree is None and not flow.default:
            label = text(target_words(flow, graph)) or "unnamed"
            if not is_unread:
                bare.add(flow.id)
        texts.append(label)
    values = unique(_tell_apart(texts, flows, graph, bare, style), "branch")
    result = []
    for flow, value in zip(flows, values, strict=True):
        kind: Literal["value", "code", "default"] = "value"
        if flow.default:
            kind = "default"
        elif flow.id in trees:
            kind = "code"
        result.append(Branch(flow, kind, value, trees.get(flow.id)))
    return tuple(result), tuple(unread), bare


def target_words(flow: Flow, graph: ControlFlow) -> str:
    """The label of the first named node on the path from `flow`, or an empty text."""
    node, seen = flow.target, set()
    while node not in seen:
        if one_line(graph.nodes[node].name):
            return one_line(graph.nodes[node].name)
        seen.add(node)
        if graph.out[node]:
            node = graph.out[node][0].target
    return ""


_MOST_FOLLOWING = 6
"""Maximum number of named nodes behind a branch that its value may name."""


def _tell_apart(
    texts: list[str],
    flows: Sequence[Flow],
    graph: ControlFlow,
    bare: set[str],
    style: DecisionConventions,
) -> list[str]:
    """The values of branches, of which equal ones also name what follows, up to where a person can
    tell them apart; else the elements that they lead to."""
    values_apart = list(texts)
    for text in {text for text in texts if text and texts.count(text) > 1}:
        group = [at for at, other in enumerate(texts) if other == text and not flows[at].default]
        following = {at: list(_list_following(flows[at], graph)) for at in group}
        for at in group:
            if flows[at].id in bare:  # the first one is the value itself
                del following[at][:1]
        for depth in range(_MOST_FOLLOWING):
            names = {at: style.text(" ".join(words[depth : depth + 1]))
                     for at, words in following.items()}  # fmt: skip
            candidates = {
                at: f"{text}, then {name}" if name else text for at, name in names.items()
            }
            if len(set(candidates.values())) == len(group):
                break
        else:
            candidates = {at: style.text(f"{text} ({flows[at].target})") for at in group}
        for at, candidate in candidates.items():
            values_apart[at] = candidate
    return values_apart


def _list_following(flow: Flow, graph: ControlFlow) -> Iterator[str]:
    """The labels of the named nodes on the first path from a flow."""
    node, seen = flow.target, set[str]()
    while node not in seen:
        if words := one_line(graph.nodes[node].name):
            yield words
        seen.add(node)
        if graph.out[node]:
            node = graph.out[node][0].target


def preceding_words(node: str, graph: ControlFlow) -> str:
    """The label of the nearest named node that always precedes `node`, or an empty text."""
    for before in graph.dominators_of(node):
        element = graph.nodes[before]
        if element.name.strip() and not isinstance(element, Gateway):
            return one_line(element.name)
    return ""


def describe_gateway(node: Node, graph: ControlFlow) -> str:
    """The description of a node in messages: its label, or the label of a preceding node."""
    if node.name.strip() or not isinstance(node, Gateway):
        return f"`{node.label}`"
    before = preceding_words(node.id, graph)
    kind = f"the {node.gateway_kind} gateway"
    return f"{kind} after `{before}`" if before else f"{kind} `{node.id}`"


class _Variables:
    """Names of decision variables. Two gateways share a name only with equal label, equal values
    and different setters: read from one setter, their choices could not differ, though the model
    lets them."""

    def __init__(self, taken: set[str], style: DecisionConventions) -> None:
        self._style = style
        self._owners: dict[str, list[tuple[str, frozenset[str], str]]] = {t: [] for t in taken}

    def take(
        self, gateway: Gateway, values: tuple[str, ...], setter: str, graph: ControlFlow
    ) -> str:
        label = self._style.text(gateway.name).casefold()
        if label:
            base = self._style.field_name(label, "decision")
        else:
            before = slug(preceding_words(gateway.id, graph), words=5)
            base = f"gateway_after_{before}" if before else f"gateway_{slug(gateway.id) or '1'}"
        key = (label, frozenset(values))
        name, number = base, 2
        while name in self._owners and not self._may_share(name, key, setter):
            name, number = f"{base}_{number}", number + 1
        self._owners.setdefault(name, []).append((*key, setter))
        return name

    def _may_share(self, name: str, key: tuple[str, frozenset[str]], setter: str) -> bool:
        owners = self._owners[name]
        return (
            bool(owners)
            and bool(key[0])
            and all(owner[:2] == key and owner[2] != setter for owner in owners)
        )
