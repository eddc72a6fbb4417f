"""Merges that do not continue in some run, or continue without items."""

from __future__ import annotations

from orgflow.backends.n8n.engine_model.config import Waiting
from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.lint.flow_rules import BlockedMerges, EmptyMerge, StarvedMerge
from orgflow.backends.n8n.lint.item_walk import Walk
from orgflow.backends.n8n.lint.lint_report import Report, list_names
from orgflow.backends.n8n.lint.linted_workflow import Workflow
from orgflow.backends.n8n.lint.wires import triggers_apart

from orgflow_ir.diagnostics import Severity


def check_left(report: Report, walk: Walk) -> None:
    """Merges that still wait when a run ends: OF449, OF451."""
    flow = report.workflow
    starved: dict[int, list[int]] = {}
    blocked: dict[tuple[int, ...], None] = {}
    for config, turn in walk.all_turns():
        if turn.after >= 0 or turn.status != "success" or not turn.left:
            continue
        before = walk.may[config] | 1 << turn.node
        fresh = [entry for entry in turn.left if not before >> entry[0] & 1]
        for node, entries in fresh:
            if _needs_all(walk, node):
                missing = {s for _, counts in entries for s in (0, 1) if not counts[s]}
                starved[node] = sorted(missing | set(starved.get(node, ())))
        stuck = _mutual_waits(walk, turn.left)
        if stuck:
            blocked.setdefault(stuck)
    for node, slots in sorted(starved.items()):
        if triggers_apart(flow, flow.nodes[node]):
            continue
        _report_starved(report, walk, flow.nodes[node], slots)
    for nodes in blocked:
        names = list_names([flow.nodes[n].name for n in nodes])
        report.add(
            BlockedMerges,
            flow.nodes[nodes[0]],
            f"{names} are in one loop and can both wait for an input that never arrives: neither "
            "continues, nothing after them runs, and the run ends with status success",
            "provide every input in each iteration: connect the other output of an If directly "
            "to the Merge",
            others=tuple(("the other Merge", flow.nodes[n]) for n in nodes[1:]),
        )


def _needs_all(walk: Walk, node: int) -> bool:
    merge = walk.flow.nodes[node]
    return merge.never_partial or merge.requires_two


def _mutual_waits(walk: Walk, left: Waiting) -> tuple[int, ...]:
    """Nodes that wait for each other, none of them for an input it requires."""
    waiting = [n for n, _ in left if not _needs_all(walk, n)]
    nodes = walk.flow.nodes
    return tuple(
        sorted(
            a
            for a in waiting
            if any(
                b != a and nodes[a].ancestors >> b & 1 and nodes[b].ancestors >> a & 1
                for b in waiting
            )
        )
    )


def _report_starved(report: Report, walk: Walk, node: Node, slots: list[int]) -> None:
    flow = report.workflow
    before = flow.reach([n.index for n in flow.nodes if n.starts], frozenset({node.index}))
    own = [
        slot
        for slot in slots
        if all(w.source not in before for w in flow.into[node.index] if w.slot == slot)
    ]
    which = " or ".join(str(s) for s in own or slots)
    if own:
        report.add(
            StarvedMerge,
            node,
            f"input {which} of `{node.name}` receives items only from later nodes, and the mode "
            f"`chooseBranch` waits for it: {_describe_idle(flow, node, 'never')}, and every run "
            "ends with status success",
            "a loop needs no Merge at its entry: connect both paths to the same input",
            severity=Severity.ERROR,
        )
        return
    report.add(
        StarvedMerge,
        node,
        f"in some run, input {which} of `{node.name}` receives no item, and the mode "
        f"`chooseBranch` waits for it: {_describe_idle(flow, node, 'not')}, and the run ends with "
        "status success",
        "connect alternative branches to the same input of the next node; to join parallel "
        "branches, use `combineByPosition`",
    )


def check_empty(report: Report, walk: Walk) -> None:
    """Merges that combine existing items with missing ones: OF450."""
    flow = report.workflow
    empty_inputs: dict[int, int] = {}
    for _, turn in walk.all_turns():
        merge = walk.flow.nodes[turn.node]
        if flow.nodes[turn.node].short != "merge" or merge.disabled:
            continue
        lone = len(turn.inputs) < 2  # a Merge has two inputs, also where one is wired
        if turn.ran and any(turn.inputs) and not any(turn.outputs) and (lone or 0 in turn.inputs):
            empty_inputs.setdefault(turn.node, len(turn.inputs) if lone else turn.inputs.index(0))
    for index, slot in sorted(empty_inputs.items()):
        node = flow.nodes[index]
        if not flow.out[index] or triggers_apart(flow, node):
            continue
        if not any(w.slot == slot for w in flow.into[index]):
            why = f"input {slot} of `{node.name}` has no connection"
            certain = True
        else:
            why, certain = f"in some run, input {slot} of `{node.name}` receives no item", False
        idle = _idle_words(_only_behind(flow, node), "never" if certain else "not")
        report.add(
            EmptyMerge,
            node,
            f"{why}: it outputs no item and {idle}, and the run ends with status success",
            "connect alternative branches to the same input of the next node; to join optional "
            "inputs, use `combineByPosition` with `includeUnpaired`",
        )


def _describe_idle(flow: Workflow, node: Node, how: str) -> str:
    """That a node does not run, or never, and with it what only it leads to."""
    return _idle_words([node.name, *_only_behind(flow, node)], how)


def _idle_words(names: list[str], how: str) -> str:
    """`A` does not run; `A` and `B` never run."""
    single = len(names) < 2
    what = list_names(names, most=3) if names else "the nodes after it"
    if how == "never":
        return f"{what} never {'runs' if single else 'run'}"
    return f"{what} {'does' if single else 'do'} not run"


def _only_behind(flow: Workflow, node: Node) -> list[str]:
    """The names of nodes that no trigger leads to but through `node`."""
    starts = [n.index for n in flow.nodes if n.starts]
    others = flow.reach(starts, avoiding=frozenset({node.index}))
    return [flow.nodes[i].name for i in sorted(flow.after(node.index) - others - {node.index})]
