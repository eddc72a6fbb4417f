"""The page of a production replay: executions on the model, with equal ones combined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from orgflow.evaluation.page import Fired, Page, Shown, Verdict, numbered
from orgflow.evaluation.page_model import Canvas, NodeTable, flow_counts, visit_counts
from orgflow.evaluation.page_runs import branches_taken, page_title, records
from orgflow.evaluation.production import Edited, Judged, ProductionReport, ran_elements
from orgflow.evaluation.wording import choices_line

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model

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


def ways(report: ProductionReport) -> tuple[Way, ...]:
    """Executions by behaviour: worst first, then the most frequent ones."""
    groups: dict[tuple[object, ...], list[Judged]] = {}
    for one in report.executions:
        o = one.observed
        nodes = tuple((n.node, n.status) for n in o.nodes)
        key = (o.process, one.verdict, one.said, nodes, one.steps)
        groups.setdefault(key, []).append(one)
    order = list(RESULTS)
    found = [
        Way(members[0], tuple(sorted(members, key=lambda j: _number(j.observed.id))))
        for members in groups.values()
    ]
    return tuple(
        sorted(
            found,
            key=lambda w: (
                order.index(w.judged.verdict), -len(w.members), _number(w.members[0].observed.id),
            ),
        )
    )  # fmt: skip


def _number(identity: str) -> tuple[int, str]:
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
    for one in report.executions:
        ran = ran_elements(one.observed)
        taken |= canvas.taken(one.steps, ran, one.places)
        visits += visit_counts(one.steps)
        for element, severity in where(one).items():
            if severity == "error" or element not in highlights:
                highlights[element] = severity
            left_at.setdefault(element, Counter())[one.said] += 1
    for element, said in left_at.items():
        words.setdefault(element, []).extend(f"{n} × {text}" for text, n in said.most_common(5))
    found = ways(report)
    shown = [_shown(canvas, number, one) for number, one in enumerate(found[:MOST_WAYS], 1)]
    verdict, headline = headline_of(report)
    flows, executed = report.flows, report.elements
    return Page(
        title=page_title(model),
        subtitle=f"Executions {source}, replayed on the model",
        verdict=verdict,
        headline=headline,
        figures=_figures(report, found),
        overview=canvas.picture(taken, highlights, canvas.counts(executed, flows), words),
        width=canvas.width,
        runs=tuple(shown),
        many=True,
        records=records(report.failures, canvas),
        findings=canvas.findings(diagnostics),
        elements=canvas.element_rows(executed),
        branches=canvas.branch_rows(flows, visits),
        lists=_lists(report, found),
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
    for verdict, said in (
        ("different", "left the model"), ("failed", "failed"), ("unfinished", "are not over"),
        ("partial", "were partial tests"),
    ):  # fmt: skip
        count = report.count(verdict)
        if count:
            one = {"are not over": "is not over", "were partial tests": "was a partial test"}
            parts.append(f"{count} {one.get(said, said) if count == 1 else said}")
    worst = next(v for v in RESULTS if report.count(v))
    return RESULTS[worst][0], f"{'; '.join(parts)}."


def _figures(report: ProductionReport, found: Sequence[Way]) -> tuple[tuple[str, str], ...]:
    return (
        ("Executions", str(len(report.executions))),
        ("Conform to the model", str(report.count("equal"))),
        ("Left the model", str(report.count("different"))),
        ("Failed", str(report.count("failed"))),
        ("Not over", str(report.count("unfinished"))),
        ("Different ways", str(len(found))),
    )


def _lists(
    report: ProductionReport, found: Sequence[Way]
) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    edited: list[str] = []
    for one in report.edited:
        edited += edited_lines(one)
    more = found[MOST_WAYS:]
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


def edited_lines(one: Edited) -> list[str]:
    """The differences between a workflow and the compiled one, one per line."""
    return [
        *(f"`{name}` has no element in the model" for name in one.unknown),
        *(f"`{label}` no longer has a node in `{one.workflow}`" for label in one.missing),
        *(f"`{label}` is switched off" for label in one.disabled),
        *one.rewired,
        *one.changed,
    ]


def where(one: Judged) -> dict[str, str]:
    """Elements at which an execution left the model or failed (`error`), and those where the model
    expected it to continue, or where it waits (`warning`)."""
    if one.verdict == "different":
        if one.ran is not None:
            return dict.fromkeys(one.places, "warning") | {one.ran: "error"}
        return dict.fromkeys(one.places, "error")
    if one.verdict == "failed" and one.observed.failed:
        return {one.observed.failed: "error"}
    if one.verdict == "unfinished" and one.observed.failed:
        return {one.observed.failed: "warning"}
    return {}


def _shown(canvas: Canvas, number: int, found: Way) -> Shown:
    one = found.judged
    verdict, result = RESULTS[one.verdict]
    executed = Counter(ran_elements(one.observed))
    highlights = where(one)
    said = one.said
    facts = []
    if one.strange:
        facts.append(("Unknown nodes", ", ".join(f"`{name}`" for name in one.strange)))
    if one.free:
        labels = ", ".join(f"`{canvas.label(e)}`" for e in one.free)
        facts.append(("Not recorded by a node; the matching branch is assumed", labels))
    picture = canvas.picture(
        canvas.taken(one.steps, executed, one.places),
        highlights,
        canvas.again(executed),
        dict.fromkeys(highlights, (said,)),
    )
    return Shown(
        name=f"Way {number}",
        verdict=verdict,
        result=result,
        way=choices(canvas, one),
        picture=picture,
        times=len(found.members),
        facts=tuple(facts),
        wrong=(said[:1].upper() + said[1:],) if said else (),
        steps=numbered(_fired(canvas, one)),
        members=tuple(
            (m.observed.id, m.observed.began[:19].replace("T", " "), m.observed.status)
            for m in found.members
        ),
    )


def choices(canvas: Canvas, one: Judged) -> str:
    """The choices of an execution, in one line."""
    choosing = {node.id for node, _ in canvas.choosing()}
    taken = ((s.element, s.taken) for s in one.steps if s.element in choosing and s.taken)
    return choices_line(taken, canvas.label)


def _fired(canvas: Canvas, one: Judged) -> tuple[Fired, ...]:
    branches = branches_taken(canvas, one.steps)
    seen: Counter[str] = Counter()
    place = 0
    found = []
    last = len(one.observed.nodes) - 1
    for at, node in enumerate(one.observed.nodes):
        label = canvas.label(node.element) if node.element else ""
        note, kind = "", "step" if node.stands else "helper"
        if node.element is None:
            note, kind = "has no element in the model", "unknown"
        elif node.stands:
            visits = branches.get(node.element, ())
            if seen[node.element] < len(visits):
                note, kind = visits[seen[node.element]], "choice"
            seen[node.element] += 1
            if place < len(one.observed.elements) and one.observed.elements[place] == node.element:
                if place == one.at:
                    note, kind = "not allowed here", "wrong"
                place += 1
        if node.status == "error" or (one.verdict == "failed" and at == last):
            note, kind = "failed", "failed"
        elif one.verdict == "unfinished" and at == last:
            note = "here it stands"
        shown = label if node.stands and label != node.node else ""
        found.append(Fired(node.node, shown, note, kind))
    return tuple(found)


def flow_lines(canvas: Canvas, report: ProductionReport) -> list[tuple[str, str, int, int]]:
    """Choice, branch, count, percentage."""
    steps = [s for j in report.executions for s in j.steps]
    rows = canvas.branch_rows(flow_counts(steps), visit_counts(steps))
    return [(row.choice, row.branch, row.times, row.percent) for row in rows]
