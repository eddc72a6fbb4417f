"""Small faulty models, each with a fault whose fix is not the gateway that split the branches."""

from __future__ import annotations

from text_model import model

from orgflow_ir.model import Event, EventDefinition, Model, SubProcess, Task

TIMER = (EventDefinition(kind="timer"),)


def with_events(text: str, gateways: dict[str, str], **events: Event) -> Model:
    """A model from lines of text in which some nodes are events of another kind."""
    made = model(text, gateways)
    (process,) = made.processes
    nodes = tuple(events.get(n.id, n) for n in process.nodes)
    return made.replace(processes=(process.replace(nodes=nodes),))


def timer(host: str, *, interrupting: bool) -> Event:
    """A timer at an activity."""
    return Event(
        id="hour",
        name="One hour",
        position="boundary",
        attached_to=host,
        interrupting=interrupting,
        definitions=TIMER,
    )


_ASKED = "start -> ask\nask -> j\nhour -> remind\nremind -> j\nj -> on\non -> end"
JUMP = """
start -> fork
fork -> write
fork -> check
check -> redo
redo -> write: again
redo -> join: fine
write -> join
join -> end
"""
CROSSED = """
start -> fork
fork -> one
fork -> two
one -> a
a -> x1
x1 -> two: over
x1 -> last: on
two -> b
b -> x2
x2 -> one: over
x2 -> last: on
last -> end
"""


def boundary(join: str, *, interrupting: bool) -> Model:
    """A timer's branch meets that of its activity at a gateway."""
    return with_events(_ASKED, {"j": join}, hour=timer("ask", interrupting=interrupting))


def two_starts() -> Model:
    """Two starts meet in a parallel join."""
    return with_events(
        "mail -> j\nphone -> j\nj -> handle\nhandle -> end",
        {"j": "parallel"},
        mail=Event(id="mail", name="By mail", position="start"),
        phone=Event(id="phone", name="By phone", position="start"),
    )


def jump() -> Model:
    """A choice in one parallel branch leads into the other."""
    return model(JUMP, {"fork": "parallel", "redo": "exclusive Redo?", "join": "parallel"})


def crossed() -> Model:
    """Two inclusive joins each wait for what comes back from behind the other."""
    gateways = {"fork": "parallel", "one": "inclusive", "two": "inclusive", "last": "parallel"}
    return model(CROSSED, {**gateways, "x1": "exclusive Back A?", "x2": "exclusive Back B?"})


def cancelled() -> Model:
    """An error ends one of two parallel branches, and the other waits for it."""
    made = model(
        "start -> fork\nfork -> sub\nfork -> bill\nsub -> j\nbill -> j\nj -> ship\nship -> end\n"
        "error -> tell\ntell -> endcancelled",
        {"fork": "parallel", "j": "parallel"},
    )
    (process,) = made.processes
    pick = model("start -> pick\npick -> end", {}).processes[0]
    renamed = {n.id: n.replace(id=f"in_{n.id}") for n in pick.nodes}
    inside = SubProcess(
        id="sub",
        name="Fulfil",
        nodes=tuple(renamed.values()),
        flows=tuple(
            f.replace(id=f"in_{f.id}", source=f"in_{f.source}", target=f"in_{f.target}")
            for f in pick.flows
        ),
    )
    error = Event(
        id="error",
        name="Out of stock",
        position="boundary",
        attached_to="sub",
        definitions=(EventDefinition(kind="error"),),
    )
    nodes = tuple({"sub": inside, "error": error}.get(n.id, n) for n in process.nodes)
    assert any(isinstance(n, Task) for n in nodes)
    return made.replace(processes=(process.replace(nodes=nodes),))


def before_a_decision() -> Model:
    """The timer's branch meets that of its activity at a gateway that decides."""
    text = (
        "start -> ask\nask -> ok\nhour -> remind\nremind -> ok\nok -> a: y\nok -> b: n\n"
        "a -> end\nb -> end"
    )
    return with_events(text, {"ok": "exclusive Ok?"}, hour=timer("ask", interrupting=False))
