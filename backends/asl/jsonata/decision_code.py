"""Decision tables as JSONata: the condition and the result of each rule, then the hit policy.

A table has a form if its columns are values, its cells compare them with constants, and its results
are constants: FEEL computes with decimal numbers, JSONata with binary ones, of which the shortest
decimal notations are in the same order. Every other decision has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

from orgflow.backends.asl.jsonata.expression_code import Variables, print_condition, print_constant

from orgflow_ir.decisions.link import DecisionModel, Input, Logic
from orgflow_ir.program import readings, structures
from orgflow_ir.program.feel.types import ANY, SimpleType, Type
from orgflow_ir.program.feel.values import INPUT
from orgflow_ir.program.feel_operators import BETWEEN, FEEL
from orgflow_ir.program.syntax import (
    Call,
    Comparison,
    ConditionError,
    Constant,
    Logical,
    Negative,
    Path,
    Scalar,
    Tree,
    Variable,
)
from orgflow_ir.work.statements import Decide

_DIGITS: Final = 15
"""Decimal digits that a binary number of 64 bits keeps."""

_TYPES: Final[dict[str, type]] = {"number": Decimal, "string": str, "boolean": bool}
"""The types of constants by the names of the types of FEEL."""

_CONVERTED: Final = frozenset({"string", "boolean", "integer", "long", "double"})
"""Types to which a column of Camunda 7 converts, and JSONata does."""


def print_decision(decide: Decide, variable: Callable[[str], str]) -> str:
    """JSONata for the value of a decision of a process, converted as its task states.

    Args:
        decide: the decision, and the conversion of its value.
        variable: the code that reads a process variable.

    Raises `ConditionError` for a decision without an exact form.
    """
    decision = decide.decision
    code = _print_table(decision.model, decision.name, variable)
    if decide.mapping == "value" or decide.spread:
        return code
    name = print_constant(decision.outputs[0] or decision.name)
    if decide.mapping == "singleEntry" and decision.hits != "several":
        return code
    hits = f"$hitsOf({code}, {'true' if decision.hits == 'several' else 'false'})"
    is_single = len(decision.outputs) == 1
    rows = f"$namedHits({hits}, {name})" if is_single else hits
    by_mapping = {
        "singleEntry": f"$onlyHit({hits})",
        "singleResult": f"$onlyHit({rows})",
        "collectEntries": hits,
        "resultList": rows,
        "variables": rows,
    }
    return by_mapping[decide.mapping]


def _print_table(model: DecisionModel, name: str, variable: Callable[[str], str]) -> str:
    """The value of a decision that is a table of inputs."""
    unit = model.named(name)
    if not isinstance(unit, Logic) or unit.knowledge:
        raise ConditionError("JSONata evaluates decision tables only")
    wanted = unit.tree.type if isinstance(unit.tree, structures.Coerced) else None
    table = unit.tree.value if isinstance(unit.tree, structures.Coerced) else unit.tree
    if not isinstance(table, structures.DecisionTable):
        raise ConditionError("JSONata evaluates decision tables only")
    inputs = {}
    for requirement in unit.requires:
        needed = model.units[requirement.key]
        if not isinstance(needed, Input):
            raise ConditionError("JSONata evaluates decisions without required decisions only")
        inputs[requirement.name] = _print_input(needed, variable)
    return _TableCode(table, wanted, inputs).print_value()


def _print_input(needed: Input, variable: Callable[[str], str]) -> str:
    """The value of an input, null if it has another type than it should."""
    code = variable(needed.name)
    kind = needed.type.name if isinstance(needed.type, SimpleType) else ""
    if kind in _TYPES:
        return f"$typed({code}, {print_constant(kind)})"
    if kind != "Any":
        raise ConditionError(f"JSONata has no exact input of the type of `{needed.name}`")
    return code


class _TableCode:
    """The code of one table.

    Args:
        table: the table.
        wanted: the type of its value, if it has one.
        inputs: the code of the values that it reads, by name.
    """

    def __init__(
        self, table: structures.DecisionTable, wanted: Type | None, inputs: dict[str, str]
    ) -> None:
        self.table = table
        self.wanted = wanted
        self.inputs = inputs

    def print_value(self) -> str:
        """The whole: inputs, columns, rules, hit policy."""
        table = self.table
        if not table.rules:
            raise ConditionError("the decision table has no rules")
        parts = [f"$given := {self._print_given()}"]
        for at, column in enumerate(table.inputs):
            parts.append(f"$c{at} := {self._print_column(column)}")
        rules = ", ".join(map(self._print_rule, table.rules))
        parts.append(f"$hits := $matching([{rules}])")
        value = self._print_chosen()
        allowed = [
            self._print_test(column.allowed, at)
            for at, column in enumerate(table.inputs)
            if column.allowed is not None
        ]
        if allowed:
            value = f"({' and '.join(allowed)} ? {value} : null)"
        return f"({'; '.join((*parts, value))})"

    def _print_given(self) -> str:
        pairs = (f"{print_constant(name)}: {code}" for name, code in self.inputs.items())
        return f"{{{', '.join(pairs)}}}"

    def _print_column(self, column: structures.TableInput) -> str:
        """The value of a column."""
        tree = to_operations(column.expression)
        if not isinstance(tree, Variable):
            raise ConditionError("JSONata has decision tables whose columns are variables only")
        root, *keys = tree.path
        code = f"$lookup($given, {print_constant(root)})"
        for key in keys:
            code = f"$feelPart({code}, {print_constant(key)})"
        if column.type != ANY:
            raise ConditionError("JSONata has no dates, times and durations of FEEL")
        if not column.converts:
            return code
        if column.converts not in _CONVERTED:
            raise ConditionError(f"JSONata does not convert to `{column.converts}` as Java does")
        return f"$converted({code}, {print_constant(column.converts)})"

    def _print_rule(self, rule: structures.TableRule) -> str:
        tests = [
            self._print_test(cell, at) for at, cell in enumerate(rule.tests) if cell.tests
        ] or ["true"]
        result = self._print_result(rule.entries)
        return f'{{"holds": {" and ".join(tests)}, "result": {result}}}'

    def _print_test(self, cell: structures.UnaryTests, at: int) -> str:
        """Whether the value of a column passes a cell."""
        if not cell.tests:
            return "true"
        value = Variable((INPUT,))
        trees = [_to_test(test, value) for test in cell.tests]
        joined = trees[0]
        for other in trees[1:]:
            joined = FEEL.logic["or"](joined, other)
        tree = FEEL.negation(joined) if cell.negated else joined
        return print_condition(tree, Variables(lambda path: f"$c{at}", _refuse_existence))

    def _print_result(self, entries: Sequence[Tree]) -> str:
        """The outputs of a rule: a value, or an object by the names of the columns."""
        columns = self.table.outputs
        if self.wanted is not None and len(columns) != 1:
            raise ConditionError("JSONata does not convert the value of a decision")
        values = []
        for column, entry in zip(columns, entries, strict=True):
            constant = _read_constant(entry)
            for expected in (column.type, self.wanted):
                if expected is not None:
                    _check_type(constant, expected)
            values.append(print_constant(_to_double(constant)))
        if len(columns) == 1:
            return values[0]
        names = [column.name for column in columns]
        if len(set(names)) < len(names):
            raise ConditionError("two outputs of the decision have one name")
        pairs = zip(map(print_constant, names), values, strict=True)
        return f"{{{', '.join(f'{name}: {value}' for name, value in pairs)}}}"

    def _print_chosen(self) -> str:
        """The value of the table, from the results of the rules that match."""
        table = self.table
        strict = "true" if table.engine is not None else "false"
        otherwise = self._print_default()
        match table.hit_policy:
            case "FIRST":
                return f"($count($hits) = 0 ? {otherwise} : $hits[0])"
            case "UNIQUE":
                return f"$uniqueHit($hits, {otherwise}, {strict})"
            case "ANY":
                return f"$agreedHit($hits, {otherwise}, {strict})"
            case "COLLECT" | "RULE ORDER" if self.wanted in (None, SimpleType("Any")):
                return self._print_collected(otherwise)
            case policy:
                raise ConditionError(f"JSONata has no exact hit policy {policy} of this table")

    def _print_default(self) -> str:
        """The value if no rule matches."""
        table = self.table
        defaults = [column.default for column in table.outputs]
        if all(default is None for default in defaults):
            return "null"
        if table.aggregation is not None or (table.engine == "camunda8" and None in defaults):
            raise ConditionError("JSONata has no exact default output of this table")
        result = self._print_result([default or Constant(None) for default in defaults])
        as_list = table.hit_policy in ("COLLECT", "RULE ORDER") and table.engine != "camunda8"
        return f"[{result}]" if as_list else result

    def _print_collected(self, otherwise: str) -> str:
        """The results of all rules that match, or one number of them."""
        table = self.table
        if table.aggregation is None:
            return f"($count($hits) = 0 ? {otherwise} : $hits)"
        if table.engine == "flowable" and table.aggregation in ("COUNT", "SUM"):
            self._check_distinct()
        if table.aggregation == "COUNT":
            zero = "0" if table.engine in (None, "camunda7") else "null"
            return f"($count($hits) = 0 ? {zero} : $count($hits))"
        numbers = [_read_constant(rule.entries[0]) for rule in table.rules]
        exact = [n for n in numbers if isinstance(n, Decimal)]
        if len(table.outputs) != 1 or len(exact) < len(numbers):
            raise ConditionError("JSONata aggregates numbers only")
        if table.aggregation == "SUM":
            fractions = any(n != n.to_integral_value() for n in exact)
            if fractions or sum(map(abs, exact)) > 10**_DIGITS:
                raise ConditionError("JSONata has no decimal numbers")
        function = {"SUM": "$sum", "MIN": "$min", "MAX": "$max"}[table.aggregation]
        return f"($count($hits) = 0 ? null : {function}($hits))"

    def _check_distinct(self) -> None:
        """Flowable aggregates equal outputs as one."""
        entries = [_read_constant(entry) for rule in self.table.rules for entry in rule.entries]
        if len({(type(entry), entry) for entry in entries}) < len(entries):
            raise ConditionError("Flowable aggregates equal outputs as one")


def _refuse_existence(path: Path) -> str:
    raise ConditionError("JSONata does not tell whether a value of a table exists")


# Trees of FEEL as operations.


def to_operations(tree: Tree) -> Tree:
    """An expression over exact values as one over values of JSON: constants, variables, comparisons
    and logic. Raises `ConditionError` for anything else."""
    match tree:
        case Constant() | Negative():
            return Constant(_to_double(_read_constant(tree)))
        case Variable():
            return tree
        case structures.Path(base, name):
            inner = to_operations(base)
            if isinstance(inner, Variable):
                return Variable((*inner.path, name), reading=readings.FEEL_PATH)
        case Comparison() | Logical():
            return tree.operation(*map(to_operations, tree.operands))
        case Call(operation, (value, low, high)) if operation is BETWEEN:
            inner = to_operations(value)
            return FEEL.logic["and"](
                FEEL.comparison[">="](inner, to_operations(low)),
                FEEL.comparison["<="](inner, to_operations(high)),
            )
        case structures.FunctionCall(Variable(("not",)), (argument,)):
            return FEEL.negation(to_operations(argument))
        case _:
            pass
    raise ConditionError("JSONata does not have this expression of FEEL")


def _to_test(test: structures.UnaryTest, value: Variable) -> Tree:
    """A unary test of a value in operations."""
    operand = test.operand
    if test.operator is not None:
        return test.operator(value, to_operations(operand))
    if isinstance(operand, structures.RangeLiteral):
        ends = (
            (operand.low, FEEL.comparison[">=" if operand.low_included else ">"]),
            (operand.high, FEEL.comparison["<=" if operand.high_included else "<"]),
        )
        tests = [row(value, to_operations(end)) for end, row in ends if end is not None]
        if not tests:
            raise ConditionError("a range has no end")
        return tests[0] if len(tests) == 1 else FEEL.logic["and"](tests[0], tests[1])
    if structures.reads_input(operand):
        return to_operations(operand)
    return FEEL.comparison["=="](value, Constant(_to_double(_read_constant(operand))))


def _read_constant(tree: Tree) -> Decimal | str | bool | None:
    """The value of a constant. Raises `ConditionError` for another expression."""
    operand = tree.operand if isinstance(tree, Negative) else tree
    if not isinstance(operand, Constant):
        raise ConditionError("JSONata has decision tables of constants only")
    value = operand.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ConditionError("a number of FEEL is not exact")
    if operand is tree:
        return value
    if not isinstance(value, Decimal):
        raise ConditionError("JSONata has decision tables of constants only")
    return -value


def _to_double(value: Decimal | str | bool | None) -> Scalar:
    """The same constant, a number as a binary one. Raises `ConditionError` for a number with more
    digits than it keeps."""
    if not isinstance(value, Decimal):
        return value
    if len(value.normalize().as_tuple().digits) > _DIGITS:
        raise ConditionError("JSONata has numbers of 15 digits")
    return int(value) if value == value.to_integral_value() else float(value)


def _check_type(value: Decimal | str | bool | None, wanted: Type) -> None:
    """Raises `ConditionError` for a constant that is not of a type, which is null in DMN."""
    name = wanted.name if isinstance(wanted, SimpleType) else ""
    if name == "Any" or value is None:
        return
    if name not in _TYPES or not isinstance(value, _TYPES[name]):
        raise ConditionError("an output is not of the type of its column")
