"""The fields of items at each place: a data flow over the connections, for known nodes.

A field is followed from the Set node that writes it. Additions by other nodes are unknown and never
guessed; after a node of unknown output, nothing is reported.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final, Literal

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.json_values import inside, rows
from orgflow.backends.n8n.format.workflow_document import Node, Path
from orgflow.backends.n8n.lint.expressions import javascript_parameters, read_texts
from orgflow.backends.n8n.lint.linted_workflow import Workflow, field_after
from orgflow.backends.n8n.node_types import set_
from orgflow.backends.n8n.node_types.node_type import Effect

from orgflow_ir.model.records import dataclass

_PASSING: Final = frozenset({"sort", "removeDuplicates"})
"""Types that are not in `node_types` and keep the fields of an item."""

_ITEM: Final = re.compile(
    r"\$json\b|\$input\.item\.json\b|\$input\.(?:first|last)\(\)\.json\b|\bitems?\[0\]\.json\b"
)
_CALL_FIELDS: Final = frozenset(
    {"headers", "params", "query", "body", "webhookUrl", "executionMode"}
)


class Fields(dict[str, frozenset[int]]):
    """Field → the nodes that may have written it."""


@dataclass
class State:
    """The possible content of the items at a place.

    Attributes:
        fields: fields and the Set nodes they may come from.
        dropped: fields that were lost when a node replaced the item: writer and replacer.
        sure: fields that exist on every path, from these writers only.
    """

    fields: Fields = field(default_factory=Fields)
    dropped: dict[str, frozenset[tuple[int, int]]] = field(default_factory=dict)
    sure: frozenset[str] | None = None

    def join(self, other: State, *, sure: bool = True) -> bool:
        """Merge another path to the same place; returns whether that changed anything."""
        changed = False
        for name, writers in other.fields.items():
            grown = self.fields.get(name, frozenset()) | writers
            changed |= grown != self.fields.get(name)
            self.fields[name] = grown
        for name, pairs in other.dropped.items():
            lost = self.dropped.get(name, frozenset()) | pairs
            changed |= lost != self.dropped.get(name)
            self.dropped[name] = lost
        coming = (other.sure or frozenset()) if sure else frozenset()
        met = coming if self.sure is None else self.sure & coming
        changed |= met != self.sure
        self.sure = met
        return changed


@dataclass
class Items:
    """The states: `at[node][input]` before a node."""

    workflow: Workflow
    at: dict[int, dict[int, State]] = field(default_factory=dict)

    def before(self, node: int) -> State:
        """All inputs together."""
        joined = State()
        slots = self.at.get(node, {})
        for state in slots.values():
            joined.join(state, sure=len(slots) == 1)
        return joined


def follow_fields(workflow: Workflow) -> Items:
    """The states of a workflow, to their fixed point."""
    items = Items(workflow)
    todo = deque(n.index for n in workflow.nodes if n.starts)
    seen = set(todo)
    queued = set(todo)
    while todo:
        index = todo.popleft()
        queued.discard(index)
        after = _state_after(workflow.nodes[index], items)
        for wire in workflow.out[index]:
            state = items.at.setdefault(wire.target, {}).setdefault(wire.slot, State())
            if state.join(after) or wire.target not in seen:
                seen.add(wire.target)
                if wire.target not in queued:
                    queued.add(wire.target)
                    todo.append(wire.target)
    return items


def field_effect(node: Node) -> Effect | Literal["start"]:
    """The effect of a node on the fields of an item."""
    if node.trigger:
        return "start"
    kind = node_types.find_type(node.short)
    if node.disabled or node.short in _PASSING:
        return "pass"
    return kind.effect(node.version, node.parameters) if kind is not None else "unknown"


def is_limited(node: Node) -> bool:
    """Whether the input may be passed on after a time limit."""
    return node.parameters.get("limitWaitTime") is True


def _state_after(node: Node, items: Items) -> State:
    before = items.before(node.index)
    match field_effect(node):
        case "pass":
            return before
        case "write":
            names = written_fields(node)
            assert names is not None
            kept = (
                before
                if set_.keeps_others(node.version, node.parameters)
                else State(sure=frozenset())
            )
            fields = Fields(kept.fields)
            fields.update((name, frozenset({node.index})) for name in names)
            dropped = {k: v for k, v in kept.dropped.items() if k not in names}
            return State(fields, dropped, (kept.sure or frozenset()) | names.keys())
        case "replace":
            lost = dict(before.dropped)
            for name, writers in before.fields.items():
                lost[name] = lost.get(name, frozenset()) | {(w, node.index) for w in writers}
            given = provided_fields(node)
            return State(Fields(), {k: v for k, v in lost.items() if k not in given}, frozenset())
    return State(sure=frozenset())


def provided_fields(node: Node) -> frozenset[str]:
    """Fields that a node which replaces the item is known to output."""
    if node.short == "wait" and node.parameters.get("resume") == "webhook":
        return _CALL_FIELDS
    if node.short in ("form", "wait"):
        names = {"submittedAt", "formMode"}
        for row in rows(node.inside("formFields", "values")):
            names |= {str(row[k]) for k in ("fieldLabel", "fieldName") if k in row}
        return frozenset(names)
    return frozenset()


def written_fields(node: Node) -> Mapping[str, Mapping[str, Any]] | None:
    """Fields that a Set writes, with their rows; `None` if they are unknown."""
    return set_.written_fields(node.version, node.parameters)


def read_fields(node: Node) -> Iterator[tuple[str, Path]]:
    """Fields of its own item that a node reads, each once, with the place."""
    if node.disabled:
        return
    code = javascript_parameters(node.short)
    reported: set[str] = set()
    for path, text in read_texts(node):
        if not text.startswith("=") and not (len(path) == 1 and path[0] in code):
            continue
        for match in _ITEM.finditer(text):
            name = field_after(text, match.end())
            if name is not None and name not in reported:
                reported.add(name)
                yield name, path


def clash_winner(node: Node) -> Literal["first", "last", "none"]:
    """The input whose value a Merge by position keeps for a field of several inputs."""
    how = inside(node.parameters, "options", "clashHandling", "values", "resolveClash")
    if how in (None, "preferLast"):
        return "last"
    if how == "preferInput1":
        return "first"
    count = node.parameters.get("numberInputs", 2)
    return "last" if how == f"preferInput{count}" else "none"
