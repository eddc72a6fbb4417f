"""All statements of a model in addition to its control flow, by the element that they describe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property

from orgflow_ir.facts.extensions import (
    FOREIGN,
    SETTING,
    attribute_text,
    extension_statements,
    list_tags,
    loop_extensions,
)
from orgflow_ir.model import (
    Artifact,
    CallActivity,
    CatalogEntry,
    DataFlow,
    DataObject,
    Element,
    Event,
    Flow,
    Gateway,
    Lane,
    Loop,
    MessageFlow,
    Model,
    Opaque,
    Pool,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.binding_text import Statement, binding_statements
from orgflow_ir.model.element_names import kind_words, one_line
from orgflow_ir.model.provenance import elements_by_id
from orgflow_ir.model.records import NamedTuple

ANNOTATION, DATA, MESSAGE, CONDITION = "annotations", "data", "messages", "conditions"
DOCUMENTATION, PERFORMER, LABEL = "documentation", "performers", "labels of flows"
KINDS = (ANNOTATION, DATA, MESSAGE, CONDITION, PERFORMER, DOCUMENTATION, LABEL, SETTING, FOREIGN)
"""Subjects of statements (`Statement.what`)."""


_DECLARATIONS = frozenset(
    ("itemDefinition", "category", "partnerEntity", "partnerRole", "endPoint", "import",
     "relationship", "extension", "correlationProperty", "dataStore", "resource", "interface")
)  # fmt: skip
"""Root elements of BPMN that count only if something refers to them."""


class Facts(NamedTuple):
    """Statements about the nodes of each process by their ids, about a process as a whole by its
    id, and the lane of each node that has one."""

    about: Mapping[str, Mapping[str, tuple[Statement, ...]]]
    whole: Mapping[str, tuple[Statement, ...]]
    lanes: Mapping[str, str]


def collect(model: Model) -> Facts:
    """Every statement of a model in addition to its flow and its bindings, in model order."""
    return _Collector(model).collect()


def all_statements(model: Model) -> Iterator[tuple[Element, Statement]]:
    """Every statement about the elements of a model in addition to its flow, including bindings,
    for reports."""
    facts = collect(model)
    for process in model.processes:
        for fact in facts.whole.get(process.id, ()):
            yield process, fact
        about = facts.about.get(process.id, {})
        for scope in process.scopes():
            for node in scope.nodes:
                own = (
                    binding_statements(node)
                    if isinstance(node, Task | CallActivity | Event)
                    else ()
                )
                for fact in (*own, *about.get(node.id, ())):
                    yield node, fact


class _Collector:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.about: dict[str, dict[str, list[Statement]]] = {}
        self.whole: dict[str, list[Statement]] = {p.id: [] for p in model.processes}
        self.lanes: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.declared = {element.id for element in model.opaque}
        for element in model.opaque:  # resources, interfaces with operations, types of items
            if element.name:
                self.names[element.id] = element.name
            for _, attributes, _ in list_tags(element.payload):
                known = attributes.get("name") or attributes.get("structureRef")
                if known and "id" in attributes:
                    self.names[attributes["id"]] = known

    @cached_property
    def elements(self) -> dict[str, Element]:
        return elements_by_id(self.model)

    @cached_property
    def home(self) -> dict[str, str]:
        """The process of each node."""
        return {
            node.id: process.id
            for process in self.model.processes
            for scope in process.scopes()
            for node in scope.nodes
        }

    def collect(self) -> Facts:
        """Everything there is; models have little of it, so nothing is looked up in advance."""
        first = next(iter(self.whole), "")
        for process in self.model.processes:
            self._collect_process(process)
        if self.whole:
            self._collect_around(first)
        return Facts(
            {
                process: {id: tuple(dict.fromkeys(statements)) for id, statements in about.items()}
                for process, about in self.about.items()
            },
            {id: tuple(dict.fromkeys(statements)) for id, statements in self.whole.items()},
            self.lanes,
        )

    def _add_statements(self, element: str, process: str, *statements: Statement) -> None:
        """A fact about a flow is one about the node it leaves; about what is not a node, one about
        the process."""
        if element not in self.home:
            at = self.elements.get(element)
            element = at.source if isinstance(at, Flow) else element
        home = self.home.get(element)
        if home is None:
            self.whole[process].extend(statements)
        else:
            self.about.setdefault(home, {}).setdefault(element, []).extend(statements)

    def _list_extensions(self, element: Element) -> Iterator[Statement]:
        return extension_statements(element, self.names)

    # -- in a process ------------------------------------------------------------------------

    def _collect_process(self, process: Process) -> None:
        self.whole[process.id] += self._list_extensions(process)
        for scope in process.scopes():
            self._collect_artifacts(scope, process.id)
            if scope.data_objects or scope.data_flows:
                self._collect_data(scope, process.id)
            nodes = {}
            splits: Counter[str] = Counter()
            for node in scope.nodes:
                nodes[node.id] = node
                if node.extra or not isinstance(node, Gateway):
                    self._collect_node(node, process.id)
            for flow in scope.flows:
                if flow.name or flow.extra or flow.doc:
                    source = nodes.get(flow.source)
                    splits = splits or Counter(f.source for f in scope.flows)
                    self._collect_flow(flow, source, splits[flow.source] > 1, process.id)
            for lane in scope.lanes:
                self._collect_lane(lane, process.id)

    def _collect_node(self, node: Element, process: str) -> None:
        own = tuple(self._node_statements(node))
        if own:
            self._add_statements(node.id, process, *own)
        loop = getattr(node, "loop", None)
        kept = node.extra or loop
        if isinstance(node, Event) and not kept:
            kept = any(d.extra for d in node.definitions)
        statements = tuple(self._list_extensions(node)) if kept else ()
        if loop is not None:
            statements = (_repetition_statement(loop), *statements)
        if statements:
            self._add_statements(node.id, process, *statements)

    def _node_statements(self, node: Element) -> Iterator[Statement]:
        """What the fields of a node state, by its kind."""
        match node:
            case Task():
                if node.message is not None:
                    yield from self._describe_entry("message", node.message)
            case Event():
                for definition in node.definitions:
                    if definition.kind == "conditional" and definition.expression is not None:
                        text = one_line(definition.expression.text)
                        yield Statement(CONDITION, "condition", text)
                    if definition.ref is not None and definition.kind != "compensation":
                        yield from self._describe_entry(definition.kind, definition.ref)
            case SubProcess():
                if node.completion is not None:
                    text = one_line(node.completion.text)
                    yield Statement(CONDITION, "complete when", text)
                if node.sequential:
                    yield Statement(SETTING, "order", "one after the other")
                if not node.cancel_remaining:
                    order = "activities that are active at the end are finished"
                    yield Statement(SETTING, "order", order)
            case Opaque():
                yield from self._describe_opaque(node)
            case _:
                pass

    def _collect_flow(self, flow: Flow, source: Element | None, splits: bool, process: str) -> None:
        chooses = splits and not (isinstance(source, Gateway) and source.gateway_kind == "parallel")
        if chooses and not (flow.doc or flow.extra):
            return  # its name is the answer that takes it
        label = f"flow to {self._element_label(flow.target)}"
        if flow.doc.strip():
            self._add_statements(
                flow.source, process, Statement(DOCUMENTATION, label, one_line(flow.doc))
            )
        if flow.name.strip() and not chooses:
            self._add_statements(flow.source, process, Statement(LABEL, label, one_line(flow.name)))
        if flow.extra:
            statements = (
                f._replace(label=f"{label}, {f.label}") for f in self._list_extensions(flow)
            )
            self._add_statements(flow.source, process, *statements)

    def _collect_lane(self, lane: Lane, process: str) -> None:
        name = one_line(lane.label)
        for member in lane.members:
            # the innermost lane stands last in the model
            self.lanes[member] = name
        label = f"lane {name}"
        for text in (lane.performer or "", lane.doc):
            if text.strip():
                self.whole[process].append(Statement(PERFORMER, label, one_line(text)))
        if lane.extra:
            statements = (
                f._replace(label=f"{label}, {f.label}") for f in self._list_extensions(lane)
            )
            self.whole[process] += statements

    def _collect_artifacts(self, around: Scope | Model, process: str) -> None:
        if not around.artifacts:
            return
        texts = {
            a.id: _join_texts(a.text or a.name, a.doc)
            for a in around.artifacts
            if a.artifact_kind == "annotation"
        }
        tied: set[str] = set()
        for line in around.artifacts:
            for note, element in ((line.source, line.target), (line.target, line.source)):
                if note in texts and element is not None and element not in texts:
                    tied.add(note)
                    if texts[note]:
                        fact = Statement(ANNOTATION, "annotation", texts[note])
                        self._add_statements(element, process, fact)
        for id, text in texts.items():
            if text and id not in tied:
                self.whole[process].append(Statement(ANNOTATION, "annotation", text))
        for artifact in around.artifacts:
            if artifact.artifact_kind != "annotation":
                words = _artifact_words(artifact)
                if words:
                    fact = Statement(ANNOTATION, artifact.artifact_kind, words)
                    self.whole[process].append(fact)
            if artifact.extra:
                self._add_statements(
                    artifact.source or artifact.id, process, *self._list_extensions(artifact)
                )

    def _collect_data(self, scope: Scope, process: str) -> None:
        objects = {d.id: d for d in scope.data_objects}
        used: set[str] = set()
        for link in scope.data_flows:
            for end, other, verb in (
                (link.target, link.source, "reads"), (link.source, link.target, "writes"),
            ):  # fmt: skip
                known = self.elements.get(other)
                if end in objects or not isinstance(known, DataObject):
                    continue
                used |= {other, known.ref or ""}
                text = "; ".join([self._data_words(known), *_link_words(link)])
                self._add_statements(end, process, Statement(DATA, verb, text))
                if link.extra:
                    self._add_statements(end, process, *self._list_extensions(link))
        referred = {d.ref for d in scope.data_objects if d.ref}
        for data in scope.data_objects:
            kind = data.data_kind if data.data_kind in ("input", "output") else "data"
            says = data.name or data.doc or data.state or data.type
            if says and data.id not in used and data.id not in referred:
                self.whole[process].append(Statement(DATA, kind, self._data_words(data)))
            if data.extra:
                self._add_statements(data.id, process, *self._list_extensions(data))

    def _data_words(self, data: DataObject) -> str:
        """The name of data with all that is known of it; a reference's object says the rest."""
        behind = self.elements.get(data.ref or "")
        store = " (data store)" if data.data_kind.startswith("store") else ""
        parts = [f"{one_line(data.label)}{store}"]
        for data_object in (data, behind) if isinstance(behind, DataObject) else (data,):
            if data_object is behind and data_object.name.strip() and data_object.name != data.name:
                parts.append(one_line(data_object.name))
            parts += ["list"] if data_object.collection and "list" not in parts else []
            parts += [f"state {one_line(data_object.state)}"] if data_object.state else []
            parts += self._type_words(data_object.type)
            parts += [one_line(data_object.doc)] if data_object.doc.strip() else []
        return ", ".join(dict.fromkeys(parts))

    def _type_words(self, ref: str | None) -> list[str]:
        """The type of an item by its name or its structure; nothing where it only has an id."""
        if not ref:
            return []
        id = ref.rpartition(":")[2]
        if id not in self.names and id in self.declared:
            return []
        return [f"type {one_line(self.names.get(id, ref))}"]

    def _describe_entry(self, kind: str, ref: str) -> Iterator[Statement]:
        """The message, signal … that an event or a task refers to, by its name and its code."""
        entry = self.elements.get(ref)
        if not isinstance(entry, CatalogEntry):
            yield Statement(MESSAGE, kind, ref)
            return
        named = entry.name.strip() or not entry.code  # else the code is what people know it by
        words = [one_line(entry.label)] if named else []
        words += [f"code {one_line(entry.code)}"] if entry.code else []
        words += self._type_words(entry.structure)
        words += [one_line(entry.doc)] if entry.doc.strip() else []
        yield Statement(MESSAGE, kind, ", ".join(words))
        if entry.extra:
            yield from self._list_extensions(entry)

    def _describe_opaque(self, element: Opaque) -> Iterator[Statement]:
        """What the source has and the IR does not model; declarations of types say nothing."""
        tag = element.tag.rpartition("}")[2]
        if tag in _DECLARATIONS:
            return
        texts = (element.name, attribute_text(element.payload, but=("id", "name")), element.doc)
        words = one_line("; ".join(t for t in texts if t.strip()))
        if words:
            yield Statement(FOREIGN, tag, words)
        yield from self._list_extensions(element)

    # -- around the processes ------------------------------------------------------------------

    def _collect_around(self, first: str) -> None:
        """What stands beside all processes, which the first one has."""
        model = self.model
        self._collect_artifacts(model, first)
        whole = self.whole[first]
        if model.doc.strip():
            whole.append(Statement(DOCUMENTATION, "model", one_line(model.doc)))
        whole += self._list_extensions(model)
        connected = {end for flow in model.message_flows for end in (flow.source, flow.target)}
        for pool in model.pools:
            self._collect_pool(pool, first)
            if pool.process is None and pool.id not in connected and pool.name.strip():
                whole.append(Statement(MESSAGE, "participant", one_line(pool.name)))
        for flow in model.message_flows:
            self._message_flow(flow, first)
        for key in model.correlation_keys:
            words = ", ".join(one_line(t) for t in (*key.properties, key.doc) if t.strip())
            whole.append(Statement(MESSAGE, f"correlation key {one_line(key.label)}", words))
            whole += self._list_extensions(key)
        for element in model.opaque:
            whole += self._describe_opaque(element)

    def _collect_pool(self, pool: Pool, first: str) -> None:
        whole = self.whole[pool.process if pool.process in self.whole else first]
        label = f"pool {one_line(pool.label)}"
        if pool.doc.strip():
            whole.append(Statement(DOCUMENTATION, label, one_line(pool.doc)))
        if pool.multiplicity is not None:
            least, most = pool.multiplicity
            words = f"{least} to {most} participants"
            whole.append(Statement(PERFORMER, label, words))
        whole += (f._replace(label=f"{label}, {f.label}") for f in self._list_extensions(pool))

    def _message_flow(self, flow: MessageFlow, first: str) -> None:
        source, target = flow.source, flow.target
        message = self.elements.get(flow.message or "")
        words = [one_line(t) for t in (flow.name, flow.doc) if t.strip()]
        if message is not None:
            words.append(one_line(message.label))
        text = ", ".join(dict.fromkeys(words)) or "a message"
        statements = tuple(self._list_extensions(flow))
        for end, other, verb in ((source, target, "sends to"), (target, source, "receives from")):
            at = self.elements.get(end)
            match at:
                case Task() | Event() | SubProcess() | CallActivity():
                    fact = Statement(MESSAGE, f"{verb} {self._element_label(other)}", text)
                    self._add_statements(end, first, fact, *statements)
                case _:
                    pass
        if source not in self.home and target not in self.home and words:
            label = f"message from {self._element_label(source)} to {self._element_label(target)}"
            self.whole[first].append(Statement(MESSAGE, label, text))

    def _element_label(self, id: str) -> str:
        there = self.elements.get(id)
        if there is None:
            return id
        return one_line(there.name) or f"the {kind_words(there)}"


def _join_texts(*texts: str) -> str:
    """The texts that are not blank, on one line."""
    return one_line("; ".join(text for text in texts if text.strip()))


def _link_words(link: DataFlow) -> Iterator[str]:
    """What a data association states beside the data: its name, what is assigned, how."""
    yield from (one_line(text) for text in (link.name, link.doc) if text.strip())
    yield from (f"{to} = {of}" for of, to in link.mapping)
    if link.transformation is not None:
        yield link.transformation.text


def _artifact_words(artifact: Artifact) -> str:
    return _join_texts(artifact.name, artifact.text, artifact.doc)


def _repetition_statement(loop: Loop) -> Statement:
    return Statement(SETTING, "repeated", _loop_words(loop))


def loop_statements(loop: Loop) -> Iterator[Statement]:
    """Everything that is collected from the marker of a repeated activity."""
    yield _repetition_statement(loop)
    yield from loop_extensions(loop)


def _loop_words(loop: Loop) -> str:
    """How often an activity is repeated, and over what."""
    parts = []
    if loop.kind == "multi-instance":
        parts.append("one after the other" if loop.sequential else "all at once")
    if loop.cardinality is not None:
        parts.append(f"{one_line(loop.cardinality.text)} times")
    if loop.collection is not None:
        parts.append(f"for each item of {one_line(loop.collection)}")
    if loop.item is not None:
        parts.append(f"the item is {one_line(loop.item)}")
    if loop.condition is not None:
        parts.append(f"while {one_line(loop.condition.text)}")
    if loop.test_before:
        parts.append("tested before the first iteration")
    if loop.maximum is not None:
        parts.append(f"at most {loop.maximum} times")
    if loop.until is not None:
        parts.append(f"until {one_line(loop.until.text)}")
    return ", ".join(parts) or "without a stated condition"
