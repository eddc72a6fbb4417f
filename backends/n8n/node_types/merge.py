"""Merge: joins several inputs; its number of items depends on version and mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from orgflow.backends.n8n.format.json_values import count, mapping
from orgflow.backends.n8n.node_types.behaviour import Behaviour, Counts
from orgflow.backends.n8n.node_types.node_type import (
    NodeType,
    Parameters,
    Use,
    is_expression,
    passes_items,
)

_MOST_INPUTS = 1_000

Merging = Callable[[Counts], Counts | None]
"""Items per input to items per output; None if the node throws."""


def by_position(inputs: int, *, partial: bool) -> dict[str, Any]:
    """Parameters that merge by position; `partial` fires with the received inputs (inclusive joins
    only)."""
    options = {"includeUnpaired": True} if partial else {}
    return {
        "mode": "combine",
        "combineBy": "combineByPosition",
        "numberInputs": inputs,
        "options": options,
    }


def merge_counts(version: float, parameters: Parameters) -> Merging | None:
    """The count function of a Merge node, None if the number depends on the data."""
    if version < 2:
        return _version_1(parameters)
    if version < 3:
        return _version_2(parameters)
    return _version_3(parameters)


Needed = Literal["all", "any"] | tuple[int, ...]
"""The inputs without which a Merge outputs nothing: all connected ones, none in particular, or
these."""

_LEFT_OVERS: Final = ("keepNonMatches", "keepEverything", "enrichInput1", "enrichInput2")


def needed_inputs(version: float, parameters: Parameters, wired: Sequence[int]) -> Needed:
    """The requirements of a Merge for continuing.

    It waits until all `wired` inputs have arrived or nothing else can run; its mode determines the
    effect of missing inputs.
    """
    mode = parameters.get("mode", "append")
    if version < 2:
        if mode == "passThrough":
            return (1,) if parameters.get("output") == "input2" else (0,)
        if mode == "mergeByIndex":
            return "all" if parameters.get("join", "left") == "inner" else "any"
        # `wait` passes on an empty item in place of what did not come
        return "all" if mode in ("multiplex", "keepKeyMatches") else "any"
    if mode == "chooseBranch" and any(index > 1 for index in wired):
        return (0, 1)  # however many inputs it has
    if mode in ("chooseBranch", "multiplex"):
        return "all"
    if mode != "combine":
        return "any"
    return "all" if _combines_all(version, parameters) else "any"


def _combines_all(version: float, parameters: Parameters) -> bool:
    if version < 3:
        how = parameters.get("combinationMode", "mergeByFields")
        if how == "mergeByPosition":  # with one side missing it gives the other
            return False
    else:
        how = parameters.get("combineBy", "combineByFields")
    if how == "combineByPosition":
        return mapping(parameters.get("options")).get("includeUnpaired") is not True
    if how in ("combineAll", "multiplex"):
        return True
    return parameters.get("joinMode", "keepMatches") not in _LEFT_OVERS


def inputs_declared(parameters: Parameters) -> int | None:
    """The number of inputs that a Merge of version 3 reads, regardless of connections; None if it
    is computed or impossible."""
    number = _whole_number(parameters.get("numberInputs") or 2)
    return number if number is not None and 1 <= number <= _MOST_INPUTS else None


def _whole_number(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _count_at(counts: Counts, index: int) -> int:
    return counts[index] if 0 <= index < len(counts) else 0


def _sum_of_inputs(inputs: int) -> Merging:
    return lambda counts: (sum(counts[:inputs]),)


def _product_of_inputs(counts: Counts) -> Counts:
    return (_count_at(counts, 0) * _count_at(counts, 1),)


def _one_input(index: int) -> Merging:
    return lambda counts: (_count_at(counts, index),)


def _one_item(counts: Counts) -> Counts:
    return (1,)


def _version_1(parameters: Parameters) -> Merging | None:
    match parameters.get("mode", "append"):
        case "append":
            return _sum_of_inputs(2)
        case "mergeByIndex":
            return _by_index(parameters.get("join", "left"))
        case "multiplex":
            return _product_of_inputs
        case "passThrough":
            return _one_input(0 if parameters.get("output", "input1") == "input1" else 1)
        case "wait":
            return _one_item
        case _:
            return None


def _by_index(join: object) -> Merging | None:
    match join:
        case "inner":
            return lambda counts: (min(_count_at(counts, 0), _count_at(counts, 1)),)
        case "left":
            return _one_input(0)
        case "outer":
            return lambda counts: (max(_count_at(counts, 0), _count_at(counts, 1)),)
        case _:
            return None


def _version_2(parameters: Parameters) -> Merging | None:
    mode = parameters.get("mode", "append")
    if mode == "append":
        return _sum_of_inputs(2)
    if mode == "chooseBranch":
        match parameters.get("output", "input1"):
            case "input1":
                return _one_input(0)
            case "input2":
                return _one_input(1)
            case "empty":
                return _one_item
            case _:
                return None
    if mode != "combine":
        return None
    match parameters.get("combinationMode", "mergeByFields"):
        case "multiplex":
            return _product_of_inputs
        case "mergeByPosition":
            return _by_position_2(parameters)
        case _:
            return None


def _by_position_2(parameters: Parameters) -> Merging | None:
    unpaired = _includes_unpaired(parameters)
    if unpaired is None:
        return None
    choose = max if unpaired else min

    def count_chosen(counts: Counts) -> Counts:
        first, second = _count_at(counts, 0), _count_at(counts, 1)
        # A missing side never empties the result in this version.
        return (first + second if not (first and second) else choose(first, second),)

    return count_chosen


def _version_3(parameters: Parameters) -> Merging | None:
    inputs = inputs_declared(parameters)
    if inputs is None:
        return None
    mode = parameters.get("mode", "append")
    if mode == "combine":
        mode = parameters.get("combineBy", "combineByFields")
    match mode:
        case "append":
            return _sum_of_inputs(inputs)
        case "combineAll":
            return _product_of_inputs
        case "combineByPosition":
            return _by_position_3(inputs, parameters)
        case "chooseBranch":
            return _choose_3(inputs, parameters)
        case _:
            return None


def _by_position_3(inputs: int, parameters: Parameters) -> Merging | None:
    unpaired = _includes_unpaired(parameters)
    if unpaired is None:
        return None
    choose = max if unpaired else min
    clash = mapping(mapping(mapping(parameters.get("options")).get("clashHandling")).get("values"))
    preferred = str(clash.get("resolveClash", "")).removeprefix("preferInput")
    if preferred.isdecimal() and not 1 <= (_whole_number(preferred) or 0) <= inputs:
        return lambda counts: None

    def count_indexed(counts: Counts) -> Counts:
        # An input that is declared but not wired counts as empty.
        return (choose(_count_at(counts, index) for index in range(inputs)),)

    return count_indexed


def _includes_unpaired(parameters: Parameters) -> bool | None:
    value = mapping(parameters.get("options")).get("includeUnpaired", False)
    return None if is_expression(value) else bool(value)


def _choose_3(inputs: int, parameters: Parameters) -> Merging | None:
    output = parameters.get("output", "specifiedInput")
    if output == "empty":
        return _one_item
    if output != "specifiedInput":
        return None
    chosen = _whole_number(parameters.get("useDataOfInput", 1))
    if chosen is None:
        return None
    if chosen > inputs:
        return lambda counts: None
    return lambda counts: (_count_at(counts, chosen - 1) if chosen - 1 < inputs else 0,)


def _count_inputs(version: float | None, parameters: Parameters) -> int | None:
    if version is None:
        return None
    return 2 if version < 3 else count(parameters.get("numberInputs", 2))


def _node_behaviour(use: Use) -> Behaviour | None:
    counts = merge_counts(use.version, use.parameters)
    return Behaviour(kind="merge", count=counts) if counts is not None else None


NODE = NodeType(
    name="merge",
    label="Merge",
    once=True,
    emitted=True,
    versions=((3.2,), (3.2,)),
    inputs=_count_inputs,
    behaviour=_node_behaviour,
    effect=passes_items,
    reliable=True,
    task=None,
)
