"""Outputs and inputs of one node in two versions: the numbers of the same branch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

from orgflow.backends.n8n.format.node_decisions import Decision, decision_of
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.merge.json_merge import same

Json = Mapping[str, Any]
Ends = Mapping[int, Collection[Hashable]]
"""The targets or sources of a node's ports, by number."""


def step_of(raw: Json) -> Node:
    """A node in isolation, as if it were enabled."""
    alone = {k: v for k, v in raw.items() if k != "disabled"}
    return WorkflowDocument({"nodes": [alone]}).nodes[0]


def outputs(old: Json, new: Json, before: Ends, now: Ends) -> dict[int, int]:
    """The output of `new` for each output of `old` whose branch it still has: by condition, by
    name, by target, by number.

    Args: old, new: the two versions of the node, references under the same names. before, now: the
        targets of the outputs of each.
    """
    mine, its = step_of(old), step_of(new)
    ports = sorted({*before, *range(mine.regular_outputs or 1)})
    one, other = decision_of(mine, mine.parameters), decision_of(its, its.parameters)
    if same(old.get("parameters"), new.get("parameters")) or (one is None and other is None):
        return {port: port for port in ports}
    found: dict[int, int] = {}
    if one is not None and other is not None:
        _by_conditions(one, other, found)
    _by_ends(before, now, found)
    free = [n for n in range(its.regular_outputs or 1) if n not in found.values()]
    left = [port for port in ports if port not in found]
    if len(left) == len(free) == 1:
        found[left[0]] = free[0]
    elif len(ports) == (its.regular_outputs or 1):
        found.update({port: port for port in left if port in free})
    return found


def _by_conditions(one: Decision, other: Decision, found: dict[int, int]) -> None:
    its = {(rule.atom, rule.holds): rule.output for rule in other.rules}
    for rule in one.rules:
        if (rule.atom, rule.holds) in its:
            found.setdefault(rule.output, its[(rule.atom, rule.holds)])
    single = len(one.rules) == len(other.rules) == 1
    if single and not found and one.otherwise is not None and other.otherwise is not None:
        mine, now = one.rules[0], other.rules[0]
        if mine.atom == now.atom:  # the condition was negated
            found.update({mine.output: other.otherwise, one.otherwise: now.output})
    labels = {r.label.casefold(): r.output for r in other.rules if r.label}
    for rule in one.rules:
        to = labels.get(rule.label.casefold()) if rule.label else None
        if rule.output not in found and to is not None and to not in found.values():
            found[rule.output] = to
    mine_else, its_else = one.otherwise, other.otherwise
    if mine_else is not None and its_else is not None and its_else not in found.values():
        found.setdefault(mine_else, its_else)


def _by_ends(before: Ends, now: Ends, found: dict[int, int]) -> None:
    """Ports that alone lead to the same."""
    mine, its = _alone(before, found), _alone(now, set(found.values()))
    for ends, ports in mine.items():
        if len(ports) == len(its.get(ends, ())) == 1:
            found[ports[0]] = its[ends][0]


def _alone(ends: Ends, done: Iterable[int]) -> dict[frozenset[Hashable], list[int]]:
    found: dict[frozenset[Hashable], list[int]] = defaultdict(list)
    taken = set(done)
    for port, others in ends.items():
        if port not in taken and others:
            found[frozenset(others)].append(port)
    return found


def inputs(before: Ends, now: Ends) -> dict[int, int]:
    """The input of the new version for each input of the old one, by source: an equal one,
    otherwise an overlapping one, otherwise the same number if it is free."""
    found: dict[int, int] = {}
    _by_ends(before, now, found)
    for port, sources in before.items():
        if port in found:
            continue
        shared = [n for n, others in now.items() if set(others) & set(sources)]
        free = [n for n in shared if n not in found.values()]
        if len(free) == 1:
            found[port] = free[0]
    for port in before:
        if port not in found and port not in found.values():
            found[port] = port
    return found
