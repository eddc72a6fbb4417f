"""A minimal valid model for every construct, to test a target's support table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Literal, get_args

from orgflow_ir.model import (
    Artifact,
    CallActivity,
    Catalog,
    CatalogEntry,
    DataFlow,
    DataObject,
    Event,
    EventDefinition,
    EventKind,
    Expression,
    Flow,
    Gateway,
    GatewayKind,
    Lane,
    Loop,
    MessageFlow,
    Model,
    Node,
    Opaque,
    Pool,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.constructs import CONSTRUCTS

_BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"

_CATALOG = Catalog(
    messages=(CatalogEntry(id="message", name="Order"),),
    signals=(CatalogEntry(id="signal", name="Alarm"),),
    errors=(CatalogEntry(id="error", name="Out of stock", code="E1"),),
    escalations=(CatalogEntry(id="escalation", name="Late", code="L1"),),
)


def minimal_models() -> Iterator[tuple[str, Model]]:
    """One small sound model for every construct of `constructs.CONSTRUCTS`, in that order."""
    for construct in CONSTRUCTS:
        yield construct, minimal_model(construct)


def minimal_model(construct: str) -> Model:
    """A sound model that uses `construct` and as little else as possible. Raises `KeyError`."""
    if construct not in CONSTRUCTS:
        raise KeyError(construct)
    for prefix, build in _BUILDERS:
        if construct == prefix or construct.startswith(prefix + "."):
            return build(construct)
    raise KeyError(construct)


def _flow(source: str, target: str, **more: Any) -> Flow:
    return Flow(id=f"{source}_{target}", source=source, target=target, **more)


def _start(**more: Any) -> Event:
    return Event(id="start", name="Started", position="start", **more)


def _end(id_: str = "end", **more: Any) -> Event:
    return Event(id=id_, name="Finished", position="end", **more)


def _task(id_: str = "work", name: str = "Do the work", **more: Any) -> Task:
    return Task(id=id_, name=name, **more)


def _line(*nodes: Node, **more: Any) -> Process:
    """A process in which the nodes follow each other."""
    flows = tuple(_flow(a.id, b.id) for a, b in pairwise(nodes))
    return Process(id="process", name="Process", nodes=nodes, flows=flows, **more)


def _model(*processes: Process, **more: Any) -> Model:
    return Model(id="model", name="Model", processes=processes, catalog=_CATALOG, **more)


def _simple(*middle: Node, **more: Any) -> Model:
    return _model(_line(_start(), *middle, _end(), **more))


def _definition(kind: EventKind) -> EventDefinition:
    if kind == "timer":
        return EventDefinition(kind=kind, timer="duration", expression=Expression(text="PT1H"))
    if kind == "conditional":
        return EventDefinition(kind=kind, expression=Expression(text="stock is low"))
    if kind == "link":
        return EventDefinition(kind=kind, name="Later")
    if kind in ("message", "signal", "error", "escalation"):
        return EventDefinition(kind=kind, ref=kind)
    return EventDefinition(kind=kind)


def _definitions(trigger: str) -> dict[str, Any]:
    if trigger == "none":
        return {}
    if trigger in ("multiple", "parallel-multiple"):
        both = (_definition("message"), _definition("signal"))
        return {"definitions": both, "parallel_multiple": trigger == "parallel-multiple"}
    kind = next(k for k in get_args(EventKind) if k == trigger)
    return {"definitions": (_definition(kind),)}


def _tasks(construct: str) -> Model:
    return _simple(_task(task_type=construct.removeprefix("task.")))


def _compensation(construct: str) -> Model:
    undo = Event(
        id="undo_event",
        name="Undo",
        position="boundary",
        attached_to="work",
        **_definitions("compensation"),
    )
    handler = _task("undo", "Undo the work", for_compensation=True)
    link = Artifact(
        id="undo_link",
        artifact_kind="association",
        source="undo_event",
        target="undo",
        direction="one",
    )
    base = _line(_start(), _task(), _end())
    return _model(base.replace(nodes=(*base.nodes, undo, handler), artifacts=(link,)))


def _quantity(construct: str) -> Model:
    return _simple(_task(extra=((f"@{{{_BPMN}}}startQuantity", "2"),)))


def _call(construct: str) -> Model:
    return _simple(CallActivity(id="call", name="Call the other process", called="other"))


def _inner(*nodes: Node, id_: str = "sub", **more: Any) -> SubProcess:
    inner = _line(*nodes)
    flows = tuple(f.replace(id=f"{id_}_{f.id}") for f in inner.flows)
    return SubProcess(id=id_, name="Details", nodes=inner.nodes, flows=flows, **more)


def _inner_start(trigger: str = "none", **more: Any) -> Event:
    return Event(id="inner_start", position="start", **_definitions(trigger), **more)


def _sub_process(construct: str) -> Model:
    flavour = construct.removeprefix("sub-process.")
    if flavour == "event":
        model = _event_sub_process(_inner_start("error"))
        (process,) = model.processes
        failed = _end(**_definitions("error"))
        nodes = tuple(failed if node.id == failed.id else node for node in process.nodes)
        return model.replace(processes=(process.replace(nodes=nodes),))
    if flavour == "ad-hoc":
        alone = SubProcess(
            id="sub", name="Details", flavour="ad-hoc", nodes=(_task(), _task("more", "Do more"))
        )
        return _simple(alone)
    return _simple(_inner(_inner_start(), _task(), _end("inner_end"), flavour=flavour))


def _event_sub_process(start: Event) -> Model:
    inner = _inner(start, _task("react", "React"), _end("inner_end"), id_="handler")
    base = _line(_start(), _task(), _end())
    return _model(base.replace(nodes=(*base.nodes, inner.replace(flavour="event"))))


def _loop(construct: str) -> Model:
    if construct == "loop.standard":
        return _simple(_task(loop=Loop(kind="standard", condition=Expression(text="not done"))))
    loop = Loop(
        kind="multi-instance",
        sequential=construct.endswith("sequential"),
        collection="items",
        item="item",
    )
    return _simple(_task(loop=loop))


def _event(construct: str) -> Model:
    _, position, trigger, *rest = construct.split(".")
    return _EVENTS[position](trigger, not rest)


def _start_event(trigger: str, interrupting: bool) -> Model:
    if not interrupting or trigger in ("error", "escalation", "compensation"):
        return _event_sub_process(_inner_start(trigger, interrupting=interrupting))
    return _model(_line(_start(**_definitions(trigger)), _task(), _end()))


def _middle_event(position: Literal["catch", "throw"]) -> Callable[[str, bool], Model]:
    def build(trigger: str, interrupting: bool) -> Model:
        if trigger == "link":
            return _links()
        name = "Wait" if position == "catch" else "Tell"
        return _simple(Event(id="event", name=name, position=position, **_definitions(trigger)))

    return build


def _links() -> Model:
    leave = Event(id="leave", name="Later", position="throw", **_definitions("link"))
    arrive = Event(id="arrive", name="Later", position="catch", **_definitions("link"))
    return _model(
        Process(
            id="process",
            name="Process",
            nodes=(_start(), leave, arrive, _end()),
            flows=(_flow("start", "leave"), _flow("arrive", "end")),
        )
    )


def _boundary_event(trigger: str, interrupting: bool) -> Model:
    if trigger == "compensation":
        return _compensation("activity.compensation")
    host: Node = _task()
    if trigger == "cancel":
        cancel = _end("inner_end", **_definitions("cancel"))
        host = _inner(_inner_start(), cancel, id_="work", flavour="transaction")
    if trigger == "escalation":  # it comes from what throws it, and from nowhere else
        host = CallActivity(id="work", name="Do the work", called="called")
    boundary = Event(
        id="boundary",
        name="Something happens",
        position="boundary",
        attached_to="work",
        interrupting=interrupting,
        **_definitions(trigger),
    )
    base = _line(_start(), host, _end())
    model = _model(
        base.replace(
            nodes=(*base.nodes, boundary, _end("other_end")),
            flows=(*base.flows, _flow("boundary", "other_end")),
        )
    )
    if trigger != "escalation":
        return model
    nodes = (_inner_start(), _end("inner_end", **_definitions(trigger)))
    called = Process(
        id="called", name="Called", nodes=nodes, flows=(_flow("inner_start", "inner_end"),)
    )
    return model.replace(processes=(*model.processes, called))


def _end_event(trigger: str, interrupting: bool) -> Model:
    if trigger == "cancel":
        return _boundary_event("cancel", True)
    return _model(_line(_start(), _task(), _end(**_definitions(trigger))))


_EVENTS: dict[str, Callable[[str, bool], Model]] = {
    "start": _start_event,
    "catch": _middle_event("catch"),
    "throw": _middle_event("throw"),
    "boundary": _boundary_event,
    "end": _end_event,
}


def _block(kind: GatewayKind, **second: Any) -> Model:
    """start → split → two tasks → join → end, the branches labelled."""
    split = Gateway(id="split", name="How to continue?", gateway_kind=kind)
    join = Gateway(id="join", gateway_kind=kind)
    one, two = _task("one", "One way"), _task("two", "Other way")
    named = kind != "parallel"
    flows = (
        _flow("start", "split"),
        _flow("split", "one", name="One" if named else ""),
        _flow("split", "two", **({"name": "Other"} if named else {}), **second),
        _flow("one", "join"),
        _flow("two", "join"),
        _flow("join", "end"),
    )
    nodes = (_start(), split, one, two, join, _end())
    return _model(Process(id="process", name="Process", nodes=nodes, flows=flows))


def _gateway(construct: str) -> Model:
    kind = construct.split(".")[1]
    if kind != "event":
        return _block(next(k for k in get_args(GatewayKind) if k == kind))
    instantiating = construct.endswith("instantiating")
    waits = ("message", "signal") if instantiating else ("message", "timer")
    first = Gateway(
        id="split", name="What comes first?", gateway_kind="event", instantiate=instantiating
    )
    catches = tuple(
        Event(id=f"on_{w}", name=f"On {w}", position="catch", **_definitions(w)) for w in waits
    )
    ends = tuple(_end(f"end_{w}") for w in waits)
    flows = [f for w in waits for f in (_flow("split", f"on_{w}"), _flow(f"on_{w}", f"end_{w}"))]
    nodes: tuple[Node, ...] = (first, *catches, *ends)
    if not instantiating:
        nodes, flows = (_start(), *nodes), [_flow("start", "split"), *flows]
    return _model(Process(id="process", name="Process", nodes=nodes, flows=tuple(flows)))


def _sequence_flow(construct: str) -> Model:
    if construct == "flow.conditional":
        condition = Expression(text="amount > 1000", language="javascript")
        return _block("inclusive", condition=condition)
    if construct == "flow.default":
        return _block("exclusive", default=True)
    return _simple(_task())


def _message_flow(construct: str) -> Model:
    sender = _line(_start(), _task("work", "Send the order", task_type="send"), _end())
    pool = Pool(id="pool", name="Here", process="process")
    if construct.endswith("black-box"):
        there = Pool(id="there", name="There")
        link = MessageFlow(id="link", source="work", target="there", message="message")
        return _model(sender, pools=(pool, there), message_flows=(link,))
    answer = Process(
        id="other_process",
        name="Other process",
        nodes=(
            Event(id="other_start", position="start", **_definitions("message")),
            _end("other_end"),
        ),
        flows=(_flow("other_start", "other_end"),),
    )
    there = Pool(id="there", name="There", process="other_process")
    link = MessageFlow(id="link", source="work", target="other_start", message="message")
    return _model(sender, answer, pools=(pool, there), message_flows=(link,))


def _pool(construct: str) -> Model:
    pools = [Pool(id="pool", name="Here", process="process")]
    if construct == "pool.black-box":
        pools.append(Pool(id="there", name="There"))
    return _model(_line(_start(), _task(), _end()), pools=tuple(pools))


def _beside(construct: str) -> Model:
    """Constructs that stand beside the control flow."""
    base = _line(_start(), _task(), _end())
    paper = DataObject(id="paper", name="Paper", data_kind="object")
    if construct == "lane":
        lane = Lane(id="lane", name="Office", members=("start", "work", "end"))
        return _model(base.replace(lanes=(lane,)))
    if construct == "data.object":
        return _model(base.replace(data_objects=(paper,)))
    if construct == "data.flow":
        flow = DataFlow(id="reads", source="paper", target="work")
        return _model(base.replace(data_objects=(paper,), data_flows=(flow,)))
    note = Artifact(id="note", artifact_kind="annotation", text="As every year")
    return _model(base.replace(artifacts=(note,)))


def _opaque(construct: str) -> Model:
    harmless = construct.endswith("harmless")
    thing = Opaque(id="thing", tag="{https://example.org/other}thing", harmless=harmless)
    base = _line(_start(), _task(), _end())
    return _model(base.replace(nodes=(*base.nodes, thing)))


def _stub(_: str) -> Model:
    reason = "`Robot` (opaque.illegal) is not supported: its meaning is unknown"
    return _model(
        _line(_start(), Opaque(id="robot", name="Robot", tag="stub", stops=reason), _end())
    )


_BUILDERS: tuple[tuple[str, Callable[[str], Model]], ...] = (
    ("task", _tasks),
    ("activity.compensation", _compensation),
    ("activity.quantity", _quantity),
    ("call-activity", _call),
    ("sub-process", _sub_process),
    ("loop", _loop),
    ("event", _event),
    ("gateway", _gateway),
    ("flow.message", _message_flow),
    ("flow", _sequence_flow),
    ("pool", _pool),
    ("opaque", _opaque),
    ("stub", _stub),
    ("lane", _beside),
    ("data", _beside),
    ("artifact", _beside),
)
