"""The proof of a process of segments: what its canvas does is read from the workflow, played beside
the token game of the model, and its programs are compared with the compiled ones.

The workflows of the support set are not part of a process: they are emitted once, and their proof
is the model of rows (`waiting.row_model`), with which tests compare them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from orgflow.backends.javascript.source_programs import ProgramForm
from orgflow.backends.n8n.emit.decision_code import write_test
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.parameter_values import code_form
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.plan.graph import NodeKey, start_key
from orgflow.backends.n8n.verify.canvas_reading import (
    SegmentCanvas,
    Unread,
    UnreadCanvas,
    name_node,
    read_canvas,
)
from orgflow.backends.n8n.verify.choices import Reader
from orgflow.backends.n8n.verify.marking import Marking
from orgflow.backends.n8n.verify.node_roles import RoleDerivation
from orgflow.backends.n8n.verify.points import Differs, Point, Roles, TooMuch
from orgflow.backends.n8n.verify.reference import Reference
from orgflow.backends.n8n.verify.row_expressions import (
    expression_of,
    list_templates,
)
from orgflow.backends.n8n.verify.segment_walk import (
    NO_WORLD,
    RowCondition,
    SegmentWalk,
    UnreadSegment,
)

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.control_flow.graph import list_reachable
from orgflow_ir.flow.token_game.semantics import Game, Policy, State
from orgflow_ir.model import Event, Model, Node, SubProcess
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.targets.verification import Difference

ASSUMED: Final = (
    "the workflows of the support set are those of this version",
    "an event that does not interrupt is compared once while its step is active",
)
"""Assumptions of every proof of a process of segments."""


class SegmentProof(NamedTuple):
    """The result for one process.

    Attributes:
        states: number of explored pairs of open work and marking.
        difference: the first difference, if there is one.
        bound: what was not explored, if anything.
        unread: the parts that cannot be read.
        unreadable: why nothing was compared, if the workflow has no segments that can be read.
        stopped: nodes of stubs at which runs stopped.
    """

    states: int = 0
    difference: Difference | None = None
    bound: str | None = None
    unread: tuple[Unread, ...] = ()
    unreadable: Unread | None = None
    stopped: tuple[str, ...] = ()


def prove_segments(
    model: Model,
    ref: Reference,
    workflow: WorkflowDocument,
    matching: Matching[NodeKey],
    readers: Mapping[str, Reader],
    apart: Mapping[str, str],
    most: int,
) -> SegmentProof:
    """Compare what the segments of a workflow do with a process.

    Args:
        model: the source model; only loops were lowered.
        ref: the compiled form of the process.
        workflow: the workflow.
        matching: its nodes.
        readers: its deciding nodes.
        apart: triggers that start nothing of the process.
        most: maximum number of explored states.
    """
    try:
        canvas = read_canvas(workflow, frozenset(apart))
    except UnreadCanvas as error:
        return SegmentProof(unreadable=error.unread)
    unread = list(canvas.faults)
    roles = _adapt_roles(
        RoleDerivation(ref, workflow, matching, readers).derive_roles(), ref, canvas
    )
    for owner in sorted(roles.loose):
        unread.append(Unread(ref.labels.get(owner, owner), "no node decides for it"))
    game = Game(model, Policy(once=True, calls="steps"))
    walk = SegmentWalk(
        canvas=canvas,
        workflow=workflow,
        marking=Marking(game, roles, ref.labels),
        roles=roles,
        conditions=_list_row_conditions(ref),
        received={flow.id: flow.target for flow in model.message_flows},
        decisive=_find_decisive(canvas, workflow, roles),
        most=most,
    )
    difference, bound = None, None
    try:
        difference = _explore_starts(game, walk, ref, matching)
    except TooMuch as error:
        bound = str(error)
    except UnreadSegment as error:
        unread.append(Unread(error.node, error.reason))
    if difference is None and bound is None and game.wide:
        labels = ", ".join(f"`{ref.labels.get(e, e)}`" for e in sorted(game.wide))
        bound = f"some combinations of branches of {labels}"
    return SegmentProof(
        walk.states,
        difference,
        bound,
        unread=tuple(dict.fromkeys(unread)),
        stopped=tuple(walk.stopped),
    )


def _explore_starts(
    game: Game, walk: SegmentWalk, ref: Reference, matching: Matching[NodeKey]
) -> Difference | None:
    """The first difference, from all starts. Raises `TooMuch` and `UnreadSegment`."""
    process = ref.process
    options = {(start or start_key(process)): start for start in game.starts(process.id)}
    nodes = ref.plan.workflow_graph.nodes
    missing = dict(options)
    for trigger, element in walk.canvas.starts.items():
        key = matching.key_of.get(trigger)
        stands = nodes[key].element if key is not None else None
        if element not in options or stands != element:
            raise UnreadSegment(trigger, f"it begins at {element}, which it does not stand for")
        missing.pop(element, None)
        start = options[element]
        try:
            state, steps = _begin_instance(game, walk.marking, process.id, start, trigger)
        except Differs as differs:
            return Difference(differs.message, differs.lines, differs.steps)
        difference = walk.run(element, state, steps)
        if difference is not None:
            return difference
    for start in missing.values():
        label = ref.labels.get(start or "", "the start")
        return Difference(f"no node of the workflow corresponds to the start `{label}`")
    return None


def _begin_instance(
    game: Game, marking: Marking, process: str, start: str | None, trigger: str
) -> tuple[State, tuple[Step, ...]]:
    """The state behind a start, which its trigger stands for."""
    state, quiet = marking.settled(game.initial(process, start))
    if start is None or start not in marking.visible:
        return state, quiet
    fired = marking.fires(Point(NO_WORLD, state), start, 1, trigger)
    state, after = marking.settled(fired.point.state)
    return state, (*quiet, *fired.steps, *after)


def _adapt_roles(roles: Roles, ref: Reference, canvas: SegmentCanvas) -> Roles:
    """The roles where open work is in rows: what waits is opened by itself, a sub-process ends by
    itself, and an event without a trigger does nothing."""
    nodes = list(ref.source_nodes)
    scopes = {node.id for node in nodes if isinstance(node, SubProcess)}
    plain = {node.id for node in nodes if _does_nothing(node)}
    waits = {row.element for end in canvas.ends.values() for row in list_templates(end.rows)}
    waits |= {roles.stands[page] for page in canvas.pages.values() if page in roles.stands}
    owners = {*roles.owners.values()}
    return replace(
        roles,
        stands={n: e for n, e in roles.stands.items() if e not in scopes | plain},
        silent=roles.silent | (scopes | plain) - owners,
        dissolved=roles.dissolved | scopes | waits,
    )


def _does_nothing(node: Node) -> bool:
    ends = isinstance(node, Event) and node.position in ("end", "throw")
    return ends and isinstance(node, Event) and not node.definitions


def _list_row_conditions(ref: Reference) -> dict[ProgramForm, tuple[RowCondition, ...]]:
    """The gateways and branches by the form of the condition by which their rows are written."""
    conditions: dict[ProgramForm, tuple[RowCondition, ...]] = {}
    for gateway, decision in ref.plan.decisions.items():
        if not decision.several:
            continue
        tests = {
            branch.flow.id: f"({write_test(decision, branch, ref.plan)})"
            for branch in decision.branches
            if branch.kind != "default"
        }
        if decision.default is not None:
            tests[decision.default.flow.id] = f"!({' || '.join(tests.values())})"
        for flow, code in tests.items():
            form, holds = _read_condition(code)
            conditions[form] = (*conditions.get(form, ()), RowCondition(gateway, flow, holds))
    return conditions


def _read_condition(code: str) -> tuple[ProgramForm, bool]:
    """The form that a condition has in a choice, and whether the first part is chosen if it holds:
    `!a ? b : c` has the form of `a ? c : b`."""
    match expression_of(code_form(f"{code}?1:0", name_node)):
        case ("ternary_expression", tuple(condition), "?", ("number", first), ":", _):
            return condition, first == "1.0"
        case form:
            raise AssertionError(form)


def _find_decisive(
    canvas: SegmentCanvas, workflow: WorkflowDocument, roles: Roles
) -> frozenset[str]:
    """Gateways that may read a decision that nothing has set since it was last read: from the start
    or from the gateway itself, a path without a node that sets it leads to it."""
    ahead = _list_successors(canvas, workflow)
    setters: dict[str, set[str]] = {}
    for name, gateways in roles.sets.items():
        for gateway in gateways:
            setters.setdefault(gateway, set()).add(name)
    decisive = set()
    for name, reader in roles.readers.items():
        if reader.gateway in roles.coded:
            continue
        stops = setters.get(reader.gateway, set())
        firsts = list(ahead.get(name, ()))
        if reader.gateway not in roles.given:
            firsts += canvas.starts
        if name in list_reachable(firsts, ahead, frozenset(stops)):
            decisive.add(reader.gateway)
    return frozenset(decisive)


def _list_successors(canvas: SegmentCanvas, workflow: WorkflowDocument) -> dict[str, list[str]]:
    """The nodes that may run next behind each node, over rows as well."""
    ahead = {
        name: [end for ends in workflow.targets.get(name, {}).values() for end in ends]
        for name in workflow.steps
    }
    cases = workflow.targets.get(canvas.switch, {})

    def list_begun(kind: str, element: str, event: str) -> list[str]:
        output = canvas.find_case(kind, element, event)
        return [] if output is None else list(cases.get(output, ()))

    leaving = [list(cases.get(case.output, ())) for case in canvas.cases if case.of == "scope"]
    for name, end in canvas.ends.items():
        reached = [target for target in ahead[name] if target != canvas.taken]
        for row in list_templates(end.rows):
            page = canvas.pages.get(row.link) if row.kind == "task" else None
            if page is not None:
                reached.append(page)
                ahead[page] = list_begun(row.kind, row.element, row.element)
            elif row.kind == "scope":
                reached += list_begun("scope", row.element, "end")
            else:
                reached += list_begun(row.kind, row.element, row.element)
        if end.leaves:
            reached += list_begun("scope", "", end.leaves)
        if end.ends:
            reached += [target for targets in leaving for target in targets]
        ahead[name] = reached
    for trigger, element in canvas.starts.items():
        ahead[trigger] = list_begun("start", element, element)
    return ahead
