"""FEEL as JavaScript: calls of a small runtime that computes like the evaluator.

Decimals of 34 digits are pairs of an integer (`BigInt`) and an exponent, dates and durations are
counted in whole nanoseconds; JavaScript's numbers are not used, since they would round differently.
Values are read from JSON (a number is its shortest decimal) and written to it (a decimal becomes
the nearest number, a date its ISO text).

No text of a source is copied: operators are generated here, texts and names by `js_string`, numbers
from their digits. Expressions without a translation raise `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import assert_never

from orgflow.backends.javascript.feel_runtime import runtime
from orgflow.backends.javascript.literals import js_string

from orgflow_ir.languages.feel.signatures import SIGNATURES, Signature
from orgflow_ir.languages.feel.syntax import (
    Arithmetic,
    AtLiteral,
    Between,
    Call,
    Coerced,
    Comparison,
    ContextLiteral,
    DecisionTable,
    Filter,
    For,
    FunctionDefinition,
    If,
    In,
    InstanceOf,
    Iteration,
    ListLiteral,
    Literal,
    Logical,
    Name,
    Negation,
    Path,
    Quantified,
    RangeLiteral,
    TableInput,
    TableOutput,
    TableRule,
    Tree,
    UnaryTest,
    UnaryTests,
    parts,
    reads_input,
)
from orgflow_ir.languages.feel.types import (
    ConstrainedType,
    ContextType,
    FunctionType,
    ListType,
    RangeType,
    SimpleType,
    Type,
)
from orgflow_ir.languages.feel.values import Unsupported, unconstrained

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


def feel_expression(tree: Tree, variable: Callable[[str], str | None]) -> str:
    """JavaScript whose value is that of an expression, as JSON: one expression, which may be
    between `{{` and `}}`.

    Args:
        tree: an expression.
        variable: the code that reads a variable as JSON, or `None` for an unknown name.

    Raises:
        Unsupported: the expression contains something that is not translated.
    """
    printer = Printer()
    code = printer.tree(tree)
    entries = []
    for name in dict.fromkeys(p.name for p in parts(tree) if isinstance(p, Name)):
        read = variable(name)
        if read is not None:
            entries.append(f"[{js_string(name)}, input({read})]")
    body = f"const s = scope([{', '.join(entries)}], null);\nreturn output({code});"
    return f"(() => {{\n{printer.program(body)}\n}})()"


class Printer:
    """Prints trees; collects the types and built-in functions that several share."""

    def __init__(self) -> None:
        self.temporal = self.ranges = False
        self.types: dict[Type, tuple[str, str]] = {}
        self.functions: dict[str, tuple[str, str]] = {}

    def program(self, body: str) -> str:
        """The runtime that a body needs, the collected constants, and the body."""
        shared = [f"const {name} = {code};" for name, code in self.functions.values()]
        shared += [f"const {name} = {code};" for name, code in self.types.values()]
        code = "\n".join(
            [runtime([*shared, body], temporal=self.temporal, ranges=self.ranges), *shared, body]
        )
        # No string holds two closing braces (`js_string`), so a space between two changes nothing.
        while "}}" in code:
            code = code.replace("}}", "} }")
        return code

    # -- expressions ---------------------------------------------------------------------------

    def tree(self, tree: Tree) -> str:
        """Code for an expression; it may use the scope `s`."""
        match tree:
            case Literal(value):
                return self.literal(value)
            case AtLiteral(text):
                self.temporal = True
                return f"atLiteral({js_string(text)})"
            case Name(name):
                known = f", {self.function(name)}" if name in SIGNATURES else ""
                return f"get(s, {js_string(name)}{known})"
            case Path(base, name):
                return f"path({self.tree(base)}, {js_string(name)})"
            case Filter(base, condition):
                return f"filter({self.tree(base)}, {self.later(condition)}, s)"
            case Negation(operand):
                return f"neg({self.tree(operand)})"
            case Arithmetic(sign, left, right):
                return f'calc("{sign}", {self.tree(left)}, {self.tree(right)})'
            case Comparison(sign, left, right):
                return f'cmp("{sign}", {self.tree(left)}, {self.tree(right)})'
            case Logical(word, left, right):
                combine = "both" if word == "and" else "either"
                return f"{combine}({self.tree(left)}, {self.tree(right)})"
            case Between(value, low, high):
                bounds = f'cmp(">=", v, {self.tree(low)}), cmp("<=", v, {self.tree(high)})'
                return f"((v) => both({bounds}))({self.tree(value)})"
            case In(value, tests):
                return f"({self.tests(tests)})({self.tree(value)}, s)"
            case InstanceOf(value, of):
                return f"instanceOf({self.tree(value)}, {self.type(unconstrained(of))})"
            case If(condition, then, otherwise):
                branches = f"{self.tree(then)} : {self.tree(otherwise)}"
                return f"({self.tree(condition)} === true ? {branches})"
            case For(iterations, body):
                partial = any(isinstance(p, Name) and p.name == "partial" for p in parts(body))
                loop = "loop" if partial else "loopFast"
                return f"{loop}({self.iterations(iterations)}, s, {self.later(body)})"
            case Quantified(quantifier, iterations, condition):
                some = "true" if quantifier == "some" else "false"
                over = self.iterations(iterations)
                return f"quantified({some}, {over}, s, {self.later(condition)})"
            case FunctionDefinition(parameters, body, external):
                if external:
                    raise Unsupported("an external function")
                names = ", ".join(f"[{js_string(p.name)}, {self.type(p.type)}]" for p in parameters)
                return f"fn([{names}], s, {self.later(body)})"
            case Call(function, arguments, names):
                given = ", ".join(self.tree(argument) for argument in arguments)
                by_name = "null" if names is None else f"[{', '.join(map(js_string, names))}]"
                return f"call({self.tree(function)}, [{given}], {by_name})"
            case ListLiteral(items):
                return f"[{', '.join(self.tree(item) for item in items)}]"
            case ContextLiteral(entries):
                written = ", ".join(
                    f"[{js_string(entry.key)}, {self.later(entry.value)}]" for entry in entries
                )
                return f"context([{written}], s)"
            case RangeLiteral(low, high, low_included, high_included):
                self.ranges = True
                ends = ["null" if end is None else self.tree(end) for end in (low, high)]
                included = [_boolean(low_included), _boolean(high_included)]
                missing = "1" if low is None else "2" if high is None else "0"
                return f"range({', '.join([*ends, *included, missing])})"
            case Coerced(value, of):
                return f"coerce({self.tree(value)}, {self.type(of)})"
            case DecisionTable():
                return f"decide({self.table(tree)}, s)"
            case _:
                assert_never(tree)

    def later(self, tree: Tree) -> str:
        """An expression that is evaluated in a later scope."""
        return f"(s) => {self.tree(tree)}"

    def literal(self, value: Decimal | str | bool | None) -> str:
        match value:
            case None:
                return "null"
            case bool():
                return _boolean(value)
            case str():
                return js_string(value)
        return f'num("{value}")'

    def iterations(self, iterations: Sequence[Iteration]) -> str:
        written = []
        for one in iterations:
            domain = (
                f"domain({self.tree(one.domain)})"
                if one.end is None
                else f"steps({self.tree(one.domain)}, {self.tree(one.end)})"
            )
            written.append(f"[{js_string(one.name)}, (s) => {domain}]")
        return f"[{', '.join(written)}]"

    # -- unary tests and tables ----------------------------------------------------------------

    def tests(self, tests: UnaryTests) -> str:
        """A function of an input and a scope."""
        if not tests.tests:
            return "() => true"
        written = ", ".join(f"() => {self.test(test)}" for test in tests.tests)
        inner = f"((s) => tests([{written}], {_boolean(tests.negated)}))"
        return f'(v, s) => {inner}(scope([["?", v]], s))'

    def test(self, test: UnaryTest) -> str:
        operand = self.tree(test.operand)
        if test.operator is not None:
            return f'cmp("{test.operator}", v, {operand})'
        if test.operand == Literal(None):
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
            signatures = ", ".join(_signature(one) for one in SIGNATURES[name])
            self.functions[name] = f"b{len(self.functions)}", f"builtin([{signatures}])"
        return self.functions[name][0]


def _signature(signature: Signature) -> str:
    parameters = ", ".join(
        f"[{js_string(p.name)}, [{', '.join(map(js_string, p.kinds))}], {_boolean(p.optional)}]"
        for p in signature.parameters
    )
    return f"[f_{signature.implementation}, [{parameters}], {_boolean(signature.variadic)}]"


def _boolean(value: bool) -> str:
    return "true" if value else "false"
