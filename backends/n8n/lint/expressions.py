"""Expressions in parameters: whether they are complete, whether they are expressions at all, and
which nodes they read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from orgflow.backends.n8n.format.expressions import read_code, read_parameter
from orgflow.backends.n8n.format.json_values import texts
from orgflow.backends.n8n.format.workflow_document import Node, Path
from orgflow.backends.n8n.lint.data_rules import RestartedIndex, VanishingData
from orgflow.backends.n8n.lint.lint_report import Report
from orgflow.backends.n8n.lint.linted_workflow import Workflow, called_by_workflow
from orgflow.backends.n8n.lint.run_rules import (
    BrokenExpression,
    MisplacedBraces,
    MissingNodeReference,
)
from orgflow.backends.n8n.node_types import catalogue

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model.records import NamedTuple

# Faults that n8n takes as they are (run): unclosed or stray braces are text.
_HARMLESS: Final = ("`{{` is never closed", "`}}` without", "begins with `=`")
_PIECE: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_OPERATOR_LAST: Final = re.compile(r"(?<![+-])[-+*%&|<>=!?:,.]\s*$")
_STATEMENT: Final = re.compile(
    r"(?:const|let|var|class|function)\s+[\w$[{]|return\b(?!\s*[:.=(]|\s*$)"
    r"|(?:if|for|while|switch)\s*\(|(?:do|try)\s*\{|throw\s"
)
"""Beginnings that n8n refuses as “invalid syntax”."""
_FILLED: Final = re.compile(
    r"\{\{\s*\$(?:json|node|input|now|today|item|items|vars|execution|workflow|env|itemIndex"
    r"|runIndex|prevNode|binary|parameter|\()"
)
# These read `{{ }}` in plain texts by themselves.
_OWN_BRACES: Final = frozenset(
    {"code", "function", "functionItem", "html", "aiTransform", "executeCommand", "crateDb",
     "googleBigQuery", "ldap", "microsoftSql", "mySql", "oracleDatabase", "postgres", "questDb",
     "snowflake", "timescaleDb", "form", "formTrigger", "n8n", "merge"}
)  # fmt: skip
_OWN_BRACES_IN: Final = frozenset({"jsonOutput", "query", "sqlQuery", "jsCode", "pythonCode"})
_CALLED: Final = re.compile(
    r"""\$\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`]*)`)\s*\)\s*\??\.\s*(\w+)"""
)
_CUSTOM_DATA: Final = re.compile(r"\$execution\s*\.\s*customData\b")
_WRITTEN: Final = re.compile(
    r"""\$\(\s*(['"]).*?\1\s*\)\s*\.(?:first|last|item|all|itemMatching)\b(?:\([^()]*\))?"""
    r"""(?:\[\d+\])?\.json(?:\??\.\w+|\[[^\]]+\])+\s*(?:=(?![=>])|[-+*/]=|\+\+|--)"""
)
_WRITTEN_HERE: Final = re.compile(
    r"""(?:\$json|\$input\s*\.(?:item|first\(\)|last\(\)|all\(\)\[\d+\])\.json)"""
    r"""(?:\.\w+|\[[^\]]+\])+\s*(?:=(?![=>])|[-+*/]=|\+\+|--)|"""
    r"""\bdelete\s+\$json\b|\bObject\.assign\(\s*\$json\b"""
)
_NODE: Final = re.compile(
    r"""\$node\s*(?:\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`]*)`)\s*\]|\.([A-Za-z_]\w*))"""
    r"""\s*(?:\?\.|\.)\s*(\w+)"""
)
_ITEMS_OF: Final = re.compile(r"""\$items\(\s*(['"])((?:[^'"\\]|\\.)*)\1""")
_NEEDS_NO_RUN: Final = frozenset({"params", "parameter", "context", "runIndex"})
"""Data of a node that n8n provides before it has run: `$('A').params`, `$node["A"].parameter`, …"""

_ESCAPED: Final = re.compile(r"\\(.)")
_MAYBE: Final = re.compile(r"\?|&&|\|\||\bif\b|\bfunction\b|=>|\bfor\b|\bswitch\b")
_TRIES: Final = re.compile(r"\btry\b|\bcatch\b")


# Parameters that n8n leaves out unless another one has one of these values (None: is absent).
_SHOWN_BY: Final[Mapping[str, Mapping[str, tuple[str, tuple[Any, ...]]]]] = {
    "httpRequest": {
        "jsonBody": ("sendBody", (True,)),
        "body": ("sendBody", (True,)),
        "bodyParameters": ("sendBody", (True,)),
        "jsonQuery": ("sendQuery", (True,)),
        "queryParameters": ("sendQuery", (True,)),
        "jsonHeaders": ("sendHeaders", (True,)),
        "headerParameters": ("sendHeaders", (True,)),
    },
    "set": {
        "jsonOutput": ("mode", ("raw",)),
        "assignments": ("mode", ("manual", None)),
        "fields": ("mode", ("manual", None)),
    },
}


class Reference(NamedTuple):
    """A place where a node reads another by name.

    `guarded`: the text tests its `isExecuted` first, or reads data that need no run; `asked`: it
    tests that of this node; `chosen`: that of another one, so this is read if that has not run;
    `tried`: it is in code that catches errors; `maybe`: in a text with a choice, so it may never be
    read.
    """

    node: Node
    path: Path
    name: str
    guarded: bool
    asked: bool
    chosen: bool
    tried: bool
    maybe: bool


def javascript_parameters(short: str) -> tuple[str, ...]:
    """The parameters of a type that are JavaScript."""
    return tuple(name for name in catalogue.script_parameters(short) if name != "pythonCode")


def read_texts(node: Node) -> Iterator[tuple[Path, str]]:
    """The texts in the parameters that n8n reads: not those of another version."""
    version_1 = node.short in ("if", "filter") and node.version < 2
    hidden = {
        name
        for name, (switch, values) in _SHOWN_BY.get(node.short, {}).items()
        if catalogue.reads_parameter(node.short, node.version, switch)
        and node.parameters.get(switch) not in values
    }
    for path, text in texts(node.parameters):
        if not catalogue.reads_parameter(node.short, node.version, str(path[0])):
            continue
        if version_1 and path[:2] == ("conditions", "conditions"):
            continue
        if str(path[0]) in hidden:
            continue
        yield path, text


def check_expressions(report: Report, active: frozenset[int]) -> None:
    """Expressions of nodes that can run."""
    called = _counts_calls(report.workflow)
    for node in report.workflow.nodes:
        if node.disabled or node.index not in active:
            continue
        _check_broken(report, node)
        _check_literal(report, node)
        _check_vanishing(report, node)
        if node.index in called:
            _check_index(report, node)


def _counts_calls(flow: Workflow) -> frozenset[int]:
    """Nodes that a call by another workflow leads to, in no loop of their own: in such a loop the
    count of passes begins with the call on purpose."""
    starts = [n.index for n in flow.nodes if called_by_workflow(n) and not n.disabled]
    if not starts:
        return frozenset()
    steps = flow.reach(starts) - flow.cyclic
    return frozenset(n.index for n in flow.nodes if not steps.isdisjoint(flow.steps_of(n.index)))


def _check_broken(report: Report, node: Node) -> None:
    for path, text in read_texts(node):
        if not text.startswith("="):
            continue
        faults = [f for f in read_parameter(text).faults if not f.startswith(_HARMLESS)]
        faults += [f"`{code}` is incomplete" for code in _unfinished_pieces(text)]
        faults += [
            f"`{piece[:40]}` is a statement, where a value has to stand"
            for piece in map(str.strip, _list_pieces(text))
            if _STATEMENT.match(piece)
        ]
        if faults:
            report.add(
                BrokenExpression,
                node,
                f"`{node.name}`: {faults[0]}, so the node fails when it runs",
                "correct the expression",
                "parameters",
                *path,
            )


def _check_vanishing(report: Report, node: Node) -> None:
    """What works in a test on one's own machine and not on a server."""
    code = javascript_parameters(node.short)
    for path, text in read_texts(node):
        script = len(path) == 1 and path[0] in code
        if not text.startswith("=") and not script:
            continue
        if not script and _CUSTOM_DATA.search(text):
            what = "`$execution.customData`, which is undefined in expressions on a server"
        elif _WRITTEN.search(text):
            what = "the item of another node, which only this node sees changed"
        elif not script and any(map(_WRITTEN_HERE.search, _list_pieces(text))):
            what = "its item, which only this expression sees changed"
        else:
            continue
        verb = "reads" if what.startswith("`$") else "writes into"
        report.add(
            VanishingData,
            node,
            f"`{node.name}` {verb} {what}",
            "pass the value on in the item",
            "parameters",
            *path,
        )


def _list_pieces(text: str) -> list[str]:
    """The pieces of code in a text; behind the last `}}` none is looked for, which would take
    quadratic time."""
    return _PIECE.findall(text, 0, text.rfind("}}") + 2)


def _unfinished_pieces(text: str) -> list[str]:
    """Pieces of code that end with an operator; those with an odd quote are cut somewhere else."""
    pieces = _list_pieces(text) if text.startswith("=") else []
    return [
        " ".join(code.split())
        for code in pieces
        if _OPERATOR_LAST.search(code) and not any(code.count(quote) % 2 for quote in "'\"`")
    ]


def _check_literal(report: Report, node: Node) -> None:
    dropped: list[Path] = []
    own = node.short in _OWN_BRACES or not node.short
    for path, text in read_texts(node):
        if text.startswith("="):
            if "{{" not in text and len(text) > 1:
                dropped.append(path)
        elif not own and not _OWN_BRACES_IN & set(path) and _FILLED.search(text):
            report.add(
                MisplacedBraces,
                node,
                f"`{node.name}`: the text at `{path[-1]}` has `{{{{ }}}}` but does not begin with "
                "`=`: it is passed on unchanged, with the braces",
                "put `=` before it",
                "parameters",
                *path,
            )
    if dropped:
        count = f" and {len(dropped) - 1} more" if len(dropped) > 1 else ""
        report.add(
            MisplacedBraces,
            node,
            f"`{node.name}`: the text at `{dropped[0][-1]}`{count} begins with `=` and has no "
            "`{{ }}`: n8n drops the `=`",
            "to keep the `=`, write `={{ '=…' }}`; otherwise remove it",
            "parameters",
            *dropped[0],
            severity=Severity.INFO,
        )


def _check_index(report: Report, node: Node) -> None:
    for path, text in read_texts(node):
        if "$runIndex" in text and (
            text.startswith("=") or path == javascript_parameters(node.short)
        ):
            report.add(
                RestartedIndex,
                node,
                f"`{node.name}` reads `$runIndex` in a workflow that others call, where it "
                "restarts at 0 in every call",
                "pass the count as an input of the call",
                "parameters",
                *path,
            )
            return


def list_references(node: Node) -> Iterator[Reference]:
    """Every reference of a node, each name once per text."""
    code = javascript_parameters(node.short)
    for path, text in read_texts(node):
        names: tuple[str, ...] = ()
        script = len(path) == 1 and path[0] in code
        if text.startswith("="):
            names = read_parameter(text).references
        elif script:
            names = read_code(text).references
        for name in dict.fromkeys(names):
            tried = script and _TRIES.search(text) is not None
            maybe = _MAYBE.search(text) is not None
            read = _read_of(text, name)
            asked = "isExecuted" in read
            guarded = asked or (bool(read) and read <= _NEEDS_NO_RUN)
            chosen = not asked and any(m[4] == "isExecuted" for m in _CALLED.finditer(text))
            yield Reference(node, path, name, guarded, asked, chosen, tried, maybe)


def _read_of(text: str, name: str) -> set[str]:
    """What a text reads of the node `name`: `first`, `isExecuted`, `params`, …"""
    fields = set()
    for pattern in (_CALLED, _NODE):
        for match in pattern.finditer(text):
            *names, read = match.groups()
            named = next(part for part in names if part is not None)
            if _ESCAPED.sub(r"\1", named) == name:
                fields.add(read)
    return fields


def data_read(text: str) -> Iterator[tuple[str, str]]:
    """The nodes from which an expression reads by `$('NAME')` or `$items('NAME')`, with what it
    reads: `first`, `all`, …"""
    for match in _CALLED.finditer(text):
        *names, read = match.groups()
        yield _ESCAPED.sub(r"\1", next(part for part in names if part is not None)), read
    for match in _ITEMS_OF.finditer(text):
        yield _ESCAPED.sub(r"\1", match[2]), "all"


def check_references(report: Report, references: list[Reference]) -> None:
    """References to missing nodes."""
    there = {n["name"] for n in _raw_nodes(report) if isinstance(n.get("name"), str)}
    for reference in references:
        if reference.name in there:
            continue
        report.add(
            MissingNodeReference,
            reference.node,
            f"`{reference.node.name}` reads from `{reference.name}`, which does not exist in the "
            "workflow: the node fails when it runs",
            "use the exact name of a node of the workflow",
            "parameters",
            *reference.path,
            severity=Severity.WARNING if reference.tried or reference.maybe else None,
        )


def _raw_nodes(report: Report) -> list[Mapping[str, Any]]:
    nodes = report.workflow.document.raw.get("nodes")
    return [n for n in nodes if isinstance(n, Mapping)] if isinstance(nodes, list) else []
