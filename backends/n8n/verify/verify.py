"""Translation validation: does a workflow do what a process says?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orgflow.backends.n8n.engine_model import EngineModel
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.plan.graph import NodeKey, start_key
from orgflow.backends.n8n.verify.apart_triggers import find_apart_triggers
from orgflow.backends.n8n.verify.choices import Names, find_readers
from orgflow.backends.n8n.verify.computed_nodes import changed_computations
from orgflow.backends.n8n.verify.data_flow import DataFlow
from orgflow.backends.n8n.verify.filled_steps import list_conditions
from orgflow.backends.n8n.verify.marking import Marking
from orgflow.backends.n8n.verify.matching import match_reference
from orgflow.backends.n8n.verify.node_roles import RoleDerivation
from orgflow.backends.n8n.verify.parameters import changed_parameters
from orgflow.backends.n8n.verify.points import OPEN, Point, TooMuch
from orgflow.backends.n8n.verify.product_walk import Walk
from orgflow.backends.n8n.verify.reference import Reference, compile_reference
from orgflow.backends.n8n.verify.removed_nodes import RemovedNodes
from orgflow.backends.n8n.verify.wire_changes import (
    SETTINGS,
    changed_settings,
    misdirected_calls,
    redirected_outputs,
    rewired_helpers,
)

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.semantics import Game, Policy, State
from orgflow_ir.lowering.meaning import as_executed
from orgflow_ir.model import Model, Process
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.verification import Changed, Difference, Matched, Verdict, Verification

if TYPE_CHECKING:
    from orgflow.backends.n8n.verify.canvas_reading import Unread

MOST_STATES = 50_000
"""Maximum number of explored pairs of configuration and marking, over all starts of a process."""

V1 = "executionOrder v1"
"""The order of execution of every compiled workflow, as text."""

_SHOWN = 5
UNREAD = "a part of the process in one of its known forms"
"""The expected content of a part that cannot be read, for `Changed`."""

_ASSUMED_STEPS = "filled and added steps do not fail"


def verify_process(
    model: Model,
    process: Process,
    workflow: WorkflowDocument | Mapping[str, Any],
    ctx: PassContext,
    *,
    strict: bool = False,
    most: int = MOST_STATES,
    against: Reference | None = None,
    ids: Mapping[str, str] | None = None,
) -> Verification:
    """Whether `workflow` does what `process` of `model` says (DESIGN, idea 4).

    Args:
        model: the source model, not lowered.
        process: one of its processes.
        workflow: an n8n workflow in file form: unedited or edited compiler output.
        ctx: has the options of the target.
        strict: whether added steps, changed content, conditions, and blocked parallel work during
            waits count as differences.
        most: maximum number of explored pairs of states before the verdict is `bounded`.
        against: the compiled form of the process, if it exists already.
        ids: the id of each known workflow of the model, by its compiled id.

    Raises:
        NotLegal: n8n does not support the model, so there is nothing to compare with.
    """
    ref = against or compile_reference(model, process, ctx)
    if not isinstance(workflow, WorkflowDocument):
        workflow = WorkflowDocument(workflow)
    return _Verifier(model, ref, workflow, strict, most, ids or {}).run()


def data_flow(
    ref: Reference,
    matching: Matching[NodeKey],
    workflow: WorkflowDocument,
    apart: Mapping[str, str],
) -> DataFlow | None:
    """How the workflow keeps process variables, if any are read; triggers that are `apart` set
    none."""
    carried = ref.plan.carried
    if carried is None:
        return None
    names = Names(matching.key_of, set(workflow.steps))
    return DataFlow(ref, carried, matching, workflow, names, apart)


class Explored(NamedTuple):
    """The explored part of a process of segments: number of states, nodes of stubs at which runs
    stopped, and assumptions."""

    states: int = 0
    stopped: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


class _Verifier:
    def __init__(
        self,
        model: Model,
        ref: Reference,
        workflow: WorkflowDocument,
        strict: bool,
        most: int,
        ids: Mapping[str, str],
    ) -> None:
        self.model, self.ref, self.workflow = as_executed(model), ref, workflow
        self.strict, self.most = strict, most
        self.steps = workflow.steps
        self.matching = match_reference(ref, workflow)
        self.readers, self.changed = find_readers(ref, self.matching, workflow)
        self.changed += changed_parameters(ref, self.matching, workflow)
        self.changed += changed_computations(ref, self.matching, workflow)
        self.changed += rewired_helpers(ref, self.matching, workflow)
        self.changed += redirected_outputs(ref, self.matching, workflow)
        own = {ref.plan.scope.workflow_id: str(workflow.raw.get("id", ""))}
        self.changed += misdirected_calls(ref, self.matching, workflow, {**ids, **own})
        self.changed += changed_settings(ref, workflow, ids)
        self.apart = find_apart_triggers(self.matching, workflow)
        self.data = data_flow(ref, self.matching, workflow, self.apart)
        self.conditions = list_conditions(ref, self.matching, workflow)
        if workflow.order != "v1":
            # Only v1 is modelled; n8n's first order takes the branches of a split level by level.
            order = f"executionOrder {workflow.order or 'v0'}"
            self.changed.insert(0, Changed(SETTINGS, "", V1, order))
        self.walk: Walk | None = None
        self.explored = Explored()
        self.removed = RemovedNodes(ref, self.matching, workflow)

    def run(self) -> Verification:
        if self.ref.plan.segments is not None:
            return self._prove_segments()
        try:
            machine = EngineModel(self.workflow)
        except ValueError as error:
            return self._result(Verdict.BOUNDED, bound=f"nothing was compared: {error}")
        roles = RoleDerivation(self.ref, self.workflow, self.matching, self.readers).derive_roles()
        game = Game(self._compared_model(), Policy(once=True, calls="steps"))
        self.walk = Walk(machine, Marking(game, roles, self.ref.labels), roles, self.most)
        try:
            difference = self._difference(game)
        except TooMuch as bound:
            return self._result(Verdict.BOUNDED, bound=str(bound))
        if difference is None and game.wide:
            labels = self._labels(game.wide)
            return self._result(Verdict.BOUNDED, bound=f"some combinations of branches of {labels}")
        if difference is None and roles.loose:
            difference = self._never_taken(game)
        if difference is None and self.strict:
            difference = self._strictly()
        if difference is not None:
            return self._result(Verdict.DIFFERENT, difference=difference)
        if roles.loose:
            labels = self._labels(roles.loose)
            return self._result(
                Verdict.BOUNDED,
                bound=f"no node decides at {labels}: the node in its place is assumed to take any "
                "of its outputs, and not every combination was compared",
            )
        if self.changed:
            return self._result(Verdict.CHANGED)
        return self._result(Verdict.CONDITIONAL if self.conditions else Verdict.PROVED)

    def _prove_segments(self) -> Verification:
        """The result for a process whose open work is in rows."""
        from orgflow.backends.n8n.verify import segment_proof  # few processes have rows

        proof = segment_proof.prove_segments(
            self._compared_model(), self.ref, self.workflow, self.matching, self.readers,
            self.apart, self.most,
        )  # fmt: skip
        self.explored = Explored(proof.states, proof.stopped, segment_proof.ASSUMED)
        if proof.unreadable is not None:
            node, reason = proof.unreadable
            where = f"`{node}`: " if node else ""
            return self._result(Verdict.NOT_COMPARED, bound=f"{where}{reason}")
        self.changed += self._list_unread(proof.unread)
        difference = proof.difference
        if difference is None and self.strict:
            difference = self._strictly()
        if difference is not None:
            return self._result(Verdict.DIFFERENT, difference=difference)
        if self.changed:
            return self._result(Verdict.CHANGED)
        if proof.bound is not None:
            return self._result(Verdict.BOUNDED, bound=proof.bound)
        return self._result(Verdict.CONDITIONAL if self.conditions else Verdict.PROVED)

    def _list_unread(self, unread: Iterable[Unread]) -> Iterator[Changed]:
        """What is not understood of a process of segments."""
        nodes = self.ref.plan.workflow_graph.nodes
        for node, reason in unread:
            key = self.matching.key_of.get(node)
            element = nodes[key].element if key is not None else ""
            yield Changed(node or self.workflow.title, element, UNREAD, reason)

    def _compared_model(self) -> Model:
        """The model with the process that is compared. A call is one step here; the called workflow
        is compared by itself."""
        if self.ref.process in self.model.processes:
            return self.model
        return self.model.replace(processes=(self.ref.process,))

    def _difference(self, game: Game) -> Difference | None:
        assert self.walk is not None
        hidden = self.data.difference() if self.data is not None else None
        if hidden is not None and self.data is not None:
            keepers = (
                self.removed.explain_helper(key, hidden.message) for key in self.data.carried.after
            )
            return next((cause for cause in keepers if cause is not None), hidden)
        starts = self._starts(game)
        for start in game.starts(self.ref.process.id):
            if not any(s == start for _, s in starts):
                known = self.removed.explain_start(start) if start is not None else None
                if known is not None:
                    return known
                label = self.ref.labels.get(start or "", "the start")
                return Difference(f"no node of the workflow corresponds to the start `{label}`")
        for trigger, start in starts:
            state = game.initial(self.ref.process.id, start)
            given = sorted(self.walk.roles.given) if trigger in self.matching.key_of else []
            state, steps = self._begun(game, state, trigger, start)
            state, quiet = self.walk.marking.settled(state)
            machine = self.walk.machine
            world = machine.world_of(machine.initial(trigger))
            point = Point(world, state, tuple((g, OPEN) for g in given))
            difference = self.walk.run(point, (*steps, *quiet))
            if difference is not None:
                expected = self.walk.expected
                return self.removed.explain_difference(difference, expected, self.walk.roles)
        return None

    def _labels(self, elements: Iterable[str]) -> str:
        return ", ".join(f"`{self.ref.labels.get(e, e)}`" for e in sorted(elements))

    def _begun(
        self, game: Game, state: State, trigger: str, start: str | None
    ) -> tuple[State, tuple[Step, ...]]:
        """The state behind the start where the trigger does not stand for it: one that was added
        starts the process without being the start."""
        steps: list[Step] = []
        if start is not None and trigger not in self.matching.key_of:
            while steps_possible := game.steps_of(state, start):
                steps.append(steps_possible[0])
                state = game.fire(state, steps_possible[0])
        return state, tuple(steps)

    def _never_taken(self, game: Game) -> Difference | None:
        """A branch of a choice without a node that no run of the workflow takes."""
        assert self.walk is not None
        graph, loosely = self.ref.plan.graph, self.walk.marking.loosely
        for gateway, owner in self.walk.roles.owners.items():
            if owner not in self.walk.roles.loose or gateway not in graph.reachable:
                continue
            if owner != gateway:
                label = self.ref.labels[owner]
                return Difference(f"no node decides which branches of `{label}` are taken")
            taken = {f for flows in loosely.get(owner, {}) for f in flows}
            for flow in self.walk.roles.branches[gateway][0]:
                if flow not in taken and flow in self.ref.labels:
                    label, way = self.ref.labels[owner], self.ref.labels[flow]
                    return Difference(
                        f"no node decides at `{label}`, and no run of the workflow takes `{way}`"
                    )
        return None

    def _starts(self, game: Game) -> list[tuple[str, str | None]]:
        """Triggers and the start each is, in the order of the file; one that was added is the start
        whose trigger leads to the same nodes, unless it starts no run of the process."""
        options = game.starts(self.ref.process.id)
        keys = {(s or start_key(self.ref.process)): s for s in options}
        starts: list[tuple[str, str | None]] = []
        for name, step in self.steps.items():
            key = self.matching.key_of.get(name, "")
            if step.starts and key in keys and name not in self.apart:
                starts.append((name, keys[key]))
        leads = {tuple(sorted(self._targets(name))): start for name, start in starts}
        for name, step in self.steps.items():
            if step.starts and name in self.matching.added and name not in self.apart:
                start = leads.get(tuple(sorted(self._targets(name))), options[0])
                starts.append((name, start))
        return starts

    def _targets(self, name: str) -> list[str]:
        return [target for ends in self.workflow.targets.get(name, {}).values() for target in ends]

    def _strictly(self) -> Difference | None:
        if self.matching.added:
            names = ", ".join(f"`{n}`" for n in self.matching.added)
            return Difference(f"the workflow has steps that are not in the model: {names}")
        contradicted = self._contradicted()
        if contradicted:
            return Difference(contradicted[0])
        changed = self.changed
        if changed:
            nodes = ", ".join(f"`{n}`" for n in dict.fromkeys(c.node for c in changed))
            return Difference(f"the content of these nodes differs from that of the model: {nodes}")
        if self.conditions:
            required = join_listed(condition.text for condition in self.conditions)
            return Difference(f"the workflow behaves like the model only if {required}")
        if self.walk is not None and self.walk.delayed:
            return Difference(next(iter(self.walk.delayed)))
        return None

    def _contradicted(self) -> list[str]:
        """Nodes whose notes say another element than the map says of their name."""
        contradictions = []
        names = self.workflow.map.nodes
        for name, key in self.matching.key_of.items():
            element = self.ref.plan.workflow_graph.nodes[key].element
            other = names.get(name, element)
            if self.matching.how[name] == "notes" and other != element:
                labels = self.ref.labels
                contradictions.append(
                    f"`{name}` belongs to `{labels.get(element, element)}` according to its "
                    "notes, but its name matches "
                    f"`{labels.get(other, other)}`"
                )
        return contradictions

    def _stopping(self) -> tuple[str, ...]:
        """What is not judged, since runs stop before."""
        stops = self.walk.stopped if self.walk is not None else self.explored.stopped
        if not stops:
            return ()
        return (f"the elements after stops, which n8n does not support: {_list_names([*stops])}",)

    def _result(
        self, verdict: Verdict, bound: str | None = None, difference: Difference | None = None
    ) -> Verification:
        workflow_graph = self.ref.plan.workflow_graph
        key_of, how = self.matching.key_of, self.matching.how
        missing = [
            self.ref.labels.get(workflow_graph.nodes[k].element, workflow_graph.nodes[k].name)
            for k in self.matching.missing
            if workflow_graph.nodes[k].represents
        ]
        open_steps = [n for n in self.matching.added if not self.steps[n].trigger]
        added = [n for n in self.steps if n in self.matching.added or n in self.apart]
        filled = [
            n
            for n, k in key_of.items()
            if k in self.ref.roles.steps and self.steps[n].type != self.ref.nodes[k].type
        ]
        unsure = bool(open_steps or filled)
        return Verification(
            process=self.ref.process.id,
            label=self.ref.process.label,
            workflow=self.workflow.title,
            verdict=verdict,
            states=self.walk.states if self.walk is not None else self.explored.states,
            bound=bound,
            difference=difference,
            changed=tuple(self.changed),
            added=tuple(added),
            missing=tuple(dict.fromkeys(missing)),
            matched=tuple(
                Matched(n, workflow_graph.nodes[k].element, how[n]) for n, k in key_of.items()
            ),
            delayed=tuple(self.walk.delayed) if self.walk is not None else (),
            assumed=(
                *self.explored.assumed,
                *self._contradicted(),
                *self._stopping(),
                *(f"`{name}` {reason}" for name, reason in self.apart.items()),
                *((f"{_ASSUMED_STEPS}: {_list_names([*open_steps, *filled])}",) if unsure else ()),
            ),
            conditions=self.conditions,
        )


def _list_names(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{n}`" for n in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
