"""FEEL as plain JavaScript, for expressions that need no runtime.

Values are those of JSON: JavaScript's numbers stand for their shortest decimals, and sums and
products are computed as whole numbers of a very small unit (`exact`). An expression that is not
printed inline is printed with the runtime (`feel_runtime_code`).

No text of a source is copied, as in `feel_runtime_code`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from orgflow.backends.javascript import feel_dates as dates
from orgflow.backends.javascript.code_values import (
    TEMPORAL,
    ExactRow,
    ExactRows,
    Kind,
    Scope,
    Untranslated,
    Value,
    print_helper_call,
)
from orgflow.backends.javascript.identifiers import NO_IDENTIFIERS
from orgflow.backends.javascript.literals import js_string, property_name, property_of
from orgflow.backends.javascript.operation_functions import function_text, read_functions

from orgflow_ir.program.exact_names import is_logical
from orgflow_ir.program.feel.patterns import compile_pattern, replacement_parts, rewrite_pattern
from orgflow_ir.program.feel.signatures import SIGNATURES
from orgflow_ir.program.feel.values import INPUT, Unsupported
from orgflow_ir.program.feel_operators import EXACT_LIST, FEEL
from orgflow_ir.program.structures import (
    ContextLiteral,
    Filter,
    For,
    FunctionCall,
    In,
    Iteration,
    Path,
    Quantified,
    RangeLiteral,
    UnaryTest,
    parts,
    reads_input,
)
from orgflow_ir.program.syntax import (
    Apply,
    Arithmetic,
    Call,
    Comparison,
    ComparisonOperator,
    Conditional,
    Constant,
    Logical,
    Negative,
    Operation,
    Scalar,
    Tree,
    Variable,
)

_NUMBER_DIGITS = 17
"""As many digits has the shortest decimal of a double at most."""

_FEEL_DIGITS = 34
"""As many digits has a number of FEEL."""

_CONSTANT_DIGITS = 15
"""As many digits of a decimal number are kept by a double."""

_HELPERS: dict[str, str] = {
    name: function_text(code) if code.isidentifier() else code
    for name, code in read_functions("feel_inline").items()
}
"""Functions that expressions define if they call them, in this order. `single` is the element of a
list of one, which FEEL accepts in its place, and `order` a value in the order of code points."""

_REPEATED = 60
"""As many characters of code are written several times at most."""

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_GENERATED = re.compile(r"one\d+")
_CONSTANT = re.compile(r"exact\(-?[\d.e+-]+\)")
_CALLED = re.compile(r"(?:(?<![\w.$])|(?<=\.\.\.))[A-Za-z]+(?=\()|(?<=\.map\()[A-Za-z]+\b")
"""A name that is called, or passed to `map`."""


_OF_OBJECTS = frozenset(
    {
        "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
        "toString", "valueOf",
    }
)  # fmt: skip
"""Names that every object has in JavaScript; those with two underscores are others."""

_OF_TEXTS_AND_LISTS = frozenset(
    {
        "length", "at", "concat", "copyWithin", "fill", "find", "findIndex", "findLast",
        "findLastIndex", "lastIndexOf", "pop", "push", "reverse", "shift", "unshift", "slice",
        "sort", "splice", "includes", "indexOf", "join", "keys", "entries", "values", "forEach",
        "filter", "flat", "flatMap", "map", "every", "some", "reduce", "reduceRight",
        "toReversed", "toSorted", "toSpliced", "with", "anchor", "big", "blink", "bold", "charAt",
        "charCodeAt", "codePointAt", "endsWith", "fontcolor", "fontsize", "fixed", "italics",
        "link", "localeCompare", "match", "matchAll", "normalize", "padEnd", "padStart", "repeat",
        "replace", "replaceAll", "search", "small", "split", "strike", "sub", "substr",
        "substring", "sup", "startsWith", "toLowerCase", "toUpperCase", "toLocaleLowerCase",
        "toLocaleUpperCase", "trim", "trimStart", "trimLeft", "trimEnd", "trimRight",
        "isWellFormed", "toWellFormed", "toExponential", "toFixed", "toPrecision",
    }
)  # fmt: skip
"""Names that texts, lists or numbers have in JavaScript."""

_RESERVED = NO_IDENTIFIERS | {"item", "items", "input", "one"}
"""Names that no parameter of generated code has."""

_TESTS: dict[Kind, str] = {"number": "number", "text": "string", "truth": "boolean"}
_ENDS = frozenset({"exact", "sum", "shown", "nan"}) | TEMPORAL
"""Kinds of values whose code is not that of the value as JSON."""

_NUMBERS = frozenset({"number", "exact"})
_OPPOSITE: dict[str, str] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_METHODS = {"contains": "includes", "starts with": "startsWith", "ends with": "endsWith"}

HELPER_NAMES = frozenset({*_HELPERS, "one"})
"""Names that no variable has in code with these functions."""

_MOST_CODE = 10_000
"""Maximum number of characters of a value: code contains the code of an operand several times."""


def list_helpers(code: str) -> Iterator[str]:
    """Definitions of the functions that code calls, in order."""
    called: set[str] = set()
    pending = [code]
    while pending:
        words = set(_CALLED.findall(_STRING.sub("", pending.pop())))
        pending += [_HELPERS[word] for word in words & _HELPERS.keys() - called]
        called |= words
    return (f"const {n} = {text};" for n, text in _HELPERS.items() if n in called)


class Direct:
    """Prints expressions.

    Args:
        rows: how each operation and node is printed.
        variable: the code of a variable, or `None` for an unknown name.
        taken: names that no parameter of a function has.
    """

    def __init__(
        self,
        rows: ExactRows,
        variable: Callable[[str], str | None],
        taken: frozenset[str] = frozenset(),
    ) -> None:
        self.rows = rows
        self.variable = variable
        self.taken = taken
        self.numbers = itertools.count(1)
        self.shown = False
        """Whether a value was written as it is shown: rounded, or a date as text."""

    # -- values --------------------------------------------------------------------------------

    def json(self, tree: Tree, scope: Scope) -> str:
        """Code whose value is JSON, never undefined."""
        if is_truth(tree, scope):
            true = self.truth(tree, True, scope)
            if self.is_total(tree):
                return true
            return f"({true} ? true : {self.truth(tree, False, scope)} ? false : null)"
        if isinstance(tree, Conditional):
            condition = self.truth(tree.condition, True, scope)
            then, otherwise = self.json(tree.then, scope), self.json(tree.otherwise, scope)
            return f"({condition} ? {then} : {otherwise})"
        return self.as_json(self.value(tree, scope))

    def as_json(self, value: Value) -> str:
        written = value.js
        if value.kind in ("exact", "sum", "shown") or value.kind in TEMPORAL:
            self.shown = True
        if value.kind in TEMPORAL:
            return dates.as_json(value)
        if value.kind == "nan":
            return f"((n) => Number.isNaN(n) ? null : n)({written})"
        if value.kind == "exact":
            factors = [] if value.factors == 1 else [str(value.factors)]
            written = print_helper_call("decimal", written, *factors)
        if value.kind == "any" and not written.startswith("part("):
            written = f"({written} ?? null)"
        return f"({' && '.join(value.guards)} ? {written} : null)" if value.guards else written

    def value(self, tree: Tree, scope: Scope, numeric: bool = False) -> Value:
        """Code for an expression; if `numeric`, one that is null unless it is a number."""
        code = self.unlimited(tree, scope, numeric)
        if len(code.js) > _MOST_CODE:
            raise Untranslated
        return code

    def unlimited(self, tree: Tree, scope: Scope, numeric: bool) -> Value:
        """The same, of any length."""
        if is_truth(tree, scope):
            code = self.json(tree, scope)
            return Value(f"({code})", "truth") if self.is_total(tree) else Value(code)
        if dates.is_constant(tree) and self.calls_functions(tree, scope):
            return dates.print_constant(tree)
        if isinstance(tree, Constant):
            return _print_literal(tree.value)
        if isinstance(tree, Variable):
            return self.name(tree.name, scope)
        print_value = self.find_row(tree).value
        if print_value is None:
            raise Untranslated
        return print_value(self, tree, scope, numeric)

    def find_row(self, tree: Tree) -> ExactRow:
        """The row of an operation or of another kind of node. Raises `KeyError` for an unknown
        one."""
        return self.rows[tree.operation.name if isinstance(tree, Apply) else type(tree)]

    def print_path(self, tree: Path, scope: Scope, numeric: bool) -> Value:
        of = self.value(tree.base, scope)
        return dates.print_part(of, tree.name) if of.kind in TEMPORAL else self.part(of, tree.name)

    def print_filter(self, tree: Filter, scope: Scope, numeric: bool) -> Value:
        return self.filtered(tree.base, tree.condition, scope)

    def print_negative(self, tree: Negative, scope: Scope, numeric: bool) -> Value:
        number = tree.operand.value if isinstance(tree.operand, Constant) else None
        if not isinstance(number, Decimal):
            raise Untranslated
        return _print_literal(-number)

    def print_sum(self, tree: Arithmetic, scope: Scope, numeric: bool) -> Value:
        """`+`, of numbers or texts."""
        if numeric:
            return self.print_arithmetic(tree, scope, numeric)
        left, right = self.value(tree.left, scope), self.value(tree.right, scope)
        if left.kind in TEMPORAL or right.kind in TEMPORAL:
            return dates.print_calculation("+", left, right)
        if left.kind == "sum" and right.kind in _NUMBERS:
            left = self.value(tree.left, scope, True)
        return self.arithmetic("+", left, right)

    def print_arithmetic(self, tree: Arithmetic, scope: Scope, numeric: bool) -> Value:
        """An operation of numbers, dates or durations."""
        sign = tree.operation.sign
        left, right = self.value(tree.left, scope, True), self.value(tree.right, scope, True)
        if left.kind in TEMPORAL or right.kind in TEMPORAL:
            return dates.print_calculation(sign, left, right)
        return self.arithmetic(sign, self.exact(left), self.exact(right))

    def print_choice(self, tree: Conditional, scope: Scope, numeric: bool) -> Value:
        (code,), kind = self.nested([tree], scope, "any")
        return Value(code, kind)

    def print_loop(self, tree: For, scope: Scope, numeric: bool) -> Value:
        match tree.iterators:
            case (Iteration(name, domain, None),) if not _reads_name(tree.body, "partial"):
                all_of = self.value(domain, scope)
                inner, element = self.bound(name, scope)
                guard, listed = self.listed(all_of)
                (code,), kind = self.nested([tree.body], inner, "list")
                return Value(f"{listed}.map(({element}) => {code})", kind, guard)
        raise Untranslated

    def print_call(self, tree: FunctionCall, scope: Scope, numeric: bool) -> Value:
        name = tree.function.name if isinstance(tree.function, Variable) else ""
        if tree.names is not None or not self.is_function(name, scope):
            raise Untranslated
        values = [self.value(argument, scope) for argument in tree.arguments]
        print_function = FUNCTIONS.get(name)
        if print_function is None:
            raise Untranslated
        return print_function(self, values, tree.arguments, scope)

    def print_list(self, tree: Apply, scope: Scope, numeric: bool) -> Value:
        codes, kind = self.nested(tree.operands, scope, "list")
        return Value(f"[{', '.join(codes)}]", kind)

    def print_context(self, tree: ContextLiteral, scope: Scope, numeric: bool) -> Value:
        keys = [entry.key for entry in tree.entries]
        if any(map(_is_odd, keys)) or len(set(keys)) < len(keys):
            raise Untranslated
        codes: list[str] = []
        kind: Kind = "context"
        inner = dict(scope)
        for at, entry in enumerate(tree.entries):
            (code,), entry_kind = self.nested([entry.value], inner, "context")
            codes.append(code)
            kind = "shown" if entry_kind == "shown" else kind
            if any(_reads_name(later.value, entry.key) for later in tree.entries[at + 1 :]):
                inner[entry.key] = self.repeated(entry.value, inner)
        pairs = zip(map(property_name, keys), codes, strict=True)
        written = ", ".join(f"{key}: {code}" for key, code in pairs)
        return Value(f"({{ {written} }})" if written else "({})", kind)

    def repeated(self, tree: Tree, scope: Scope) -> Value:
        """A value whose code is short enough to stand in several places."""
        value = self.value(tree, scope)
        if len(value.js) > _REPEATED or value.kind == "shown":
            raise Untranslated
        return value._replace(simple=True)

    def is_function(self, name: str, scope: Scope) -> bool:
        """Whether a name is that of a function and of no variable."""
        return name in SIGNATURES and name not in scope and self.variable(name) is None

    def calls_functions(self, tree: Tree, scope: Scope) -> bool:
        """Whether all names in an expression are those of functions that it calls."""
        names = {part.name for part in parts(tree) if isinstance(part, Variable)}
        return all(self.is_function(n, scope) and _only_called(tree, n) for n in names)

    def nested(self, trees: Sequence[Tree], scope: Scope, kind: Kind) -> tuple[list[str], Kind]:
        """Values as JSON, and the kind of what they are part of: `shown` if it is only a result."""
        before, self.shown = self.shown, False
        codes = [self.json(tree, scope) for tree in trees]
        kind_of_all: Kind = "shown" if self.shown else kind
        self.shown = self.shown or before
        return codes, kind_of_all

    def name(self, name: str, scope: Scope) -> Value:
        if name in scope:
            return scope[name]
        read = self.variable(name)
        if read is None:
            raise Untranslated
        return Value(read, simple=True)

    def part(self, base: Value, name: str) -> Value:
        """An entry of a context; a list has the list of the entries of its elements."""
        if _is_odd(name) or base.kind not in ("any", "context") or base.guards:
            raise Untranslated
        exact = print_helper_call("part", base.js, js_string(name))
        if name in _OF_TEXTS_AND_LISTS:
            loose = f"({{ ...{base.short} }}).{name}"
        elif name.isidentifier() and name.isascii():
            loose = f"{base.short}?.{name}"
        else:
            loose = property_of(f"({base.short} ?? {{}})", name)
        return Value(exact, loose=loose, simple=base.simple)

    def filtered(self, base: Tree, condition: Tree, scope: Scope) -> Value:
        """An element of a list by its number, or the list of those that satisfy a condition."""
        of = self.value(base, scope)
        if of.guards or of.kind not in ("any", "list"):
            raise Untranslated
        number = _find_whole(condition)
        if number is not None:
            if number == 0:
                return Value("null", "null")
            at = f"[{number - 1}]" if number > 0 else f".at({number})"
            return Value(f"[].concat({_require_plain(of)}){at}", simple=of.simple)
        if not is_truth(condition, scope):
            raise Untranslated
        element = self.new_name()
        inner: dict[str, Value] = dict(scope)
        for name in dict.fromkeys(p.name for p in parts(condition) if isinstance(p, Variable)):
            if name in SIGNATURES and name not in scope and self.variable(name) is None:
                if not _only_called(condition, name):
                    raise Untranslated
                continue
            if _is_odd(name):
                raise Untranslated
            outer = element if name == "item" else _require_plain(self.name(name, scope))
            key = property_name(name)
            code = property_of(f"({{ {key}: {outer}, ...{element} }})", name)
            inner[name] = Value(code, simple=True)
        test = self.truth(condition, True, inner)
        return Value(f"[].concat({_require_plain(of)} ?? []).filter(({element}) => {test})", "list")

    def listed(self, value: Value) -> tuple[tuple[str, ...], str]:
        """A value as a list, and the guards that it is not null."""
        if value.kind == "list":
            return value.guards, value.js
        code = _require_plain(value)
        if value.kind != "any" or not value.simple:
            raise Untranslated
        return (f"{code} != null",), f"[].concat({code})"

    def new_name(self) -> str:
        """A name for a parameter of generated code."""
        return next(name for n in self.numbers if (name := f"one{n}") not in self.taken)

    def bound(self, name: str, scope: Scope) -> tuple[dict[str, Value], str]:
        """A scope with a parameter of a function, and its name there."""
        plain = name.isidentifier() and name.isascii() and name[:1] != "_"
        taken = self.taken | _RESERVED | _HELPERS.keys() | {v.js for v in scope.values()}
        free = plain and name not in taken and not _GENERATED.fullmatch(name)
        parameter = name if free else self.new_name()
        return {**scope, name: Value(parameter, simple=True)}, parameter

    def arithmetic(self, sign: str, left: Value, right: Value) -> Value:
        if sign == "+" and "text" in (left.kind, right.kind):
            left_operand, right_operand = self.typed(left, "text"), self.typed(right, "text")
            first = left_operand.js[1:-1] if left_operand.digits < 0 else left_operand.js
            guards = tuple(dict.fromkeys(left_operand.guards + right_operand.guards))
            return Value(f"({first} + {right_operand.js})", "text", guards, digits=-1)
        if sign == "+" and left.kind in ("any", "sum") and right.kind == "any":
            if left.guards or right.guards:
                raise Untranslated
            given = left.js[len("add(") : -1] if left.kind == "sum" else left.short
            return Value(print_helper_call("add", given, right.short), "sum")
        if sign not in ("+", "-", "*", "/"):
            raise Untranslated
        left_operand, right_operand = self.exact(left), self.exact(right)
        guards = tuple(dict.fromkeys(left_operand.guards + right_operand.guards))
        if (
            max(left_operand.digits, right_operand.digits) > _FEEL_DIGITS
        ):  # FEEL would round the result again
            raise Untranslated
        if sign == "/":
            if right_operand.js == "exact(0)":
                return Value("null", "null")
            factors = max(left_operand.factors, right_operand.factors)
            first, second = self.raised(left_operand, factors), self.raised(right_operand, factors)
            if not _CONSTANT.fullmatch(right_operand.js):
                guards = (*guards, f"{_bracket_code(second)} !== 0n")
            digits = _FEEL_DIGITS + 1
            return Value(
                print_helper_call("quotient", first, second),
                "exact",
                guards,
                factors=1,
                digits=digits,
            )
        if sign == "*":
            factors, digits = (
                left_operand.factors + right_operand.factors,
                left_operand.digits + right_operand.digits,
            )
            if digits > _FEEL_DIGITS:
                raise Untranslated
            code = " * ".join(_bracket_code(c.js) for c in (left_operand, right_operand))
            return Value(code, "exact", guards, factors=factors, digits=digits)
        factors = max(left_operand.factors, right_operand.factors)
        first, second = self.raised(left_operand, factors), self.raised(right_operand, factors)
        if sign == "-":
            second = _bracket_code(second)
        digits = max(left_operand.digits, right_operand.digits)
        return Value(f"{first} {sign} {second}", "exact", guards, factors=factors, digits=digits)

    def typed(self, value: Value, kind: Kind) -> Value:
        """A value that is null unless it has a type."""
        if value.kind == kind:
            return value
        if value.kind == "nan" and kind == "number":
            return Value(value.js, "number", (dates.is_known(value),), simple=True)
        if value.kind != "any" or value.guards or not value.simple:
            raise Untranslated
        code = value.short
        return Value(code, kind, (f'typeof {code} === "{_TESTS[kind]}"',), simple=True)

    def exact(self, value: Value) -> Value:
        if value.kind == "exact":
            return value
        number = self.typed(value, "number")
        code = print_helper_call("exact", number.js)
        digits = number.digits or _NUMBER_DIGITS
        return Value(code, "exact", number.guards, factors=1, digits=digits)

    def raised(self, value: Value, factors: int) -> str:
        """An exact number in the unit of a product of several factors."""
        more = factors - value.factors
        code = _bracket_code(value.js) if more else value.js
        return " * ".join([code, *["exact(1)"] * more])

    def read(self, kind: Kind, value: Value) -> Value:
        """The date or moment in a text."""
        if value.kind == "text":
            guards = " && ".join(value.guards)
            return dates.of_text(kind, f"({guards} ? {value.js} : null)" if guards else value.js)
        return dates.of_text(kind, print_helper_call("single", _require_plain(value)))

    def text(self, value: Value) -> Value:
        """The argument of a function of texts."""
        if value.kind == "text":
            return value
        if value.kind != "any" or value.guards or not value.simple:
            raise Untranslated
        code = print_helper_call("single", value.js)
        return Value(code, "text", (f'typeof {code} === "string"',), simple=True)

    def divided(self, text: Value, by: str, *, after: bool) -> Value:
        """The part of a text before or after another one; empty if it does not contain it."""
        if by == '""':
            raise Untranslated
        code = f'({text.js}.includes({by}) ? {text.js}.split({by})[0] : "")'
        if after:
            code = f"{text.js}.split({by}).slice(1).join({by})"
        return Value(code, "text", text.guards)

    def cut(self, text: Value, numbers: Sequence[int | None]) -> Value:
        """A part of a text from a position, which it must have, and with a length."""
        if not all(n is not None and n > 0 for n in numbers) or len(numbers) not in (1, 2):
            raise Untranslated
        first, *length = (n or 0 for n in numbers)
        ends = ", ".join(map(str, [first - 1, *(first - 1 + n for n in length)]))
        guards = (*text.guards, f"[...{text.js}].length >= {first}")
        return Value(f'[...{text.js}].slice({ends}).join("")', "text", guards)

    def pattern(self, arguments: Sequence[Tree], how: str) -> str | None:
        """A regular expression with these flags and those of the call; `None` if it is none."""
        source, flags = _find_pattern(arguments)
        try:
            if compile_pattern(source, flags) is None:
                return None
            written = js_string(rewrite_pattern(source, flags))
        except Unsupported:
            raise Untranslated from None
        return f'new RegExp({written}, "{how}{"i" if "i" in flags else ""}")'

    def replaced(
        self, text: Value, source: Tree, replacement: Tree, flags: Sequence[Tree]
    ) -> Value:
        """A text in which all matches of a pattern are replaced."""
        arguments = (source, *flags)
        code, regex = self.pattern(arguments, "gu"), None
        if code is not None:
            regex = compile_pattern(*_find_pattern(arguments))
        assert isinstance(replacement, Constant)
        assert isinstance(replacement.value, str)
        if regex is None or regex.search("") is not None:
            return Value("null", "null")
        written = replacement_parts(replacement.value, regex.groups)
        if written is None:
            return Value("null", "null")
        by = ""
        for part in written:
            if isinstance(part, int) and part > 99:
                raise Untranslated
            # JavaScript reads two digits.
            by += (
                part.replace("$", "$$")
                if isinstance(part, str)
                else f"${part:02}"
                if part
                else "$&"
            )
        return Value(f"{text.js}.replace({code}, {js_string(by)})", "text", text.guards)

    # -- truth ---------------------------------------------------------------------------------

    def is_total(self, tree: Tree) -> bool:
        """Whether a logical expression is never null."""
        match tree:
            case Comparison(_, sides) if tree.operator in ("==", "!="):
                return Constant(None) in sides
            case Logical(_, (left, right)):
                return self.is_total(left) and self.is_total(right)
            case FunctionCall(Variable(("not",)), (operand,), None):
                return self.is_total(operand)
        return False

    def truth(self, tree: Tree, wanted: bool, scope: Scope) -> str:
        """A truth value of JavaScript: whether an expression has a truth value."""
        if isinstance(tree, Constant) and (tree.value is None or isinstance(tree.value, bool)):
            return "true" if tree.value is wanted else "false"
        if not isinstance(tree, Constant | Variable):
            print_truth = self.find_row(tree).truth
            code = None if print_truth is None else print_truth(self, tree, wanted, scope)
            if code is not None:
                return code
        if is_truth(tree, scope):
            raise Untranslated
        value = self.value(tree, scope)
        if value.kind == "truth":
            return _join_tests([*value.guards, value.js if wanted else f"!{value.js}"])
        if value.kind != "any":
            return "false"
        test = f"{value.short} === {'true' if wanted else 'false'}"
        return _join_tests([*value.guards, test])

    def test_logic(self, tree: Logical, wanted: bool, scope: Scope) -> str:
        sign = "&&" if (tree.operator == "and") is wanted else "||"
        left, right = self.truth(tree.left, wanted, scope), self.truth(tree.right, wanted, scope)
        return f"({left} {sign} {right})"

    def test_comparison(self, tree: Comparison, wanted: bool, scope: Scope) -> str:
        return self.compared(tree.operation.sign, tree.left, tree.right, wanted, scope)

    def test_between(self, tree: Apply, wanted: bool, scope: Scope) -> str:
        value, low, high = tree.operands
        return self.truth(_join_ends(value, (">=", low), ("<=", high)), wanted, scope)

    def test_in(self, tree: In, wanted: bool, scope: Scope) -> str:
        negated = tree.tests.negated is wanted
        tests = [self.test(tree.value, test, not negated, scope) for test in tree.tests.tests]
        if not tests:
            raise Untranslated
        joined = (" && " if negated else " || ").join(tests)
        return joined if len(tests) == 1 else f"({joined})"

    def test_choice(self, tree: Conditional, wanted: bool, scope: Scope) -> str:
        test = self.truth(tree.condition, True, scope)
        then, otherwise = (
            self.truth(tree.then, wanted, scope),
            self.truth(tree.otherwise, wanted, scope),
        )
        return f"({test} ? {then} : {otherwise})"

    def test_quantified(self, tree: Quantified, wanted: bool, scope: Scope) -> str:
        match tree.iterators:
            case (Iteration(name, domain, None),):
                inner, parameter = self.bound(name, scope)
                guards, code = self.listed(self.value(domain, scope))
                method = "some" if (tree.quantifier == "some") is wanted else "every"
                test = self.truth(tree.condition, wanted, inner)
                return _join_tests([*guards, f"{code}.{method}(({parameter}) => {test})"])
        raise Untranslated

    def test_call(self, tree: FunctionCall, wanted: bool, scope: Scope) -> str | None:
        """A call whose value is true, false or null; `None` for another one."""
        if not is_truth(tree, scope):
            return None
        assert isinstance(tree.function, Variable)
        name = tree.function.name
        if not self.is_function(name, scope):
            raise Untranslated
        if name == "not" and len(tree.arguments) == 1:
            return self.truth(tree.arguments[0], not wanted, scope)
        values = [self.value(argument, scope) for argument in tree.arguments]
        if name not in TESTS:
            raise Untranslated
        return TESTS[name](self, name, values, tree.arguments, wanted)

    def compared(self, sign: str, left: Tree, right: Tree, wanted: bool, scope: Scope) -> str:
        """Whether a comparison has a truth value."""
        is_equality = sign in ("==", "!=")
        differs = is_equality and (sign == "==") is not wanted
        left_value, right_value = self.value(left, scope), self.value(right, scope)
        # Two texts have no number as their sum: they neither equal a number nor differ from it.
        kinds = {left_value.kind, right_value.kind}
        if not differs and "sum" in kinds and not kinds.isdisjoint(_NUMBERS):
            left_value, right_value = self.value(left, scope, True), self.value(right, scope, True)
            kinds = {left_value.kind, right_value.kind}
        if not kinds.isdisjoint({"sum", "shown"}):
            raise Untranslated
        if kinds <= TEMPORAL:
            if is_equality:
                return dates.print_equality(left_value, right_value, positive=not differs)
            return dates.print_order(sign if wanted else _OPPOSITE[sign], left_value, right_value)
        if kinds <= {"nan", "number"} and not left_value.guards and not right_value.guards:
            return self.compared_counts(sign, left_value, right_value, wanted=wanted)
        left_value, right_value = (
            v if v.kind != "nan" else self.typed(v, "number") for v in (left_value, right_value)
        )
        if is_equality:
            return self.equal(left_value, right_value, not differs)
        is_low = _is_low(left) or _is_low(right)
        return self.ordered(
            sign if wanted else _OPPOSITE[sign], left_value, right_value, is_low=is_low
        )

    def ordered(self, sign: str, left: Value, right: Value, *, is_low: bool) -> str:
        """Whether two values are in an order. `is_low`: texts of which one has the same order in
        code points as in UTF-16."""
        if "exact" in (left.kind, right.kind):
            return self.compared_exactly(sign, left, right)
        kinds = {left.kind, right.kind} - {"any"}
        if not kinds:
            if left.guards or right.guards:
                raise Untranslated
            ranks = (print_helper_call("order", side.short) for side in (left, right))
            return f" {sign} ".join(ranks)
        if len(kinds) > 1 or not kinds <= {"number", "text"}:
            return "false"
        kind: Kind = kinds.pop()
        left, right = self.typed(left, kind), self.typed(right, kind)
        guards = list(dict.fromkeys(left.guards + right.guards))
        if kind == "text" and not is_low:
            codes = print_helper_call("order", left.js), print_helper_call("order", right.js)
        else:
            codes = left.js, right.js
        return _join_tests([*guards, f"{codes[0]} {sign} {codes[1]}"])

    def compared_counts(self, sign: str, left: Value, right: Value, *, wanted: bool) -> str:
        """A comparison of numbers of which some may be `NaN`, which stands for null."""
        if sign not in ("==", "!="):
            return f"{left.js} {sign if wanted else _OPPOSITE[sign]} {right.js}"
        if left.kind == right.kind == "nan":
            raise Untranslated
        return f"{left.js} {'===' if (sign == '==') is wanted else '!=='} {right.js}"

    def compared_exactly(self, sign: str, first: Value, second: Value) -> str:
        left, right = self.exact(first), self.exact(second)
        factors = max(left.factors, right.factors)
        guards = dict.fromkeys(left.guards + right.guards)
        return _join_tests(
            [*guards, f"{self.raised(left, factors)} {sign} {self.raised(right, factors)}"]
        )

    def equal(self, left: Value, right: Value, positive: bool) -> str:
        """Whether two values are equal; if not `positive`, whether they differ, of one type or
        null."""
        if left.kind == "null" or (left.kind != "any" and right.kind == "any"):
            left, right = right, left
        if right.kind == "null":
            return self.null(left, positive)
        if not TEMPORAL.isdisjoint((left.kind, right.kind)):
            return self.equal_to_date(left, right, positive)
        if "exact" in (left.kind, right.kind):
            return self.equal_exactly(left, right, positive)
        if right.kind not in _TESTS:
            call_with = _require_plain(left), _require_plain(right)
            return print_helper_call("same" if positive else "differ", *call_with)
        if left.guards and right.guards:
            values = self.as_json(left), self.as_json(right)
            return print_helper_call("same" if positive else "differ", *values)
        if left.kind == right.kind:
            equal = _join_tests([*left.guards, *right.guards, f"{left.js} === {right.js}"])
            return equal if positive else _negate_test(equal)
        return self.equal_to_known(left, right, positive)

    def equal_to_date(self, left: Value, right: Value, positive: bool) -> str:
        """JSON has no dates: values of different types, which only differ if one is null."""
        first, second = self.null(left, True), self.null(right, True)
        if positive:
            return "false" if "false" in (first, second) else f"({first} && {second})"
        if "false" in (first, second):
            return second if first == "false" else first
        return f"(({first}) !== ({second}))"

    def equal_exactly(self, left: Value, right: Value, positive: bool) -> str:
        """Two numbers of which one is exact."""
        if {left.kind, right.kind} - _NUMBERS:
            raise Untranslated
        exact = self.compared_exactly("===", left, right)
        if left.guards and right.guards:
            first, second = (f"({' && '.join(v.guards)})" for v in (left, right))
            none, some = f"(!{first} && !{second})", f"({first} || {second})"
            return f"({exact} || {none})" if positive else f"({some} && {_negate_test(exact)})"
        return exact if positive else _negate_test(exact)

    def equal_to_known(self, value: Value, known: Value, positive: bool) -> str:
        """A value of any type and one of a known type."""
        if value.kind != "any" or value.guards:
            raise Untranslated
        code = value.short
        if positive:
            test = f"{code} === {known.js}"
        elif value.simple:
            differs = f'(typeof {code} === "{_TESTS[known.kind]}" && {code} !== {known.js})'
            test = f"({self.null(value, True)} || {differs})"
        else:
            test = print_helper_call("differ", value.js, known.js)
        if known.guards:
            test = f"({' && '.join(known.guards)} ? {test} : {self.null(value, positive)})"
        return test

    def null(self, value: Value, positive: bool) -> str:
        """Whether a value is null."""
        if value.kind == "null":
            return "true" if positive else "false"
        if value.kind in TEMPORAL or value.kind == "nan":
            test = dates.is_known(value)
            return ("false" if value.sure else f"!({test})") if positive else test
        if value.kind == "any" and not value.guards:
            return f"{_require_plain(value)} {'==' if positive else '!='} null"
        if value.kind == "any":
            raise Untranslated
        if positive:
            return f"!({' && '.join(value.guards)})" if value.guards else "false"
        return _join_tests(value.guards) if value.guards else "true"

    def test(self, value: Tree, test: UnaryTest, wanted: bool, scope: Scope) -> str:
        """Whether one test of `in` has a truth value."""
        match test:
            case UnaryTest(None, Constant() as operand):
                return self.truth(_EQUAL(value, operand), wanted, scope)
            case UnaryTest(None, Negative(_, (Constant(Decimal()),)) as operand):
                return self.truth(_EQUAL(value, operand), wanted, scope)
            case UnaryTest(None, operand) if reads_input(operand):
                inner = {**scope, INPUT: self.value(value, scope)}
                return self.truth(operand, wanted, inner)
            case UnaryTest(None, RangeLiteral(low, high, low_in, high_in)) if low and high:
                if not (_is_point(low) and _is_point(high)):
                    ends = [self.value(end, scope) for end in (low, high)]
                    if not all(end.sure for end in ends) or ends[0].kind != ends[1].kind:
                        raise Untranslated
                elif _is_text(low) is not _is_text(high):
                    raise Untranslated
                over: ComparisonOperator = ">=" if low_in else ">"
                under: ComparisonOperator = "<=" if high_in else "<"
                return self.truth(_join_ends(value, (over, low), (under, high)), wanted, scope)
            case UnaryTest(None, Call(operation, items)) if (
                operation is EXACT_LIST and items and all(map(_is_point, items))
            ):
                of = self.value(value, scope)
                if of.kind != "any" or of.guards or not of.simple:
                    raise Untranslated
                listed = f"[{', '.join(self.json(item, scope) for item in items)}]"
                includes = f"{listed}.includes({of.short})"
                itself = f"JSON.stringify({_require_plain(of)}) === JSON.stringify({listed})"
                return f"({includes} || {itself})" if wanted else f"!({includes} || {itself})"
            case UnaryTest(Operation() as compare, operand):
                return self.truth(compare(value, operand), wanted, scope)
            case UnaryTest(None, Variable() | Path() as operand) if wanted:
                of, other = self.value(value, scope), self.value(operand, scope)
                return print_helper_call("fits", _require_plain(of), _require_plain(other))
            case UnaryTest(None, operand) if self.value(operand, scope).sure:
                return self.truth(_EQUAL(value, operand), wanted, scope)
        raise Untranslated


# -- functions -------------------------------------------------------------------------------------

PrintFunction = Callable[["Direct", Sequence[Value], Sequence[Tree], Scope], Value]
"""Code for a call, from the values of its arguments and the arguments. Raises `Untranslated`."""


def _check_count(values: Sequence[Value], least: int, most: int | None = None) -> None:
    if not least <= len(values) <= (least if most is None else most):
        raise Untranslated


def _print_day(printer: Direct, values: Sequence[Value], *_: object) -> Value:
    _check_count(values, 1)
    (of,) = values
    return dates.day_of(of) if of.kind in TEMPORAL else printer.read("date", of)


def _print_moment(printer: Direct, values: Sequence[Value], *_: object) -> Value:
    _check_count(values, 1)
    (of,) = values
    return dates.moment_of(of) if of.kind in TEMPORAL else printer.read("moment", of)


def _print_duration(printer: Direct, values: Sequence[Value], *_: object) -> Value:
    _check_count(values, 1)
    if values[0].kind in TEMPORAL:
        raise Untranslated
    return printer.read("duration", values[0])


def _print_months(printer: Direct, values: Sequence[Value], *_: object) -> Value:
    _check_count(values, 2)
    start, end = values
    if not {start.kind, end.kind} <= TEMPORAL:
        raise Untranslated
    return dates.months_between(start, end)


def _print_name_of_day(helper: str) -> PrintFunction:
    def print_name(printer: Direct, values: Sequence[Value], *_: object) -> Value:
        _check_count(values, 1)
        if values[0].kind not in TEMPORAL:
            raise Untranslated
        return dates.name_of_day(values[0], helper)

    return print_name


def _print_day_of_year(printer: Direct, values: Sequence[Value], *_: object) -> Value:
    _check_count(values, 1)
    if values[0].kind not in TEMPORAL:
        raise Untranslated
    day = dates.day_of(values[0])
    return Value(
        print_helper_call("dayOfYear", day.js), "number" if day.sure else "nan", simple=True
    )


def _print_string(printer: Direct, values: Sequence[Value], *_: object) -> Value:
    _check_count(values, 1)
    (of,) = values
    if of.kind in TEMPORAL:
        code = dates.as_json(of)
        return Value(code, "text", () if of.sure else (f"{code} !== null",), simple=True)
    if of.kind != "any" or of.guards or not of.simple:
        raise Untranslated
    code = _require_plain(of)
    shown = f'(typeof {code} === "string" ? {code} : show({code}))'
    return Value(shown, "text", (f"{code} != null",), simple=True)


def _print_count(printer: Direct, values: Sequence[Value], *_: object) -> Value:
    _check_count(values, 1)
    guards, code = printer.listed(values[0])
    return Value(f"{code}.length", "number", guards)


def _print_string_length(printer: Direct, values: Sequence[Value], *_: object) -> Value:
    _check_count(values, 1)
    text = printer.text(values[0])
    return Value(f"[...{text.js}].length", "number", text.guards)


def _print_case(method: str) -> PrintFunction:
    def print_text(printer: Direct, values: Sequence[Value], *_: object) -> Value:
        _check_count(values, 1)
        text = printer.text(values[0])
        return Value(f"{text.js}.{method}()", "text", text.guards)

    return print_text


def _print_modulo(printer: Direct, values: Sequence[Value], *_: object) -> Value:
    _check_count(values, 2)
    of, by = values
    if by.kind != "number" or by.guards or not by.simple:
        raise Untranslated
    if of.kind == "any":
        of = printer.typed(
            of._replace(js=print_helper_call("single", _require_plain(of)), loose=""), "number"
        )
    number = printer.exact(of)
    if by.js == "0" or by.js[0] == "-" or number.factors > 1:
        raise Untranslated
    unit = print_helper_call("exact", by.js)
    return number._replace(js=f"({_bracket_code(number.js)} % {unit} + {unit}) % {unit}")


def _print_clock(read: Callable[[], Value]) -> PrintFunction:
    def print_time(printer: Direct, values: Sequence[Value], *_: object) -> Value:
        _check_count(values, 0)
        return read()

    return print_time


def _print_replace(
    printer: Direct, values: Sequence[Value], arguments: Sequence[Tree], scope: Scope
) -> Value:
    if len(values) < 3 or not _is_text(arguments[2]):
        raise Untranslated
    return printer.replaced(printer.text(values[0]), arguments[1], arguments[2], arguments[3:])


def _print_divided(*, after: bool) -> PrintFunction:
    def print_text(
        printer: Direct, values: Sequence[Value], arguments: Sequence[Tree], scope: Scope
    ) -> Value:
        _check_count(values, 2)
        if not _is_text(arguments[1]):
            raise Untranslated
        return printer.divided(printer.text(values[0]), values[1].js, after=after)

    return print_text


def _print_substring(
    printer: Direct, values: Sequence[Value], arguments: Sequence[Tree], scope: Scope
) -> Value:
    if not values:
        raise Untranslated
    return printer.cut(
        printer.text(values[0]), [_find_whole(argument) for argument in arguments[1:]]
    )


def _print_append(
    printer: Direct, values: Sequence[Value], arguments: Sequence[Tree], scope: Scope
) -> Value:
    if len(values) < 2:
        raise Untranslated
    guards, code = printer.listed(values[0])
    codes, kind = printer.nested(arguments[1:], scope, "list")
    return Value(f"[...{code}, {', '.join(codes)}]", kind, guards)


def _print_string_join(printer: Direct, values: Sequence[Value], *_: object) -> Value:
    _check_count(values, 1, 2)
    of, *others = values
    guards, code = printer.listed(of)
    if others and others[0].kind != "text":
        raise Untranslated
    separator = others[0].js if others else '""'
    texts = f'{code}.every((one) => one === null || typeof one === "string")'
    joined = f"{code}.filter((one) => one !== null).join({separator})"
    return Value(joined, "text", (*guards, texts))


def _print_total(printer: Direct, values: Sequence[Value], *_: object) -> Value:
    _check_count(values, 1)
    (of,) = values
    code = _require_plain(of)
    if of.kind != "list" and not of.simple:
        raise Untranslated
    every = f"[].concat({code})"
    numbers = f"{every}.length > 0", f'{every}.every((one) => typeof one === "number")'
    total = f"{every}.map(exact).reduce((a, b) => a + b)"
    return Value(total, "exact", numbers, factors=1, digits=_NUMBER_DIGITS)


FUNCTIONS: Final[Mapping[str, PrintFunction]] = {
    "date": _print_day,
    "date and time": _print_moment,
    "duration": _print_duration,
    "years and months duration": _print_months,
    "day of week": _print_name_of_day("dayOfWeek"),
    "month of year": _print_name_of_day("monthOfYear"),
    "day of year": _print_day_of_year,
    "string": _print_string,
    "count": _print_count,
    "string length": _print_string_length,
    "upper case": _print_case("toUpperCase"),
    "lower case": _print_case("toLowerCase"),
    "modulo": _print_modulo,
    "now": _print_clock(dates.print_now),
    "today": _print_clock(dates.print_today),
    "replace": _print_replace,
    "substring before": _print_divided(after=False),
    "substring after": _print_divided(after=True),
    "substring": _print_substring,
    "append": _print_append,
    "string join": _print_string_join,
    "sum": _print_total,
}
"""Built-in functions with inline code; the others are called in the runtime."""

PrintTest = Callable[["Direct", str, Sequence[Value], Sequence[Tree], bool], str]
"""Code for whether a call, by its name, has a truth value. Raises `Untranslated`."""


def _test_text(
    printer: Direct, name: str, values: Sequence[Value], arguments: Sequence[Tree], wanted: bool
) -> str:
    _check_count(values, 2)
    text, part = map(printer.text, values)
    no = "" if wanted else "!"
    return _join_tests([*text.guards, *part.guards, f"{no}{text.js}.{_METHODS[name]}({part.js})"])


def _test_pattern(
    printer: Direct, name: str, values: Sequence[Value], arguments: Sequence[Tree], wanted: bool
) -> str:
    if not values:
        raise Untranslated
    text, pattern = printer.text(values[0]), printer.pattern(arguments[1:], "u")
    if pattern is None:
        return "false"
    return _join_tests([*text.guards, f"{'' if wanted else '!'}{pattern}.test({text.js})"])


def _test_element(
    printer: Direct, name: str, values: Sequence[Value], arguments: Sequence[Tree], wanted: bool
) -> str:
    _check_count(values, 2)
    of, element = values
    if element.guards or element.kind not in ("number", "text", "truth", "any"):
        raise Untranslated
    guards, code = printer.listed(of)
    no = "" if wanted else "!"
    if element.kind == "any":
        test = print_helper_call("same", "one", _require_plain(element))
        return _join_tests([*guards, f"{no}{code}.some((one) => {test})"])
    return _join_tests([*guards, f"{no}{code}.includes({element.js})"])


def _test_all(
    printer: Direct, name: str, values: Sequence[Value], arguments: Sequence[Tree], wanted: bool
) -> str:
    _check_count(values, 1)
    code, truth = f"[].concat({_require_plain(values[0])})", "true" if wanted else "false"
    if (name == "all") is wanted:
        return f"{code}.every((one) => one === {truth})"
    return f"{code}.includes({truth})"


TESTS: Final[Mapping[str, PrintTest]] = {
    **dict.fromkeys(_METHODS, _test_text),
    "matches": _test_pattern,
    "list contains": _test_element,
    "all": _test_all,
    "any": _test_all,
}
"""Functions whose value is true, false or null, besides `not`."""


_EQUAL = FEEL.comparison["=="]


def _join_ends(value: Tree, *ends: tuple[ComparisonOperator, Tree]) -> Tree:
    """Whether a value is between two ends."""
    return FEEL.logic["and"](*(FEEL.comparison[sign](value, end) for sign, end in ends))


def _require_plain(value: Value) -> str:
    """The code of a value that has no guards."""
    if value.guards or value.kind in _ENDS:
        raise Untranslated
    return value.js


def _bracket_code(code: str) -> str:
    return f"({code})" if " " in code else code


def _print_literal(value: Scalar) -> Value:
    match value:
        case None:
            return Value("null", "null")
        case bool():
            return Value("true" if value else "false", "truth", simple=True)
        case str():
            return Value(js_string(value), "text", simple=True)
    assert isinstance(value, Decimal)  # as every number of an exact program
    digits = len(value.as_tuple().digits)
    if digits > _CONSTANT_DIGITS or not -300 < value.adjusted() < 300:
        raise Untranslated
    whole = value == value.to_integral_value()
    code = repr(int(value) if whole else float(value))
    return Value(code, "number", simple=True, digits=digits)


def _join_tests(tests: Sequence[str] | Iterator[str]) -> str:
    unique = list(dict.fromkeys(tests))
    return unique[0] if len(unique) == 1 else f"({' && '.join(unique)})"


def is_truth(tree: Tree, scope: Scope) -> bool:
    """Whether the value of an expression is true, false or null, as its operators say."""
    if isinstance(tree, Constant):
        return False
    if isinstance(tree, Conditional):
        return is_truth(tree.then, scope) and is_truth(tree.otherwise, scope)
    if isinstance(tree, FunctionCall):
        name = tree.function.name if isinstance(tree.function, Variable) else ""
        known = name == "not" or name in TESTS
        return known and name not in scope and tree.names is None
    return is_logical(tree)


def _negate_test(test: str) -> str:
    """The negation of a test, which is in brackets if it has several operands."""
    depth = 0
    for at, sign in enumerate(_STRING.sub(lambda match: "_" * len(match[0]), test)):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and at < len(test) - 1:
            return f"!({test})"
    return f"!{test}"


def _find_pattern(arguments: Sequence[Tree]) -> tuple[str, str]:
    """The pattern and the flags of a call, which are constants."""
    texts = [a.value for a in arguments if isinstance(a, Constant) and isinstance(a.value, str)]
    if len(texts) != len(arguments) or len(texts) not in (1, 2):
        raise Untranslated
    return texts[0], texts[1] if len(texts) == 2 else ""


def _find_whole(tree: Tree) -> int | None:
    sign = 1
    if isinstance(tree, Negative):
        sign, tree = -1, tree.operand
    value = tree.value if isinstance(tree, Constant) else None
    if not isinstance(value, Decimal) or value != value.to_integral_value():
        return None
    return sign * int(value) if abs(value) < 10**9 else None


def _is_point(tree: Tree) -> bool:
    """Whether a tree is a number or text."""
    if isinstance(tree, Negative):
        tree = tree.operand
        return isinstance(tree, Constant) and isinstance(tree.value, Decimal)
    return isinstance(tree, Constant) and isinstance(tree.value, Decimal | str)


def _is_text(tree: Tree) -> bool:
    return isinstance(tree, Constant) and isinstance(tree.value, str)


def _is_low(tree: Tree) -> bool:
    """Whether a tree is a text that has the same order in code points as in UTF-16."""
    return (
        isinstance(tree, Constant)
        and isinstance(tree.value, str)
        and all(c < "\ud800" for c in tree.value)
    )


def _is_odd(name: str) -> bool:
    return name in _OF_OBJECTS or name[:2] == "__"


def _reads_name(tree: Tree, name: str) -> bool:
    return any(p.name == name for p in parts(tree) if isinstance(p, Variable))


def _only_called(tree: Tree, name: str) -> bool:
    uses = sum(isinstance(p, Variable) and p.name == name for p in parts(tree))
    calls = sum(
        isinstance(p, FunctionCall) and isinstance(p.function, Variable) and p.function.name == name
        for p in parts(tree)
    )
    return uses == calls
