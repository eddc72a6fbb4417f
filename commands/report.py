"""The report of a compilation as Markdown or HTML: input, output and findings.

It begins with the checklist of connections and decisions that people still have to make, in the
words of the model.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from orgflow_ir.diagnostics import Category, Diagnostic, Severity
from orgflow_ir.diagnostics.ordering import order_diagnostics
from orgflow_ir.facts import all_statements
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.reporting.text_reporter import make_printable, summarise_findings
from orgflow_ir.targets.artifact import Artifact

_SECTIONS = (
    ("Errors", Severity.ERROR, None),
    ("Warnings", Severity.WARNING, None),
    ("Rewritten for the target", Severity.INFO, Category.TARGET),
    ("Notes", Severity.INFO, None),
)
_CREDENTIALS, _SETTINGS = "Credentials", "Settings"
_WORK, _OPEN = "Work to put in place", "Left open by the model"
_LISTS = {"OF424": _CREDENTIALS, "OF426": _SETTINGS, "OF404": _WORK, "OF501": _WORK}
"""The task for a person, by code; other gaps remain open in the model."""


class Table(NamedTuple):
    """Rows under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Section(NamedTuple):
    """A part of the report: lines, checkboxes, and a table."""

    title: str
    level: int = 2
    lines: tuple[tuple[str, str, bool], ...] = ()
    todo: tuple[tuple[str, str], ...] = ()
    table: Table | None = None


def render_markdown(
    source: str,
    target: str,
    models: Sequence[Model],
    artifacts: Sequence[Artifact] | None,
    diagnostics: Sequence[Diagnostic],
) -> str:
    """The report; it contains no time, and only the paths of the command line."""
    parts = []
    for section in _list_sections(source, target, models, artifacts, diagnostics):
        lines = [f"{'#' * section.level} {_markdown_text(section.title)}"]
        if section.lines:
            lines.append("")
        for name, value, code in section.lines:
            lines.append(f"- {name}: `{_markdown_code(value)}`" if code else f"- {name}: {value}")
        if section.todo:
            lines += [
                "",
                *(f"- [ ] {_markdown_text(what)}{_help_suffix(how)}" for what, how in section.todo),
            ]
        if section.table is not None:
            head, rows = section.table
            lines += ["", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
            lines += [f"| {' | '.join(map(_markdown_text, row))} |" for row in rows]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def render_html(
    source: str,
    target: str,
    models: Sequence[Model],
    artifacts: Sequence[Artifact] | None,
    diagnostics: Sequence[Diagnostic],
) -> str:
    """The same as a self-contained page; boxes can be ticked and print in their state."""
    title = make_printable(models[0].label if len(models) == 1 else source)
    parts = []
    for section in _list_sections(source, target, models, artifacts, diagnostics):
        parts.append(f"<h{section.level}>{_escape_html(section.title)}</h{section.level}>")
        if section.lines:
            values = (
                (name, f"<code>{_escape_html(value)}</code>" if code else _escape_html(value))
                for name, value, code in section.lines
            )
            rows = (f"<li>{name}: {shown}</li>" for name, shown in values)
            parts.append(f"<ul>{''.join(rows)}</ul>")
        if section.todo:
            rows = (
                f'<li><label><input type="checkbox"> {_escape_html(what)}</label>'
                f"{f'<small>{_escape_html(how)}</small>' if how else ''}</li>"
                for what, how in section.todo
            )
            parts.append(f'<ul class="todo">{"".join(rows)}</ul>')
        if section.table is not None:
            head = "".join(f"<th>{_escape_html(cell)}</th>" for cell in section.table.head)
            body = "".join(
                f"<tr>{''.join(f'<td>{_escape_html(cell)}</td>' for cell in row)}</tr>"
                for row in section.table.rows
            )
            parts.append(
                f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>'
                "</table></div>"
            )
    inner = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_escape_html(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{inner}\n</main>\n</body>\n</html>\n"
    )


_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0}"
    "main{max-width:60rem;margin:0 auto;padding:1.5rem}h1{font-size:1.6rem;margin:0 0 .5rem}"
    "h2{font-size:1.2rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}"
    "ul.todo{list-style:none;padding:0}ul.todo li{padding:.35rem 0 .35rem 1.6rem}"
    "ul.todo small{display:block;opacity:.75}ul.todo input{margin:0 .4rem 0 -1.5rem}"
    "ul.todo label:has(:checked){text-decoration:line-through}.wide{overflow-x:auto}"
    "table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid #8886;padding:.35rem "
    ".6rem .35rem 0;text-align:left;vertical-align:top;overflow-wrap:anywhere}"
    "code{font-family:ui-monospace,monospace;font-size:.9em}"
)


def _list_sections(
    source: str,
    target: str,
    models: Sequence[Model],
    artifacts: Sequence[Artifact] | None,
    diagnostics: Sequence[Diagnostic],
) -> Iterator[Section]:
    lines = [("source", source, True), ("target", target, True)]
    lines.append(("found", summarise_findings(diagnostics), False))
    if artifacts is None:
        lines.append(("result", "nothing, because of the errors below", False))
    else:
        lines += [("result", artifact.path, True) for artifact in artifacts]
    title = models[0].label if len(models) == 1 else source
    yield Section(title, 1, tuple(lines), (), _table_of_processes(models))
    left = order_diagnostics(diagnostics)
    yield from _list_remaining_work(left, several=len(models) > 1)
    statements = tuple(
        (e.label, s.label, s.text) for model in models for e, s in all_statements(model)
    )
    if statements:
        of = "models" if len(models) > 1 else "model"
        yield Section(f"From the {of}", table=Table(("element", "what", "text"), statements))
    yield from _list_findings([d for d in left if not _is_to_do(d)])


def _table_of_processes(models: Sequence[Model]) -> Table | None:
    """The processes with their numbers of nodes and flows; `None` without processes."""
    rows = []
    for process in (process for model in models for process in model.processes):
        scopes = list(process.scopes())
        nodes, flows = sum(len(s.nodes) for s in scopes), sum(len(s.flows) for s in scopes)
        rows.append((process.label, str(nodes), str(flows)))
    return Table(("process", "nodes", "flows"), tuple(rows)) if rows else None


def _list_remaining_work(findings: Sequence[Diagnostic], *, several: bool) -> Iterator[Section]:
    """The checklists of connections and decisions; of several models, each row names its file."""
    todo: dict[str, dict[tuple[str, str], None]] = {}
    for d in findings:
        if _is_to_do(d):
            title = _LISTS.get(d.code, _OPEN)
            where = f" ({d.loc.file})" if several and d.loc is not None else ""
            todo.setdefault(title, {})[f"{d.message}{where}", d.help or ""] = None
    if _CREDENTIALS in todo:
        todo[_CREDENTIALS] = dict.fromkeys(_join_credentials(todo[_CREDENTIALS]))
    if todo:
        yield Section("Remaining work")
    for title in (_CREDENTIALS, _SETTINGS, _WORK, _OPEN):
        if title in todo:
            yield Section(title, 3, todo=tuple(todo[title]))


def _list_findings(left: list[Diagnostic]) -> Iterator[Section]:
    """Tables of the other findings, each in the first section that it fits."""
    for title, severity, category in _SECTIONS:
        here = [d for d in left if d.severity is severity and category in (None, d.category)]
        left = [d for d in left if d not in here]
        if here:
            head = ("place", "code", "what", "what to do")
            yield Section(title, table=Table(head, tuple(_table_row(d) for d in here)))


def _join_credentials(rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Steps that need the same credential in one row."""
    steps_of: dict[tuple[str, str], list[str]] = {}
    for message, how in rows:
        step, needs, what = message.partition("` needs ")
        steps_of.setdefault((what, how) if needs else (message, how), []).append(
            f"{step}{needs[:1]}"
        )
    for (what, how), steps in steps_of.items():
        if len(steps) > 1:
            yield f"{join_listed(steps)} need {what}", how.replace("in the node", "in these nodes")
        else:
            yield (f"{steps[0]} needs {what}" if steps[0] != what else what), how


def _is_to_do(d: Diagnostic) -> bool:
    """Whether it names something that a person has to put in place."""
    if d.severity is not Severity.INFO:
        return False
    return d.category is Category.GAP or d.code in _LISTS


def _table_row(d: Diagnostic) -> tuple[str, ...]:
    place = str(d.loc) if d.loc is not None else ""
    return (place, f"{d.code} {d.name}", d.message, d.help or "")


def _help_suffix(how: str) -> str:
    return f": {_markdown_text(how)}" if how else ""


def _markdown_text(text: str) -> str:
    """Text of a model as Markdown text: it may neither break the table nor become markup."""
    folded = make_printable(text).replace("\\", "\\\\").replace("|", "\\|")
    return folded.replace("<", "&lt;").replace("[", "\\[")


def _markdown_code(text: str) -> str:
    return make_printable(text).replace("`", "'")


def _escape_html(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<b>\1</b>", html.escape(make_printable(text), quote=False))
