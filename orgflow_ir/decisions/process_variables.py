"""Decisions linked for processes: names that the file uses but does not define are process
variables.

Engines evaluate the expressions of a table against the variables of the process, declared as input
data or not (Camunda 7 knows no input data at all).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from orgflow_ir.analysis.expressions.feel.reading import free_names, tested_names
from orgflow_ir.analysis.expressions.feel.signatures import SIGNATURES
from orgflow_ir.analysis.expressions.feel.types import ANY
from orgflow_ir.decisions.found import FoundDecision, Unusable
from orgflow_ir.decisions.link import (
    DecisionModel,
    Input,
    Logic,
    Requirement,
    Service,
    Unit,
    link,
)
from orgflow_ir.decisions.model import Decision, Definitions, Table


def linked(
    file: str, definitions: Definitions, imported: Iterable[Definitions], decision: Decision
) -> FoundDecision:
    """A decision of a file with all its requirements. Raises `Unusable`."""
    model = _with_variables(link(definitions, imported))
    key = f"{definitions.namespace}#{decision.id}"
    needed = _required(model, key)
    for unit in needed:
        if isinstance(unit, Logic) and unit.tree is None:
            problem = next((p for p in model.problems if p.element == unit.name), None)
            said = f": {problem.reason}" if problem is not None else ""
            at = f" ({problem.place})" if problem is not None and problem.place else ""
            raise Unusable(f"`{unit.name}` in {file} is not valid{said}{at}")
    unit = model.units[key]
    found = model.named(unit.name)
    if found is None or found.key != key:
        raise Unusable(f"several elements of {file} have the name `{unit.name}`")
    tested = {n for u in needed if isinstance(u, Logic) and u.tree for n in tested_names(u.tree)}
    logic = decision.logic
    table = logic if isinstance(logic, Table) else None
    outputs = tuple(o.name or "" for o in table.outputs) if table is not None else ()
    hits = "value"
    if table is not None and table.aggregation is None:
        many = table.hit_policy in ("COLLECT", "RULE ORDER", "OUTPUT ORDER")
        hits = "several" if many else "one"
    variables = tuple(u.name for u in needed if isinstance(u, Input))
    columns = tuple(c.expression.text.strip() for c in table.inputs) if table is not None else ()
    return FoundDecision(
        file, decision.id, unit.name, model, variables, frozenset(tested), outputs, hits, columns,
        table,
    )  # fmt: skip


def _with_variables(model: DecisionModel) -> DecisionModel:
    """The same definitions, each name that nobody defines being an input of that name."""
    units: dict[str, Unit] = dict(model.units)
    for key, unit in model.units.items():
        if not isinstance(unit, Logic) or unit.tree is None:
            continue
        known = {r.name for r in unit.requires} | ({unit.name} if unit.knowledge else set())
        more = []
        for name in free_names(unit.tree):
            if name not in known and name not in SIGNATURES:
                variable = f"{model.namespace}#?{name}"
                units.setdefault(variable, _declared(model, name) or Input(variable, name, ANY))
                more.append(Requirement(name, units[variable].key))
                units.setdefault(units[variable].key, units[variable])
        units[key] = replace(unit, requires=(*unit.requires, *more))
    return replace(model, units=units)


def _declared(model: DecisionModel, name: str) -> Input | None:
    """Input data of this name, which the decision does not say that it requires."""
    return next((u for u in model.units.values() if isinstance(u, Input) and u.name == name), None)


def _required(model: DecisionModel, key: str) -> list[Unit]:
    """A unit and what it requires, each once, in the order in which it is looked at."""
    found: dict[str, Unit] = {}
    todo = [key]
    while todo:
        one = todo.pop()
        if one in found:
            continue
        unit = model.units[one]
        found[one] = unit
        requires: Iterable[Requirement] = ()
        if isinstance(unit, Logic):
            requires = unit.requires
        elif isinstance(unit, Service):
            requires = (*unit.parameters, *unit.outputs)
        todo += reversed([r.key for r in requires])
    return list(found.values())
