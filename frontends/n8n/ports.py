"""Inputs and outputs of a node by port: the inputs that a Merge waits for; labels and conditions of
outputs, and whether one, some or all are taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from orgflow.backends.n8n.format.condition_parameters import Rules, rules_of
from orgflow.backends.n8n.format.json_values import mapping
from orgflow.backends.n8n.node_types import merge
from orgflow.backends.n8n.node_types.catalogue import BASE, LANGCHAIN, split_type
from orgflow.backends.n8n.node_types.ports import regular_outputs
from orgflow.frontends.n8n.branch_conditions import (
    condition_expression,
    condition_words,
    operand_text,
)

from orgflow_ir.model import Expression, GatewayKind
from orgflow_ir.model.records import NamedTuple, dataclass

NO_MATCH = -1
"""The path of an item without a matching output: it is dropped silently (N8N.md, switch)."""

_CLASSIFIERS = frozenset({"textClassifier", "sentimentAnalysis", "guardrails"})
_MOST = 256
"""More outputs than any node has: a larger number in a file is ignored."""


class Join(NamedTuple):
    """`parallel`: continues only with all inputs; `inclusive`: with those that arrive; `complex`:
    by `condition`; `exclusive`: there is only one input, so it does not wait."""

    kind: GatewayKind
    condition: Expression | None = None


def merge_join(node: Mapping[str, Any], version: float, inputs: Sequence[int]) -> Join:
    """The join for a Merge, given its connected inputs."""
    if len(inputs) < 2:
        return Join("exclusive")
    if node.get("disabled") is True:
        return Join("parallel")
    if node.get("alwaysOutputData") is True:  # an empty item stands in for what is missing
        return Join("inclusive")
    needed = merge.needed_inputs(version, mapping(node.get("parameters")), inputs)
    match needed:
        case "all":
            return Join("parallel")
        case "any":
            return Join("inclusive")
        case (number,):
            return Join("complex", condition_expression(f"input {number + 1} has come"))
        case _:
            numbers = " and ".join(str(index + 1) for index in needed)
            return Join("complex", condition_expression(f"inputs {numbers} have come"))


class Outlet(NamedTuple):
    """One output; `note` describes in words a decision that is not a condition."""

    name: str = ""
    condition: Expression | None = None
    default: bool = False
    note: str = ""
    never: bool = False


@dataclass
class Ways:
    """The outputs of a node. `one`: everything leaves by output 0; `exclusive`, `inclusive`: by one
    or some of `outlets`; `all`: by each. `own`: the node is only this choice. `error` is the output
    for failures. An output that is in none of these does not exist."""

    mode: Literal["one", "exclusive", "inclusive", "all"] = "one"
    outlets: dict[int, Outlet] = field(default_factory=lambda: {0: Outlet()})
    own: bool = False
    error: int | None = None


def read_outputs(node: Mapping[str, Any], short: str, version: float, wired: Sequence[int]) -> Ways:
    """The outputs of a node; `wired` are the connected ones."""
    parameters = node.get("parameters")
    if not isinstance(parameters, Mapping):
        parameters = {}
    if node.get("disabled") is True:
        return Ways()
    outputs = _regular_outputs(node, short, parameters, version, wired)
    if node.get("onError") == "continueErrorOutput" and outputs.outlets:
        outputs.error = max(outputs.outlets) + 1
    return outputs


def _regular_outputs(
    node: Mapping[str, Any],
    short: str,
    parameters: Mapping[str, Any],
    version: float,
    wired: Sequence[int],
) -> Ways:
    decided = rules_of(short, version, parameters)
    if decided is not None and short != "switch":
        words = condition_words(decided.rules[0].condition)
    match short:
        case "if":
            yes, no = Outlet("true", condition_expression(words)), Outlet("false", default=True)
            return Ways("exclusive", {0: yes, 1: no}, own=True)
        case "filter":
            kept, dropped = (
                Outlet("kept", condition_expression(words)),
                Outlet("discarded", default=True),
            )
            # It hands out what it drops as a second list, but declares one output.
            second = 1 in wired and node.get("onError") != "continueErrorOutput"
            dropped_way = 1 if second else NO_MATCH
            return Ways("exclusive", {0: kept, dropped_way: dropped}, own=True)
        case "splitInBatches":
            loop, done = Outlet("loop"), Outlet("done", default=True)
            if version < 2:
                return Ways("exclusive", {0: loop, NO_MATCH: done}, own=True)
            first, second = (loop, done) if version < 3 else (done, loop)
            return Ways("exclusive", {0: first, 1: second}, own=True)
        case "switch":
            return _switch_outputs(decided, parameters, version, wired)
        case "webhook" if parameters.get("multipleMethods") is True:
            methods = _as_list(parameters.get("httpMethod", ["GET", "POST"]))[:_MOST]
            outlets = {i: Outlet(str(m)) for i, m in enumerate(methods)}
            return Ways("exclusive", outlets) if len(outlets) > 1 else Ways()
    count = regular_outputs(node)
    if count is not None:
        count = min(count, _MOST)
        outlets = {i: Outlet() for i in range(count)}
        return Ways("all" if count > 1 else "one", outlets)
    return _unknown_outputs(node, short, parameters, wired)


def _unknown_outputs(
    node: Mapping[str, Any], short: str, parameters: Mapping[str, Any], wired: Sequence[int]
) -> Ways:
    """A node whose outputs the format module does not know: as many as are wired. A router of
    n8n's own takes one of them, whatever else may take any."""
    package, _ = split_type(str(node.get("type", "")))
    names = _category_names(parameters)
    if package == LANGCHAIN and short == "sentimentAnalysis":
        names = names or ["Positive", "Neutral", "Negative"]
    if package == LANGCHAIN and short == "guardrails" and len(wired) > 1:
        names = ["Pass", "Fail"]
    if package == BASE and short == "compareDatasets":
        names = ["In A only", "Same", "Different", "In B only"]
    error = node.get("onError") == "continueErrorOutput"
    most = min(max([len(names) - 1, *wired], default=0), _MOST)
    if error and not names:
        most = max(0, most - 1)
    if most <= 0 or not wired:
        return Ways("one", {i: Outlet() for i in range(max(len(names), 1))})
    outlets = {i: Outlet(names[i] if i < len(names) else str(i)) for i in range(most + 1)}
    options = parameters.get("options")
    several = isinstance(options, Mapping) and options.get("multiClass") is True
    single = package == LANGCHAIN and short in _CLASSIFIERS and not several
    return Ways("exclusive" if single else "inclusive", outlets)


def _category_names(parameters: Mapping[str, Any]) -> list[str]:
    """What a text classifier calls its outputs."""
    holder = parameters.get("categories")
    listed = holder.get("categories") if isinstance(holder, Mapping) else None
    if not isinstance(listed, list):
        return []
    return [str(c.get("category", "")) if isinstance(c, Mapping) else "" for c in listed[:_MOST]]


# -- Switch ----------------------------------------------------------------------------------------


def _switch_outputs(
    decided: Rules | None, parameters: Mapping[str, Any], version: float, wired: Sequence[int]
) -> Ways:
    most = min(max(wired, default=-1) + 1, _MOST)
    if decided is None:
        output = operand_text(parameters.get("output", ""))
        key = "numberOutputs" if version >= 3 else "outputsAmount"
        count = _as_count(parameters.get(key), 4)
        taken = {i: Outlet(str(i), condition_expression(f"{output} == {i}")) for i in range(count)}
        return Ways("exclusive", taken, own=True)
    words: dict[int, list[str]] = {}
    names: dict[int, str] = {}
    for rule in decided.rules[:_MOST]:
        words.setdefault(rule.output, []).append(condition_words(rule.condition))
        names[rule.output] = rule.label or names.get(rule.output, "")
    # Switch 1 has four outputs, Switch 2 at least as many as are wired; of a file without its
    # parameters the wires say how many there are.
    count = len(words) if version >= 3 else max(4 if version < 2 else len(words), most, 1)
    outlets = {}
    for i in range(count or most):
        text = " or ".join(words.get(i, ()))
        name = names.get(i) or ("" if text else str(i))
        # An output of Switch 1 and 2 that no rule names is there, and nothing leaves by it.
        outlets[i] = Outlet(name, condition_expression(text), never=bool(words) and not text)
    _fall_back(outlets, decided)
    return Ways("inclusive" if decided.every else "exclusive", outlets, own=True)


def _fall_back(outlets: dict[int, Outlet], decided: Rules) -> None:
    """Where an item goes that no rule takes: an output more, one of the rules', or nowhere."""
    if decided.fallback == "extra":
        name = decided.fallback_name or "Fallback"
        outlets[max(outlets, default=-1) + 1] = Outlet(name, default=True)
    elif decided.fallback in outlets and not decided.every:
        old = outlets[decided.fallback]
        note = f"also where {old.condition.text}" if old.condition else ""
        outlets[decided.fallback] = Outlet(old.name, default=True, note=note)
    else:
        outlets[NO_MATCH] = Outlet("no match", default=True)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _as_count(value: Any, otherwise: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST:
        return value
    return otherwise
