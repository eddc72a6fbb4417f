"""Whether two workflows behave the same: immediately if no executed part differs, otherwise by
exploration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orgflow.backends.n8n.diff.decisions import Joint, join_decisions
from orgflow.backends.n8n.diff.paired_walk import LIMIT, SEVERAL, Walk
from orgflow.backends.n8n.diff.side import Side
from orgflow.backends.n8n.engine_model import EngineModel
from orgflow.backends.n8n.engine_model.flow import Node
from orgflow.backends.n8n.format.canonical_parameters import parameters_of, read_flags
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.node_decisions import Decision, decision_of
from orgflow.backends.n8n.format.parameter_values import parameter_form
from orgflow.backends.n8n.format.references import follow_renames
from orgflow.backends.n8n.format.workflow_document import Node as Step
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.node_types import find_type
from orgflow.backends.n8n.node_types.node_programs import NAMING, list_program_differences

from orgflow_ir.targets.comparison import Behaviour, Row


class Decisions:
    """The decisions of the nodes of both versions, the old one under the new names.

    Attributes:
        joints: by key (the old name), the decisions that both versions make at one node.
        old: all decisions of the old version by name.
        new: all of the new one.
    """

    def __init__(
        self, old: WorkflowDocument, new: WorkflowDocument, matching: Matching[str]
    ) -> None:
        self.old = _read_decisions(old, matching.renamed)
        self.new = _read_decisions(new, {})
        self.joints: dict[str, Joint] = {}
        self.singles: dict[str, Joint] = {}
        for name, partner in matching.pairs.items():
            mine, its = self.old.get(name), self.new.get(partner)
            if mine is not None and its is not None:
                self.joints[name] = join_decisions(mine, its)
            elif mine is not None or its is not None:
                decision = mine or its
                assert decision is not None
                self.singles[name] = Joint(decision, decision)


def _read_decisions(flow: WorkflowDocument, renamed: Mapping[str, str]) -> dict[str, Decision]:
    decisions = {}
    for name, step in flow.steps.items():
        parameters = follow_renames(step.parameters, renamed)
        decision = decision_of(step, parameters, lambda value: repr(parameter_form(value)))
        if decision is not None:
            decisions[name] = decision
    return decisions


def diff_behaviour(
    old: WorkflowDocument,
    new: WorkflowDocument,
    matching: Matching[str],
    decisions: Decisions,
    limit: int = LIMIT,
    ids: Mapping[str, str] | None = None,
) -> Behaviour:
    """The known data about how the two run; `ids` are those of workflows of the new version by
    their old ids."""
    if _normalise_behaviour(old, matching.pairs, matching.renamed) == _normalise_behaviour(
        new, {n: n for n in new.steps}, {}
    ):
        return Behaviour("same", 0, "no difference affects n8n")
    setting = _describe_setting(old, new)
    if setting:
        return Behaviour("different", 0, setting)
    if not (old.order and new.order):
        served = _describe_served(old, new, matching)
        return Behaviour("different", 0, served) if served else _legacy_order(old, new)
    try:
        machines = EngineModel(old), EngineModel(new)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        # A workflow is whatever somebody wrote; n8n itself fails on such parameters when it runs.
        return Behaviour("unknown", 0, f"a parameter cannot be read: {error}")
    keys = {name: number for number, name in enumerate(matching.pairs)}
    back = {matching.pairs[name]: number for name, number in keys.items()}
    sides = Side(machines[0], keys, decisions.old), Side(machines[1], back, decisions.new)
    joints = {keys[name]: joint for name, joint in decisions.joints.items()}
    singles = {keys[name]: joint for name, joint in decisions.singles.items()}
    mine, its = _list_starts(old), _list_starts(new)
    starts = [(n, matching.pairs[n]) for n in mine if matching.pairs.get(n) in its]
    idle = frozenset(keys[n] for n, partner in matching.pairs.items()
                     if _is_idle(old, n) and _is_idle(new, partner))  # fmt: skip
    # Runs with one item at a time; where a node may make several of one, runs with several.
    behaviour = Walk(*sides, joints, singles, limit, idle=idle).run(starts)
    if behaviour.verdict == "same" and any(_may_multiply(n) for n in machines[0].flows[0].nodes):
        most = min(limit, SEVERAL)
        more = Walk(*sides, joints, singles, most, several=True, idle=idle).run(starts)
        behaviour = _add_looked_at(more, behaviour.looked_at)
    behaviour = behaviour._replace(run=tuple(_steps_of(behaviour.run, old, new)))
    if behaviour.verdict != "different":
        other = _other_start(mine, its, matching) or _describe_served(old, new, matching)
        if other:
            return Behaviour("different", behaviour.looked_at, other)
    assumed = list(_describe_waits(old, new, matching))
    if any(joint.is_assumed for joint in decisions.joints.values()):
        assumed.append("the changed conditions decide as before")
    assumed += _describe_calls(old, new, matching, ids or {})
    assumed += _describe_content(old, new, matching, decisions)
    verdict = "changed" if assumed and behaviour.verdict == "same" else behaviour.verdict
    return behaviour._replace(verdict=verdict, assumed=tuple(assumed))


def _describe_content(
    old: WorkflowDocument, new: WorkflowDocument, matching: Matching[str], decisions: Decisions
) -> Iterator[str]:
    """What has to hold of content that was not run: of nodes that have other content, and of those
    that only one version has."""
    renamed = matching.renamed
    back = {new_name: old_name for old_name, new_name in matching.pairs.items()}
    live_old, live_new = _list_live(old), _list_live(new)
    changed: list[str] = []
    filled: list[str] = []
    for name, partner in matching.pairs.items():
        before, now = old.steps[name], new.steps[partner]
        if name in decisions.joints or not (name in live_old or partner in live_new):
            continue
        if _is_followed(before) and _is_followed(now):
            continue
        if not _does_the_same(before, now, renamed, back):
            (filled if before.short == "noOp" else changed).append(partner)
    if changed:
        subject = "node does" if len(changed) == 1 else "nodes do"
        yield f"the changed {subject} the same as before: {_join_names(changed)}"
    if filled:
        verbs = "returns one item and changes" if len(filled) == 1 else "return one item and change"
        yield f"{_join_names(filled)} {verbs} no variable of other steps"
    lost = [
        name
        for name in matching.missing
        if name in live_old and _does_something(name, old) and not _changes_items(name, old)
    ]
    if lost:
        nodes = "node" if len(lost) == 1 else "nodes"
        yield f"nothing is missing without the removed {nodes}: {_join_names(lost)}"
    for names, flow, live, which, verb in (
        (matching.added, new, live_new, "added", "pass"),
        (matching.missing, old, live_old, "removed", "passed"),
    ):
        doing = [name for name in names if name in live and _changes_items(name, flow)]
        if doing:
            nodes = "node" if len(doing) == 1 else "nodes"
            verb = "passes" if (verb, nodes) == ("pass", "node") else verb
            yield f"the {which} {nodes} {verb} on every item unchanged: {_join_names(doing)}"


def _list_live(flow: WorkflowDocument) -> set[str]:
    """The nodes that a run may come to."""
    ahead: dict[str, list[str]] = {}
    for wire in flow.wires:
        if wire.kind == "main":
            ahead.setdefault(wire.source, []).append(wire.target)
    live: set[str] = set()
    todo = _list_starts(flow)
    while todo:
        name = todo.pop()
        if name not in live:
            live.add(name)
            todo += ahead.get(name, ())
    return live


def _does_the_same(
    before: Step, now: Step, renamed: Mapping[str, str], back: Mapping[str, str]
) -> bool:
    """Whether two versions of a node have the same program; a name of the new version is known by
    `back` if the old version has its node."""
    if before.type != now.type or before.disabled != now.disabled:
        return False

    def name_before(function: str, text: str) -> str | None:
        return renamed.get(text, text) if function in NAMING else None

    def name_now(function: str, text: str) -> str | None:
        if function not in NAMING:
            return None
        return text if text in back else f"?{text}"

    differences = list_program_differences(before, now, name_before, name_now)
    return next(differences, None) is None


def _describe_calls(
    old: WorkflowDocument, new: WorkflowDocument, matching: Matching[str], ids: Mapping[str, str]
) -> Iterator[str]:
    """Of calls that name another workflow, that it is the same: another server may have given it
    another id."""
    live = _list_live(old)
    for name, partner in matching.pairs.items():
        before, now = old.steps[name], new.steps[partner]
        was, called = (str(step.inside("workflowId", "value") or "") for step in (before, now))
        if name in live and was and called and called not in (was, ids.get(was)):
            yield f"`{partner}` calls the same workflow under another id: {was} → {called}"


_FOLLOWED = frozenset({"noOp", "if", "switch", "filter", "limit", "splitInBatches"})
"""Nodes of which the exploration knows all that they do."""


def _is_followed(step: Step) -> bool:
    """Whether the exploration follows all that a node does: which items it hands on, and where."""
    return step.disabled or step.short in _FOLLOWED


def _passes_unchanged(step: Step) -> bool:
    """Whether a node hands on its items as they are; waits and nodes that decide are followed."""
    kind = find_type(step.short)
    effect = None if kind is None else kind.effect(step.version, step.parameters)
    return step.disabled or step.trigger or _holds_up(step) or effect == "pass"


def _leads_on(name: str, flow: WorkflowDocument) -> bool:
    """Whether another node follows, which gets what a node hands on."""
    return any(wire.source == name and wire.kind == "main" for wire in flow.wires)


def _changes_items(name: str, flow: WorkflowDocument) -> bool:
    """Whether the next node gets other items than a node."""
    return _leads_on(name, flow) and not _passes_unchanged(flow.steps[name])


def _does_something(name: str, flow: WorkflowDocument) -> bool:
    """Whether a node stands for a step of a model, or does more than hand on items."""
    step = flow.steps[name]
    named = name in flow.map.nodes or step.tag is not None
    return not step.trigger and not _holds_up(step) and (named or not _is_followed(step))


def _legacy_order(old: WorkflowDocument, new: WorkflowDocument) -> Behaviour:
    which = "old" if new.order else "new" if old.order else ""
    who = f"the {which} workflow has" if which else "the workflows have"
    reason = (
        f"{who} n8n's legacy execution order, which is not simulated; add `executionOrder: v1` to "
        "the settings"
    )
    return Behaviour("unknown", 0, reason)


def _add_looked_at(behaviour: Behaviour, looked_at: int) -> Behaviour:
    """The behaviour with several items, after that with one was looked at."""
    if behaviour.verdict == "bounded":
        reason = f"if one item may become several, {behaviour.reason}"
        behaviour = behaviour._replace(reason=reason)
    return behaviour._replace(looked_at=looked_at + behaviour.looked_at)


_COUNTING = ("before", "round")
"""Roles of nodes that only count the visits of a form in a loop, and join the paths to it."""


def _steps_of(rows: tuple[Row, ...], old: WorkflowDocument, new: WorkflowDocument) -> Iterator[Row]:
    """The rows of a run without those in which no version does a step of its process."""
    counting = [
        {"", *(n for n, s in flow.steps.items() if s.tag is not None and s.tag[1] in _COUNTING)}
        for flow in (old, new)
    ]
    for row in rows:
        if not (row.same and row.old in counting[0] and row.new in counting[1]):
            yield row


def _is_idle(flow: WorkflowDocument, name: str) -> bool:
    """Whether a node does nothing and stands for nothing: a placeholder stands for a task."""
    step = flow.steps[name]
    named = name in flow.map.nodes or step.tag is not None
    return step.short == "noOp" and not named


def _describe_waits(
    old: WorkflowDocument, new: WorkflowDocument, matching: Matching[str]
) -> Iterator[str]:
    """Of waits that only one version has, that it makes no difference when the run goes on."""
    gone = [n for n in matching.missing if _holds_up(old.steps[n])]
    come = [n for n in matching.added if _holds_up(new.steps[n])]
    if gone:
        yield f"the run no longer waits at {_join_names(gone)}"
    if come:
        yield f"the run may wait at {_join_names(come)}"


def _holds_up(step: Step) -> bool:
    return step.short in ("wait", "form") and not step.disabled


def _join_names(names: list[str]) -> str:
    text = ", ".join(f"`{n}`" for n in names[:3])
    return text + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _may_multiply(node: Node) -> bool:
    """Whether what a node makes of one item depends on data that are not modelled."""
    return node.behaviour.kind == "choice" and (node.behaviour.outputs or 1) == 1


def _list_starts(flow: WorkflowDocument) -> list[str]:
    """Where runs begin: triggers, or where there are none the steps that nothing leads to."""
    starts = [s.key for s in flow.steps.values() if s.starts]
    if starts:
        return starts
    reached = {wire.target for wire in flow.wires if wire.kind == "main"}
    serving = {wire.source for wire in flow.wires if wire.kind != "main"}
    return [n for n in flow.steps if n not in reached and n not in serving]


def _other_start(mine: list[str], its: list[str], matching: Matching[str]) -> str:
    for name in mine:
        if matching.pairs.get(name) not in its:
            return f"`{name}` starts runs only in the old workflow"
    for name in its:
        if matching.key_of.get(name) not in mine:
            return f"`{name}` starts runs only in the new workflow"
    return ""


_SETTINGS: Mapping[str, tuple[str, tuple[Any, ...]]] = {
    "callerPolicy": ("the policy for callers is {}", (None, "", "workflowsFromSameOwner")),
    "timezone": ("the time zone is {}", (None, "", "DEFAULT")),
    "errorWorkflow": ("after an error, {} runs", (None, "", "DEFAULT")),
    "executionTimeout": ("a run is stopped after {} seconds", (None, "", -1)),
}  # fmt: skip
"""Settings that affect execution: in words, and the values that mean n8n's own default."""


def _read_settings(flow: WorkflowDocument) -> dict[str, Any]:
    settings = {name: flow.settings.get(name) for name in _SETTINGS}
    return {
        name: None if value in _SETTINGS[name][1] else value for name, value in settings.items()
    }


def _describe_setting(old: WorkflowDocument, new: WorkflowDocument) -> str:
    """A setting that makes runs differ, in words."""
    before, after = _read_settings(old), _read_settings(new)
    for name, (words, _) in _SETTINGS.items():
        if before[name] != after[name]:
            first, other = (
                "the server's default" if value is None else f"`{value}`"
                for value in (before[name], after[name])
            )
            return f"{words.format(first)} in the old workflow and {other} in the new one"
    return ""


def _describe_served(old: WorkflowDocument, new: WorkflowDocument, matching: Matching[str]) -> str:
    """A model, memory, tool, … that serves a node in one version only, where both have the node.
    Nodes that are disabled serve nobody and need nothing."""
    before, after = _serving_wires(old, matching.pairs), _serving_wires(new, None)
    both = set(matching.pairs.values())
    for wires, others, which in ((before, after, "old"), (after, before, "new")):
        for source, kind, target, _ in sorted(wires - others):
            if target in both:
                shown = source.lstrip("\0")
                return f"`{shown}` serves `{target}` ({kind}) only in the {which} workflow"
    return ""


def _serving_wires(
    flow: WorkflowDocument, names: Mapping[str, str] | None
) -> set[tuple[str, str, str, int]]:
    """Wires of sub-nodes that work for a node that can run, under the names of the new version: a
    node without a partner is marked, since one that was added may have its name."""
    on = [w for w in flow.wires if not flow.steps[w.target].disabled]
    live = set(_list_starts(flow))
    todo = list(live)
    ahead: dict[str, list[str]] = {}
    for wire in flow.wires:
        if wire.kind == "main":
            ahead.setdefault(wire.source, []).append(wire.target)
    while todo:
        come = [n for n in ahead.get(todo.pop(), ()) if n not in live]
        live.update(come)
        todo += come
    wires: set[tuple[str, str, str, int]] = set()
    serving = [w for w in on if w.kind != "main" and not flow.steps[w.source].disabled]
    while True:  # a sub-node may have sub-nodes of its own
        reached = [w for w in serving if w.target in live]
        if not reached:
            return wires
        serving = [w for w in serving if w.target not in live]
        for wire in reached:
            live.add(wire.source)
            source, target = wire.source, wire.target
            if names is not None:
                source, target = (names.get(n, f"\0{n}") for n in (source, target))
            wires.add((source, wire.kind, target, wire.input))


def _normalise_behaviour(
    flow: WorkflowDocument, names: Mapping[str, str], renamed: Mapping[str, str]
) -> Any:
    """All of a workflow that n8n looks at when it runs it, under the names of the new version.

    Of positions only the order of targets that they give; n8n's first order of execution goes by
    the order in the file instead.
    """
    steps = {}
    for name, step in flow.steps.items():
        if name not in names:
            return None
        parameters = parameters_of(step, follow_renames(step.parameters, renamed))
        numeric = int(name) if name.isdecimal() and len(name) < 11 else None
        steps[names[name]] = (step.type, step.version, parameters, read_flags(step), numeric)
    wires: dict[tuple[str, str], list[tuple[int, str, int]]] = {}
    for wire in flow.wires:
        entry = (wire.output, names[wire.target], wire.input)
        wires.setdefault((names[wire.source], wire.kind), []).append(entry)
    back = {new: old for old, new in names.items()}
    if flow.order:
        for (_, kind), entries in wires.items():
            if kind == "main":
                entries.sort(key=lambda e: _node_position(flow.steps[back[e[1]]]))
            else:
                entries.sort()
    return steps, wires, flow.order, _read_settings(flow)


def _node_position(step: Step) -> tuple[float, float]:
    x, y = step.position or (0, 0)
    return (y, x)
