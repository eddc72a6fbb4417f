"""A report as one HTML page: no script, no network, light and dark, readable when printed.

The content consists of plain values (`Page`, `Shown`), created by the modules with runs
(`page_runs.py`, `page_production.py`). Every text in them may come from a model or from a server;
all are escaped, and the page's policy allows only this module's style sheet.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from orgflow.backends.svg.style import style_sheet

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    import jinja2
    import markupsafe
else:  # when a page is written: importing jinja2 takes longer than a small compile
    jinja2 = LazyModule("jinja2")
    markupsafe = LazyModule("markupsafe")

Verdict = Literal["ok", "different", "failed", "open"]
"""Conforms; does not conform; ended with an error; could not be compared."""

TEMPLATES = Path(__file__).resolve().parent / "templates"

_FIRST_STEPS, _LAST_STEPS = 60, 20
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class Fired(NamedTuple):
    """One executed node.

    Attributes:
        node: its name on the target.
        element: the label of its element; empty if it equals the node's name or is missing.
        note: further information: the branch taken, a failure, an unknown node.
        kind: `step`, `choice`, `helper`, `unknown`, `failed` or `wrong`; `gap` for omitted ones.
        number: its place in the run, from 1.
    """

    node: str
    element: str = ""
    note: str = ""
    kind: str = "step"
    number: int = 0


class Shown(NamedTuple):
    """One run, or many with the same path.

    Attributes:
        name: as in `Run 3`.
        verdict: the result.
        result: the same in a word or two, as in the text report.
        way: the difference from the others, in one line.
        times: the number of these runs.
        facts: names and values of further data.
        wrong: the faults, one sentence each.
        steps: the executed steps, in order.
        picture: the model with this run, as SVG text.
        members: the individual runs (id, when, status), if they have names.
    """

    name: str
    verdict: Verdict
    result: str
    way: str
    picture: str
    times: int = 1
    facts: tuple[tuple[str, str], ...] = ()
    wrong: tuple[str, ...] = ()
    steps: tuple[Fired, ...] = ()
    members: tuple[tuple[str, str, str], ...] = ()


class Finding(NamedTuple):
    """A diagnostic: code, severity, message, label of the element, help."""

    code: str
    severity: str
    message: str
    element: str = ""
    help: str = ""


class ElementRow(NamedTuple):
    """An element, its nodes as (name, description), and the number of its executions."""

    label: str
    kind: str
    nodes: tuple[tuple[str, str], ...]
    times: int
    why: str = ""


class BranchRow(NamedTuple):
    """A branch of a choice: how often it was taken, and its percentage of the choice's."""

    choice: str
    branch: str
    times: int
    percent: int
    first: bool = True
    span: int = 1


class Page(NamedTuple):
    """All content of the page.

    Attributes:
        title: the name of the model.
        subtitle: the workflow and the engine.
        verdict: the overall result; `headline` states it in a sentence.
        figures: big numbers with their names.
        overview: the model with all runs, as SVG text.
        width: the width of the picture in its own units.
        runs: see `Shown`; `many` indicates that each may stand for several.
        records: typed failures, each as (name, value) pairs.
        findings: findings of the checks.
        elements, branches: tables; both empty without runs.
        lists: further lists: heading, explanation, lines.
    """

    title: str
    subtitle: str
    verdict: Verdict
    headline: str
    figures: tuple[tuple[str, str], ...]
    overview: str
    width: float
    runs: tuple[Shown, ...] = ()
    many: bool = False
    records: tuple[tuple[tuple[str, str], ...], ...] = ()
    findings: tuple[Finding, ...] = ()
    elements: tuple[ElementRow, ...] = ()
    branches: tuple[BranchRow, ...] = ()
    lists: tuple[tuple[str, str, tuple[str, ...]], ...] = ()


def page_templates(*, finalize: Callable[[Any], Any] | None = None) -> jinja2.Environment:
    """The templates of pages: every text is escaped, and a missing value is an error. `finalize`
    changes each value before it is shown."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True,
        undefined=jinja2.StrictUndefined, finalize=finalize, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip


def render_page(page: Page) -> str:
    """The page as HTML text; the same text for the same page."""

    def clean(value: Any) -> Any:
        return clean_text(value) if isinstance(value, str) and not _is_markup(value) else value

    def words(text: str) -> markupsafe.Markup:
        """Text with the parts in backticks as names; names cannot change the direction of the
        text."""
        parts = clean_text(text).split("`")
        if len(parts) % 2 == 0:
            return markupsafe.Markup("<bdi>{}</bdi>").format(clean_text(text))
        shown = [
            markupsafe.Markup('<bdi class="name">{}</bdi>').format(part)
            if i % 2
            else markupsafe.Markup.escape(part)
            for i, part in enumerate(parts)
        ]
        return markupsafe.Markup("").join(shown)

    environment = page_templates(finalize=clean)
    environment.filters["words"] = words
    screen = style_sheet("auto").replace("@media (prefers", "@media screen and (prefers")
    numbers = range(len(page.runs) + 1)
    sheet = environment.get_template("page.css.j2").render(page=page, numbers=numbers)
    sheet = (sheet + screen).replace("</", "<\\/")
    pictures = [
        markupsafe.Markup(_strip_style(p))
        for p in (page.overview, *(run.picture for run in page.runs))
    ]
    return environment.get_template("page.html.j2").render(
        page=page,
        pictures=pictures,
        sheet=markupsafe.Markup(sheet),
        policy=f"default-src 'none'; style-src '{_hash_sheet(sheet)}'; base-uri 'none'; "
        "form-action 'none'",
        severities=_group_findings(page.findings),
    )


def number_steps(steps: Sequence[Fired]) -> tuple[Fired, ...]:
    """The steps with their numbers; of a long run, its beginning, its end, and the faults."""
    numbered: list[Fired] = []
    left_out = 0
    for number, step in enumerate(steps, 1):
        kept = number <= _FIRST_STEPS or number > len(steps) - _LAST_STEPS
        if not kept and step.kind not in ("wrong", "unknown", "failed"):
            left_out += 1
            continue
        if left_out:
            numbered.append(Fired("", note=f"{left_out} more", kind="gap", number=number - 1))
            left_out = 0
        numbered.append(step._replace(number=number))
    return tuple(numbered)


def clean_text(text: str) -> str:
    """Text without what HTML cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def _is_markup(value: object) -> bool:
    return hasattr(value, "__html__")


def _strip_style(picture: str) -> str:
    """A picture without its style sheet, which stands in the page once."""
    return picture.replace(f"<style>{style_sheet('auto')}</style>\n", "", 1)


def _hash_sheet(sheet: str) -> str:
    """What a content security policy knows a style sheet by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()


def _group_findings(findings: tuple[Finding, ...]) -> Mapping[str, tuple[Finding, ...]]:
    order = ("error", "warning", "info")
    groups = {name: tuple(f for f in findings if f.severity == name) for name in order}
    return {name: rows for name, rows in groups.items() if rows}
