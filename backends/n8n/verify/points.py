"""The nodes and steps of the product, and the data of its exploration about a workflow."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from orgflow.backends.n8n.engine_model import Config, EngineModel, World
from orgflow.backends.n8n.verify.choices import Reader

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.semantics import State
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.targets.verification import Difference, SideBySide

if TYPE_CHECKING:
    from orgflow.backends.n8n.plan.actions import ReadEscalations

OPEN: Final = ("?",)
"""A decision that is set and not yet read; no flow has this id."""


@dataclass(frozen=True)
class Roles:
    """The roles of the nodes of one workflow for one process.

    Attributes:
        stands: task or event of the source by node name.
        readers: deciding nodes by name.
        owners: gateway of the graph → element of the source whose step decides.
        branches: gateway → flows of its branches in order, and its default, if any.
        coded: gateways that read unmodelled data: free at every visit.
        sets: node name → gateways whose decision it sets each time it runs.
        given: gateways whose decision is part of the trigger's data.
        helpers: compiler-generated nodes without an element.
        disabled: disabled nodes.
        silent: elements of the source that need no node: gateways that do not decide.
        dissolved: sub-processes of the source, and compensation events, of which the workflow
            contains only the content.
        splitting: activities some of whose flows are always taken and others chosen.
        idle: events of the source without an effect, whose node may be disabled without a
            difference.
        equal: gateway → groups of its branches that have the same condition.
        several: gateways that may take several branches.
        loose: deciding elements of the source without a deciding node.
        refusals: Stop nodes directly after deciding nodes.
        failing: nodes with an error output that leads to boundary events → their task.
        uncaught: nodes that stop a run with an error that no event of the model catches.
        stubs: nodes that stop a run before an unsupported element → the element of the source, or
            nothing if it has already happened.
        escalating: nodes of calls with events that catch escalations.
        escalated: nodes after these that evaluate the thrown escalations, with the meaning of each
            output.
        guards: nodes that lead back to the preceding unanswered form, which is one answer for the
            model.
    """

    stands: Mapping[str, str]
    readers: Mapping[str, Reader]
    owners: Mapping[str, str]
    branches: Mapping[str, tuple[tuple[str, ...], str | None]]
    coded: frozenset[str]
    sets: Mapping[str, tuple[str, ...]]
    given: frozenset[str]
    helpers: frozenset[str]
    disabled: frozenset[str]
    silent: frozenset[str]
    dissolved: frozenset[str]
    splitting: frozenset[str]
    idle: frozenset[str]
    equal: Mapping[str, tuple[tuple[str, ...], ...]]
    several: frozenset[str]
    loose: frozenset[str]
    refusals: frozenset[str]
    stubs: Mapping[str, str | None]
    guards: frozenset[str]
    failing: Mapping[str, str]
    uncaught: frozenset[str]
    escalating: frozenset[str]
    escalated: Mapping[str, ReadEscalations]


class Point(NamedTuple):
    """A node of the product.

    Attributes:
        world: the executions of the engine: at present, the one of the workflow.
        state: the state of the token game.
        decided: for each gateway that may still be read, the selected branches, or `OPEN`.
        begun: elements that have run in the workflow and whose branches are undecided.
        chosen: gateways and the branches chosen for them when the preceding activity ran, oldest
            first, until a node reads the choice.
        early: events that have happened in the model, and whose nodes have not run yet.
        unfit: label of the gateway that received a value without a branch: only a stop may follow.
    """

    world: World
    state: State
    decided: tuple[tuple[str, tuple[str, ...]], ...] = ()
    begun: tuple[str, ...] = ()
    chosen: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unfit: str = ""
    early: tuple[str, ...] = ()

    @property
    def config(self) -> Config:
        """The configuration of the workflow's execution."""
        return self.world.executions[0].config


class Move(NamedTuple):
    """A step of the product: its target, and the steps of both sides."""

    to: Point
    lines: tuple[SideBySide, ...]
    steps: tuple[Step, ...]


class Differs(Exception):
    """The point where the two differ; `lines` and `steps` are the last ones."""

    def __init__(
        self,
        message: str,
        lines: tuple[SideBySide, ...] = (),
        steps: tuple[Step, ...] = (),
        unfit: bool = False,
    ) -> None:
        super().__init__(message)
        self.message, self.lines, self.steps, self.unfit = message, lines, steps, unfit


class TooMuch(Exception):
    """A bound was reached, which the text names."""


class PilesUp(TooMuch):
    """The engine's pending work grows without bound."""


def live_decisions(machine: EngineModel, roles: Roles) -> list[frozenset[str]]:
    """For each node of the main workflow, the gateways whose decision may be read from there on
    before it is set again; the other ones can be forgotten."""
    flow = machine.flows[0]
    reads: list[set[str]] = [set() for _ in flow.nodes]
    sets: list[set[str]] = [set() for _ in flow.nodes]
    before: list[list[int]] = [[] for _ in flow.nodes]
    for node in flow.nodes:
        sets[node.index].update(roles.sets.get(node.name, ()))
        reader = roles.readers.get(node.name)
        if reader is not None:
            fresh = reader.main and reader.gateway in roles.coded
            (sets if fresh else reads)[node.index].add(reader.gateway)
        for wire in node.wires:
            before[wire.target].append(node.index)
    live = [set(r) for r in reads]
    work = deque(i for i, r in enumerate(reads) if r)
    while work:
        index = work.popleft()
        for source in before[index]:
            grown = live[index] - sets[source] - live[source]
            if grown:
                live[source] |= grown
                work.append(source)
    return [frozenset(entry) for entry in live]


def inert_nodes(machine: EngineModel, roles: Roles) -> frozenset[int]:
    """Added nodes of the main workflow without an effect: nothing follows them.

    Nodes that can stop the run, wait, decide or call are excluded.
    """
    flow = machine.flows[0]
    inert = {
        node.index
        for node in flow.nodes
        if node.name not in roles.stands
        and node.name not in roles.readers
        and (node.disabled or node.behaviour.kind in ("pass", "choice"))
        and not node.behaviour.answered
    }
    while True:
        left = {i for i in inert if all(w.target in inert for w in flow.nodes[i].wires)}
        if left == inert:
            return frozenset(inert)
        inert = left


def difference_at(
    way: Sequence[Move], point: Point, differs: Differs, first: tuple[Step, ...]
) -> Difference:
    """Both runs from the start, by the moves of `way` to `point`, up to the difference."""
    return Difference(
        differs.message,
        tuple(line for part in (*(m.lines for m in way), differs.lines) for line in part),
        tuple(step for part in (first, *(m.steps for m in way), differs.steps) for step in part),
        differs.unfit or bool(point.unfit),
    )
