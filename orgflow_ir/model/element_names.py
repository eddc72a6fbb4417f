"""Names of elements in messages, by label or neighbours, and names derived from labels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final

from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model.elements import (
    Artifact,
    CallActivity,
    CatalogEntry,
    DataObject,
    Element,
    Event,
    Flow,
    Gateway,
    Lane,
    MessageFlow,
    Model,
    Node,
    Pool,
    Process,
    Scope,
    SubProcess,
    Task,
)

_FOLD = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "đ": "d", "ł": "l", "Æ": "AE", "Ø": "O"})


@lru_cache(maxsize=4096)  # most labels are named several times
def one_line(text: str) -> str:
    """The text without control characters and lone surrogates, white space folded."""
    if not text.isprintable():  # which all but few labels are
        bad = ("Cc", "Cs", "Zl", "Zp")
        text = "".join(" " if unicodedata.category(c) in bad else c for c in text)
    return " ".join(text.split())


def slug(text: str, *, words: int = 8) -> str:
    """A field name: lower-case ASCII words joined by `_`; empty if none is left."""
    ascii_text = unicodedata.normalize("NFKD", text.translate(_FOLD))
    ascii_text = ascii_text.encode("ascii", "ignore").decode().lower()
    parts = re.findall(r"[a-z0-9]+", ascii_text.replace("'", ""))
    return "_".join(parts[:words])


def file_names(labels: Iterable[str], suffix: str) -> list[str]:
    """A file name for each label, unique on every file system:
    `["Order", "Order", "注文"]` with `.md` gives `order.md`, `order-2.md`, `process.md`."""
    names: list[str] = []
    for label in labels:
        stem = slug(label).replace("_", "-")[:60].strip("-") or "process"
        if _RESERVED.fullmatch(stem):
            stem = f"process-{stem}"
        name, number = stem, 2
        while f"{name}{suffix}" in names:
            name, number = f"{stem}-{number}", number + 1
        names.append(f"{name}{suffix}")
    return names


_RESERVED = lazy_pattern(r"con|prn|aux|nul|(?:com|lpt)\d")
"""Names that Windows reserves for devices."""


def unique(values: Iterable[str], fallback: str) -> list[str]:
    """The values in order, each made non-empty and unique."""
    result: list[str] = []
    for value in values:
        base = value or fallback
        candidate, number = base, 2
        while candidate in result:
            candidate = f"{base} ({number})"
            number += 1
        result.append(candidate)
    return result


CALLED = " (called by "
"""Separates the name of a process of another file from that of its caller."""


def collect_labels(model: Model) -> dict[str, str]:
    """The labels of nodes and flows by id."""
    return {part.id: part.label for s in model.scopes() for part in (*s.nodes, *s.flows)}


def title(model: Model, process: Process) -> str:
    """The name for the result of a process: that of the process, its pool, the model or the
    file."""
    pool = next((p.name for p in model.pools if p.process == process.id), "")
    stem = model.source.replace("\\", "/").rsplit("/", 1)[-1].split(".")[0]
    names = (process.name, pool, model.name, stem)
    name = next((one_line(n) for n in names if one_line(n)), "Process")
    if is_taken_over(process, model):
        caller = title(model, next(p for p in model.processes if not is_taken_over(p, model)))
        return f"{name}{CALLED}{caller})"
    return name


def is_taken_over(process: Process, model: Model) -> bool:
    """Whether a process comes from a file other than the model that calls it."""
    file = process.loc.file if process.loc is not None else ""
    return file not in ("", model.source) and process is not model.processes[0]


# -- names in messages -----------------------------------------------------------------------------

_GATEWAYS = {
    "exclusive": "exclusive gateway", "parallel": "parallel gateway",
    "inclusive": "inclusive gateway", "event": "event-based gateway",
    "complex": "complex gateway",
}  # fmt: skip
_POSITIONS = {
    "start": "start event", "end": "end event", "catch": "intermediate event",
    "throw": "intermediate event", "boundary": "boundary event",
}  # fmt: skip
_OTHERS: Mapping[type[Element], str] = {
    Flow: "flow", MessageFlow: "message flow", Process: "process", Pool: "pool",
    Lane: "lane", DataObject: "data object", CatalogEntry: "definition", Model: "model",
}  # fmt: skip


def kind_words(element: Element) -> str:
    """The kind of an element, without an article: `user task`, `message start event`, `lane`."""
    match element:
        case Task():
            kind = element.task_type.replace("-", " ")
            return "task" if kind == "abstract" else f"{kind} task"
        case CallActivity():
            return "call activity"
        case SubProcess():
            flavour = {"plain": "", "event": "event ", "ad-hoc": "ad-hoc "}.get(element.flavour)
            return "transaction" if flavour is None else f"{flavour}sub-process"
        case Event():
            trigger = "" if element.trigger == "none" else f"{element.trigger} "
            return trigger + _POSITIONS[element.position]
        case Gateway():
            return _GATEWAYS[element.gateway_kind]
        case Artifact():
            return element.artifact_kind
        case _:
            return _OTHERS.get(type(element), "element")


def join_listed(items: Iterable[str], *, last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    *some, end = items
    return f"{', '.join(some)} {last} {end}" if some else end


_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip


_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}


def ordinal_word(number: int) -> str:
    """`first` to `tenth`, then `11th`, `22nd`."""
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    return f"{number}{_SUFFIXES.get(last, 'th')}"


_FLOWS: Final = (Flow, MessageFlow)


class ElementNames:
    """The names of the elements of a model or of one scope in messages.

    The label in backticks or, without one, the kind of the element and its neighbour ("the
    exclusive gateway after `Check`", "the flow from `A` to `B`"). An id, which the author of a
    diagram has not seen, is used only if nothing else is known. Of a model there is one a
    context: `ctx.analysis(ElementNames, model)`.
    """

    def __init__(self, of: Model | Scope) -> None:
        scopes = tuple(of.scopes())
        self.nodes: dict[str, Node] = {n.id: n for scope in scopes for n in scope.nodes}
        self._scope_of = {n.id: scope for scope in scopes for n in scope.nodes}
        self._others: dict[str, Element] = {scope.id: scope for scope in scopes}
        self._others.update([(f.id, f) for scope in scopes for f in scope.flows])
        self._pool_of: dict[str, Pool] = {}
        if isinstance(of, Model):
            self._others.update((e.id, e) for e in (*of.pools, *of.message_flows))
            self._pool_of = {p.process: p for p in of.pools if p.process is not None}
        self._unlabelled: dict[str, str] = {}
        """Names of nodes without a label that were asked for."""
        self._alike: dict[int, dict[str, dict[str, int]]] = {}
        """By scope and kind the nodes without a label, numbered."""
        self._numbers: dict[type, dict[str, int]] = {}
        """Of the processes and of the pools, those of each type numbered."""
        self.after: dict[str, list[str]] = {}
        self.before: dict[str, list[str]] = {}
        for scope in scopes:
            for flow in scope.flows:
                if flow.source in self.nodes and flow.target in self.nodes:
                    self.after.setdefault(flow.source, []).append(flow.target)
                    self.before.setdefault(flow.target, []).append(flow.source)

    def name(self, of: Element | str) -> str:
        """The name of an element, given itself or its id; an unknown id in backticks."""
        element = (self.nodes.get(of) or self._others.get(of)) if isinstance(of, str) else of
        if element is None:
            return f"`{of}`" if isinstance(of, str) and of.strip() else "nothing"
        if isinstance(element, _FLOWS):
            return self._name_flow(element)
        if one_line(element.name):
            return f"`{element.label}`"
        if isinstance(element, Process) and (pool := self._pool_of.get(element.id)) is not None:
            return self.name(pool)
        if isinstance(element, (Process, Pool)):
            return self._one_of(element)
        if element.id in self.nodes:
            return self._name_unlabelled(self.nodes[element.id])
        return f"the {kind_words(element)} `{element.id}`"

    def _one_of(self, element: Process | Pool) -> str:
        """A process or pool without a label, by its number in the file."""
        what = kind_words(element)
        if type(element) not in self._numbers:
            same = [e.id for e in self._others.values() if type(e) is type(element)]
            self._numbers[type(element)] = {id: at for at, id in enumerate(same, 1)}
        numbers = self._numbers[type(element)]
        if len(numbers) < 2 or element.id not in numbers:
            return f"the {what}"
        return f"the {ordinal_word(numbers[element.id])} {what}"

    def full_name(self, of: Element | str, *, article: bool = True) -> str:
        """As `name`, with the kind of the element: ``the user task `Check` ``; without the article
        ``user task `Check` ``."""
        element = (self.nodes.get(of) or self._others.get(of)) if isinstance(of, str) else of
        if element is None or isinstance(element, _FLOWS) or not one_line(element.name):
            return self.name(of)
        return f"{'the ' if article else ''}{kind_words(element)} {self.name(element)}"

    def names(self, elements: Iterable[str], most: int = 4) -> str:
        """Several elements by id, labelled ones first, up to a limit."""
        ids = list(dict.fromkeys(elements))
        ids.sort(key=lambda i: i not in self.nodes or not one_line(self.nodes[i].name))
        shown = [self.name(i) for i in ids[:most]]
        more = len(ids) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")

    def _name_flow(self, flow: Flow | MessageFlow) -> str:
        what = kind_words(flow)
        ends = f"from {self._name_end(flow.source)} to {self._name_end(flow.target)}"
        if one_line(flow.name):
            return f"the {what} `{flow.label}` from {self._name_end(flow.source)}"
        return f"the {what} {ends}"

    def _name_end(self, end: str) -> str:
        """Where a flow begins or ends; a flow is no end, even of the same id."""
        there = self.nodes.get(end) or self._others.get(end)
        if there is None or isinstance(there, _FLOWS):
            return f"`{end}`" if end.strip() else "nowhere"
        return self.name(there)

    def _name_unlabelled(self, node: Node) -> str:
        if node.id not in self._unlabelled:
            self._name_alike(node)
        return self._unlabelled[node.id]

    def _name_alike(self, node: Node) -> None:
        """Name all nodes of a kind in a scope that have no label; those with one place are
        numbered, the nearest first."""
        alike = self._in_scope(node).get(kind_words(node), {})
        if node.id not in alike:  # it has a label there
            self._unlabelled[node.id], _ = self._by_place(node)
            return
        places: dict[str, list[tuple[int, str]]] = {}
        for id in alike:
            text, distance = self._by_place(self.nodes[id])
            places.setdefault(text, []).append((distance, id))
        for text, at_place in places.items():
            for number, (_, id) in enumerate(sorted(at_place, key=lambda placed: placed[0]), 1):
                several = len(at_place) > 1
                rest = text.removeprefix("the ")
                self._unlabelled[id] = f"the {ordinal_word(number)} {rest}" if several else text

    def _in_scope(self, node: Node) -> dict[str, dict[str, int]]:
        scope = self._scope_of[node.id]
        alike = self._alike.get(id(scope))
        if alike is None:
            alike = self._alike[id(scope)] = _number_unlabelled(scope)
        return alike

    def _by_place(self, node: Node) -> tuple[str, int]:
        """A node without a label, a boundary event by its host, another by what is around it; and
        how far from that it is."""
        what = kind_words(node)
        if isinstance(node, Event) and node.attached_to is not None:
            host = self.nodes.get(node.attached_to)
            itself = host is None and node.attached_to in self._others  # a flow, and so its end
            itself = itself or (isinstance(host, Event) and not one_line(host.name))
            if not itself:
                return f"the {what} on {self.name(node.attached_to)}", 0
        joins = len(self.before.get(node.id, ())) > 1
        around = (("after", self.before), ("before", self.after))
        scope = self._scope_of[node.id]
        alike = self._in_scope(node)
        same = alike.get(what, {})
        # What is next to it says more than what is farther on; a start or an end says enough only
        # where there is one such element.
        labelled = sum(map(len, alike.values())) < len(scope.nodes)
        anchors = [(self._is_named, 1), (self._is_named, _FAR)] if labelled else []
        anchors += [(self._is_end, _FAR)] if len(same) == 1 else []
        for anchored, far in anchors:
            for word, near in around[:: -1 if joins else 1]:
                nearest = self._find_nearest(node.id, near, anchored, far)
                if nearest is not None:
                    anchor, distance = nearest
                    return f"the {what} {word} {self._name_anchor(anchor)}", distance
        where = f" in `{scope.label}`" if one_line(scope.name) else ""
        if len(same) == 1:
            return f"the {what}{where}", 0
        return f"the {ordinal_word(same.get(node.id, 1))} unlabelled {what}{where}", 0

    def _name_anchor(self, node: str) -> str:
        node_there = self.nodes[node]
        return (
            f"`{node_there.label}`"
            if one_line(node_there.name)
            else f"the {kind_words(node_there)}"
        )

    def _is_named(self, node: str) -> bool:
        return bool(one_line(self.nodes[node].name))

    def _is_end(self, node: str) -> bool:
        node_there = self.nodes[node]
        return isinstance(node_there, Event) and node_there.position in ("start", "end")

    def _find_nearest(
        self, node: str, near: Mapping[str, list[str]], wanted: Callable[[str], bool], far: int
    ) -> tuple[str, int] | None:
        """The first element in that direction that can stand for a place, breadth first, after
        passing less than `far` others; and the number of steps to it."""
        seen = {node}
        front = [node]
        steps = 0
        while front and len(seen) <= far:
            steps += 1
            front = [n for f in front for n in near.get(f, ()) if n not in seen]
            front = list(dict.fromkeys(front))
            seen.update(front)
            for candidate in front:
                if wanted(candidate):
                    return candidate, steps
        return None


def _number_unlabelled(scope: Scope) -> dict[str, dict[str, int]]:
    """The nodes of a scope without a label by what they are, each with its number among them."""
    numbers: dict[str, dict[str, int]] = {}
    for node in scope.nodes:
        if not one_line(node.name):
            same = numbers.setdefault(kind_words(node), {})
            same.setdefault(node.id, len(same) + 1)
    return numbers


_FAR = 200
"""Maximum number of elements without a label that are passed in search of one with a label."""
