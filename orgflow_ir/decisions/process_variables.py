"""Decisions linked for processes: names that the file uses but does not define are process
variables.

Engines evaluate the expressions of a table against the variables of the process, declared as input
data or not (Camunda 7 knows no input data at all). The value of a required decision has

- in DMN the name of the decision, which is also that of its variable (DMN 1.5, 7.3.1),
- in Camunda 7 and Flowable the names of its outputs, or for a literal expression that of its
  variable, in every decision evaluated later: Camunda 7 puts the results among the variables
  (`DefaultDmnDecisionContext`),
- in Camunda 8 the name of its variable, otherwise its id, in the decision that requires it
  (docs.camunda.io, "Decision requirements graph").

A file of no known engine may use any of these names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from orgflow_ir.decisions.column_types import type_inputs_by_columns
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
from orgflow_ir.decisions.model import Decision, Definitions, Engine, InputData, Table
from orgflow_ir.languages.feel.parser import normal_name
from orgflow_ir.program.exact_names import find_tested_names, list_free_names
from orgflow_ir.program.feel.signatures import SIGNATURES
from orgflow_ir.program.feel.types import ANY
from orgflow_ir.program.structures import Path
from orgflow_ir.program.syntax import Variable


def link_process_decision(
    file: str, definitions: Definitions, imported: Iterable[Definitions], decision: Decision
) -> FoundDecision:
    """A decision of a file with all its requirements. Raises `Unusable`."""
    files = (definitions, *imported)
    linked_model = link(definitions, files[1:])
    key = f"{definitions.namespace}#{decision.id}"
    for unit in _list_required(linked_model, key):
        if isinstance(unit, Logic) and unit.tree is None:
            problem = next((p for p in linked_model.problems if p.element == unit.key), None)
            reason = f": {problem.reason}" if problem is not None else ""
            at = f" ({problem.place})" if problem is not None and problem.place else ""
            raise Unusable(f"`{unit.name}` in {file} is not valid{reason}{at}")
    model = _Names(linked_model, files).resolved()
    needed = _list_required(model, key)
    unit = model.units[key]
    namesake = model.named(unit.name)
    if namesake is None or namesake.key != key:
        raise Unusable(f"several elements of {file} have the name `{unit.name}`")
    tested = {
        n for u in needed if isinstance(u, Logic) and u.tree for n in find_tested_names(u.tree)
    }
    logic = decision.logic
    table = logic if isinstance(logic, Table) else None
    outputs: tuple[str, ...] = (decision.variable or decision.name,)
    if table is not None:
        outputs = tuple(o.name or "" for o in table.outputs)
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


class _Names:
    """Resolves the names in decisions of a process."""

    def __init__(self, model: DecisionModel, files: Iterable[Definitions]) -> None:
        self.model = model
        self.units: dict[str, Unit] = dict(model.units)
        self.elements: dict[str, Decision | InputData] = {}
        self.engines: dict[str, Engine | None] = {}
        for file in files:
            for key, element in file.values():
                self.elements[key] = element
                self.engines[key] = file.engine

    def resolved(self) -> DecisionModel:
        """The same definitions, where each decision requires what it reads: values of other
        decisions, input data, and variables of the process."""
        for key, unit in self.model.units.items():
            if isinstance(unit, Logic) and unit.tree is not None:
                self.units[key] = replace(unit, requires=tuple(self.read_by(unit)))
        return replace(self.model, units=type_inputs_by_columns(self.units))

    def read_by(self, unit: Logic) -> Iterator[Requirement]:
        assert unit.tree is not None
        stated = {r.name: r for r in unit.requires}
        for name in list_free_names(unit.tree):
            own = stated.get(name)
            if own is not None and own.key not in self.elements:
                yield own  # business knowledge, or a service
            elif name in SIGNATURES or (unit.knowledge and name == unit.name):
                continue
            else:
                yield Requirement(name, self.value_of(name, unit, own) or self.variable(name, unit))

    def value_of(self, name: str, unit: Logic, stated: Requirement | None) -> str | None:
        """The key of the required decision, its output, or the input data that has this name."""
        engine = self.engines.get(unit.key)
        direct = [r.key for r in unit.requires if isinstance(self.elements.get(r.key), Decision)]
        if engine is None and stated is not None:
            return stated.key
        if engine in (None, "camunda8"):
            for key in direct:
                element = self.elements[key]
                names = [element.variable or element.id]
                if engine is None:
                    names.append(element.id)
                if name in map(normal_name, names):
                    return key
        if engine != "camunda8":
            for key in direct if engine is None else self.before(unit):
                output = self.output(key, name)
                if output is not None:
                    return output
        if stated is not None and " " in name and stated.key in direct:
            return stated.key  # no variable of a process has such a name
        return None

    def before(self, unit: Logic) -> list[str]:
        """Decisions that are evaluated before a decision, the last one first: its result replaces
        an earlier one of the same name. Engines evaluate requirements in their order, each after
        its own ones."""
        evaluated: list[str] = []
        opened: set[str] = set()
        todo = [(unit.key, False)]
        while todo:
            key, is_done = todo.pop()
            needed = self.model.units[key]
            if is_done:
                evaluated.append(key)
            elif key not in opened and isinstance(needed, Logic) and not needed.knowledge:
                opened.add(key)
                todo.append((key, True))
                todo += [(requirement.key, False) for requirement in reversed(needed.requires)]
        return evaluated[-2::-1]

    def output(self, key: str, name: str) -> str | None:
        """The key of the output of a decision that has this name."""
        element, unit = self.elements[key], self.model.units[key]
        if not isinstance(element, Decision) or not isinstance(unit, Logic):
            return None
        table = element.logic
        if not isinstance(table, Table):
            return key if element.variable and normal_name(element.variable) == name else None
        names = [normal_name(output.name or "") for output in table.outputs]
        if name not in names:
            return None
        if len(names) == 1:
            return key
        part = f"?{key}.{name}"
        requires = (Requirement(unit.name, key),)
        tree = Path(Variable((unit.name,)), name)
        self.units[part] = Logic(part, f"{unit.name}.{name}", tree, requires)
        return part

    def variable(self, name: str, unit: Logic) -> str:
        """The key of a variable of the process; input data of this name state its type."""
        if self.engines.get(unit.key) is None:
            for key, element in self.elements.items():
                known = self.model.units[key]
                if isinstance(known, Input) and name in (
                    known.name,
                    normal_name(element.variable or ""),
                ):
                    if known.name == name:
                        return key
                    self.units[f"{key}?{name}"] = Input(f"{key}?{name}", name, known.type)
                    return f"{key}?{name}"
        key = f"{self.model.namespace}#?{name}"
        self.units[key] = Input(key, name, ANY)
        return key


def _list_required(model: DecisionModel, key: str) -> list[Unit]:
    """A unit and what it requires, each once, in the order in which it is looked at."""
    units: dict[str, Unit] = {}
    todo = [key]
    while todo:
        unit_key = todo.pop()
        if unit_key in units:
            continue
        unit = model.units[unit_key]
        units[unit_key] = unit
        requires: Iterable[Requirement] = ()
        if isinstance(unit, Logic):
            requires = unit.requires
        elif isinstance(unit, Service):
            requires = (*unit.parameters, *unit.outputs)
        todo += reversed([r.key for r in requires])
    return list(units.values())
