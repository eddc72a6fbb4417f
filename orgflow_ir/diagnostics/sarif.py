"""The SARIF reporter: diagnostics for code hosts and editors (OASIS SARIF 2.1.0)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TextIO
from urllib.parse import quote

from orgflow_ir.diagnostics.diagnostic import Diagnostic
from orgflow_ir.diagnostics.ordering import ordered
from orgflow_ir.diagnostics.rule import Rule
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.plugins.contracts import Reporter

_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_STEPS = {"start": "start of ", "fire": "", "open": "begin of ", "done": "end of "}
"""What a step of a run does to its element."""
_SARIF_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


@dataclass(frozen=True)
class SarifReporter(Reporter):
    """SARIF 2.1.0 (OASIS): for code hosts and editors.

    `rules` (by code) adds explanations, `version` is that of orgflow, and `label` gives the name of
    an element in a file, for the steps of runs.
    """

    name: ClassVar[str] = "sarif"
    rules: Mapping[str, type[Rule]] = field(default_factory=dict)
    version: str | None = None
    label: Callable[[str, str], str] = lambda _, element: f"`{element}`"

    def report(self, diagnostics: Iterable[Diagnostic], out: TextIO) -> None:
        items = ordered(diagnostics)
        names = {d.code: d.name for d in items}
        codes = sorted(names)
        driver: dict[str, Any] = {"name": "orgflow"}
        if self.version is not None:
            driver["version"] = self.version
        driver["rules"] = [self._rule(code, names[code]) for code in codes]
        run = {
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "results": [_sarif_result(d, codes.index(d.code), self.label) for d in items],
        }
        log = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
        out.write(json.dumps(log, ensure_ascii=False, indent=1) + "\n")

    def _rule(self, code: str, name: str) -> dict[str, Any]:
        shown: dict[str, Any] = {"id": code, "name": name}
        rule = self.rules.get(code)
        if rule is not None:
            text = rule.explanation()
            shown["shortDescription"] = {"text": name.replace("-", " ")}
            shown["fullDescription"] = {"text": text}
            shown["help"] = {"text": text}
            shown["defaultConfiguration"] = {"level": _SARIF_LEVELS[rule.severity.value]}
        return shown


def _sarif_result(d: Diagnostic, rule: int, label: Callable[[str, str], str]) -> dict[str, Any]:
    text = " ".join(_sentence(part) for part in (d.message, d.help) if part)
    result: dict[str, Any] = {
        "ruleId": d.code,
        "ruleIndex": rule,
        "level": _SARIF_LEVELS[d.severity.value],
        "message": {"text": text},
    }
    location = _sarif_location(d.loc, d.element)
    if location:
        result["locations"] = [location]
    related = [
        {**_sarif_location(r.loc, r.element), "id": i, "message": {"text": _sentence(r.message)}}
        for i, r in enumerate(d.related)
    ]
    if related:
        result["relatedLocations"] = related
    if d.trace:
        file = d.loc.file if d.loc is not None else ""
        steps = [
            {
                "location": {
                    **_sarif_location(None, step.element),
                    "message": {
                        "text": f"{_STEPS.get(step.action, '')}{label(file, step.element)}"
                    },
                }
            }
            for step in d.trace
        ]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if d.suppressed is not None:
        result["suppressions"] = [{"kind": "external", "justification": d.suppressed}]
    return result


def _sentence(text: str) -> str:
    """A message or help as the complete sentence that SARIF asks for (3.11.1): other reporters
    show it in lower case and without a full stop. A name such as n8n stays as it is written."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    if first.rstrip(",:;").replace("-", "").isalpha() and first.islower():
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _sarif_location(loc: SourceLocation | None, element: str | None) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if loc is not None:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(loc.file)}}
        region: dict[str, Any] = {}
        if loc.line is not None:
            region["startLine"] = loc.line
            if loc.column is not None:
                region["startColumn"] = loc.column
        if loc.span is not None:
            region["byteOffset"] = loc.span[0]
            region["byteLength"] = loc.span[1] - loc.span[0]
        if region:
            place["region"] = region
        location["physicalLocation"] = place
    if element is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": element, "kind": "element"}]
    return location


def _uri(file: str) -> str:
    """A URI reference: relative paths stay relative (RFC 3986, 4.2)."""
    quoted = quote(file.replace("\\", "/"))
    return f"file://{quoted}" if quoted.startswith("/") else quoted
