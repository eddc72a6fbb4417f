"""From aligned steps to a sound process: the structure is mined from the events of cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from orgflow.agents.discovery.steps import Step

from orgflow_ir.mining.drawn_tree import LabelWays, StepLabel, draw_process, leave_unlabelled
from orgflow_ir.mining.event_rows import EventRow, Trace, group_traces
from orgflow_ir.mining.inductive_miner import mine_row, mine_tree
from orgflow_ir.mining.process_tree import Tree
from orgflow_ir.mining.tree_replay import measure_fitness
from orgflow_ir.model import Process
from orgflow_ir.model.evidence import Evidence

AGENT = "discover"

Cite = Callable[[Step], tuple[Evidence, ...]]
"""The evidence of a step."""


def trace_cases(steps: Sequence[Step]) -> tuple[Trace, ...]:
    """The steps of each case by the order of its messages; a step is its place in `steps`.

    Steps of one message are in the order in which they are given.
    """
    return group_traces(
        EventRow(case, number, place)
        for number, step in enumerate(steps)
        for case, places in step.members.items()
        for place in places
    )


def mine_structure(traces: Iterable[Trace]) -> Tree:
    """The tree that replays most traces: a mined one, or a row of steps with options if that
    replays more."""
    log = tuple(traces)
    tree, row = mine_tree(log), mine_row(log)
    return row if measure_fitness(row, log) > measure_fitness(tree, log) else tree


def build_process_model(
    prefix: str,
    name: str,
    steps: Sequence[Step],
    cite: Cite,
    tree: Tree | None = None,
    label_ways: LabelWays = leave_unlabelled,
) -> Process:
    """A process of aligned steps, sound by construction, in which every step is one task.

    Args:
        prefix: the id of the process.
        name: the name of the process.
        steps: the steps; those without messages are left out.
        cite: the evidence of a step.
        tree: the structure, if it is not to be mined from the messages of the steps.
        label_ways: the stated reasons of the ways of a choice; without one, a flow has no
            condition.
    """
    structure = mine_structure(trace_cases(steps)) if tree is None else tree
    labels = {
        number: StepLabel(step.name, step.actor, cite(step)) for number, step in enumerate(steps)
    }
    return draw_process(
        structure, labels, prefix=prefix, name=name, origin=AGENT, label_ways=label_ways
    )
