"""Minutes of the test suites, from the reports that `make test` and `make test-live` leave.

The reports in `build/` are JUnit XML as pytest writes it; `pytest --junitxml=build/tests.xml` makes
one in a checkout whose Makefile does not ask for it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

REPORTS = {"make test": "build/tests.xml", "make test-live": "build/tests-live.xml"}
"""The report of each suite, below its checkout."""


class Suite(NamedTuple):
    """One run of a suite; `seconds` are those of the clock, `times` of each test by its name."""

    tests: int
    failed: int
    skipped: int
    seconds: float
    times: dict[str, float]


def read_report(path: Path) -> Suite:
    """The run that a report is about. Raises `OSError` and `ET.ParseError`."""
    (suite,) = ET.parse(path).getroot().iter("testsuite")
    times: dict[str, float] = {}
    for case in suite.iter("testcase"):
        name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
        times[name] = times.get(name, 0) + float(case.get("time", 0))
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    return Suite(
        tests=int(suite.get("tests", 0)),
        failed=failed,
        skipped=int(suite.get("skipped", 0)),
        seconds=float(suite.get("time", 0)),
        times=times,
    )


def suites_table(checkouts: Sequence[Path], slowest: int) -> str:
    """The suites of each checkout that has reports, and the slowest tests of the last one."""
    lines = [f"{'suite':16}{'checkout':16}{'tests':>8}{'failed':>8}{'skipped':>9}{'minutes':>9}"]
    shown: list[str] = []
    for name, report in REPORTS.items():
        last = None
        for root in checkouts:
            if not (root / report).is_file():
                lines.append(f"{name:16}{root.name[:15]:16}  no {report}: run `{name}` there first")
                continue
            last = suite = read_report(root / report)
            lines.append(
                f"{name:16}{root.name[:15]:16}{suite.tests:>8,}{suite.failed:>8,}"
                f"{suite.skipped:>9,}{suite.seconds / 60:>9.1f}"
            )
        if last is not None and slowest:
            shown += _slowest(name, last, slowest)
    return "\n".join(lines + shown)


def _slowest(name: str, suite: Suite, most: int) -> list[str]:
    files: dict[str, float] = {}
    for test, seconds in suite.times.items():
        file = test.partition("::")[0]
        files[file] = files.get(file, 0) + seconds
    lines = []
    for what, times in (("files", files), ("tests", suite.times)):
        lines += ["", f"slowest {what} of {name}, in seconds"]
        ordered = sorted(times.items(), key=lambda item: (-item[1], item[0]))
        lines += [f"{seconds:>8.1f}  {key}" for key, seconds in ordered[:most]]
    return lines
