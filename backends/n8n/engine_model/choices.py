"""The possible next behaviour of a node."""

from __future__ import annotations

from orgflow.backends.n8n.engine_model.config import Phase
from orgflow.backends.n8n.engine_model.flow import Node
from orgflow.backends.n8n.engine_model.outcome import (
    ANSWERED,
    FAILS,
    RUNS,
    TIMED_OUT,
    Emits,
    Opens,
    Outcome,
)
from orgflow.backends.n8n.node_types.behaviour import Counts


def handed_on(node: Node, raw: Counts, errors: int = 0) -> Counts:
    """The output of a node whose body returns `raw`, with `errors` additional items marked as
    failed.

    Under `continueErrorOutput`, n8n writes the failed items over the node's own items on the output
    after its last declared one: those that a Filter drops, or that a sub-workflow returns second.
    """
    if node.on_error != "error":
        return raw
    outputs = node.behaviour.outputs
    if outputs is None:
        outputs = len(raw)
    padding = (0,) * (outputs - len(raw))
    return (*raw[:outputs], *padding, errors, *raw[outputs + 1 :])


def choices_at(
    node: Node, phase: Phase, inputs: Counts, errors: bool, most: int
) -> tuple[Outcome, ...]:
    """The outcomes of `node` with these numbers of items on each input; see
    `EngineModel.outcomes`."""
    behaviour = node.behaviour
    if phase is Phase.SLEEPING:
        return (TIMED_OUT,)
    if phase is Phase.PARKED:
        answered: tuple[Outcome, ...] = (ANSWERED,) if behaviour.answered else ()
        return (*answered, TIMED_OUT) if behaviour.limited else answered
    if node.disabled or behaviour.kind in ("trigger", "stop") or not any(inputs):
        return (RUNS,)
    first = inputs[0]
    outcomes: tuple[Outcome, ...] = (RUNS,)
    if behaviour.kind == "wait":
        sleeps = (True, False) if behaviour.in_process is None else (behaviour.in_process,)
        outcomes = tuple(Opens(sleep) for sleep in sleeps)
    elif behaviour.kind == "choice":
        assert behaviour.choices is not None
        outcomes = tuple(
            dict.fromkeys(Emits(handed_on(node, raw)) for raw in behaviour.choices(first, most))
        )
    if errors:
        failed = (Emits(handed_on(node, (0,), first)),) if node.on_error == "error" else ()
        outcomes = (*outcomes, *(failure for failure in failed if failure not in outcomes), FAILS)
    return outcomes
