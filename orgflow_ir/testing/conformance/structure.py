"""Whether a backend keeps the structure of a model: each flow, the condition of each branch, the
attachment of boundary events, and the content of sub-processes. Two models that differ in one of
these must not give the same text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from orgflow_ir.model import Event, Flow, Model, Node, Process, SubProcess, Task
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.testing.conformance.shapes import shape, shapes
from orgflow_ir.testing.minimal import minimal_model

Text = Callable[[Model], str | None]
"""The output of a backend for a model, with its diagnostics; `None` if it refuses the model."""


class _Change(NamedTuple):
    """Two models, and the complaint where a backend gives the same text for both."""

    model: Model
    changed: Model
    complaint: str


def structure_problems(text: Text, *, executes: bool) -> Iterator[str]:
    """Changes of the structure without an effect on the output, at most one of each kind.
    `executes`: whether the target runs its files, so that conditions matter too."""
    kinds = [_flows, _inner_flows, _attachments]
    for kind in [*kinds, _conditions] if executes else kinds:
        for model, changed, complaint in kind():
            before = text(model)
            if before is not None and text(changed) == before:
                yield complaint
                break


def _flows() -> Iterator[_Change]:
    """Every flow of every shape, leading to another task."""
    for name, model in shapes():
        (process,) = model.processes
        for flow in process.flows:
            # A gateway that only joins may be left out where it leads to the other task anyway.
            known = (flow.source, flow.target, _only_target(process, flow.target))
            for node in process.nodes:
                if isinstance(node, Task) and node.id not in known:
                    complaint = (
                        f"omits a flow of “{name}”: the output does not depend on whether "
                        f"`{flow.source}` leads to `{flow.target}` or to `{node.id}`"
                    )
                    yield _Change(model, _redirected(model, flow, node), complaint)
                    break


def _only_target(process: Process, node: str) -> str | None:
    """Where the only flow out of a node leads."""
    out = [f.target for f in process.flows if f.source == node]
    return out[0] if len(out) == 1 else None


def _redirected(model: Model, flow: Flow, to: Node) -> Model:
    (process,) = model.processes
    flows = tuple(f.replace(target=to.id) if f.id == flow.id else f for f in process.flows)
    return model.replace(processes=(process.replace(flows=flows),))


def _inner_flows() -> Iterator[_Change]:
    """The order of two steps in a sub-process."""
    orders = ("i>A A>B B>e", "i>B B>A A>e")
    first, second = (_nested(order) for order in orders)
    yield _Change(
        first, second, "omits flows in sub-processes: the output does not depend on their order"
    )


def _nested(order: str) -> Model:
    (inner,) = shape(order.replace("i>", "s>")).processes
    nodes = tuple(
        n.replace(id=f"inner_{n.id}", name=f"Inner {n.name}")
        for n in sorted(inner.nodes, key=lambda n: n.id)
    )
    flows = tuple(
        f.replace(id=f"inner_{f.id}", source=f"inner_{f.source}", target=f"inner_{f.target}")
        for f in inner.flows
    )
    model = shape("s>D D>e")
    (process,) = model.processes
    sub = SubProcess(id="D", name="Details", nodes=nodes, flows=flows)
    around = tuple(sub if n.id == "D" else n for n in process.nodes)
    return model.replace(processes=(process.replace(nodes=around),))


def _attachments() -> Iterator[_Change]:
    """What each kind of boundary event is attached to."""
    for construct in CONSTRUCTS:
        if construct.startswith("event.boundary.") and not construct.endswith(
            (".none", ".cancel", ".compensation")
        ):
            small = minimal_model(construct)
            event = next(
                n for s in small.scopes() for n in s.nodes
                if isinstance(n, Event) and n.position == "boundary"
            )  # fmt: skip
            models = [_attached(small, event, to) for to in ("A", "B")]
            kind = construct.removeprefix("event.boundary.")
            complaint = (
                f"omits the attachment of a boundary event ({kind}): the output does not depend "
                "on it"
            )
            yield _Change(models[0], models[1], complaint)


def _attached(small: Model, event: Event, to: str) -> Model:
    model = shape("s>A A>B B>e C>f")
    (process,) = model.processes
    caught = event.replace(id="caught", name="Caught", attached_to=to)
    flow = Flow(id="caught_C", source="caught", target="C")
    parts = process.replace(nodes=(*process.nodes, caught), flows=(*process.flows, flow))
    return model.replace(processes=(parts,), catalog=small.catalog)


def _conditions() -> Iterator[_Change]:
    """Which branch has which condition. They have no labels, which some targets show instead."""
    for split in ("x1", "o1"):
        models = [
            shape(f"s>{split} {split}>A?{a} {split}>B?{b} {split}>C! A>e B>e C>e")
            for a, b in (("amount>5", "amount<2"), ("amount<2", "amount>5"))
        ]
        yield _Change(
            models[0], models[1], "mixes branches: swapped conditions do not affect the output"
        )
    models = [
        shape(f"s>x1 x1>A?amount>5{a} x1>B?amount<2{b} A>e B>e") for a, b in (("", ""), ("0", ""))
    ]
    yield _Change(
        models[0], models[1], "omits conditions: a changed condition does not affect the output"
    )
