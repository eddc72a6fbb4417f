"""Switch: items leave by the output of the first rule that holds, or of all of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.format.json_values import count, mapping
from orgflow.backends.n8n.node_types.behaviour import Behaviour, Counts
from orgflow.backends.n8n.node_types.conditions import filter_of
from orgflow.backends.n8n.node_types.node_type import (
    MOST_OUTPUTS,
    NodeType,
    Parameters,
    Use,
    passes_items,
)


def by_rules(
    rules: Sequence[tuple[dict[str, Any], str]], *, fallback: str | None, every: bool
) -> dict[str, Any]:
    """Parameters for one output per rule, then the fallback; `every` takes all that hold."""
    options: dict[str, Any] = {}
    if fallback is not None:
        options |= {"fallbackOutput": "extra", "renameFallbackOutput": fallback}
    if every:
        options["allMatchingOutputs"] = True
    return {
        "mode": "rules",
        "rules": {
            "values": [
                {"conditions": filter_of([c]), "renameOutput": True, "outputKey": key}
                for c, key in rules
            ]
        },
        "looseTypeValidation": True,
        "options": options,
    }


def _count_outputs(version: float | None, parameters: Parameters) -> int | None:
    if version is None or version < 3:
        return None
    if parameters.get("mode", "rules") == "expression":
        return count(parameters.get("numberOutputs", 4))
    rules = parameters.get("rules")
    values = rules.get("values") if isinstance(rules, Mapping) else None
    if not isinstance(values, Sequence) or isinstance(values, str):
        return None
    options = parameters.get("options")
    fallback = options.get("fallbackOutput") if isinstance(options, Mapping) else None
    # A number as fallback is one of the rules' outputs, "extra" is one more.
    return len(values) + (1 if fallback == "extra" else 0)


def _node_behaviour(use: Use) -> Behaviour | None:
    parameters = use.parameters
    if use.version < 3:
        return _before_three(use)
    if parameters.get("mode", "rules") == "expression":
        number = parameters.get("numberOutputs", 4)
        given = isinstance(number, int) and 1 <= number <= MOST_OUTPUTS
        outputs = number if given else max(1, use.wired)
        return Behaviour(kind="choice", outputs=outputs, choices=_item_routes(outputs, every=True))
    listed = mapping(parameters.get("rules")).get("values")
    rules = listed if isinstance(listed, list | tuple) else ()
    options = mapping(parameters.get("options"))
    fallback = options.get("fallbackOutput")
    extra = fallback == "extra"
    every = fallback is not None and fallback != "none"
    if not rules:
        return Behaviour(kind="choice", outputs=1, choices=lambda items, _: iter(((0,),)))
    outputs = len(rules) + extra
    if not options.get("allMatchingOutputs"):
        return Behaviour(kind="choice", outputs=outputs, choices=_item_routes(outputs, every))
    return Behaviour(
        kind="choice", outputs=outputs, choices=_all_matching(len(rules), extra, every)
    )


def _before_three(use: Use) -> Behaviour:
    """Versions 1 and 2: the first rule that holds, and a fallback to one of the outputs or none."""
    parameters = use.parameters
    number: Any = 4
    if use.version >= 2 and parameters.get("mode", "rules") == "expression":
        number = parameters.get("outputsAmount", 4)
    elif use.version >= 2:
        listed = mapping(parameters.get("rules")).get("rules")
        number = len(listed) if isinstance(listed, list | tuple) else 0
    given = isinstance(number, int) and 1 <= number <= MOST_OUTPUTS
    outputs = number if given else max(1, use.wired)
    every = parameters.get("mode") == "expression" or parameters.get("fallbackOutput", -1) != -1
    return Behaviour(kind="choice", outputs=outputs, choices=_item_routes(outputs, every))


def _item_routes(outputs: int, every: bool) -> Callable[[int, int], Iterator[Counts]]:
    """Each item leaves by one output, or by none unless `every`."""

    places = outputs if every else outputs + 1  # the last one is where items are dropped

    def list_choices(items: int, _: int) -> Iterator[Counts]:
        for taken in itertools.combinations_with_replacement(range(places), items):
            counts = [0] * places
            for place in taken:
                counts[place] += 1
            yield tuple(counts[:outputs])

    return list_choices


def _all_matching(rules: int, extra: bool, every: bool) -> Callable[[int, int], Iterator[Counts]]:
    """Each item leaves by any set of outputs; by output `extra` only if it leaves by no other."""

    def list_choices(items: int, _: int) -> Iterator[Counts]:
        for dropped in range(items + 1) if extra else (0,):
            left = items - dropped
            for counts in itertools.product(range(left, -1, -1), repeat=rules):
                if not every or sum(counts) >= left:
                    yield (*counts, dropped) if extra else counts

    return list_choices


NODE = NodeType(
    name="switch",
    label="Switch",
    once=True,
    emitted=True,
    versions=((3.2, 3.3, 3.4), (3.2, 3.3, 3.4)),
    outputs=_count_outputs,
    behaviour=_node_behaviour,
    effect=passes_items,
    reliable=True,
    task=None,
)
