"""The DMN technology compatibility kit: its cases, their values, and who is right about them."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from orgflow.backends.javascript.decision_runtime_code import decision_values
from orgflow.backends.n8n.engine.node import find_node
from orgflow.frontends.dmn.dmn_reader import read_dmn

from orgflow_ir.decisions.link import DecisionModel, link
from orgflow_ir.languages.feel.parser import normal_name
from orgflow_ir.program.feel import calendar
from orgflow_ir.program.feel.conversion_functions import text_of
from orgflow_ir.program.feel.relations import equal_values
from orgflow_ir.program.feel.values import Value, kind

_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
_CLOSE = Decimal("1e-8")
"""The kit compares numbers that closely."""


@dataclass(frozen=True)
class Case:
    """One expected result: of `node`, a decision or what is invoked, for the inputs given."""

    suite: str
    id: str
    node: str
    given: dict[str, Value]
    expected: Value
    error: bool
    part: str = ""
    """The decision of a service with several, whose value is expected."""


@dataclass(frozen=True)
class Suite:
    """A folder of the kit: its model and its cases. `total` counts the kit's own test cases."""

    name: str
    level: int
    model: DecisionModel
    cases: tuple[Case, ...]
    total: int


def suites(kit: Path) -> Iterator[Suite]:
    """Every suite of the kit, by level and name."""
    for level in (2, 3):
        for folder in sorted((kit / f"compliance-level-{level}").iterdir()):
            yield read_suite(folder, level)


def suite_folders(kit: Path) -> list[Path]:
    """The folders of the suites, in order."""
    return sorted(path for path in kit.glob("compliance-level-*/*") if path.is_dir())


def suite_name(folder: Path) -> str:
    """The name of a suite, for the identifier of its test."""
    return folder.name


def read_suite(folder: Path, level: int) -> Suite:
    """The suite in a folder."""
    cases: list[Case] = []
    total = 0
    names: set[str] = set()
    for tests in sorted(folder.glob("*.xml")):
        root = ElementTree.parse(tests).getroot()
        model = next((e.text or "" for e in root if _local(e) == "modelName"), "")
        names.add(model)
        for test in (e for e in root if _local(e) == "testCase"):
            total += 1
            cases += _cases(folder.name, test)
    (name,) = names
    files = {path.name: read_dmn(path.read_bytes()) for path in sorted(folder.glob("*.dmn"))}
    definitions = files.pop(name)
    return Suite(folder.name, level, link(definitions, files.values()), tuple(cases), total)


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _cases(suite: str, test: ElementTree.Element) -> Iterator[Case]:
    given = {e.attrib["name"]: _value(e) for e in test if _local(e) == "inputNode"}
    several = sum(_local(e) == "resultNode" for e in test) > 1
    for result in (e for e in test if _local(e) == "resultNode"):
        expected = next((e for e in result if _local(e) == "expected"), None)
        yield Case(
            suite,
            test.attrib.get("id", ""),
            test.attrib.get("invocableName") or result.attrib["name"],
            given,
            None if expected is None else _value(expected),
            result.attrib.get("errorResult") == "true",
            result.attrib["name"] if several and test.attrib.get("invocableName") else "",
        )


def _value(element: ElementTree.Element) -> Value:
    """The value in an element: a `value`, a `list`, or `component`s."""
    children = [e for e in element if _local(e) in ("value", "list", "component")]
    if not children:
        return None
    first = children[0]
    if _local(first) == "component":
        return {normal_name(e.attrib["name"]): _value(e) for e in children}
    if first.attrib.get(_NIL) == "true":
        return None
    if _local(first) == "list":
        return tuple(
            None if e.attrib.get(_NIL) == "true" else _value(e)
            for e in first
            if _local(e) == "item"
        )
    text = first.text or ""
    of = first.attrib.get(_TYPE, "").rpartition(":")[2]
    match of:
        case "boolean":
            return text.strip() in ("true", "1")
        case "string" | "":
            return text
        case "date":
            return calendar.parse_date(text)
        case "time":
            return calendar.parse_time(text)
        case "dateTime":
            return calendar.parse_date_time(text)
        case "duration" | "dayTimeDuration" | "yearMonthDuration":
            return calendar.parse_duration(text)
        case "decimal" | "double" | "integer" | "int" | "long" | "float":
            return Decimal(text)
    raise AssertionError(f"the kit has a value of type {of}")


def agrees(found: Any, expected: Any) -> bool:
    """Whether a value is the one that is expected, as the kit compares."""
    if kind(found) != kind(expected):
        return False
    if isinstance(found, Decimal):
        return abs(found - expected) <= _CLOSE
    if isinstance(found, tuple):
        return len(found) == len(expected) and all(map(agrees, found, expected))
    if isinstance(found, dict):
        return found.keys() == expected.keys() and all(agrees(found[k], expected[k]) for k in found)
    return bool(found == expected) or equal_values(found, expected) is True


def value_code(value: Value) -> str:
    """A value as code for the runtime of translations."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Decimal():
            return f"num({json.dumps(str(value))})"
        case str():
            return json.dumps(value)
        case tuple():
            return f"[{', '.join(map(value_code, value))}]"
        case dict():
            entries = ", ".join(f"[{json.dumps(k)}, {value_code(v)}]" for k, v in value.items())
            return f"new Map([{entries}])"
    return f"atLiteral({json.dumps(text_of(value))})"


_RUN = """
const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(cases.map((code) => {
  try { return ['value', new Function(code)()]; } catch (e) { return ['error', String(e)]; }
})));
"""


def run_javascript(programs: Sequence[str]) -> list[tuple[str, str]]:
    """What bodies of functions return in Node: `("value", …)` or `("error", message)` each."""
    done = subprocess.run(
        [str(find_node().path), "-e", _RUN], input=json.dumps(programs), capture_output=True,
        text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    return [(kind_, value) for kind_, value in json.loads(done.stdout)]


def case_program(model: DecisionModel, case: Case) -> str:
    """A body that returns the value of a case's decision as FEEL writes it.

    Raises `Unsupported` where the decision is not translated.
    """
    given = ", ".join(
        f"[{json.dumps(normal_name(name))}, {value_code(value)}]"
        for name, value in case.given.items()
    )
    return decision_values(model, case.node, given)
