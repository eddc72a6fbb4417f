"""Waits beside other work on n8n, whose executions do one thing at a time: the derived constructs
`wait.parallel`, `wait.race` and `wait.interrupted`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgflow_ir.flow.concurrency.model_concurrency import ModelConcurrency, concurrency_of
from orgflow_ir.model import Event, Model, Node, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext

PARALLEL = "wait.parallel"
"""A step that waits while other branches are active, or while another step may wait."""

RACE = "wait.race"
"""An event that may come while other work is active, or one of several that are awaited."""

INTERRUPTED = "wait.interrupted"
"""An event that ends a wait when it comes, or an end that ends the waits of other branches."""


def wait_uses(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`wait.parallel`, `wait.race` and `wait.interrupted`: waits beside other work, and the events
    that compete with it."""
    yield from parallel_waits(model, ctx).values()
    for wait in concurrency_of(model, ctx).waits:
        if wait.kind == "race":
            construct = INTERRUPTED if wait.ends else RACE
            yield ConstructUse(construct, wait.element, wait.scope)


def parallel_waits(model: Model, ctx: PassContext) -> Mapping[str, ConstructUse]:
    """The uses of `wait.parallel` in a model, by element; computed once.

    User tasks and receive tasks count beside another wait, catch events beside any other work.
    """
    analysis = concurrency_of(model, ctx)
    known = ctx.shared(_ParallelUses).of_model
    if id(analysis.model) not in known:
        uses = {use.element.id: use for use in _find_parallel(analysis, ctx)}
        known[id(analysis.model)] = analysis.model, uses
    return known[id(analysis.model)][1]


def is_awaited(node: Node) -> bool:
    """Whether a step waits for a call: a receive task that does not begin the process."""
    return isinstance(node, Task) and node.task_type == "receive" and not node.instantiate


def waits_for_event(node: Node) -> bool:
    """Whether a step is an event that becomes a Wait node."""
    return (
        isinstance(node, Event)
        and node.position == "catch"
        and node.trigger in ("timer", "message", "signal")
    )


class _ParallelUses:
    """The uses of `wait.parallel` by the models of a context."""

    def __init__(self) -> None:
        self.of_model: dict[int, tuple[Model, Mapping[str, ConstructUse]]] = {}


def _find_parallel(analysis: ModelConcurrency, ctx: PassContext) -> Iterator[ConstructUse]:
    from orgflow_ir.model.provenance import source_ids
    from orgflow_ir.work.form_fields import is_done_by_a_person

    source = ctx.source
    for scope in analysis.model.scopes():
        for node in scope.nodes:
            if isinstance(node, Event):
                if waits_for_event(node) and analysis.split_around(node.id) is not None:
                    yield ConstructUse(PARALLEL, node, scope)
            elif isinstance(node, Task) and (is_done_by_a_person(node) or is_awaited(node)):
                # Loops of the source are flows by now; their instances were begun at once.
                repeated = source is not None and not concurrency_of(
                    source, ctx
                ).begun_at_once.isdisjoint(source_ids(node))
                if repeated or analysis.open_with(node.id):
                    yield ConstructUse(PARALLEL, node, scope)
