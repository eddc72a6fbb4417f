"""References to nodes that have not run: from the exploration if there is one, otherwise from the
connections."""

from __future__ import annotations

from orgflow.backends.n8n.lint.expressions import Reference
from orgflow.backends.n8n.lint.item_walk import Walk
from orgflow.backends.n8n.lint.lint_report import Report
from orgflow.backends.n8n.lint.linted_workflow import Workflow
from orgflow.backends.n8n.lint.run_rules import EarlyReference

from orgflow_ir.diagnostics import Severity


def _unguarded_pairs(
    flow: Workflow, references: list[Reference]
) -> dict[tuple[int, int], Reference]:
    """The first unguarded reference of each node to each other one."""
    pairs: dict[tuple[int, int], Reference] = {}
    for reference in references:
        named = flow.by_name.get(reference.name)
        if named is None or reference.guarded or reference.tried:
            continue
        if named.index != reference.node.index:
            pairs.setdefault((reference.node.index, named.index), reference)
    return pairs


def check_early(report: Report, references: list[Reference], walk: Walk | None) -> None:
    """Unguarded references, each pair of nodes once."""
    flow = report.workflow
    pairs = _unguarded_pairs(flow, references)
    skipped = asked_nodes(references)
    history = History(walk) if walk is not None else None
    paths = Ways(flow)
    for (reader, target), reference in pairs.items():
        if target in flow.serving or reference.name in skipped:
            continue
        for step in flow.steps_of(reader):
            if history is not None and history.sometimes(step, target):
                if history.always(step, target) or reference.chosen:
                    continue
                _report_early(report, reference, "has not run before it in some run", None)
            elif paths.never(step, target):
                _report_early(
                    report,
                    reference,
                    "never runs before it",
                    None if reference.maybe else Severity.ERROR,
                )
            elif history is not None and history.runs(step):
                _report_early(report, reference, "has not run before it in some run", None)
            else:
                continue
            break


def asked_nodes(references: list[Reference]) -> frozenset[str]:
    """Nodes whose `isExecuted` is tested by some node, so the workflow handles this in its flow."""
    return frozenset(reference.name for reference in references if reference.asked)


def _report_early(
    report: Report, reference: Reference, why: str, severity: Severity | None
) -> None:
    report.add(
        EarlyReference,
        reference.node,
        f"`{reference.node.name}` reads from `{reference.name}`, which {why}: the node then fails",
        f"check `$('{reference.name}').isExecuted` first, or read a node that has always run",
        "parameters",
        *reference.path,
        severity=severity,
    )


class Ways:
    """The nodes that may run before a node according to the connections."""

    def __init__(self, flow: Workflow) -> None:
        self._flow = flow
        starts = [n.index for n in flow.nodes if n.starts]
        self._after = {s: flow.reach([s]) for s in starts}
        self._before: dict[int, frozenset[int]] = {}

    def never(self, node: int, before: int) -> bool:
        """Whether every path from a trigger of `node` to `before` passes `node`."""
        if node not in self._before:
            starts = [s for s, reached in self._after.items() if node in reached]
            self._before[node] = self._flow.reach(starts, avoiding=frozenset({node}))
        return node in self._flow.live and before not in self._before[node]


class History:
    """For each node the nodes that ran before it: in some run, and in every run."""

    def __init__(self, walk: Walk) -> None:
        self._may: dict[int, int] = {}
        self._must: dict[int, int] = {}
        for config, turn in walk.all_turns():
            if turn.ran:
                self._may[turn.node] = self._may.get(turn.node, 0) | walk.may[config]
                self._must[turn.node] = self._must.get(turn.node, -1) & walk.must[config]

    def runs(self, node: int) -> bool:
        """Whether it runs at all."""
        return node in self._may

    def sometimes(self, node: int, before: int) -> bool:
        """Whether `before` ran before `node` in some run."""
        return bool(self._may.get(node, 0) >> before & 1)

    def always(self, node: int, before: int) -> bool:
        """Whether `before` ran before `node` in every run."""
        return bool(self._must.get(node, 0) >> before & 1)
