"""Translation validation: does a workflow do what a process says?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.emit.graph import HelperKey, NodeKey, decide_key, start_key
from orgflow.backends.n8n.engine_model import EngineModel
from orgflow.backends.n8n.format.document import TYPE_PREFIX, outputs_of
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import Node as WorkflowNode
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.verify.choices import Names, readers
from orgflow.backends.n8n.verify.marking import Marking
from orgflow.backends.n8n.verify.matching import match_reference
from orgflow.backends.n8n.verify.parameters import changed_parameters
from orgflow.backends.n8n.verify.points import OPEN, Point, Roles, TooMuch
from orgflow.backends.n8n.verify.reference import Reference, reference
from orgflow.backends.n8n.verify.walk import Walk

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.semantics import Game, Policy, State
from orgflow_ir.lowering.meaning import as_executed
from orgflow_ir.model import Event, Model, Node, Opaque, Process, SubProcess
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import Tree
from orgflow_ir.targets.verification import Changed, Difference, Matched, Verdict, Verification
from orgflow_ir.work.gateway_decisions import Decision

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.escalations import Escalated
    from orgflow.backends.n8n.verify.data_flow import DataFlow

MOST_STATES = 50_000
"""Maximum number of explored pairs of configuration and marking, over all starts of a process."""

SETTINGS = "the workflow's settings"
"""Used if `Changed` has no node."""

_V1 = "executionOrder v1"
_SHOWN = 5
_ASSUMED_STEPS = "filled and added steps pass each item on once and do not fail"


def verify_process(
    model: Model,
    process: Process,
    workflow: WorkflowDocument | Mapping[str, Any],
    ctx: PassContext,
    *,
    strict: bool = False,
    most: int = MOST_STATES,
    against: Reference | None = None,
) -> Verification:
    """Whether `workflow` does what `process` of `model` says (DESIGN, idea 4).

    Args:
        model: the source model, not lowered.
        process: one of its processes.
        workflow: an n8n workflow in file form: unedited or edited compiler output.
        ctx: has the options of the target.
        strict: whether added steps, changed expressions, and blocked parallel work during waits
            count as differences.
        most: maximum number of explored pairs of states before the verdict is `bounded`.
        against: the compiled form of the process, if it exists already.

    Raises:
        NotLegal: n8n does not support the model, so there is nothing to compare with.
    """
    ref = against or reference(model, process, ctx)
    if not isinstance(workflow, WorkflowDocument):
        workflow = WorkflowDocument(workflow)
    return _Verifier(model, ref, workflow, strict, most).run()


def _hands_on(step: WorkflowNode) -> bool:
    """Whether every item that comes to a node leaves it by its first output."""
    if step.disabled:
        return True
    kind = node_types.of(step.short)
    if kind is None or outputs_of(step.raw) != 1:
        return False
    keeps = kind.effect(step.version, step.parameters) in ("pass", "write")
    return (keeps and step.short not in ("filter", "wait")) or step.short in ("code", "httpRequest")


def data_flow(
    ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
) -> DataFlow | None:
    """How the workflow keeps process variables, if conditions of the model read any."""
    carried = ref.compiled.carried
    if carried is None:
        return None
    from orgflow.backends.n8n.verify.data_flow import DataFlow

    names = Names(matching.key_of, set(workflow.steps))
    return DataFlow(ref, carried, matching, workflow, names)


class _Verifier:
    def __init__(
        self, model: Model, ref: Reference, workflow: WorkflowDocument, strict: bool, most: int
    ) -> None:
        self.model, self.ref, self.workflow = as_executed(model), ref, workflow
        self.strict, self.most = strict, most
        self.steps = workflow.steps
        self.matching = match_reference(ref, workflow)
        self.readers, self.changed = readers(ref, self.matching, workflow)
        self.changed += changed_parameters(ref, self.matching, workflow)
        self.data = data_flow(ref, self.matching, workflow)
        if self.data is not None:
            self.changed += self.data.changed()
        if workflow.order != "v1":
            # Only v1 is modelled; n8n's first order takes the branches of a split level by level.
            order = f"executionOrder {workflow.order or 'v0'}"
            self.changed.insert(0, Changed(SETTINGS, "", _V1, order))
        self.walk: Walk | None = None

    def run(self) -> Verification:
        try:
            machine = EngineModel(self.workflow)
        except ValueError as error:
            return self._result(Verdict.BOUNDED, bound=f"nothing was compared: {error}")
        roles = self._roles()
        # A call is one step here; the called workflow is compared by itself.
        model = self.model
        if self.ref.process not in model.processes:
            model = model.replace(processes=(self.ref.process,))
        game = Game(model, Policy(once=True, calls="steps"))
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
        changed = self.changed
        return self._result(Verdict.CHANGED if changed else Verdict.PROVED)

    def _difference(self, game: Game) -> Difference | None:
        assert self.walk is not None
        hidden = self.data.difference() if self.data is not None else None
        if hidden is not None:
            return hidden
        starts = self._starts(game)
        for start in game.starts(self.ref.process.id):
            if not any(s == start for _, s in starts):
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
            found = self.walk.run(point, (*steps, *quiet))
            if found is not None:
                return found
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
            while found := game.steps_of(state, start):
                steps.append(found[0])
                state = game.fire(state, found[0])
        return state, tuple(steps)

    def _never_taken(self, game: Game) -> Difference | None:
        """A branch of a choice without a node that no run of the workflow takes."""
        assert self.walk is not None
        graph, loosely = self.ref.compiled.graph, self.walk.marking.loosely
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
        whose trigger leads to the same nodes."""
        options = game.starts(self.ref.process.id)
        keys = {(s or start_key(self.ref.process)): s for s in options}
        found: list[tuple[str, str | None]] = []
        for name, step in self.steps.items():
            key = self.matching.key_of.get(name, "")
            if step.starts and key in keys:
                found.append((name, keys[key]))
        leads = {tuple(sorted(self._targets(name))): start for name, start in found}
        for name, step in self.steps.items():
            if step.starts and name in self.matching.added:
                start = leads.get(tuple(sorted(self._targets(name))), options[0])
                found.append((name, start))
        return found

    def _targets(self, name: str) -> list[str]:
        return [target for ends in self.workflow.targets.get(name, {}).values() for target in ends]

    def _roles(self) -> Roles:
        ref, key_of = self.ref, self.matching.key_of
        stands = {}
        for name, key in key_of.items():
            element = ref.stands(key)
            if element is not None:
                stands[name] = element
        owners, branches, sets = {}, {}, {}
        coded: set[str] = set()
        given: set[str] = set()
        setters: dict[NodeKey, list[str]] = {}
        for owner, gateways in ref.deciders.items():
            for gateway in gateways:
                decision = ref.decision(gateway)
                owners[gateway] = owner
                default = decision.default
                branches[gateway] = (
                    tuple(b.flow.id for b in decision.branches),
                    default.flow.id if default is not None else None,
                )
                if decision.coded or not decision.values:
                    coded.add(gateway)
                elif decision.setter == gateway:
                    setters.setdefault(decide_key(gateway), []).append(gateway)
                elif ref.compiled.workflow_graph.nodes[decision.setter].role == "trigger":
                    given.add(gateway)
                else:
                    # The answers of a form have other names: the node behind it sets the decision.
                    data = HelperKey(decision.setter, "data")
                    form = decision.setter in ref.compiled.forms
                    form = form and data in ref.compiled.workflow_graph.nodes
                    setters.setdefault(data if form else decision.setter, []).append(gateway)
        for name, key in key_of.items():
            if key in setters:
                found = [g for g in setters[key] if self._may_write(name, key, g)]
                sets[name] = tuple(found)
        needed = {e for k in ref.compiled.workflow_graph.nodes if (e := ref.stands(k)) is not None}
        compiled = any(how in ("map", "notes", "id") for how in self.matching.how.values())
        if not compiled:  # drawn by hand: nobody draws a node for an end at which nothing is done
            standing = set(stands.values())
            needed -= {n.id for n in ref.source_nodes if n.id not in standing and _plain(n)}
        decided = {reader.gateway for reader in self.readers.values() if reader.main}
        cut = {n.id for n in ref.compiled.graph.nodes.values() if is_stub(n)}
        escalated = self._escalated()
        caught = {str(n.key) for n in ref.compiled.workflow_graph.nodes.values() if n.fails_over}
        return Roles(
            stands=stands,
            readers=self.readers,
            owners=owners,
            branches=branches,
            coded=frozenset(coded),
            sets=sets,
            given=frozenset(given),
            helpers=frozenset(n for n in key_of if n not in stands),
            disabled=frozenset(n for n, step in self.steps.items() if step.disabled),
            silent=frozenset(
                n.id
                for n in ref.source_nodes
                if n.id not in needed and n.id not in cut and n.id not in ref.deciders
            ),
            dissolved=frozenset(
                n.id
                for n in ref.source_nodes
                if (isinstance(n, SubProcess) or _undoes(n))
                and n.id not in needed
                and n.id not in cut
            ),
            splitting=self._splitting(owners, branches),
            idle=frozenset(n.id for n in ref.source_nodes if _idle(n)),
            equal={g: groups for g in owners if (groups := _equal_branches(ref.decision(g)))},
            several=frozenset(g for g in owners if ref.decision(g).several),
            loose=frozenset(owners[g] for g in owners if g not in decided),
            refusals=self._refusals(),
            stubs=self._stubs(),
            guards=frozenset(self._guards()),
            failing={
                name: str(key)
                for name, key in key_of.items()
                if ref.compiled.workflow_graph.nodes[key].fails_over
            },
            escalating=frozenset(
                name
                for name, key in key_of.items()
                if any(key == one.call for one in escalated.values())
            ),
            escalated=escalated,
            uncaught=frozenset(
                name
                for name, key in key_of.items()
                if isinstance(key, HelperKey) and key.role == "stop" and str(key.owner) in caught
            ),
        )

    def _escalated(self) -> dict[str, Escalated]:
        """The nodes behind calls that tell what was thrown."""
        keys = self.matching.key_of.items()
        named = {name: key for name, key in keys if isinstance(key, HelperKey)}
        if not any(key.role == "escalated" for key in named.values()):
            return {}
        from orgflow.backends.n8n.emit.escalations import escalated_calls

        calls = escalated_calls(self.ref.compiled)
        return {
            name: calls[str(key.owner)] for name, key in named.items() if key.role == "escalated"
        }

    def _may_write(self, name: str, key: NodeKey, gateway: str) -> bool:
        """Whether a node can set what a gateway decides by: the one that makes variables of the
        answers of a form has to name the variable."""
        if not (isinstance(key, HelperKey) and key.role == "data"):
            return True
        step = self.steps[name]
        variable = self.ref.decision(gateway).variable
        if step.short not in ("set", "code", "noOp"):
            return True
        text = json.dumps(step.parameters, ensure_ascii=False)
        return re.search(rf"\b{re.escape(variable)}\b", text) is not None

    def _guards(self) -> Iterator[str]:
        """Nodes that ask again, or refuse a call: on the way back nothing of the model is done, and
        a call that is refused starts nothing."""
        key_of = self.matching.key_of
        for name, key in key_of.items():
            if isinstance(key, HelperKey) and key.role == "check" and self._refuses_calls(name):
                yield name
            if not isinstance(key, HelperKey) or key.role != "guard":
                continue
            form = self.matching.pairs.get(key.owner)
            again = list(self.workflow.targets.get(name, {}).get(1, ()))
            step = self.steps[name]
            # Steps that a person added on the way back are no part of the model.
            seen = {name}
            while (
                len(again) == 1
                and again[0] not in seen
                and again[0] not in key_of
                and _hands_on(self.steps[again[0]])
            ):
                seen.add(again[0])
                again = list(self.workflow.targets.get(again[0], {}).get(0, ()))
            if step.short == "if" and not step.disabled and again == [form]:
                yield name

    def _refuses_calls(self, name: str) -> bool:
        """Whether the other way of an If answers a call and ends there."""
        step = self.steps[name]
        ends = list(self.workflow.targets.get(name, {}).get(1, ()))
        return (
            step.short == "if"
            and not step.disabled
            and len(ends) == 1
            and self.steps[ends[0]].short == "respondToWebhook"
            and not self._targets(ends[0])
        )

    def _splitting(
        self,
        owners: Mapping[str, str],
        branches: Mapping[str, tuple[tuple[str, ...], str | None]],
    ) -> frozenset[str]:
        """Activities that have flows beside those that their one decision is about."""
        leaving: dict[str, set[str]] = {}
        for flow in (f for scope in self.ref.process.scopes() for f in scope.flows):
            leaving.setdefault(flow.source, set()).add(flow.id)
        gateways: dict[str, list[str]] = {}
        for gateway, owner in owners.items():
            gateways.setdefault(owner, []).append(gateway)
        decided = {reader.gateway for reader in self.readers.values() if reader.main}
        return frozenset(
            owner
            for owner, (first, *more) in gateways.items()
            if not more and first in decided and leaving.get(owner, set()) - {*branches[first][0]}
        )

    def _refusals(self) -> frozenset[str]:
        """Stop nodes right behind nodes that decide: they stop runs for which no branch fits."""
        before: dict[str, set[str]] = {}
        for wire in self.workflow.wires:
            if wire.kind == "main" and wire.source in self.steps:
                before.setdefault(wire.target, set()).add(self.steps[wire.source].type)
        choices = {f"{TYPE_PREFIX}{kind}" for kind in ("if", "switch", "filter")}
        return frozenset(
            name
            for name, step in self.steps.items()
            if step.short == "stopAndError" and before.get(name, {""}) <= choices
        )

    def _stubs(self) -> dict[str, str | None]:
        """Stop nodes of stubs. What a stub is before has not happened when it is reached, but for a
        start event and what belongs to the whole process."""
        graph = self.ref.compiled.workflow_graph
        nodes = {n.id: n for n in self.ref.source_nodes}
        found: dict[str, str | None] = {}
        for name, key in self.matching.key_of.items():
            made = graph.nodes[key]
            if made.role == "stub" and self.steps[name].short == "stopAndError":
                source = nodes.get(source_ids(self.ref.compiled.graph.nodes[made.element])[0])
                begun = source is None or (isinstance(source, Event) and source.position == "start")
                handles = isinstance(source, SubProcess) and source.flavour == "event"
                found[name] = None if source is None or begun or handles else source.id
        return found

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
            return Difference(
                f"expressions of the workflow differ from those of the model: {nodes}"
            )
        if self.walk is not None and self.walk.delayed:
            return Difference(next(iter(self.walk.delayed)))
        return None

    def _contradicted(self) -> list[str]:
        """Nodes whose notes say another element than the map says of their name."""
        said = []
        names = self.workflow.map.nodes
        for name, key in self.matching.key_of.items():
            element = self.ref.compiled.workflow_graph.nodes[key].element
            other = names.get(name, element)
            if self.matching.how[name] == "notes" and other != element:
                labels = self.ref.labels
                said.append(
                    f"`{name}` belongs to `{labels.get(element, element)}` according to its "
                    "notes, but its name matches "
                    f"`{labels.get(other, other)}`"
                )
        return said

    def _stopping(self) -> tuple[str, ...]:
        """What is not judged, since runs stop before."""
        stops = self.walk.stopped if self.walk is not None else {}
        if not stops:
            return ()
        return (f"the elements after stops, which n8n does not support: {_names([*stops])}",)

    def _result(
        self, verdict: Verdict, bound: str | None = None, difference: Difference | None = None
    ) -> Verification:
        workflow_graph = self.ref.compiled.workflow_graph
        key_of, how = self.matching.key_of, self.matching.how
        missing = [
            self.ref.labels.get(workflow_graph.nodes[k].element, workflow_graph.nodes[k].name)
            for k in self.matching.missing
            if workflow_graph.nodes[k].role in ("element", "trigger")
        ]
        open_steps = [n for n in self.matching.added if not self.steps[n].trigger]
        filled = [
            n
            for n, k in key_of.items()
            if self.ref.stands(k) is not None and self.steps[n].type != self.ref.nodes[k].type
        ]
        unsure = bool(open_steps or filled)
        return Verification(
            process=self.ref.process.id,
            label=self.ref.process.label,
            workflow=self.workflow.title,
            verdict=verdict,
            states=self.walk.states if self.walk is not None else 0,
            bound=bound,
            difference=difference,
            changed=tuple(self.changed),
            added=self.matching.added,
            missing=tuple(dict.fromkeys(missing)),
            matched=tuple(
                Matched(n, workflow_graph.nodes[k].element, how[n]) for n, k in key_of.items()
            ),
            delayed=tuple(self.walk.delayed) if self.walk is not None else (),
            assumed=(
                *self._contradicted(),
                *self._stopping(),
                *((f"{_ASSUMED_STEPS}: {_names([*open_steps, *filled])}",) if unsure else ()),
            ),
        )


def is_stub(node: Node) -> bool:
    """Whether a run stops in place of an element."""
    return isinstance(node, Opaque) and node.stops is not None


def _plain(node: Node) -> bool:
    """Whether an event does nothing: an end, or a milestone on the way, without a trigger."""
    return isinstance(node, Event) and node.position in ("end", "throw") and not node.definitions


def _undoes(node: Node) -> bool:
    """Whether a node begins what undoes finished work, and is done when that is."""
    return isinstance(node, Event) and any(d.kind == "compensation" for d in node.definitions)


def _idle(node: Node) -> bool:
    """Whether switching its node off changes nothing: an end or a milestone that does no work."""
    if not isinstance(node, Event) or node.position not in ("end", "throw"):
        return False
    return not node.definitions or node.trigger == "terminate"


def _equal_branches(decision: Decision) -> tuple[tuple[str, ...], ...]:
    """Groups of branches with the same condition, each in order."""
    groups: dict[Tree, list[str]] = {}
    for branch in decision.branches:
        if branch.tree is not None:
            groups.setdefault(branch.tree, []).append(branch.flow.id)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{n}`" for n in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
