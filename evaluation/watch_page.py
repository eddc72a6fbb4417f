"""The page that shows a model while it is edited: `render_watch`, and its data."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from orgflow.evaluation.page import clean_text, page_templates

from orgflow_ir.model.records import NamedTuple


class Finding(NamedTuple):
    """A finding in words.

    Attributes:
        severity: `error` or `warning`.
        code, name: of its rule.
        message, help: as on the command line.
        place: line and column, if there are any.
    """

    severity: str
    code: str
    name: str
    message: str
    help: str
    place: str


class Fact(NamedTuple):
    """A line about the compiled workflow: subject, state, and its level."""

    what: str
    words: str
    level: str


class Seen(NamedTuple):
    """The last saved state of a model.

    Attributes:
        title: its name.
        file: its file.
        picture: the model as SVG text; empty if it cannot be read.
        findings: errors and warnings, the worst first.
        facts: the state of the workflow.
        unfinished: the remaining tasks for people, one per line, if it is `compiled`.
    """

    title: str
    file: str
    picture: str
    findings: Sequence[Finding]
    facts: Sequence[Fact]
    unfinished: Sequence[str]
    compiled: bool


def seen_json(seen: Seen, version: int, *, picture: str, stale: bool) -> dict[str, Any]:
    """The data for the script of the page: a state with its number, and a picture, which is that of
    an earlier state if `stale`."""
    encoded = base64.b64encode(picture.encode("utf-8", "replace")).decode()
    return {
        "version": version,
        "title": clean_text(seen.title),
        "file": clean_text(seen.file),
        "picture": f"data:image/svg+xml;base64,{encoded}" if picture else "",
        "stale": stale,
        "findings": [
            {key: clean_text(text) for key, text in item._asdict().items()}
            for item in seen.findings
        ],
        "facts": [
            {k: clean_text(text) for k, text in item._asdict().items()} for item in seen.facts
        ],
        "compiled": seen.compiled,
        "unfinished": [clean_text(line) for line in seen.unfinished],
    }


def render_watch(title: str) -> tuple[str, str, str]:
    """The page, the content of its style sheet, and that of its script, which fills it."""
    environment = page_templates()
    style = environment.get_template("watch.css.j2").render()
    script = environment.get_template("watch.js.j2").render()
    html = environment.get_template("watch.html.j2").render(
        title=clean_text(title), style=style, script=script
    )
    return html, style, script
