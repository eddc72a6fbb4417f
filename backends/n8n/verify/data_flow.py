"""Whether every reader sees the values that tasks set: process variables followed over the
connections of a workflow.

Readers are the conditions of gateways, the work of elements (scripts, tables, mappings, requests,
forms, messages), and calls. At each output of a node, the item either has a variable as a task left
it, or the task's value is *lost* there: another node replaced the item, or a Merge overwrote it
with an outdated copy. The compiler's code for keeping variables is compared as a program; equal
programs have the same effect.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.node_types import set_
from orgflow.backends.n8n.plan.actions import KeepAnswers, KeepLatest, KeepVariables
from orgflow.backends.n8n.plan.carried import Carried
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey, entry_key
from orgflow.backends.n8n.plan.plan_roles import list_read_nodes
from orgflow.backends.n8n.verify.choices import Names, references_in
from orgflow.backends.n8n.verify.computed_nodes import are_same_parameters
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.flow.control_flow.graph import list_reachable
from orgflow_ir.model import Event
from orgflow_ir.targets.verification import Difference

_NOTHING: frozenset[str] = frozenset()


class DataFlow:
    """The variables of one workflow, and the places where the output of a node is lost.

    Args:
        carried: the compiler's additions to its own workflow for them.
        names: replaces references to nodes by their elements.
        apart: triggers that start no run of the process.
    """

    def __init__(
        self,
        ref: Reference,
        carried: Carried,
        matching: Matching[NodeKey],
        workflow: WorkflowDocument,
        names: Names,
        apart: Container[str] = (),
    ) -> None:
        self.ref, self.carried, self.matching, self.names = ref, carried, matching, names
        self.own = Names({n.name: key for key, n in ref.plan.workflow_graph.nodes.items()}, None)
        self.nodes = ref.plan.workflow_graph.nodes
        self.steps = workflow.steps
        self.into: dict[str, list[tuple[int, str]]] = {name: [] for name in self.steps}
        self.ahead: dict[str, list[str]] = {name: [] for name in self.steps}
        for wire in workflow.wires:
            if wire.kind == "main" and wire.source in self.steps and wire.target in self.steps:
                self.into[wire.target].append((wire.input, wire.source))
                self.ahead[wire.source].append(wire.target)
        pairs = matching.pairs
        self.setters = [pairs[key] for key in carried.steps if key in pairs]
        self.setters += [n for n, step in self.steps.items() if step.starts and n not in apart]
        self.lost = self._lost()

    def difference(self) -> Difference | None:
        """The first reader that cannot see the value of some task, and that value; before it, the
        first node that reads the answers of a form which may not have been asked."""
        early = next(self._early(), None)
        if early is not None:
            return early
        for gateway, names in self.carried.read.items():
            reader = self.matching.pairs.get(gateway)
            if reader is None or self.steps[reader].disabled:
                continue
            text = _join_texts(self.steps[reader].parameters)
            for variable in names:
                hidden = self._hidden(gateway, reader, variable, text)
                if hidden:
                    first = min(hidden, key=lambda n: not self._writes(n, variable))
                    return _describe_hidden(reader, variable, first)
        return next(self._hidden_work(), None)

    def _hidden_work(self) -> Iterator[Difference]:
        """Values that the work of elements and calls cannot see on the items that come to them."""
        work = {**self.carried.computed}
        for call, names in self.carried.handed.items():
            if call:  # what is handed back at the ends is under the empty key
                work[call] = (*work.get(call, ()), *names)
        pairs = self.matching.pairs
        for element, names in work.items():
            entry = entry_key(element, self.ref.plan.workflow_graph)
            reader = pairs.get(entry)
            if reader is None or self.steps[reader].disabled:
                continue
            # What a person put in the place of the node may read anything.
            hidden = self._hidden_on_item(element, reader) if self._same(entry, reader) else []
            for variable in dict.fromkeys(names) if hidden else ():
                if self._mentions(element, variable):
                    first = min(hidden, key=lambda n: not self._writes(n, variable))
                    yield _describe_hidden(reader, variable, first)

    def _mentions(self, element: str, variable: str) -> bool:
        """Whether a compiled node of an element names a variable."""
        word = re.compile(rf"(?<!\w){re.escape(variable)}(?!\w)")
        return any(
            node.element == element and word.search(_join_texts(self.ref.nodes[key].parameters))
            for key, node in self.nodes.items()
        )

    def _hidden_on_item(self, element: str, reader: str) -> list[str]:
        """Nodes before a reader that may set variables, and whose values are not on its items."""
        pairs = self.matching.pairs
        own = {pairs.get(key) for key, node in self.nodes.items() if node.element == element}
        # A form that is asked again gets the item that its own question made.
        sources = [source for _, source in self.into[reader] if source not in own]
        lost = {n for source in sources for n in self.lost[source]}
        before = {n for n in self.setters if reader in list_reachable([n], self.ahead)}
        return [n for n in self.setters if n in before & lost and n not in own]

    def _early(self) -> Iterator[Difference]:
        """Nodes that make variables of answers, and that a run comes to around the form: n8n ends
        the run where they read it."""
        starts = [name for name, step in self.steps.items() if step.starts]
        forms = self.ref.plan.forms
        for key in self.carried.after:
            keep = self.nodes[key].action
            if not isinstance(keep, KeepAnswers | KeepVariables) or keep.step not in forms:
                continue
            form, data = (self.matching.pairs.get(k) for k in (keep.step, key))
            if form is None or data is None:
                continue
            if self.steps[data].disabled or form not in references_in(
                _join_texts(self.steps[data].parameters)
            ):
                continue
            if form not in starts and data in list_reachable(starts, self.ahead, frozenset({form})):
                yield Difference(
                    f"`{data}` reads the answers of `{form}`, which some run has not "
                    "reached by then"
                )

    # -- what a condition sees -----------------------------------------------------------------

    def _hidden(self, gateway: str, reader: str, variable: str, text: str) -> list[str]:
        """Nodes whose value of a variable the condition may have to read and cannot."""
        if not re.search(rf"\b{re.escape(variable)}\b", text):
            return []  # it reads something else now, which is reported
        wanted = [
            n for n in self.setters if reader in list_reachable([n], self.ahead) and n != reader
        ]
        pairs = self.matching.pairs
        beside = [pairs[k] for k in self.carried.beside.get((gateway, variable), ()) if k in pairs]
        seen: set[str] = set()
        if re.search(rf"\$json\s*(?:\?\.|\.|\[\s*[\"']){re.escape(variable)}\b", text):
            lost = self._incoming(reader)
            seen.update(n for n in wanted if n not in lost)
            latest = pairs.get(HelperKey(gateway, "latest"))
            if latest is not None and self._same(HelperKey(gateway, "latest"), latest):
                seen.update(beside)
        for name in references_in(text):
            if name not in self.steps:
                continue
            seen.add(name)
            past = frozenset({name})
            seen.update(
                n
                for n in self._upstream(name) - self.lost[name]
                if reader not in list_reachable(self.ahead[n], self.ahead, past)
            )
        return [n for n in dict.fromkeys((*wanted, *beside)) if n not in seen]

    def _writes(self, name: str, variable: str) -> bool:
        step = self.steps[name]
        written = (
            set_.written_fields(step.version, step.parameters) if step.short == "set" else None
        )
        return written is not None and variable in written

    # -- where values are lost -----------------------------------------------------------------

    def _lost(self) -> dict[str, frozenset[str]]:
        """For each node the setters whose value is not on the items that it hands on."""
        self.lost = dict.fromkeys(self.steps, _NOTHING)
        changed = True
        while changed:
            changed = False
            for name, step in self.steps.items():
                now = self.lost[name] | self._after(name, step)
                if now != self.lost[name]:
                    self.lost[name], changed = now, True
        return self.lost

    def _incoming(self, name: str) -> frozenset[str]:
        return frozenset(lost for _, source in self.into[name] for lost in self.lost[source])

    def _after(self, name: str, step: Node) -> frozenset[str]:
        coming = self._incoming(name)
        if step.disabled:
            return coming
        if step.starts:
            # the request is under `body`, where no condition reads it
            return frozenset({name}) if step.short == "webhook" else _NOTHING
        key = self.matching.key_of.get(name)
        if key in self.carried.after and self._keeps(key, name):
            return self._kept(key, name)
        if step.short == "merge":
            return coming | self._overwritten(name)
        kind = node_types.find_type(step.short)
        effect = kind.effect(step.version, step.parameters) if kind is not None else "unknown"
        if step.short == "set" and not set_.keeps_others(step.version, step.parameters):
            effect = "replace"
        if key in self.carried.steps:
            # a placeholder will be filled by a node that replaces the item
            kept = effect == "write" or (effect == "pass" and step.short != "noOp")
            return (coming if kept else self._upstream(name)) - {name}
        return self._upstream(name) if effect == "replace" else coming

    def _upstream(self, name: str, avoid: Iterable[str] = ()) -> frozenset[str]:
        past = frozenset(avoid)
        return frozenset(
            n
            for n in self.setters
            if n not in past and name in list_reachable([n], self.ahead, past)
        )

    def _overwritten(self, merge: str) -> frozenset[str]:
        """Setters of some branches only: the copy of another branch may be put over theirs."""
        inputs: dict[int, list[str]] = {}
        for number, source in self.into[merge]:
            inputs.setdefault(number, []).append(source)
        stop = frozenset({merge})
        overwritten = set()
        for setter in self._upstream(merge):
            ahead = list_reachable([setter], self.ahead, stop)
            if not all(any(s in ahead for s in sources) for sources in inputs.values()):
                overwritten.add(setter)
        return frozenset(overwritten)

    def _same(self, key: NodeKey, name: str) -> bool:
        was, now = self.ref.nodes[key], self.steps[name]
        return was.short == now.short and are_same_parameters(was, now, self.own, self.names)

    def _keeps(self, key: NodeKey, name: str) -> bool:
        """Whether a node still keeps variables: as compiled, or edited so that it writes each of
        them and still reads all nodes that it read."""
        if self._same(key, name):
            return True
        step = self.steps[name]
        if step.short not in ("set", "code"):
            return False
        text = _join_texts(step.parameters)
        before = [n for n in self._named(key) if n in self.steps]
        return all(re.search(rf"\b{re.escape(v)}\b", text) for v in self.carried.after[key]) and (
            set(before) <= set(references_in(text))
        )

    def _named(self, key: NodeKey) -> list[str]:
        """Nodes of this workflow that the compiled node reads, without the step before it."""
        owner = key.owner if isinstance(key, HelperKey) else key
        keys = list_read_nodes(self.nodes[key].action, self.ref.plan)
        return [self.matching.pairs.get(k, "") for k in dict.fromkeys(keys) if k != owner]

    def _kept(self, key: NodeKey, name: str) -> frozenset[str]:
        """What is lost behind a node that keeps variables."""
        assert isinstance(key, HelperKey)
        owner = self.matching.pairs.get(key.owner)
        before = self._named(key)
        if isinstance(self.nodes[key].action, KeepLatest):
            pairs = self.matching.pairs
            seen = {
                pairs[k]
                for (gateway, _), keys in self.carried.beside.items()
                if gateway == key.owner
                for k in keys
                if k in pairs
            }
            return self._incoming(name) - seen
        if not before:  # the start: the item holds the input of the run now
            return (
                _NOTHING
                if owner is not None and self.steps[owner].starts
                else (self._upstream(name) - {owner or ""})
            )
        lost = {n for b in before if b in self.lost for n in self.lost[b]}
        lost |= self._upstream(owner if owner is not None else name, before)
        joins = owner is not None and self.steps[owner].short == "merge"
        # behind an error event nothing is missing that the task which failed would have set
        event = self.ref.plan.graph.nodes.get(str(key.owner))
        host = event.attached_to if isinstance(event, Event) else None
        failed = {self.matching.pairs.get(host, "")} if host is not None else set()
        return frozenset(lost) - failed - (set() if joins else {owner or ""})


def _list_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _list_strings(inner)


def _join_texts(parameters: Mapping[str, Any]) -> str:
    """All texts of parameters, a line each."""
    return "\n".join(_list_strings(parameters))


def _describe_hidden(reader: str, variable: str, setter: str) -> Difference:
    return Difference(
        f"`{reader}` reads `{variable}`, but cannot see the value that `{setter}` sets: no node "
        "passes it on"
    )


def _node_text(step: Node) -> str:
    """What a node that keeps variables says."""
    text = step.parameters.get("jsonOutput", step.parameters.get("jsCode"))
    return text if isinstance(text, str) else step.type
