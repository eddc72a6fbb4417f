"""Whether a backend keeps the structure of a model: each flow, the condition of each branch, the
attachment of boundary events, and the content of sub-processes. Two models that differ in one of
these must not give the same text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orgflow_ir.model import Event, Expression, Flow, Lane, Model, Node, Process, SubProcess, Task
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.targets import Legal, TargetSpec
from orgflow_ir.testing.conformance.minimal_models import minimal_model
from orgflow_ir.testing.conformance.shapes import build_shape, list_shapes

Text = Callable[[Model], str | None]
"""The output of a backend for a model, with its diagnostics; `None` if it refuses the model."""


class _Change(NamedTuple):
    """Two models, and the complaint where a backend gives the same text for both."""

    model: Model
    changed: Model
    complaint: str


def structure_problems(text: Text, target: TargetSpec) -> Iterator[str]:
    """Yield structural changes that the output does not show, at most one of each kind.

    For a target that runs its files, conditions, defaults, times and notes count too; lanes and
    message flows do unless the table has a note about them, which may state that they are omitted.
    """
    kinds = [_flow_changes, _inner_flows, _attachment_changes]
    if target.executes:
        kinds += [_condition_changes, _default_changes, _time_changes, _note_changes]
        for construct, kind in (("flow.message", _message_flows), ("lane", _lane_changes)):
            if target.legality(construct) == Legal():
                kinds.append(kind)
    for kind in kinds:
        for model, changed, complaint in kind():
            before = text(model)
            if before is not None and text(changed) == before:
                yield complaint
                break


def _flow_changes() -> Iterator[_Change]:
    """Every flow of every shape, leading to another task."""
    for name, model in list_shapes():
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
                    yield _Change(model, _redirect_flow(model, flow, node), complaint)
                    break


def _only_target(process: Process, node: str) -> str | None:
    """Where the only flow out of a node leads."""
    out = [f.target for f in process.flows if f.source == node]
    return out[0] if len(out) == 1 else None


def _redirect_flow(model: Model, flow: Flow, to: Node) -> Model:
    (process,) = model.processes
    flows = tuple(f.replace(target=to.id) if f.id == flow.id else f for f in process.flows)
    return model.replace(processes=(process.replace(flows=flows),))


def _inner_flows() -> Iterator[_Change]:
    """The order of two steps in a sub-process."""
    orders = ("i>A A>B B>e", "i>B B>A A>e")
    first, second = (_nest_shape(order) for order in orders)
    yield _Change(
        first, second, "omits flows in sub-processes: the output does not depend on their order"
    )


def _nest_shape(order: str) -> Model:
    (inner,) = build_shape(order.replace("i>", "s>")).processes
    nodes = tuple(
        n.replace(id=f"inner_{n.id}", name=f"Inner {n.name}")
        for n in sorted(inner.nodes, key=lambda n: n.id)
    )
    flows = tuple(
        f.replace(id=f"inner_{f.id}", source=f"inner_{f.source}", target=f"inner_{f.target}")
        for f in inner.flows
    )
    model = build_shape("s>D D>e")
    (process,) = model.processes
    sub = SubProcess(id="D", name="Details", nodes=nodes, flows=flows)
    around = tuple(sub if n.id == "D" else n for n in process.nodes)
    return model.replace(processes=(process.replace(nodes=around),))


def _attachment_changes() -> Iterator[_Change]:
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
            models = [_attach_event(small, event, to) for to in ("A", "B")]
            kind = construct.removeprefix("event.boundary.")
            complaint = (
                f"omits the attachment of a boundary event ({kind}): the output does not depend "
                "on it"
            )
            yield _Change(models[0], models[1], complaint)


def _attach_event(small: Model, event: Event, to: str) -> Model:
    model = build_shape("s>A A>B B>e C>f")
    (process,) = model.processes
    caught = event.replace(id="caught", name="Caught", attached_to=to)
    flow = Flow(id="caught_C", source="caught", target="C")
    parts = process.replace(nodes=(*process.nodes, caught), flows=(*process.flows, flow))
    return model.replace(processes=(parts,), catalog=small.catalog)


def _condition_changes() -> Iterator[_Change]:
    """Which branch has which condition. They have no labels, which some targets show instead."""
    for split in ("x1", "o1"):
        models = [
            build_shape(f"s>{split} {split}>A?{a} {split}>B?{b} {split}>C! A>e B>e C>e")
            for a, b in (("amount>5", "amount<2"), ("amount<2", "amount>5"))
        ]
        yield _Change(
            models[0], models[1], "mixes branches: swapped conditions do not affect the output"
        )
    models = [
        build_shape(f"s>x1 x1>A?amount>5{a} x1>B?amount<2{b} A>e B>e")
        for a, b in (("", ""), ("0", ""))
    ]
    yield _Change(
        models[0], models[1], "omits conditions: a changed condition does not affect the output"
    )


def _default_changes() -> Iterator[_Change]:
    """Whether a branch without a condition is taken always, or only where no other one is."""
    for line in ("s>o1 o1>A?amount>5 o1>B{} A>o2 B>o2 o2>e", "s>x1 x1>B{} x1>A?amount>5 A>e B>e"):
        models = [build_shape(line.format(default)) for default in ("!", "")]
        yield _Change(
            models[0], models[1], "omits defaults: a changed default does not affect the output"
        )


def _time_changes() -> Iterator[_Change]:
    """The time of each kind of timer event, but of those that start a process: something else may
    start it."""
    for construct in CONSTRUCTS:
        if construct.startswith(("event.catch.timer", "event.boundary.timer")):
            small = minimal_model(construct)
            models = [_set_time(small, text) for text in ("PT1H", "PT2H")]
            kind = construct.removeprefix("event.")
            complaint = f"omits times: that of a timer ({kind}) does not affect the output"
            yield _Change(models[0], models[1], complaint)


def _set_time(model: Model, text: str) -> Model:
    def set_node_time(node: Node) -> Node:
        if not isinstance(node, Event) or not node.definitions:
            return node
        changed = tuple(
            d.replace(expression=Expression(text=text, language=None), timer="duration")
            if d.kind == "timer" else d
            for d in node.definitions
        )  # fmt: skip
        return node.replace(definitions=changed)

    processes = tuple(
        p.replace(nodes=tuple(set_node_time(node) for node in p.nodes)) for p in model.processes
    )
    return model.replace(processes=processes)


def _message_flows() -> Iterator[_Change]:
    """A message from one process to another."""
    model = minimal_model("flow.message")
    changed = model.replace(message_flows=())
    yield _Change(model, changed, "omits message flows: they do not affect the output")


def _lane_changes() -> Iterator[_Change]:
    """Who does which step."""
    models = [_with_lanes(*members) for members in (("A", "B"), ("B", "A"))]
    yield _Change(
        models[0], models[1], "omits lanes: who does which step does not affect the output"
    )


def _with_lanes(first: str, second: str) -> Model:
    model = build_shape("s>A A>B B>e")
    (process,) = model.processes
    lanes = (
        Lane(id="lane_sales", name="Sales", members=(first,)),
        Lane(id="lane_stock", name="Stock", members=(second,)),
    )
    return model.replace(processes=(process.replace(lanes=lanes),))


def _note_changes() -> Iterator[_Change]:
    """The documentation of a task."""
    model = build_shape("s>A A>e")
    (process,) = model.processes
    models = [
        model.replace(
            processes=(
                process.replace(
                    nodes=tuple(
                        n.replace(doc=doc) if isinstance(n, Task) else n for n in process.nodes
                    )
                ),
            )
        )
        for doc in ("Ask the customer.", "Ask the supplier.")
    ]
    yield _Change(
        models[0], models[1], "omits documentation: that of a task does not affect the output"
    )
