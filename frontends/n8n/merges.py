"""What a Merge waits for (N8N.md, "A Merge with a dead branch never hangs", and recorded runs).

Every Merge with several wired inputs waits until they have all come or nothing else can run; the
mode decides what then happens with what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orgflow.frontends.n8n.conditions import expression

from orgflow_ir.model import Expression, GatewayKind

_PARTIAL_JOINS = ("keepNonMatches", "keepEverything", "enrichInput1", "enrichInput2")


class Join(NamedTuple):
    """`parallel`: goes on only with all inputs; `inclusive`: with what came; `complex`: where
    `condition` says so; `exclusive`: there is only one input, and nothing to wait for."""

    kind: GatewayKind
    condition: Expression | None = None


def merge_join(node: Mapping[str, Any], version: float, inputs: Sequence[int]) -> Join:
    """The join that a Merge is, given which of its inputs are wired."""
    if len(inputs) < 2:
        return Join("exclusive")
    if node.get("disabled") is True:
        return Join("parallel")
    if node.get("alwaysOutputData") is True:  # an empty item stands in for what is missing
        return Join("inclusive")
    parameters = node.get("parameters")
    if not isinstance(parameters, Mapping):
        parameters = {}
    mode: object = parameters.get("mode", "append")
    if version < 2:
        return _first(mode, parameters)
    if mode == "chooseBranch" and any(i > 1 for i in inputs):
        # The inputs it needs are hard-coded.
        return Join("complex", expression("inputs 1 and 2 have come"))
    if mode in ("chooseBranch", "multiplex"):
        return Join("parallel")
    if mode != "combine":
        return Join("inclusive")
    return Join("parallel" if _combines_all(version, parameters) else "inclusive")


def _first(mode: object, parameters: Mapping[str, Any]) -> Join:
    """Merge 1. `wait` passes on an empty item in place of what did not come."""
    if mode == "passThrough":
        needed = 2 if parameters.get("output") == "input2" else 1
        return Join("complex", expression(f"input {needed} has come"))
    if mode == "mergeByIndex":
        return Join("parallel" if parameters.get("join", "left") == "inner" else "inclusive")
    return Join("parallel" if mode in ("multiplex", "keepKeyMatches") else "inclusive")


def _combines_all(version: float, parameters: Mapping[str, Any]) -> bool:
    options = parameters.get("options")
    options = options if isinstance(options, Mapping) else {}
    if version < 3:
        how = parameters.get("combinationMode", "mergeByFields")
        if how == "mergeByPosition":  # with one side missing it gives the other
            return False
    else:
        how = parameters.get("combineBy", "combineByFields")
    if how == "combineByPosition":
        return options.get("includeUnpaired") is not True
    if how in ("combineAll", "multiplex"):
        return True
    return parameters.get("joinMode", "keepMatches") not in _PARTIAL_JOINS
