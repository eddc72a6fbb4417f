"""FEEL as JavaScript: calls of a small runtime that computes like the evaluator.

Decimals of 34 digits are pairs of an integer (`BigInt`) and an exponent, dates and durations are
counted in whole nanoseconds; JavaScript's numbers are not used, since they would round differently.
Values are read from JSON (a number is its shortest decimal) and written to it (a decimal becomes
the nearest number, a date its ISO text).

No text of a source is copied: operators are generated here, texts and names by `js_string`, numbers
from their digits. Expressions without a translation raise `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from orgflow.backends.javascript.code_values import ExactRows
from orgflow.backends.javascript.feel_runtime import assemble_runtime
from orgflow.backends.javascript.literals import js_string

from orgflow_ir.program.feel.signatures import SIGNATURES, Signature
from orgflow_ir.program.feel.types import (
    ANY,
    ConstrainedType,
    ContextType,
    FunctionType,
    ListType,
    RangeType,
    SimpleType,
    Type,
)
from orgflow_ir.program.feel.values import Unsupported
from orgflow_ir.program.structures import (
    AtLiteral,
    ContextLiteral,
    DecisionTable,
    For,
    FunctionCall,
    FunctionDefinition,
    Iteration,
    Quantified,
    RangeLiteral,
    TableInput,
    TableOutput,
    TableRule,
    UnaryTest,
    UnaryTests,
    parts,
    reads_input,
)
from orgflow_ir.program.syntax import (
    Apply,
    Comparison,
    Constant,
    Exact,
    Operation,
    Scalar,
    Structure,
    Tree,
    Variable,
)

_TEMPORAL_TYPES = frozenset(
    {
        "date", "time", "date and time", "days and time duration", "years and months duration",
    }
)  # fmt: skip
_TEMPORAL_FUNCTIONS = frozenset(
    {
        "date", "time", "date and time", "duration", "years and months duration", "now", "today",
        "range",
    }
)  # fmt: skip


class Printer:
    """Prints trees; collects the types and built-in functions that several share.

    Args:
        rows: how each operation and node is printed.
    """

    def __init__(self, rows: ExactRows) -> None:
        self.rows = rows
        self.temporal = self.ranges = False
        self.types: dict[Type, tuple[str, str]] = {}
        self.functions: dict[str, tuple[str, str]] = {}

    def program(self, body: str) -> str:
        """The runtime that a body needs, the collected constants, and the body."""
        shared = [f"const {name} = {code};" for name, code in self.functions.values()]
        shared += [f"const {name} = {code};" for name, code in self.types.values()]
        code = "\n".join(
            [
                assemble_runtime([*shared, body], temporal=self.temporal, ranges=self.ranges),
                *shared,
                body,
            ]
        )
        # No string holds two closing braces (`js_string`), so a space between two changes nothing.
        while "}}" in code:
            code = code.replace("}}", "} }")
        return code

    # -- expressions ---------------------------------------------------------------------------

    def tree(self, tree: Tree) -> str:
        """Code for an expression; it may use the scope `s`. Raises `KeyError` for an operation or a
        kind of node without a row."""
        match tree:
            case Constant(value):
                return self.literal(value)
            case Variable((name,)):
                known = f", {self.function(name)}" if name in SIGNATURES else ""
                return f"get(s, {js_string(name)}{known})"
            case Apply(operation):
                return self.rows[operation.name].runtime(self, tree)
            case Structure():
                return self.rows[type(tree)].runtime(self, tree)
            case Exact(body):
                return self.tree(body)
            case Variable():
                raise TypeError("a path of names is no variable of an exact program")
            case _:
                assert_never(tree)

    def at_literal(self, tree: AtLiteral) -> str:
        self.temporal = True
        return f"atLiteral({js_string(tree.text)})"

    def loop(self, tree: For) -> str:
        partial = any(p.name == "partial" for p in parts(tree.body) if isinstance(p, Variable))
        loop = "loop" if partial else "loopFast"
        return f"{loop}({self.iterations(tree.iterators)}, s, {self.later(tree.body)})"

    def quantified(self, tree: Quantified) -> str:
        some = _print_boolean(tree.quantifier == "some")
        over = self.iterations(tree.iterators)
        return f"quantified({some}, {over}, s, {self.later(tree.condition)})"

    def definition(self, tree: FunctionDefinition) -> str:
        if tree.external:
            raise Unsupported("an external function")
        names = ", ".join(f"[{js_string(p.name)}, {self.type(p.type)}]" for p in tree.parameters)
        return f"fn([{names}], s, {self.later(tree.body)})"

    def call(self, tree: FunctionCall) -> str:
        given = ", ".join(self.tree(argument) for argument in tree.arguments)
        by_name = "null" if tree.names is None else f"[{', '.join(map(js_string, tree.names))}]"
        return f"call({self.tree(tree.function)}, [{given}], {by_name})"

    def context(self, tree: ContextLiteral) -> str:
        written = ", ".join(
            f"[{js_string(entry.key)}, {self.later(entry.value)}]" for entry in tree.entries
        )
        return f"context([{written}], s)"

    def range(self, tree: RangeLiteral) -> str:
        self.ranges = True
        ends = ["null" if end is None else self.tree(end) for end in (tree.low, tree.high)]
        included = [_print_boolean(tree.low_included), _print_boolean(tree.high_included)]
        missing = "1" if tree.low is None else "2" if tree.high is None else "0"
        return f"range({', '.join([*ends, *included, missing])})"

    def later(self, tree: Tree) -> str:
        """An expression that is evaluated in a later scope."""
        return f"(s) => {self.tree(tree)}"

    def literal(self, value: Scalar) -> str:
        match value:
            case None:
                return "null"
            case bool():
                return _print_boolean(value)
            case str():
                return js_string(value)
        return f'num("{value}")'

    def iterations(self, iterations: Sequence[Iteration]) -> str:
        written = []
        for iteration in iterations:
            domain = (
                f"domain({self.tree(iteration.domain)})"
                if iteration.end is None
                else f"steps({self.tree(iteration.domain)}, {self.tree(iteration.end)})"
            )
            written.append(f"[{js_string(iteration.name)}, (s) => {domain}]")
        return f"[{', '.join(written)}]"

    # -- unary tests and tables ----------------------------------------------------------------

    def tests(self, tests: UnaryTests) -> str:
        """A function of an input and a scope."""
        if not tests.tests:
            return "() => true"
        written = ", ".join(f"() => {self.test(test)}" for test in tests.tests)
        inner = f"((s) => tests([{written}], {_print_boolean(tests.negated)}))"
        return f'(v, s) => {inner}(scope([["?", v]], s))'

    def test(self, test: UnaryTest) -> str:
        operand = self.tree(test.operand)
        if test.operator is not None:
            return compare_code(test.operator, "v", operand)
        if test.operand == Constant(None):
            return 'cmp("=", v, null)'
        return f"truth({operand})" if reads_input(test.operand) else f"isIn(v, {operand})"

    def table(self, table: DecisionTable) -> str:
        how = table.aggregation
        aggregations = {"COUNT": "int(list.length)", "MIN": "f_min_(list)", "MAX": "f_max_(list)"}
        ordered = "true" if table.engine == "camunda7" else "false"
        java = f"sumInJava(list, {ordered})"
        aggregations["SUM"] = java if table.engine in ("camunda7", "flowable") else "f_sum_(list)"
        code = f"(list) => {aggregations[how]}" if how else "null"
        if how and table.engine == "flowable":
            code = f"(all) => ({code})(f_distinct_values(all))"
        engine = f'x: "{table.engine}", ' if table.engine is not None else ""
        rules = ",\n".join(map(self.rule, table.rules))
        return (
            f"{{ h: {js_string(table.hit_policy)}, {engine}a: {js_string(how) if how else 'null'}, "
            f"g: {code},\n"
            f"i: [{', '.join(map(self.input, table.inputs))}],\n"
            f"o: [{', '.join(map(self.output, table.outputs))}],\n"
            f"r: [\n{rules}] }}"
        )

    def input(self, column: TableInput) -> str:
        allowed = "null" if column.allowed is None else self.tests(column.allowed)
        value = self.tree(column.expression)
        if column.converts:
            self.temporal = self.temporal or column.converts == "date"
            value = f'convert({value}, "{column.converts}")'
        if column.type != ANY:
            value = f"typed({value}, {self.type(column.type)})"
        return f"[(s) => {value}, {allowed}]"

    def output(self, column: TableOutput) -> str:
        order = f"(s) => [{', '.join(self.tree(value) for value in column.priorities)}]"
        default = "null" if column.default is None else self.later(column.default)
        return f"[{js_string(column.name)}, {self.type(column.type)}, {order}, {default}]"

    def rule(self, rule: TableRule) -> str:
        tests = ", ".join(self.tests(test) for test in rule.tests)
        entries = ", ".join(self.later(entry) for entry in rule.entries)
        return f"[[{tests}], [{entries}]]"

    # -- what is shared ------------------------------------------------------------------------

    def type(self, of: Type) -> str:
        """A type; unless it is simple, the name of a constant."""
        if isinstance(of, SimpleType):
            self.temporal = self.temporal or of.name in _TEMPORAL_TYPES
            return f'"{of.name}"'
        if of not in self.types:
            code = self.type_code(of)
            self.types[of] = f"t{len(self.types)}", code
        return self.types[of][0]

    def type_code(self, of: Type) -> str:
        match of:
            case ListType(element):
                return f'["list", {self.type(element)}]'
            case RangeType(element):
                return f'["range", {self.type(element)}]'
            case ContextType(entries):
                written = ", ".join(f"[{js_string(n)}, {self.type(t)}]" for n, t in entries)
                return f'["context", [{written}]]'
            case FunctionType(parameters, result):
                taken = ", ".join(self.type(p) for p in parameters)
                return f'["function", [{taken}], {self.type(result)}]'
            case ConstrainedType(base, allowed):
                # Two types are the same where the numbers behind them are.
                inner = self.type(base)
                test = f"(v) => ({self.tests(allowed)})(v, null)"
                return f'["allowed", {inner}, {test}, {len(self.types)}]'
            case SimpleType():
                return self.type(of)
        assert_never(of)

    def function(self, name: str) -> str:
        """A built-in function, as the name of a constant."""
        self.temporal = self.temporal or name in _TEMPORAL_FUNCTIONS
        if name not in self.functions:
            signatures = ", ".join(_print_signature(signature) for signature in SIGNATURES[name])
            self.functions[name] = f"b{len(self.functions)}", f"builtin([{signatures}])"
        return self.functions[name][0]


def compare_code(operation: Operation[Comparison], left: str, right: str) -> str:
    """The comparison of two values."""
    sign = "=" if operation.sign == "==" else operation.sign
    return f'cmp("{sign}", {left}, {right})'


def _print_signature(signature: Signature) -> str:
    parameters = ", ".join(
        f"[{js_string(p.name)}, [{', '.join(map(js_string, p.kinds))}], "
        f"{_print_boolean(p.optional)}]"
        for p in signature.parameters
    )
    return f"[f_{signature.implementation}, [{parameters}], {_print_boolean(signature.variadic)}]"


def _print_boolean(value: bool) -> str:
    return "true" if value else "false"
