"""Code whose output expressions do not see, in n8n 1 without task runners.

n8n 1 runs JavaScript in vm2 by default, and objects that code returns are proxies there. Measured
on 1.123.81: an expression with `$('Code').first()`, `.last()`, `.all()`, `.item` or
`.itemMatching()`, `$items('Code')`, or `$input.first()` in the next node, is undefined as a whole,
without an error, and so it is for nodes that only pass the items on. `$json`, `$node["Code"].json`,
`$input.item` and `.isExecuted` have their values, code reads other nodes correctly, Python is not
affected, and a Set node creates a new object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.lint.expressions import data_read, read_texts
from orgflow.backends.n8n.lint.lint_report import Report, list_names
from orgflow.backends.n8n.lint.linted_workflow import Workflow
from orgflow.backends.n8n.lint.run_rules import HiddenCodeOutput
from orgflow.backends.n8n.node_types.code import RUNNERS, is_visible

_READS: Final = frozenset({"first", "last", "all", "item", "itemMatching"})
_OWN: Final = re.compile(r"\$input\s*\.\s*(?:first|last|all)\s*\(")
_PASSING: Final = frozenset({"noOp", "if", "switch", "filter", "limit"})
"""Types whose items are those that they received."""


def check_code_output(report: Report, active: frozenset[int]) -> None:
    """Code nodes whose output some expression reads in a way that does not see it; only in
    workflows for n8n 1."""
    flow = report.workflow
    if not _for_n8n_1(report):
        return
    readers: dict[int, list[Node]] = {}
    for node in flow.nodes:
        if node.disabled or node.index not in active:
            continue
        for index in dict.fromkeys(_code_sources(flow, node)):
            readers.setdefault(index, []).append(node)
    for index, some in sorted(readers.items()):
        code = flow.nodes[index]
        names = list_names([reader.name for reader in some])
        report.add(
            HiddenCodeOutput,
            code,
            f"expressions of {names} read the items of `{code.name}`, which its code creates: in "
            "n8n 1 without task runners, they are undefined without an error",
            f'set {RUNNERS} on the server, read `$node["{code.name}"].json` instead, or put a Set '
            "node (Edit Fields) with the values after it",
            others=tuple(("reads it", reader) for reader in some[:4]),
        )


def _for_n8n_1(report: Report) -> bool:
    """Whether the workflow is for n8n 1: by the option of the target, otherwise by the note of a
    workflow that was compiled for it."""
    version = report.ctx.options.get("version")
    if isinstance(version, str) and version:
        return N8nVersion.parse(version) < N8nVersion(2, 0)
    nodes = report.workflow.document.raw.get("nodes")
    return any(
        RUNNERS in str(row.get("parameters"))
        for row in (nodes if isinstance(nodes, list) else ())
        if isinstance(row, dict) and str(row.get("type", "")).endswith(".stickyNote")
    )


def _code_sources(flow: Workflow, node: Node) -> Iterator[int]:
    """The Code nodes whose items the expressions of a node read without seeing them."""
    for _, text in read_texts(node):
        if not text.startswith("="):
            continue
        for name, read in data_read(text):
            named = flow.by_name.get(name)
            if named is not None and read in _READS:
                yield from _creating_nodes(flow, named.index)
        if _OWN.search(text):
            for wire in flow.into[node.index]:
                yield from _creating_nodes(flow, wire.source)


def _creating_nodes(flow: Workflow, index: int) -> Iterator[int]:
    """The Code nodes that create the items that a node outputs."""
    todo, seen = [index], {index}
    while todo:
        node = flow.nodes[todo.pop()]
        if node.short == "code" and not node.disabled:
            if _is_hidden(node):
                yield node.index
        elif node.disabled or node.short in _PASSING:
            new = [w.source for w in flow.into[node.index] if w.source not in seen]
            seen.update(new)
            todo += new


def _is_hidden(node: Node) -> bool:
    """Whether it runs JavaScript that does not copy its output into objects of n8n."""
    text = node.parameters.get("jsCode")
    javascript = node.parameters.get("language", "javaScript") == "javaScript"
    return javascript and isinstance(text, str) and not is_visible(text)
