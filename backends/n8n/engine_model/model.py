"""n8n's engine (2.41, order v1) as a pure function from configuration to configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from orgflow.backends.n8n.engine_model.choices import choices_at
from orgflow.backends.n8n.engine_model.config import (
    Config,
    Event,
    Frame,
    Phase,
    Place,
    Role,
    State,
)
from orgflow.backends.n8n.engine_model.flow import (
    Flow,
    Node,
    compile_document,
    compile_flow,
    on_top,
)
from orgflow.backends.n8n.engine_model.outcome import Outcome
from orgflow.backends.n8n.engine_model.step import Work
from orgflow.backends.n8n.engine_model.world import Execution, World
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.node_types.behaviour import Counts

from orgflow_ir.model.records import NamedTuple


class Advance(NamedTuple):
    """A step: the resulting configuration and the events."""

    config: Config
    events: tuple[Event, ...]


class EngineModel:
    """A workflow and its called workflows as an executable model of n8n's engine.

    Items are counted; their data are not modelled. Deterministic behaviour of the engine is
    computed; behaviour that depends on data or external events is an `Outcome` that the caller
    chooses from `outcomes`. A configuration has no run counters, so a loop that returns to its
    beginning reaches an equal configuration.

    Not modelled: an Execute Workflow node in mode "each" whose calls are stored while waiting. n8n
    then continues with the items of the first completed call, and the others run independently.

    Args:
        workflow: an n8n workflow with `executionOrder` v1, or the content of a file, of which the
            parts that n8n ignores are omitted; None for a model of `workflows` alone.
        workflows: the callable workflows, by id. A call of any other is a choice.
        detached: the handling of calls that are not waited for. "queue": they run when their caller
            is stored or the main workflow ends, as in the local engine. "apart": they are only
            reported by the event "detach", to be followed by `called`: on a server, they run
            independently of their caller.

    Raises:
        ValueError: a workflow has another execution order, or a connection to a missing node.
    """

    def __init__(
        self,
        workflow: Mapping[str, Any] | WorkflowDocument | None,
        workflows: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        detached: Literal["queue", "apart"] = "queue",
    ) -> None:
        others = dict(workflows or {})
        known = frozenset(others)
        if workflow is None:
            flows: list[Flow] = []
        elif isinstance(workflow, WorkflowDocument):
            flows = [compile_document(workflow)]
        else:
            own = workflow.get("id")
            if isinstance(own, str) and own:
                others.setdefault(own, workflow)
                known = frozenset(others)
            flows = [compile_flow(workflow, None, known)]
        flows += [compile_flow(other, name, known) for name, other in sorted(others.items())]
        self.flows: tuple[Flow, ...] = tuple(flows)
        self._ids = {flow.id: index for index, flow in enumerate(flows)}
        self._apart = detached == "apart"

    def initial(self, trigger: str, items: int = 1) -> Config:
        """The configuration in which the main workflow starts at the node `trigger`.

        Raises:
            KeyError: the node does not exist.
        """
        return self._start_config(0, self.flows[0].by_name[trigger], items)

    def started(self, workflow: str, trigger: str, items: int = 1) -> Config:
        """The configuration in which one of `workflows` starts at the node `trigger`.

        Raises:
            KeyError: the workflow or the node does not exist.
        """
        index = self._ids[workflow]
        return self._start_config(index, self.flows[index].by_name[trigger], items)

    def called(self, workflow: str, items: int = 1) -> Config:
        """The initial configuration of a called workflow that is followed separately.

        Raises:
            KeyError: it is not one of `workflows`.
            ValueError: it has no trigger for calls.
        """
        index = self._ids[workflow]
        entry = self.flows[index].entry
        if entry is None:
            raise ValueError(f"workflow `{workflow}` has no Execute Workflow Trigger")
        return self._start_config(index, entry, items)

    def at(self, config: Config) -> Place | None:
        """The node that runs next, None after the end of the run."""
        if not config.frames:
            return None
        frame = config.frames[-1]
        flow = self.flows[frame.flow]
        node, counts = on_top(flow, frame), frame.stack[-1][1]
        return Place(
            workflow=flow.id,
            node=node.name,
            kind="disabled" if node.disabled else node.behaviour.kind,
            phase=frame.phase,
            inputs=taken_inputs(node, counts),
            depth=len(config.frames) - 1,
        )

    def node_at(self, config: Config) -> Node | None:
        """The compiled node that runs next, None after the end of the run."""
        if not config.frames:
            return None
        frame = config.frames[-1]
        return on_top(self.flows[frame.flow], frame)

    def state_of(self, config: Config) -> State:
        """Whether the execution runs, waits or is over."""
        if not config.frames:
            return "failed" if config.status == "error" else "ended"
        frame = config.frames[-1]
        if frame.phase is Phase.SLEEPING:
            return "time"
        if frame.phase is Phase.PARKED:
            index = frame.stack[-1][0]
            return self.flows[frame.flow].nodes[index].behaviour.resumption or "unknown"
        return "running"

    def world_of(self, config: Config) -> World:
        """The world in which the main workflow alone is executed, with this configuration; its
        items are not followed."""
        return World((Execution(None, config, self.state_of(config)),))

    def outcomes(
        self, config: Config, *, errors: bool = False, most: int = 1
    ) -> tuple[Outcome, ...]:
        """All possible outcomes, each once; empty after the end of the run.

        Args:
            config: the current configuration.
            errors: whether to include failures of executing nodes.
            most: maximum number of items that a node of unknown behaviour puts on an output, unless
                it receives more; the actual output is unbounded.
        """
        if not config.frames:
            return ()
        frame = config.frames[-1]
        node, counts = on_top(self.flows[frame.flow], frame), frame.stack[-1][1]
        return choices_at(node, frame.phase, taken_inputs(node, counts), errors, most)

    def step(self, config: Config, outcome: Outcome) -> Config:
        """The configuration after the next node did `outcome`.

        Raises:
            ValueError: the run has ended, or that node does not have this outcome.
        """
        return self.advance(config, outcome).config

    def advance(self, config: Config, outcome: Outcome) -> Advance:
        """Like `step`, with the events: at least one, more if executions begin or end."""
        if not config.frames:
            raise ValueError("the run has ended")
        work = Work(self.flows, self._ids, self._apart, config)
        work.apply(outcome)
        return Advance(
            Config(tuple(work.frames), tuple(work.queue), work.status), tuple(work.events)
        )

    def _start_config(self, flow: int, entry: int, items: int) -> Config:
        return Config((Frame(flow, Role.MAIN, Phase.READY, ((entry, (items,)),)),))


def taken_inputs(node: Node, counts: Counts) -> Counts:
    """The used inputs of a node: with `executeOnce`, at most one item of each."""
    if node.execute_once and not node.disabled:
        return tuple(min(count, 1) for count in counts)
    return counts
