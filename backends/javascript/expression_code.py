"""Conditions and values as JavaScript.

Every operation is printed by one row of a table. No text of the source is copied: numbers and
operators are generated here, texts by `js_string`, names by the caller.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final, assert_never

from orgflow.backends.javascript.literals import constant_literal, is_plain_name
from orgflow.backends.javascript.operation_functions import function_text

from orgflow_ir.program.ecmascript_operators import compare_strictly
from orgflow_ir.program.syntax import (
    Apply,
    Call,
    Constant,
    Exact,
    FunctionRow,
    Path,
    Structure,
    Tree,
    Variable,
    as_javascript,
)

ReadVariable = Callable[[Path], str]
"""The code that reads a variable."""


def to_js(tree: Tree, variable: ReadVariable) -> str:
    """JavaScript for a tree; `variable` returns the code that reads a variable. Raises `KeyError`
    for an operation that is not printed here."""
    return print_code(as_javascript(tree), variable)


def condition_js(tree: Tree, variable: ReadVariable) -> str:
    """JavaScript for a condition: its value is true if the condition is, else false or null.
    Arguments are those of `to_js`."""
    if isinstance(tree, Exact):
        tree = compare_strictly("==", tree, Constant(True))
    return to_js(tree, variable)


def print_code(tree: Tree, variable: ReadVariable) -> str:
    """The code of a tree in operations that JavaScript has."""
    match tree:
        case Constant(value):
            return constant_literal(value)
        case Variable(path):
            return variable(path)
        case Apply(operation, operands):
            if isinstance(operation, FunctionRow):
                from orgflow.backends.javascript.lambda_code import print_function  # in few models

                return print_function(tree, variable)
            special = SPECIAL.get(operation.name)
            if special is not None and (code := special(tree, variable)) is not None:
                return code
            codes: list[str] = []
            for operand in operands:  # no comprehension, which nests calls deeper
                codes.append(print_code(operand, variable))
            return PRINTED[operation.name](codes)
        case Exact():
            from orgflow.backends.javascript.exact_code import print_exact  # in few models

            return print_exact(tree, variable)
        case Structure():
            raise TypeError(f"{type(tree).__name__} is a node of programs over exact values only")
        case _:
            assert_never(tree)


# Operations whose operands are known to be something particular.

Special = Callable[[Apply, ReadVariable], str | None]
"""The code of a node, or `None` if it is not special."""


def _print_comparison(tree: Apply, variable: ReadVariable) -> str | None:
    """The order of texts by code points, and the sign of a sum of products."""
    left = tree.left
    if not isinstance(left, Call) or tree.right != Constant(0):
        return None
    if left.operation.name == "compared":
        sides = (f"order({print_code(side, variable)})" for side in left.operands)
        sign = f" {tree.operation.sign} "
        return f"((order) => {sign.join(sides)})({function_text('codePointOrder')})"
    if left.operation.name == "sum":
        return _print_sum(_SIGNS[tree.operation.name], left.operands, variable)
    return None


def _print_equality(tree: Apply, variable: ReadVariable) -> str | None:
    """As in `_print_comparison`, and whether an expression of FEEL is true."""
    if isinstance(tree.left, Exact) and tree.right == Constant(True):
        from orgflow.backends.javascript.exact_code import print_exact  # in few models

        return print_exact(tree.left, variable, condition=True)
    return _print_comparison(tree, variable)


def _print_sum(operator: str, products: Sequence[Tree], variable: ReadVariable) -> str:
    """A comparison of the sum of products of decimal numbers with 0."""
    sides: tuple[list[str], list[str]] = [], []
    most = max(len(_find_factors(product)[1]) for product in products)
    for product in products:
        sign, factors = _find_factors(product)
        written = [f"exact({print_code(factor, variable)})" for factor in factors]
        written += ["exact(1)"] * (most - len(factors))
        sides[sign].append(" * ".join(written))
    left, right = (" + ".join(side) or "0n" for side in sides)
    return f"((exact) => {left} {operator} {right})({function_text('exactUnits')})"


def _find_factors(product: Tree) -> tuple[int, list[Tree]]:
    """Whether a product is subtracted, and its factors without units."""
    assert isinstance(product, Call)
    minus = sum(factor == Constant(-1) for factor in product.operands) % 2
    factors = [f for f in product.operands if f not in (Constant(-1), Constant(1))]
    for at, factor in enumerate(factors):
        if not isinstance(factor, Constant) or not isinstance(factor.value, int | float):
            continue
        if factor.value < 0:
            minus, factors[at] = 1 - minus, Constant(-factor.value)
    return minus, factors or [Constant(1)]


def _print_decimal(tree: Apply, variable: ReadVariable) -> str:
    from orgflow.backends.javascript.groovy_decimals import groovy_arithmetic  # in few trees

    return groovy_arithmetic(tree.operand, lambda operand: print_code(operand, variable))


_SIGNS: Final = {
    **{f"js {sign}": sign for sign in ("==", "!=", "<", "<=", ">", ">=")},
    "js strict ==": "===",
    "js strict !=": "!==",
}
"""JavaScript's operators by the names of operations."""

SPECIAL: Final[Mapping[str, Special]] = {
    **dict.fromkeys(_SIGNS, _print_comparison),
    "js strict ==": _print_equality,
    "decimal": _print_decimal,
}


# The table: code by the codes of operands, for each operation by its name.

Print = Callable[[list[str]], str]


def _print_infix(sign: str) -> Print:
    return lambda codes: f"({codes[0]} {sign} {codes[1]})"


def _call_function(name: str) -> Print:
    return lambda codes: f"({function_text(name)})({', '.join(codes)})"


def _call_method(name: str) -> Print:
    return lambda codes: f"({codes[0]}).{name}({', '.join(codes[1:])})"


def _apply_function(code: str) -> Print:
    return lambda codes: f"({code})({', '.join(codes)})"


def _print_computed_text(codes: list[str]) -> str:
    value, *operands = codes
    text = function_text("javaText")
    if not operands:
        return f"({text})({value})"
    double = f"[{', '.join(dict.fromkeys(operands))}].some(({function_text('isDouble')}))"
    return f"({text})({value}, {'true' if '0.5' in operands else double})"


def _print_part(codes: list[str]) -> str:
    of, name = codes
    plain = is_plain_name(json.loads(name)) if name[:1] == '"' else False
    return f"{of}?{f'.{json.loads(name)}' if plain else f'.[{name}]'}"


def _print_map(codes: list[str]) -> str:
    pairs = zip(codes[::2], codes[1::2], strict=True)
    return f"({{ {', '.join(f'[{name}]: {value}' for name, value in pairs)} }})"


_NOTHING_IN = 'v === "" || (typeof v === "object" && Object.keys(v).length === 0)'
_SIZE = "(v) => (v.length === undefined ? Object.keys(v) : v).length"
_STRIP = r"/^[\u0000-\u0020]+|[\u0000-\u0020]+$/g"
_ESCAPED = (
    '(/[\\x7f-\\uffff]/g, (one) => "\\\\u" + one.charCodeAt(0).toString(16).padStart(4, "0"))'
)
_XPATH = (
    "const every = (v) => [].concat(v ?? []); "
    "const truth = (v) => Array.isArray(v) ? v.length > 0 : Boolean(v); "
    r'const number = (v) => typeof v !== "string" ? Number(v) : '
    r"/^[ \t\r\n]*-?([0-9]+(\.[0-9]*)?|\.[0-9]+)[ \t\r\n]*$/.test(v) ? Number(v) : NaN; "
)


def _xpath_comparison(operator: str) -> Print:
    """A function that compares two values, of which a list is compared by its values."""
    first = ""
    matches = f"number(x) {operator} number(y)"
    if operator in ("==", "!="):
        boolean = '[typeof a, typeof b].includes("boolean")'
        first = f"if ({boolean}) return truth(a) {operator} truth(b); "
        number = '[typeof x, typeof y].includes("number")'
        matches = f"{number} ? {matches} : String(x) {operator} String(y)"
    some = f"every(a).some((x) => every(b).some((y) => ({matches})))"
    return _apply_function(f"(a, b) => {{ {_XPATH}{first}return {some}; }}")


PRINTED: Final[Mapping[str, Print]] = {
    # Operators.
    **{name: _print_infix(sign) for name, sign in _SIGNS.items()},
    **{f"js {sign}": _print_infix(sign) for sign in ("+", "-", "*", "/", "%")},
    "js and": _print_infix("&&"),
    "js or": _print_infix("||"),
    "js not": lambda codes: f"!({codes[0]})",
    "js negative": lambda codes: f"-({codes[0]})",
    "js choice": lambda codes: f"({codes[0]} ? {codes[1]} : {codes[2]})",
    **{f"xpath {sign}": _xpath_comparison(sign) for sign in ("==", "!=", "<", "<=", ">", ">=")},
    # Tests.
    "empty": _apply_function(f"(v) => v == null || {_NOTHING_IN}"),
    "type": lambda codes: f"typeof {codes[0]}",
    "is list": lambda codes: f"Array.isArray({codes[0]})",
    "is true": lambda codes: f"/^true$/i.test({codes[0]})",
    "truth": _call_function("groovyTruth"),
    "same": _call_function("sameValues"),
    "juel equal": _call_function("juelEqual"),
    "python equal": _call_function("pythonEqual"),
    "same letters": _call_function("sameLetters"),
    "is empty": lambda codes: f"(({_SIZE})({codes[0]}) === 0)",
    "contains": _call_method("includes"),
    "has": _call_function("hasEntry"),
    "starts with": _call_method("startsWith"),
    "ends with": _call_method("endsWith"),
    # Texts and numbers.
    "size": _apply_function(_SIZE),
    "length": lambda codes: f"({codes[0]}).length",
    "count": lambda codes: f"Object.keys({codes[0]}).length",
    "lower": _call_method("toLowerCase"),
    "upper": _call_method("toUpperCase"),
    "trim": _call_method("trim"),
    "strip": lambda codes: f'({codes[0]}).replace({_STRIP}, "")',
    "concat": lambda codes: f"({codes[0]} + {codes[1]})",
    "text": lambda codes: f'[{", ".join(codes)}].map((v) => v ?? "").join("")',
    "java text": lambda codes: f"({function_text('javaText')})({codes[0]})",
    "computed text": _print_computed_text,
    "modulo": _call_function("modulo"),
    "xpath count": _call_function("xpathCount"),
    "xpath number": _apply_function(
        f"(v) => {{ {_XPATH}const [x] = every(v); return x == null ? NaN : number(x); }}"
    ),
    "xpath text": _call_function("xpathText"),
    # Lists and objects.
    "list": lambda codes: f"[{', '.join(codes)}]",
    "exact list": lambda codes: f"[{', '.join(codes)}]",
    "map": _print_map,
    "append": lambda codes: f"[...({codes[0]}), {codes[1]}]",
    "entry": lambda codes: f"({codes[0]})[{codes[1]}]",
    "item": lambda codes: f"[].concat({codes[0]})[{int(codes[1]) - 1}]",
    "part": _print_part,
    "single": _call_function("singleValue"),
    "or null": lambda codes: f"({codes[0]} ?? null)",
    # JSON and requests.
    "json": _apply_function('(v) => (typeof v === "string" ? JSON.parse(v) : v)'),
    "written json": lambda codes: f"JSON.stringify({codes[0]})",
    "escaped json": lambda codes: f"JSON.stringify({codes[0]}).replace{_ESCAPED}",
    "json text": _call_function("jsonText"),
    "literal plus": _call_function("literalPlus"),
    "media type": _call_function("mediaType"),
    "other headers": _call_function("otherHeaders"),
    "as media": _call_function("asMedia"),
}

ONLY_INSIDE: Final = frozenset({"compared", "sum", "unsure", "between"})
"""Operations that are printed only as an operand of another one (`SPECIAL`)."""
