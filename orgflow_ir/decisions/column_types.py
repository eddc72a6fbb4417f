"""The types that columns of decision tables state for what they read.

A process has its dates, times and durations as texts. A column states in the type of its input
expression that it reads one of these (DMN 1.5, 8.3.3), as input data does in the type of its
variable, so that a text becomes such a value before the cells of the column test it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from orgflow_ir.decisions.link import Input, Logic, Unit
from orgflow_ir.program.exact_names import list_free_names
from orgflow_ir.program.feel.types import ANY, Type
from orgflow_ir.program.structures import Coerced, DecisionTable, TableInput
from orgflow_ir.program.syntax import Tree, Variable


def type_inputs_by_columns(units: Mapping[str, Unit]) -> dict[str, Unit]:
    """The units, where inputs without a type have that of the columns which read them, if all
    readers agree. Columns whose input has their type do not convert it again."""
    stated: dict[str, set[Type]] = {}
    others: set[str] = set()
    for unit, table in _list_tables(units):
        keys = {requirement.name: requirement.key for requirement in unit.requires}
        alone = [column for column in table.inputs if _is_typed_name(column, keys)]
        for column in alone:
            assert isinstance(column.expression, Variable)
            stated.setdefault(keys[column.expression.name], set()).add(column.type)
        rest = tuple(column for column in table.inputs if column not in alone)
        tree = _replace_inputs(table, rest)
        others.update(keys[name] for name in list_free_names(tree) if name in keys)
    for other in units.values():
        if isinstance(other, Logic) and other.tree is not None and _find_table(other.tree) is None:
            others.update(requirement.key for requirement in other.requires)
    types = {
        key: next(iter(of))
        for key, of in stated.items()
        if len(of) == 1 and key not in others and _is_untyped(units[key])
    }
    if not types:
        return dict(units)
    return {key: _state_types(unit, types) for key, unit in units.items()}


def _is_untyped(unit: Unit) -> bool:
    return isinstance(unit, Input) and unit.type == ANY


def _is_typed_name(column: TableInput, keys: Mapping[str, str]) -> bool:
    """Whether a column reads a single name, and states its type."""
    named = column.expression
    return column.type != ANY and isinstance(named, Variable) and named.name in keys


def _find_table(tree: Tree) -> DecisionTable | None:
    """The decision table that a tree is."""
    table = tree.value if isinstance(tree, Coerced) else tree
    return table if isinstance(table, DecisionTable) else None


def _list_tables(units: Mapping[str, Unit]) -> Iterator[tuple[Logic, DecisionTable]]:
    for unit in units.values():
        if isinstance(unit, Logic) and unit.tree is not None:
            table = _find_table(unit.tree)
            if table is not None:
                yield unit, table


def _state_types(unit: Unit, types: Mapping[str, Type]) -> Unit:
    """A unit with the types of inputs: an input itself, or the table of a decision without the
    conversions of columns that read these inputs."""
    if isinstance(unit, Input):
        return replace(unit, type=types[unit.key]) if unit.key in types else unit
    table = _find_table(unit.tree) if isinstance(unit, Logic) and unit.tree is not None else None
    if table is None:
        return unit
    assert isinstance(unit, Logic)
    typed = {r.name for r in unit.requires if r.key in types}
    columns = tuple(
        TableInput(column.expression, column.allowed, column.converts, ANY, column.span)
        if isinstance(column.expression, Variable) and column.expression.name in typed
        else column
        for column in table.inputs
    )
    changed: Tree = _replace_inputs(table, columns)
    if isinstance(unit.tree, Coerced):
        changed = Coerced(changed, unit.tree.type, unit.tree.span)
    return replace(unit, tree=changed)


def _replace_inputs(table: DecisionTable, inputs: tuple[TableInput, ...]) -> DecisionTable:
    return DecisionTable(
        inputs, table.outputs, table.rules, table.hit_policy, table.aggregation, table.engine,
        table.span,
    )  # fmt: skip
