"""Added, removed, renamed or changed parts: nodes, conditions, parameters, connections,
settings."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from orgflow.backends.n8n.diff.behaviour import Decisions
from orgflow.backends.n8n.diff.decisions import Joint
from orgflow.backends.n8n.format.canonical_parameters import (
    canonical_value,
    parameters_of,
    read_flags,
)
from orgflow.backends.n8n.format.json_values import inside
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.references import follow_renames
from orgflow.backends.n8n.format.workflow_document import Wire, WorkflowDocument

from orgflow_ir.targets.comparison import Change, ChangeKind

_HOW = {
    "name": "by its name",
    "map": "by the map in the sticky note",
    "notes": "by its notes",
    "id": "by its id",
    "graph": "by its neighbours",
}
_MISSING = object()
_WHOLE = 64
"""Maximum number of paths through an added node that are combined."""


def list_changes(
    old: WorkflowDocument, new: WorkflowDocument, matching: Matching[str], decisions: Decisions
) -> tuple[Change, ...]:
    """Every change except layout, in order of relevance."""
    wires = _Wires(old, new, matching, decisions)
    return (
        *_name_changes(old, new, matching),
        *wires.steps(),
        *_condition_changes(matching, decisions),
        *_body_changes(old, new, matching, decisions),
        *wires.changes(),
        *_workflow_changes(old, new),
        *_note_changes(old, new),
        *_map_changes(old, new, matching),
    )


def _name_changes(
    old: WorkflowDocument, new: WorkflowDocument, matching: Matching[str]
) -> Iterator[Change]:
    for before, after in matching.renamed.items():
        how = f"found {_HOW[matching.how[after]]}"
        yield Change("renamed", "node", after, how, before, after)


# -- conditions and parameters -------------------------------------------------------------------


def _condition_changes(matching: Matching[str], decisions: Decisions) -> Iterator[Change]:
    for name, joint in decisions.joints.items():
        partner = matching.pairs[name]
        for change in joint.changed:
            yield Change("changed", "condition", partner, change.label, change.old, change.new)
        mine = [(r.atom, r.holds) for r in joint.old.rules]
        its = [(r.atom, r.holds) for r in joint.new.rules]
        if mine != its and sorted(mine) == sorted(its):
            if _is_order_free(joint):
                continue
            old, new = ([r.label or r.words for r in d.rules] for d in (joint.old, joint.new))
            detail = "its conditions are evaluated in another order"
            yield Change("changed", "condition", partner, detail, ", ".join(old), ", ".join(new))
        elif mine != its:
            for rule in joint.old.rules:
                if (rule.atom, rule.holds) not in its and rule.atom not in {a for a, _ in its}:
                    yield Change("removed", "condition", partner, rule.label, rule.words, None)
            for rule in joint.new.rules:
                if (rule.atom, rule.holds) not in mine and rule.atom not in {a for a, _ in mine}:
                    yield Change("added", "condition", partner, rule.label, None, rule.words)


def _is_order_free(joint: Joint) -> bool:
    """Whether it means nothing in which order the rules stand: all are tried, or each asks for a
    value of its own of one thing."""
    if joint.old.every and joint.new.every:
        return True
    asked = [
        rule.exclusive for rule in joint.old.rules if rule.exclusive is not None and rule.holds
    ]
    things = {thing for thing, _ in asked}
    return len(things) == 1 and len(set(asked)) == len(joint.old.rules)


def _in_old_order(joint: Joint, parameters: Any) -> Any:
    """Parameters of the new version of a Switch with its rules in the order of the old one."""
    values = inside(parameters, "rules", "values")
    places = {(rule.atom, rule.holds): rule.output for rule in joint.new.rules}
    asked = [(rule.atom, rule.holds) for rule in joint.old.rules]
    order = [places[name] for name in asked if name in places]
    whole = isinstance(values, list) and sorted(order) == list(range(len(values)))
    if not whole or order == sorted(order):
        return parameters
    rules = {**parameters["rules"], "values": [values[place] for place in order]}
    return {**parameters, "rules": rules}


def _body_changes(
    old: WorkflowDocument, new: WorkflowDocument, matching: Matching[str], decisions: Decisions
) -> Iterator[Change]:
    renamed = matching.renamed
    for name, partner in matching.pairs.items():
        mine, its = old.steps[name], new.steps[partner]
        if mine.type != its.type:
            yield Change("changed", "node", partner, "type", mine.type, its.type)
        elif mine.version != its.version:
            versions = f"{mine.version:g}", f"{its.version:g}"
            yield Change("changed", "node", partner, "type version", *versions)
        before = parameters_of(mine, follow_renames(mine.parameters, renamed))
        after = parameters_of(its, its.parameters)
        joint = decisions.joints.get(name)
        reported = joint is not None and bool(joint.changed)
        if joint is not None and its.short == "switch":
            after = _in_old_order(joint, after)
        for path, was, now in _find_differences(before, after, ""):
            if reported and _is_condition(path):
                continue
            yield _make_change("parameter", partner, path, was, now)
        for path, was, now in _find_differences(read_flags(mine), read_flags(its), ""):
            yield _make_change("setting", partner, path, was, now)
        words = mine.doc, its.doc
        if words[0] != words[1]:
            yield Change("changed", "note", partner, "", *words)


def _is_condition(path: str) -> bool:
    """Whether a path is inside what `_conditions` tells of: no option, no name of a branch."""
    inside = ".leftValue", ".rightValue", ".operator", ".value1", ".value2", ".operation"
    return ("conditions" in path or "rules" in path) and any(part in path for part in inside)


def _make_change(what: str, name: str, path: str, was: Any, now: Any) -> Change:
    kind = "added" if was is _MISSING else "removed" if now is _MISSING else "changed"
    return Change(kind, what, name, path, _text_value(was), _text_value(now))  # type: ignore[arg-type]


def _text_value(value: Any) -> str | None:
    if value is _MISSING:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _find_differences(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two values differ: path, old and new value."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            inner = f"{path}.{key}" if path else str(key)
            yield from _find_differences(old.get(key, _MISSING), new.get(key, _MISSING), inner)
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            was = old[index] if index < len(old) else _MISSING
            now = new[index] if index < len(new) else _MISSING
            yield from _find_differences(was, now, f"{path}[{index}]")
    elif type(old) is not type(new) or old != new:
        yield path, old, new


# -- nodes that are new or gone, and wires -------------------------------------------------------


class _Wires:
    """The wires of both versions under the new names; a node put into a wire, or taken out of one,
    is told of as that and not as wires."""

    def __init__(
        self,
        old: WorkflowDocument,
        new: WorkflowDocument,
        matching: Matching[str],
        decisions: Decisions,
    ) -> None:
        self.old, self.new, self.decisions = old, new, decisions
        self.added, self.removed = matching.added, matching.missing
        # A removed node is marked: one that was added may have its name.
        self.marked = {f"\0{n}": n for n in self.removed}
        names = {n: matching.pairs.get(n, f"\0{n}") for n in old.steps}
        outputs = _renumber_outputs(decisions, matching)
        before = Counter(
            replace(
                wire,
                source=names[wire.source],
                target=names[wire.target],
                output=outputs.get((wire.source, wire.output), wire.output),
            )
            for wire in old.wires
        )
        after = Counter(new.wires)
        self.lost, self.won = before - after, after - before
        self.between: dict[str, str] = {}
        self._fold_nodes(self.added, self.won, self.lost)
        self._fold_nodes(list(self.marked), self.lost, self.won)

    def _fold_nodes(self, names: Sequence[str], own: Counter[Wire], direct: Counter[Wire]) -> None:
        """Take the wires of nodes out of `own`, and out of `direct` the wires they were put into:
        each node is replaced by wires from what is before it to what is after it."""
        nodes = set(names)
        into: dict[str, list[Wire]] = defaultdict(list)
        out: dict[str, list[Wire]] = defaultdict(list)
        for wire in list(own):
            if wire.source in nodes or wire.target in nodes:
                into[wire.target].append(wire)
                out[wire.source].append(wire)
                del own[wire]
        for name in names:
            sides = (
                [self._shown_name(w.source) for w in into[name]],
                [self._shown_name(w.target) for w in out[name]],
            )
            if any(sides):
                self.between[name] = _changed_middle(*(list(dict.fromkeys(side)) for side in sides))
        done: set[str] = set()
        for name in names:
            done.add(name)
            arriving = [w for w in into[name] if w.source not in done]
            leaving = [w for w in out[name] if w.target not in done]
            if len(arriving) * len(leaving) > _WHOLE:
                continue
            for first, two in itertools.product(arriving, leaving):
                whole = replace(first, target=two.target, input=two.input)
                if whole.source in nodes or whole.target in nodes:
                    into[whole.target].append(whole)
                    out[whole.source].append(whole)
                elif direct[whole] > 0:
                    direct[whole] -= 1

    def steps(self) -> Iterator[Change]:
        """Nodes that are new or gone, with where they stand."""
        for name in self.added:
            kind = _short_type(self.new.steps[name].type)
            yield Change("added", "node", name, self.between.get(name, ""), None, kind)
        for name in self.removed:
            kind = _short_type(self.old.steps[name].type)
            yield Change("removed", "node", name, self.between.get(f"\0{name}", ""), kind, None)

    def changes(self) -> Iterator[Change]:
        """Wires that are new or gone."""
        for wire in sorted(+self.lost):
            text = self._wire_text(wire)
            yield Change("removed", "connection", text, "", text, None)
        for wire in sorted(+self.won):
            text = self._wire_text(wire)
            yield Change("added", "connection", text, "", None, text)

    def _shown_name(self, name: str) -> str:
        """The name of a node, marked or not."""
        return self.marked.get(name, name)

    def _wire_text(self, wire: Wire) -> str:
        kind = "" if wire.kind == "main" else f" ({wire.kind})"
        decision = self.decisions.new.get(wire.source)
        label = ""
        if decision is not None and wire.kind == "main":
            label = f" [{decision.label((wire.output,))}]"
        elif wire.output:
            label = f" [output {wire.output}]"
        slot = f" input {wire.input}" if wire.input else ""
        return (
            f"{self._shown_name(wire.source)}{label} → {self._shown_name(wire.target)}{slot}{kind}"
        )


def _short_type(full: str) -> str:
    """A type without its package."""
    return full.rsplit(".", 1)[-1]


def _changed_middle(before: list[str], after: list[str]) -> str:
    def name_some(names: list[str]) -> str:
        text = ", ".join(f"`{n}`" for n in names[:3])
        return text + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    if before and after:
        return f"between {name_some(before)} and {name_some(after)}"
    return f"after {name_some(before)}" if before else f"before {name_some(after)}"


def _renumber_outputs(decisions: Decisions, matching: Matching[str]) -> dict[tuple[str, int], int]:
    """Outputs of the old version under the numbers of the new, where the same data leave by them
    in both; only where that is one to one."""
    renumbered: dict[tuple[str, int], int] = {}
    for name, joint in decisions.joints.items():
        by_atom = {(r.atom, r.holds): r.output for r in joint.new.rules}
        numbers: dict[int, int] = {}
        for rule in joint.old.rules:
            if (rule.atom, rule.holds) in by_atom:
                numbers[rule.output] = by_atom[(rule.atom, rule.holds)]
                continue
            other, otherwise = by_atom.get((rule.atom, not rule.holds)), joint.new.otherwise
            if other is not None and otherwise is not None and len(joint.old.rules) == 1:
                numbers[rule.output] = otherwise
                if joint.old.otherwise is not None:
                    numbers[joint.old.otherwise] = other
        mine, its = joint.old.otherwise, joint.new.otherwise
        if mine is not None and its is not None:
            numbers.setdefault(mine, its)
        if len(set(numbers.values())) == len(numbers):
            renumbered.update({(name, number): to for number, to in numbers.items()})
    return renumbered


# -- the workflow itself -------------------------------------------------------------------------


def _workflow_changes(old: WorkflowDocument, new: WorkflowDocument) -> Iterator[Change]:
    if old.title != new.title:
        yield Change("renamed", "workflow", new.title, "", old.title, new.title)
    for path, was, now in _find_differences(
        canonical_value(old.settings), canonical_value(new.settings), ""
    ):
        yield _make_change("setting", "workflow", path, was, now)
    pinned = [canonical_value(flow.raw.get("pinData")) or {} for flow in (old, new)]
    if isinstance(pinned[0], Mapping) and isinstance(pinned[1], Mapping):
        for name in sorted(pinned[0].keys() ^ pinned[1].keys()):
            kind = "added" if name in pinned[1] else "removed"
            yield Change(kind, "pinned data", name)  # type: ignore[arg-type]
        for name in sorted(pinned[0].keys() & pinned[1].keys()):
            if pinned[0][name] != pinned[1][name]:
                yield Change("changed", "pinned data", name)


def _note_changes(old: WorkflowDocument, new: WorkflowDocument) -> Iterator[Change]:
    """Sticky notes by what they say; one that was edited is paired with one of those left."""
    lost = list((Counter(old.notes) - Counter(new.notes)).elements())
    won = list((Counter(new.notes) - Counter(old.notes)).elements())
    for before in list(lost):
        first = before.split("\n", 1)[0]
        alike = [text for text in won if text.split("\n", 1)[0] == first]
        if alike:
            lost.remove(before)
            won.remove(alike[0])
            yield Change("changed", "sticky note", _note_title(before), "", before, alike[0])
    for text in lost:
        yield Change("removed", "sticky note", _note_title(text), "", text, None)
    for text in won:
        yield Change("added", "sticky note", _note_title(text), "", None, text)


def _map_changes(
    old: WorkflowDocument, new: WorkflowDocument, matching: Matching[str]
) -> Iterator[Change]:
    """What the notes say of which node stands for which element, where both versions have the node
    (what is said of nodes that are new or gone goes with these)."""
    mine, its = old.map.nodes, new.map.nodes
    if bool(mine) is not bool(its):
        kind: ChangeKind = "removed" if mine else "added"
        yield Change(kind, "sticky note", "the map from the nodes to the model")
        return
    for name, partner in matching.pairs.items():
        # n8n's editor leaves the map as it is when a node is renamed.
        named = name == partner or (name in mine and partner in its)
        if named and mine.get(name) != its.get(partner):
            detail = "the element that the map in the sticky note names"
            yield Change(
                "changed", "sticky note", partner, detail, mine.get(name), its.get(partner)
            )


def _note_title(text: str) -> str:
    first = text.split("\n", 1)[0].lstrip("#* ").rstrip("* ")
    return first if len(first) <= 40 else first[:39] + "…"
