"""The rule under which a branch of a deciding gateway is taken."""

from __future__ import annotations

from orgflow.backends.asl import choice
from orgflow.backends.asl.choice import Rule
from orgflow.backends.asl.graph import ProcessGraph, branch_fields

from orgflow_ir.work.gateway_decisions import Branch, Decision


def branch_rule(graph: ProcessGraph, decision: Decision, branch: Branch) -> Rule:
    """The rule of a branch that is not the default."""
    if branch.tree is not None:
        return graph.variables.rule(branch.tree)
    path = f"{_result_path(graph, decision.setter)}.{decision.variable}"
    if decision.several:
        return choice.is_true(f"{path}.{branch_fields(decision)[branch.flow.id]}")
    return choice.is_value(path, branch.value)


def _result_path(graph: ProcessGraph, setter: str) -> str:
    """Where the result of a setter is: a start event's is the input."""
    return graph.path(setter) if setter in graph.places else graph.variables.root
