"""Addresses of triggers that several nodes have, in a workflow, a file, or the files of a command.

n8n stores the method and the path of each published trigger, of webhooks and forms alike, and does
not publish a workflow with one that another workflow has (`webhook.service`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from orgflow.backends.n8n.format.workflow_document import Node, workflows_of
from orgflow.backends.n8n.lint.lint_report import Report
from orgflow.backends.n8n.lint.linted_workflow import Workflow
from orgflow.backends.n8n.lint.run_rules import SharedAddress

from orgflow_ir.diagnostics import Severity
from orgflow_ir.linking.workflow_files import FileState, files_given
from orgflow_ir.model.input_limits import load_json
from orgflow_ir.model.records import NamedTuple

Address = tuple[str, str]
"""A method and a path."""

_FORM_METHODS: Final = ("GET", "POST")


class AddressOwner(NamedTuple):
    """A trigger of another workflow: the names of its workflow and node, and the id of the
    workflow, empty if it has none."""

    workflow: str
    id: str
    node: str


def list_addresses(node: Node) -> Iterator[Address]:
    """The addresses of a trigger that are fixed texts."""
    if node.disabled or node.short not in ("webhook", "formTrigger"):
        return
    path = node.parameters.get("path")
    if node.short == "formTrigger":
        path = path or node.inside("options", "path")
        methods: object = _FORM_METHODS
    else:
        methods = node.parameters.get("httpMethod", "GET")
    if not isinstance(path, str) or not path or path.startswith("="):
        return
    for method in methods if isinstance(methods, list | tuple) else [methods]:
        yield str(method), path.strip("/")


def check_shared_addresses(report: Report, others: tuple[Workflow, ...]) -> None:
    """Addresses that two nodes of a workflow have, or a node and one of another workflow: of the
    file (`others` are all of them) or of another file of the command."""
    taken: dict[Address, Node] = {}
    for node in report.workflow.nodes:
        for address in list_addresses(node):
            first = taken.setdefault(address, node)
            if first is not node:
                report.add(
                    SharedAddress,
                    node,
                    f"`{first.name}` and `{node.name}` both respond to {address[0]} at "
                    f"`{_written_path(node)}`: n8n does not publish the workflow",
                    "give each its own path",
                    "parameters",
                    "path",
                    others=(("the other one", first),),
                )
                break
    own = [
        (node, address)
        for address, node in taken.items()
        # The path of an address with parts that vary also has the id of the node.
        if not address[1].startswith(":") and "/:" not in address[1]
    ]
    if own:
        _check_other_workflows(report, own, others)


def _check_other_workflows(
    report: Report, own: list[tuple[Node, Address]], others: tuple[Workflow, ...]
) -> None:
    """Report at the later of two workflows, by their place in the file or by the path of it."""
    flow = report.workflow
    owners: dict[Address, tuple[AddressOwner, str]] = {}
    for other in others:
        if other is flow:
            break
        for address, owner in _owners_of(other.name, other.document.id, other.nodes):
            owners.setdefault(address, (owner, "this file"))
    file = flow.loc(flow.document.path).file
    for state in files_given(file, ".json", report.ctx.given):
        if os.path.abspath(state.path) < os.path.abspath(file):
            for address, owner in _addresses_in_file(state):
                owners.setdefault(address, (owner, f"`{os.path.basename(state.path)}`"))
    reported: set[str] = set()
    for node, address in own:
        if address not in owners or node.name in reported:
            continue
        owner, place = owners[address]
        if _is_same_workflow(owner, flow):
            continue
        reported.add(node.name)
        report.add(
            SharedAddress,
            node,
            f"`{node.name}` responds to {address[0]} at `{_written_path(node)}`, as does "
            f"`{owner.node}` of `{owner.workflow}` in {place}: n8n does not publish both workflows",
            "give each its own path",
            "parameters",
            "path",
            severity=Severity.WARNING,
        )


def _is_same_workflow(owner: AddressOwner, flow: Workflow) -> bool:
    """Whether another file may have another version of a workflow."""
    if owner.id and flow.document.id:
        return owner.id == flow.document.id
    return owner.workflow == flow.name


def _written_path(node: Node) -> str:
    return str(node.parameters.get("path") or node.inside("options", "path"))


def _owners_of(
    name: str, id: str | None, nodes: tuple[Node, ...]
) -> Iterator[tuple[Address, AddressOwner]]:
    for node in nodes:
        for address in list_addresses(node):
            yield address, AddressOwner(name, id or "", node.name)


@lru_cache(maxsize=2_000)
def _addresses_in_file(file: FileState) -> tuple[tuple[Address, AddressOwner], ...]:
    """The addresses of the workflows of a file, read once until it changes."""
    try:
        documents = workflows_of(load_json(file.read()))
    except ValueError:
        return ()
    return tuple(
        entry
        for document in documents
        for entry in _owners_of(document.name or "workflow", document.id, tuple(document.nodes))
    )
