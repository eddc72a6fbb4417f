"""Small sound models of structures that no single construct shows: loops, nested blocks, mixed
gateways."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow_ir.model import (
    Event,
    Expression,
    Flow,
    Gateway,
    GatewayKind,
    Model,
    Node,
    Process,
    Task,
)

_GATES: dict[str, GatewayKind] = {"x": "exclusive", "p": "parallel", "o": "inclusive"}

_SHAPES: dict[str, str] = {
    "a sequence": "s>A A>B B>e",
    "a choice": "s>x1 x1>A:One x1>B:Other A>x2 B>x2 x2>e",
    "a choice without a join": "s>x1 x1>A:One x1>B:Other A>e B>f",
    "an empty branch": "s>x1 x1>A:One x1>x2:Other A>x2 x2>e",
    "branches in parallel": "s>p1 p1>A p1>B A>p2 B>p2 p2>C C>e",
    "parallel branches with separate ends": "s>p1 p1>A p1>B A>e B>f",
    "one or both branches": "s>o1 o1>A:One o1>B:Other A>o2 B>o2 o2>C C>e",
    "a loop": "s>x1 x1>A A>x2 x2>x1:Again x2>e:Done",
    "a loop with a task on the backward flow": "s>x1 x1>A A>x2 x2>B:Again B>x1 x2>e:Done",
    "a choice in parallel branches":
        "s>p1 p1>x1 x1>A:One x1>B:Other A>x2 B>x2 x2>p2 p1>C C>p2 p2>e",
    "parallel branches in a loop":
        "s>x1 x1>p1 p1>A p1>B A>p2 B>p2 p2>x2 x2>x1:Again x2>e:Done",
    "a gateway that joins and splits":
        "s>x1 x1>A:One x1>B:Other A>x2 B>x2 x2>C:Three x2>D:Four C>e D>f",
    "a parallel gateway that joins and splits": "s>p1 p1>A p1>B A>p2 B>p2 p2>C p2>D C>p3 D>p3 p3>e",
    "a condition on a flow out of a task": "s>A A>B?amount>5 A>C! B>x1 C>x1 x1>e",
}  # fmt: skip
"""`a>b:Label`, `a>b?condition`, `a>b!` for the default; `x` `p` `o` are gateways, `s` the start,
`e` and `f` ends, everything else is a task."""


def list_shapes() -> Iterator[tuple[str, Model]]:
    """Every shape with its name."""
    for name, text in _SHAPES.items():
        yield name, build_shape(text)


def build_shape(text: str) -> Model:
    """The model that a line of `_SHAPES` defines."""
    nodes: dict[str, Node] = {}
    flows = []
    for part in text.split():
        source, _, rest = part.partition(">")
        rest, _, condition = rest.partition("?")
        target, _, label = rest.removesuffix("!").partition(":")
        for id in (source, target):
            nodes.setdefault(id, _build_node(id))
        flows.append(
            Flow(
                id=f"{source}_{target}",
                name=label,
                source=source,
                target=target,
                condition=Expression(text=condition, language="javascript") if condition else None,
                default=rest.endswith("!"),
            )
        )
    process = Process(id="process", name="Process", nodes=tuple(nodes.values()), flows=tuple(flows))
    return Model(id="model", name="Model", processes=(process,))


def _build_node(id: str) -> Node:
    if id == "s":
        return Event(id=id, name="Started", position="start")
    if id in ("e", "f"):
        return Event(id=id, name=f"Finished {id}", position="end")
    if id[0] in _GATES:
        return Gateway(id=id, name=f"Gateway {id}", gateway_kind=_GATES[id[0]])
    return Task(id=id, name=f"Do {id}")
