"""Run a machine to its end, with a function in the place of data and outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from orgflow.backends.n8n.engine_model.config import Config, Event, Phase, Place
from orgflow.backends.n8n.engine_model.model import EngineModel
from orgflow.backends.n8n.engine_model.outcome import Outcome, Resumes
from orgflow.backends.n8n.node_types.behaviour import Counts

Decide = Callable[[Place, int], Outcome]
"""What the node at a place does; the number is n8n's `$runIndex`, from 0 in every execution."""


@dataclass
class Visit:
    """One execution of one node, as n8n records it.

    Attributes:
        workflow: id of its workflow, None for the main one.
        node: its name.
        run: n8n's run index; it starts at 0 in every sub-workflow call.
        outputs: items on each output.
        status: "success", "error" (also where the run goes on), "waiting".
    """

    workflow: str | None
    node: str
    run: int
    outputs: Counts = ()
    status: Literal["success", "error", "waiting"] = "waiting"


@dataclass
class WaitVisit:
    """One wait.

    Attributes:
        workflow: as in `Visit`.
        node: the node that waits.
        opened_at: the place of its visit in `Simulation.order`.
        in_process: n8n sleeps instead of parking the execution.
        resumed: how it ended; None where it did not.
    """

    workflow: str | None
    node: str
    opened_at: int
    in_process: bool
    resumed: Literal["elapsed", "answer"] | None = None


@dataclass
class Simulation:
    """A run of the machine.

    Attributes:
        status: of the main workflow; "limit" where more nodes would have run than allowed.
        order: every node run in the order in which n8n begins them.
        waits: every wait in the order of opening.
        detached: the calls that nobody waits for: the workflow and the items handed over.
        config: the last configuration.
        steps: how many steps were made.
        most: the most items that were on one output.
    """

    status: Literal["success", "error", "waiting", "limit"] = "limit"
    order: list[Visit] = field(default_factory=list)
    waits: list[WaitVisit] = field(default_factory=list)
    detached: list[tuple[str, int]] = field(default_factory=list)
    config: Config = field(default_factory=lambda: Config(()))
    steps: int = 0
    most: int = 0


def simulate(
    machine: EngineModel, trigger: str, decide: Decide, *, items: int = 1, limit: int = 20_000
) -> Simulation:
    """Run `machine` from the node `trigger`.

    Args:
        machine: the workflow.
        trigger: the node to start at.
        decide: what nodes do; called for every step, also where there is one outcome only.
        items: what the trigger gets.
        limit: the most node runs; going on after a parked wait counts as one, as in the local
            engine.
    """
    run = Simulation(config=machine.initial(trigger, items))
    runs: list[dict[str, int]] = [{}]
    begun: list[int] = [0]
    started = 0
    while not run.config.ended:
        place = machine.at(run.config)
        assert place is not None
        if place.phase is not Phase.SLEEPING:
            if started >= limit:
                return run
            started += 1
        index = runs[place.depth].get(place.node, 0)
        outcome = decide(place, index)
        run.config, events = machine.advance(run.config, outcome)
        run.steps += 1
        for event in events:
            _record(run, event, outcome, runs, begun)
    status = run.config.status
    assert status != "running"
    run.status = status
    return run


def _record(
    run: Simulation, event: Event, outcome: Outcome, runs: list[dict[str, int]], begun: list[int]
) -> None:
    depth = event.depth
    match event.action:
        case "begin":
            del runs[depth:], begun[depth:]
            runs.append({})
            begun.append(0)
        case "run":
            _finish(run, _visit(run, event, runs), event, runs)
        case "open":
            begun[depth] = len(run.order)
            visit = _visit(run, event, runs)
            visit.outputs = event.outputs
            sleeps = bool(getattr(outcome, "in_process", False))
            run.waits.append(WaitVisit(event.workflow, event.node, begun[depth], sleeps))
        case "call":
            # Another try of the same run is no new visit.
            latest = run.order[begun[depth]] if begun[depth] < len(run.order) else None
            if latest is None or not _same(latest, event, runs):
                begun[depth] = len(run.order)
                _visit(run, event, runs)
        case "done":
            wait = next(w for w in reversed(run.waits) if w.opened_at == begun[depth])
            answered = isinstance(outcome, Resumes) and outcome.items is not None
            wait.resumed = "answer" if answered else "elapsed"
            _finish(run, run.order[begun[depth]], event, runs)
        case "return":
            _finish(run, run.order[begun[depth]], event, runs)
        case "detach":
            assert event.workflow is not None
            run.detached.append((event.workflow, event.outputs[0]))
        case "skip" | "end":
            pass


def _same(visit: Visit, event: Event, runs: list[dict[str, int]]) -> bool:
    return (
        visit.status == "waiting"
        and visit.node == event.node
        and visit.workflow == event.workflow
        and visit.run == runs[event.depth].get(event.node, 0)
    )


def _visit(run: Simulation, event: Event, runs: list[dict[str, int]]) -> Visit:
    visit = Visit(event.workflow, event.node, runs[event.depth].get(event.node, 0))
    run.order.append(visit)
    return visit


def _finish(run: Simulation, visit: Visit, event: Event, runs: list[dict[str, int]]) -> None:
    visit.outputs = event.outputs
    visit.status = event.status
    run.most = max(run.most, *event.outputs, 0)
    counts = runs[event.depth]
    counts[event.node] = counts.get(event.node, 0) + 1
