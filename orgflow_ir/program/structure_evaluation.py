"""Evaluation of exact programs: the reference that emitted code is compared with.

An error of FEEL (an operator between types that it does not combine, an argument of the wrong type,
an index out of bounds) evaluates to null (DMN 1.5, 10.3.2.1). An expression outside the supported
language raises `Unsupported`; it never evaluates to null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from orgflow_ir.program.feel import calendar, numbers
from orgflow_ir.program.feel.boundary import convert_texts, to_json
from orgflow_ir.program.feel.relations import (
    compare_values,
    conjoin_truths,
    disjoin_truths,
    equal_values,
    is_contained,
    make_range,
    parse_at_literal,
)
from orgflow_ir.program.feel.signatures import SIGNATURES, FunctionParameter, Signature
from orgflow_ir.program.feel.types import (
    ConstrainedType,
    ContextType,
    FunctionType,
    ListType,
    RangeType,
    SimpleType,
    Type,
)
from orgflow_ir.program.feel.values import (
    INPUT,
    NANOS,
    Date,
    DateTime,
    Days,
    Function,
    Months,
    Range,
    Time,
    Unsupported,
    Value,
    accepts_value,
    import_value,
    is_callable_as,
    kind,
    without_constraints,
)
from orgflow_ir.program.node_evaluation import Evaluation
from orgflow_ir.program.structures import (
    AtLiteral,
    Coerced,
    ContextLiteral,
    DecisionTable,
    Filter,
    For,
    FunctionCall,
    FunctionDefinition,
    In,
    InstanceOf,
    Iteration,
    Path,
    Quantified,
    RangeLiteral,
    TableRule,
    UnaryTest,
    UnaryTests,
    reads_input,
)
from orgflow_ir.program.syntax import Constant, Exact, Structure, Tree, Variable
from orgflow_ir.program.syntax import Path as VariablePath
from orgflow_ir.program.values import NoAnswer

MAX_ITERATIONS = 1_000_000
"""Loops with more iterations raise `Unsupported`."""


class Scope(Evaluation):
    """The names in scope, the innermost scope first. The outermost scope contains the built-in
    functions."""

    __slots__ = ("outer", "values")

    def __init__(self, values: Mapping[str, Value], outer: Scope | None = None) -> None:
        super().__init__()
        self.values, self.outer = values, outer

    def read(self, variable: Variable) -> Value:
        """The value of a name; null for an unknown one."""
        name = variable.path[0]
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        return find_builtin(name) if name in SIGNATURES else None

    def compute_exact(self, tree: Exact) -> Value:
        """The value of a program over exact values inside of another one."""
        return self.value(tree.body)

    def compute_structure(self, tree: Structure) -> Value:
        """The value of a node that binds names or makes a structure. Raises `KeyError` for an
        unknown kind of node."""
        return STRUCTURES[type(tree)](tree, self)


def evaluate(tree: Tree, values: Mapping[str, Value] | Scope | None = None) -> Value:
    """The value of a program over exact values.

    Args:
        tree: an expression.
        values: of variables, as FEEL's (`values.import_value` makes them of JSON).

    Raises:
        Unsupported: the expression uses an unsupported construct.

    Example:
        >>> evaluate(parse_expression("0.1 + 0.2 = 0.3"))
        True
    """
    return (values if isinstance(values, Scope) else Scope(values or {})).value(tree)


def evaluate_json(tree: Exact, values: Mapping[VariablePath, Any]) -> Any:
    """The value of a program as JSON, given the values of paths as JSON. Raises `Unsupported`."""
    names = dict.fromkeys(path[0] for path in tree.paths)
    given = {name: import_value(_gather_parts(name, values)) for name in names}
    return to_json(evaluate(tree.body, given))


def compute_exact(tree: Exact, values: Mapping[VariablePath, Any]) -> Any:
    """As `evaluate_json`. Raises `NoAnswer` for what is not supported."""
    try:
        return evaluate_json(tree, values)
    except Unsupported:
        raise NoAnswer from None


def _gather_parts(name: str, values: Mapping[VariablePath, Any]) -> Any:
    """The value of a variable: its own, with those of what is reached from it in it."""
    if (name,) in values:
        return values[name,]
    whole: dict[str, Any] = {}
    for path, value in values.items():
        if path[0] == name and len(path) > 1:
            inner = whole
            for part in path[1:-1]:
                inner = inner.setdefault(part, {})
            inner[path[-1]] = value
    return whole or None


def passes_tests(tests: UnaryTests, value: Value, scope: Scope | None = None) -> bool:
    """Whether unary tests hold for an input."""
    return unary_tests(tests, value, scope or Scope({})) is True


def unary_tests(tests: UnaryTests, value: Value, scope: Scope) -> bool | None:
    """The truth of unary tests for an input, with FEEL's third truth value."""
    if not tests.tests:
        return True
    inner = Scope({INPUT: value}, scope)
    result: bool | None = False
    for test in tests.tests:
        truth = _evaluate_test(test, value, inner)
        if truth is True:
            result = True
            break
        if truth is None:
            result = None
    return (None if result is None else not result) if tests.negated else result


def _evaluate_test(test: UnaryTest, value: Value, scope: Scope) -> bool | None:
    operand = scope.value(test.operand)
    if test.operator is not None:
        return compare_values(test.operator.sign, value, operand)
    if reads_input(test.operand):
        return operand if isinstance(operand, bool) else None
    if test.operand == Constant(None):
        return equal_values(value, None)
    return is_contained(value, operand)


def _compute_instance(tree: InstanceOf, scope: Scope) -> bool:
    value = scope.value(tree.value)
    if value is None:
        return tree.type == SimpleType("Null")
    return _is_instance(value, without_constraints(tree.type))


def _compute_call(tree: FunctionCall, scope: Scope) -> Value:
    called = scope.value(tree.function)
    given = [scope.value(argument) for argument in tree.arguments]
    return called.call(given, tree.names) if isinstance(called, Function) else None


def _compute_context(tree: ContextLiteral, scope: Scope) -> Value:
    context: dict[str, Value] = {}
    inner = Scope(context, scope)
    for entry in tree.entries:
        context[entry.key] = inner.value(entry.value)
    return context


def _compute_range(tree: RangeLiteral, scope: Scope) -> Value:
    ends = [None if end is None else scope.value(end) for end in (tree.low, tree.high)]
    for end, value in zip((tree.low, tree.high), ends, strict=True):
        if end is not None and value is None:
            return None
    return make_range(ends[0], ends[1], tree.low_included, tree.high_included)


# -- paths and filters -----------------------------------------------------------------------


def read_member(value: Value, name: str) -> Value:
    """An entry of a context, a property of a value, or those of all elements of a list."""
    if isinstance(value, dict):
        return value.get(name)
    if isinstance(value, tuple):
        return tuple(read_member(element, name) for element in value)
    property_value = _read_property(value, name)
    return (
        Decimal(property_value)
        if isinstance(property_value, int) and not isinstance(property_value, bool)
        else property_value
    )


def _read_property(value: Value, name: str) -> Value:
    """A property (DMN 1.5, table 66), numbers as integers."""
    match value:
        case Date(year, month, day):
            own = {"year": year, "month": month, "day": day, "weekday": calendar.weekday_of(value)}
            return own.get(name)
        case Time(hour, minute, second, _, zone):
            match name:
                case "hour" | "minute" | "second":
                    return {"hour": hour, "minute": minute, "second": second}[name]
                case "time offset":
                    offset = calendar.time_offset(value)
                    return None if offset is None else Days(offset * NANOS)
                case "timezone":
                    return zone if isinstance(zone, str) else None
        case DateTime(date, time):
            if name == "time offset":
                offset = calendar.offset_at(value)
                return None if offset is None else Days(offset * NANOS)
            of_date = _read_property(date, name)
            return _read_property(time, name) if of_date is None else of_date
        case Months(count):
            sign = -1 if count < 0 else 1
            return {"years": sign * (abs(count) // 12), "months": sign * (abs(count) % 12)}.get(
                name
            )
        case Days(nanos):
            sign, seconds = (-1 if nanos < 0 else 1), abs(nanos) // NANOS
            parts = {
                "days": seconds // 86_400, "hours": seconds // 3600 % 24,
                "minutes": seconds // 60 % 60, "seconds": seconds % 60,
            }  # fmt: skip
            return sign * parts[name] if name in parts else None
        case Range(low, high, low_included, high_included):
            own = {
                "start": low, "end": high,
                "start included": low_included, "end included": high_included,
            }  # fmt: skip
            return own.get(name)
    return None


def _filter_elements(base: Value, condition: Tree, scope: Scope) -> Value:
    elements = base if isinstance(base, tuple) else () if base is None else (base,)
    index = scope.value(condition)
    if isinstance(index, Decimal):
        return element_at(elements, index)
    selected = []
    for element in elements:
        values = {"item": element, **element} if isinstance(element, dict) else {"item": element}
        if Scope(values, scope).value(condition) is True:
            selected.append(element)
    return tuple(selected)


def element_at(elements: Sequence[Value], index: Decimal) -> Value:
    """The element at an index, from 1, or from -1 for the end."""
    at = numbers.to_integer(index)
    if at is None or at == 0 or abs(at) > len(elements):
        return None
    return elements[at - 1 if at > 0 else at]


# -- loops -----------------------------------------------------------------------------------


def _compute_loop(iterations: Sequence[Iteration], body: Tree, scope: Scope) -> Value:
    results: list[Value] = []
    turns = _list_turns(iterations, scope)
    if turns is None:
        return None
    for inner in turns:
        if inner is None:
            return None
        if len(results) == MAX_ITERATIONS:
            raise Unsupported(f"a loop of more than {MAX_ITERATIONS:,} iterations")
        results.append(Scope({"partial": tuple(results)}, inner).value(body))
    return tuple(results)


def _compute_quantified(
    some: bool, iterations: Sequence[Iteration], condition: Tree, scope: Scope
) -> bool | None:
    result: bool | None = not some
    for inner in _list_turns(iterations, scope) or (None,):
        if inner is None:
            return None
        truth = inner.value(condition)
        result = disjoin_truths(result, truth) if some else conjoin_truths(result, truth)
        if result is some:
            return some
    return result


def _list_turns(iterations: Sequence[Iteration], scope: Scope) -> Iterator[Scope | None]:
    """A scope for each combination of the variables, the last one turning fastest; `None` where a
    domain is none."""
    if not iterations:
        yield scope
        return
    first, *rest = iterations
    domain = _find_domain(first, scope)
    if domain is None:
        yield None
        return
    for element in domain:
        yield from _list_turns(rest, Scope({first.name: element}, scope))


def _find_domain(iteration: Iteration, scope: Scope) -> Sequence[Value] | None:
    domain = scope.value(iteration.domain)
    if iteration.end is not None:
        return list_steps(domain, scope.value(iteration.end))
    if isinstance(domain, Range):
        if compare_values("<=", domain.low, domain.high) is not True:
            return None
        elements = list_steps(domain.low, domain.high)
        if elements is None:
            return None
        return elements[not domain.low_included : len(elements) - (not domain.high_included)]
    if isinstance(domain, tuple):
        return domain
    return None if domain is None else (domain,)


def list_steps(low: Value, high: Value) -> Sequence[Value] | None:
    """Numbers or days from one bound to the other, ascending or descending; null for other
    values."""
    match low, high:
        case [Decimal(), Decimal()]:
            distance = numbers.compute_operation("-", high, low)
            step: Decimal | int = 1 if low <= high else -1
            count = 0 if distance is None else int(distance.copy_abs()) + 1
            _check_bound(count)
            return [numbers.CONTEXT.add(low, Decimal(step * at)) for at in range(count)]
        case [Date(), Date()]:
            first, last = calendar.day_number(low), calendar.day_number(high)
            _check_bound(abs(last - first))
            step = 1 if first <= last else -1
            return [calendar.date_from_number(day) for day in range(first, last + step, step)]
    return None


def _check_bound(count: int) -> None:
    if count > MAX_ITERATIONS:
        raise Unsupported(f"a loop of more than {MAX_ITERATIONS:,} iterations")


# -- functions -------------------------------------------------------------------------------


def _make_function(tree: FunctionDefinition, scope: Scope) -> Value:
    if tree.external:
        raise Unsupported("an external function")
    parameters = tuple((parameter.name, parameter.type) for parameter in tree.parameters)

    def call(given: Sequence[Value], names: Sequence[str] | None) -> Value:
        values = order_arguments([name for name, _ in parameters], given, names)
        if values is None:
            return None
        bound: dict[str, Value] = {}
        for (name, of), value in zip(parameters, values, strict=True):
            bound[name] = coerce_value(value, of)
            if bound[name] is None and value is not None:
                return None
        return Scope(bound, scope).value(tree.body)

    return Function(parameters, call)


def order_arguments(
    wanted: Sequence[str], given: Sequence[Value], names: Sequence[str] | None
) -> list[Value] | None:
    """Arguments in parameter order; `None` if they do not match the signature."""
    if names is None:
        return list(given) if len(given) == len(wanted) else None
    if set(names) != set(wanted):
        return None
    by_name = dict(zip(names, given, strict=True))
    return [by_name[name] for name in wanted]


_LEFT_OUT: Value = object()
"""Marks an omitted argument, since null is a valid value."""

_BUILTINS: dict[str, Function] = {}


def find_builtin(name: str) -> Function:
    """A built-in function as a value."""
    function = _BUILTINS.get(name)
    if function is None:
        signatures = SIGNATURES[name]

        def call(given: Sequence[Value], names: Sequence[str] | None) -> Value:
            return _call_builtin(signatures, given, names)

        function = _BUILTINS[name] = Function(None, call)
    return function


def _call_builtin(
    signatures: Sequence[Signature], given: Sequence[Value], names: Sequence[str] | None
) -> Value:
    from orgflow_ir.program.feel.builtin_functions import IMPLEMENTATIONS

    for signature in signatures:
        bound = _bind_arguments(signature, given, names)
        if bound is not None:
            return IMPLEMENTATIONS[signature.implementation](*bound)
    return None


def _bind_arguments(
    signature: Signature, given: Sequence[Value], names: Sequence[str] | None
) -> list[Value] | None:
    """Arguments as a signature takes them; `None` where it does not take them."""
    parameters = signature.parameters
    if names is not None:
        wanted = [parameter.name for parameter in parameters]
        if not set(names) <= set(wanted) and signature.implementation != "is_":
            return None  # the conformance kit has further names in calls of `is` only
        by_name = dict(zip(names, given, strict=True))
        given = [by_name.get(name, _LEFT_OUT) for name in wanted]
    if signature.variadic:
        return _bound_variadic(parameters, given)
    if len(given) > len(parameters):
        return None
    bound: list[Value] = []
    for at, parameter in enumerate(parameters):
        value = given[at] if at < len(given) else _LEFT_OUT
        if value is _LEFT_OUT:
            if not parameter.optional:
                return None
            value = None
        else:
            value = _as_taken(parameter.kinds, value)
            if value is _LEFT_OUT:
                return None
        bound.append(value)
    return bound


def _bound_variadic(
    parameters: Sequence[FunctionParameter], given: Sequence[Value]
) -> list[Value] | None:
    """The last parameter takes what is left; alone and given a list, that list's elements."""
    fixed = parameters[:-1]
    if len(given) < len(fixed) or _LEFT_OUT in given:
        return None
    head = [
        _as_taken(parameter.kinds, value)
        for parameter, value in zip(fixed, given[: len(fixed)], strict=True)
    ]
    rest = given[len(fixed) :]
    alone = not fixed and len(rest) == 1 and isinstance(rest[0], tuple)
    if _LEFT_OUT in head or (not fixed and not rest):
        return None
    return [*head, rest[0] if alone else tuple(rest)]


def _as_taken(kinds: Sequence[str], value: Value) -> Value:
    """A value as one of the kinds that a parameter takes; `_LEFT_OUT` where it is none."""
    if any(accepts_value(wanted, value) for wanted in kinds):
        return value
    if isinstance(value, tuple) and len(value) == 1:
        return _as_taken(kinds, value[0]) if "list" not in kinds else _LEFT_OUT
    if "list" in kinds and value is not None:
        return (value,)
    return _LEFT_OUT


# -- decision tables -------------------------------------------------------------------------


def _compute_table(table: DecisionTable, scope: Scope) -> Value:
    """The value of a decision table by its hit policy (DMN 1.5, 8.2.10)."""
    given: list[Value] = []
    for column in table.inputs:
        value = _convert_input(scope.value(column.expression), column.converts)
        value = convert_texts(value, column.type)
        if column.allowed is not None and not passes_tests(column.allowed, value, scope):
            return None
        given.append(value)
    hits = [rule for rule in table.rules if _matches_rule(rule, given, scope)]
    if not hits:
        return _compute_default(table, scope)
    if table.hit_policy == "UNIQUE" and len(hits) > 1:
        return _report_clash(table)
    if table.hit_policy == "FIRST":
        hits = hits[:1]
    rows = [
        tuple(
            coerce_value(scope.value(entry), column.type)
            for entry, column in zip(rule.entries, table.outputs, strict=True)
        )
        for rule in hits
    ]
    if table.hit_policy in ("PRIORITY", "OUTPUT ORDER"):
        orders = [[scope.value(p) for p in column.priorities] for column in table.outputs]
        rows.sort(
            key=lambda row: [_find_rank(v, order) for v, order in zip(row, orders, strict=True)]
        )
    results = [_make_row(table, row) for row in rows]
    match table.hit_policy:
        case "COLLECT" | "RULE ORDER" | "OUTPUT ORDER":
            return _aggregate_results(table, tuple(results))
        case "ANY" if any(equal_values(results[0], other) is not True for other in results):
            return _report_clash(table)
    return results[0]


def _report_clash(table: DecisionTable) -> None:
    """Several rules match against the hit policy."""
    if table.engine is not None:
        raise Unsupported(
            f"several rules of a decision table match, but its hit policy is {table.hit_policy}"
        )


def _convert_input(value: Value, type_: str) -> Value:
    """The value of an input as Camunda 7 converts it to the type of its column
    (`DefaultDataTypeTransformerRegistry`). Raises `Unsupported` if it fails there."""
    text = value if isinstance(value, str) else ""
    match type_, value:
        case ("", _) | (_, None) | ("string", str()) | ("boolean", bool()):
            return value
        case ["string", bool()]:
            return "true" if value else "false"
        case ["string", Decimal()]:
            written = numbers.plain_digits(value)
            if _AS_JAVA.fullmatch(written):
                return written
        case ["boolean", str()]:
            return text.lower() == "true"
        case ["date", Date()]:
            return DateTime(value, Time(0, 0, 0))
        case ["date", str() | DateTime()]:
            moment = calendar.parse_date_time(value) if isinstance(value, str) else value
            if isinstance(moment, DateTime) and moment.time.zone is None:
                return moment
        case ["double", str()] if _DECIMAL.fullmatch(text):
            return Decimal(text)
        case (("integer" | "long"), str()) if _INTEGER.fullmatch(text):
            return _check_whole(Decimal(text), type_)
        case ["double", Decimal()]:
            return value
        case (("integer" | "long"), Decimal()):
            return _check_whole(value, type_)
    raise Unsupported(f"a decision table expects a value of type {type_}")


def _check_whole(value: Decimal, type_: str) -> Decimal:
    if (
        value == value.to_integral_value()
        and abs(value) <= 2 ** (31 if type_ == "integer" else 63) - 1
    ):
        return value
    raise Unsupported(f"a decision table expects a value of type {type_}")


_INTEGER, _DECIMAL = re.compile(r"[+-]?\d+"), re.compile(r"[+-]?\d+(\.\d+)?")
_AS_JAVA = re.compile(r"-?\d{1,7}(\.\d{1,6})?|-?\d{8,15}")
"""Numbers that Java writes as FEEL does: whole ones, and fractions without an exponent."""


def _matches_rule(rule: TableRule, given: Sequence[Value], scope: Scope) -> bool:
    return all(
        passes_tests(tests, value, scope) for tests, value in zip(rule.tests, given, strict=True)
    )


def _find_rank(value: Value, order: Sequence[Value]) -> int:
    """The place of a value among priorities; behind all of them where it is none."""
    return next(
        (at for at, priority in enumerate(order) if equal_values(value, priority) is True),
        len(order),
    )


def _make_row(table: DecisionTable, values: Sequence[Value]) -> Value:
    if len(table.outputs) == 1:
        return values[0]
    return {column.name: value for column, value in zip(table.outputs, values, strict=True)}


def _compute_default(table: DecisionTable, scope: Scope) -> Value:
    defaults = [
        None if column.default is None else coerce_value(scope.value(column.default), column.type)
        for column in table.outputs
    ]
    stated = [column.default is not None for column in table.outputs]
    if any(stated):
        if table.engine == "camunda8":
            return _make_row(table, defaults) if all(stated) else _list_stated(table, defaults)
        row = _make_row(table, defaults)
        lists = table.hit_policy in ("COLLECT", "RULE ORDER", "OUTPUT ORDER")
        return (row,) if lists and table.aggregation is None else row
    if table.aggregation == "COUNT" and table.engine in (None, "camunda7"):
        return Decimal(0)
    return None


def _list_stated(table: DecisionTable, defaults: Sequence[Value]) -> Value:
    """The default outputs that a table states: a single one is the value itself."""
    stated = {
        column.name: value
        for column, value in zip(table.outputs, defaults, strict=True)
        if column.default is not None
    }
    return next(iter(stated.values())) if len(stated) == 1 else stated


def _sum_in_java(results: Sequence[Value], *, ordered: bool) -> Value:
    """The sum of numbers of which those with a fraction are doubles, added in the order of the
    rules if it is `ordered`. Raises `Unsupported` if another order has another sum."""
    addends = [result for result in results if isinstance(result, Decimal)]
    if len(addends) < len(results):
        return None
    if all(addend == addend.to_integral_value() for addend in addends):
        return Decimal(sum(addends))
    doubles = [float(addend) for addend in addends]
    orders = [doubles] if ordered else [doubles, sorted(doubles), sorted(doubles, reverse=True)]
    sums = {float(sum(order)) for order in orders}
    if len(sums) > 1:
        raise Unsupported("the sum of a decision table depends on the order of its rules")
    return Decimal(repr(sums.pop()))


def _aggregate_results(table: DecisionTable, results: tuple[Value, ...]) -> Value:
    from orgflow_ir.program.feel.builtin_functions import IMPLEMENTATIONS

    if table.aggregation is not None and table.engine == "flowable":
        distinct = IMPLEMENTATIONS["distinct_values"](results)
        assert isinstance(distinct, tuple)
        results = distinct
    match table.aggregation:
        case None:
            return results
        case "COUNT":
            return Decimal(len(results))
        case "SUM" if table.engine in ("camunda7", "flowable"):
            return _sum_in_java(results, ordered=table.engine == "camunda7")
        case aggregation:
            return IMPLEMENTATIONS[f"{aggregation.lower()}_"](results)


STRUCTURES: Final[Mapping[type[Structure], Callable[[Any, Scope], Value]]] = {
    AtLiteral: lambda tree, scope: parse_at_literal(tree.text),
    Path: lambda tree, scope: read_member(scope.value(tree.base), tree.name),
    Filter: lambda tree, scope: _filter_elements(scope.value(tree.base), tree.condition, scope),
    In: lambda tree, scope: unary_tests(tree.tests, scope.value(tree.value), scope),
    InstanceOf: _compute_instance,
    For: lambda tree, scope: _compute_loop(tree.iterators, tree.body, scope),
    Quantified: lambda tree, scope: _compute_quantified(
        tree.quantifier == "some", tree.iterators, tree.condition, scope
    ),
    FunctionDefinition: lambda tree, scope: _make_function(tree, scope),
    FunctionCall: _compute_call,
    ContextLiteral: _compute_context,
    RangeLiteral: _compute_range,
    Coerced: lambda tree, scope: coerce_value(scope.value(tree.value), tree.type),
    DecisionTable: lambda tree, scope: _compute_table(tree, scope),
}
"""The value of each kind of node."""


def _is_instance(value: Value, wanted: Type) -> bool:
    """Whether a value is an instance of a type (DMN 1.5, 10.3.2.9.3). Null belongs to every type,
    except for `instance of`, which tests it first."""
    match wanted:
        case SimpleType(name):
            return name == "Any" or value is None or kind(value) == name
        case _ if value is None:
            return True
        case ListType(element):
            return isinstance(value, tuple) and all(_is_instance(v, element) for v in value)
        case RangeType(element):
            return isinstance(value, Range) and all(
                _is_instance(end, element) for end in (value.low, value.high)
            )
        case ContextType(entries):
            return isinstance(value, dict) and all(
                name in value and _is_instance(value[name], of) for name, of in entries
            )
        case FunctionType(parameters, result):
            return isinstance(value, Function) and is_callable_as(value, parameters, result)
        case ConstrainedType():
            return _is_instance(value, wanted.base) and passes_tests(wanted.allowed, value)
    raise AssertionError(wanted)


def coerce_value(value: Value, wanted: Type) -> Value:
    """A value coerced to a type: a list of one element to the element, an element to a list of one,
    a date to the start of its day; null if it does not conform (DMN 1.5, 10.3.2.9.4)."""
    if value is None or _is_instance(value, wanted):
        return value
    base = wanted
    while isinstance(base, ConstrainedType):
        base = base.base
    if isinstance(value, tuple) and len(value) == 1 and _is_instance(value[0], wanted):
        return value[0]
    if (
        isinstance(base, ListType)
        and not isinstance(value, tuple)
        and _is_instance((value,), wanted)
    ):
        return (value,)
    if isinstance(value, Date) and base == SimpleType("date and time"):
        midnight = DateTime(value, Time(0, 0, 0, 0, 0))
        return midnight if _is_instance(midnight, wanted) else None
    return None
