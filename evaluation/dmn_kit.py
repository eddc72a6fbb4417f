"""The DMN technology compatibility kit: its suites, cases and values."""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from orgflow.backends.javascript.decision_runtime_code import decision_values
from orgflow.backends.n8n.engine.node import find_node
from orgflow.frontends.dmn.dmn_reader import DmnError, read_dmn

from orgflow_ir.decisions.link import DecisionModel, link
from orgflow_ir.languages.feel.parser import normal_name
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.feel import calendar
from orgflow_ir.program.feel.conversion_functions import text_of
from orgflow_ir.program.feel.relations import equal_values
from orgflow_ir.program.feel.values import Value, kind

_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
_CLOSE = Decimal("1e-8")
"""The kit compares numbers that closely."""


class KitError(ValueError):
    """A folder that is no suite of the kit, or a suite that cannot be read."""


class Case(NamedTuple):
    """One expected result.

    Attributes:
        suite: the name of its suite.
        id: of the test case.
        node: a decision, or what is invoked.
        given: values of the inputs.
        expected: the value that is expected; `None` if `error`.
        error: whether an error is expected.
        part: of a service with several decisions, that whose value is expected.
    """

    suite: str
    id: str
    node: str
    given: dict[str, Value]
    expected: Value
    error: bool
    part: str = ""


class Suite(NamedTuple):
    """A model of a folder of the kit, and its cases.

    Attributes:
        name: of the folder.
        level: the level of conformance; 0 if the kit does not state it.
        model: the decisions.
        cases: one for each expected result.
        total: the number of test cases, some of which have several results.
    """

    name: str
    level: int
    model: DecisionModel
    cases: tuple[Case, ...]
    total: int


class SuiteFolder(NamedTuple):
    """A folder with a suite; `level` is 0 if the kit does not state it."""

    path: Path
    level: int


_LEVEL = re.compile(r"compliance-level-(\d+)$")
_NUMBERED = re.compile(r"\d+-.")
_MOST_LEVELS = 3


def list_suites(kit: Path) -> list[SuiteFolder]:
    """The suites of a kit by level and name: `compliance-level-N/SUITE`, in the folder or in one
    inside it, or flat `N-SUITE`, where an `N` of one digit is the level; or the folder is a suite.

    Raises:
        KitError: there is none.
    """
    levels = [
        path for depth in ("", "*/") for path in sorted(kit.glob(f"{depth}compliance-level-*"))
    ]
    folders = [
        SuiteFolder(path, int(match[1]))
        for level_folder in levels
        if (match := _LEVEL.match(level_folder.name)) is not None
        for path in sorted(level_folder.iterdir())
        if path.is_dir()
    ]
    own = _LEVEL.match(kit.resolve().name)
    level = int(own[1]) if own is not None else 0
    if not folders and kit.is_dir():
        folders = [
            SuiteFolder(path, _level_of_name(path.name) or level)
            for path in sorted(kit.iterdir())
            if path.is_dir() and _NUMBERED.match(path.name)
        ]
    if not folders and any(kit.glob("*.dmn")) and any(kit.glob("*.xml")):
        folders = [SuiteFolder(kit, _level_of_name(kit.name))]
    if not folders:
        raise KitError(
            f"there is no suite in {kit}: a kit has folders `compliance-level-N/SUITE` or "
            "`N-SUITE`, each with test cases (.xml) and models (.dmn)"
        )
    return folders


def _level_of_name(name: str) -> int:
    """The level that the name of a folder states; 0 if it is the number of the suite."""
    number = name.partition("-")[0]
    return int(number) if len(number) == 1 and 0 < int(number) <= _MOST_LEVELS else 0


def suite_folders(kit: Path) -> list[Path]:
    """The folders of the suites, in order."""
    return sorted(path for path in kit.glob("compliance-level-*/*") if path.is_dir())


def suite_name(folder: Path) -> str:
    """The name of a suite, for the identifier of its test."""
    return folder.name


def read_suite(folder: Path, level: int) -> Suite:
    """The suite in a folder with one model. Raises `KitError`."""
    suites = read_suites(folder, level)
    if len(suites) != 1:
        raise KitError(f"the suite in {folder} has {len(suites)} models")
    return suites[0]


def read_suites(folder: Path, level: int) -> list[Suite]:
    """The suites in a folder, one for each model that its test cases name.

    Raises:
        KitError: a file cannot be read, a model is missing, or there are no test cases.
    """
    cases: dict[str, list[Case]] = {}
    totals: Counter[str] = Counter()
    for tests in sorted(folder.glob("*.xml")):
        try:
            root = ElementTree.parse(tests).getroot()
        except (ElementTree.ParseError, OSError, ValueError) as error:
            raise KitError(f"{tests.name} cannot be read: {error}") from None
        if _local_name(root) != "testCases":
            continue
        name = next((e.text or "" for e in root if _local_name(e) == "modelName"), "").strip()
        for test in (e for e in root if _local_name(e) == "testCase"):
            totals[name] += 1
            try:
                cases.setdefault(name, []).extend(_read_cases(folder.name, test))
            except (ArithmeticError, KeyError) as error:
                raise KitError(f"{tests.name} has a faulty test case: {error!r}") from None
    if not cases:
        raise KitError("there are no test cases")
    try:
        files = {path.name: read_dmn(path.read_bytes()) for path in sorted(folder.glob("*.dmn"))}
    except (DmnError, OSError) as error:
        raise KitError(f"a model cannot be read: {error}") from None
    missing = next((name for name in cases if name not in files), None)
    if missing is not None:
        raise KitError(f"there is no model `{missing}`")
    return [
        Suite(
            folder.name, level,
            link(files[name], [files[other] for other in files if other != name]),
            tuple(cases[name]), totals[name],
        )
        for name in cases
    ]  # fmt: skip


def _local_name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _read_cases(suite: str, test: ElementTree.Element) -> Iterator[Case]:
    given = {e.attrib["name"]: _read_value(e) for e in test if _local_name(e) == "inputNode"}
    several = sum(_local_name(e) == "resultNode" for e in test) > 1
    for result in (e for e in test if _local_name(e) == "resultNode"):
        expected = next((e for e in result if _local_name(e) == "expected"), None)
        yield Case(
            suite,
            test.attrib.get("id", ""),
            test.attrib.get("invocableName") or result.attrib["name"],
            given,
            None if expected is None else _read_value(expected),
            result.attrib.get("errorResult") == "true",
            result.attrib["name"] if several and test.attrib.get("invocableName") else "",
        )


def _read_value(element: ElementTree.Element) -> Value:
    """The value in an element: a `value`, a `list`, or `component`s."""
    children = [e for e in element if _local_name(e) in ("value", "list", "component")]
    if not children:
        return None
    first = children[0]
    if _local_name(first) == "component":
        return {normal_name(e.attrib["name"]): _read_value(e) for e in children}
    if first.attrib.get(_NIL) == "true":
        return None
    if _local_name(first) == "list":
        return tuple(
            None if e.attrib.get(_NIL) == "true" else _read_value(e)
            for e in first
            if _local_name(e) == "item"
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
    raise KitError(f"a value has the unknown type {of}")


def values_agree(value: Any, expected: Any) -> bool:
    """Whether a value is the one that is expected, as the kit compares."""
    if kind(value) != kind(expected):
        return False
    if isinstance(value, Decimal):
        return bool(abs(value - expected) <= _CLOSE)
    if isinstance(value, tuple):
        return len(value) == len(expected) and all(map(values_agree, value, expected))
    if isinstance(value, dict):
        return value.keys() == expected.keys() and all(
            values_agree(value[k], expected[k]) for k in value
        )
    return bool(value == expected) or equal_values(value, expected) is True


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
