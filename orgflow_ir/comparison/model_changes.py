"""Compares two versions of a model: pairs processes and elements, then lists changes of behaviour
and other changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from orgflow_ir.flow.token_game.trace_equivalence import LIMIT, compare_processes
from orgflow_ir.model import Element, Event, Flow, Gateway, Model, Node, Process
from orgflow_ir.model.codec import to_json
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.value import Value
from orgflow_ir.targets.comparison import Behaviour, Change, Comparison, Kind, Part

_UNSAID = frozenset({"id", "diagram", "nodes", "flows"})
"""Fields whose changes are not reported separately: identity, the diagram, and lists whose items
are reported one by one."""

_KIND = frozenset({"kind", "task_type", "gateway_kind", "position", "flavour"})
"""Fields of a node that its construct implies."""

_LISTS = frozenset({"lanes", "data_objects", "data_flows", "artifacts"})


def compare_models(
    old: Model,
    new: Model,
    *,
    names: tuple[str, str],
    kind: Kind = "models",
    notes: tuple[str, ...] = (),
    limit: int = LIMIT,
) -> Comparison:
    """The changes from one model to the other, behaviour first.

    With the kind `model and workflow`, one of them was read from a workflow of a target. Gateways
    and wires then differ in form only, so the structural changes list only steps.
    """
    loose = kind == "model and workflow"
    parts = []
    for old_process, new_process, how in _pair_processes(old, new):
        if old_process is None or new_process is None:
            only = [p.label if p is not None else None for p in (old_process, new_process)]
            parts.append(Part(only[0], only[1], how))
            continue
        parts.append(_compare_part((old, old_process), (new, new_process), how, loose, limit))
    changes = () if loose else tuple(_compare_around(old, new))
    if changes and parts:
        parts[0] = parts[0]._replace(changes=(*parts[0].changes, *changes))
    elif changes:
        parts.append(Part(old.label, new.label, "name", Behaviour("same"), changes))
    return Comparison(names[0], names[1], kind, tuple(parts), notes)


def _compare_part(
    old: tuple[Model, Process], new: tuple[Model, Process], how: str, loose: bool, limit: int
) -> Part:
    old_process, new_process = old[1], new[1]
    pairs, found_by = _pair_elements(old_process, new_process, loose)
    silent = _added_stops(old_process, new_process) if loose else frozenset()
    if old_process == new_process:
        behaviour = Behaviour("same", 0, "both have the same content")
    else:
        behaviour = compare_processes(old, new, pairs, silent=silent, limit=limit)
    changes = tuple(_list_changes(old_process, new_process, pairs, found_by, loose, silent))
    if behaviour.verdict in ("same", "bounded"):
        behaviour = _with_assumptions(behaviour, changes, loose=loose)
    layout = not loose and old[0] != new[0]
    return Part(old_process.label, new_process.label, how, behaviour, changes, layout)


_UNREAD = frozenset({"name", "doc", "evidence"})
"""Fields of elements and processes that only people read."""


def _with_assumptions(behaviour: Behaviour, changes: Iterable[Change], *, loose: bool) -> Behaviour:
    """The behaviour with what has to hold of changes that the token game does not see."""
    assumed = list(_list_assumptions(changes))
    if loose:
        assumed.append("the steps and conditions of both do the same, which was not compared")
    verdict = "changed" if assumed and behaviour.verdict == "same" else behaviour.verdict
    return behaviour._replace(verdict=verdict, assumed=(*behaviour.assumed, *assumed))


def _list_assumptions(changes: Iterable[Change]) -> Iterator[str]:
    conditions = labels = False
    elements: list[str] = []
    for change in changes:
        if change.what == "condition" or (change.what == "flow" and "default" in change.detail):
            conditions = True
        elif change.what == "flow" and change.detail == "label":
            labels = True
        elif change.what not in ("element", "process") or change.kind != "changed":
            continue
        elif change.detail not in _UNREAD:
            elements.append(f"`{change.name}`")
    if conditions:
        yield "the changed conditions decide as before"
    if labels:
        yield "the branches with changed labels are taken as before"
    if elements:
        named = list(dict.fromkeys(elements))
        shown = join_listed(named if len(named) <= _MOST_NAMED else [
            *named[: _MOST_NAMED - 1], f"{len(named) - _MOST_NAMED + 1} more",
        ])  # fmt: skip
        yield f"{shown} {'does' if len(named) == 1 else 'do'} the same as before"


_MOST_NAMED = 4
"""Maximum number of changed elements that an assumption names."""


def _added_stops(old: Process, new: Process) -> frozenset[str]:
    """Ends that only one side has and that a compiler adds where no branch fits."""
    mine, its = _all_nodes(old), _all_nodes(new)
    return frozenset(
        id
        for id, node in {**mine, **its}.items()
        if (id in mine) != (id in its) and isinstance(node, Event) and node.derived_from
    )


# -- pairing -------------------------------------------------------------------------------------


def _pair_processes(old: Model, new: Model) -> Iterator[tuple[Process | None, Process | None, str]]:
    rest = [p for p in old.processes if p.nodes]
    fresh = [p for p in new.processes if p.nodes]
    partners: dict[str, tuple[Process, str]] = {}
    for how in ("id", "name"):
        for process in fresh:
            if process.id in partners:
                continue
            same = [
                p for p in rest if p.id == process.id or (how == "name" and _same_name(p, process))
            ]
            if len(same) == 1:
                partners[process.id] = (same[0], how)
                rest.remove(same[0])
    left = [p for p in fresh if p.id not in partners]
    if len(left) == len(rest) == 1:
        partners[left[0].id] = (rest.pop(), "only one")
    for process in fresh:
        pair = partners.get(process.id)
        yield (pair[0], process, pair[1]) if pair else (None, process, "")
    for process in rest:
        yield process, None, ""


def _same_name(old: Process, new: Process) -> bool:
    return bool(old.name.strip()) and old.label == new.label


def _all_nodes(process: Process) -> dict[str, Node]:
    return {n.id: n for scope in process.scopes() for n in scope.nodes}


def _pair_elements(
    old: Process, new: Process, loose: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Pairs of nodes by id (of one kind, unless `loose`), then by label where it is the only one of
    its kind; and how."""
    mine, its = _all_nodes(old), _all_nodes(new)
    pairs = {i: i for i, n in mine.items() if i in its and (loose or its[i].kind == n.kind)}
    how = dict.fromkeys(pairs, "id")
    taken = set(pairs.values())
    left = _by_label(n for id, n in mine.items() if id not in pairs)
    right = _by_label(n for id, n in its.items() if id not in taken)
    for label, ids in left.items():
        if len(ids) == 1 and len(right.get(label, ())) == 1:
            pairs[ids[0]] = right[label][0]
            how[ids[0]] = "name"
    return {id: pairs[id] for id in mine if id in pairs}, how


def _by_label(nodes: Iterable[Node]) -> dict[tuple[str, str], list[str]]:
    ids: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        if node.name.strip():
            ids.setdefault((node.kind, node.label), []).append(node.id)
    return ids


# -- changes -------------------------------------------------------------------------------------


def _list_changes(
    old: Process,
    new: Process,
    pairs: Mapping[str, str],
    how: Mapping[str, str],
    loose: bool,
    silent: frozenset[str],
) -> Iterator[Change]:
    mine, its = _all_nodes(old), _all_nodes(new)
    partner = {v: k for k, v in pairs.items()}
    steps = [n for n in mine.values() if n.id not in pairs and _is_listed(n, loose, silent)]
    fresh = [n for n in its.values() if n.id not in partner and _is_listed(n, loose, silent)]
    for id, other in pairs.items():
        was, now = mine[id], its[other]
        if loose and Gateway in (type(was), type(now)):
            continue  # its name says nothing of what is done
        if was.label != now.label and (was.name.strip() or now.name.strip()):
            yield Change("renamed", "element", now.label, f"found by its {how[id]}", was.label,
                         now.label)  # fmt: skip
    for node in fresh:
        yield Change("added", "element", node.label, "", None, node.construct)
    for node in steps:
        yield Change("removed", "element", node.label, "", node.construct, None)
    if loose:
        return
    for id, other in pairs.items():
        if mine[id].construct != its[other].construct:
            yield Change("changed", "element", its[other].label, "kind", mine[id].construct,
                         its[other].construct)  # fmt: skip
        yield from _field_changes(mine[id], its[other], "element", pairs)
    yield from _flow_changes(old, new, pairs, mine, its)
    yield from _field_changes(old, new, "process", pairs)


def _is_listed(node: Node, loose: bool, silent: frozenset[str]) -> bool:
    if not loose:
        return True
    return not isinstance(node, Gateway) and node.id not in silent


def _flow_changes(
    old: Process, new: Process, pairs: Mapping[str, str], mine: Mapping[str, Node],
    its: Mapping[str, Node],
) -> Iterator[Change]:  # fmt: skip
    """Flows by their ends; several between the same two by name, then in order."""
    # Ids of removed nodes are marked; an end outside the process keeps its id.
    before = _by_ends(old, lambda id: pairs.get(id, f"\0{id}" if id in mine else id))
    after = _by_ends(new, lambda id: id)
    for ends in dict.fromkeys((*before, *after)):
        for was, now in _pair_flows(before.get(ends, []), after.get(ends, [])):
            if was is not None and now is not None:
                yield from _compare_flow(was, now, _flow_arrow(now, its))
            elif now is not None:
                text = _flow_arrow(now, its)
                yield Change("added", "flow", text, "", None, text)
            elif was is not None:
                text = _flow_arrow(was, mine)
                yield Change("removed", "flow", text, "", text, None)


_ALIKE: tuple[Callable[[Flow], object], ...] = (
    lambda f: (f.name, f.condition, f.default, f.id),
    lambda f: (f.name, f.condition, f.default),
    lambda f: (f.name, f.id),
    lambda f: f.name,
)


def _pair_flows(before: list[Flow], after: list[Flow]) -> Iterator[tuple[Flow | None, Flow | None]]:
    """Flows between the same ends, each in one pair: the most alike first."""
    left, right = list(before), list(after)
    for by in _ALIKE:
        for was in list(left):
            now = next((f for f in right if by(f) == by(was)), None)
            if now is not None:
                left.remove(was)
                right.remove(now)
                yield was, now
    yield from zip_longest(left, right)


def _compare_flow(was: Flow, now: Flow, arrow: str) -> Iterator[Change]:
    if _fold_spaces(was.name) != _fold_spaces(now.name):
        yield Change(
            "changed", "flow", arrow, "label", _fold_spaces(was.name), _fold_spaces(now.name)
        )
    texts = [f.condition.text if f.condition is not None else None for f in (was, now)]
    if texts[0] != texts[1]:
        kind = "added" if texts[0] is None else "removed" if texts[1] is None else "changed"
        yield Change(kind, "condition", arrow, "", texts[0], texts[1])  # type: ignore[arg-type]
    if was.default is not now.default:
        detail = "it is the default now" if now.default else "it is no longer the default"
        yield Change("changed", "flow", arrow, detail)


def _by_ends(process: Process, name: Any) -> dict[tuple[str, str], list[Flow]]:
    flows: dict[tuple[str, str], list[Flow]] = {}
    for scope in process.scopes():
        for flow in scope.flows:
            flows.setdefault((name(flow.source), name(flow.target)), []).append(flow)
    return flows


def _flow_arrow(flow: Flow, nodes: Mapping[str, Node]) -> str:
    ends = [
        nodes[id].label if id in nodes else id or "nowhere" for id in (flow.source, flow.target)
    ]
    label = _fold_spaces(flow.name)
    return f"{ends[0]}{f' [{label}]' if label else ''} → {ends[1]}"


def _fold_spaces(text: str) -> str:
    return " ".join(text.split())


def _field_changes(
    old: Element, new: Element, what: str, pairs: Mapping[str, str]
) -> Iterator[Change]:
    """Other fields of an element that are not equal."""
    for field, was in old.content().items():
        if field in _UNSAID or (what == "element" and (field == "name" or field in _KIND)):
            continue
        now = new.__dict__.get(field)
        if field == "attached_to" and was is not None:
            was = pairs.get(was, was)
        if field in _LISTS:
            yield from _listed_changes(field, was, now, pairs)
        elif was != now:
            field_words = field.replace("_", " ")
            yield Change(
                "changed", what, new.label, field_words, _value_text(was), _value_text(now)
            )


def _listed_changes(
    field: str, was: tuple[Element, ...], now: Any, pairs: Mapping[str, str]
) -> Iterator[Change]:
    """Lanes, data and artifacts, by id, then by name."""
    what = field.removesuffix("s").replace("_", " ")
    theirs: dict[str, Element] = {e.id: e for e in now or ()}
    by_name = {e.label: e for e in now or ()}
    seen: set[str] = set()
    for old_element in was:
        new_element = theirs.get(old_element.id) or by_name.get(old_element.label)
        if new_element is None or new_element.id in seen:
            yield Change("removed", what, old_element.label)
            continue
        seen.add(new_element.id)
        for name, value in old_element.content().items():
            if name == "id":
                continue
            if name == "members":
                value = tuple(sorted(pairs.get(m, m) for m in value))
                other: Any = tuple(sorted(new_element.__dict__[name]))
            else:
                other = new_element.__dict__.get(name)
                value = pairs.get(value, value) if isinstance(value, str) else value
            if value != other:
                field_words = name.replace("_", " ")
                yield Change(
                    "changed",
                    what,
                    new_element.label,
                    field_words,
                    _value_text(value),
                    _value_text(other),
                )
    for new_element in now or ():
        if new_element.id not in seen:
            yield Change("added", what, new_element.label)


def _compare_around(old: Model, new: Model) -> Iterator[Change]:
    """What stands beside the processes: pools, messages, the catalogue."""
    for field in ("pools", "message_flows", "correlation_keys", "artifacts", "opaque"):
        yield from _listed_changes(field, old.__dict__[field], new.__dict__[field], {})
    for field in ("messages", "signals", "errors", "escalations"):
        yield from _listed_changes(
            field, getattr(old.catalog, field), getattr(new.catalog, field), {}
        )


_PROVENANCE = ("loc", "origin", "derived_from", "evidence")


def _value_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, Value):
        return to_json(value, exclude_defaults=True, exclude=_PROVENANCE)
    if isinstance(value, tuple):
        return ", ".join(_value_text(item) or "" for item in value)
    return str(value)
