"""How a node that decides reads a gateway's decision: by conditions, not by where its wires go.

Conditions are compared as text, with every `$('Name')` replaced by what that node stands for, so
that renamed nodes change nothing. A condition that the reference has too says which branch it is
true for; any other is *changed*: it is reported, and taken to choose as the one in its place did.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from orgflow.backends.n8n.branching import condition
from orgflow.backends.n8n.decisions import Decision
from orgflow.backends.n8n.format import TYPE_PREFIX
from orgflow.backends.n8n.machine.merges import is_expression
from orgflow.backends.n8n.verify.matching import Matching, Row
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.verification import Changed

_REFERENCE = re.compile(r"\$\(\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")\s*\)")
_READ = re.compile(
    r"\(\$\(@(?P<key>[^)]*)\)\.isExecuted \? \$\(@(?P=key)\)\.last\(0\)\.json\.(?P<path>[\w.?]+)"
    r" : undefined\)"
)
_MOST_UNKNOWN = 4

Predicate = frozenset[str]
"""True where any of these branches (flow ids of the sketch) is taken."""


class Key(NamedTuple):
    """A gateway of the sketch and what a condition of it is true for."""

    gateway: str
    predicate: Predicate


@dataclass(frozen=True)
class Reader:
    """A node that decides.

    Attributes:
        gateway: the gateway of the sketch whose decision it reads.
        main: whether it stands for the gateway, so that the model's step belongs to it.
        predicates: for each rule what it is true for; None where nobody knows.
        every: whether all outputs with a true condition are taken, or only the first.
        fallback: the output taken where none is true; None: the items are dropped.
        broken: names of nodes that it reads and that are not there.
    """

    gateway: str
    main: bool
    predicates: tuple[Predicate | None, ...]
    every: bool
    fallback: int | None
    broken: tuple[str, ...] = ()

    def outputs(self, taken: frozenset[str]) -> Iterator[tuple[int, ...]]:
        """Outputs by which an item leaves when the branches `taken` are decided for; several
        answers where a rule is unknown."""
        free = [i for i, p in enumerate(self.predicates) if p is None][:_MOST_UNKNOWN]
        for values in itertools.product((True, False), repeat=len(free)):
            chosen = dict(zip(free, values, strict=True))
            true = [
                i
                for i, p in enumerate(self.predicates)
                if (chosen.get(i, False) if p is None else bool(p & taken))
            ]
            if not self.every:
                true = true[:1]
            if true:
                yield tuple(true)
            else:
                yield () if self.fallback is None else (self.fallback,)


def readers(
    ref: Reference, matching: Matching, workflow: Row
) -> tuple[dict[str, Reader], list[Changed]]:
    """The deciding nodes of `workflow` by name, and the expressions in them that have changed."""
    rows = {row["name"]: row for row in workflow["nodes"]}
    own = _Names({n.name: key for key, n in ref.emission.sketch.nodes.items()}, None)
    names = _Names(matching.key_of, set(rows))
    known = _known(ref, own)
    found: dict[str, Reader] = {}
    changed: list[Changed] = []
    for name, key in matching.key_of.items():
        sketched = ref.emission.sketch.nodes[key]
        if sketched.type not in ("if", "switch") or sketched.element not in ref.emission.decisions:
            continue
        before = _rules(ref.nodes[key])
        now = _rules(rows[name])
        if before is None:
            continue
        if now is None:
            changed.append(
                Changed(name, sketched.element, _said(before.texts(own)), "another node")
            )
            continue
        reader, notes = _reader(name, key, before, now, known, own, names, ref)
        found[name] = reader
        changed += notes
    return found, changed


class _Rules(NamedTuple):
    """What decides in an If or Switch: a filter a rule, and what happens to the rest."""

    filters: tuple[Mapping[str, Any], ...]
    labels: tuple[str, ...]
    loose: bool
    every: bool
    fallback: int | None

    def texts(self, names: _Names) -> tuple[str, ...]:
        return tuple(names.canonical(f, self.loose) for f in self.filters)


class _Names:
    """Replaces node names in expressions by what the nodes stand for."""

    def __init__(self, key_of: Mapping[str, str], existing: set[str] | None) -> None:
        self.key_of = key_of
        self.existing = existing

    def canonical(self, filter_: Mapping[str, Any], loose: bool) -> str:
        """A text that two filters share exactly where they mean the same."""
        options = filter_.get("options") or {}
        conditions = [
            [
                self.told(c.get("leftValue")),
                self.told(c.get("rightValue")),
                (c.get("operator") or {}).get("type"),
                (c.get("operator") or {}).get("operation"),
            ]
            for c in filter_.get("conditions") or ()
        ]
        validation = "loose" if loose else options.get("typeValidation", "strict")
        combinator = filter_.get("combinator", "and") if len(conditions) > 1 else "and"
        case = bool(options.get("caseSensitive", True))
        return json.dumps([conditions, combinator, validation, case], ensure_ascii=False)

    def told(self, value: Any) -> Any:
        """A value with the references in it replaced; white space around an expression is none."""
        if not isinstance(value, str):
            return value
        text = _REFERENCE.sub(lambda m: f"$(@{self.key_of.get(_name(m), '?' + _name(m))})", value)
        if is_expression(text):
            inner = text[1:].strip()
            if inner.startswith("{{") and inner.endswith("}}") and inner.count("{{") == 1:
                inner = " ".join(inner[2:-2].split())
                return "={{ " + inner + " }}"
        return text

    def missing(self, value: Any) -> list[str]:
        """Nodes that an expression names and that are not there."""
        if not isinstance(value, str) or self.existing is None or not is_expression(value):
            return []
        names = [_name(m) for m in _REFERENCE.finditer(value)]
        return [name for name in names if name not in self.existing]


def _name(match: re.Match[str]) -> str:
    raw = match[1] if match[1] is not None else match[2]
    text = raw.replace("\\u007b", "{").replace("\\u007d", "}")
    return re.sub(r"\\(.)", r"\1", text)


def _rules(row: Mapping[str, Any]) -> _Rules | None:
    """The rules of a node; None where it is no If or Switch of a version with filters."""
    version = float(row.get("typeVersion", 1))
    parameters: Mapping[str, Any] = row.get("parameters") or {}
    options = parameters.get("options") or {}
    loose = bool(parameters.get("looseTypeValidation") or options.get("looseTypeValidation"))
    match str(row.get("type", "")).removeprefix(TYPE_PREFIX):
        case "if" if version >= 2:
            return _Rules((parameters.get("conditions") or {},), ("true",), loose, False, 1)
        case "switch" if version >= 3 and parameters.get("mode", "rules") == "rules":
            values = (parameters.get("rules") or {}).get("values") or ()
            fallback: Any = options.get("fallbackOutput", "none")
            place = len(values) if fallback == "extra" else None
            if isinstance(fallback, int):
                place = fallback
            return _Rules(
                tuple(v.get("conditions") or {} for v in values),
                tuple(str(v.get("outputKey", "")) for v in values),
                loose,
                bool(options.get("allMatchingOutputs")),
                place,
            )
    return None


def _known(ref: Reference, names: _Names) -> dict[str, list[Key]]:
    """What every condition that the compiler made for a gateway is true for."""
    found: dict[str, list[Key]] = {}
    for gateway, decision in ref.emission.decisions.items():
        for branch in decision.branches:
            if branch.kind != "default":
                made: dict[str, Any] = {
                    "conditions": [condition(decision, branch, ref.emission, "")],
                    "options": {"caseSensitive": True},
                }
                key = Key(gateway, frozenset({branch.flow.id}))
                found.setdefault(names.canonical(made, True), []).append(key)
        rules = _rules(ref.nodes[gateway])
        if rules is not None and len(rules.filters) == 1:
            text = rules.texts(names)[0]
            if gateway not in [k.gateway for k in found.get(text, ())]:
                found.setdefault(text, []).append(Key(gateway, _any_branch(decision)))
    return found


def _any_branch(decision: Decision) -> Predicate:
    return frozenset(b.flow.id for b in decision.branches if b.kind != "default")


def _reader(
    name: str,
    key: str,
    before: _Rules,
    now: _Rules,
    known: Mapping[str, list[Key]],
    own: _Names,
    names: _Names,
    ref: Reference,
) -> tuple[Reader, list[Changed]]:
    gateway = ref.emission.sketch.nodes[key].element
    texts, wanted = now.texts(names), before.texts(own)
    predicates = [_predicate(text, gateway, known) for text in texts]
    changed: list[Changed] = []
    left = [i for i, text in enumerate(wanted) if text not in texts]
    for place, predicate in enumerate(predicates):
        if predicate is not None:
            continue
        was = _stands_for(place, left, before, now)
        said = _said([wanted[was]]) if was is not None else "no such rule"
        changed.append(Changed(name, gateway, said, _said([texts[place]])))
        if was is not None:
            left.remove(was)
            predicates[place] = _predicate(wanted[was], gateway, known)
    broken = [
        missing
        for f in now.filters
        for c in f.get("conditions") or ()
        for side in ("leftValue", "rightValue")
        for missing in names.missing(c.get(side))
    ]
    reader = Reader(
        gateway,
        key == gateway,
        tuple(predicates),
        now.every,
        now.fallback,
        tuple(dict.fromkeys(broken)),
    )
    return reader, changed


def _stands_for(place: int, left: list[int], before: _Rules, now: _Rules) -> int | None:
    """The rule of the reference that an unknown rule took the place of: the one with its label,
    else the one at its place."""
    for was in left:
        if len(before.labels) > 1 and before.labels[was] == now.labels[place]:
            return was
    if place in left:
        return place
    return left[0] if len(left) == 1 and len(before.filters) == len(now.filters) else None


def _predicate(text: str, gateway: str, known: Mapping[str, list[Key]]) -> Predicate | None:
    keys = [k for k in known.get(text, ()) if k.gateway == gateway]
    return keys[0].predicate if keys else None


def _said(texts: Iterable[str]) -> str:
    """Conditions for people: left side, operation, right side; our own way to read a field of the
    node that sets it is told as `field of node`."""
    parts = []
    for text in texts:
        conditions, combinator, *_ = json.loads(text)
        told = []
        for left, right, _, operation in conditions:
            sides = [_plain(side) for side in (left, right)]
            told.append(f"{sides[0]} {operation or 'is'} {sides[1]}".strip())
        parts.append(f" {combinator} ".join(told) or "nothing")
    return "; ".join(parts)


def _plain(value: Any) -> str:
    if not isinstance(value, str):
        return "" if value is None else json.dumps(value, ensure_ascii=False)
    if value.startswith("={{ ") and value.endswith(" }}"):
        value = value[4:-3]
    value = _READ.sub(lambda m: f"{m['path'].replace('?', '')} of {_element(m['key'])}", value)
    return value.replace("$(@", "$(").replace("\x00", " ")


def _element(key: str) -> str:
    return key.partition("\x00")[0]
