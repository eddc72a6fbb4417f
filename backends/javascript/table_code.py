"""Decision tables as JavaScript that a person can read: one line for each rule.

A table whose columns are values and whose cells compare them with constants needs no runtime of
FEEL: JavaScript decides it the same way if the types are compared first. Such a table becomes

    const rules = [
      [category === "travel" && amount <= 500, "nobody"],
      [true, "manager"],
    ];

Columns and results that are computed, cells with dates, and decisions that are an expression become
plain JavaScript if they have such a form (`feel_code`): a column becomes a constant, and each rule
has its result as a function, which is called if the rule is chosen. Every other decision is
compiled with the runtime (`decision_code`). Rules of the translation:

- A test of FEEL holds, does not hold, or is null if the types differ; a rule matches if all tests
  hold. `===` compares types as well. A column that is compared by order is a number or `NaN`, which
  no comparison matches.
- `not(…)` is the exception: it holds if all tests are false, and not if one is null. A value
  that is missing differs from every constant, a value of another type does not.
- FEEL computes with decimals, and JavaScript with binary numbers. The shortest decimal notations
  of two binary numbers are ordered as the numbers are, so constants of at most 15 digits compare
  alike. Nothing is computed here but sums of integers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from orgflow.backends.javascript.code_values import TEMPORAL, Kind, Scope, Untranslated, Value
from orgflow.backends.javascript.exact_code import ROWS
from orgflow.backends.javascript.feel_code import (
    HELPER_NAMES,
    Direct,
    is_truth,
    list_helpers,
)
from orgflow.backends.javascript.identifiers import NO_IDENTIFIERS
from orgflow.backends.javascript.literals import js_string, property_name, property_of
from orgflow.backends.javascript.operation_functions import read_functions

from orgflow_ir.decisions.link import DecisionModel, Input, Logic
from orgflow_ir.program.feel.types import ANY, SimpleType, Type
from orgflow_ir.program.feel.values import INPUT
from orgflow_ir.program.feel_operators import EXACT_LIST
from orgflow_ir.program.structures import (
    Coerced,
    DecisionTable,
    HitPolicy,
    In,
    Path,
    RangeLiteral,
    TableInput,
    TableOutput,
    TableRule,
    UnaryTest,
    UnaryTests,
    parts,
)
from orgflow_ir.program.syntax import Constant, Negative, Tree, Variable, is_operation

Plain = Decimal | str | bool | None
"""A constant of a cell."""

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_KINDS: Final = {"number": Decimal, "string": str, "boolean": bool}
_INVERSE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_LISTS: Final = frozenset({"COLLECT", "RULE ORDER"})
_OF_OBJECTS: Final = frozenset({"__proto__"})
"""Names that set no property in a literal."""

_DIGITS: Final = 15
"""Decimal digits that a binary number of 64 bits keeps."""

_HELPERS: Final = read_functions("tables")
"""Functions that tables use; each is emitted where it is used, after the rules."""

_RESERVED: Final = NO_IDENTIFIERS | _HELPERS.keys() | {"given"}

_USES: Final = {"differs": ("absent",), "converted": ("absent",), "localMoment": ("absent",)}

_STRICT: Final = {"UNIQUE": "atMostOne", "ANY": "agreed"}
"""Functions for hit policies whose violation is an error."""


class _NotPlain(Exception):
    """A decision needs the runtime of FEEL."""


def plain_decision(model: DecisionModel, name: str, function: str) -> str | None:
    """JavaScript that defines a function from an object of inputs to the value of a decision, if
    it and all that it requires are plain tables.

    Args:
        model: the linked decisions.
        name: the name of the decision.
        function: the name of the function to define.
    """
    unit = model.named(name)
    if not isinstance(unit, Logic):
        return None
    for computed in (False, True):
        try:
            return _Plain(model, unit, computed=computed).code(function)
        except (_NotPlain, Untranslated):
            continue
    return None


class _Plain:
    """One decision with what it requires; if `computed`, with expressions."""

    def __init__(self, model: DecisionModel, unit: Logic, *, computed: bool) -> None:
        self.model = model
        self.unit = unit
        self.helpers: dict[str, None] = {}
        self.body: list[str] = []
        self.names: dict[str, str] = {}
        """The identifier of each unit that is computed or read, by key."""
        self.computed = computed
        self.reserved = _RESERVED | HELPER_NAMES if computed else _RESERVED
        self.values: dict[str, Value] = {}
        """The identifiers that hold dates or durations."""
        self.local: set[str] = set()
        """Those that are converted to Camunda 7's type `date`."""
        self.taken: set[str] = set()
        self.numbers = self.compared_as_numbers()
        """The inputs, by key, that are compared as numbers and used for nothing else."""
        self.conversions = self.converted_inputs()
        """The types to which the columns of inputs, by key, convert them; one type for each."""

    def converted_inputs(self) -> dict[str, str]:
        conversions: dict[str, set[str]] = {}
        for unit in self.model.units.values():
            tree = unit.tree if isinstance(unit, Logic) else None
            table = tree.value if isinstance(tree, Coerced) else tree
            if not isinstance(unit, Logic) or not isinstance(table, DecisionTable):
                continue
            keys = {requirement.name: requirement.key for requirement in unit.requires}
            for column in table.inputs:
                for part in parts(column.expression):
                    if isinstance(part, Variable) and part.name in keys:
                        alone = isinstance(column.expression, Variable)
                        types = conversions.setdefault(keys[part.name], set())
                        types.add(column.converts if alone else "")
            for name in _read_elsewhere(table):
                if name in keys:
                    conversions.setdefault(keys[name], set()).add("")
        return {
            key: next(iter(types))
            for key, types in conversions.items()
            if len(types) == 1 and isinstance(self.model.units[key], Input)
        }

    def compared_as_numbers(self) -> frozenset[str]:
        numbers: set[str] = set()
        others: set[str] = set()
        for unit in self.model.units.values():
            if not isinstance(unit, Logic) or unit.tree is None:
                continue
            table = unit.tree.value if isinstance(unit.tree, Coerced) else unit.tree
            keys = {requirement.name: requirement.key for requirement in unit.requires}
            if not isinstance(table, DecisionTable):
                others.update(keys.values())
                continue
            for at, column in enumerate(table.inputs):
                cells = [rule.tests[at] for rule in table.rules]
                read = {
                    keys.get(p.name) for p in parts(column.expression) if isinstance(p, Variable)
                }
                alone = isinstance(column.expression, Variable) and _is_numeric_column(
                    column, cells
                )
                (numbers if alone else others).update(key for key in read if key is not None)
            others.update(keys[name] for name in _read_elsewhere(table) if name in keys)
        inputs = {key for key, unit in self.model.units.items() if isinstance(unit, Input)}
        return frozenset(inputs & numbers - others)

    def code(self, function: str) -> str:
        self.taken.add(function)
        self.decision(self.unit, (), last=True)
        used = {name for helper in self.helpers for name in (*_USES.get(helper, ()), helper)}
        functions = [code for name, code in _HELPERS.items() if name in used]
        if self.computed:
            text = [line for line in self.body if not line.startswith("//")]
            shared = "\n".join(list_helpers("\n".join([*text, *functions])))
            self.body[:0] = [*shared.split("\n"), ""] if shared else []
        lines = [*self.body, "", *(line for code in functions for line in code.split("\n"))]
        body = "\n".join(f"  {line}".rstrip() for line in lines)
        return f"const {function} = (given) => {{\n{body}\n}};"

    def decision(self, unit: Logic, opened: tuple[str, ...], *, last: bool) -> None:
        """Appends the statements that compute a decision, after those it requires."""
        tree = unit.tree
        table = tree.value if isinstance(tree, Coerced) else tree
        of = tree.type if isinstance(tree, Coerced) else None
        if unit.knowledge or unit.key in opened:
            raise _NotPlain
        # What it reads, by the name in the table.
        read: dict[str, str] = {}
        for requirement in unit.requires:
            needed = self.model.units[requirement.key]
            match needed:
                case Input():
                    read[requirement.name] = self.input(needed)
                case Logic():
                    if needed.key not in self.names:
                        self.decision(needed, (*opened, unit.key), last=False)
                    read[requirement.name] = self.names[needed.key]
                case _:
                    raise _NotPlain
        if isinstance(tree, Path) and not last:  # an output of another decision
            self.names[unit.key] = name = self.identifier(unit.name)
            self.body.append(f"const {name} = {self.path(tree, read)};")
            return
        scope = {
            name: self.values.get(code, Value(code, simple=True)) for name, code in read.items()
        }
        if not isinstance(table, DecisionTable):
            if table is None or not self.computed:
                raise _NotPlain
            self.returned(unit, self.expression(table, of, scope, last=last), last=last)
            return
        policy, table = table.hit_policy, _by_priority(table)
        columns = [
            self.column(unit, column, [rule.tests[at] for rule in table.rules], read, scope)
            for at, column in enumerate(table.inputs)
        ]
        rules = self.identifier("rules" if last else f"{unit.name} rules")
        order = "" if policy == table.hit_policy else ", most important first"
        self.body.append(
            f"// {_write_comment(unit.name)}, hit policy {policy}{order}: [condition, result]"
        )
        self.body.append(f"const {rules} = [")
        results = [self.result(table.outputs, r.entries, of, scope, last=last) for r in table.rules]
        later = any(map(_is_computed, (e for rule in table.rules for e in rule.entries)))
        for at, result in enumerate(results):
            holds = _join_conditions([tests[at] for tests, _ in columns])
            self.body.append(f"  [{holds}, {_defer_result(result) if later else result}],")
        self.body.append("];")
        value = self.chosen(table, rules, of, later=later)
        allowed = _join_conditions([test for _, test in columns])
        self.returned(
            unit, value if allowed == "true" else f"{allowed} ? {value} : null", last=last
        )

    def returned(self, unit: Logic, value: str, *, last: bool) -> None:
        """Appends the statement that returns the value of a decision, or names it."""
        if last:
            self.body += f"return {value};".split("\n")
            return
        self.names[unit.key] = name = self.identifier(unit.name)
        self.body.append(f"const {name} = {value};")

    def column(
        self,
        unit: Logic,
        column: TableInput,
        cells: Sequence[UnaryTests],
        read: dict[str, str],
        scope: Scope,
    ) -> tuple[list[str], str]:
        """The conditions of the cells of a column, and of its allowed values."""
        if column.type != ANY:
            raise _NotPlain
        before = len(self.body), dict(self.helpers), set(self.taken)
        try:
            plain = _Column(self, unit, column, cells, read)
            allowed = "true" if column.allowed is None else plain.test(column.allowed)
            return [plain.test(cell) for cell in cells], allowed
        except _NotPlain:
            if not self.computed:
                raise
        del self.body[before[0] :]
        self.helpers, self.taken = before[1], before[2]
        direct = Direct(ROWS, lambda _: None, frozenset(self.taken))
        inner = {**scope, INPUT: self.column_value(column, direct, scope)}
        tests = [*cells, *([] if column.allowed is None else [column.allowed])]
        conditions = [
            direct.truth(In(Variable((INPUT,)), test), True, inner) if test.tests else "true"
            for test in tests
        ]
        return conditions[: len(cells)], "true" if column.allowed is None else conditions[-1]

    def column_value(self, column: TableInput, direct: Direct, scope: Scope) -> Value:
        """The value of an input column, computed once."""
        value = direct.value(column.expression, scope)
        kinds = {"": (value.kind,), "string": ("text",), "boolean": ("truth",),
                 "double": ("number", "nan", "exact")}  # fmt: skip
        if value.kind not in kinds.get(column.converts, ()) and value.js not in self.local:
            if value.kind != "any":
                raise _NotPlain
            raw = direct.as_json(value)
            if column.converts == "date":
                value = Value(f"{self.use('localMoment')}({raw})", "moment")
            else:
                value = Value(self.convert(raw, column.converts))
        if _IDENTIFIER.fullmatch(value.js) or not value.js or value.kind == "null":
            return value
        words = [
            part.name for part in parts(column.expression) if isinstance(part, Variable | Path)
        ]
        name = self.identifier(" ".join([*words[:1], "value"]))
        known = value.guards and (f"{name} !== null",)
        code = f"{' && '.join(value.guards)} ? {value.js} : null" if value.guards else value.js
        if value.kind == "any":
            code = direct.as_json(value)
        self.body.append(f"const {name} = {code};")
        return value._replace(js=name, loose="", guards=known or (), simple=True)

    def input(self, needed: Input) -> str:
        if needed.key not in self.names:
            self.names[needed.key] = name = self.identifier(needed.name)
            read = property_of("given", needed.name)
            kind = needed.type.name if isinstance(needed.type, SimpleType) else ""
            if self.computed and kind in ("date", "date and time"):
                of: Kind = "date" if kind == "date" else "moment"
                self.dated(name, of, f"{of}({read})")
                return name
            if kind in _KINDS:
                read = f'{self.use("typed")}({read}, "{kind}")'
            elif kind != "Any":
                raise _NotPlain
            conversion = self.conversions.get(needed.key, "")
            if self.computed and conversion == "date":
                self.local.add(name)
                self.dated(name, "moment", f"{self.use('localMoment')}({read})")
                return name
            if conversion:
                read = self.convert(read, conversion)
            if needed.key in self.numbers:
                read = f"{self.use('numeric')}({read})"
            self.body.append(f"const {name} = {read};")
        return self.names[needed.key]

    def dated(self, name: str, kind: Kind, code: str) -> None:
        """Reads an input as a date, or as a date and time."""
        self.values[name] = Value(name, kind, simple=True)
        self.body.append(f"const {name} = {code};")

    def path(self, tree: Tree, read: dict[str, str]) -> str:
        """Code that reads a value, or an entry of one."""
        match tree:
            case Variable((name,)) if name in read and read[name] not in self.values:
                return read[name]
            case Path(base=base, name=name) if name:
                return f"{self.use('entry')}({self.path(base, read)}, {js_string(name)})"
        raise _NotPlain

    def has(self, key: str, type_: str) -> bool:
        """Whether a value has this type, being the result of a table with one such output."""
        unit = self.model.units.get(key)
        tree = unit.tree if isinstance(unit, Logic) else None
        if not isinstance(tree, DecisionTable) or tree.aggregation or tree.hit_policy in _LISTS:
            return False
        of = tree.outputs[0].type
        same = isinstance(of, SimpleType) and of.name == ("number" if type_ == "double" else type_)
        return len(tree.outputs) == 1 and same

    def convert(self, read: str, type_: str) -> str:
        if type_ == "date":
            raise _NotPlain
        return f'{self.use("converted")}({read}, "{type_}")'

    def chosen(self, table: DecisionTable, rules: str, of: Type | None, *, later: bool) -> str:
        """The value of a table, from its rules; if `later`, these have functions that compute their
        results."""
        if not table.rules:
            raise _NotPlain
        defaults = [column.default for column in table.outputs]
        otherwise = "null"
        if any(default is not None for default in defaults):
            if table.aggregation is not None or (table.engine == "camunda8" and None in defaults):
                raise _NotPlain
            entries = [default or Constant(None) for default in defaults]
            otherwise = self.result(table.outputs, entries, of, {}, last=False)
            if table.hit_policy in _LISTS and table.engine != "camunda8":
                otherwise = f"[{otherwise}]"
        match table.hit_policy:
            case "UNIQUE" | "FIRST" | "ANY" as policy:
                chosen = (
                    _STRICT.get(policy) if table.engine is not None else None
                ) or policy.lower()
                if later and policy == "ANY":  # equal decimals may be rounded differently
                    raise _NotPlain
                if later:
                    call = "?.() ?? null" if chosen == "unique" else "()"
                    return f"{self.use(chosen)}({rules}, {_defer_result(otherwise)}){call}"
                return f"{self.use(chosen)}({rules}, {otherwise})"
            case "COLLECT" | "RULE ORDER" if of is None or of == SimpleType("Any"):
                return self.collected(table, rules, otherwise, later=later)
        raise _NotPlain

    def collected(self, table: DecisionTable, rules: str, otherwise: str, *, later: bool) -> str:
        match table.aggregation:
            case None if later:
                hits = f"{self.use('collect')}({rules}, null)"
                return f"{hits}?.map((result) => result()) ?? {otherwise}"
            case None:
                return f"{self.use('collect')}({rules}, {otherwise})"
            case "COUNT":
                if table.engine == "flowable":
                    self.must_differ(table)
                count = f"{rules}.filter(([holds]) => holds).length"
                return count if table.engine in (None, "camunda7") else f"{count} || null"
        entries = [_find_constant(rule.entries[0]) for rule in table.rules]
        if table.aggregation == "SUM" and table.engine == "flowable":
            self.must_differ(table)
        numbers = [entry for entry in entries if isinstance(entry, Decimal)]
        if len(table.outputs) != 1 or len(numbers) != len(entries):
            raise _NotPlain
        hits = f"({self.use('collect')}({rules}, null)"
        if table.aggregation != "SUM":
            how = table.aggregation.lower()
            return f"{hits}?.reduce((one, other) => Math.{how}(one, other)) ?? null)"
        if any(n != n.to_integral_value() for n in numbers) or sum(map(abs, numbers)) > 10**_DIGITS:
            raise _NotPlain
        return f"{hits}?.reduce((one, other) => one + other) ?? null)"

    def must_differ(self, table: DecisionTable) -> None:
        """Raises `_NotPlain` for a table of Flowable with equal outputs, which it aggregates as
        one."""
        entries = [_find_constant(entry) for rule in table.rules for entry in rule.entries]
        if len(set(entries)) < len(entries):
            raise _NotPlain

    def result(
        self,
        columns: Sequence[TableOutput],
        entries: Sequence[Tree],
        of: Type | None,
        scope: Scope,
        *,
        last: bool,
    ) -> str:
        """The outputs of a rule: a value, or an object by the names of the columns."""
        written = []
        for column, entry in zip(columns, entries, strict=True):
            if of is not None and len(columns) != 1:
                raise _NotPlain
            if self.computed and _is_computed(entry):
                if of not in (None, SimpleType("Any"), column.type):
                    raise _NotPlain
                written.append(self.expression(entry, column.type, scope, last=last))
                continue
            constant = _find_constant(entry)
            _must_conform(constant, column.type)
            if of is not None:
                _must_conform(constant, of)
            written.append(_write_constant(constant))
        if len(columns) == 1:
            return written[0]
        names = [column.name for column in columns]
        if len(set(names)) < len(names) or not _OF_OBJECTS.isdisjoint(names):
            raise _NotPlain
        pairs = zip(map(property_name, names), written, strict=True)
        return f"{{ {', '.join(f'{name}: {value}' for name, value in pairs)} }}"

    def expression(self, tree: Tree, of: Type | None, scope: Scope, *, last: bool) -> str:
        """The value of an expression of a type, as JSON; unless `last`, one that is not rounded."""
        direct = Direct(ROWS, lambda _: None, frozenset(self.taken))
        code = direct.json(tree, scope)
        if direct.shown and not last:
            raise _NotPlain
        kind = of.name if isinstance(of, SimpleType) else "Any" if of is None else ""
        if kind == "Any":
            return code
        if is_truth(tree, scope):
            actual = "boolean"
        else:
            known = direct.value(tree, scope).kind
            actual = {"number": "number", "exact": "number", "nan": "number", "text": "string",
                     "date": "date", "moment": "date and time"}.get(known, known)  # fmt: skip
            if known in TEMPORAL and actual != kind:
                raise _NotPlain
        if actual == kind:
            return code
        if kind not in _KINDS:
            raise _NotPlain
        return f'{self.use("typed")}({code}, "{kind}")'

    def use(self, helper: str) -> str:
        self.helpers[helper] = None
        return helper

    def identifier(self, name: str) -> str:
        """A new identifier that resembles a name."""
        words = re.findall(r"[A-Za-z0-9_$]+", name) or ["value"]
        wanted = words[0] + "".join(word[0].upper() + word[1:] for word in words[1:])
        if wanted[0].isdigit() or wanted in self.reserved:
            wanted = f"_{wanted}"
        taken = self.taken
        unique = next(n for n in _number_names(wanted) if n not in taken)
        taken.add(unique)
        return unique


class _Column:
    """An input column: its value, as its tests need it."""

    def __init__(
        self,
        plain: _Plain,
        unit: Logic,
        column: TableInput,
        cells: Sequence[UnaryTests],
        read: dict[str, str],
    ) -> None:
        self.plain = plain
        self.input = column
        self.raw = plain.path(column.expression, read)
        tests = [*cells, *([] if column.allowed is None else [column.allowed])]
        self.number = self.raw
        key = self.key(column.expression, unit)
        if column.converts and key not in plain.conversions and not plain.has(key, column.converts):
            self.raw = self.number = self.named(
                "Converted", plain.convert(self.raw, column.converts)
            )
        if not _is_number(column.expression, unit, plain.numbers) and any(
            _tests_order(test) for cell in tests for test in cell.tests
        ):
            self.number = self.named("Number", f"{plain.use('numeric')}({self.raw})")

    def key(self, tree: Tree, unit: Logic) -> str:
        """The key of the unit that a column reads, if it reads nothing else."""
        name = tree.name if isinstance(tree, Variable) else None
        return next((r.key for r in unit.requires if r.name == name), "")

    def named(self, what: str, code: str) -> str:
        """A new constant for what the column needs of its value."""
        read = self.raw if _IDENTIFIER.fullmatch(self.raw) else "column"
        name = self.plain.identifier(f"{read}{what}")
        self.plain.body.append(f"const {name} = {code};")
        return name

    def test(self, cell: UnaryTests) -> str:
        """A condition that is true if the cell matches, and never an error."""
        if not cell.tests:
            return "true"
        if not cell.negated:
            return self.positive(cell.tests)
        differing = [c for test in cell.tests for c in self.equal(test)]
        compared = [self.compared(test, negated=True) for test in cell.tests if _tests_order(test)]
        if any(_sign_of(test) == "!=" for test in cell.tests):
            raise _NotPlain
        return _join_conditions([*([self.differs(differing)] if differing else []), *compared])

    def positive(self, tests: Sequence[UnaryTest]) -> str:
        conditions: list[str] = []
        constants: list[Plain] = []
        for test in tests:
            if _tests_order(test):
                conditions.append(self.compared(test, negated=False))
            elif _sign_of(test) == "!=":
                conditions.append(self.differs([_find_constant(test.operand)]))
            else:
                constants.extend(self.equal(test))
        if None in constants:
            constants = [c for c in constants if c is not None]
            conditions.insert(0, f"{self.plain.use('absent')}({self.raw})")
        if len(constants) == 1:
            conditions.insert(0, f"{self.raw} === {_write_constant(constants[0])}")
        elif constants:
            listed = ", ".join(map(_write_constant, constants))
            conditions.insert(0, f"[{listed}].includes({self.raw})")
        return conditions[0] if len(conditions) == 1 else f"({' || '.join(conditions)})"

    def equal(self, test: UnaryTest) -> list[Plain]:
        """The constants that a test compares with; none if it compares by order."""
        if _tests_order(test) or _sign_of(test) == "!=":
            return []
        if is_operation(test.operand, EXACT_LIST):
            # Not negated: a list that lacks a value is false, also for one of another type.
            raise _NotPlain
        return [_find_constant(test.operand)]

    def differs(self, constants: Sequence[Plain]) -> str:
        if list(constants) == [None]:
            return f"!{self.plain.use('absent')}({self.raw})"
        if None in constants:
            # Only a missing value equals null; one of any type differs from it.
            raise _NotPlain
        listed = ", ".join(map(_write_constant, constants))
        return f"{self.plain.use('differs')}({self.raw}, {listed})"

    def compared(self, test: UnaryTest, *, negated: bool) -> str:
        match test.operand:
            case RangeLiteral(low=low, high=high, low_included=low_in, high_included=high_in):
                ends = [
                    (end, sign + ("=" if included else ""))
                    for end, included, sign in ((low, low_in, ">"), (high, high_in, "<"))
                    if end is not None
                ]
            case operand:
                assert test.operator is not None
                ends = [(operand, test.operator.sign)]
        signs = _INVERSE if negated else dict(zip(_INVERSE, _INVERSE, strict=True))
        compared = [
            f"{self.number} {signs[sign]} {_write_constant(_find_number(end))}"
            for end, sign in ends
        ]
        if not compared:
            raise _NotPlain
        if len(compared) == 1:
            return compared[0]
        return f"({' || '.join(compared)})" if negated else " && ".join(compared)


def _read_elsewhere(table: DecisionTable) -> set[str]:
    """Names that cells and results of a table read."""
    rules = (part for rule in table.rules for part in (*rule.tests, *rule.entries))
    return {p.name for part in rules for p in parts(part) if isinstance(p, Variable)}


def _by_priority(table: DecisionTable) -> DecisionTable:
    """The same table with its rules in the order of their priorities, so that the first one that
    matches decides, if the results are constants."""
    if table.hit_policy not in ("PRIORITY", "OUTPUT ORDER"):
        return table
    orders = [[_find_constant(entry) for entry in column.priorities] for column in table.outputs]

    def ranks(rule: TableRule) -> list[int]:
        positions = []
        for entry, column, order in zip(rule.entries, table.outputs, orders, strict=True):
            constant = _find_constant(entry)
            _must_conform(constant, column.type)
            same = [(type(priority), priority) for priority in order]
            key = (type(constant), constant)
            positions.append(same.index(key) if key in same else len(order))
        return positions

    policy: HitPolicy = "FIRST" if table.hit_policy == "PRIORITY" else "RULE ORDER"
    rules = tuple(sorted(table.rules, key=ranks))
    return DecisionTable(
        table.inputs, table.outputs, rules, policy, table.aggregation, table.engine, table.span
    )


def _is_computed(tree: Tree) -> bool:
    """Whether a result is no constant."""
    operand = tree.operand if isinstance(tree, Negative) else tree
    return not isinstance(operand, Constant)


def _defer_result(result: str) -> str:
    """A function that computes a result."""
    return f"() => ({result})" if result.startswith("{") else f"() => {result}"


def _is_number(tree: Tree, unit: Logic, numbers: frozenset[str]) -> bool:
    """Whether a column is an input that is read as a number."""
    return isinstance(tree, Variable) and any(
        requirement.key in numbers for requirement in unit.requires if requirement.name == tree.name
    )


def _is_numeric_column(column: TableInput, cells: Sequence[UnaryTests]) -> bool:
    """Whether a column compares with numbers only, some by order, and no missing value matches."""
    used = [*cells, *([] if column.allowed is None else [column.allowed])]
    tests = [(test, cell.negated) for cell in used for test in cell.tests]
    return any(_tests_order(test) for test, _ in tests) and all(
        (_tests_order(test) and all(map(_is_constant_number, _list_ends(test))))
        or (not negated and _sign_of(test) in ("", "==") and _is_constant_number(test.operand))
        for test, negated in tests
    )


def _is_constant_number(tree: Tree) -> bool:
    constant = tree.operand if isinstance(tree, Negative) else tree
    return isinstance(constant, Constant) and isinstance(constant.value, Decimal)


def _sign_of(test: UnaryTest) -> str:
    """The sign of a test; empty for a value to compare with."""
    return test.operator.sign if test.operator is not None else ""


def _list_ends(test: UnaryTest) -> list[Tree]:
    """What a test compares with."""
    if isinstance(test.operand, RangeLiteral):
        return [end for end in (test.operand.low, test.operand.high) if end is not None]
    return [test.operand]


def _tests_order(test: UnaryTest) -> bool:
    """Whether a test compares by order."""
    return _sign_of(test) in _INVERSE or (
        test.operator is None and isinstance(test.operand, RangeLiteral)
    )


def _find_constant(tree: Tree) -> Plain:
    match tree:
        case Constant((Decimal() | str() | bool() | None) as value):
            return value
        case Negative(_, (Constant(Decimal() as value),)):
            return -value
    raise _NotPlain


def _find_number(tree: Tree) -> Decimal:
    value = _find_constant(tree)
    if not isinstance(value, Decimal):
        raise _NotPlain
    return value


def _must_conform(value: Plain, of: Type) -> None:
    """A constant of another type is converted by the runtime."""
    kind = of.name if isinstance(of, SimpleType) else ""
    if kind != "Any" and value is not None and type(value) is not _KINDS.get(kind):
        raise _NotPlain


def _write_constant(value: Plain) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return js_string(value)
    digits = value.normalize().as_tuple()
    if len(digits.digits) > _DIGITS or not -_DIGITS <= value.adjusted() < _DIGITS:
        raise _NotPlain
    return f"{value.normalize():f}" if value else "0"


def _join_conditions(conditions: Sequence[str]) -> str:
    return " && ".join(condition for condition in conditions if condition != "true") or "true"


def _write_comment(name: str) -> str:
    """A name in a comment: without what ends a line."""
    return js_string(name)[1:-1]


def _number_names(name: str) -> Iterable[str]:
    yield name
    at = 2
    while True:
        yield f"{name}{at}"
        at += 1
