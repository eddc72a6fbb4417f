"""The page of a replay: runs of the model that were executed on a target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from orgflow.evaluation.failures import Failure
from orgflow.evaluation.page import Fired, Page, Shown, Verdict, number_steps
from orgflow.evaluation.page_model import Canvas, NodeTable, flow_counts, visit_counts
from orgflow.evaluation.replay import ReplayReport, RunReport
from orgflow.evaluation.wording import choices_line

from orgflow_ir.diagnostics import Diagnostic, Step
from orgflow_ir.model import Model

_RESULTS: dict[str, tuple[Verdict, str]] = {
    "equal": ("ok", "conforms"),
    "different": ("different", "different"),
    "stub": ("open", "stopped at a stub"),
    "unplayable": ("open", "not playable"),
    "fails": ("failed", "fails"),
    "slow": ("open", "not executed in time"),
}


def replay_page(
    model: Model,
    nodes: NodeTable,
    diagnostics: Sequence[Diagnostic],
    report: ReplayReport | None,
    failures: Sequence[Failure],
    engine: str,
) -> Page:
    """The page of `report`; without one (the model could not be run), the model and its faults.

    Args:
        model: not lowered.
        nodes: the nodes of its elements.
        diagnostics: findings of the checks and of the lowering.
        report: the report on the runs.
        failures: typed records of the failures.
        engine: the engine, as text.
    """
    canvas = Canvas(model, nodes)
    diagnostics = [d for d in diagnostics if d.suppressed is None]
    highlights, words = canvas.marked(diagnostics)
    runs = report.runs if report is not None else ()
    shown = tuple(_show_run(canvas, number, run) for number, run in enumerate(runs, 1))
    executed: Counter[str] = Counter()
    flows: Counter[str] = Counter()
    visits: Counter[str] = Counter()
    taken: set[str] = set()
    for run in runs:
        executed += Counter(run.elements)
        flows += flow_counts(run.steps)
        visits += visit_counts(run.steps)
        taken |= canvas.taken(run.steps, run.elements, run.places)
        for element, severity in mark_elements(run, nodes).items():
            if severity == "error" or element not in highlights:
                highlights[element] = severity
            words.setdefault(element, []).append(run.divergence or run.verdict)
    verdict, headline = _write_headline(report, diagnostics)
    return Page(
        title=page_title(model),
        subtitle=f"Runs of the model on {engine}, compared with the model"
        if report is not None
        else "The model was not run",
        verdict=verdict,
        headline=headline,
        figures=_list_figures(report, diagnostics),
        overview=canvas.picture(
            taken, highlights, canvas.counts(executed, flows),
            {e: tuple(dict.fromkeys(lines)) for e, lines in words.items()},
        ),
        width=canvas.width,
        runs=shown,
        records=list_records(failures, canvas),
        findings=canvas.findings(diagnostics),
        elements=canvas.element_rows(executed) if nodes or runs else (),
        branches=canvas.branch_rows(flows, visits),
        lists=_list_sections(report),
    )  # fmt: skip


def page_title(model: Model) -> str:
    named = [" ".join(model.name.split()), *(p.label for p in model.pools),
             *(p.label for p in model.processes)]  # fmt: skip
    return next((name for name in named if name), "Process")


def _write_headline(
    report: ReplayReport | None, diagnostics: Sequence[Diagnostic]
) -> tuple[Verdict, str]:
    errors = sum(d.severity.value == "error" for d in diagnostics)
    if report is None:
        text = f"{errors} error{'s' if errors != 1 else ''}" if errors else "an error"
        return "different", f"The model was not run: the checks found {text}."
    total = len(report.runs)
    equal = sum(r.verdict == "equal" for r in report.runs)
    if not total:
        return "open", "The model has no run that could be executed."
    if equal == total:
        count = f"all {total} runs conform" if total > 1 else "the run conforms"
        return "ok", f"{count[0].upper()}{count[1:]} to the model."
    stubbed = sum(r.verdict == "stub" for r in report.runs)
    if equal + stubbed == total:
        rest = "; the others conform to the model." if equal else "."
        return "open", f"{stubbed} of {total} runs stopped at a stub{rest}"
    worse = total - equal - stubbed
    if stubbed:
        text = f"{worse} of {total} runs do not conform, {stubbed} stopped at a stub."
        return "different", text
    return "different", f"{worse} of {total} runs do not conform to the model."


def _list_figures(
    report: ReplayReport | None, diagnostics: Sequence[Diagnostic]
) -> tuple[tuple[str, str], ...]:
    count = Counter(d.severity.value for d in diagnostics)
    rows = (("Errors", str(count["error"])), ("Warnings", str(count["warning"])))
    if report is None:
        return rows
    equal = sum(r.verdict == "equal" for r in report.runs)
    covered, total = report.flows
    return (
        ("Conform to the model", f"{equal} of {len(report.runs)}"),
        ("Mean F1", f"{report.f1:.3f}"),
        ("Flows covered", f"{covered} of {total}"),
        *rows,
    )


def _list_sections(report: ReplayReport | None) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    if report is None:
        return ()
    return (
        (
            "Not taken by any run",
            "Flows of the model that no complete run covers, with the reason.",
            tuple(f"`{report.labels.get(f, f)}`: {reason}" for f, reason in report.uncovered),
        ),
        (
            "Not played",
            "Runs of the model that never complete, so there is nothing to compare.",
            report.unfinished,
        ),
        (
            "Differences from the delivered workflow",
            "In these runs, scripted answers replaced open work and waits; expressions, gateways "
            "and joins are the delivered ones.",
            tuple(dict.fromkeys(report.changed)),
        ),
    )


def list_records(
    failures: Iterable[Failure], canvas: Canvas
) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Typed failures as rows: the cause first."""
    tables = []
    for failure in failures:
        rows = [
            ("Cause", failure.root_cause[:1].upper() + failure.root_cause[1:]),
            ("What to do", failure.suggested_fix),
            ("Element", f"`{canvas.label(failure.element)}`" if failure.element else ""),
            ("Construct", failure.bpmn_construct_responsible or ""),
            ("Stage", failure.failure_stage),
            ("Whose fault", failure.failure_source.replace("_", " ")),
            ("Severity", failure.severity),
            ("Confidence", failure.confidence),
            ("Evidence", "\n".join(failure.evidence)),
        ]
        tables.append(tuple((name, value) for name, value in rows if value))
    return tuple(tables)


def mark_elements(run: RunReport, nodes: NodeTable) -> dict[str, str]:
    """Elements at which a run left the model: `error` at the place itself, `warning` where the
    model expected it to continue."""
    if run.verdict == "equal":
        return {}
    if run.stub is not None:
        return {run.stub: "warning"}
    marks: dict[str, str] = {}
    if run.ran is not None:
        marks = dict.fromkeys(run.places, "warning") | {run.ran: "error"}
    elif run.status == "error" and run.executed:
        last = nodes.of_node.get((run.process, run.executed[-1]))
        at = last.element if last is not None else next(iter(run.elements[-1:]), "")
        marks = {at: "error"}
    elif run.places:
        marks = dict.fromkeys(run.places, "error")
    elif run.surplus:
        marks = dict.fromkeys(run.surplus, "error")
    elif run.elements:
        marks = {run.elements[-1]: "error"}
    return marks


def _show_run(canvas: Canvas, number: int, run: RunReport) -> Shown:
    executed = Counter(run.elements)
    verdict, result = _RESULTS[run.verdict]
    if run.status == "error" and run.verdict == "different":
        verdict, result = "failed", "failed"
    highlights = mark_elements(run, canvas.nodes)
    text = run.divergence or "different"
    facts = [
        ("Precision", f"{run.precision:.2f}"), ("Recall", f"{run.recall:.2f}"),
        ("F1", f"{run.f1:.2f}"), ("Ends", run.run.outcome),
    ]  # fmt: skip
    if run.missing:
        facts.append(("Did not run", ", ".join(f"`{name}`" for name in run.missing)))
    wrong = [text[:1].upper() + text[1:]] if run.verdict != "equal" else []
    if run.error and run.error not in text:
        wrong.append(f"The engine said: {run.error}")
    return Shown(
        name=f"Run {number}",
        verdict=verdict,
        result=result,
        way=choices_line(run.run.choices, canvas.label),
        picture=canvas.picture(
            canvas.taken(run.steps, run.elements, run.places), highlights, canvas.again(executed),
            dict.fromkeys(highlights, (text,)),
        ),
        facts=tuple(facts),
        wrong=tuple(wrong),
        steps=number_steps(list_fired(canvas, run)),
    )  # fmt: skip


def list_fired(canvas: Canvas, run: RunReport) -> tuple[Fired, ...]:
    """The executed steps, in order, with the branch of each choice."""
    branches = branches_taken(canvas, run.steps)
    seen: Counter[str] = Counter()
    failed = run.status == "error" and run.verdict != "equal"
    allowed = sum(s.element == run.ran and s.action in ("fire", "open") for s in run.steps)
    steps = []
    for at, name in enumerate(run.executed):
        info = canvas.nodes.of_node.get((run.process, name))
        element, stands = (info.element, info.stands) if info is not None else ("", True)
        note, kind = "", "step" if stands else "helper"
        if stands and element:
            visits = branches.get(element, ())
            if seen[element] < len(visits):
                note, kind = visits[seen[element]], "choice"
            if element == run.ran and seen[element] == allowed:
                note, kind = "not allowed here", "wrong"
            seen[element] += 1
        if failed and at == len(run.executed) - 1:
            note, kind = ("stub", "helper") if run.stub is not None else ("failed", "failed")
        label = canvas.label(element) if element and stands else ""
        steps.append(Fired(name, label if label != name else "", note, kind))
    return tuple(steps)


def branches_taken(canvas: Canvas, steps: Iterable[Step]) -> dict[str, list[str]]:
    """The branches of each choosing element, visit by visit."""
    choosing = {node.id for node, _ in canvas.choosing()}
    rows: dict[str, list[str]] = {}
    for step in steps:
        if step.element in choosing and step.taken:
            taken = " + ".join(map(canvas.label, step.taken))
            rows.setdefault(step.element, []).append(taken)
    return rows
