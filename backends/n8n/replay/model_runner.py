"""Runs of emitted workflows on the model of n8n's engine, without an installation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orgflow.backends.n8n.engine.runs import EngineRun, NodeRun
from orgflow.backends.n8n.plan.actions import KeepJoined
from orgflow.backends.n8n.replay.local_runner import (
    LocalRunner,
    computing_nodes,
    unexecuted_nodes,
)
from orgflow.backends.n8n.replay.scripted_run import play_script
from orgflow.backends.n8n.replay.segment_runs import NOT_EVALUATED, play_segments

from orgflow_ir.flow.token_game.stimulus import StimulusError
from orgflow_ir.flow.token_game.stub_data import Unplayable
from orgflow_ir.plugins.runners import RunResult, WorkflowReport

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.compiled import CompiledScope

    from orgflow_ir.flow.token_game.runs import Run


class ModelRunner(LocalRunner):
    """Executes runs on the engine model: it follows the connections, joins, waits and calls of the
    delivered workflow like n8n and counts items. It evaluates no expression: gateways take the
    branches of the run, provided that data exist for which their conditions select them. A node
    with scripted values in a replay on the engine passes on each input item. A run that reaches
    another node whose items cannot be counted is `unplayable`.
    """

    @property
    def changed(self) -> tuple[str, ...]:
        if self.is_cut:
            return (NOT_EVALUATED,)
        names = dict.fromkeys(
            name
            for scope in self._all_scopes
            for name in (*unexecuted_nodes(scope.plan), *computing_nodes(scope.plan))
        )
        return tuple(
            f"`{n}` is not executed: it passes on each item that it receives" for n in names
        )

    def run_workflow(self, text: str) -> WorkflowReport | None:
        """See `Runner`: only the local engine runs a workflow as it is."""
        del text
        return None

    def play(self, runs: Iterable[Run]) -> Iterator[RunResult]:
        """See `Runner`; starts no process."""
        if self.is_cut:
            yield from (play_segments(self.compiled.root.plan, self.workflow, run) for run in runs)
            return
        scripted = frozenset(
            name
            for scope in self._all_scopes
            for name in (
                *unexecuted_nodes(scope.plan),
                *computing_nodes(scope.plan),
                *_collecting_nodes(scope),
            )
        )
        for run in runs:
            if not run.complete:  # what fails or never ends is evaluated, not simulated
                yield RunResult("error", error="this is where the model fails")
                continue
            try:
                self.data_of(run)  # as on the engine: some data have to lead there
                played = play_script(
                    self.compiled,
                    run.start or run.process,
                    _taken_flows(run),
                    failures={
                        task: [None if caught is None else caught.event for caught in visits]
                        for task, visits in self.failures_of(run).items()
                    },
                    scripted=scripted,
                )
            except (Unplayable, StimulusError) as error:
                yield RunResult("unplayable", error=str(error))
                continue
            order = tuple(
                NodeRun(event.node, event.workflow, 0, event.outputs, event.status, None, None)
                for event in played.events
            )
            why = f"`{order[-1].node}` ended the run" if played.status == "error" else None
            yield self._read_result(EngineRun(played.status, why, None, order))


def _taken_flows(run: Run) -> dict[str, list[tuple[str, ...]]]:
    """For every element the flows that it takes, visit by visit, also where it has no choice."""
    flows: dict[str, list[tuple[str, ...]]] = {}
    for step in run.steps:
        if step.action in ("fire", "done", "start"):
            flows.setdefault(step.element, []).append(step.taken)
    return flows


def _collecting_nodes(scope: CompiledScope) -> list[str]:
    """Names of the Code nodes that the compiler adds to keep variables: one item for each."""
    nodes = scope.plan.workflow_graph.nodes.values()
    return [n.name for n in nodes if isinstance(n.action, KeepJoined)]
