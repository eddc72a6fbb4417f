"""Faults in the runs of a workflow: Merges, duplicate execution, loops, waits."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.engine_model.config import Phase
from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.lint.data_rules import UnexploredRuns
from orgflow.backends.n8n.lint.flow_rules import InescapableLoop, WaitBesideWork
from orgflow.backends.n8n.lint.item_walk import MOST_STATES, Walk
from orgflow.backends.n8n.lint.lint_report import Report, list_names
from orgflow.backends.n8n.lint.linted_workflow import Workflow
from orgflow.backends.n8n.lint.merges import check_empty, check_left
from orgflow.backends.n8n.lint.repeats import check_repeats
from orgflow.backends.n8n.lint.triggers import waits_for_answer

from orgflow_ir.diagnostics import Severity


def check_runs(report: Report, walk: Walk) -> None:
    """Findings from the exploration of all runs."""
    flow = report.workflow
    if walk.bounded:
        report.add(
            UnexploredRuns,
            flow.document.path,
            f"`{flow.name}` has more than {MOST_STATES:,} states: faults that occur only in the "
            "others are not reported",
            "split the workflow, or check its parts",
        )
    check_left(report, walk)
    check_empty(report, walk)
    check_repeats(report, walk)
    _check_endless(report, walk)
    _check_waits(report, walk)


def _check_endless(report: Report, walk: Walk) -> None:
    """Situations from which no run ends."""
    flow = report.workflow
    back: dict[int, list[int]] = {}
    leaving = set(walk.cut)
    for config, turn in walk.all_turns():
        if turn.after < 0:
            leaving.add(config)
        else:
            back.setdefault(turn.after, []).append(config)
    todo = sorted(leaving)
    while todo:
        for config in back.get(todo.pop(), ()):
            if config not in leaving:
                leaving.add(config)
                todo.append(config)
    trapped = [c for c in range(len(walk.configs)) if c not in leaving]
    reported: set[int] = set()
    for config in trapped:
        node = walk.at(config)
        if node in reported or node not in flow.cyclic:
            continue
        ring = sorted(
            i
            for i in {walk.at(c) for c in trapped}
            if i in flow.after(node) and node in flow.after(i)
        )
        reported.update(ring)
        nodes = [flow.nodes[i] for i in ring]
        sure = all(_is_sure(walk, n) for n in nodes)
        report.add(
            InescapableLoop,
            flow.nodes[node],
            f"the loop of {list_names([n.name for n in nodes])} has no exit: the run never "
            f"ends{'' if sure else '  unless one of them fails or outputs no item'}",
            "add an If to the loop, with one output that leaves it",
            severity=None if sure else Severity.WARNING,
        )


def _is_sure(walk: Walk, node: Node) -> bool:
    unknown = walk.flow.nodes[node.index].behaviour.kind == "choice"
    decided = not unknown or node.index in walk.kinds.routers
    kind = node_types.find_type(node.short)
    reliable = kind is not None and kind.reliable
    return node.disabled or (reliable and decided and not node.on_error)


def _check_waits(report: Report, walk: Walk) -> None:
    flow = report.workflow
    beside: dict[int, dict[int, None]] = {}
    for number, config in enumerate(walk.configs):
        frame = config.frames[0]
        if frame.phase is Phase.READY or len(frame.stack) < 2 or number in walk.cut:
            continue
        held = beside.setdefault(frame.stack[-1][0], {})
        held.update((node, None) for node, _ in reversed(frame.stack[:-1]))
    for index, pending in sorted(beside.items()):
        node = flow.nodes[index]
        later = _second_wait(flow, index, pending) if waits_for_answer(node) else None
        names = list_names([flow.nodes[i].name for i in pending])
        if later is not None:
            report.add(
                WaitBesideWork,
                node,
                f"`{node.name}` and `{later.name}` wait in parallel: n8n waits at one place at a "
                f"time, so a call for `{later.name}` gets 404 until `{node.name}` is answered",
                "put the waits in sequence, or move each branch to its own workflow",
                severity=Severity.WARNING,
                others=(("the other wait", later),),
            )
        else:
            report.add(
                WaitBesideWork,
                node,
                f"while `{node.name}` waits, the whole run is paused, including {names}",
                "put the wait before or after the branches, or into its own workflow",
            )


def _second_wait(flow: Workflow, first: int, pending: Iterable[int]) -> Node | None:
    """A wait for an answer in a branch that is held up by another one, before they meet."""
    behind = flow.after(first)
    for index in sorted(flow.reach(list(pending), avoiding=frozenset(behind))):
        if index != first and waits_for_answer(flow.nodes[index]):
            return flow.nodes[index]
    return None
