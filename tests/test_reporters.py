"""Reporters: text for people, JSON by its published schema, SARIF by the standard's schema."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError
from pydantic_sarif.model import (  # made from the OASIS schema
    StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifLog,
)
from write_schemas import diagnostics_schema

from orgflow_ir.diagnostics import Diagnostic, Edit, Fix, Related, Severity, Step
from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.diagnostics.ordering import order_diagnostics
from orgflow_ir.model import Task
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Reporter
from orgflow_ir.reporting.json_reporter import JsonReporter
from orgflow_ir.reporting.sarif_reporter import SarifReporter
from orgflow_ir.reporting.text_reporter import (
    TextReporter,
    _read_line,
    make_printable,
    summarise_findings,
)

SOURCE = b'<a>\n  <task id="ship" name="Ship order" />\n</a>\n'


def diagnostic(**more: Any) -> Diagnostic:
    """A diagnostic with something in every field a reporter shows."""
    values: dict[str, Any] = {
        "code": "OF201",
        "name": "deadlocked-join",
        "severity": Severity.ERROR,
        "message": "`Ship order` waits for both branches of `Payment ok?`, but only one comes",
        "element": "ship",
        "loc": SourceLocation(file="order.bpmn", line=2, column=3, span=(6, 44)),
        "related": (
            Related(
                message="the branches part here",
                element="split",
                loc=SourceLocation(file="order.bpmn", line=1, column=1),
            ),
        ),
        "trace": (Step("start", "begin", ("f1",)), Step("open", "ship", ()), Step("done", "ship")),
        "help": "make the join exclusive",
        "fix": Fix(
            title="make it exclusive",
            applicability="safe",
            edits=(Edit(action="replace", scope="p", id="ship", node=Task(id="ship")),),
        ),
        "source": "merge-deadlock",
    }
    return Diagnostic(**{**values, **more})


def text(reporter: Reporter, *diagnostics: Diagnostic) -> str:
    """What a reporter writes."""
    out = io.StringIO()
    reporter.report(diagnostics, out)
    return out.getvalue()


def test_text_shows_every_part() -> None:
    reporter = TextReporter(
        inputs=("order.bpmn",),
        sources={"order.bpmn": SOURCE},
        labels={"order.bpmn": {"ship": "Ship order", "begin": "Order received"}},
    )
    assert text(reporter, diagnostic()) == (
        "order.bpmn:2:3: error OF201 [deadlocked-join]\n"
        "  `Ship order` waits for both branches of `Payment ok?`, but only one comes\n"
        '  2 | <task id="ship" name="Ship order" />\n'
        "    | ^\n"
        "  also: order.bpmn:1:1: the branches part here\n"
        "  run: `Order received` → `Ship order`\n"
        "  help: make the join exclusive\n"
        "  fix: make it exclusive (safe)\n"
        "\n"
        "1 error in order.bpmn\n"
    )


def test_a_run_says_what_begins_what_is_done_and_what_comes_again() -> None:
    """Steps without a name are left out; what waits while others happen begins and is done."""
    labels = {"ask": "Ask", "hour": "One hour", "on": "Go on", "g": "g", "f": "yes", "h": "h"}
    reporter = TextReporter(labels={"order.bpmn": labels})
    steps = [
        Step("open", "ask"), Step("fire", "g", ("f",)), Step("fire", "hour", ("h",)),
        Step("done", "ask"), Step("open", "on"), Step("fire", "g", ("h",)), Step("done", "on"),
        Step("open", "ask"), Step("done", "ask"), Step("open", "on", (), 1), Step("fire", "on"),
    ]  # fmt: skip
    said = text(reporter, diagnostic(trace=tuple(steps)))
    run = " ".join(said[said.index("  run: ") : said.index("  help:")].split())
    assert run == (
        "run: `Ask` begins → takes `yes` → `One hour` → `Ask` is done → `Go on` → `Ask` again → "
        "`Go on` begins → `Go on` again"
    )


def test_text_without_sources_shows_the_quote_and_without_place_no_place() -> None:
    loc = SourceLocation(file="m.json", line=7, quote='{"id": "task_1"}\nmore')
    said = text(TextReporter(), diagnostic(loc=loc, related=(), trace=(), help=None, fix=None))
    assert '  7 | {"id": "task_1"}\n' in said
    assert "^" not in said
    bare = text(TextReporter(), diagnostic(loc=None, related=(), trace=(), help=None, fix=None))
    assert bare.startswith("error OF201 [deadlocked-join]\n")


def test_text_stays_within_eighty_columns() -> None:
    long = "`Check the order` " + "and what came with it " * 20
    line = b" " * 30 + b"x" * 5000 + b'<task id="far"/>' + b"y" * 5000
    reporter = TextReporter(sources={"m.bpmn": line})
    said = text(
        reporter,
        diagnostic(message=long, help=long, loc=SourceLocation(file="m.bpmn", line=1, column=5031)),
    )
    assert max(map(len, said.splitlines())) <= 80
    excerpt, caret = (row for row in said.splitlines() if row.startswith("  1 |") or " | " in row)
    assert excerpt[caret.index("^")] == "<"


def test_a_short_label_is_not_broken_over_lines() -> None:
    for pad in range(30):
        said = text(
            TextReporter(), diagnostic(message="x" * pad + " and so `Which of the ways?` " * 9)
        )
        assert said.count("`Which of the ways?`") == 9


def test_a_label_cannot_drive_the_terminal() -> None:
    said = text(TextReporter(), diagnostic(message="`\x1b]0;owned\x07\x9b31m\u202eevil`\n\n# x"))
    assert not [c for c in said if ord(c) < 32 and c != "\n"]
    assert "\x9b" not in said
    assert "\u202e" not in said
    assert "\n# x" not in said
    assert make_printable("a\x1bb\nc") == "a\\x1bb c"


def test_many_infos_of_one_code_are_folded_unless_verbose() -> None:
    infos = [
        diagnostic(code="OF501", name="gap", severity=Severity.INFO, message=f"gap {i}", trace=())
        for i in range(7)
    ]
    folded = text(TextReporter(), *infos, diagnostic())
    assert folded.count("OF501 [gap]") == 1
    assert "and 6 more OF501 (-v shows them)" in folded
    assert text(TextReporter(verbose=True), *infos).count("OF501 [gap]") == 7
    assert text(TextReporter(), *infos[:5]).count("OF501 [gap]") == 5


def test_errors_come_first_then_by_place() -> None:
    def at(line: int, severity: Severity) -> Diagnostic:
        loc = SourceLocation(file="a.bpmn", line=line)
        return diagnostic(loc=loc, severity=severity, related=())

    items = [at(1, Severity.WARNING), at(9, Severity.ERROR), at(2, Severity.ERROR)]
    lines = [d.loc.line for d in order_diagnostics(items) if d.loc]
    assert lines == [2, 9, 1]


@pytest.mark.parametrize(
    ("severities", "inputs", "expected"),
    [
        ("", ("a.bpmn",), "nothing found in a.bpmn"),
        ("e", ("a.bpmn",), "1 error in a.bpmn"),
        ("eewii", ("a.bpmn", "b.bpmn"), "2 errors, 1 warning in 2 files"),
        ("ii", (), "2 infos"),
    ],
)
def test_summary(severities: str, inputs: tuple[str, ...], expected: str) -> None:
    kinds = {"e": Severity.ERROR, "w": Severity.WARNING, "i": Severity.INFO}
    assert (
        summarise_findings([diagnostic(severity=kinds[s]) for s in severities], inputs) == expected
    )


def test_colours_only_when_asked() -> None:
    assert "\x1b" not in text(TextReporter(), diagnostic())
    assert "\x1b[1;31merror\x1b[0m" in text(TextReporter(colour=True), diagnostic())


def test_json_is_what_its_published_schema_says(root: Path) -> None:
    published = json.loads((root / "orgflow_ir/schema/diagnostics.schema.json").read_text())
    assert published == diagnostics_schema(), "run `make golden`"
    validator = jsonschema.Draft202012Validator(published)
    validator.check_schema(published)
    said = json.loads(text(JsonReporter(), diagnostic(), diagnostic(loc=None, fix=None)))
    validator.validate(said)
    assert said["summary"] == {"error": 2, "warning": 0, "info": 0}
    assert said["diagnostics"][1]["fix"]["edits"][0]["node"]["id"] == "ship"
    broken = {**said, "version": 2}
    assert list(validator.iter_errors(broken))
    del said["diagnostics"][1]["code"]
    assert list(validator.iter_errors(said))


def test_json_gives_the_diagnostic_back() -> None:
    said = json.loads(text(JsonReporter(), diagnostic()))
    assert Diagnostic.validate(said["diagnostics"][0]) == diagnostic()


def test_sarif_is_valid_and_says_all() -> None:
    reporter = SarifReporter(
        rules={"OF002": UnreadableInput}, version="1.2", label=lambda file, of: f"`{of}` of {file}"
    )
    stdin = SourceLocation(file="<stdin>", line=1)
    log = json.loads(
        text(
            reporter,
            diagnostic(),
            diagnostic(code="OF002", name="unreadable-input", loc=stdin, severity=Severity.INFO),
            diagnostic(loc=None, element=None, related=(), trace=()),
        )
    )
    SarifLog.model_validate(log)
    run = log["runs"][0]
    assert run["tool"]["driver"]["version"] == "1.2"
    rules = run["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == ["OF002", "OF201"]
    assert all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"])
    assert "What it finds" in rules[0]["fullDescription"]["text"]
    region = run["results"][1]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 3, "byteOffset": 6, "byteLength": 38}
    assert run["results"][2]["level"] == "note"
    place = run["results"][2]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "%3Cstdin%3E"


def test_the_sarif_check_can_fail() -> None:
    log = json.loads(text(SarifReporter(), diagnostic()))
    log["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(ValidationError):
        SarifLog.model_validate(log)


@pytest.mark.parametrize(
    ("message", "help", "expected"),
    [
        ("the task has no name", "give it one", "The task has no name. Give it one."),
        ("`A` waits forever", None, "`A` waits forever."),
        ("n8n refuses it", "what now?", "n8n refuses it. What now?"),
        ("OF201 is not known", "e-mail it", "OF201 is not known. E-mail it."),
    ],
)
def test_sarif_has_sentences(message: str, help: str | None, expected: str) -> None:
    log = json.loads(text(SarifReporter(), diagnostic(message=message, help=help)))
    assert log["runs"][0]["results"][0]["message"]["text"] == expected


def test_sarif_uris_are_uris() -> None:
    def uri(file: str) -> str:
        loc = SourceLocation(file=file)
        log = json.loads(text(SarifReporter(), diagnostic(loc=loc)))
        place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        return str(place["artifactLocation"]["uri"])

    assert uri("in vain/größe.bpmn") == "in%20vain/gr%C3%B6%C3%9Fe.bpmn"
    assert uri("/tmp/a b.bpmn") == "file:///tmp/a%20b.bpmn"
    assert uri("a:b.bpmn") == "a%3Ab.bpmn"


def test_reporters_are_registered(registry: Registry) -> None:
    assert {"text", "json", "sarif", "github"} <= set(registry.reporters)


def test_no_reporter_needs_rich() -> None:
    code = (
        "import sys, orgflow_ir.reporting.reporters as r, io; "
        "[x.report([], io.StringIO()) for x in r.orgflow_reporters()]; "
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "utf-8"])
def test_excerpts_are_read_in_the_files_encoding(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n<task name="Prüfen" />\n'
    line = _read_line(text.encode(encoding), 2)
    assert line == '<task name="Prüfen" />'


def test_a_long_label_breaks_and_short_ones_behind_it_do_not() -> None:
    long = "`the customer does not confirm the repair within 7 days`"
    message = f"no condition decides between {long} and `not yet`; `A b` reads `gateway_after_pay`"
    lines = text(TextReporter(width=60), diagnostic(message=message)).splitlines()
    assert all(len(line) <= 60 for line in lines if "gateway_after_pay" in line)
    assert any("`not yet`" in line for line in lines)
    assert any("`A b`" in line for line in lines)
