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


def _build_flow(source: str, target: str, **more: Any) -> Flow:
    return Flow(id=f"{source}_{target}", source=source, target=target, **more)


def _build_start(**more: Any) -> Event:
    return Event(id="start", name="Started", position="start", **more)


def _build_end(id_: str = "end", **more: Any) -> Event:
    return Event(id=id_, name="Finished", position="end", **more)


def _build_task(id_: str = "work", name: str = "Do the work", **more: Any) -> Task:
    return Task(id=id_, name=name, **more)


def _build_line(*nodes: Node, **more: Any) -> Process:
    """A process in which the nodes follow each other."""
    flows = tuple(_build_flow(a.id, b.id) for a, b in pairwise(nodes))
    return Process(id="process", name="Process", nodes=nodes, flows=flows, **more)


def _build_model(*processes: Process, **more: Any) -> Model:
    return Model(id="model", name="Model", processes=processes, catalog=_CATALOG, **more)


def _simple_model(*middle: Node, **more: Any) -> Model:
    return _build_model(_build_line(_build_start(), *middle, _build_end(), **more))


def _build_definition(kind: EventKind) -> EventDefinition:
    if kind == "timer":
        return EventDefinition(kind=kind, timer="duration", expression=Expression(text="PT1H"))
    if kind == "conditional":
        return EventDefinition(kind=kind, expression=Expression(text="stock is low"))
    if kind == "link":
        return EventDefinition(kind=kind, name="Later")
    if kind in ("message", "signal", "error", "escalation"):
        return EventDefinition(kind=kind, ref=kind)
    return EventDefinition(kind=kind)


def _trigger_definitions(trigger: str) -> dict[str, Any]:
    if trigger == "none":
        return {}
    if trigger in ("multiple", "parallel-multiple"):
        both = (_build_definition("message"), _build_definition("signal"))
        return {"definitions": both, "parallel_multiple": trigger == "parallel-multiple"}
    kind = next(k for k in get_args(EventKind) if k == trigger)
    return {"definitions": (_build_definition(kind),)}


def _task_model(construct: str) -> Model:
    return _simple_model(_build_task(task_type=construct.removeprefix("task.")))


def _compensation_model(construct: str) -> Model:
    undo = Event(
        id="undo_event",
        name="Undo",
        position="boundary",
        attached_to="work",
        **_trigger_definitions("compensation"),
    )
    handler = _build_task("undo", "Undo the work", for_compensation=True)
    link = Artifact(
        id="undo_link",
        artifact_kind="association",
        source="undo_event",
        target="undo",
        direction="one",
    )
    base = _build_line(_build_start(), _build_task(), _build_end())
    return _build_model(base.replace(nodes=(*base.nodes, undo, handler), artifacts=(link,)))


def _quantity_model(construct: str) -> Model:
    return _simple_model(_build_task(extra=((f"@{{{_BPMN}}}startQuantity", "2"),)))


def _call_model(construct: str) -> Model:
    return _simple_model(CallActivity(id="call", name="Call the other process", called="other"))


def _build_subprocess(*nodes: Node, id_: str = "sub", **more: Any) -> SubProcess:
    inner = _build_line(*nodes)
    flows = tuple(f.replace(id=f"{id_}_{f.id}") for f in inner.flows)
    return SubProcess(id=id_, name="Details", nodes=inner.nodes, flows=flows, **more)


def _inner_start(trigger: str = "none", **more: Any) -> Event:
    return Event(id="inner_start", position="start", **_trigger_definitions(trigger), **more)


def _sub_process(construct: str) -> Model:
    flavour = construct.removeprefix("sub-process.")
    if flavour == "event":
        model = _event_sub_process(_inner_start("error"))
        (process,) = model.processes
        failed = _build_end(**_trigger_definitions("error"))
        nodes = tuple(failed if node.id == failed.id else node for node in process.nodes)
        return model.replace(processes=(process.replace(nodes=nodes),))
    if flavour == "ad-hoc":
        alone = SubProcess(
            id="sub",
            name="Details",
            flavour="ad-hoc",
            nodes=(_build_task(), _build_task("more", "Do more")),
        )
        return _simple_model(alone)
    return _simple_model(
        _build_subprocess(_inner_start(), _build_task(), _build_end("inner_end"), flavour=flavour)
    )


def _event_sub_process(start: Event) -> Model:
    inner = _build_subprocess(
        start, _build_task("react", "React"), _build_end("inner_end"), id_="handler"
    )
    base = _build_line(_build_start(), _build_task(), _build_end())
    return _build_model(base.replace(nodes=(*base.nodes, inner.replace(flavour="event"))))


def _loop_model(construct: str) -> Model:
    if construct == "loop.standard":
        return _simple_model(
            _build_task(loop=Loop(kind="standard", condition=Expression(text="not done")))
        )
    loop = Loop(
        kind="multi-instance",
        sequential=construct.endswith("sequential"),
        collection="items",
        item="item",
    )
    return _simple_model(_build_task(loop=loop))


def _event_model(construct: str) -> Model:
    _, position, trigger, *rest = construct.split(".")
    return _EVENTS[position](trigger, not rest)


def _start_event(trigger: str, interrupting: bool) -> Model:
    if not interrupting or trigger in ("error", "escalation", "compensation"):
        return _event_sub_process(_inner_start(trigger, interrupting=interrupting))
    return _build_model(
        _build_line(_build_start(**_trigger_definitions(trigger)), _build_task(), _build_end())
    )


def _middle_event(position: Literal["catch", "throw"]) -> Callable[[str, bool], Model]:
    def build_event(trigger: str, interrupting: bool) -> Model:
        if trigger == "link":
            return _link_model()
        name = "Wait" if position == "catch" else "Tell"
        return _simple_model(
            Event(id="event", name=name, position=position, **_trigger_definitions(trigger))
        )

    return build_event


def _link_model() -> Model:
    leave = Event(id="leave", name="Later", position="throw", **_trigger_definitions("link"))
    arrive = Event(id="arrive", name="Later", position="catch", **_trigger_definitions("link"))
    return _build_model(
        Process(
            id="process",
            name="Process",
            nodes=(_build_start(), leave, arrive, _build_end()),
            flows=(_build_flow("start", "leave"), _build_flow("arrive", "end")),
        )
    )


def _boundary_event(trigger: str, interrupting: bool) -> Model:
    if trigger == "compensation":
        return _compensation_model("activity.compensation")
    host: Node = _build_task()
    if trigger == "cancel":
        cancel = _build_end("inner_end", **_trigger_definitions("cancel"))
        host = _build_subprocess(_inner_start(), cancel, id_="work", flavour="transaction")
    if trigger == "escalation":  # it comes from what throws it, and from nowhere else
        host = CallActivity(id="work", name="Do the work", called="called")
    boundary = Event(
        id="boundary",
        name="Something happens",
        position="boundary",
        attached_to="work",
        interrupting=interrupting,
        **_trigger_definitions(trigger),
    )
    base = _build_line(_build_start(), host, _build_end())
    model = _build_model(
        base.replace(
            nodes=(*base.nodes, boundary, _build_end("other_end")),
            flows=(*base.flows, _build_flow("boundary", "other_end")),
        )
    )
    if trigger != "escalation":
        return model
    nodes = (_inner_start(), _build_end("inner_end", **_trigger_definitions(trigger)))
    called = Process(
        id="called", name="Called", nodes=nodes, flows=(_build_flow("inner_start", "inner_end"),)
    )
    return model.replace(processes=(*model.processes, called))


def _end_event(trigger: str, interrupting: bool) -> Model:
    if trigger == "cancel":
        return _boundary_event("cancel", True)
    return _build_model(
        _build_line(_build_start(), _build_task(), _build_end(**_trigger_definitions(trigger)))
    )


_EVENTS: dict[str, Callable[[str, bool], Model]] = {
    "start": _start_event,
    "catch": _middle_event("catch"),
    "throw": _middle_event("throw"),
    "boundary": _boundary_event,
    "end": _end_event,
}


def _gateway_block(kind: GatewayKind, **second: Any) -> Model:
    """start → split → two tasks → join → end, the branches labelled."""
    split = Gateway(id="split", name="How to continue?", gateway_kind=kind)
    join = Gateway(id="join", gateway_kind=kind)
    first_task, second_task = _build_task("one", "One way"), _build_task("two", "Other way")
    named = kind != "parallel"
    flows = (
        _build_flow("start", "split"),
        _build_flow("split", "one", name="One" if named else ""),
        _build_flow("split", "two", **({"name": "Other"} if named else {}), **second),
        _build_flow("one", "join"),
        _build_flow("two", "join"),
        _build_flow("join", "end"),
    )
    nodes = (_build_start(), split, first_task, second_task, join, _build_end())
    return _build_model(Process(id="process", name="Process", nodes=nodes, flows=flows))


def _gateway_model(construct: str) -> Model:
    kind = construct.split(".")[1]
    if kind != "event":
        return _gateway_block(next(k for k in get_args(GatewayKind) if k == kind))
    instantiating = construct.endswith("instantiating")
    waits = ("message", "signal") if instantiating else ("message", "timer")
    first = Gateway(
        id="split", name="What comes first?", gateway_kind="event", instantiate=instantiating
    )
    catches = tuple(
        Event(id=f"on_{w}", name=f"On {w}", position="catch", **_trigger_definitions(w))
        for w in waits
    )
    ends = tuple(_build_end(f"end_{w}") for w in waits)
    flows = [
        f
        for w in waits
        for f in (_build_flow("split", f"on_{w}"), _build_flow(f"on_{w}", f"end_{w}"))
    ]
    nodes: tuple[Node, ...] = (first, *catches, *ends)
    if not instantiating:
        nodes, flows = (_build_start(), *nodes), [_build_flow("start", "split"), *flows]
    return _build_model(Process(id="process", name="Process", nodes=nodes, flows=tuple(flows)))


def _sequence_flow(construct: str) -> Model:
    if construct == "flow.conditional":
        condition = Expression(text="amount > 1000", language="javascript")
        return _gateway_block("inclusive", condition=condition)
    if construct == "flow.default":
        return _gateway_block("exclusive", default=True)
    return _simple_model(_build_task())


def _message_flow(construct: str) -> Model:
    sender = _build_line(
        _build_start(), _build_task("work", "Send the order", task_type="send"), _build_end()
    )
    pool = Pool(id="pool", name="Here", process="process")
    if construct.endswith("black-box"):
        there = Pool(id="there", name="There")
        link = MessageFlow(id="link", source="work", target="there", message="message")
        return _build_model(sender, pools=(pool, there), message_flows=(link,))
    answer = Process(
        id="other_process",
        name="Other process",
        nodes=(
            Event(id="other_start", position="start", **_trigger_definitions("message")),
            _build_end("other_end"),
        ),
        flows=(_build_flow("other_start", "other_end"),),
    )
    there = Pool(id="there", name="There", process="other_process")
    link = MessageFlow(id="link", source="work", target="other_start", message="message")
    return _build_model(sender, answer, pools=(pool, there), message_flows=(link,))


def _pool_model(construct: str) -> Model:
    pools = [Pool(id="pool", name="Here", process="process")]
    if construct == "pool.black-box":
        pools.append(Pool(id="there", name="There"))
    return _build_model(
        _build_line(_build_start(), _build_task(), _build_end()), pools=tuple(pools)
    )


def _beside_model(construct: str) -> Model:
    """Constructs that stand beside the control flow."""
    base = _build_line(_build_start(), _build_task(), _build_end())
    paper = DataObject(id="paper", name="Paper", data_kind="object")
    if construct == "lane":
        lane = Lane(id="lane", name="Office", members=("start", "work", "end"))
        return _build_model(base.replace(lanes=(lane,)))
    if construct == "data.object":
        return _build_model(base.replace(data_objects=(paper,)))
    if construct == "data.flow":
        flow = DataFlow(id="reads", source="paper", target="work")
        return _build_model(base.replace(data_objects=(paper,), data_flows=(flow,)))
    note = Artifact(id="note", artifact_kind="annotation", text="As every year")
    return _build_model(base.replace(artifacts=(note,)))


def _opaque_model(construct: str) -> Model:
    harmless = construct.endswith("harmless")
    thing = Opaque(id="thing", tag="{https://example.org/other}thing", harmless=harmless)
    base = _build_line(_build_start(), _build_task(), _build_end())
    return _build_model(base.replace(nodes=(*base.nodes, thing)))


def _stub_model(_: str) -> Model:
    reason = "`Robot` (opaque.illegal) is not supported: its meaning is unknown"
    return _build_model(
        _build_line(
            _build_start(), Opaque(id="robot", name="Robot", tag="stub", stops=reason), _build_end()
        )
    )


_BUILDERS: tuple[tuple[str, Callable[[str], Model]], ...] = (
    ("task", _task_model),
    ("activity.compensation", _compensation_model),
    ("activity.quantity", _quantity_model),
    ("call-activity", _call_model),
    ("sub-process", _sub_process),
    ("loop", _loop_model),
    ("event", _event_model),
    ("gateway", _gateway_model),
    ("flow.message", _message_flow),
    ("flow", _sequence_flow),
    ("pool", _pool_model),
    ("opaque", _opaque_model),
    ("stub", _stub_model),
    ("lane", _beside_model),
    ("data", _beside_model),
    ("artifact", _beside_model),
)
