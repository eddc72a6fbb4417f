"""A workflow of a file in the form for the machine: well formed, and only with the data it
reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from orgflow.backends.n8n.engine_model.flow import Flow, Wire, compile_rows
from orgflow.backends.n8n.format.json_values import inside, number, rows
from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.lint.linted_workflow import Workflow, called_by_workflow

from orgflow_ir.model.records import NamedTuple

_MOST_SLOTS: Final = 64
_FLAGS: Final = ("disabled", "executeOnce", "alwaysOutputData", "retryOnFail", "continueOnFail")
_WORDS: Final = (
    "mode", "combineBy", "combinationMode", "joinMode", "join", "resume", "unit", "source",
)  # fmt: skip
_ALL_WAYS: Final = ("if", "filter", "switch", "respondToWebhook")


class Kinds(NamedTuple):
    """Nodes, by index, whose choices the exploration treats differently from those of unknown
    nodes.

    Attributes:
        routers: nodes for which the machine knows all possible decisions.
        matching: Merges without output unless both sides exist, regardless of the data.
    """

    routers: frozenset[int]
    matching: frozenset[int]


def kinds_of(workflow: Workflow) -> Kinds:
    """The kinds of a workflow's nodes."""
    routers = {
        n.index
        for n in workflow.nodes
        if (n.short in _ALL_WAYS and (n.short != "switch" or n.version >= 3))
        # The first Loop Over Items has one output, and gives nothing when no items are left.
        or (n.short == "splitInBatches" and n.version < 2)
    }
    return Kinds(frozenset(routers), frozenset(n.index for n in workflow.nodes if _matches_only(n)))


def _matches_only(node: Node) -> bool:
    p = node.parameters
    if node.short != "merge" or p.get("mode", "append") != "combine" or node.version < 2:
        return False
    how = p.get("combineBy" if node.version >= 3 else "combinationMode")
    fields = ("combineByFields", "mergeByFields", None)
    return how in fields and p.get("joinMode", "keepMatches") == "keepMatches"


def flow_of(workflow: Workflow) -> Flow:
    """The workflow compiled for the machine; calls of other workflows are unknown nodes."""
    links = [
        # A second input that a node does not have makes n8n wait for it.
        (wire.source, Wire(wire.output, wire.target, wire.slot))
        for wire in workflow.wires
        # No node has so many: reported elsewhere.
        if max(wire.slot, wire.output) < _MOST_SLOTS and not workflow.nodes[wire.target].trigger
    ]
    return compile_rows([_plain_node(node) for node in workflow.nodes], links)


def _plain_node(node: Node) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "name": node.name,
        "type": node.type,
        "typeVersion": node.version,
        "position": list(node.position or (0.0, 0.0)),
        "parameters": _plain_parameters(node),
        "onError": node.on_error,
    }
    if node.trigger and not node.disabled and not called_by_workflow(node):
        # The machine need not know every trigger by name: each hands on what comes in.
        plain["type"] = "n8n-nodes-base.manualTrigger"
    plain.update((key, True) for key in _FLAGS if node.raw.get(key) is True)
    return plain


def _plain_parameters(node: Node) -> dict[str, Any]:
    """The parameters the machine reads, where they are of the kind it expects."""
    given = node.parameters
    plain: dict[str, Any] = {k: given[k] for k in _WORDS if isinstance(given.get(k), str)}
    for key in ("numberInputs", "numberOutputs", "useDataOfInput"):
        value = given.get(key)
        counted = number(value)
        if isinstance(value, str) or (counted is not None and 0 <= counted <= _MOST_SLOTS):
            plain[key] = value
    for key in ("amount", "batchSize"):
        value = given.get(key)
        if isinstance(value, str) or number(value) is not None:
            plain[key] = value
    if isinstance(given.get("output"), str):
        plain["output"] = given["output"]
    if given.get("enableResponseOutput") is True:
        plain["enableResponseOutput"] = True
    if given.get("limitWaitTime") is True:
        plain["limitWaitTime"] = True
    values = rows(node.inside("rules", "values"))
    if values:
        plain["rules"] = {"values": [{} for _ in values[:_MOST_SLOTS]]}
    options = _plain_options(given.get("options"))
    if options:
        plain["options"] = options
    return plain


def _plain_options(given: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    if not isinstance(given, Mapping):
        return plain
    for key in ("fallbackOutput", "reset", "includeUnpaired", "allMatchingOutputs"):
        value = given.get(key)
        if isinstance(value, str | int | bool):
            plain[key] = value
    if type(given.get("waitForSubWorkflow")) in (bool, str):
        plain["waitForSubWorkflow"] = given["waitForSubWorkflow"]
    clash = inside(given, "clashHandling", "values", "resolveClash")
    if isinstance(clash, str):
        plain["clashHandling"] = {"values": {"resolveClash": clash}}
    return plain
