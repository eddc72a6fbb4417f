"""The SARIF reporter: diagnostics for code hosts and editors (OASIS SARIF 2.1.0)."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, TextIO
from urllib.parse import quote

from orgflow_ir.diagnostics.diagnostic import Diagnostic
from orgflow_ir.diagnostics.ordering import order_diagnostics
from orgflow_ir.diagnostics.rule import Rule
from orgflow_ir.model.printable import escape_controls, escape_json
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.plugins.contracts import Reporter

_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_STEPS = {"start": "start of ", "fire": "", "open": "begin of ", "done": "end of "}
"""The effect of a step of a run on its element."""
_SARIF_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


_MOST_DESCRIPTION = 1_000
"""Maximum length of a description: GitHub accepts 1,024 characters."""


class Replacement(NamedTuple):
    """A part of a file and its replacement.

    Attributes:
        start: line and column of the first character, from 1, in code points.
        end: line and column after its last character.
        chars: both as offsets in characters.
        data: both as offsets in bytes.
        text: the replacement.
    """

    start: tuple[int, int]
    end: tuple[int, int]
    chars: tuple[int, int]
    data: tuple[int, int]
    text: str


@dataclass(frozen=True)
class SarifReporter(Reporter):
    """SARIF 2.1.0 (OASIS): for code hosts and editors.

    `rules` (by code) adds explanations, and `version` is the version of orgflow. `label` and
    `place` return the name and the place of an element in a file, for the steps of runs.
    `replacements` returns the replacements of a fix in its file, or nothing if the fix cannot be
    written. `notes` are lines about the work.
    """

    name: ClassVar[str] = "sarif"
    rules: Mapping[str, type[Rule]] = field(default_factory=dict)
    version: str | None = None
    label: Callable[[str, str], str] = lambda _, element: f"`{element}`"
    place: Callable[[str, str], SourceLocation | None] = lambda _, __: None
    replacements: Callable[[Diagnostic], Sequence[Replacement]] = lambda _: ()
    notes: Sequence[str] = ()

    def report(self, diagnostics: Iterable[Diagnostic], out: TextIO) -> None:
        items = order_diagnostics(diagnostics)
        names = {d.code: d.name for d in items}
        codes = sorted(names)
        driver: dict[str, Any] = {"name": "orgflow"}
        if self.version is not None:
            driver["version"] = self.version
        driver["rules"] = [self._rule_to_sarif(code, names[code]) for code in codes]
        seen: Counter[str] = Counter()
        run: dict[str, Any] = {
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "results": [self._result_to_sarif(d, codes.index(d.code), seen) for d in items],
        }
        if self.notes:
            noted = [{"level": "note", "message": {"text": line}} for line in self.notes]
            run["invocations"] = [
                {"executionSuccessful": True, "toolExecutionNotifications": noted}
            ]
        log = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
        out.write(escape_json(json.dumps(log, ensure_ascii=False, indent=1)) + "\n")

    def _rule_to_sarif(self, code: str, name: str) -> dict[str, Any]:
        shown: dict[str, Any] = {"id": code, "name": name}
        rule = self.rules.get(code)
        if rule is not None:
            text = rule.explanation()
            shown["shortDescription"] = {"text": name.replace("-", " ")}
            full = text if len(text) <= _MOST_DESCRIPTION else f"{text[:_MOST_DESCRIPTION]}…"
            shown["fullDescription"] = {"text": full}
            shown["help"] = {"text": text, "markdown": _explanation_markdown(text, code)}
            shown["defaultConfiguration"] = {"level": _SARIF_LEVELS[rule.severity.value]}
            shown["properties"] = {"tags": [rule.category.value]}
        return shown

    def _result_to_sarif(self, d: Diagnostic, rule: int, seen: Counter[str]) -> dict[str, Any]:
        result = _sarif_result(d, rule)
        file = d.loc.file if d.loc is not None else ""
        if d.trace:
            result["codeFlows"] = [{"threadFlows": [{"locations": self._steps_to_sarif(d, file)}]}]
        fix = self._fix_to_sarif(d, file)
        if fix is not None:
            result["fixes"] = [fix]
        key = "\n".join((file, d.code, d.element or d.message))
        seen[key] += 1
        digest = hashlib.sha256(f"{key}\n{seen[key]}".encode(errors="backslashreplace"))
        result["partialFingerprints"] = {"orgflowFinding/v1": digest.hexdigest()[:32]}
        return result

    def _steps_to_sarif(self, d: Diagnostic, file: str) -> list[dict[str, Any]]:
        return [
            {
                "location": {
                    **_sarif_location(self.place(file, step.element), step.element),
                    "message": {
                        "text": escape_controls(
                            f"{_STEPS.get(step.action, '')}{self.label(file, step.element)}"
                        )
                    },
                }
            }
            for step in d.trace
        ]

    def _fix_to_sarif(self, d: Diagnostic, file: str) -> dict[str, Any] | None:
        replacements = self.replacements(d)
        if d.fix is None or not replacements:
            return None
        title = _full_sentence(d.fix.title)
        if d.fix.applicability != "safe":
            title += " This changes the meaning of the model."
        changes = [
            {
                "deletedRegion": {
                    **dict(zip(("startLine", "startColumn"), replacement.start, strict=True)),
                    **dict(zip(("endLine", "endColumn"), replacement.end, strict=True)),
                    "charOffset": replacement.chars[0],
                    "charLength": replacement.chars[1] - replacement.chars[0],
                    "byteOffset": replacement.data[0],
                    "byteLength": replacement.data[1] - replacement.data[0],
                },
                "insertedContent": {"text": replacement.text},
            }
            for replacement in replacements
        ]
        change = {"artifactLocation": {"uri": _file_uri(file)}, "replacements": changes}
        return {"description": {"text": title}, "artifactChanges": [change]}


def _explanation_markdown(explanation: str, code: str) -> str:
    """An explanation with its sections as headings: they stand at the margin, their text does not,
    and lines of code stay lines."""
    parts = []
    for line in explanation.splitlines():
        if line and not line[0].isspace():
            parts.append(f"\n**{line.strip()}**\n")
        elif line.strip().startswith(("<", "{", "|", "orgflowc ")):
            parts.append(f"\n{line}\n")  # four spaces: a block of code
        else:
            prose = re.split(r"(`[^`]*`)", line.removeprefix("    "))
            prose[::2] = [text.replace("<", "&lt;") for text in prose[::2]]
            parts.append("".join(prose))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).strip("\n")
    return f"{text}\n\n`orgflowc explain {code}` prints this.\n"


def _sarif_result(d: Diagnostic, rule: int) -> dict[str, Any]:
    text = " ".join(_full_sentence(part) for part in (d.message, d.help) if part)
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
        {
            **_sarif_location(r.loc, r.element),
            "id": i,
            "message": {"text": _full_sentence(r.message)},
        }
        for i, r in enumerate(d.related)
    ]
    if related:
        result["relatedLocations"] = related
    if d.suppressed is not None:
        result["suppressions"] = [{"kind": "external", "justification": d.suppressed}]
    return result


def _full_sentence(text: str) -> str:
    """A message or help as the complete sentence that SARIF asks for (3.11.1): other reporters
    show it in lower case and without a full stop. A name such as n8n stays as it is written."""
    text = escape_controls(text)
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    if first.rstrip(",:;").replace("-", "").isalpha() and first.islower():
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _sarif_location(loc: SourceLocation | None, element: str | None) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if loc is not None:
        place: dict[str, Any] = {"artifactLocation": {"uri": _file_uri(loc.file)}}
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


def _file_uri(file: str) -> str:
    """A URI reference: relative paths stay relative (RFC 3986, 4.2)."""
    quoted = quote(file.replace("\\", "/"))
    return f"file://{quoted}" if quoted.startswith("/") else quoted
