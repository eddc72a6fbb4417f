"""Outputs and inputs of one node in two versions: the numbers of the same branch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

from orgflow.backends.n8n.format.node_decisions import Decision, decision_of
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.merge.json_merge import is_equivalent
from orgflow.backends.n8n.node_types.ports import regular_outputs

Json = Mapping[str, Any]
Ends = Mapping[int, Collection[Hashable]]
"""The targets or sources of a node's ports, by number."""


def step_of(raw: Json) -> Node:
    """A node in isolation, as if it were enabled."""
    alone = {k: v for k, v in raw.items() if k != "disabled"}
    return WorkflowDocument({"nodes": [alone]}).nodes[0]


def map_outputs(old: Json, new: Json, before: Ends, now: Ends) -> dict[int, int]:
    """The output of `new` for each output of `old` whose branch it still has: by condition, by
    name, by target, by number.

    Args: old, new: the two versions of the node, references under the same names. before, now: the
        targets of the outputs of each.
    """
    mine, its = step_of(old), step_of(new)
    ports = sorted({*before, *range(regular_outputs(mine.raw) or 1)})
    first, other = decision_of(mine, mine.parameters), decision_of(its, its.parameters)
    if is_equivalent(old.get("parameters"), new.get("parameters")) or (
        first is None and other is None
    ):
        return {port: port for port in ports}
    mapping: dict[int, int] = {}
    if first is not None and other is not None:
        _by_conditions(first, other, mapping)
    _by_ends(before, now, mapping)
    free = [n for n in range(regular_outputs(its.raw) or 1) if n not in mapping.values()]
    left = [port for port in ports if port not in mapping]
    if len(left) == len(free) == 1:
        mapping[left[0]] = free[0]
    elif len(ports) == (regular_outputs(its.raw) or 1):
        mapping.update({port: port for port in left if port in free})
    return mapping


def _by_conditions(first: Decision, other: Decision, mapping: dict[int, int]) -> None:
    its = {(rule.atom, rule.holds): rule.output for rule in other.rules}
    for rule in first.rules:
        if (rule.atom, rule.holds) in its:
            mapping.setdefault(rule.output, its[(rule.atom, rule.holds)])
    single = len(first.rules) == len(other.rules) == 1
    if single and not mapping and first.otherwise is not None and other.otherwise is not None:
        mine, now = first.rules[0], other.rules[0]
        if mine.atom == now.atom:  # the condition was negated
            mapping.update({mine.output: other.otherwise, first.otherwise: now.output})
    labels = {r.label.casefold(): r.output for r in other.rules if r.label}
    for rule in first.rules:
        to = labels.get(rule.label.casefold()) if rule.label else None
        if rule.output not in mapping and to is not None and to not in mapping.values():
            mapping[rule.output] = to
    mine_else, its_else = first.otherwise, other.otherwise
    if mine_else is not None and its_else is not None and its_else not in mapping.values():
        mapping.setdefault(mine_else, its_else)


def _by_ends(before: Ends, now: Ends, mapping: dict[int, int]) -> None:
    """Ports that alone lead to the same."""
    mine, its = _unique_ends(before, mapping), _unique_ends(now, set(mapping.values()))
    for ends, ports in mine.items():
        if len(ports) == len(its.get(ends, ())) == 1:
            mapping[ports[0]] = its[ends][0]


def _unique_ends(ends: Ends, done: Iterable[int]) -> dict[frozenset[Hashable], list[int]]:
    numbers: dict[frozenset[Hashable], list[int]] = defaultdict(list)
    taken = set(done)
    for port, others in ends.items():
        if port not in taken and others:
            numbers[frozenset(others)].append(port)
    return numbers


def map_inputs(before: Ends, now: Ends) -> dict[int, int]:
    """The input of the new version for each input of the old one, by source: an equal one,
    otherwise an overlapping one, otherwise the same number if it is free."""
    mapping: dict[int, int] = {}
    _by_ends(before, now, mapping)
    for port, sources in before.items():
        if port in mapping:
            continue
        shared = [n for n, others in now.items() if set(others) & set(sources)]
        free = [n for n in shared if n not in mapping.values()]
        if len(free) == 1:
            mapping[port] = free[0]
    for port in before:
        if port not in mapping and port not in mapping.values():
            mapping[port] = port
    return mapping
