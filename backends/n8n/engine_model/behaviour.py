"""What each kind of node can do with the items it gets.

What depends on data is a choice; what does not is computed. Parameters that are expressions make a
node's behaviour a choice. Sources: `execute` of the nodes in n8n-nodes-base 2.41.1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from orgflow.backends.n8n.engine_model.config import Counts
from orgflow.backends.n8n.engine_model.merges import is_expression, mapping, merging
from orgflow.backends.n8n.format.document import TYPE_PREFIX

Kind = Literal[
    "trigger",  # hands on what it got, on every output what came on that input
    "pass",  # hands on what came on its first input, item by item
    "merge",  # a count function of all inputs
    "choice",  # the data decide
    "batches",  # Loop Over Items
    "wait",  # opens and is done
    "call",  # runs another workflow
    "stop",  # throws
]

_TRIGGERS = frozenset(
    {"manualTrigger", "webhook", "scheduleTrigger", "errorTrigger", "formTrigger", "start"}
)
_PASSES = frozenset({"noOp", "set", "executeWorkflowTrigger", "respondToWebhook", "emailSend"})
_UNIT_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
_SLEEPS_BELOW = 65
_MOST_OUTPUTS = 1_000


@dataclass(frozen=True)
class Behaviour:
    """What a node does.

    Attributes:
        kind: see `Kind`.
        outputs: how many outputs its type declares, without the error output; None if unknown.
        count: items per input to items per output, None where it throws; for "merge".
        choices: the outputs possible for so many items on the first input; for "choice".
        batch: items per batch; for "batches".
        in_process: whether a wait sleeps in process; None where that is not known before.
        answered: whether a wait is for an answer; limited: whether it ends without one too.
        known: whether `choices` is all that the node can do, and not a guess at an unknown type.
        calls: id of the workflow called; waited: whether the caller waits; each: once per item.
    """

    kind: Kind
    outputs: int | None = 1
    count: Callable[[Counts], Counts | None] | None = None
    choices: Callable[[int, int], Iterator[Counts]] | None = None
    batch: int = 1
    in_process: bool | None = None
    answered: bool = False
    limited: bool = True
    known: bool = True
    calls: str = ""
    waited: bool = True
    each: bool = False


def behaviour(node: Mapping[str, Any], wired: int, known: frozenset[str]) -> Behaviour:
    """What `node` does.

    Args:
        node: a node of an n8n workflow.
        wired: how many outputs are wired; what a node of unknown type is taken to have.
        known: ids of the workflows that can be called; calls of others are choices.
    """
    type_name = str(node.get("type", ""))
    name = type_name.removeprefix(TYPE_PREFIX)
    if name == type_name:
        return _unknown(wired)
    version = float(node.get("typeVersion", 1))
    parameters = mapping(node.get("parameters"))
    if name in _TRIGGERS:
        return Behaviour("trigger")
    if name in _PASSES:
        if name == "respondToWebhook" and (
            version == 1.3 or (version > 1.3 and parameters.get("enableResponseOutput"))
        ):
            return Behaviour("choice", 2, choices=lambda items, _: iter(((items, 1),)))
        return Behaviour("pass")
    match name:
        case "merge":
            count = merging(version, parameters)
            if count is not None:
                return Behaviour("merge", count=count)
        case "if":
            return Behaviour("choice", 2, choices=_split)
        case "filter":
            # What it drops is a second list although only one output is declared.
            return Behaviour("choice", 1, choices=_split)
        case "switch" if version >= 3:
            return _switch(parameters, wired)
        case "splitInBatches" if version >= 3:
            return _batches(parameters)
        case "stopAndError":
            return Behaviour("stop", outputs=0)
        case "wait":
            return _wait(version, parameters)
        case "form":
            limited = bool(parameters.get("limitWaitTime"))
            return Behaviour("wait", in_process=False, answered=True, limited=limited)
        case "executeWorkflow":
            called = called_workflow(parameters)
            if called in known:
                return _call(called, version, parameters)
        case "limit" if isinstance(most := parameters.get("maxItems", 1), int):
            return Behaviour("merge", count=lambda inputs: (min(inputs[0], max(0, most)),))
        case "aggregate":
            return Behaviour("merge", count=lambda inputs: (min(inputs[0], 1),))
        case "code":
            return _unknown(1)
    return _unknown(wired)


def called_workflow(parameters: Mapping[str, Any]) -> str:
    """The id an Execute Workflow node calls; empty where it is no id or computed."""
    if parameters.get("source", "database") != "database":
        return ""
    value = parameters.get("workflowId")
    if isinstance(value, Mapping):
        value = value.get("value")
    return "" if value is None or is_expression(value) else str(value)


def _unknown(outputs: int) -> Behaviour:
    count = max(1, outputs)

    def choices(items: int, most: int) -> Iterator[Counts]:
        return itertools.product(range(max(items, most) + 1), repeat=count)

    return Behaviour("choice", count, choices=choices, known=False)


def _split(items: int, most: int) -> Iterator[Counts]:
    return ((first, items - first) for first in range(items, -1, -1))


def _switch(parameters: Mapping[str, Any], wired: int) -> Behaviour:
    if parameters.get("mode", "rules") == "expression":
        number = parameters.get("numberOutputs", 4)
        given = isinstance(number, int) and 1 <= number <= _MOST_OUTPUTS
        outputs = number if given else max(1, wired)
        return Behaviour("choice", outputs, choices=_routes(outputs, every=True))
    listed = mapping(parameters.get("rules")).get("values")
    rules = listed if isinstance(listed, list | tuple) else ()
    options = mapping(parameters.get("options"))
    fallback = options.get("fallbackOutput")
    extra = fallback == "extra"
    every = fallback is not None and fallback != "none"
    if not rules:
        return Behaviour("choice", 1, choices=lambda items, _: iter(((0,),)))
    outputs = len(rules) + extra
    if not options.get("allMatchingOutputs"):
        return Behaviour("choice", outputs, choices=_routes(outputs, every))
    return Behaviour("choice", outputs, choices=_all_matching(len(rules), extra, every))


def _routes(outputs: int, every: bool) -> Callable[[int, int], Iterator[Counts]]:
    """Each item leaves by one output, or by none unless `every`."""

    places = outputs if every else outputs + 1  # the last one is where items are dropped

    def choices(items: int, _: int) -> Iterator[Counts]:
        for taken in itertools.combinations_with_replacement(range(places), items):
            counts = [0] * places
            for place in taken:
                counts[place] += 1
            yield tuple(counts[:outputs])

    return choices


def _all_matching(rules: int, extra: bool, every: bool) -> Callable[[int, int], Iterator[Counts]]:
    """Each item leaves by any set of outputs; by output `extra` only if it leaves by no other."""

    def choices(items: int, _: int) -> Iterator[Counts]:
        for dropped in range(items + 1) if extra else (0,):
            left = items - dropped
            for counts in itertools.product(range(left, -1, -1), repeat=rules):
                if not every or sum(counts) >= left:
                    yield (*counts, dropped) if extra else counts

    return choices


def _batches(parameters: Mapping[str, Any]) -> Behaviour:
    size = parameters.get("batchSize", 1)
    reset = mapping(parameters.get("options")).get("reset", False)
    if not isinstance(size, int) or is_expression(reset):
        return _unknown(2)
    return Behaviour("batches", 2, batch=-size if reset else size)


def _wait(version: float, parameters: Mapping[str, Any]) -> Behaviour:
    resume = parameters.get("resume", "timeInterval")
    if is_expression(resume):
        return Behaviour("wait", answered=True)
    if resume in ("webhook", "form"):
        limited = bool(parameters.get("limitWaitTime"))
        return Behaviour("wait", in_process=False, answered=True, limited=limited)
    if resume != "timeInterval":
        return Behaviour("wait")
    amount = parameters.get("amount", 5 if version >= 1.1 else 1)
    named = parameters.get("unit", "seconds" if version >= 1.1 else "hours")
    unit = _UNIT_SECONDS.get(named) if isinstance(named, str) else None
    if unit is None or not isinstance(amount, int | float):
        return Behaviour("wait")
    return Behaviour("wait", in_process=amount * unit < _SLEEPS_BELOW)


def _call(called: str, version: float, parameters: Mapping[str, Any]) -> Behaviour:
    waited = mapping(parameters.get("options")).get("waitForSubWorkflow", True)
    mode = parameters.get("mode", "once")
    if is_expression(waited) or is_expression(mode):
        return _unknown(1)
    return Behaviour("call", calls=called, waited=bool(waited), each=mode == "each")
