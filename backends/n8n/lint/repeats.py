"""Nodes that run more often than the model shows: branches that meet without a Merge, items that
accumulate."""

from __future__ import annotations

from orgflow.backends.n8n.lint.flow_rules import (
    MultipliedItems,
    OverwrittenItem,
    RefilledInput,
    RepeatedWork,
)
from orgflow.backends.n8n.lint.item_walk import Walk
from orgflow.backends.n8n.lint.lint_report import Report, list_names

from orgflow_ir.diagnostics import Severity


def check_repeats(report: Report, walk: Walk) -> None:
    """OF452 to OF455."""
    refilled = _check_refilled(report, walk)
    _check_repeated(report, walk, refilled)
    _check_overwritten(report, walk, refilled)
    _check_multiplied(report, walk)


def _repeatable_nodes(walk: Walk) -> frozenset[int]:
    """Nodes that can run twice in one run."""
    again = {
        turn.node
        for config, turn in walk.all_turns()
        if turn.ran and walk.may[config] >> turn.node & 1
    }
    return frozenset(again | walk.doubled)


def _check_refilled(report: Report, walk: Walk) -> frozenset[int]:
    """Merges whose input gets two tokens in a run without a loop."""
    flow = report.workflow
    twice = _repeatable_nodes(walk)
    refilled = set()
    for node in flow.nodes:
        if node.short != "merge" or node.disabled or walk.flow.nodes[node.index].inputs < 2:
            continue
        doubled = [w.source for w in flow.into[node.index] if w.source in twice]
        if node.index in flow.cyclic or doubled:
            continue
        by_slot: dict[int, list[int]] = {}
        for wire in flow.into[node.index]:
            by_slot.setdefault(wire.slot, []).append(wire.source)
        several = [s for s, sources in sorted(by_slot.items()) if len(sources) > 1]
        again = node.index in twice or _held_twice(walk, node.index)
        if not several or not again:
            continue
        refilled.add(node.index)
        names = list_names([flow.nodes[i].name for i in by_slot[several[0]]])
        report.add(
            RefilledInput,
            node,
            f"{names} all lead to input {several[0]} of `{node.name}` and can arrive in one run: "
            "the node and everything after it run once for each, the later times with some "
            "inputs empty",
            "give each source its own input (`numberInputs`)",
        )
    return frozenset(refilled)


def _held_twice(walk: Walk, node: int) -> bool:
    """Whether two entries wait at a node at once."""
    return any(
        index == node and len(entries) > 1
        for config in walk.configs
        for index, entries in config.frames[0].waiting
    )


def _check_repeated(report: Report, walk: Walk, refilled: frozenset[int]) -> None:
    """Where tokens of one run meet without a Merge: only the first such nodes are reported."""
    flow = report.workflow
    twice = _repeatable_nodes(walk)
    for node in flow.nodes:
        if node.index not in twice or node.index in flow.cyclic or node.index in refilled:
            continue
        sources = [flow.nodes[w.source] for w in flow.into[node.index]]
        if any(s.index in twice for s in sources):
            continue
        if len(sources) < 2 or walk.flow.nodes[node.index].inputs > 1:
            continue
        names = list_names([s.name for s in dict.fromkeys(sources)])
        behind = flow.after(node.index)
        report.add(
            RepeatedWork,
            node,
            f"{names} can all run in one run and lead to `{node.name}` without a Merge: "
            f"it{'  and all nodes after it run' if behind else ' runs'} once for each",
            "put a Merge (`combineByPosition`) before it, with an input for each branch",
        )
    reported = _in_loops(report, walk)
    for index in sorted(walk.piled & flow.cyclic):
        if reported:
            break
        node = flow.nodes[index]
        report.add(
            RepeatedWork,
            node,
            f"`{node.name}` accumulates runs: its loop returns to a fork before its branches have "
            "joined, so every iteration starts more of them, and the nodes after it run more and "
            "more often",
            "join the branches with a Merge before the loop returns",
        )


def _in_loops(report: Report, walk: Walk) -> bool:
    """Nodes of a loop that run while a second token is still on its way to them."""
    flow = report.workflow
    joins = frozenset(n.index for n in walk.flow.nodes if n.inputs > 1)
    meeting: dict[int, set[int]] = {}
    for config, turn in walk.all_turns():
        if not turn.ran or turn.node not in flow.cyclic or turn.node in joins:
            continue
        if len(flow.into[turn.node]) > 1:
            waiting = {node for node, _ in walk.frame(config).stack[:-1]}
            meeting.setdefault(turn.node, set()).update(waiting)
    candidates = {
        node: pending
        for node, held in sorted(meeting.items())
        if (pending := [p for p in sorted(held) if node in flow.reach([p], avoiding=joins)])
    }
    reported = False
    for index, held_up in candidates.items():
        others = joins | (candidates.keys() - {index})
        if not any(index in flow.reach([p], avoiding=frozenset(others)) for p in held_up):
            continue
        reported = True
        node = flow.nodes[index]
        names = list_names([flow.nodes[w.source].name for w in flow.into[index]])
        report.add(
            RepeatedWork,
            node,
            f"{names} lead to `{node.name}`, in a loop, without a Merge, and several of them can "
            "run before it is done: the loop and the nodes after it run once for each",
            "join the branches with a Merge (`combineByPosition`) before the loop returns",
        )
    return reported


def _check_overwritten(report: Report, walk: Walk, refilled: frozenset[int]) -> None:
    flow = report.workflow
    lost: dict[int, int] = {}
    for _, turn in walk.all_turns():
        for loss in turn.overwritten:
            lost.setdefault(loss.node, loss.slot)
    for index, slot in sorted(lost.items()):
        node = flow.nodes[index]
        if index in refilled:
            continue
        report.add(
            OverwrittenItem,
            node,
            f"a later item can overwrite one that waits on input {slot} of `{node.name}`: the "
            "first item is lost, and later items are joined with unrelated ones",
            "join the branches before the node that runs several times",
        )


def _check_multiplied(report: Report, walk: Walk) -> None:
    flow = report.workflow
    multiplied: dict[int, int] = {}
    for _, turn in walk.all_turns():
        node = flow.nodes[turn.node]
        if node.short != "merge" or node.disabled or len(turn.inputs) < 2 or not turn.outputs:
            continue
        if turn.outputs[0] > max(turn.inputs) and flow.out[turn.node]:
            multiplied[turn.node] = max(multiplied.get(turn.node, 0), turn.outputs[0])
    growing = bool(walk.grown)
    for index, count in sorted(multiplied.items()):
        node = flow.nodes[index]
        loops = growing and index in flow.cyclic
        more = ", and their number grows with every iteration of its loop" if loops else ""
        report.add(
            MultipliedItems,
            node,
            f"`{node.name}` passes on the items of all its branches: the nodes after it run "
            f"{count} for one{more}",
            "use `combineByPosition` to combine one item per branch into one",
            severity=Severity.WARNING if loops else None,
        )
