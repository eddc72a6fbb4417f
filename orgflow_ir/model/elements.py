"""The process IR: closed, frozen values for BPMN processes and collaborations.

A model may be *malformed* (dangling flows, missing starts): the types only represent the source,
and the rules OF1xx report its faults. Ids are unique in a model and come from the source; a
lowering makes `{origin}__{role}`. Equality ignores the place of an element (`loc`), the pass or
agent that made it (`origin`), the elements that it was made from (`derived_from`) and the passages
that support it (`evidence`), so a model read back from another format compares by its content.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.bindings import Binding, SubProcessCall
from orgflow_ir.model.codec import from_json, to_json
from orgflow_ir.model.diagram import Diagram
from orgflow_ir.model.dialect import Dialect, Engine
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.model.value import Extra, MinLength, TaggedBy, Value

if TYPE_CHECKING:
    from orgflow_ir.model import timers
    from orgflow_ir.model.timer_values import Time
else:  # models with timers only
    timers = LazyModule("orgflow_ir.model.timers")


def _is_empty(value: tuple[object, ...]) -> bool:
    return not value


class Element(Value):
    """The common fields of all elements: identity, text, provenance and verbatim extension data.

    `origin` is the pass, lowering or agent that made the element or changed it last. `derived_from`
    contains the ids of the source elements that it was made from; it is empty for elements of the
    source. `evidence` holds the passages of documents that support an element that an agent made or
    completed; `Rewriter` keeps it.
    """

    id: Annotated[str, MinLength(1)]
    name: str = ""
    doc: str = ""
    loc: SourceLocation | None = field(default=None, compare=False)
    origin: str | None = field(default=None, compare=False)
    extra: Extra = ()
    derived_from: tuple[str, ...] = field(
        default=(), compare=False, metadata={"exclude_if": _is_empty}
    )
    evidence: tuple[Evidence, ...] = field(
        default=(), compare=False, metadata={"exclude_if": _is_empty}
    )

    @property
    def label(self) -> str:
        """Its name in messages, between backticks: `caption` with any backticks removed."""
        return self.caption.replace("`", "'")

    @property
    def caption(self) -> str:
        """Its name in diagrams: the name with white space folded, otherwise the id."""
        return " ".join(self.name.split()) or self.id

    @property
    def construct(self) -> str:
        """Dotted name of its kind, as used in capability tables, such as `gateway.inclusive`."""
        return "element"


class Expression(Value):
    """A condition, a time, a collection …: text in a language (`None` if the source does not state
    it)."""

    text: str
    language: str | None = None
    extra: Extra = ()


class Loop(Value):
    """Standard loop or multi-instance (BPMN 2.0.2, 10.3.7)."""

    kind: Literal["standard", "multi-instance"]
    condition: Expression | None = None
    test_before: bool = False
    maximum: int | None = None
    sequential: bool = False
    cardinality: Expression | None = None
    collection: str | None = None
    item: str | None = None
    until: Expression | None = None
    extra: Extra = ()

    @property
    def construct(self) -> str:
        """`loop.standard`, `loop.multi-instance.parallel`, `loop.multi-instance.sequential`."""
        if self.kind == "standard":
            return "loop.standard"
        return f"loop.multi-instance.{'sequential' if self.sequential else 'parallel'}"


class _Activity(Element):
    """What tasks and call activities share."""

    loop: Loop | None = None
    for_compensation: bool = False


TaskType = Literal[
    "abstract", "user", "manual", "service", "script", "send", "receive", "business-rule"
]


class Task(_Activity):
    """An atomic activity. `message` is a catalogue id (send and receive tasks)."""

    kind: Literal["task"] = "task"
    task_type: TaskType = "abstract"
    binding: Binding | None = None
    message: str | None = None
    instantiate: bool = False

    @property
    def construct(self) -> str:
        return f"task.{self.task_type}"


class CallActivity(_Activity):
    """A call of another process or global task; `called` is its id as written in the BPMN
    attribute. The binding contains the id given to an engine (Camunda 8)."""

    kind: Literal["call-activity"] = "call-activity"
    called: str | None = None
    binding: Binding | None = None

    @property
    def process(self) -> str:
        """The id of the called process, as written; empty if none is named."""
        engine = self.binding.process if isinstance(self.binding, SubProcessCall) else None
        return (self.called or engine or "").strip()

    @property
    def construct(self) -> str:
        return "call-activity"


EventKind = Literal[
    "message", "timer", "signal", "error", "escalation", "conditional", "compensation",
    "link", "terminate", "cancel",
]  # fmt: skip


class EventDefinition(Value):
    """The trigger that an event waits for, or the result that it throws.

    `ref` is a catalogue id (message, signal, error, escalation) or an activity (compensation);
    `expression` the time of a timer or the condition of a conditional event; `name` a link's name.
    """

    kind: EventKind
    id: str | None = None
    ref: str | None = None
    expression: Expression | None = None
    timer: Literal["date", "duration", "cycle"] | None = None
    name: str = ""
    wait_for_completion: bool = True
    extra: Extra = ()
    loc: SourceLocation | None = field(default=None, compare=False)

    @property
    def time(self) -> Time | None:
        """When a timer event happens; `None` if the source does not define it, or if this is not a
        timer.

        It is derived from the text, so the two never disagree; each text is parsed once.
        """
        if self.kind != "timer" or self.expression is None or not self.expression.text.strip():
            return None

        return timers.read_time(self.expression.text, self.expression.language)


class Event(Element):
    """Start, intermediate (catch, throw, boundary) or end event with any number of definitions.

    With several definitions, any one suffices unless `parallel_multiple` is set; then all are
    needed. `interrupting` is `cancelActivity` of a boundary event, `isInterrupting` of a start
    event. For a throw event, `binding` is the implementation that sends the message; for a catch
    event, it contains the output mappings.
    """

    kind: Literal["event"] = "event"
    position: Literal["start", "catch", "throw", "boundary", "end"]
    definitions: tuple[EventDefinition, ...] = ()
    parallel_multiple: bool = False
    attached_to: str | None = None
    interrupting: bool = True
    binding: Binding | None = None

    @property
    def trigger(self) -> str:
        """`none`, the one definition's kind, `multiple` or `parallel-multiple`."""
        if not self.definitions:
            return "none"
        if len(self.definitions) == 1:
            return self.definitions[0].kind
        return "parallel-multiple" if self.parallel_multiple else "multiple"

    @property
    def construct(self) -> str:
        tail = "" if self.interrupting else ".non-interrupting"
        return f"event.{self.position}.{self.trigger}{tail}"


GatewayKind = Literal["exclusive", "inclusive", "parallel", "event", "complex"]


class Gateway(Element):
    """A gateway; whether it splits or joins is derived from its flows, never stored.

    `instantiate` and `await_all` (an event-based gateway that waits for every event) belong to
    event-based gateways, `condition` (activation) to complex ones.
    """

    kind: Literal["gateway"] = "gateway"
    gateway_kind: GatewayKind
    instantiate: bool = False
    await_all: bool = False
    condition: Expression | None = None

    @property
    def construct(self) -> str:
        return f"gateway.{self.gateway_kind}"


class Opaque(Element):
    """An element that a frontend read but cannot model: its tag (`{ns}name`) and verbatim text.

    A harmless one (an artifact) does not affect the control flow; any other cannot be emitted.

    One that has `stops` is a stub: legalisation puts it in place of an element that a target does
    not support, and the text is the reason. A run that reaches a stub fails there, so none of its
    flows is ever taken; the flows remain, so the structure around it does not change. No run
    reaches a harmless stub.
    """

    kind: Literal["opaque"] = "opaque"
    tag: str
    payload: str = ""
    harmless: bool = False
    stops: str | None = None

    @property
    def construct(self) -> str:
        if self.stops is not None:
            return "stub"
        return "opaque.harmless" if self.harmless else "opaque.illegal"


class Flow(Element):
    """A sequence flow. A missing end is the empty string; `name` is the label people wrote."""

    source: str
    target: str
    condition: Expression | None = None
    default: bool = False

    @property
    def construct(self) -> str:
        if self.default:
            return "flow.default"
        return "flow.conditional" if self.condition else "flow.sequence"


class Lane(Element):
    """A lane; lanes nest by `parent`, sets of lanes are distinguished by `lane_set`."""

    members: tuple[str, ...] = ()
    parent: str | None = None
    performer: str | None = None
    lane_set: str | None = None


class DataObject(Element):
    """Data object, reference to one, data store (reference), data input or output."""

    data_kind: Literal["object", "reference", "store", "store-reference", "input", "output"]
    ref: str | None = None
    type: str | None = None
    collection: bool = False
    state: str | None = None


class DataFlow(Element):
    """Data association between a data object and a node (either way)."""

    source: str
    target: str
    mapping: tuple[tuple[str, str], ...] = ()
    transformation: Expression | None = None


class Artifact(Element):
    """Text annotation, group or association; does not affect control flow."""

    artifact_kind: Literal["annotation", "group", "association"]
    text: str = ""
    source: str | None = None
    target: str | None = None
    direction: Literal["none", "one", "both"] = "none"


_kind = attrgetter("kind")


class _Scope(Element):
    """What processes and sub-processes share."""

    nodes: tuple[Node, ...] = ()
    flows: tuple[Flow, ...] = ()
    lanes: tuple[Lane, ...] = ()
    data_objects: tuple[DataObject, ...] = ()
    data_flows: tuple[DataFlow, ...] = ()
    artifacts: tuple[Artifact, ...] = ()

    def has_kind(self, kind: str) -> bool:
        """Whether any of its nodes, without those of sub-processes, has this `kind`."""
        return kind in map(_kind, self.nodes)

    def scopes(self) -> Iterator[Scope]:
        """This scope and all sub-processes in it, outermost first."""
        stack: list[Any] = [self]
        while stack:
            scope = stack.pop()
            yield scope
            if "sub-process" in map(_kind, scope.nodes):
                stack.extend([n for n in reversed(scope.nodes) if n.kind == "sub-process"])


class SubProcess(_Scope):
    """A sub-process with its own scope. `completion`, `sequential` and `cancel_remaining` belong
    to ad-hoc sub-processes; an event sub-process is started by its one start event."""

    kind: Literal["sub-process"] = "sub-process"
    flavour: Literal["plain", "event", "transaction", "ad-hoc"] = "plain"
    loop: Loop | None = None
    for_compensation: bool = False
    completion: Expression | None = None
    sequential: bool = False
    cancel_remaining: bool = True

    @property
    def construct(self) -> str:
        return f"sub-process.{self.flavour}"


Node = Annotated[Task | CallActivity | SubProcess | Event | Gateway | Opaque, TaggedBy("kind")]


class Process(_Scope):
    """One process: the unit that is instantiated, analysed and lowered. `dialect` is the engine
    that it is written for, if the source states one."""

    executable: bool | None = None
    dialect: Dialect | None = None


Scope = Process | SubProcess


class Pool(Element):
    """A participant; `process` is `None` for a black box. `multiplicity` is (least, most)."""

    process: str | None = None
    multiplicity: tuple[int, int] | None = None


class MessageFlow(Element):
    """A message flow between nodes or pools; `message` is a catalogue id."""

    source: str
    target: str
    message: str | None = None


class CatalogEntry(Element):
    """A message, signal, error or escalation that events refer to."""

    code: str | None = None
    structure: str | None = None


class Catalog(Value):
    """Everything that events refer to by id."""

    messages: tuple[CatalogEntry, ...] = ()
    signals: tuple[CatalogEntry, ...] = ()
    errors: tuple[CatalogEntry, ...] = ()
    escalations: tuple[CatalogEntry, ...] = ()


class CorrelationKey(Element):
    """The properties that assign a message to its process instance (BPMN 2.0.2, 8.4.2)."""

    properties: tuple[str, ...] = ()


_ANY_WITHOUT_CODE: frozenset[Engine] = frozenset(("camunda7", "operaton", "camunda8"))
"""Engines that compare codes alone: an event for an error without a code catches all errors."""


class Model(Element):
    """The content of one source: processes, the collaboration around them, the catalogue.

    `source` names the file. `opaque` holds root elements that are kept but not modelled.
    """

    source: str = field(default="", compare=False)
    processes: tuple[Process, ...] = ()
    pools: tuple[Pool, ...] = ()
    message_flows: tuple[MessageFlow, ...] = ()
    catalog: Catalog = Catalog()
    correlation_keys: tuple[CorrelationKey, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    opaque: tuple[Opaque, ...] = ()
    diagram: Diagram | None = None

    def scopes(self) -> Iterator[Scope]:
        """Every process and sub-process, outermost first."""
        for process in self.processes:
            yield from process.scopes()

    def catches_any(self, catch: EventDefinition) -> bool:
        """Whether an event catches every error or escalation: it names none or, in Camunda, one
        without a code."""
        if not catch.ref:
            return True
        by_kind = {"error": self.catalog.errors, "escalation": self.catalog.escalations}
        entries = by_kind.get(catch.kind, ())
        return any(entry.id == catch.ref and not entry.code for entry in entries) and any(
            p.dialect is not None and p.dialect.engine in _ANY_WITHOUT_CODE for p in self.processes
        )

    def to_json(self, *, indent: int | None = 1) -> str:
        """The canonical text form: absent values are omitted, and the order is that of the
        model."""
        return to_json(self, exclude_none=True, indent=indent) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Model:
        """Inverse of `to_json`. Raises `pydantic.ValidationError`."""
        return from_json(cls, text)


AnyElement = (
    Task | CallActivity | SubProcess | Event | Gateway | Opaque | Flow | Lane | DataObject
    | DataFlow | Artifact | Process | Pool | MessageFlow | CatalogEntry | CorrelationKey | Model
)  # fmt: skip
