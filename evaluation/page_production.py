"""The page of a production replay: executions on the model, with equal ones combined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from orgflow.evaluation.page import Fired, Page, Shown, Verdict, number_steps
from orgflow.evaluation.page_model import Canvas, NodeTable, flow_counts, visit_counts
from orgflow.evaluation.page_runs import branches_taken, list_records, page_title
from orgflow.evaluation.production import Edited, Judged, ProductionReport, ran_elements
from orgflow.evaluation.wording import choices_line

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.plugins.executions import SeenNode

MOST_WAYS = 60
"""Maximum number of paths with their own picture."""

RESULTS: dict[str, tuple[Verdict, str]] = {
    "different": ("different", "deviates"),
    "failed": ("failed", "failed"),
    "unfinished": ("open", "not over"),
    "partial": ("open", "partial test"),
    "equal": ("ok", "conforms"),
}
"""Verdicts, worst first, and their wording."""


class Way(NamedTuple):
    """Executions with the same behaviour, oldest first."""

    judged: Judged
    members: tuple[Judged, ...]


def group_executions(report: ProductionReport) -> tuple[Way, ...]:
    """Executions by behaviour: worst first, then the most frequent ones."""
    groups: dict[tuple[object, ...], list[Judged]] = {}
    for judged in report.executions:
        o = judged.observed
        nodes = tuple((n.node, n.status) for n in o.nodes)
        key = (o.process, judged.verdict, judged.reason, nodes, judged.steps)
        groups.setdefault(key, []).append(judged)
    order = list(RESULTS)
    kinds = [
        Way(members[0], tuple(sorted(members, key=lambda j: _identity_key(j.observed.id))))
        for members in groups.values()
    ]
    return tuple(
        sorted(
            kinds,
            key=lambda w: (
                order.index(w.judged.verdict),
                -len(w.members),
                _identity_key(w.members[0].observed.id),
            ),
        )
    )


def _identity_key(identity: str) -> tuple[int, str]:
    return (int(identity) if identity.isdecimal() else 0, identity)


def production_page(
    model: Model,
    nodes: NodeTable,
    diagnostics: Sequence[Diagnostic],
    report: ProductionReport,
    source: str,
) -> Page:
    """The page of executions of a deployed workflow.

    Args:
        model: not lowered.
        nodes: the nodes of its elements.
        diagnostics: findings of the checks.
        report: the report on the executions.
        source: their origin, as text.
    """
    canvas = Canvas(model, nodes)
    diagnostics = [d for d in diagnostics if d.suppressed is None]
    highlights, words = canvas.marked(diagnostics)
    taken: set[str] = set()
    visits: Counter[str] = Counter()
    left_at: dict[str, Counter[str]] = {}
    for judged in report.executions:
        ran = ran_elements(judged.observed)
        taken |= canvas.taken(judged.steps, ran, judged.places)
        visits += visit_counts(judged.steps)
        for element, severity in mark_elements(judged).items():
            if severity == "error" or element not in highlights:
                highlights[element] = severity
            left_at.setdefault(element, Counter())[judged.reason] += 1
    for element, what in left_at.items():
        words.setdefault(element, []).extend(f"{n} × {text}" for text, n in what.most_common(5))
    groups = group_executions(report)
    shown = [
        _show_way(canvas, number, judged) for number, judged in enumerate(groups[:MOST_WAYS], 1)
    ]
    verdict, headline = headline_of(report)
    flows, executed = report.flows, report.elements
    return Page(
        title=page_title(model),
        subtitle=f"Executions {source}, replayed on the model",
        verdict=verdict,
        headline=headline,
        figures=_list_figures(report, groups),
        overview=canvas.picture(taken, highlights, canvas.counts(executed, flows), words),
        width=canvas.width,
        runs=tuple(shown),
        many=True,
        records=list_records(report.failures, canvas),
        findings=canvas.findings(diagnostics),
        elements=canvas.element_rows(executed),
        branches=canvas.branch_rows(flows, visits),
        lists=_list_sections(report, groups),
    )


def headline_of(report: ProductionReport) -> tuple[Verdict, str]:
    """The whole report in one sentence."""
    total = len(report.executions)
    if not total:
        return "open", "No execution could be compared."
    equal = report.count("equal")
    if equal == total:
        many = f"All {total} executions conform" if total > 1 else "The execution conforms"
        return "ok", f"{many} to the model."
    parts = [f"{equal} of {total} executions conform to the model"]
    for verdict, text in (
        ("different", "left the model"), ("failed", "failed"), ("unfinished", "are not over"),
        ("partial", "were partial tests"),
    ):  # fmt: skip
        count = report.count(verdict)
        if count:
            judged = {"are not over": "is not over", "were partial tests": "was a partial test"}
            parts.append(f"{count} {judged.get(text, text) if count == 1 else text}")
    worst = next(v for v in RESULTS if report.count(v))
    return RESULTS[worst][0], f"{'; '.join(parts)}."


def _list_figures(report: ProductionReport, groups: Sequence[Way]) -> tuple[tuple[str, str], ...]:
    return (
        ("Executions", str(len(report.executions))),
        ("Conform to the model", str(report.count("equal"))),
        ("Left the model", str(report.count("different"))),
        ("Failed", str(report.count("failed"))),
        ("Not over", str(report.count("unfinished"))),
        ("Different ways", str(len(groups))),
    )


def _list_sections(
    report: ProductionReport, groups: Sequence[Way]
) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    edited: list[str] = []
    for judged in report.edited:
        edited += edited_lines(judged)
    more = groups[MOST_WAYS:]
    left = sum(len(w.members) for w in more)
    return (
        (
            "The workflow differs from its compiled form",
            "It was edited, or it was compiled from another version of the model. Nodes without "
            "an element in the model are listed; their role is not guessed.",
            tuple(dict.fromkeys(edited)),
        ),
        (
            "Could not be compared",
            "Executions that are not included in the numbers above.",
            report.unread,
        ),
        (
            "Not listed individually",
            "They are included in the numbers and in the picture of all runs.",
            (f"{left} executions of {len(more)} other paths",) if more else (),
        ),
    )


def edited_lines(judged: Edited) -> list[str]:
    """The differences between a workflow and the compiled one, one per line."""
    return [
        *(f"`{name}` has no element in the model" for name in judged.unknown),
        *(f"`{label}` no longer has a node in `{judged.workflow}`" for label in judged.missing),
        *(f"`{label}` is switched off" for label in judged.disabled),
        *judged.rewired,
        *judged.changed,
    ]


def mark_elements(judged: Judged) -> dict[str, str]:
    """Elements at which an execution left the model or failed (`error`), and those where the model
    expected it to continue, or where it waits (`warning`)."""
    if judged.verdict == "different":
        if judged.ran is not None:
            return dict.fromkeys(judged.places, "warning") | {judged.ran: "error"}
        return dict.fromkeys(judged.places, "error")
    if judged.verdict == "failed" and judged.observed.failed:
        return {judged.observed.failed: "error"}
    if judged.verdict == "unfinished" and judged.observed.failed:
        return {judged.observed.failed: "warning"}
    return {}


def _show_way(canvas: Canvas, number: int, groups: Way) -> Shown:
    judged = groups.judged
    verdict, result = RESULTS[judged.verdict]
    executed = Counter(ran_elements(judged.observed))
    highlights = mark_elements(judged)
    text = judged.reason
    facts = []
    if judged.strange:
        facts.append(("Unknown nodes", ", ".join(f"`{name}`" for name in judged.strange)))
    if judged.free:
        labels = ", ".join(f"`{canvas.label(e)}`" for e in judged.free)
        facts.append(("Not recorded by a node; the matching branch is assumed", labels))
    picture = canvas.picture(
        canvas.taken(judged.steps, executed, judged.places),
        highlights,
        canvas.again(executed),
        dict.fromkeys(highlights, (text,)),
    )
    return Shown(
        name=f"Way {number}",
        verdict=verdict,
        result=result,
        way=describe_choices(canvas, judged),
        picture=picture,
        times=len(groups.members),
        facts=tuple(facts),
        wrong=(text[:1].upper() + text[1:],) if text else (),
        steps=number_steps(_list_fired(canvas, judged)),
        members=tuple(
            (m.observed.id, m.observed.began[:19].replace("T", " "), m.observed.status)
            for m in groups.members
        ),
    )


def describe_choices(canvas: Canvas, judged: Judged) -> str:
    """The choices of an execution, in one line."""
    choosing = {node.id for node, _ in canvas.choosing()}
    taken = ((s.element, s.taken) for s in judged.steps if s.element in choosing and s.taken)
    return choices_line(taken, canvas.label)


def _list_fired(canvas: Canvas, judged: Judged) -> tuple[Fired, ...]:
    branches = branches_taken(canvas, judged.steps)
    seen: Counter[str] = Counter()
    place = 0
    steps = []
    last = len(judged.observed.nodes) - 1
    for at, node in enumerate(judged.observed.nodes):
        note, kind = "", "step" if node.stands else "helper"
        if node.element is None:
            note, kind = "has no element in the model", "unknown"
        elif node.stands:
            visits = branches.get(node.element, ())
            if seen[node.element] < len(visits):
                note, kind = visits[seen[node.element]], "choice"
            seen[node.element] += 1
            if (
                place < len(judged.observed.elements)
                and judged.observed.elements[place] == node.element
            ):
                if place == judged.at:
                    note, kind = "not allowed here", "wrong"
                place += 1
        if node.status == "error" or (judged.verdict == "failed" and at == last):
            note, kind = "failed", "failed"
        elif judged.verdict == "unfinished" and at == last:
            note = "here it stands"
        steps.append(Fired(node.node, _label_of(canvas, node), note, kind))
    return tuple(steps)


def _label_of(canvas: Canvas, node: SeenNode) -> str:
    """The label of the element that a node stands for; empty if it is the node's name."""
    label = canvas.label(node.element) if node.element and node.stands else ""
    return label if label != node.node else ""


def flow_lines(canvas: Canvas, report: ProductionReport) -> list[tuple[str, str, int, int]]:
    """Choice, branch, count, percentage."""
    steps = [s for j in report.executions for s in j.steps]
    rows = canvas.branch_rows(flow_counts(steps), visit_counts(steps))
    return [(row.choice, row.branch, row.times, row.percent) for row in rows]
