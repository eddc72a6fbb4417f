"""A model with a gap of every kind that has an answer, and good answers to gaps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from orgflow_ir.gaps import Gap, find_gaps
from orgflow_ir.model import (
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Loop,
    Model,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import Parameter, Worker
from orgflow_ir.pipeline import PassContext


def _timer(text: str = "") -> EventDefinition:
    expression = Expression(text=text) if text else None
    return EventDefinition(kind="timer", id="timer_1", expression=expression)


def _inside() -> SubProcess:
    """A loop over a list that is not named, with a task and a time in it."""
    nodes = (
        Event(id="in_start", position="start"),
        Task(id="note", name="Write note", task_type="user"),
        Event(id="pause", name="Pause", position="catch", definitions=(_timer(),)),
        Event(id="in_end", position="end"),
    )
    ids = [n.id for n in nodes]
    flows = tuple(Flow(id=f"in_{i}", source=a, target=b) for i, (a, b) in enumerate(pairwise(ids)))
    return SubProcess(
        id="each", name="For each item", nodes=nodes, flows=flows,
        loop=Loop(kind="multi-instance", sequential=True, item="old"),
    )  # fmt: skip


def open_model(*, repeats: bool = True) -> Model:
    """A sound process with every kind of gap; without what `repeats`, which n8n does not support
    yet, all but the lists."""
    loop = Loop(kind="multi-instance", sequential=True)
    later = _timer("some days") if repeats else EventDefinition(kind="timer")
    nodes = (
        Event(id="start", name="Begin", position="start"),
        Task(
            id="check", name="Check order", task_type="service",
            binding=Worker(retries="3", inputs=(Parameter(name="order", text="=order"),)),
        ),
        Gateway(id="ok", name="Order ok?", gateway_kind="exclusive"),
        Task(id="repair", name="Repair order", task_type="user"),
        Event(id="later", name="Later", position="catch", definitions=(later,)),
        Gateway(id="how", name="How?", gateway_kind="inclusive"),
        Task(id="mail", name="Send mail", task_type="send"),
        Task(id="call", name="Call", task_type="manual"),
        Gateway(id="both", gateway_kind="inclusive"),
        Gateway(id="next", name="And next?", gateway_kind="exclusive"),
        Task(id="wait", name="Receive reply", task_type="receive"),
        Task(id="skip", name="Note that nothing comes", task_type="script"),
        Gateway(id="meet", gateway_kind="exclusive"),
        Gateway(id="vip", name="Important?", gateway_kind="exclusive"),
        _inside() if repeats else Task(id="each", name="Look at items"),
        Task(id="rate", name="Rate items", task_type="user", loop=loop if repeats else None),
        Gateway(id="last", gateway_kind="exclusive"),
        Event(id="end", name="Done", position="end"),
    )  # fmt: skip
    unread = Expression(text="${orders.isVip(customer)}", language="juel")
    flows = (
        Flow(id="f1", source="start", target="check"),
        Flow(id="f2", source="check", target="ok"),
        Flow(id="yes", name="Yes", source="ok", target="later"),
        Flow(id="no", name="No", source="ok", target="repair"),
        Flow(id="f3", source="repair", target="check"),
        Flow(id="f4", source="later", target="how"),
        Flow(id="by_mail", name="By mail", source="how", target="mail"),
        Flow(id="by_phone", name="By phone", source="how", target="call"),
        Flow(id="f5", source="mail", target="both"),
        Flow(id="f6", source="call", target="both"),
        Flow(id="f7", source="both", target="next"),
        Flow(id="to_wait", source="next", target="wait"),
        Flow(id="to_skip", source="next", target="skip"),
        Flow(id="f8", source="wait", target="meet"),
        Flow(id="f9", source="skip", target="meet"),
        Flow(id="f10", source="meet", target="vip"),
        Flow(id="is_vip", source="vip", target="each", condition=unread),
        Flow(id="others", source="vip", target="rate", default=True),
        Flow(id="f11", source="each", target="last"),
        Flow(id="f12", source="rate", target="last"),
        Flow(id="f13", source="last", target="end"),
    )
    process = Process(id="order", name="Order", nodes=nodes, flows=flows)
    return Model(id="model", name="Order", processes=(process,))


def gaps(model: Model) -> tuple[Gap, ...]:
    return find_gaps(model, PassContext())


def answerable(model: Model) -> tuple[Gap, ...]:
    return tuple(gap for gap in gaps(model) if gap.schema is not None)


def good_answer(gap: Gap) -> Any:
    """An answer that the gap takes."""
    assert gap.schema is not None
    fields: dict[str, Any] = gap.schema.get("properties", {})
    match gap.kind:
        case "task" | "message":
            return {"kind": "script", "language": "javascript", "code": "return items;"}
        case "time" if gap.default == "start by hand":
            return {"kind": "cycle", "value": "R/P1D"}
        case "time":
            return {"kind": "duration", "value": "P3D"}
        case "condition":
            return {"text": "amount > 1000"}
        case "list":
            return {"count": 3}
        case "branch":
            asked = list(fields["labels"]["properties"])
            return {"labels": {flow: f"Answer {n}" for n, flow in enumerate(asked)}}
        case "decision" if "conditions" in fields:
            asked = list(fields["conditions"]["properties"])
            return {"conditions": {flow: f"amount > {n}" for n, flow in enumerate(asked)}}
        case "decision":
            values = {
                flow: schema["default"] for flow, schema in fields["values"]["properties"].items()
            }
            return {"variable": fields["variable"]["default"], "values": values}
    raise AssertionError(f"a gap of the kind {gap.kind} has no answer")
