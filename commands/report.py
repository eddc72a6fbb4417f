"""The Markdown report of a compilation: what came in, what came out, what was found."""

from __future__ import annotations

from collections.abc import Sequence

from orgflow_ir.analysis.facts import all_statements
from orgflow_ir.diagnostics import Category, Diagnostic, Severity
from orgflow_ir.diagnostics.ordering import ordered
from orgflow_ir.diagnostics.text import printable, summary
from orgflow_ir.model import Model
from orgflow_ir.targets.artifact import Artifact

_SECTIONS = (
    ("Errors", Severity.ERROR, None),
    ("Warnings", Severity.WARNING, None),
    ("Left open (gaps)", Severity.INFO, Category.GAP),
    ("Rewritten for the target", Severity.INFO, Category.TARGET),
    ("Notes", Severity.INFO, None),
)


def markdown(
    source: str,
    target: str,
    model: Model | None,
    artifacts: Sequence[Artifact] | None,
    diagnostics: Sequence[Diagnostic],
) -> str:
    """The report; it holds no time and no path but those given on the command line."""
    lines = [f"# {_text(model.label if model is not None else source)}", ""]
    lines += [f"- source: `{_code(source)}`", f"- target: `{_code(target)}`"]
    lines.append(f"- found: {summary(diagnostics)}")
    if artifacts is None:
        lines.append("- result: nothing, because of the errors below")
    else:
        lines.append("- result: " + ", ".join(f"`{_code(a.path)}`" for a in artifacts))
    if model is not None:
        lines += ["", "| process | nodes | flows |", "|---|---|---|"]
        for process in model.processes:
            scopes = list(process.scopes())
            nodes, flows = sum(len(s.nodes) for s in scopes), sum(len(s.flows) for s in scopes)
            lines.append(f"| {_text(process.label)} | {nodes} | {flows} |")
        lines += _said(model)
    left = ordered(diagnostics)
    for title, severity, category in _SECTIONS:
        here = [d for d in left if d.severity is severity and category in (None, d.category)]
        left = [d for d in left if d not in here]
        if here:
            lines += ["", f"## {title}", "", "| place | code | what | what to do |"]
            lines.append("|---|---|---|---|")
            lines += [_row(d) for d in here]
    return "\n".join(lines) + "\n"


def _said(model: Model) -> list[str]:
    """What the model says of its elements beside its flow: what does tasks, annotations, data …"""
    rows = [
        f"| {_text(element.label)} | {_text(said.label)} | {_text(said.text)} |"
        for element, said in all_statements(model)
    ]
    if not rows:
        return []
    return ["", "## From the model", "", "| element | what | text |", "|---|---|---|", *rows]


def _row(d: Diagnostic) -> str:
    place = str(d.loc) if d.loc is not None else ""
    cells = (place, f"{d.code} {d.name}", d.message, d.help or "")
    return f"| {' | '.join(_text(cell) for cell in cells)} |"


def _text(text: str) -> str:
    """Text of a model as Markdown text: it may neither break the table nor become markup."""
    folded = printable(text).replace("\\", "\\\\").replace("|", "\\|")
    return folded.replace("<", "&lt;").replace("[", "\\[")


def _code(text: str) -> str:
    return printable(text).replace("`", "'")
