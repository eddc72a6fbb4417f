"""Asks real interpreters for the answers in the rows of the tests of conditions and texts:
`python benchmarks/java_conditions.py JAR…`.

The jars are those of an implementation of `javax.el` (Tomcat's `tomcat9-el-api` and
`tomcat9-jasper-el`), and, if their rows are wanted, of MVEL 2 and Groovy; Java 17 with its compiler
is on PATH. A row that stops the run where the interpreter has an answer is counted apart: what
orgflow does not know (the classes of numbers) would decide there. Exits with 1 if a row and an
interpreter have different answers, except where JUEL is known to differ from Tomcat.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

ROWS = Path(__file__).resolve().parent.parent / "tests" / "backends" / "n8n"
LANGUAGES = ("juel", "groovy", "java", "mvel")
_JUEL_ONLY = (
    re.compile(r"\$\{-+ ?-?a\b.*"),  # the empty text is 0 with `-`, too (JUEL 2.2, `neg`)
    re.compile(r".*\.(length|size|trim|isEmpty|get|equals|contains)\(.*"),  # null has no methods
    re.compile(r"\$\{[^}]*\b(class|empty)\b.*"),  # names, but for Tomcat's parser
    re.compile(r"\s*\$\{a\}\s*"),  # engines trim the text of a parameter
)
"""Texts for which JUEL and Tomcat are known to differ for some values."""


class Row(NamedTuple):
    """A text, its variables, and the answer in the tests."""

    language: str
    text: str
    given: str
    wanted: Any


def rows() -> list[Row]:
    """The rows of Java's languages; `error` where the run stops."""
    found = []
    for line in (ROWS / "condition_rows.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        language, text, given, wanted = line.split("\t")
        if language == "-" and text.startswith(("${", "#{")):
            language = "juel"
        if language in LANGUAGES:
            answer = wanted if wanted == "error" else json.loads(wanted)
            found.append(Row(language, text, given, answer))
    for line in (ROWS / "text_rows.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            text, given, wanted = line.split("\t")
            found.append(Row("juel", text, given, json.loads(wanted)))
    return found


def asked(every: list[Row], jars: list[str]) -> list[str]:
    """The answers of the interpreters."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        lines = (f"{r.language}\t{json.dumps(r.text)}\t{r.given}\n" for r in every)
        file.write_text("".join(lines), "utf-8")
        referee = Path(__file__).with_name("JavaReferee.java")
        command = ["java", "-cp", ":".join(jars), str(referee), str(file)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()


def verdict(row: Row, answer: str) -> str:
    """How a row and an answer compare."""
    if answer in ("missing", "uncompiled"):
        return answer
    if answer == "error":
        same = row.wanted == "error"
    else:
        value = json.loads(answer)
        same = _is_same(value, row.wanted)
        if row.wanted == "error":
            return "stops instead"
        if isinstance(row.wanted, bool) and not isinstance(value, bool):
            return "no truth value"  # its truth is that of the language; engines end with an error
    if same:
        return "same"
    if row.language == "juel" and any(one.fullmatch(row.text) for one in _JUEL_ONLY):
        return "differs in JUEL"
    return "different"


def _is_same(one: Any, other: Any) -> bool:
    if type(one) in (int, float) and type(other) in (int, float):
        return float(one) == float(other)
    return json.dumps(one) == json.dumps(other)


def main() -> int:
    """Print the table and the rows that differ."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("jars", nargs="+", metavar="JAR")
    jars = parser.parse_args().jars
    every = rows()
    counts: Counter[tuple[str, str]] = Counter()
    different = []
    for row, answer in zip(every, asked(every, jars), strict=True):
        found = verdict(row, answer)
        counts[row.language, found] += 1
        if found == "different":
            different.append((row, answer))
    for (language, found), count in sorted(counts.items()):
        print(f"{language:8} {found:16} {count:5}")
    for row, answer in different:
        print(row.language, row.text, row.given, f"expected {row.wanted}, got {answer}", sep="\t")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
